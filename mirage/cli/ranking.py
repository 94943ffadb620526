"""Commands that rank systems: `mirage rank` and `mirage rank surrogate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

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
    note_default_judge,
    select_tagged,
)
from mirage.cli.completion import complete_judges, complete_systems
from mirage.cli.output import note, progress, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput, UnknownName
from mirage.ranking.scale import Scale
from mirage.ranking.settings import RankSettings
from mirage.store.arena import open_arena
from mirage.store.writing import claim_arena

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.cli.output import Format
    from mirage.ranking.bootstrap import RankingReport
    from mirage.ranking.facts import SystemFacts
    from mirage.ranking.judges import Judge
    from mirage.store.arena import Arena
    from mirage.views.board import BoardView, RowsView

ranks = command_group("rank", "Rank the systems by a judge.", default=True)

PRINTED = (
    *("language", "system", "rank", "rank_low", "rank_high", "rating", "low", "high"),
    *("difference", "difference_low", "difference_high", "n", "failed", "price", "latency"),
    *("wins", "ties", "losses"),
)
"""Columns of the table, the most important first."""
_OMITTED = dict.fromkeys(("latex", "markdown"), ("judge", "skill"))
"""Columns of the leaderboard that a format does not print."""
OneJudge = Annotated[
    str | None,
    Option(
        "--judge",
        metavar="relevance|JUDGE",
        autocompletion=complete_judges,
        help="Relevance labels, or a judge; by default the arena's.",
    ),
]


@ranks.command(DEFAULT)
@expand_settings
def rank(
    dir_: ArenaDir,
    *,
    judges: Annotated[
        list[str] | None,
        Option(
            "--judge",
            metavar="relevance|nuggets|JUDGE|pooled",
            autocompletion=complete_judges,
            help="Relevance labels, nugget scores, or a judge's name. Repeat to pool judges; pooled means all.",
            show_default="the arena's",
        ),
    ] = None,
    settings: RankSettings,
    reference: Annotated[
        str | None,
        Option(metavar="SYSTEM", autocompletion=complete_systems, help="Add every system's difference from this."),
    ] = None,
    scale: Annotated[
        Scale,
        Option(help="Ratings in logits, or on the arena scale: 1000 + 400 per factor 10 of the odds."),
    ] = "logit",
    tags: Tags = None,
    votes: Annotated[
        bool, Option("--votes", help="Replace the judge's verdicts by people's votes on the same battles.")
    ] = False,
    max_price: Annotated[
        float | None, Option(min=0, metavar="USD", help="Only systems up to this price per 1,000 answers.")
    ] = None,
    max_latency: Annotated[
        float | None, Option(min=0, metavar="SECONDS", help="Only systems up to this median latency.")
    ] = None,
    store_: Annotated[bool, Option("--store", help="Store the default ranking of every skill.")] = False,
    output_format: How = "table",
) -> None:
    """Rank the systems by a judge: Bradley-Terry ratings with 95% intervals, rank intervals and records.

    A tie is half a point for each: ratings give the expected points of a battle, not the odds of winning it. An
    unbounded end of an interval is infinite in the table, empty in CSV and null in JSON. Reads the table outcomes
    (judge relevance), judgments, or answers, nuggets and nugget_assignments (judge nuggets); DIR may also be a file of
    battles. Prints price (US dollars per 1,000 answers) and latency where known, and the ranks that options change.
    Writes nothing; with --store, the table ratings.
    """
    from mirage.battles.judge import POOLED
    from mirage.views.board import BoardChoice, board_view, need_languages, rows_view, vote_rows
    from mirage.views.system_cards import facts_of

    chosen = settings.selects_verdicts or votes or len(judges or ()) > 1 or POOLED in (judges or ())
    if store_ and (chosen or tags or settings.changed - {"draws", "seed", "skill"}):
        raise BadInput(
            "only the default ranking is stored", do="omit --store, or the options that choose verdicts or queries"
        )
    limits = max_price, max_latency
    facts: Mapping[str, SystemFacts] = {}
    of_arena = {"store": store_, "votes": votes, "tag": tags, "max-price": max_price, "max-latency": max_latency}
    view: BoardView | RowsView
    arena: Arena | None = None
    if dir_.is_file():
        table, notes = _read_battles(dir_, [name for name, given in of_arena.items() if given not in (None, False)])
        view = rows_view(table, settings, tuple(judges or ()), notes)
    else:
        arena = select_tagged(open_arena(dir_), tags)
        judge = _choose_judge(arena, judges or (), settings)
        choice = BoardChoice(tuple(judges or (judge.name,)), settings.languages or (), settings)
        need_languages(arena, choice)
        view = board_view(arena, choice, vote_rows(_people_verdicts(arena)) if votes else ())
        facts = facts_of(arena)
        if store_:
            _store_ratings(arena, judge, settings)
    note(*filter(None, [view.conclusion]))
    if not judges and arena is not None:
        note_default_judge(arena, view.ranking.judge)
    print_ranking(view.ranking, output_format, reference=reference, scale=scale, facts=facts, limits=limits)
    note(view.method, *view.remarks)
    for code, lines in view.moved.items():
        note(f"against the plain ranking, {code}: " + "; ".join(lines))


def _read_battles(path: Path, of_arena: Sequence[str]) -> tuple[pa.Table, tuple[str, ...]]:
    """Read a file of battles, and refuse options that need an arena."""
    from mirage.io.verdict_files import read_judgments_file

    if of_arena:
        raise BadInput(
            f"--{of_arena[0]} cannot apply to a file of battles: it has no answers, facts on systems or votes",
            do=f"omit it, or import the file first: mirage import {path} --into DIR",
        )
    return read_judgments_file(path)


def _choose_judge(arena: Arena, names: Sequence[str], settings: RankSettings) -> Judge:
    """Return the judge with these names; without any that of the arena."""
    from mirage.battles.judge import choose_judge, judges
    from mirage.ranking.judges import Judge

    if not names and not judges(arena):
        arena.need("judgments")
    names = names or [choose_judge(arena)]
    return Judge.from_names(names, skill=settings.skill, parser=settings.parser, failures=settings.failures)


def _people_verdicts(arena: Arena) -> pa.Table:
    """Return the verdicts of people's votes on an arena."""
    from mirage.people.votes.kinds import Vote
    from mirage.people.votes.stage import people_verdicts

    return people_verdicts(arena, arena_log(arena, Vote).votes)


def _store_ratings(arena: Arena, judge: Judge, settings: RankSettings) -> None:
    """Store the ratings by a judge; by relevance labels those of every skill."""
    from mirage.ranking.stage import RATING_STAGES, store_ratings

    claim_arena(arena.path)
    if judge.table not in RATING_STAGES:
        raise BadInput(f"rankings by {judge.phrase(arena)} are not stored", do="omit --store")
    store_ratings(arena.path, judge, draws=settings.draws, seed=settings.seed, made_by="mirage rank --store")


def print_ranking(
    ranking: RankingReport,
    output_format: Format,
    *,
    languages: Sequence[str] | None = None,
    reference: str | None = None,
    scale: Scale = "logit",
    facts: Mapping[str, SystemFacts] = MappingProxyType({}),
    limits: tuple[float | None, float | None] = (None, None),
) -> None:
    """Print the rows of a ranking, for people with notes on how to read them.

    Args:
        ranking: the ranking.
        output_format: how.
        languages: codes; None for all.
        reference: system that the others are compared with.
        scale: scale of the ratings.
        facts: price and latency of the systems.
        limits: maximum price and latency of the systems to print; ranks are among all systems.

    Raises:
        UnknownName: if the reference is not ranked in any language.
    """
    from mirage.ranking.board import leaderboard
    from mirage.ranking.facts import SystemFacts
    from mirage.views.system_cards import explain_limits

    systems = sorted({system for row in ranking.languages.values() for system in row.systems})
    if reference is not None and reference not in systems:
        raise UnknownName("system", reference, systems, where="the ranking")
    table, unknown = leaderboard(ranking, reference=reference, scale=scale), SystemFacts(None, None)
    rows = []
    for row in table.to_pylist():
        fact = facts.get(row["system"], unknown)
        if fact.within(*limits) and (languages is None or row["language"] in languages):
            cells = _for_people(row, scale) if output_format == "table" else row
            rows.append(cells | {"price": fact.price, "latency": fact.seconds})
    known = any(fact != unknown for fact in facts.values())
    there = [*table.column_names, *(("price", "latency") if known else ())]
    if output_format == "table":
        # Counts over both kinds of queries would contradict ratings that weigh the kinds equally.
        omitted = {"wins", "ties", "losses"} if ranking.weighs_kinds else set[str]()
        omitted |= set() if any(row["failed"] for row in rows) else {"failed"}
        columns = [name for name in PRINTED if name in there and name not in omitted]
    else:
        columns = [name for name in there if name not in _OMITTED.get(output_format, ())]
    show(rows, columns, output_format)
    if not rows:
        note(explain_limits(facts.values(), *limits))
    if output_format == "table" and reference is not None:
        note(f"difference: from the rating of {reference}, with its own 95% interval")
    if output_format == "table" and scale == "arena":
        note("ratings on the scale of arenas: 1000 + 400 per factor 10 of the odds")


def _for_people(row: dict[str, Any], scale: Scale) -> dict[str, Any]:
    """Return a row with missing ends as infinite."""
    from mirage.ranking.board import DIFFERENCES

    cells = dict(row)
    for name in {"rating", "low", "high", *DIFFERENCES} & set(row):
        value = row[name]
        if value is None and name.endswith(("low", "high")) and row.get("difference", 0.0) is not None:
            cells[name] = "-∞" if name.endswith("low") else "+∞"
        elif value is not None and scale == "arena":
            cells[name] = f"{value:+.0f}" if name in DIFFERENCES else f"{value:,.0f}"
    return cells


@ranks.command()
def surrogate(
    arena: OpenArena,
    judge: OneJudge = None,
    skill: Annotated[schema.Skill, Option(help="Which queries count, by relevance.")] = "both",
    languages: Languages = None,
    regressors: Annotated[
        list[str] | None,
        Option(
            "--regressor",
            metavar="NAME",
            help="A regressor to fit, also of the paper: forest, mlp, boosting, svr. Repeatable.",
            show_default="those stored; else linear, ridge, answers",
        ),
    ] = None,
    store_: Annotated[bool, Option("--store", help="Store predictions and importances of every skill.")] = False,
    output_format: How = "table",
) -> None:
    """Predict the ranking from features, without a judge.

    Each system is left out in turn, in all languages, with all its battles, and predicted from the features of its
    answers by regressors trained on the others. Errors, intervals and tests are for left-out systems only. The last
    regressor predicts new systems; p tests its tau against each other one's. Prints the stored predictions if they were
    made with the same options. Else reads the table features, and outcomes (judge relevance) or judgments, and fits:
    the regressors of the paper take minutes. Writes nothing; with --store, the tables predictions and importances,
    keeping rows for other judges.
    """
    from mirage.ranking.surrogate.regressors import CHEAP, REGRESSORS
    from mirage.ranking.surrogate.regressors import regressor as find_regressor
    from mirage.ranking.surrogate.reporting import RegressorSummary
    from mirage.ranking.surrogate.stage import store_predictions
    from mirage.views.surrogate import SurrogateChoice, decider, describe_features, surrogate_view

    named = {find_regressor(name).name for name in regressors or ()}
    chosen = tuple(name for name in REGRESSORS if name in named)
    choice = SurrogateChoice(judge, skill, tuple(languages or ()), chosen)
    with progress("Leaving out systems") as update:
        if store_:
            if languages:
                raise BadInput("--store needs all languages", do="omit --languages")
            claim_arena(arena.path)
            arena = store_predictions(arena, decider(arena, choice), regressors=chosen or CHEAP, progress=update)
        view = surrogate_view(arena, choice, update)
    note(view.conclusion)
    show(view.summary.to_pylist(), (), output_format, of=RegressorSummary)
    note(*view.remarks, *describe_features(arena, choice))
