"""Which system is best in my languages, and how sure is that?"""

from __future__ import annotations

import streamlit as st

from mirage import ui
from mirage.charts import leaderboard as charts
from mirage.languages import LANGUAGES
from mirage.views import leaderboard as views

RATINGS = (
    ui.Col("system", "System", "system", of="ratings"),
    ui.Col("rank", "Rank", "rank", of="ratings"),
    ui.Col(
        "rank",
        "Rank 95%",
        "span",
        low="rank_low",
        high="rank_high",
        help="95% interval of the rank, over draws of questions. Where it spans several ranks, the data does not tell "
        "which of them the system holds.",
    ),
    ui.Col("rating", "Rating", "rating", of="ratings"),
    ui.Col(
        "rating",
        "95% interval",
        "interval",
        low="low",
        high="high",
        help="The rating with its 95% interval over draws of questions, all on one scale; the broken line is zero.",
    ),
    ui.Col(
        "undecided",
        "Undecided",
        "rate",
        help="Share of the replies in which neither an answer nor an abstention can be made out: unparsed, empty or an "
        "API error. n is the column Replies.",
    ),
    ui.Col("replies", "Replies", "count", help="Replies of the system to the questions behind this row."),
    ui.Col("wins", "Wins", "count", of="ratings"),
    ui.Col("ties", "Ties", "count", of="ratings"),
    ui.Col("losses", "Losses", "count", of="ratings"),
    ui.Col("battles", "Battles", "count", of="ratings"),
)
PUBLISHED = (
    ui.Col("system", "System", "system", help="The system's name as printed."),
    ui.Col("judge", "Judge", "mean", help="Mean over the languages shown of the rank by the GPT-4o judge. 1 is best."),
    ui.Col(
        "judge",
        "Best–worst",
        "span",
        low="best",
        high="worst",
        help="Best and worst rank by the judge over the languages shown. This is no interval of uncertainty.",
    ),
    ui.Col(
        "surrogate",
        "Surrogate",
        "mean",
        help="Mean over the languages shown of the rank by the surrogate judge, a random forest on features that "
        "need no judge.",
    ),
    ui.Col(
        "difference",
        "Difference",
        "rating",
        help="Mean rank by the surrogate minus that by the judge. Above zero: the surrogate ranks the system worse.",
    ),
    ui.Col("languages", "Languages", "count", help="Languages behind the means (n)."),
)


def main() -> None:
    """Show what the arena has: ratings of its battles, or the published ranks."""
    page = ui.begin("leaderboard")
    if "published" in page.arena.tables and not {"outcomes", "judgments"} & set(page.arena.tables):
        published(page)
    else:
        if "judgments" not in page.arena.tables:
            page.need("outcomes")
        ratings(page)


def ratings(page: ui.Page) -> None:
    """Ratings computed from the arena's battles."""
    referees = views.referees(page.arena)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        referee = ui.pick(
            "Referee",
            referees,
            key="referee",
            kind="referee",
            width=220,
            help="Who decides a battle. relevance: human labels of the passages; no model is involved.",
        )
        relevance = referee == views.RELEVANCE
        skill = "both"
        if relevance:
            skill = ui.pick(
                "Skill",
                ("both", "abstain", "answer"),
                key="skill",
                kind="skill",
                segments=True,
                help="abstain: to say so when no passage answers the question. answer: to answer when one does. both: "
                "the two weighted equally.",
            )
    size = views.size(page.arena, referee)
    what = "real replies" if page.arena.label == "real replies" else "replies"
    behind = (
        f"{size.replies:,} {what} of {len(size.systems)} systems to {size.queries:,} questions in "
        if relevance
        else (f"{size.replies:,} verdicts of {referee} on {len(size.systems)} systems, {size.queries:,} questions in ")
    )
    behind += f"{len(size.languages)} languages."
    chosen = tuple(code for code in size.languages if not page.picked or code in page.picked)
    for code in set(page.picked) - set(chosen):
        st.caption(f"There are no battles in {LANGUAGES[code].name}.")
    board = views.board(page.arena, referee, skill, chosen)
    page.summary(
        f"{behind} Shown: {board.n_queries:,} of {size.queries:,} questions, {_names(board.languages, size.languages)}."
    )
    for code, why in board.lacking.items():
        st.caption(f"Left out: {LANGUAGES[code].name} ({why}).")
    if board.left_out:
        st.caption(ui.plain(f"Left out: {', '.join(board.left_out)}, without a battle in some of these languages."))

    rows = board.rows.to_pylist()
    left, right = st.columns([3, 2], gap="small")
    with left:
        picked = ui.table(board.rows, RATINGS, key="board", select=True)
    with right:
        ui.chart(
            charts.whiskers(rows, mode=ui.mode()),
            key="whiskers",
            alt="Rating of every system with its 95% interval, best first.",
        )
    if picked is None:
        st.caption(f"Select a row to go on to what the system said. {board.method}.")
    else:
        system = rows[picked]["system"]
        with st.container(horizontal=True, gap="medium"):
            ui.onward("hallucination", f"When {system} answers and abstains", systems=system)
            ui.onward("answers", f"What {system} said", systems=system)
    if len(board.languages) > 1:
        st.subheader("Rank by language", anchor=False)
        st.caption("1 is best, dark is better. The n, the rating and both intervals of a cell are one hover away.")
        ui.chart(
            charts.rank_map(board.ranks.to_pylist(), systems=[row["system"] for row in rows], mode=ui.mode()),
            key="rank_map",
            alt="Rank of every system in every language.",
        )
    page.download(
        "leaderboard",
        board.rows,
        about={"referee": referee, "skill": skill, "languages": board.languages, "method": board.method},
    )


def published(page: ui.Page) -> None:
    """The ranks that the MIRAGE-Bench paper printed."""
    found = views.published_ranks(page.arena, page.picked)
    page.summary(
        f"MIRAGE-Bench, Figure 4: ranks of {found.rows.num_rows} systems in {len(found.languages)} languages by the "
        "GPT-4o judge and by the surrogate judge. No interval is shown: the ratings behind these ranks could not be "
        "read from the paper."
    )
    ui.table(found.rows, PUBLISHED, key="published")
    page.download("published", found.ranks, about={"reference": found.reference})


def _names(shown: tuple[str, ...], all_of_them: tuple[str, ...]) -> str:
    if len(shown) == len(all_of_them):
        return f"all {len(shown)} languages"
    return ", ".join(LANGUAGES[code].name for code in shown)


main()
