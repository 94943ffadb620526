"""Command that places a new system: `mirage place`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, app, codes
from mirage.cli.output import note, show

if TYPE_CHECKING:
    from mirage.ranking.place import Placement
    from mirage.ranking.place.sequential import Standing

COLUMNS = ("rank", "system", "rating", "low", "high", "tier", "tier_probability", "rank_probability", "above")
"""Columns of `place`."""


@app.command()
def place(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option(metavar="NAME", help="The new system.")],
    referee: Annotated[
        str | None, typer.Option("--judge", metavar="JUDGE", help="The judge; optional if there is only one.")
    ] = None,
    languages: Languages = None,
    battles: Annotated[int | None, typer.Option(min=1, help="Battles to draw; by default 10 to 50, as needed.")] = None,
    seed: Seed = 0,
    verdicts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Further verdicts of the judge, in the format of `import judgments`."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--next", metavar="FILE", help="Write the battles to this file, .csv, .jsonl or .parquet."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Place a new system among the judged systems with few battles.

    Its features give a prior, its battles in the table judgments update it, and the next battles are drawn at random.
    Reads the tables judgments, features and answers. Writes only FILE, for `mirage judge DIR --battles FILE`;
    then repeat this command. If nothing is left to judge, FILE is empty, with a note. Prints the ranking with the
    system in it: each row's tier, and the probabilities that the system has this tier, this rank, and a higher rating
    than this row.
    """
    from mirage import store
    from mirage.ranking import place as placing

    placement = placing.place(
        store.open_arena(dir_),
        system,
        referee=referee,
        languages=codes(languages),
        battles=battles,
        seed=seed,
        verdicts=verdicts,
    )
    if file is not None:
        placing.write_battles(placement, file)
    show([dataclasses.asdict(row) for row in placement.stands], COLUMNS, output_format)
    _tell(placement, dir_, file)


def _tell(placement: Placement, dir_: Path, file: Path | None) -> None:
    by = f"the surrogate {placement.regressor}" if placement.regressor else "the spread of the judged systems"
    note(f"{placement.system} before any battle, by {by}: {_stands(placement.before)}")
    if placement.outside:
        note(f"Outside the range of the judged systems: {', '.join(placement.outside)}")
    standing = placement.now
    if standing.n:
        note(f"After {standing.n:,} battles by {placement.referee}: {_stands(standing)}")
    if placement.unparsed:
        note(f"{placement.unparsed:,} battles without a readable verdict")
    if len(placement.tiers) == 1:
        note("The judged systems do not differ significantly: there is one tier, and nothing to settle")
    note(f"{'Settled' if placement.settled else 'Not settled'}: {placement.rule}")
    if not placement.settled:
        _tell_next(placement, dir_, file)
    if file is not None and not placement.next:
        note(f"Nothing is left to judge: {file} has no battles")
    note(placement.method)


def _tell_next(placement: Placement, dir_: Path, file: Path | None) -> None:
    horizon = placement.horizon
    unbounded = f"more than the {horizon.most:,} available"
    median, low, high = (f"{n:,}" if n is not None else unbounded for n in (horizon.median, horizon.low, horizon.high))
    note(f"Battles until then: about {median} (90% range {low} to {high}); each in both orders, 2 verdicts")
    message = f"{len(placement.next):,} battles drawn at random, {placement.calls:,} verdicts"
    if not placement.next:
        note("No battles are left")
    elif file is None:
        note(f"Next: {message}; write them to a file with --next FILE")
    else:
        note(f"Next: {message}, are in {file}: mirage judge {dir_} --judge {placement.referee} --battles {file}")


def _stands(standing: Standing) -> str:
    best, worst = standing.rank_interval()
    first, last = standing.tier_interval()
    of = len(standing.rank_probabilities)
    return (
        f"rank {best} to {worst} of {of}, rating {standing.rating:+.2f} ({standing.low:+.2f} to {standing.high:+.2f}), "
        f"tier {standing.tier} with probability {standing.tier_probabilities.max():.2f} ({first} to {last} of "
        f"{len(standing.tier_probabilities)})"
    )
