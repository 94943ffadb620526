"""Page Battle: why did A beat B?"""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mirage.battles.counts import unranked_notes
from mirage.battles.judge import judges as judges_of_arena
from mirage.battles.judge import verdict_judges
from mirage.errors import MirageError, TableMissing
from mirage.explorer.battle import view as battle_html
from mirage.explorer.kit import answer_card, battle_sides, missing_texts, query_navigation
from mirage.explorer.kit import judge as who
from mirage.explorer.kit import notes_section as notes
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.frame import Page, show_page_link
from mirage.explorer.kit.frame import show as show_page
from mirage.explorer.kit.pick import pick, pick_many, pickers_popover, search_text
from mirage.explorer.kit.query_navigation import reader_languages
from mirage.explorer.kit.query_sections import show_nuggets
from mirage.explorer.kit.scores_section import verdicts_command
from mirage.explorer.kit.states import missing
from mirage.explorer.kit.text import Markup, heading_html, plain
from mirage.ranking.judges import Judge
from mirage.text.languages import name_of
from mirage.text.segmentation import as_sentence, count_text
from mirage.views import battle as views
from mirage.views import query_search
from mirage.views.overlap import overlap_text, shared_words
from mirage.views.query_keys import Key, key_text
from mirage.views.win_matrix import matrix

ORDERS = {
    "fixed": "always the first system on the left",
    "judged": "as the judge saw them: A and B, first order judged",
    "other": "as the judge saw them in the other order, where both were judged",
}
OPTIONS = ("judge", "verdict", "only", "q", "category", "order", "marks")
"""Keys of the pickers that most readers leave at their defaults."""
TEXTS = {"whole": "plain text", "differences": "shared text is muted, differences are underlined"}


UNJUDGED = "How do two answers compare?"
"""Question of the page if no battle of the arena is decided."""


def main(page: Page) -> None:
    """Show the pickers, then the battles of two systems and one of them."""
    judges = judges_of_arena(page.arena)
    if not judges and ("answers" not in page.arena.tables or "judgments" in page.arena.whole.tables):
        page.need("judgments")
    # Who decides first, in all languages: the default depends on the arena alone, so that links stay short.
    known = matrix(page.arena, Judge.from_name(judges[0]), ()) if judges else None
    bar = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with bar:
        place = st.container(horizontal=True, width="content", gap="small")
        options = pickers_popover("Options", OPTIONS, "Who decides, which battles are shown, and how.")
    judge = None
    with options:
        if judges:
            judge = Judge.from_name(who.judge(judges, "Decides each battle.", listed=True))
    if judges and (known is None or not known.systems) and "answers" in page.arena.tables:
        st.caption(" ".join(without_evidence(page, Judge.from_name(judges[0]))))
        judge, known = None, None
    if known is None or not any(cell.share is not None for cell in known.cells.values()):
        page.ask(UNJUDGED)
    names = known.systems if known else query_search.scope(page.arena).systems
    with place:
        pair = systems(names, first_pair=known.first_pair if known else ()) if names else None
    if pair is None:
        page.summary("A battle needs two systems; this arena has answers from one.")
        return
    with options:
        selection = filters(page, judge, *pair)
    battles = views.find_battles(page.arena, selection)
    n, of = f"{len(battles.keys):,}", f"{len(battles.decisions):,}"
    if judge is None:
        summary = f"{n} of {of} queries answered by both {selection.first} and {selection.second}. "
        summary += "Not judged yet: read the answers side by side."
    else:
        by = judge.phrase(page.arena)
        summary = f"{n} of {of} battles between {selection.first} and {selection.second}, decided by {by}."

    languages = reader_languages()
    key = query_navigation.current_query(
        "battle",
        battles,
        (page.arena.version, selection),
        lambda query: views.battle_of_link(page.arena, selection, query),
        start=lambda: (
            battles.start(languages, views.with_texts(page.arena, *pair)) if judge else battles.first_in(languages)
        ),
    )
    if key is not None:
        show(page, battles, key, bar, options, summary)
    else:
        page.summary(summary)
        if judge and battles.decisions:
            st.html(battle_html.score(battles))
        show_no_match(page, battles)
    page.download(
        "battles",
        lambda: battles.table,
        about={
            "languages": selection.languages,
            "result": selection.result,
            "flipped": selection.flipped,
            "judges disagree": selection.disagree,
            "text": selection.text,
        },
    )


def without_evidence(page: Page, judge: Judge) -> list[str]:
    """Return the systems that relevance labels cannot compare in the chosen languages, with the reasons."""
    return [plain(as_sentence(line)) for line in unranked_notes(judge.unranked_systems(page.arena, page.picked))]


def show_unjudged(page: Page, battle: views.BattleView) -> None:
    """Show how to get verdicts."""
    try:
        page.arena.need("judgments")
    except TableMissing as error:
        scored = [given.measure for given in battle.first.scores if given.person]
        missing(error, why="No judge has compared these answers yet.")
        if scored:
            st.caption("Or convert people's scores to verdicts:")
            st.code(verdicts_command(page.arena, scored[0]), language=None, wrap_lines=True)


def systems(ordered: Sequence[str], *, first_pair: Sequence[str] = ()) -> tuple[str, str] | None:
    """Pick two systems.

    Args:
        ordered: the systems.
        first_pair: the default pair; empty for the first two.
    """
    first_pair = first_pair or ordered[:2]
    names = tuple(sorted(ordered))
    previous = st.session_state.get("_battle_was")
    if previous and st.session_state.get("a") is not None and st.session_state.get("a") == st.session_state.get("b"):
        # Picking the other of the two systems swaps them.
        st.session_state["a"], st.session_state["b"] = (previous[1], previous[0])
    first = pick("First system", names, key="a", kind="system", width=200, default=first_pair[0])
    others = tuple(other for other in names if other != first)
    if not others:
        return None
    # A link omits defaults, so a default must depend on nothing that the link omits.
    best = next((system for system in reversed(first_pair) if system != first), others[0])
    second = pick("Second system", others, key="b", kind="system", width=200, default=best)
    st.session_state["_battle_was"] = (first, second)
    return first, second


def filters(page: Page, judge: Judge | None, first: str, second: str) -> views.BattleFilter:
    """Show the filters."""
    verdict: Any = "any"
    only: list[str] = []
    if judge is not None:
        about = "; ".join(f"{result}: {meaning}" for result, meaning in views.RESULTS.items()) + "."
        options = ("any", *views.RESULTS)
        verdict = pick("Verdict", options, key="verdict", kind="verdict", help=about)
    if judge is not None and judge.asked:
        several = len(verdict_judges(page.arena)) > 1
        only = pick_many(
            "Show only",
            ("flipped", *(["disagree"] if several else [])),
            key="only",
            kind="filter",
            placeholder="All",
            help="flipped: the two orders give different winners. disagree: two judges give different results.",
        )
    text = search_text("in any text") if {"answers", "queries", "judgments"} & set(page.arena.tables) else ""
    categories = notes.pick_categories(page.arena, battles=True)
    return views.BattleFilter(
        first,
        second,
        judge,
        languages=page.picked,
        result="" if verdict == "any" else verdict,
        flipped="flipped" in only,
        disagree="disagree" in only,
        text=text,
        noted=notes.noted_battles(page.arena, (first, second), categories),
    )


def show_no_match(page: Page, battles: views.BattleSelection) -> None:
    """Show that no battle matches."""
    with st.container(border=True):
        if battles.decisions:
            st.markdown("**No battle matches these filters.**")
            st.button("Clear filters", on_click=clear)
        elif not battles.wanted.judge:
            st.markdown("**No shared queries.**")
            st.caption("Choose other systems, or other languages in the sidebar.")
        else:
            st.markdown("**No battles between these two.**")
            compared = "This judge has not compared them in the selected languages."
            st.caption(" ".join(without_evidence(page, battles.wanted.judge)) or compared)
            show_page_link("leaderboard", "Show the win matrix", section="Wins", judge=battles.wanted.judge.name)


def clear() -> None:
    """Reset all filters."""
    st.session_state["verdict"], st.session_state["q"], st.session_state["only"] = "any", "", []
    st.session_state["languages"], st.session_state["category"] = [], []


def show(
    page: Page, battles: views.BattleSelection, key: Key, bar: DeltaGenerator, options: DeltaGenerator, summary: str
) -> None:
    """Show one battle; navigation is added to the bar of pickers, and how to show it to the options.

    Parts that are HTML alone are drawn as one element, since each costs every click.
    """
    selection, judge = battles.wanted, battles.wanted.judge
    battle = views.battle_view(page.arena, key, selection.first, selection.second, judge)
    page.summary(summary, conclusion=battle.conclusion)
    name = ""
    if judge is not None:
        name = judge.name if judge.asked else "".join(battle.judges[:1])
    has_texts = "answers" in page.arena.tables
    with options:
        order, mark = pick_looks(battle, name, texts=has_texts)
    with bar:
        where = query_navigation.step_buttons("battle", battles, key)
    layout = battle_html.layout_of(battle, name, order)
    score = battle_html.score(battles) if judge and battles.decisions else ""
    if not has_texts:
        missing_texts.offer_texts(page)
    with st.container(horizontal=True, key="battle_body", gap="medium"):
        with st.container(key="battle_fought", gap="small"):
            show_evidence(page, battle, selection, layout, where=where, differences=mark == "differences", score=score)
            if {"answers", "outcomes"} & set(page.arena.tables):
                show_page_link("answers", "All answers to this query", query=key_text(key), languages=(key[0],))
            if judge:
                show_page_link("compare", "Compare the two systems", by="rating", a=selection.first, b=selection.second)
            panel = st.expander("List of the battles", key="battle_list", on_change="rerun")
            if panel.open:
                with panel:
                    query_navigation.list_page("battle", battles, key, lambda keys: entries(page, battles, keys))
        if battle.query.passages:
            with st.container(key="battle_given", gap="small"):
                head = heading_html(count_text(len(battle.query.passages), "passage"))
                st.html(Markup(head + answer_card.passages_html(battle.query)))


def show_evidence(
    page: Page,
    battle: views.BattleView,
    selection: views.BattleFilter,
    layout: battle_sides.BattleLayout,
    *,
    where: str,
    differences: bool,
    score: str,
) -> None:
    """Show the two answers, then their verdicts, votes and features."""
    code, query_id = battle.query.key
    judge = selection.judge
    by_labels = judge is not None and judge.rests_on_labels
    parts = shared_words(battle.first, battle.second) if differences else None
    has_texts = "answers" in page.arena.tables
    marked = has_texts and by_labels and parts is None
    legend = answer_card.decided_legend((battle.first, battle.second), texts=marked)
    above = [
        score,
        answer_card.facts_html([where, name_of(code), *answer_card.subset_facts(battle.query), f"id {query_id}"]),
        answer_card.query_html(battle.query),
        battle_sides.answer_sides(battle, layout, texts=has_texts, parts=parts, decided=by_labels),
        battle_html.note(" ".join(filter(None, [layout.why, overlap_text(parts) if differences else ""])), legend),
    ]
    below = [
        battle_html.judge_verdicts(battle, judge.name if judge else ""),
        battle_html.features(battle, layout),
    ]
    if battle.query.nuggets is None:
        st.html(Markup(battle_html.stack_html(*above) + "".join(below)))
    else:
        st.html(Markup(battle_html.stack_html(*above)))
        show_nuggets(page.arena, battle.query)
        if any(below):
            st.html(Markup("".join(below)))
    show_votes(page, battle)
    if battle.first.text is not None and battle.second.text is not None:
        pair = (battle.first.system, battle.second.system)
        notes.show_notes(page.arena, battle.query.key, [pair, *((name,) for name in pair)])
    if judge is None:
        show_unjudged(page, battle)


def show_votes(page: Page, battle: views.BattleView) -> None:
    """Show people's votes on the battle."""
    try:
        rows = people.battle_votes(page.arena, *battle.query.key, (battle.first.system, battle.second.system))
    except MirageError as error:
        st.caption(plain(f"People's votes are unavailable: {error.what}."))
        return
    if rows:
        st.header("Votes", anchor=False)
        battle_sides.show_people(rows)


def pick_looks(battle: views.BattleView, judge: str, *, texts: bool) -> tuple[str, str]:
    """Show the pickers of the answers' order and of highlights."""
    order, mark = "fixed", "whole"
    if battle.judges:
        order = pick(
            "Order",
            tuple(ORDERS),
            key="order",
            kind="order",
            help="; ".join(f"{code}: {meaning}" for code, meaning in ORDERS.items()) + f". Judge: {plain(judge)}.",
        )
    if texts:
        mark = pick(
            "Answers",
            tuple(TEXTS),
            key="marks",
            kind="view",
            help="; ".join(f"{code}: {meaning}" for code, meaning in TEXTS.items()) + ".",
        )
    return order, mark


def entries(page: Page, battles: views.BattleSelection, keys: tuple[Key, ...]) -> list[query_navigation.ListEntry]:
    """Return the list's labels: each query with its language and the battle's result."""
    results = {
        "first": f"{battles.wanted.first} wins",
        "second": f"{battles.wanted.second} wins",
        "tie": "tie",
        "unparsed": "no verdict",
    }
    lines = []
    for item in query_search.items(page.arena, keys):
        decision = battles.decisions[item.key]
        result = results[decision.winner] if decision.n_verdicts else "no verdict"
        split = () if decision.consistent else ("orders disagree",)
        lines.append(query_navigation.query_entry(item, result, *split))
    return lines


show_page("battle", main)
