"""The command that ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage import schema
from mirage.cli.common import ArenaDir, How, Languages, Parser, Seed, app, codes
from mirage.cli.output import note, show
from mirage.cli.tournaments import as_published, keep_tournaments
from mirage.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from mirage.cli.output import Format
    from mirage.rank import Ranking
    from mirage.rank.whatif import RankOptions
    from mirage.store import Arena

Penalty = Literal["jeffreys", "none"]
Scale = Literal["logit", "arena"]
"""As `rank.Penalty` and `rank.Scale`, which take long to import."""
RANKS = (
    *("language", "system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"),
    *("wins", "ties", "losses", "battles", "bounded"),
)
"""Columns of `rank`; the table for people does without the last, and prints an end without a bound as infinite."""
DIFFERENCES = ("difference", "difference_low", "difference_high")
"""Columns that `rank --reference` adds."""


@app.command()
def rank(
    dir_: ArenaDir,
    referees: Annotated[
        list[str],
        typer.Option(
            "--referee",
            metavar="relevance|JUDGE|pooled",
            help="Human relevance labels, or a judge's name; several judges, or pooled for all, are counted together.",
        ),
    ],
    skill: Annotated[schema.Skill, typer.Option(help="Which questions count, by relevance.")] = "both",
    languages: Languages = None,
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="Draws behind the intervals; with --paper, tournaments.", show_default="1000, 200"),
    ] = None,
    seed: Seed = 0,
    ties: Annotated[schema.Ties, typer.Option(help="Half a win for each, Davidson's model, or dropped.")] = "half",
    penalty: Annotated[
        Penalty,
        typer.Option(help="Bias-reduced by Jeffreys' prior, or none: the maximum of the likelihood."),
    ] = "jeffreys",
    reference: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="Adds every system's difference to this one, with its interval."),
    ] = None,
    scale: Annotated[
        Scale,
        typer.Option(help="Ratings in logits, or as arenas print them: 1000 + 400 a tenfold of the odds."),
    ] = "logit",
    parser: Parser = "strict",
    without: Annotated[
        str | None, typer.Option("--leave-out-family", metavar="MAKER", help="Without the judges made by MAKER.")
    ] = None,
    no_own: Annotated[
        bool,
        typer.Option(
            "--no-own-family", help="Without a judge's verdicts on systems of its own maker (see makers.csv)."
        ),
    ] = False,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Only battles whose two orders were judged and agree.")
    ] = False,
    control: Annotated[
        str | None,
        typer.Option(metavar="length,citations,language", help="Compare at equal style of the answers, one or more."),
    ] = None,
    votes: Annotated[
        bool, typer.Option("--votes", help="People's votes replace the judge's verdicts on the same battles.")
    ] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's way: tournaments of 100 drawn queries, --draws of them.")
    ] = False,
    store_: Annotated[bool, typer.Option("--store", help="Keep the ranking of every skill in the arena.")] = False,
    output_format: How = "table",
) -> None:
    """Rank the systems by a referee.

    Bradley-Terry ratings with 95% intervals, rank intervals, tiers and records. A tie is half a point for each, so that
    ratings stand for the expected points of a battle, not for the odds of winning it. An end of an interval on which
    the data puts no bound is infinite in the table, empty in CSV and null in JSON. Reads the table outcomes (referee
    relevance) or judgments (a judge). Writes nothing; with --store, the table ratings, where ratings by other
    referees stay. Where judges are pooled, verdicts left out or replaced by votes, or style is controlled for (which
    reads the table features), it tells which ranks that moves. With --paper: means and percentiles over tournaments as
    published; --store then writes the table tournaments. Makers are those that DIR/makers.csv names, else those that
    the names tell.
    """
    import mirage.rank as rank
    from mirage import store
    from mirage.battles.referee import POOLED, Referee
    from mirage.makers import BY_NAME
    from mirage.rank.paper import TOURNAMENTS
    from mirage.rank.ranking import rank_by, remarks
    from mirage.rank.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
    from mirage.rank.whatif import RankOptions
    from mirage.stage import run

    arena = store.open_arena(dir_)
    referee, only = referees[0], codes(languages)
    by_labels = Referee.named(referee).by_labels
    style = tuple(part.strip() for part in (control or "").split(",") if part.strip())
    makers = store.makers_of(arena) if without is not None or no_own else BY_NAME
    draws = draws or (TOURNAMENTS if paper else rank.DRAWS)
    printed = RankingPrinter(output_format, reference, scale)
    choice = RankOptions(ties, without, own=not no_own, consistent=consistent, control=style, makers=makers)
    varied = len(referees) > 1 or referee == POOLED or choice != RankOptions(ties) or votes
    if varied:
        if store_ or paper or skill != "both" or parser != "strict" or penalty != "jeffreys":
            raise BadInput(
                "a ranking by pooled judges, by some of the verdicts, with votes, or at equal style is only printed",
                do="leave out --store, --paper, --skill, --parser and --penalty",
            )
        _otherwise(arena, referees, choice, votes, languages=only, draws=draws, seed=seed, printed=printed)
        return
    if store_ and (only or ties != "half" or parser != "strict" or penalty != "jeffreys"):
        raise BadInput(
            "--store keeps the ranking as it is by default",
            do="leave out --languages, --ties, --parser and --penalty",
        )
    if paper:
        if ties not in ("half", "drop"):
            raise BadInput("the paper drops ties", do="leave out --ties, or --paper")
        if reference is not None or scale != "logit":
            raise BadInput("the paper's ratings are printed as published", do="leave out --reference and --scale")
        as_published(
            arena, referee, skill=skill, parser=parser, languages=only, draws=draws, seed=seed, how=output_format
        )
        if store_:
            keep_tournaments(arena, referee, draws=draws, seed=seed)
        return
    table = arena.read("outcomes") if by_labels else arena.read("judgments", columns=rank.COLUMNS)
    options: dict[str, Any] = {"draws": draws, "seed": seed}
    how_rated: dict[str, Any] = {"ties": ties, "penalty": penalty, **options}
    ranking = rank_by(table, referee, skill=skill, parser=parser, languages=only, **how_rated)
    printed.check(ranking)
    if store_:
        stage = RELEVANCE_RATINGS if by_labels else JUDGED_RATINGS
        options |= {} if by_labels else {"judge": referee}
        notes = [f"{referee}: {ranking.method}"]
        run(stage, dir_, made_by="mirage rank --store", part="referee", notes=notes, **options)
    printed.show(ranking)
    for line in (ranking.method, *remarks(ranking, table, languages=only)):
        note(line)


@dataclass(frozen=True, slots=True)
class RankingPrinter:
    """How a ranking is printed."""

    how: Format
    reference: str | None
    """System that the others are compared with."""
    scale: Scale

    def check(self, ranking: Ranking) -> None:
        """Refuse a reference that is ranked in no language.

        Raises:
            UnknownName: if it is not ranked.
        """
        systems = sorted({system for row in ranking.languages.values() for system in row.systems})
        if self.reference is not None and self.reference not in systems:
            raise UnknownName("system", self.reference, systems, where="the ranking")

    def show(self, ranking: Ranking) -> None:
        """Print the table of a ranking; for people, with what it takes to read it."""
        from mirage.rank.ranking import ordered

        columns = RANKS if self.reference is None else (*RANKS, *DIFFERENCES)
        records = [self._scaled(row) for row in ordered(ranking, self.reference).to_pylist()]
        if self.how != "table":
            show(records, columns, self.how)
            return
        show(
            [self._for_people(row, ranking) for row in records],
            columns[: len(RANKS) - 1] + columns[len(RANKS) :],
            self.how,
        )
        if self.reference is not None:
            note(f"difference: to the rating of {self.reference}, with its own 95% interval")
        if self.scale == "arena":
            note("ratings on the scale of arenas: 1000 + 400 for each tenfold of the odds")

    def _scaled(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row with its ratings and differences on the scale."""
        from mirage.rank import on_scale

        ratings = {name: on_scale(row[name], self.scale) for name in ("rating", "low", "high")}
        names = DIFFERENCES if self.reference is not None else ()
        return row | ratings | {name: on_scale(row[name], self.scale, difference=True) for name in names}

    def _for_people(self, row: dict[str, Any], ranking: Ranking) -> dict[str, Any]:
        """A row whose missing ends are infinite, whose system without a tier has those it may be in."""
        cells = dict(row)
        values = ["rating", "low", "high", *(DIFFERENCES if self.reference is not None else ())]
        for name in values:
            value = row[name]
            if value is None and name.endswith(("low", "high")) and row.get("difference", 0.0) is not None:
                cells[name] = "-∞" if name.endswith("low") else "+∞"
            elif value is not None and self.scale == "arena":
                cells[name] = f"{value:+.0f}" if name in DIFFERENCES else f"{value:,.0f}"
        if row["tier"] is None and ranking.battles:
            span = ranking.tiers[row["language"]].span(row["system"])
            cells["tier"] = None if span is None else f"{span[0]}-{span[1]}" if span[0] != span[1] else f"({span[0]})"
        return cells


def _otherwise(
    arena: Arena, referees: list[str], choice: RankOptions, voted: bool, *, printed: RankingPrinter, **options: Any
) -> None:
    """Print a ranking that counts otherwise, and what that moves."""
    import mirage.rank as rank
    from mirage import votes
    from mirage.rank.ranking import change_lines, counted_lines, remarks, what_if
    from mirage.rank.whatif import RankOptions, compare
    from mirage.votes.stage import people_verdicts

    table = arena.read("judgments", columns=rank.COLUMNS)
    features = arena.read("features") if choice.control else None
    people = people_verdicts(arena, votes.Votes().rows(votes.Vote, arena=arena.name)) if voted else None
    result = what_if(table, referees, choice, features=features, votes=people, **options)
    printed.check(result.ranking)
    printed.show(result.ranking)
    for line in (result.method, *counted_lines(result), *remarks(result.ranking, table)):
        note(line)
    if choice != RankOptions() or result.voted:
        usual = what_if(table, referees, RankOptions(), **options).ranking
        different = compare(usual, result.ranking)
        for code in result.ranking.languages:
            note(f"against the plain ranking, {code}: " + "; ".join(change_lines(different, language=code)))
