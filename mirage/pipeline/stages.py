"""What a stage is, every stage in order, and applying one to an arena."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from mirage import baselines, features, outcomes, rank, schema, store
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


def _baselines(tables: Tables) -> dict[str, pa.Table]:
    return {"answers": baselines.answers(tables["queries"], tables["passages"])}


def _outcomes(tables: Tables) -> dict[str, pa.Table]:
    return {"outcomes": outcomes.outcomes(tables["queries"], tables["answers"])}


def _features(
    tables: Tables,
    *,
    only: Iterable[str] | None = None,
    tools: features.Tools | None = None,
    progress: Progress | None = None,
) -> dict[str, pa.Table]:
    asked = (tables[name] for name in ("queries", "passages", "answers"))
    return {"features": features.compute(*asked, only=only, tools=tools or features.Tools(), progress=progress)}


def _relevance(tables: Tables, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, pa.Table]:
    import pyarrow as pa

    ranked = [
        ranking(tables["outcomes"], RELEVANCE, skill=skill, draws=draws, seed=seed) for skill in get_args(schema.Skill)
    ]
    return {"ratings": pa.concat_tables([one.table() for one in ranked])}


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
    made, weights = [], []
    for skill in skills:
        seen = training(tables["features"], verdicts, referee, skill=skill, languages=languages)
        found = report(seen, referee, skill=skill, regressors=regressors, seed=seed, progress=progress)
        on_report(found)
        made.append(found.table())
        if weigh:
            weights += importances(seen, found.comparison.default, referee, skill=skill, seed=seed)
    predicted = {"predictions": pa.concat_tables(made)}
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
OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), _outcomes)
FEATURES = Stage("features", ("queries", "passages", "answers"), ("features",), _features)
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


def derived(tables: Iterable[str]) -> tuple[str, ...]:
    """The tables that are made, directly or through others, from any of these; these themselves are not among them."""
    given = set(tables)
    found = set(given)
    for stage in STAGES:
        if found & set(stage.reads):
            found |= set(stage.writes)
    return tuple(name for name in schema.TABLES if name in found - given)


def run(
    stage: Stage, path: Path, *, made_by: str, part: str | None = None, notes: Sequence[str] = (), **options: Any
) -> store.Arena:
    """Apply a stage to an arena and write what it makes; tables made from the old ones go if it differs.

    Args:
        stage: the stage.
        path: the arena's folder.
        made_by: the command, for the manifest.
        part: a column by whose values the table is replaced in part: rows with values that the stage did not make stay.
        notes: for the manifest; with `part`, each begins with the value it speaks of and a colon.
        options: the stage's own.

    Raises:
        ArenaError: if the arena lacks a table the stage reads, or cannot be written.
    """
    arena = store.open_arena(path)
    made = stage.run({name: arena.read(name) for name in stage.reads}, **options)
    kept: list[str] = []
    if part:
        for name, new in made.items():
            if name in arena.tables:
                made[name], values = _merged(arena.read(name), new, part)
                starts = tuple(f"{value}: " for value in values)
                kept += [note for note in arena.manifest["made"][name]["notes"] if not note.startswith(starts)]
    return store.write(path, made, made_by=made_by, notes=[*kept, *notes], stale=derived(made))


def _merged(old: pa.Table, new: pa.Table, part: str) -> tuple[pa.Table, set[str]]:
    """The new rows, and the old ones with other values of a column; and the values that are new."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.unique(new[part])
    others = old.filter(pc.invert(pc.is_in(old[part], value_set=values)))
    return pa.concat_tables([others, new]), set(values.to_pylist())
