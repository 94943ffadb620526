"""Placement of a new system among the judged systems: a prior from its features, updated by randomly drawn battles.

    placement = place(arena, "my-model", referee="gpt-4o")   # rank and tier, and battles that would settle the tier
    write_battles(placement, Path("next.csv"))               # for `mirage judge DIR --judge gpt-4o --battles next.csv`

`records.py` has the results, `reading.py` reads the battles from the arena, `expectation.py` computes the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema, store
from mirage.errors import NotEnoughData
from mirage.ranking.place import sequential
from mirage.ranking.place.expectation import expectation
from mirage.ranking.place.reading import (
    fields_of,
    grids,
    judge_of,
    judged_battles,
    split_judgments,
    tiers_of,
    verdicts_of,
)
from mirage.ranking.place.records import ORDERS, Placement, PlacementRow, SuggestedBattle, placement_rows
from mirage.ranking.threads import one_thread
from mirage.store.export import export_rows

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BATCH",
    "ORDERS",
    "Placement",
    "PlacementRow",
    "SuggestedBattle",
    "place",
    "write_battles",
]

BATCH = (10, 50)
"""Minimum and maximum of the default number of suggested battles."""


def place(
    arena: store.Arena,
    system: str,
    *,
    referee: str | None = None,
    languages: Sequence[str] | None = None,
    battles: int | None = None,
    seed: int = 0,
    verdicts: Path | None = None,
    prior: sequential.Prior | None = None,
) -> Placement:
    """Place a new system in the ranking, and suggest randomly drawn battles that would settle its tier.

    The judged systems are rated and grouped into tiers by their own battles; those of the new system, in the arena or
    in a file, then update the prior from its features. Battles use queries that the judge has judged before.

    Args:
        arena: with judgments, and features or answers of the new system.
        system: the new system.
        referee: the judge; None if there is only one.
        languages: codes; None for all in which the judge has judged and the system has answered. With several, the
            placement is by the mean over them.
        battles: number of battles to suggest; None for the expected number that settles it, within `BATCH`.
        seed: seed of the draw.
        verdicts: file with further verdicts of the judge (`mirage import judgments`), not added to the arena.
        prior: prior of the rating, instead of the surrogate's; one mean and deviation per language.

    Raises:
        TableMissing: if the arena has no judgments, or neither answers nor features.
        UnknownName: if the system has no answers, or the judge or a language has no battles.
        NotEnoughData: if there are fewer than two judged systems.
        BadInput: if a file or a number is invalid.
    """
    judgments = verdicts_of(arena, verdicts)
    # Small matrices: synchronising threads would cost more than it saves.
    with one_thread():
        return _place(
            arena,
            judgments,
            system,
            judge_of(judgments, referee),
            languages=languages,
            battles=battles,
            seed=seed,
            prior=prior,
        )


def _place(
    arena: store.Arena,
    judgments: pa.Table,
    system: str,
    referee: str,
    *,
    languages: Sequence[str] | None,
    battles: int | None,
    seed: int,
    prior: sequential.Prior | None,
) -> Placement:
    own, rest = split_judgments(judgments, system, referee)
    if not len(rest):
        raise NotEnoughData(
            f"{referee} has judged no two systems besides {system}", do="judge battles of other systems first"
        )
    fields, answered = fields_of(arena, rest, system, referee, languages)
    codes = tuple(field.language for field in fields)
    tiers = tiers_of(rest, fields, referee, seed)
    regressor: str | None = None
    outside: tuple[str, ...] = ()
    if prior is None:
        prior, regressor, outside = expectation(arena, rest, system, referee, fields)
    start = sequential.start(fields, prior)
    results, requested = judged_battles(own, fields, referee, system)
    state = start.after(results)
    now = sequential.posterior_standing(state, tiers, seed=seed)
    rooms = [
        sequential.CandidatePool(queries, open_ & ~grid, grid)
        for (queries, open_), grid in zip(answered, grids(requested, answered), strict=True)
    ]
    horizon = sequential.horizon(state, tiers, rooms, seed=seed)
    count = min(max(BATCH[0], horizon.median or BATCH[1]), BATCH[1]) if battles is None else battles
    picked = sequential.choose_battles(state, rooms, n=0 if now.settled else count, seed=seed)
    return Placement(
        system=system,
        referee=referee,
        languages=codes,
        regressor=regressor,
        outside=outside,
        before=sequential.posterior_standing(start, tiers, seed=seed),
        now=now,
        stands=placement_rows(system, state.systems, tiers, now),
        tiers=tiers,
        unparsed=len(requested) - len(results),
        next=tuple(
            SuggestedBattle(
                codes[battle.language],
                rooms[battle.language].queries[battle.query],
                system,
                state.systems[battle.opponent],
                battle.wins,
            )
            for battle in picked
        ),
        horizon=horizon,
        seed=seed,
    )


def write_battles(placement: Placement, file: Path) -> None:
    """Write the suggested battles to a CSV, JSON Lines or Parquet file that `mirage judge --battles` reads.

    If there are none, the file has no rows, so that one of an earlier round is replaced.

    Raises:
        BadInput: if the file's extension is unknown, or it cannot be written.
    """
    export_rows(schema.from_rows(SuggestedBattle, placement.next), file)
