"""A new system's place among the judged ones: expected from free features, settled by battles drawn at random.

    placement = place(arena, "my-model", referee="gpt-4o")   # where it stands, and which battles would settle its tier
    write_battles(placement, Path("next.csv"))               # for `mirage judge DIR --judge gpt-4o --battles next.csv`

`records.py` is what comes of it, `reading.py` takes the battles from the arena, `expectation.py` asks the surrogate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema, store
from mirage.errors import NotEnoughData
from mirage.placement import sequential
from mirage.placement.expectation import expectation
from mirage.placement.reading import (
    battles_fought,
    fields_of,
    grids,
    judge_of,
    split_judgments,
    tiers_of,
    verdicts_of,
)
from mirage.placement.records import ORDERS, Placement, PlacementRow, SuggestedBattle, placement_rows
from mirage.rank.threads import one_thread
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
"""Fewest and most battles that are named at a time where no number is asked for."""


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
    """Say where a new system stands, and name battles that would settle its tier, drawn at random.

    The judged systems are rated and put into tiers by their own battles; those of the new system, in the arena or in a
    file, then update what its features led to expect. Battles are on the queries that the judge has judged before.

    Args:
        arena: with judgments, and features or answers of the new system.
        system: the new system.
        referee: the judge; None where there is only one.
        languages: codes; None for all in which the judge has judged and the system has answered. Of several, the place
            is that by the mean over them.
        battles: how many to name; None for what is expected to settle it, between the two of `BATCH`.
        seed: of that draw.
        verdicts: a file of further verdicts of the judge (`mirage import judgments`), which stay out of the arena.
        prior: where the system is expected, over what the surrogate says; one mean and deviation a language.

    Raises:
        TableMissing: if the arena has no judgments, or neither answers nor features.
        UnknownName: if the system has no answers, or the judge or a language has no battles.
        NotEnoughData: if there are not two judged systems.
        BadInput: if a file or a number cannot be taken.
    """
    judgments = verdicts_of(arena, verdicts)
    # These matrices are too small to share: waiting for a second core costs more.
    with one_thread():
        return _placed(
            arena,
            judgments,
            system,
            judge_of(judgments, referee),
            languages=languages,
            battles=battles,
            seed=seed,
            prior=prior,
        )


def _placed(
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
        raise NotEnoughData(f"{referee} has judged no two systems besides {system}", do="let it judge those first")
    fields, answered = fields_of(arena, rest, system, referee, languages)
    codes = tuple(field.language for field in fields)
    tiers = tiers_of(rest, fields, referee, seed)
    regressor: str | None = None
    outside: tuple[str, ...] = ()
    if prior is None:
        prior, regressor, outside = expectation(arena, rest, system, referee, fields)
    start = sequential.start(fields, prior)
    fought, requested = battles_fought(own, fields, referee, system)
    state = start.after(fought)
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
        unparsed=len(requested) - len(fought),
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
    """Write the next battles into a file, CSV, JSON Lines or Parquet by its name, as `mirage judge --battles` reads.

    Where nothing is left to judge the file is written without a row: one of an earlier round must not stay.

    Raises:
        BadInput: if its name says no known kind, or it cannot be written.
    """
    export_rows(schema.from_rows(SuggestedBattle, placement.next), file)
