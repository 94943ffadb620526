"""Input of the placement: the battles and answers of the new system and of the judged systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage import schema, store
from mirage.battles.referee import Referee
from mirage.battles.verdict_rows import COLUMNS, from_judgments, judges_of, only_judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.io.imports.own import UserFile, read_own
from mirage.ranking.bootstrap import JOINT, rate
from mirage.ranking.place import sequential
from mirage.ranking.place.sequential.field import by_pair
from mirage.ranking.tiers import separate
from mirage.stages.judge.pairs import ANSWERS

if TYPE_CHECKING:
    import pyarrow as pa


def verdicts_of(arena: store.Arena, file: Path | None) -> pa.Table:
    """Return key and verdict of all judgments; those of the file replace those of the arena."""
    import pyarrow as pa

    names = list(COLUMNS)
    if file is None:
        return arena.read("judgments", columns=names)
    further = read_own(UserFile("judgments", file), arena.path)["judgments"].select(names)
    if "judgments" not in arena.tables:
        return further
    keys = list(schema.BATTLE)
    rows = arena.read("judgments", columns=names).join(further.select(keys), keys, join_type="left anti")
    return pa.concat_tables([rows.select(names).cast(further.schema), further]).sort_by(
        [(k, "ascending") for k in keys]
    )


def judge_of(judgments: pa.Table, name: str | None) -> str:
    """Return the judge with a name, or the only one.

    Raises:
        UnknownName: if there is none with the name.
        BadInput: if there are several and none is named, or it is the relevance labels or nuggets.
    """
    if name is not None and not Referee.from_name(name).by_judges:
        raise BadInput(
            f"{name} needs no battles: it decides on every answer", do=f"run: mirage rank DIR --judge {name}"
        )
    return only_judge(judges_of(judgments), name)


def split_judgments(judgments: pa.Table, system: str, referee: str) -> tuple[pa.Table, pa.Table]:
    """Return the judge's verdicts on the system, and those on the others."""
    import pyarrow.compute as pc

    rows = judgments.filter(pc.equal(judgments["judge"], referee))
    mask = pc.or_(pc.equal(rows["system_a"], system), pc.equal(rows["system_b"], system))
    return rows.filter(mask), rows.filter(pc.invert(mask))


def fields_of(
    arena: store.Arena, rest: pa.Table, system: str, referee: str, languages: Sequence[str] | None
) -> tuple[list[sequential.Field], list[tuple[tuple[str, ...], NDArray[np.bool_]]]]:
    """Fit the judged systems that all languages have, in each language.

    Returns:
        The fields; and by language the queries, and which opponents the new system can meet on each.
    """
    battles = from_judgments(rest, judge=referee)
    answers = _answers(arena)
    known = {name for _, _, name in answers}
    if system not in known:
        raise UnknownName("system with answers", system, known, where=arena.address)
    codes_answered = {code for code, _, name in answers if name == system}
    for code in languages or ():
        if code not in battles or code not in codes_answered:
            raise UnknownName(
                "language", code, codes_answered & set(battles), where=f"answers of {system} and battles by {referee}"
            )
    codes = [code for code in sorted(battles) if code in codes_answered and (languages is None or code in languages)]
    common = set.intersection(*(set(battles[code].systems) for code in codes)) if codes else set()
    if len(common) < 2:
        raise NotEnoughData(
            f"{referee} has judged fewer than two other systems in every language that {system} answered in",
            do="choose languages with --languages, or judge more battles",
        )
    fields, rooms = [], []
    for code in codes:
        language_battles = battles[code].subset(sorted(common))
        fields.append(sequential.field(code, language_battles))
        others_answered = np.array(
            [
                [(code, query, name) in answers for name in language_battles.systems]
                for query in language_battles.queries
            ]
        )
        system_answered = np.array([(code, query, system) in answers for query in language_battles.queries])
        rooms.append((language_battles.queries, others_answered & system_answered[:, None]))
    return fields, rooms


def _answers(arena: store.Arena) -> set[tuple[str, str, str]]:
    """Return language, query and system of every answer; if the arena has no answers, of every measured answer."""
    import pyarrow.compute as pc

    if "answers" in arena.tables:
        rows = arena.read("answers", columns=["language", "query_id", "system", "status"])
        rows = rows.filter(pc.is_in(rows["status"], value_set=_strings(ANSWERS)))
    else:
        rows = arena.read("features", columns=["language", "query_id", "system"])
        rows = rows.group_by(["language", "query_id", "system"]).aggregate([])
    columns = (rows[name].to_pylist() for name in ("language", "query_id", "system"))
    return set(zip(*columns, strict=True))


def tiers_of(
    rest: pa.Table, fields: Sequence[sequential.Field], referee: str, seed: int
) -> tuple[tuple[str, ...], ...]:
    """Return the tiers of the judged systems, by the joint row with several languages."""
    battles = from_judgments(rest, judge=referee)
    among = {field.language: battles[field.language].subset(field.systems) for field in fields}
    separation = separate(rate(among, draws=1, seed=seed))[JOINT if len(fields) > 1 else fields[0].language]
    by_tier: list[list[str]] = []
    last = 0
    for system, tier in zip(separation.systems, separation.tiers, strict=True):
        # A system without a tier joins the tier above it.
        if not by_tier or (tier is not None and tier > last):
            by_tier.append([])
        by_tier[-1].append(system)
        last = last if tier is None else tier
    return tuple(map(tuple, by_tier))


def judged_battles(
    own: pa.Table, fields: Sequence[sequential.Field], referee: str, system: str
) -> tuple[list[sequential.BattleResult], set[tuple[int, str, int]]]:
    """Return the system's battles with a parsed verdict, and all requested battles, as (language, query, opponent)."""
    place = {field.language: k for k, field in enumerate(fields)}
    index = {name: j for j, name in enumerate(fields[0].systems)}
    columns = (own[name].to_pylist() for name in ("language", "query_id", "system_a", "system_b"))
    requested = {
        (place[code], query, index[b if a == system else a])
        for code, query, a, b in zip(*columns, strict=True)
        if code in place and (b if a == system else a) in index
    }
    if not requested:
        return [], requested
    results = []
    for code, language_battles in from_judgments(own, judge=referee).items():
        if code not in place:
            continue
        points, contested = by_pair(language_battles)
        position = language_battles.systems.index(system)
        for q, j in np.argwhere(contested[:, position]).tolist():
            if language_battles.systems[j] in index:
                results.append(
                    sequential.BattleResult(
                        language_battles.queries[q],
                        index[language_battles.systems[j]],
                        float(points[q, position, j]),
                        place[code],
                    )
                )
    return results, requested


def grids(
    requested: set[tuple[int, str, int]],
    answered: Sequence[tuple[tuple[str, ...], NDArray[np.bool_]]],
) -> list[NDArray[np.bool_]]:
    """Return by language whether a battle was requested (Q x S)."""
    grids = []
    for k, (queries, open_) in enumerate(answered):
        positions = {query: q for q, query in enumerate(queries)}
        grid = np.zeros_like(open_)
        for language, query, j in requested:
            if language == k and query in positions:
                grid[positions[query], j] = True
        grids.append(grid)
    return grids


def _strings(values: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string())
