"""Command that ranks systems: `mirage rank`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage.cli.common import ArenaDir, How, Tags, app, arena_log, select_tagged
from mirage.cli.connection import executor_of
from mirage.cli.output import note, show
from mirage.cli.settings import expand_settings
from mirage.cli.tournaments import as_published, keep_tournaments
from mirage.errors import BadInput, UnknownName
from mirage.ranking.scale import Scale
from mirage.ranking.settings import DRAWS, RankSettings
from mirage.stats.intervals import MOST_DRAWS

if TYPE_CHECKING:
    from mirage.battles.referee import Referee
    from mirage.cli.output import Format
    from mirage.llm.engines.tasks import Executor
    from mirage.ranking.bootstrap import RankingReport
    from mirage.ranking.tags import TagSplit
    from mirage.store import Arena

_OMITTED: dict[str, tuple[str, ...]] = {
    "table": ("referee", "skill", "bounded"),
    **dict.fromkeys(("latex", "markdown"), ("referee", "skill")),
}
"""Columns of the leaderboard that a format does not print; the human-readable table prints an unbounded end as
infinite.
"""


@app.command()
@expand_settings
def rank(
    dir_: ArenaDir,
    *,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="relevance|nuggets|JUDGE|pooled",
            help="Human relevance labels, nugget scores, or a judge's name. Repeat to pool judges; pooled means all.",
            show_default="the only one",
        ),
    ] = None,
    settings: RankSettings,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_DRAWS,
            help="Bootstrap draws for the intervals; with --paper, tournaments.",
            show_default="1000, 200",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="Add every system's difference from this one, with its interval."),
    ] = None,
    scale: Annotated[
        Scale,
        typer.Option(help="Ratings in logits, or on the arena scale: 1000 + 400 per factor 10 of the odds."),
    ] = "logit",
    tags: Tags = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="TAG", help="One ranking per value of a query tag, with tests."),
    ] = None,
    votes: Annotated[
        bool, typer.Option("--votes", help="Replace the judge's verdicts by people's votes on the same battles.")
    ] = False,
    fragility: Annotated[
        bool,
        typer.Option(
            "--fragility", help="Print the fewest battles, queries and voters that change the first place or tier."
        ),
    ] = False,
    reliability: Annotated[
        bool,
        typer.Option(
            "--reliability",
            help="Weight judges and voters by how well they discriminate between systems, and test the weights.",
        ),
    ] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's method: --draws tournaments of 100 drawn queries.")
    ] = False,
    store_: Annotated[bool, typer.Option("--store", help="Store the ranking of every skill in the arena.")] = False,
    engine: Annotated[
        Literal["local", "processes", "ray"],
        typer.Option(help="Where to count verdicts that do not fit in memory: here, in processes, on a cluster."),
    ] = "local",
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Workers of `processes` and `ray`; by default one per core of this machine."),
    ] = None,
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Address of Ray; by default RAY_ADDRESS, else this machine.")
    ] = None,
    output_format: How = "table",
) -> None:
    """Rank the systems by a referee.

    Bradley-Terry ratings with 95% intervals, rank intervals, tiers and records. A tie is half a point for each, so
    ratings give the expected points of a battle, not the odds of winning it. An unbounded end of an interval is
    infinite in the table, empty in CSV and null in JSON. Reads the table outcomes (referee relevance), judgments (a
    judge), or answers, nuggets and nugget_assignments (nuggets: of a query's two answers the one that states the
    greater share of the vital nuggets in full wins; scores within --nugget-margin tie). Writes nothing; with --store,
    the table ratings, keeping those by other referees. If judges are pooled, verdicts excluded or replaced by votes, or
    style is controlled for (which reads the table features), it lists the ranks that change. With --paper: means and
    percentiles over tournaments as published; --store then writes the table tournaments. --tag ranks only the queries
    with a tag; --by ranks by each value of a tag, and tests each system on a value against the other queries of the
    same languages (Welch's t, Holm-corrected over all tests); both read the table tags and write nothing. Verdicts that
    fit in memory are ranked here, whatever the --engine. With --fragility: by language, the smallest sets (found by
    influence, checked by fitting again) without which another system is first or joins the first tier, and the queries
    and voters that they share; other formats than the table list the sets. With --reliability: ratings with equal
    weights beside those with each judge and voter weighted by its reliability, the judges' weights, and a test of equal
    reliability. Makers come from DIR/makers.csv, else from the systems' names.
    """
    from mirage import store
    from mirage.battles.referee import choose_referee, referees
    from mirage.ranking.paper import TOURNAMENTS

    settings = replace(settings, draws=draws or (TOURNAMENTS if paper else DRAWS))
    executor = executor_of(engine, workers, address)
    printed = RankingPrinter(output_format, reference, scale)
    if dir_.is_file():
        _refuse_arena_options(dir_, settings, judges or [], stored=store_ or paper, narrowed=bool(tags or by or votes))
        _rank_file(dir_, judges[0] if judges else None, settings, executor, printed)
        return
    arena = select_tagged(store.open_arena(dir_), tags)
    if reliability:
        if fragility or printed.reference is not None or settings.selects_verdicts or paper or store_ or by or votes:
            raise BadInput("--reliability prints a ranking of its own", do="use it with --judge and --languages alone")
        _print_reliability(arena, judges, settings, output_format)
        return
    if not judges:
        if not referees(arena):
            arena.need("judgments")
        judges = [choose_referee(arena)]
    if settings.without is not None or settings.exclude_own:
        settings = replace(settings, makers=store.makers_of(arena))
    if fragility:
        _refuse_beside_fragility(settings, printed, judges, others=paper or store_ or votes or by is not None)
        _print_fragility(arena, settings.referee(judges[0]), settings, output_format)
        return
    way = _choose_way(judges, settings, paper=paper, by=by, votes=votes)
    _refuse_combinations(way, judges, settings, printed, stored=store_, paper=paper, part=bool(tags or by))
    if way == "what if":
        _rank_what_if(arena, judges, settings, votes, printed)
        return
    referee = settings.referee(judges[0])
    if way == "paper":
        _rank_as_published(arena, referee, settings, output_format, stored=store_)
    elif by is not None:
        _rank_by_tag(arena, referee, by, settings, printed)
    else:
        _rank_plainly(arena, referee, settings, executor, printed, stored=store_)


FRAGILITY = (
    *("language", "change", "unit", "system", "other", "needed", "n", "removed_language", "removed_query"),
    *("removed_first", "removed_second", "removed_voter", "reason"),
)
"""Columns of `mirage rank --fragility`, one row per removed unit."""


def _print_reliability(arena: Arena, judges: Sequence[str] | None, settings: RankSettings, how: Format) -> None:
    """Print the ratings with and without weights, and the judges' weights."""
    from dataclasses import asdict

    from mirage.ranking.reliability import rank_by_reliability

    arena.need("judgments")
    result = rank_by_reliability(arena.read("judgments"), judges=judges, languages=settings.languages)
    show([asdict(row) for row in result.systems], RELIABILITY, how)
    for judge in result.judges:
        ends = "-" if judge.low is None or judge.high is None else f"{judge.low:.2f} to {judge.high:.2f}"
        weight = "-" if judge.weight is None else f"{judge.weight:.2f}"
        position = "-" if judge.position is None else f"{judge.position:+.2f}"
        note(f"{judge.judge}: weight {weight} ({ends}), first position {position} logits, n = {judge.n:,}")
    note(result.sentence)


RELIABILITY = ("system", "weighted_rank", "weighted", "plain_rank", "plain")
"""Columns of `mirage rank --reliability`."""


def _refuse_beside_fragility(
    settings: RankSettings, printed: RankingPrinter, judges: Sequence[str], *, others: bool
) -> None:
    """Reject options that select verdicts, or print something else.

    Raises:
        BadInput: if one is given.
    """
    from mirage.battles.referee import POOLED

    several = len(judges) > 1 or judges[0] == POOLED
    if others or several or settings.selects_verdicts or (printed.reference, printed.scale) != (None, "logit"):
        raise BadInput(
            "--fragility is of the plain ranking by one judge",
            do="use it with --judge, --skill, --languages, --ties, --penalty or --tag alone",
        )


def _print_fragility(arena: Arena, referee: Referee, settings: RankSettings, output_format: Format) -> None:
    """Print how few battles, queries and voters change the first place or tier of each row of the ranking."""
    from mirage.cli.output import progress
    from mirage.ranking.arena import rank_arena
    from mirage.ranking.fragility import fragility, voters_of

    ranking = rank_arena(arena, referee, replace(settings, draws=1)).ranking
    voters = voters_of(arena.read("judgments"), referee.name) if "judgments" in arena.tables else {}
    units = ("battle", "query", *(("voter",) if voters else ()))
    # All rows of many languages would take minutes: the last row, or those that were named.
    codes = list(ranking.languages) if settings.languages else [list(ranking.languages)[-1]]
    with progress("Refitting") as update:
        found = []
        for code in codes:
            for change in ("first place", "first tier"):
                for unit in units:
                    found.append(fragility(ranking, language=code, change=change, unit=unit, voters=voters))
                    update(len(found), len(codes) * 2 * len(units), "Refitting")
    if output_format == "table":
        rows = [
            {
                "language": each.language,
                "change": each.change,
                "unit": each.unit,
                "needed": each.needed,
                "of": each.n,
                "result": each.sentence,
            }
            for each in found
        ]
        show(rows, ("language", "change", "unit", "needed", "of", "result"), output_format)
        for each in found:
            for origin in each.shared[:1]:
                note(
                    f"{each.language}, {each.change}: {origin.units} of the {each.needed} battles share the "
                    f"{origin.kind} {origin.name} (of {origin.of:,}; p = {origin.p:.2g}, hypergeometric, Bonferroni)"
                )
        note("Each set was refitted; a smaller one could exist. --format csv lists the sets.")
        return
    listed = []
    for each in found:
        listed += [
            {name: getattr(each, name) for name in FRAGILITY[:7]}
            | {
                "removed_language": removed and removed.language,
                "removed_query": removed and removed.query_id,
                "removed_first": removed and removed.first,
                "removed_second": removed and removed.second,
                "removed_voter": removed and removed.voter,
                "reason": each.reason,
            }
            for removed in each.removed or (None,)
        ]
    show(listed, FRAGILITY, output_format)


Way = Literal["what if", "paper", "by tag", "plain"]
"""Ways to rank an arena."""


def _choose_way(judges: list[str], settings: RankSettings, *, paper: bool, by: str | None, votes: bool) -> Way:
    """Return the way of ranking that the options ask for.

    Raises:
        BadInput: if they ask for a split of a ranking with some verdicts only.
    """
    from mirage.battles.referee import POOLED

    if len(judges) > 1 or judges[0] == POOLED or settings.selects_verdicts or votes:
        if by is not None:
            raise BadInput(
                "--by splits the unmodified ranking of one referee",
                do="omit --by, or the options that change the ranking",
            )
        return "what if"
    return "paper" if paper else "plain" if by is None else "by tag"


def _refuse_combinations(
    way: Way,
    judges: Sequence[str],
    settings: RankSettings,
    printed: RankingPrinter,
    *,
    stored: bool,
    paper: bool,
    part: bool,
) -> None:
    """Reject options that do not apply to a way of ranking.

    Args:
        way: the way.
        judges: names of the referees.
        settings: settings of the ranking.
        printed: output options.
        stored: whether to store the ranking.
        paper: whether to rank by the paper's method.
        part: whether to rank on some of the queries.

    Raises:
        BadInput: if one does not apply.
    """
    from mirage.battles.referee import NUGGETS

    changed = settings.changed
    if part and (stored or paper):
        raise BadInput("a ranking on some of the queries cannot be stored", do="omit --store and --paper")
    if way == "what if" and (stored or paper or changed & {"skill", "parser", "penalty"}):
        raise BadInput(
            "a ranking by pooled judges, some verdicts, with votes, or with style control cannot be stored",
            do="omit --store, --paper, --skill, --parser and --penalty",
        )
    if NUGGETS not in judges and changed & {"assigner", "nugget_margin"}:
        raise BadInput("this option applies to nugget scores", do="add --judge nuggets, or omit the option")
    if NUGGETS in judges and stored:
        raise BadInput(
            "ratings by nuggets change with every edit of a bank, so they are computed and not stored",
            do="omit --store",
        )
    if stored and changed & {"languages", "ties", "parser", "penalty"}:
        raise BadInput(
            "--store supports only the default ranking",
            do="omit --languages, --ties, --parser and --penalty",
        )
    if way == "paper" and settings.ties == "davidson":
        raise BadInput("the paper drops ties", do="omit --ties, or --paper")
    if way == "paper" and (printed.reference is not None or printed.scale != "logit"):
        raise BadInput("the paper's ratings are printed as published", do="omit --reference and --scale")


def _rank_as_published(arena: Arena, referee: Referee, settings: RankSettings, how: Format, *, stored: bool) -> None:
    """Print the ranking by the paper's method."""
    as_published(arena, referee, settings, how=how)
    if stored:
        keep_tournaments(arena, referee, settings)


def _rank_by_tag(arena: Arena, referee: Referee, tag: str, settings: RankSettings, printed: RankingPrinter) -> None:
    """Print one ranking for each value of a tag."""
    from mirage.ranking.ranking import read_decisions
    from mirage.ranking.tags import rank_by_tag

    arena.need("tags")
    table, lines = read_decisions(arena, referee, settings)
    printed.show_split(rank_by_tag(table, arena.read("tags"), tag, referee, settings))
    for line in lines:
        note(line)


def _rank_plainly(
    arena: Arena,
    referee: Referee,
    settings: RankSettings,
    executor: Executor | None,
    printed: RankingPrinter,
    *,
    stored: bool,
) -> None:
    """Print the ranking by one referee with every verdict, counted in blocks by `executor` if they are many."""
    from mirage.ranking.arena import rank_arena

    result = rank_arena(arena, referee, settings, executor=executor)
    printed.check(result.ranking)
    if stored:
        _store_ratings(arena, referee, result.ranking, settings)
    printed.show(result.ranking)
    for line in (result.ranking.method, *result.remarks):
        note(line)


def _store_ratings(arena: Arena, referee: Referee, ranking: RankingReport, settings: RankSettings) -> None:
    """Store the ratings by a referee: every skill by relevance labels; the given ranking if it was counted in blocks
    and does not hold its battles.
    """
    from mirage.ranking.large import keep_ratings
    from mirage.ranking.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
    from mirage.stages.stage import run

    made_by = "mirage rank --store"
    if not ranking.battles:
        keep_ratings(arena, ranking, made_by=made_by)
        return
    options: dict[str, Any] = {"draws": settings.draws, "seed": settings.seed}
    options |= {} if referee.by_labels else {"judge": referee.name}
    stage = RELEVANCE_RATINGS if referee.by_labels else JUDGED_RATINGS
    run(stage, arena.path, made_by=made_by, part="referee", notes=[f"{referee.name}: {ranking.method}"], **options)


def _refuse_arena_options(
    path: Path, settings: RankSettings, judges: list[str], *, stored: bool, narrowed: bool
) -> None:
    """Reject options for arenas with a file of battles.

    Raises:
        BadInput: if one is given.
    """
    if settings.selects_verdicts or settings.skill != "both" or len(judges) > 1 or stored or narrowed:
        raise BadInput(
            f"{path} is a file of battles, which is ranked by one judge without further options",
            do="omit the options, or import it first: mirage import judgments FILE --into DIR",
        )


def _rank_file(
    path: Path, judge: str | None, settings: RankSettings, executor: Executor | None, printed: RankingPrinter
) -> None:
    """Print the ranking of a file of battles.

    Raises:
        BadInput: if languages are chosen of a file that is not Parquet.
    """
    from mirage import api
    from mirage.ranking.large import VerdictFiles, rank_files
    from mirage.ranking.ranking import remarks

    if settings.languages:
        files = VerdictFiles.of_file(path)
        if files is None:
            raise BadInput("--languages needs an arena or a Parquet file", do="omit it, or convert the file to Parquet")
        ranking: RankingReport = rank_files(files, settings, judge=judge, executor=executor)
        lines = remarks(ranking)
    else:
        options: dict[str, Any] = {name: getattr(settings, name) for name in ("draws", "seed", "ties", "penalty")}
        result = api.rank(path, judge=judge, executor=executor, **options)
        ranking, lines = result, list(result.remarks)
    printed.check(ranking)
    printed.show(ranking)
    for line in (ranking.method, *lines):
        note(line)


@dataclass(frozen=True, slots=True)
class RankingPrinter:
    """Output options of a ranking."""

    how: Format
    reference: str | None
    """System that the others are compared with."""
    scale: Scale
    joint: bool = False
    """Whether to print only the ranking over all languages."""

    def check(self, ranking: RankingReport) -> None:
        """Reject a reference that is not ranked in any language.

        Raises:
            UnknownName: if it is not ranked.
        """
        systems = sorted({system for row in ranking.languages.values() for system in row.systems})
        if self.reference is not None and self.reference not in systems:
            raise UnknownName("system", self.reference, systems, where="the ranking")

    def show(self, ranking: RankingReport) -> None:
        """Print the table of a ranking, for people with notes on how to read it."""
        self._print([({}, ranking)])

    def show_split(self, split: TagSplit) -> None:
        """Print the rankings by the values of a tag as one table, with the differences between values."""
        for ranking in split.rankings.values():
            self.check(ranking)
        self._print([({"value": value}, ranking) for value, ranking in split.rankings.items()])
        for line in split.lines():
            note(line)

    def _print(self, parts: list[tuple[dict[str, str], RankingReport]]) -> None:
        """Print the rows of several rankings, with their given values and number of queries as first columns."""
        from mirage.ranking.leaderboard import leaderboard

        first = (*parts[0][0], *(["queries"] if parts[0][0] else []))
        records = []
        for values, ranking in parts:
            only = list(ranking.languages)[-1] if self.joint else None
            table = leaderboard(ranking, only, reference=self.reference, scale=self.scale)
            for row in table.to_pylist():
                record = self._for_people(row, ranking) if self.how == "table" else row
                records.append(values | {"queries": ranking.languages[row["language"]].n_queries} | record)
        omitted = _OMITTED.get(self.how, ())
        show(records, (*first, *(name for name in table.column_names if name not in omitted)), self.how)
        if self.how != "table":
            return
        if self.reference is not None:
            note(f"difference: from the rating of {self.reference}, with its own 95% interval")
        if self.scale == "arena":
            note("ratings on the scale of arenas: 1000 + 400 per factor 10 of the odds")

    def _for_people(self, row: dict[str, Any], ranking: RankingReport) -> dict[str, Any]:
        """Return a row with missing ends as infinite, and a missing tier as the range of possible tiers."""
        from mirage.ranking.leaderboard import DIFFERENCES

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


def _rank_what_if(
    arena: Arena, judges: list[str], settings: RankSettings, voted: bool, printed: RankingPrinter
) -> None:
    """Print a ranking with some of the verdicts, or at equal style, and the ranks that change."""
    from mirage.battles.referee import NUGGETS, Referee
    from mirage.people.votes import Vote
    from mirage.people.votes.stage import people_verdicts
    from mirage.ranking.ranking import change_lines, counted_lines, read_decisions, remarks, what_if
    from mirage.ranking.whatif import compare

    referee = Referee.nuggets() if NUGGETS in judges else Referee.panel()
    table, lines = read_decisions(arena, referee, settings)
    features = arena.read("features") if settings.control else None
    people = people_verdicts(arena, arena_log(arena, Vote)) if voted else None
    result = what_if(table, judges, settings, features=features, votes=people)
    printed.check(result.ranking)
    printed.show(result.ranking)
    for line in (result.method, *lines, *counted_lines(result), *remarks(result.ranking)):
        note(line)
    if settings != settings.plain or result.voted:
        usual = what_if(table, judges, settings.plain).ranking
        different = compare(usual, result.ranking)
        for code in result.ranking.languages:
            note(f"against the plain ranking, {code}: " + "; ".join(change_lines(different, language=code)))
