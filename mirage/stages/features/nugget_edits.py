"""Edits of nugget banks: preview of the effect on scores and ranking, and saving with derived rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mirage import schema, store
from mirage.schema import Code, Count, Range, Share
from mirage.stages import features
from mirage.stages.features import nuggets as scores
from mirage.stages.features.assessed import decider
from mirage.stages.features.stage import FEATURES
from mirage.stages.nuggets import TERMS, BankChange, assign_by_terms
from mirage.stages.nuggets.stage import edit_bank
from mirage.store.query_rows import of_query

if TYPE_CHECKING:
    import pyarrow as pa

Difference = Annotated[float, Range(-1, 1)]
NAMES = tuple(spec.name for spec in scores.FAMILY.specs)
"""Features derived from nuggets."""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """Effect of an edit on one score of one system in one language."""

    key = ("language", "feature", "system")

    language: Code
    """Language of the queries."""
    feature: str
    """The score."""
    system: str
    """The system."""
    rank: Count | None
    """Rank by the mean before, 1 is best, ties shared; null without a mean."""
    rank_after: Count | None
    """Rank after."""
    mean: Share | None
    """Mean over queries before; null if no query has a score."""
    low: Share | None
    """Lower end of its 95% interval over queries."""
    high: Share | None
    """Upper end."""
    mean_after: Share | None
    """Mean over queries after."""
    low_after: Share | None
    """Lower end of its 95% interval."""
    high_after: Share | None
    """Upper end."""
    difference: Difference | None
    """Mean difference (after minus before) over the queries with both scores."""
    difference_low: Difference | None
    """Lower end of its 95% interval (Student's t over queries, paired)."""
    difference_high: Difference | None
    """Upper end."""
    query: Share | None
    """Score of the answer to the edited query, before; null if there is none."""
    query_after: Share | None
    """Its score after."""
    n: Count
    """Queries with a score after."""


@dataclass(frozen=True, slots=True)
class EditEffect:
    """Effect of an edit on the scores in its language."""

    change: BankChange
    """The edit."""
    assigner: str | None
    """The assigner that counts; null if nothing is assigned, so that there are no scores."""
    matched: int
    """Number of new nuggets, assigned only by shared words so far."""
    rows: tuple[ScoreChange, ...]
    """Changes by score, best system before first."""


def effect_of(arena: store.Arena, change: BankChange) -> EditEffect:
    """Preview the effect of an edit on nugget scores; nothing is written.

    New nuggets are assigned by shared words (`baseline/terms`), as if by the assigner that counts.

    Args:
        arena: with answers and nuggets.
        change: the edit.
    """
    edit = change.edit
    assigner = _assigner(arena)
    new = _new(change)
    if assigner is None:
        return EditEffect(change, None, 0, ())
    matched = [row | {"assigner": assigner} for row in _match_terms(arena, change)]
    before = _values(_scores(arena, edit.language, assigner))
    after = _values(_score_query(arena, change, assigner, matched))
    after = {key: value for key, value in before.items() if key[1] != edit.query_id} | after
    return EditEffect(change, assigner, len(new), _compare(edit.language, edit.query_id, before, after))


def save_edit(
    path: Path,
    change: Callable[[pa.Table], BankChange],
    *,
    made_by: str,
    expected: Sequence[schema.Nugget] | None = None,
) -> store.Arena:
    """Apply an edit to a bank (`edit_bank`) with its derived rows, in one transaction.

    If the word matcher has assigned before, it also assigns the new nuggets. If scores exist, those of the query are
    recomputed: null, with the reason, until the new nuggets are assigned.

    Args and errors: as for `edit_bank`.
    """
    return edit_bank(path, change, made_by=made_by, expected=expected, beside=_following)


def _following(seen: store.Snapshot, change: BankChange) -> dict[str, store.NewRows]:
    """Return the assignments and scores derived from an edit."""
    arena, edit = seen.arena, change.edit
    assigner = _assigner(arena)
    if assigner is None:
        return {}
    rows: dict[str, store.NewRows] = {}
    matched: list[dict[str, Any]] = []
    if TERMS in seen.tables["nugget_assignments"]["assigner"].unique().to_pylist():
        matched = _match_terms(arena, change)
    if matched:
        rows["nugget_assignments"] = store.by_key("nugget_assignments", _table("nugget_assignments", matched))
    if any(row["feature"] in NAMES for row in of_query(arena, "features", (edit.language, edit.query_id))):
        measured = _score_query(arena, change, assigner, matched)
        rows["features"] = store.by_key("features", measured)
    return rows


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist([dict(row) for row in rows], schema.arrow_schema(name))


def _assigner(arena: store.Arena) -> str | None:
    if "nugget_assignments" not in arena.tables:
        return None
    return decider(arena.read("nugget_assignments", columns=["assigner"]), "assigner")


def _bank(change: BankChange) -> list[dict[str, Any]]:
    """Return the nuggets of the query after an edit."""
    edit = change.edit
    return [
        row for row in change.bank.to_pylist() if (row["language"], row["query_id"]) == (edit.language, edit.query_id)
    ]


def _new(change: BankChange) -> list[dict[str, Any]]:
    """Return the nuggets whose text is new; changes of importance do not count."""
    import json

    old = {row["nugget_id"]: row["text"] for row in json.loads(change.edit.before)}
    rows: list[dict[str, Any]] = json.loads(change.edit.after)
    return [row for row in rows if old.get(row["nugget_id"]) != row["text"]]


def _match_terms(arena: store.Arena, change: BankChange) -> list[dict[str, Any]]:
    """Assign the new nuggets to every answer of the query by shared words."""
    key = (change.edit.language, change.edit.query_id)
    tables = {name: _table(name, of_query(arena, name, key)) for name in ("answers", "queries")}
    rows: list[dict[str, Any]] = assign_by_terms(
        _table("nuggets", _new(change)), tables["answers"], tables["queries"]
    ).to_pylist()
    return rows


def _score_query(
    arena: store.Arena, change: BankChange, assigner: str, matched: Sequence[Mapping[str, Any]]
) -> pa.Table:
    """Return the scores of the query after an edit: `schema.Feature` rows.

    Args:
        arena: the arena before.
        change: the edit.
        assigner: the assigner that counts.
        matched: assignments of the new nuggets.
    """
    key = (change.edit.language, change.edit.query_id)
    bank = _bank(change)
    names = {row["nugget_id"] for row in bank} - {row["nugget_id"] for row in _new(change)}
    kept = [row for row in of_query(arena, "nugget_assignments", key) if row["nugget_id"] in names]
    tables = {
        "answers": _table("answers", of_query(arena, "answers", key)),
        "nuggets": _table("nuggets", bank),
        "nugget_assignments": _table("nugget_assignments", [*kept, *matched]),
    }
    return _measure(tables, assigner)


@lru_cache(maxsize=8)
def _scores(arena: store.Arena, language: str, assigner: str) -> pa.Table:
    """Return the current scores of a language."""
    names = ("answers", "nuggets", "nugget_assignments")
    return _measure({name: arena.read(name, languages=[language]) for name in names}, assigner)


def _measure(tables: Mapping[str, pa.Table], assigner: str) -> pa.Table:
    return FEATURES.run(tables, only=NAMES, tools=features.Tools(assigner=assigner, part=True))["features"]


_Key = tuple[str, str, str]
"""Feature, query and system."""


def _values(table: pa.Table) -> dict[_Key, float | None]:
    columns = (table[name].to_pylist() for name in ("feature", "query_id", "system", "value"))
    return {(feature, query, system): value for feature, query, system, value in zip(*columns, strict=True)}


def _compare(
    language: str, query: str, before: Mapping[_Key, float | None], after: Mapping[_Key, float | None]
) -> tuple[ScoreChange, ...]:
    both = {key: (value, after.get(key)) for key, value in before.items()}
    differences = {key: b - a for key, (a, b) in both.items() if a is not None and b is not None}
    old, new = (_means(language, values) for values in (before, after))
    between = _means(language, differences, prefix="difference of ")
    ranks, ranks_after = _ranks(old), _ranks(new)
    rows = []
    for name, system in sorted(old, key=lambda key: (NAMES.index(key[0]), ranks[key] or len(old), key[1])):
        mean, then, step = old[name, system], new[name, system], between.get((name, system))
        rows.append(
            ScoreChange(
                language=language,
                feature=name,
                system=system,
                rank=ranks[name, system],
                rank_after=ranks_after[name, system],
                mean=mean.mean,
                low=mean.low,
                high=mean.high,
                mean_after=then.mean,
                low_after=then.low,
                high_after=then.high,
                difference=None if step is None else step.mean,
                difference_low=None if step is None else step.low,
                difference_high=None if step is None else step.high,
                query=before.get((name, query, system)),
                query_after=after.get((name, query, system)),
                n=then.n,
            )
        )
    return tuple(rows)


def _means(
    language: str, values: Mapping[_Key, float | None], prefix: str = ""
) -> dict[tuple[str, str], features.FeatureMean]:
    """Return the means by score and system; with a prefix those of differences, which lie within -1 and 1."""
    import pyarrow as pa

    bounds = {prefix + name: (-1.0, 1.0) for name in NAMES}

    keys = sorted(values, key=lambda key: (key[1], key[2], key[0]))  # sums in one order are the same to the last bit
    table = pa.table(
        {
            "language": pa.array([language] * len(keys), pa.string()),
            "feature": pa.array([prefix + name for name, _, _ in keys], pa.string()),
            "system": pa.array([system for *_, system in keys], pa.string()),
            "value": pa.array([values[key] for key in keys], pa.float64()),
        }
    )
    return {(row.feature.removeprefix(prefix), row.system): row for row in features.means(table, bounds=bounds)}


def _ranks(means: Mapping[tuple[str, str], features.FeatureMean]) -> dict[tuple[str, str], int | None]:
    """Return the rank of each system by each score; None without a mean."""
    known = {key: row.mean for key, row in means.items() if row.mean is not None}
    return {
        key: 1 + sum(name == key[0] and other > known[key] + 1e-12 for (name, _), other in known.items())
        if key in known
        else None
        for key in means
    }
