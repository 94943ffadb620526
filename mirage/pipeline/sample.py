"""The sample arena: from the questions written for it to a finished arena, without a key, a GPU or a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import features, judge, store
from mirage.generate import baselines
from mirage.imports.public import prints
from mirage.outcomes.stage import OUTCOMES
from mirage.rank.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
from mirage.sources.sample import LICENCE, REFERENCE, read_sample, sample_files
from mirage.stage import Progress
from mirage.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS

if TYPE_CHECKING:
    import pyarrow as pa


def build_sample(
    source: Path, *, regressors: Sequence[str] | None = None, progress: Progress | None = None
) -> dict[str, pa.Table]:
    """Make every table of the sample that needs no model.

    Args:
        source: the folder of the sample files (`mirage.sources.sample`).
        regressors: whose predictions are made; None for all.
        progress: called while features are measured.

    Returns:
        The questions and passages; the answers of the reference and of every baseline; their outcomes and features, the
        overlap ones against the reference; the verdicts of the heuristic judge on every pair; ratings by both, and
        predictions of them.

    Raises:
        BadInput: naming file and line of what is wrong in a sample file.
    """
    import pyarrow as pa

    tables = read_sample(source)
    queries, passages = tables["queries"], tables["passages"]
    tables["answers"] = pa.concat_tables([tables["answers"], baselines.answers(queries, passages)])
    tables |= OUTCOMES.run(tables)
    tools = features.Tools(reference=REFERENCE)
    tables["features"] = features.compute(queries, passages, tables["answers"], tools=tools, progress=progress)
    tables["judgments"] = judge.judge_by_features(judge.choose(tables["answers"]), tables["features"])
    ratings = [RELEVANCE_RATINGS.run(tables), JUDGED_RATINGS.run(tables, judge=judge.HEURISTIC)]
    tables["ratings"] = pa.concat_tables([result["ratings"] for result in ratings])
    predicted = [
        RELEVANCE_PREDICTIONS.run(tables, regressors=regressors),
        JUDGED_PREDICTIONS.run(tables, referee=judge.HEURISTIC, regressors=regressors),
    ]
    for name in JUDGED_PREDICTIONS.writes:
        tables[name] = pa.concat_tables([result[name] for result in predicted])
    return tables


def sample(
    source: Path, into: Path, *, regressors: Sequence[str] | None = None, progress: Progress | None = None
) -> store.Arena:
    """Build the sample arena; the same files give the same bytes.

    Args:
        source: the folder of the sample files.
        into: the arena's folder; the files may stand in its folder `source`.
        regressors: whose predictions are made; None for all.
        progress: called while features are measured.

    Raises:
        BadInput: naming file and line of what is wrong in a sample file.
        ArenaError: if the arena cannot be written.
    """
    tables = build_sample(source, regressors=regressors, progress=progress)
    count = {name: len(table) for name, table in tables.items()}
    languages = len(tables["queries"]["language"].unique())
    return store.write(
        into,
        tables,
        title="Sample: questions, passages and answers to try everything with",
        label="sample",
        about=f"{count['queries']:,} questions in {languages} languages, each with a reference answer and 8 passages, "
        f"written for this project; answers of {len(baselines.BASELINES)} baselines that need no model.",
        licence=LICENCE,
        made_by="make sample",
        made_from=prints(source, sample_files(source)),
        notes=["baselines are made to fail, each in its own way: mirage/baselines.py says how"],
    )
