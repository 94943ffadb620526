"""Commands that rank systems: `mirage rank` and `mirage rank surrogate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from mirage import schema
from mirage.cli.common import (
    DEFAULT,
    ArenaDir,
    How,
    Languages,
    OpenArena,
    Tags,
    arena_log,
    command_group,
    select_tagged,
)
from mirage.cli.output import note, progress, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput, UnknownName
from mirage.ranking.scale import Scale
from mirage.ranking.settings import DRAWS, RankSettings
from mirage.stats.intervals import MOST_DRAWS

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.battles.judge import Judge
    from mirage.cli.output import Format
    from mirage.ranking.bootstrap import RankingReport
    from mirage.ranking.facts import SystemFacts
    from mirage.ranking.surrogate.reporting import Report
    from mirage.store import Arena

ranks = command_group("rank", "Rank the systems by a judge.", default=True)

_OMITTED: dict[str, tuple[str, ...]] = {
    "table": ("judge", "skill", "bounded"),
    **dict.fromkeys(("latex", "markdown"), ("judge", "skill")),
}
"""Columns of the leaderboard that a format does not print; the human-readable table prints an unbounded end as
infinite.
"""
OneJudge = Annotated[
    str | None,
    typer.Option(
        "--judge", metavar="relevance|JUDGE", help="Human relevance labels, or a judge; by default the arena's."
    ),
]


@ranks.command(DEFAULT)
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
            show_default="the arena's",
        ),
    ] = None,
    settings: RankSettings,
    draws: Annotated[int, typer.Option(min=1, max=MOST_DRAWS, help="Bootstrap draws for the intervals.")] = DRAWS,
    reference: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="Add every system's difference from this."),
    ] = None,
    scale: Annotated[
        Scale,
        typer.Option(help="Ratings in logits, or on the arena scale: 1000 + 400 per factor 10 of the odds."),
    ] = "logit",
    tags: Tags = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="TAG", help="One ranking per value of a query tag."),
    ] = None,
    votes: Annotated[
        bool, typer.Option("--votes", help="Replace the judge's verdicts by people's votes on the same battles.")
    ] = False,
    max_price: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Only systems up to this price per 1,000 answers.")
    ] = None,
    max_latency: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="Only systems up to this median latency.")
    ] = None,
    store_: Annotated[bool, typer.Option("--store", help="Store the default ranking of every skill.")] = False,
    output_format: How = "table",
) -> None:
    """Rank the systems by a judge: Bradley-Terry ratings with 95% intervals, rank intervals and records.

    A tie is half a point for each: ratings give the expected points of a battle, not the odds of winning it. An
    unbounded end of an interval is infinite in the table, empty in CSV and null in JSON. Reads the table outcomes
    (judge relevance), judgments, or answers, nuggets and nugget_assignments (judge nuggets); DIR may also be a file of
    battles. Prints price (US dollars per 1,000 answers) and latency where known, and the ranks that options change.
    Writes nothing; with --store, the table ratings.
    """
    from mirage import api, store
    from mirage.battles.judge import POOLED, Judge, choose_judge
    from mirage.battles.judge import judges as judges_of
    from mirage.ranking.board import change_lines, rank_arena

    settings = replace(settings, draws=draws)
    printed = RankingPrinter(output_format, reference, scale)
    chosen = settings.selects_verdicts or votes or len(judges or ()) > 1 or POOLED in (judges or ())
    if store_ and (chosen or tags or by or settings.changed - {"draws", "seed", "skill"}):
        raise BadInput(
            "only the default ranking is stored", do="omit --store, or the options that choose verdicts or queries"
        )
    if by is not None and chosen:
        raise BadInput("--by splits the unmodified ranking of one judge", do="omit --by, or the options that change it")
    if dir_.is_file():
        if chosen or store_ or tags or by or settings.skill != "both":
            raise BadInput(
                f"{dir_} is a file of battles, ranked by one judge", do="import it first: mirage import FILE --into DIR"
            )
        name = judges[0] if judges else None
        ranking = api.rank(dir_, judge=name, draws=settings.draws, seed=settings.seed, ties=settings.ties)
        printed.check(ranking)
        printed.show(ranking, languages=settings.languages)
        note("\n".join((ranking.method, *ranking.remarks)))
        return
    arena = select_tagged(store.open_arena(dir_), tags)
    printed = replace(printed, facts=_facts(arena), limits=(max_price, max_latency))
    if not judges:
        if not judges_of(arena):
            arena.need("judgments")
        judges = [choose_judge(arena)]
    if settings.exclude_own:
        settings = replace(settings, makers=store.makers_of(arena))
    judge = Judge.from_names(judges, skill=settings.skill, parser=settings.parser)
    if by is not None:
        _rank_by_tag(arena, judge, by, settings, printed)
        return
    board = rank_arena(arena, judge, settings, votes=_people(arena) if votes else None)
    printed.check(board.ranking)
    if store_:
        _store_ratings(arena, judge, board.ranking, settings)
    printed.show(board.ranking)
    note("\n".join((board.method, *board.remarks)))
    if chosen and (settings != settings.plain or board.voted):
        usual = rank_arena(arena, judge, settings.plain).ranking
        for code in board.ranking.languages:
            note(f"against the plain ranking, {code}: " + "; ".join(change_lines(usual, board.ranking, language=code)))


def _people(arena: Arena) -> pa.Table:
    """Return people's votes as verdicts."""
    from mirage.people.votes import Vote
    from mirage.people.votes.stage import people_verdicts

    return people_verdicts(arena, arena_log(arena, Vote))


def _facts(arena: Arena) -> Mapping[str, SystemFacts]:
    """Return price and latency of the systems; empty if none is known."""
    from mirage.io.sources.cards import cards_of
    from mirage.ranking.facts import system_facts

    facts = system_facts(arena, cards_of(arena)) if "answers" in arena.tables else {}
    return facts if any(fact.price is not None or fact.seconds is not None for fact in facts.values()) else {}


def _rank_by_tag(arena: Arena, judge: Judge, tag: str, settings: RankSettings, printed: RankingPrinter) -> None:
    """Print one ranking for each value of a tag."""
    from mirage.ranking.board import read_decisions
    from mirage.ranking.tags import rank_by_tag

    arena.need("tags")
    table, lines = read_decisions(arena, judge, settings)
    split = rank_by_tag(table, arena.read("tags"), tag, judge, settings)
    for ranking in split.rankings.values():
        printed.check(ranking)
    printed.show_parts([({"value": value}, ranking) for value, ranking in split.rankings.items()])
    note("\n".join((*(f"not ranked: {value} ({reason})" for value, reason in split.lacking.items()), *lines)))


def _store_ratings(arena: Arena, judge: Judge, ranking: RankingReport, settings: RankSettings) -> None:
    """Store the ratings by a judge; by relevance labels those of every skill."""
    from mirage import store
    from mirage.ranking.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
    from mirage.stages.stage import run

    store.refuse_bundled(arena.path)
    options: dict[str, Any] = {"draws": settings.draws, "seed": settings.seed}
    options |= {} if judge.by_labels else {"judge": judge.name}
    stage, notes = RELEVANCE_RATINGS if judge.by_labels else JUDGED_RATINGS, [f"{judge.name}: {ranking.method}"]
    run(stage, arena.path, made_by="mirage rank --store", part="judge", notes=notes, **options)


@dataclass(frozen=True, slots=True)
class RankingPrinter:
    """Output options of a ranking."""

    how: Format
    reference: str | None
    """System that the others are compared with."""
    scale: Scale
    joint: bool = False
    """Whether to print only the ranking over all languages."""
    facts: Mapping[str, SystemFacts] = field(default_factory=dict)
    """Price and latency of the systems; empty if none is known."""
    limits: tuple[float | None, float | None] = (None, None)
    """Maximum price and latency of the systems to print; ranks are among all systems."""

    def check(self, ranking: RankingReport) -> None:
        """Reject a reference that is not ranked in any language.

        Raises:
            UnknownName: if it is not ranked.
        """
        systems = sorted({system for row in ranking.languages.values() for system in row.systems})
        if self.reference is not None and self.reference not in systems:
            raise UnknownName("system", self.reference, systems, where="the ranking")

    def show(self, ranking: RankingReport, *, languages: Sequence[str] | None = None) -> None:
        """Print the table of a ranking, in all languages or some, for people with notes on how to read it."""
        self.show_parts([({}, ranking)], languages)

    def show_parts(
        self, parts: list[tuple[dict[str, str], RankingReport]], languages: Sequence[str] | None = None
    ) -> None:
        """Print the rows of several rankings, with their given values and number of queries as first columns."""
        from mirage.ranking.board import leaderboard
        from mirage.ranking.facts import SystemFacts

        first = (*parts[0][0], *(["queries"] if parts[0][0] else []))
        records = []
        for values, ranking in parts:
            only = list(ranking.languages)[-1] if self.joint else None
            table = leaderboard(ranking, only, reference=self.reference, scale=self.scale)
            for row in table.to_pylist():
                fact = self.facts.get(row["system"], SystemFacts(None, None))
                if fact.within(*self.limits) and (languages is None or row["language"] in languages):
                    queries = ranking.languages[row["language"]].n_queries
                    record = self._for_people(row) if self.how == "table" else row
                    records.append(
                        values | {"queries": queries} | record | {"price": fact.price, "latency": fact.seconds}
                    )
        omitted = _OMITTED.get(self.how, ())
        last = ("price", "latency") if self.facts else ()
        show(records, (*first, *(name for name in table.column_names if name not in omitted), *last), self.how)
        if self.how != "table":
            return
        if self.reference is not None:
            note(f"difference: from the rating of {self.reference}, with its own 95% interval")
        if self.scale == "arena":
            note("ratings on the scale of arenas: 1000 + 400 per factor 10 of the odds")

    def _for_people(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with missing ends as infinite."""
        from mirage.ranking.board import DIFFERENCES

        cells = dict(row)
        for name in ["rating", "low", "high", *(DIFFERENCES if self.reference is not None else ())]:
            value = row[name]
            if value is None and name.endswith(("low", "high")) and row.get("difference", 0.0) is not None:
                cells[name] = "-∞" if name.endswith("low") else "+∞"
            elif value is not None and self.scale == "arena":
                cells[name] = f"{value:+.0f}" if name in DIFFERENCES else f"{value:,.0f}"
        return cells


@ranks.command()
def surrogate(
    arena: OpenArena,
    judge: OneJudge = None,
    skill: Annotated[schema.Skill, typer.Option(help="Which queries count, by relevance.")] = "both",
    languages: Languages = None,
    regressor: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A regressor to compare; default all. Repeatable.")
    ] = None,
    store_: Annotated[bool, typer.Option("--store", help="Store predictions and importances of every skill.")] = False,
    output_format: How = "table",
) -> None:
    """Predict the ranking from features, without a judge.

    Each system is left out in turn, in all languages, with all its battles, and predicted from the features of its
    answers by regressors trained on the others. Errors, intervals and tests are for left-out systems only. The last
    regressor predicts new systems; p tests its tau against each other one's. Reads the table features, and outcomes
    (judge relevance) or judgments. Writes nothing; with --store, the tables predictions and importances, keeping rows
    for other judges.
    """
    from mirage import store
    from mirage.battles.judge import NUGGETS, RELEVANCE, Judge
    from mirage.ranking.surrogate.reporting import RegressorSummary, conclusions, report_on, summary
    from mirage.ranking.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS
    from mirage.ranking.surrogate.training import training
    from mirage.stages.stage import run

    name = judge or RELEVANCE
    if name == NUGGETS:
        raise BadInput(
            "nugget scores are features, so a prediction from features would know the ratings by nuggets",
            do="choose relevance or a judge",
        )
    decider = Judge.from_name(name, skill=skill)
    if store_:
        if languages or regressor:
            raise BadInput("--store needs all languages and regressors", do="omit --languages and --regressor")
        store.refuse_bundled(arena.path)
    stage = RELEVANCE_PREDICTIONS if decider.by_labels else JUDGED_PREDICTIONS
    for table in stage.reads:
        arena.need(table)
    reports: list[Report] = []
    with progress("Leaving out systems") as update:
        options: dict[str, Any] = {"regressors": regressor, "progress": update}
        if store_:
            skills = [candidate for candidate in get_args(schema.Skill) if candidate == skill or decider.by_labels]
            options |= {"judge": name, "skills": skills, "on_report": reports.append}
            run(stage, arena.path, made_by="mirage rank surrogate --store", part="judge", **options)
        else:
            features, verdicts = (arena.read(table) for table in stage.reads)
            seen = training(features, verdicts, decider, languages=languages)
            reports.append(report_on(seen, decider, **options))
    report = next(candidate for candidate in reports if candidate.judge.skill == skill)
    compared = report.comparison
    show(summary(compared.held_out, compared.default), (), output_format, of=RegressorSummary)
    for line in conclusions(report):
        note(line)
