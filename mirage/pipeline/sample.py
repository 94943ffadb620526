"""The sample arena: from the queries written for it to a finished arena, without a key, a GPU or a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import features, judge, store
from mirage.generate import baselines
from mirage.imports.public import prints
from mirage.pipeline.stages import derive
from mirage.sources.review import LICENCE
from mirage.sources.sample import REFERENCE, read_sample, sample_files
from mirage.sources.sample_nuggets import NUGGETS, read_nuggets
from mirage.stage import Progress

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
        The queries and passages; the answers of the reference and of every baseline; their outcomes and features, the
        overlap ones against the reference; the verdicts of the heuristic judge on every pair; ratings by both, and
        predictions of them.

    Raises:
        BadInput: naming file and line of what is wrong in a sample file or in a file of nuggets beside them.
    """
    tools = features.Tools(reference=REFERENCE)
    sample = read_sample(source)
    if (source / NUGGETS).is_dir():
        # No table of the sample holds nuggets: they are checked, so that a correction cannot break them unseen.
        read_nuggets(source / NUGGETS, sample["passages"])
    return derive(
        sample,
        {
            "baselines": {},
            "outcomes": {},
            "features": {"tools": tools, "progress": progress},
            "judgments by the heuristic judge": {},
            "ratings by relevance": {},
            "ratings by a judge": {"judge": judge.HEURISTIC},
            "predictions by relevance": {"regressors": regressors},
            "predictions by a judge": {"referee": judge.HEURISTIC, "regressors": regressors},
        },
    )


def write_sample(
    source: Path, into: Path, *, regressors: Sequence[str] | None = None, progress: Progress | None = None
) -> store.Arena:
    """Build the sample arena; the same files give the same bytes.

    Args:
        source: the folder of the sample files.
        into: the arena's folder; the files may stand in its folder `source`.
        regressors: whose predictions are made; None for all.
        progress: called while features are measured.

    Raises:
        BadInput: naming file and line of what is wrong in a sample file or in a file of nuggets beside them.
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
