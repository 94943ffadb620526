"""What a stage is, every stage in order, and applying one to an arena."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import mirage.rank as rank
from mirage import baselines, features, outcomes, schema, store
from mirage.errors import NotEnoughData
from mirage.pipeline.ablation import importances
from mirage.pipeline.predicting import Report, report
from mirage.pipeline.ranking import battles_of, ranking
from mirage.pipeline.surrogate import training
from mirage.rank import DRAWS, SEED, paper
from mirage.rank.battles import RELEVANCE

if TYPE_CHECKING:
    import pyarrow as pa

Tables = Mapping[str, "pa.Table"]
Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline."""

    name: str
    """What it is called."""
    reads: tuple[str, ...]
    """Tables it needs."""
    writes: tuple[str, ...]
    """Tables it makes."""
    run: Callable[..., dict[str, pa.Table]]
    """`run(tables, **options)` -> tables, both by name; pure."""
    version: int = 1
    """Raised when the stage makes something else of the same tables, so that a run does not skip it."""
    uses: tuple[str, ...] = ()
    """Tables it reads where the arena has them."""
    remarks: Callable[[Tables], Sequence[str]] = lambda _: ()
    """What a reader of the result must know of the tables it was made from: notes for the manifest."""

    def tables(self, arena: store.Arena) -> tuple[str, ...]:
        """What it reads of an arena."""
        return (*self.reads, *(name for name in self.uses if name in arena.tables))


def _baselines(tables: Tables) -> dict[str, pa.Table]:
    return {"answers": baselines.answers(tables["queries"], tables["passages"])}


def _outcomes(tables: Tables) -> dict[str, pa.Table]:
    labelled = _labelled(tables)
    if len(tables["answers"]) and not len(labelled):
        raise NotEnoughData(
            "no answered question has a relevance label, so no outcome is right or wrong",
            do="give the questions a subset, relevant or non_relevant; or let a judge decide: mirage judge DIR",
        )
    return {"outcomes": outcomes.outcomes(tables["queries"], labelled)}


def _labelled(tables: Tables) -> pa.Table:
    """The answers, without those to questions that have no relevance label."""
    import pyarrow.compute as pc

    queries, answers, keys = tables["queries"], tables["answers"], ["language", "query_id"]
    unlabelled = queries.filter(pc.is_null(queries["subset"])).select(keys)
    return answers.join(unlabelled, keys, join_type="left anti").select(answers.column_names)


def _unlabelled(tables: Tables) -> list[str]:
    count = len(tables["answers"]) - len(_labelled(tables))
    return [f"{count:,} answers have no outcome, as their questions have no relevance label"] if count else []


def _features(
    tables: Tables,
    *,
    only: Iterable[str] | None = None,
    tools: features.Tools | None = None,
    progress: Progress | None = None,
) -> dict[str, pa.Table]:
    answers = tables["answers"]
    queries = tables["queries"] if "queries" in tables else _bare_questions(answers)
    passages = tables["passages"] if "passages" in tables else schema.arrow_schema("passages").empty_table()
    tools = tools or features.Tools()
    table = features.compute(queries, passages, answers, only=only, tools=tools, progress=progress)
    return {"features": table}


def _bare_questions(answers: pa.Table) -> pa.Table:
    """The questions of answers, where nothing else is known of them."""
    keys = ["language", "query_id"]
    questions = answers.select(keys).group_by(keys).aggregate([])
    absent = {"reason": ["the arena has no questions"] * len(questions)}
    return schema.from_columns("queries", {**{key: questions[key] for key in keys}, **absent})


def _relevance(tables: Tables, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, pa.Table]:
    import pyarrow as pa

    ranked = [
        ranking(tables["outcomes"], RELEVANCE, skill=skill, draws=draws, seed=seed) for skill in get_args(schema.Skill)
    ]
    return {"ratings": pa.concat_tables([result.table() for result in ranked])}


def _judged(tables: Tables, *, judge: str, draws: int = DRAWS, seed: int = SEED) -> dict[str, pa.Table]:
    return {"ratings": ranking(tables["judgments"], judge, draws=draws, seed=seed).table()}


def _predictions(
    tables: Tables,
    *,
    referee: str = RELEVANCE,
    skills: Sequence[schema.Skill] = ("both",),
    languages: Sequence[str] | None = None,
    regressors: Sequence[str] | None = None,
    seed: int = SEED,
    progress: Progress | None = None,
    on_report: Callable[[Report], object] = lambda _: None,
    weigh: bool = True,
) -> dict[str, pa.Table]:
    import pyarrow as pa

    verdicts = tables["outcomes" if referee == RELEVANCE else "judgments"]
    prediction_tables, weights = [], []
    for skill in skills:
        seen = training(tables["features"], verdicts, referee, skill=skill, languages=languages)
        result = report(seen, referee, skill=skill, regressors=regressors, seed=seed, progress=progress)
        on_report(result)
        prediction_tables.append(result.table())
        if weigh:
            weights += importances(seen, result.comparison.default, referee, skill=skill, seed=seed)
    predicted = {"predictions": pa.concat_tables(prediction_tables)}
    return predicted | ({"importances": schema.from_rows("importances", weights)} if weigh else {})


def _tournaments(battles: Mapping[str, rank.Battles], options: Mapping[str, Any]) -> pa.Table:
    return paper.play(battles, **options).table()


def _relevance_tournaments(tables: Tables, **options: Any) -> dict[str, pa.Table]:
    import pyarrow as pa

    outcomes = tables["outcomes"]
    skills = get_args(schema.Skill)
    played = [_tournaments(battles_of(outcomes, RELEVANCE, skill=skill), options) for skill in skills]
    return {"tournaments": pa.concat_tables(played)}


def _judged_tournaments(tables: Tables, *, judge: str, **options: Any) -> dict[str, pa.Table]:
    return {"tournaments": _tournaments(battles_of(tables["judgments"], judge), options)}


BASELINES = Stage("baselines", ("queries", "passages"), ("answers",), _baselines)
"""A source of answers beside the imported ones, which are not made from the questions: not one of `STAGES`."""
OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), _outcomes, remarks=_unlabelled)
FEATURES = Stage("features", ("answers",), ("features",), _features, uses=("queries", "passages"))
"""Some features need what it uses: `measurable_in`."""
RELEVANCE_RATINGS = Stage("ratings by relevance", ("outcomes",), ("ratings",), _relevance)
JUDGED_RATINGS = Stage("ratings by a judge", ("judgments",), ("ratings",), _judged)
RELEVANCE_TOURNAMENTS = Stage("tournaments by relevance", ("outcomes",), ("tournaments",), _relevance_tournaments)
JUDGED_TOURNAMENTS = Stage("tournaments by a judge", ("judgments",), ("tournaments",), _judged_tournaments)
_PREDICTED = ("predictions", "importances")
RELEVANCE_PREDICTIONS = Stage("predictions by relevance", ("features", "outcomes"), _PREDICTED, _predictions)
JUDGED_PREDICTIONS = Stage("predictions by a judge", ("features", "judgments"), _PREDICTED, _predictions)

STAGES = (
    OUTCOMES,
    FEATURES,
    RELEVANCE_RATINGS,
    JUDGED_RATINGS,
    RELEVANCE_TOURNAMENTS,
    JUDGED_TOURNAMENTS,
    RELEVANCE_PREDICTIONS,
    JUDGED_PREDICTIONS,
)
"""Every stage after the sources, in order."""


def measurable_in(arena: store.Arena, tools: features.Tools) -> tuple[list[str], list[str]]:
    """The features that can be measured on an arena with these tools, and those for which it lacks a table."""
    names = features.measurable(tools)
    lacking = [name for name in names if set(features.tables([name])) - set(arena.tables)]
    return [name for name in names if name not in lacking], lacking


def run(
    stage: Stage,
    path: Path,
    *,
    made_by: str,
    part: str | None = None,
    notes: Sequence[str] = (),
    step: str | None = None,
    **options: Any,
) -> store.Arena:
    """Apply a stage to an arena and write what it makes; tables made from the old ones go if it differs.

    Args:
        stage: the stage.
        path: the arena's folder.
        made_by: the command, for the manifest.
        part: a column by whose values the table is replaced in part: rows with values that the stage did not make stay.
        notes: for the manifest; with `part`, each begins with the value it speaks of and a colon.
        step: the step of a run that this is (`store.upsert`).
        options: the stage's own.

    Raises:
        ArenaError: if the arena lacks a table the stage reads, or cannot be written.
    """

    def make() -> store.Arena:
        seen = store.consistently(
            path, lambda arena: store.Seen(arena, {name: arena.read(name) for name in stage.tables(arena)})
        )
        outputs = stage.run(seen.tables, **options)
        remarks = [*notes, *stage.remarks(seen.tables)]
        values = {name: None if part is None else new.select([part]) for name, new in outputs.items()}
        subjects = {
            value for named in values.values() if named is not None for value in named[part].unique().to_pylist()
        }
        rows = {name: store.Rows(new, values[name]) for name, new in outputs.items()}
        result = store.upsert(path, rows, made_by=made_by, notes=remarks, subjects=subjects, seen=seen, step=step)
        return result.arena

    return store.made_anew(make)
