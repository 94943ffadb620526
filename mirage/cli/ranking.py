"""The command that ranks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage import schema
from mirage.cli.common import ArenaDir, How, Languages, Parser, Seed, Tags, app, arena_log, codes, narrowed
from mirage.cli.connection import executor_of
from mirage.cli.output import note, show
from mirage.cli.tournaments import as_published, keep_tournaments
from mirage.errors import BadInput, UnknownName
from mirage.intervals import MOST_DRAWS

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.cli.output import Format
    from mirage.engines.tasks import Executor
    from mirage.rank import Ranking
    from mirage.rank.large import VerdictFiles
    from mirage.rank.tags import TagSplit
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
        list[str] | None,
        typer.Option(
            "--referee",
            metavar="relevance|JUDGE|pooled",
            help="Human relevance labels, or a judge's name; several judges, or pooled for all, are counted together.",
            show_default="the only one there is",
        ),
    ] = None,
    skill: Annotated[schema.Skill, typer.Option(help="Which queries count, by relevance.")] = "both",
    languages: Languages = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_DRAWS,
            help="Draws behind the intervals; with --paper, tournaments.",
            show_default="1000, 200",
        ),
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
    tags: Tags = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="TAG", help="A ranking for each value of a tag of the queries, with tests."),
    ] = None,
    votes: Annotated[
        bool, typer.Option("--votes", help="People's votes replace the judge's verdicts on the same battles.")
    ] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's way: tournaments of 100 drawn queries, --draws of them.")
    ] = False,
    store_: Annotated[bool, typer.Option("--store", help="Keep the ranking of every skill in the arena.")] = False,
    engine: Annotated[
        Literal["local", "processes", "ray"],
        typer.Option(help="Where verdicts that do not fit in memory are counted: here, in processes, on a cluster."),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Workers of `processes` and `ray`; one a core here, if absent.")
    ] = None,
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Ray's; else RAY_ADDRESS, else this machine.")
    ] = None,
    output_format: How = "table",
) -> None:
    """Rank the systems by a referee.

    Bradley-Terry ratings with 95% intervals, rank intervals, tiers and records. A tie is half a point for each, so that
    ratings stand for the expected points of a battle, not for the odds of winning it. An end of an interval on which
    the data puts no bound is infinite in the table, empty in CSV and null in JSON. Reads the table outcomes (referee
    relevance) or judgments (a judge). Writes nothing; with --store, the table ratings, where ratings by other
    referees stay. Where judges are pooled, verdicts left out or replaced by votes, or style is controlled for (which
    reads the table features), it tells which ranks that moves. With --paper: means and percentiles over tournaments as
    published; --store then writes the table tournaments. --tag ranks on the queries with a tag alone; --by ranks on
    those of each value of a tag, and tests each system on a value against the other queries of the same languages
    (Welch's t, Holm's correction over all tests); both read the table tags and write nothing. Verdicts that fit in
    memory are ranked here, whatever the --engine. Makers are those that
    DIR/makers.csv names, else those that the names tell.
    """
    import mirage.rank as rank
    from mirage import store
    from mirage.battles.referee import POOLED, Referee, only_judge
    from mirage.makers import BY_NAME
    from mirage.rank.large import VerdictFiles
    from mirage.rank.paper import TOURNAMENTS
    from mirage.rank.tags import rank_by_tag
    from mirage.rank.whatif import RankOptions

    only = codes(languages)
    executor = executor_of(engine, workers, address)
    if dir_.is_file():
        judge, more = (referees[0], referees[1:]) if referees else (None, [])
        arenas = (store_, paper, skill != "both", control, votes, consistent, no_own, without, tags, by, more)
        printer = RankingPrinter(output_format, reference, scale)
        _of_file(dir_, judge, only, printer, draws, seed, ties, penalty, executor, plain=not any(arenas))
        return
    arena = narrowed(store.open_arena(dir_), tags)
    referees = referees or [only_judge(_referees(arena), noun="referee")]
    referee = referees[0]
    by_labels = Referee.named(referee).by_labels
    style = tuple(part.strip() for part in (control or "").split(",") if part.strip())
    makers = store.makers_of(arena) if without is not None or no_own else BY_NAME
    draws = draws or (TOURNAMENTS if paper else rank.DRAWS)
    printed = RankingPrinter(output_format, reference, scale)
    choice = RankOptions(ties, without, own=not no_own, consistent=consistent, control=style, makers=makers)
    varied = len(referees) > 1 or referee == POOLED or choice != RankOptions(ties) or votes
    _refuse_part(bool(tags or by), stored=store_ or paper, split=by is not None, varied=varied)
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
    how_rated: dict[str, Any] = {"ties": ties, "penalty": penalty, "draws": draws, "seed": seed}
    if by is not None:
        arena.need("tags")
        table = _decided(arena, referee)
        how_rated |= {"skill": skill, "parser": parser, "languages": only}
        printed.show_split(rank_by_tag(table, arena.read("tags"), by, referee, **how_rated))
        return
    files = None if by_labels or tags else VerdictFiles.of_arena(arena, languages=only)
    in_blocks = files is not None and files.large
    counted_from = files if in_blocks else None
    ranking, lines = _rated(arena, referee, skill, parser, only, files=counted_from, executor=executor, how=how_rated)
    printed.check(ranking)
    if store_:
        _keep(arena, ranking, in_blocks=in_blocks, draws=draws, seed=seed)
    printed.show(ranking)
    for line in (ranking.method, *lines):
        note(line)


def _keep(arena: Arena, ranking: Ranking, *, in_blocks: bool, draws: int, seed: int) -> None:
    """Write the ratings by a referee: of every skill by relevance labels, those just made by a judge in blocks."""
    from mirage.battles.referee import Referee
    from mirage.rank.large import keep_ratings
    from mirage.rank.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
    from mirage.stage import run

    made_by, referee = "mirage rank --store", ranking.referee
    if in_blocks:
        keep_ratings(arena, ranking, made_by=made_by)
        return
    by_labels = Referee.named(referee).by_labels
    options: dict[str, Any] = {"draws": draws, "seed": seed} | ({} if by_labels else {"judge": referee})
    stage = RELEVANCE_RATINGS if by_labels else JUDGED_RATINGS
    run(stage, arena.path, made_by=made_by, part="referee", notes=[f"{referee}: {ranking.method}"], **options)


def _rated(
    arena: Arena,
    referee: str,
    skill: schema.Skill,
    parser: schema.Parser,
    languages: list[str] | None,
    *,
    files: VerdictFiles | None,
    executor: Executor | None,
    how: dict[str, Any],
) -> tuple[Ranking, list[str]]:
    """The ranking by one referee with its remarks, from verdicts in memory, or from files a block of queries at a time
    where they are given, counted by the executor.
    """
    from mirage.rank.large import rank_files
    from mirage.rank.ranking import rank_by, remarks

    if files is not None:
        ranking = rank_files(files, judge=referee, languages=languages, executor=executor, **how)
        return ranking, remarks(ranking)
    table = _decided(arena, referee)
    ranking = rank_by(table, referee, skill=skill, parser=parser, languages=languages, **how)
    return ranking, remarks(ranking, table, languages=languages)


def _referees(arena: Arena) -> tuple[str, ...]:
    """The referees that an arena can be ranked by.

    Raises:
        TableMissing: if it has neither outcomes nor judgments.
    """
    from mirage.battles.referee import referees

    names = referees(arena)
    if not names:
        arena.need("judgments")
    return names


def _decided(arena: Arena, referee: str) -> pa.Table:
    """What a ranking by a referee is made from."""
    import mirage.rank as rank
    from mirage.battles.referee import Referee

    return arena.read("outcomes") if Referee.named(referee).by_labels else arena.read("judgments", columns=rank.COLUMNS)


def _of_file(
    path: Path,
    judge: str | None,
    languages: list[str] | None,
    printed: RankingPrinter,
    draws: int | None,
    seed: int,
    ties: schema.Ties,
    penalty: Penalty,
    executor: Executor | None,
    *,
    plain: bool,
) -> None:
    """Print the ranking of a file of battles.

    Raises:
        BadInput: if there is an option for arenas.
    """
    if not plain:
        raise BadInput(
            f"{path} is a file of battles, and no arena: it is only ranked, by one judge",
            do="leave out the options, or bring it into an arena: mirage import judgments FILE --into DIR",
        )
    from mirage import api
    from mirage.rank import DRAWS
    from mirage.rank.large import VerdictFiles, rank_files
    from mirage.rank.ranking import remarks

    options: dict[str, Any] = {"draws": draws or DRAWS, "seed": seed, "ties": ties, "penalty": penalty}
    files = VerdictFiles.of_file(path)
    if files is not None and (files.large or languages):
        ranking: Ranking = rank_files(files, judge=judge, languages=languages, executor=executor, **options)
        lines = remarks(ranking)
    elif languages:
        raise BadInput("--languages needs an arena or a Parquet file", do="leave it out, or write the file as Parquet")
    else:
        result = api.rank(path, judge=judge, **options)
        ranking, lines = result, list(result.remarks)
    printed.check(ranking)
    printed.show(ranking)
    for line in (ranking.method, *lines):
        note(line)


def _refuse_part(part: bool, *, stored: bool, split: bool, varied: bool) -> None:
    """Refuse to keep a ranking of some queries, or to split one that counts otherwise.

    Raises:
        BadInput: if that was asked for.
    """
    if part and stored:
        raise BadInput("a ranking on some of the queries is only printed", do="leave out --store and --paper")
    if split and varied:
        raise BadInput("--by splits the ranking of one referee as it is", do="leave out --by, or what changes it")


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
        self._print([({}, ranking)])

    def show_split(self, split: TagSplit) -> None:
        """Print the tables of a ranking by the values of a tag as one, and what sets the values apart."""
        for ranking in split.rankings.values():
            self.check(ranking)
        self._print([({"value": value}, ranking) for value, ranking in split.rankings.items()])
        for line in split.lines():
            note(line)

    def _print(self, parts: list[tuple[dict[str, str], Ranking]]) -> None:
        """Print the rows of some rankings, what is given with each in columns before its own; with these, the number
        of queries.
        """
        from mirage.rank.ranking import ordered

        more = tuple(parts[0][0])
        columns = (*more, *(["queries"] if more else []), *RANKS)
        records = []
        for values, ranking in parts:
            for row in ordered(ranking, self.reference).to_pylist():
                record = self._scaled(row) if self.how != "table" else self._for_people(self._scaled(row), ranking)
                records.append(values | {"queries": ranking.languages[row["language"]].n_queries} | record)
        if self.how == "table":
            columns = columns[:-1]
        show(records, columns + (DIFFERENCES if self.reference is not None else ()), self.how)
        if self.how != "table":
            return
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
    from mirage.rank.ranking import change_lines, counted_lines, remarks, what_if
    from mirage.rank.whatif import RankOptions, compare
    from mirage.votes import Vote
    from mirage.votes.stage import people_verdicts

    table = arena.read("judgments", columns=rank.COLUMNS)
    features = arena.read("features") if choice.control else None
    people = people_verdicts(arena, arena_log(arena, Vote)) if voted else None
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
