"""The command `mirage place`: where a new system stands, and which battles would settle it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, app, codes
from mirage.cli.output import note, show

if TYPE_CHECKING:
    from mirage.placement import Placement
    from mirage.placement.sequential import Standing

COLUMNS = ("rank", "system", "rating", "low", "high", "tier", "tier_probability", "rank_probability", "above")
"""Columns of `place`."""


@app.command()
def place(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option(metavar="NAME", help="The new system.")],
    referee: Annotated[
        str | None, typer.Option(metavar="JUDGE", help="Who judges; may be left out where there is only one.")
    ] = None,
    languages: Languages = None,
    battles: Annotated[int | None, typer.Option(min=1, help="Battles to name; 10 to 50, as needed, if absent.")] = None,
    seed: Seed = 0,
    verdicts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Further verdicts of the judge, as `import judgments` reads.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--next", metavar="FILE", help="Write the battles here, .csv, .jsonl or .parquet.")
    ] = None,
    output_format: How = "table",
) -> None:
    """Place a new system among the judged ones, with few battles.

    Its features say where to expect it, its battles in the table judgments update that, and the next battles are named,
    drawn at random. Reads the tables judgments, features and
    answers. Writes nothing but FILE, for `mirage judge DIR --battles FILE`; then the same command again. Where nothing
    is left to judge, FILE has no battles and a remark says so. Prints the ranking with the system in it: of each row
    its tier, the probability that the system is of this tier, of this rank, and above this one.
    """
    from mirage import placement as placing
    from mirage import store

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
        note(f"It lies outside the range of the judged systems in: {', '.join(placement.outside)}")
    standing = placement.now
    if standing.n:
        note(f"After {standing.n:,} battles by {placement.referee}: {_stands(standing)}")
    if placement.unparsed:
        note(f"{placement.unparsed:,} battles without a verdict that could be read")
    if len(placement.tiers) == 1:
        note("The battles separate none of the judged systems: there is one tier, and nothing to settle")
    note(f"{'Settled' if placement.settled else 'Not settled'}: {placement.rule}")
    if not placement.settled:
        _tell_next(placement, dir_, file)
    if file is not None and not placement.next:
        note(f"Nothing is left to judge: {file} was written without any battle")
    note(placement.method)


def _tell_next(placement: Placement, dir_: Path, file: Path | None) -> None:
    horizon = placement.horizon
    unbounded = f"more than the {horizon.most:,} that can be fought"
    median, low, high = (f"{n:,}" if n is not None else unbounded for n in (horizon.median, horizon.low, horizon.high))
    note(f"Battles until then: about {median} (90% range {low} to {high}); each in both orders, 2 verdicts")
    message = f"{len(placement.next):,} battles drawn at random, {placement.calls:,} verdicts"
    if not placement.next:
        note("There is no battle left to fight")
    elif file is None:
        note(f"Next: {message}; name a file with --next FILE to have them written")
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
