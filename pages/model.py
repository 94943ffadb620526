"""Page Model: everything about one system."""

from __future__ import annotations

from shlex import quote

import streamlit as st

from mirage.battles.referee import Referee
from mirage.battles.referee import referees as referees_of
from mirage.explorer.kit import referee as who
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page, onward, show
from mirage.explorer.kit.labels import labels_of, tell_audit
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.plain_table import plain_table
from mirage.explorer.kit.side_by_side import side_by_side
from mirage.explorer.kit.states import first_time
from mirage.explorer.kit.text import heading
from mirage.explorer.leaderboard import cards
from mirage.explorer.leaderboard import data as boards
from mirage.explorer.leaderboard import systems as card
from mirage.explorer.leaderboard import text as conclusions
from mirage.explorer.model import data as views
from mirage.text.segmentation import count_text

ERRORS = {
    "hallucination": "Answers without evidence",
    "error": "Abstains despite it",
}


def main(page: Page) -> None:
    """Show a system's card, ratings, errors, features, opponents and runs."""
    referees = referees_of(page.arena)
    if not referees:
        page.need("outcomes")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        place = st.container(width="content")
        referee = who.referee_with_skill(referees, "Decides each battle.")
    size = boards.size(page.arena, referee)
    with place:
        system: str = pick("System", size.systems, key="system", kind="system", width=280)
    chosen = tuple(code for code in size.languages if not page.picked or code in page.picked)
    board = boards.board(page.arena, referee, chosen)
    if system not in board.rows["system"].to_pylist():
        page.summary(f"{system} has no battles in some of the selected languages.")
        return
    value, lines = conclusions.card_of(board, referee, system)
    page.summary(". ".join(lines) + ".", conclusion=f"{system}: {value}.")
    card.card_line(cards.cards_of(page.arena).get(system))
    with st.container(horizontal=True, gap="medium"):
        onward("answers", "Read its answers", systems=system)
        onward("hallucination", "Hallucination and error rates", systems=system)
        if rival := next((name for name in board.rows["system"].to_pylist() if name != system), None):
            onward("compare", f"Compare with {rival}", by="rating", a=system, b=rival)
    heading("Rating by language")
    rows = views.by_language(board, system)
    plain_table(rows, _ratings(len(board.rows)), key="model_ratings")
    left, right = side_by_side((420, 1), (420, 1), key="model_more", gap="medium")
    with left:
        opponents(page, referee, system)
    with right:
        errors(page, system)
    features(page, system)
    over_time(page, board, system)
    page.download("model", rows, about={"system": system, "referee": referee.name, "skill": referee.skill})


def opponents(page: Page, referee: Referee, system: str) -> None:
    """The systems it beats most and least often, with the way to these battles."""
    rows = views.opponents(page.arena, referee, system, page.picked)
    if not len(rows):
        return
    heading("Best and worst battles", "Share of the battles with a winner that it wins, by opponent.")
    shown = views.ends(rows)
    plain_table(shown, OPPONENTS, key="model_opponents")
    with st.container(horizontal=True, gap="small"):
        for other in dict.fromkeys((shown["system"][0].as_py(), shown["system"][-1].as_py())):
            onward("battle", f"Battles with {other}", a=system, b=other, referee=referee.name, view="battle")


def errors(page: Page, system: str) -> None:
    """Show the system's hallucination and error rates."""
    rates = views.error_rates(page.arena, system, page.picked)
    if rates is None:
        return
    labels = labels_of(page)
    heading("Errors")
    tell_audit(labels)
    named = rates.append_column("what", [[ERRORS[metric] for metric in rates["metric"].to_pylist()]])
    plain_table(named, RATES, key="model_errors")


def features(page: Page, system: str) -> None:
    """The means of its features."""
    if "features" not in page.arena.tables:
        return
    languages = page.languages("features")
    if not languages:
        return
    with first_time("Averaging the features", page.arena):
        means = views.feature_means(page.arena, system, languages)
    if len(means):
        heading("Features", f"Means over {count_text(len(languages), 'language')}, with 95% intervals.")
        plain_table(means, FEATURES, key="model_features")
        onward("features", "All systems", systems=system)


def over_time(page: Page, board: boards.Board, system: str) -> None:
    """Show the runs of the system with their ratings, or how to keep the only one."""
    runs = views.over_time(board, page.arena, system)
    if not len(runs):
        return
    if len(runs) == 1:
        date = runs["date"][0].as_py()
        when = "on an unknown date" if date == "unknown" else f"on {date}"
        heading("Over time", f"One run, {when}. Keep it before the next run replaces it, to compare the two:")
        command = f"mirage arena keep-run {quote(page.arena.address)} {quote(system)}"
        st.code(command + (" --date DATE" if date == "unknown" else ""), language=None, wrap_lines=True)
        return
    heading("Over time", "Each run of this system, rated with all systems in one ranking. Dates are in UTC.")
    plain_table(runs, RUNS, key="model_runs")
    names, dates = runs["system"].to_pylist(), runs["date"].to_pylist()
    onward("compare", f"Compare with the run of {dates[-2]}", by="rating", a=names[-1], b=names[-2])


def _ratings(n: int) -> tuple[Col, ...]:
    """The columns of the ratings."""
    return (
        Col("language", "Language", "language", help="All languages: unweighted mean over languages.", width=130),
        Col("rank", "Rank", "rank", of="ratings"),
        Col("rank", "95%", "span", low="rank_low", high="rank_high", help="Ranks compatible with the tests."),
        Col(
            "rank",
            "Rank interval",
            "interval",
            low="rank_low",
            high="rank_high",
            ends=(1, max(n, 2)),
            width=150,
            help="Ranks compatible with the tests. Left is best.",
        ),
        Col("rating", "Rating", "rating", of="ratings"),
        Col("low", "Low", "rating", help="Lower end of the 95% interval; –: unbounded."),
        Col("high", "High", "rating", help="Upper end of the 95% interval; –: unbounded."),
        Col("battles", "Battles", "count", of="ratings"),
    )


OPPONENTS = (
    Col("system", "Against", "system", help="The other system."),
    Col("share", "Wins", "rate", help="Share of the battles with a winner."),
    Col("share", "95%", "interval", low="low", high="high", ends=(0, 1), zero=0.5, help="95% Wilson interval."),
    Col("ties", "Ties", "count", help="Battles without a winner."),
    Col("n", "n", "count", help="Queries that both answered."),
)
RATES = (
    Col("what", "Error", "text", help="Hallucination and error rate of NoMIRACL."),
    Col("value", "Rate", "rate", help="Wrong decisions / decided answers; languages weighted equally."),
    Col("value", "95%", "interval", low="low", high="high", ends=(0, 1), help="95% interval."),
    Col("n", "n", "count", help="Answers."),
)
RUNS = (
    Col("date", "Date", "text", help="Day of the run's last answer, in UTC.", width=104),
    Col("system", "Run", "system", help="The system, or an earlier run, NAME@DATE."),
    Col("rating", "Rating", "rating", of="ratings"),
    Col("low", "Low", "rating", help="Lower end of the 95% interval; –: unbounded."),
    Col("high", "High", "rating", help="Upper end of the 95% interval; –: unbounded."),
    Col("battles", "Battles", "count", of="ratings"),
)
FEATURES = (
    Col("title", "Feature", "text", help="Name of the feature.", width=220),
    Col("mean", "Mean", "value", help="Mean over languages."),
    Col("low", "Low", "value", help="Lower end of the 95% interval."),
    Col("high", "High", "value", help="Upper end of the 95% interval."),
    Col("n", "n", "count", help="Queries with a value."),
)

show("model", main)
