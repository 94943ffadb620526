"""Page Answers: every system's answer to a query."""

import streamlit as st

from mirage.battles.counts import QUERIES
from mirage.explorer.kit import answer_card, missing_texts, query_navigation
from mirage.explorer.kit import notes_section as notes
from mirage.explorer.kit.frame import Page, show_page_link
from mirage.explorer.kit.frame import show as show_page
from mirage.explorer.kit.pick import pick, pick_many, pick_segments, pickers_popover, search_text
from mirage.explorer.kit.query_navigation import reader_languages
from mirage.explorer.kit.query_sections import show_judgments, show_nuggets
from mirage.explorer.kit.table import column
from mirage.explorer.kit.text import heading_html
from mirage.stages.across import is_cross_lingual, passage_languages
from mirage.stages.retrieve.attribution import CAUSES
from mirage.store.search import sample_numbers
from mirage.text.languages import name_of, search_name
from mirage.text.segmentation import count_text
from mirage.views import query_search as search
from mirage.views.causes import UNDECIDED
from mirage.views.query import QueryView, query_view, sample_view
from mirage.views.query_keys import Key, key_text

FILTERS = ("subset", "systems", "outcome", "parser", "cause", "passage_language", "category")
"""Keys of the pickers that most readers leave at their defaults."""
FEW_SAMPLES = 8
"""Maximum number of samples for a segmented control; more use a select box."""


def main(page: Page) -> None:
    """Show the filters, the matching queries, and one of them with all answers."""
    if "outcomes" not in page.arena.tables:
        page.need("answers")
    scope = search.scope(page.arena)
    selection = filters(page, scope)
    queries = search.find_queries(page.arena, selection)
    summary = (
        f"{len(queries.keys):,} of {scope.queries:,} queries and {queries.answers:,} of {scope.answers:,} answers "
        "match."
    )
    key = query_navigation.current_query(
        "answers",
        queries,
        (page.arena.version, selection),
        lambda query: search.query_of_link(page.arena, query, page.picked),
        start=lambda: queries.start(search.disputed_queries(page.arena, selection.parser)),
    )
    if key is None:
        page.summary(summary)
        with st.container(border=True):
            st.markdown("**No query matches these filters.**")
            st.button("Clear filters", on_click=clear)
        return
    page.summary(summary)
    if not scope.answer_texts:
        missing_texts.offer_texts(page)
    with st.container(horizontal=True, key="answers_body", gap="medium"):
        if scope.query_texts:
            with st.container(key="answers_list", gap="small"):
                query_navigation.list_page("answers", queries, key, lambda keys: entries(page, keys))
        with st.container(key="answers_shown", gap="small"):
            show(page, scope, queries, selection, key)


def filters(page: Page, scope: search.Scope) -> search.AnswerFilter:
    """Show the row of filters."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = search_text("in queries and answers", 330) if scope.texts else ""
        with pickers_popover("Filter", FILTERS, "Filters queries and answers."):
            subset = ""
            if scope.subsets:
                subset = pick(
                    "Subset",
                    ("any", *scope.subsets),
                    key="subset",
                    kind="subset",
                    named=lambda name: QUERIES.get(name, name),
                    width=150,
                    help="answerable: at least one passage answers the query. unanswerable: none does.",
                )
            systems = pick_many(
                "Systems",
                scope.systems,
                key="systems",
                kind="system",
                placeholder=f"All {len(scope.systems)} systems",
                help="Search only these systems' answers. Default: all.",
            )
            across = is_cross_lingual(page.arena)
            outcomes, parser, cause = [], "", ""
            if scope.outcomes:
                outcomes = pick_many(
                    "Outcome",
                    scope.outcomes,
                    key="outcome",
                    kind="outcome",
                    placeholder="Any outcome",
                    width=210,
                    help=column("outcomes", "outcome").help,
                )
                parser = pick(
                    "Parser",
                    scope.parsers,
                    key="parser",
                    kind="parser",
                    width=130,
                    help=column("outcomes", "parser").help,
                )
                cause = pick(
                    "Cause of error",
                    ("any", *CAUSES, UNDECIDED),
                    key="cause",
                    kind="cause",
                    width=150,
                    help="Why a decision is wrong. not_retrieved: no relevant passage was shown. ignored: a relevant "
                    "passage was shown but not used. unsupported: the system answers although no passage does. right, "
                    "right_refusal: the correct decision, to answer or to abstain.",
                )
            spoken = "any"
            if across:
                spoken = pick(
                    "Passage language",
                    ("any", *passage_languages(page.arena)),
                    key="passage_language",
                    kind="language of passages",
                    named=lambda code: code if code == "any" else search_name(code),
                    width=150,
                    help="Answers whose system was shown a passage in this language.",
                )
            noted = notes.noted_answers(page.arena, notes.pick_categories(page.arena))
    return search.AnswerFilter(
        languages=page.picked,
        subset="" if subset == "any" else subset,
        systems=tuple(systems),
        outcomes=tuple(outcomes),
        parser=parser,
        cause="" if cause == "any" else cause,
        passage_language="" if spoken == "any" else spoken,
        text=text,
        noted=noted,
        preferred=reader_languages(),
    )


def clear() -> None:
    """Reset all filters."""
    for picker in ("systems", "outcome", "category", "languages"):
        st.session_state[picker] = []
    st.session_state["subset"], st.session_state["cause"], st.session_state["q"] = "any", "any", ""
    st.session_state["passage_language"] = "any"


def entries(page: Page, keys: tuple[Key, ...]) -> list[query_navigation.ListEntry]:
    """Return the list's labels: each query with its language and subset."""
    return [
        query_navigation.query_entry(item, *([QUERIES[item.subset]] if item.subset else []))
        for item in search.items(page.arena, keys)
    ]


def show(
    page: Page, scope: search.Scope, queries: search.AnswerSelection, selection: search.AnswerFilter, key: Key
) -> None:
    """Show one query, its passages and all answers."""
    shown = query_view(page.arena, key, selection.parser)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        where = query_navigation.step_buttons("answers", queries, key)
        answer_card.show_facts([where, name_of(key[0]), *answer_card.subset_facts(shown), f"id {key[1]}"])
    answer_card.show_query(shown, reference=True)
    with st.container(horizontal=True, key="answers_pair", gap="medium"):
        with st.container(key="answers_cards", gap="small"):
            show_answers(page, scope, selection, shown)
            show_notes(page, selection, shown)
            show_nuggets(page.arena, shown)
            show_judgments(shown.judgments)
            side_by_side(selection, shown)
        if shown.passages:
            with st.container(key="answers_given", gap="small"):
                show_passages(shown)
    page.download(
        f"answers-{key[0]}-{key[1]}",
        shown.table,
        about={
            "query": key_text(key),
            "parser": selection.parser,
            "passages": [p.passage_id for p in shown.passages],
        },
    )


def show_answers(page: Page, scope: search.Scope, selection: search.AnswerFilter, shown: QueryView) -> None:
    """Show the answers, best first; those that match the filters come before the others."""
    names = shown.order
    matching = search.matches(shown, selection) if selection.narrowed else frozenset(names)
    hits = [name for name in names if name in matching]
    others = [name for name in names if name not in matching]
    numbers = sample_numbers(page.arena)
    if len(numbers) > 1:
        few = len(numbers) <= FEW_SAMPLES
        number = (pick_segments if few else pick)(
            "Sample",
            numbers,
            key="sample",
            kind="sample",
            width="content" if few else 110,
            help="Repeated answers to the same query. 0: the first, which filters, judges, features and notes use.",
        )
        shown = sample_view(page.arena, shown, int(number), selection.parser)
    about = " ".join(shown.remarks)
    head = f"{len(hits)} of {len(names)} answers match" if others else count_text(len(names), "answer")
    if hits:
        marked = hits if others else ()
        answer_card.show_answers(head, shown, hits, hits=marked, texts=scope.answer_texts, about=about)
    if others:
        head = f"The other {len(others)}" if hits else f"None of the {len(names)} answers matches"
        above = "" if hits else about
        answer_card.show_answers(head, shown, others, hits=(), texts=scope.answer_texts, about=above)
    answer_card.about_features(shown)


def show_notes(page: Page, selection: search.AnswerFilter, shown: QueryView) -> None:
    """Show the notes on the answers, those that match the filters first in the form."""
    hits = search.matches(shown, selection)
    answered = [answer.system for answer in shown.answers if answer.text is not None]
    notes.show_notes(page.arena, shown.key, [(name,) for name in sorted(answered, key=lambda name: name not in hits)])


def side_by_side(selection: search.AnswerFilter, shown: QueryView) -> None:
    """Link to two of the answers side by side: those of the selected systems, or the first two."""
    names = [answer.system for answer in shown.answers]
    first, *others = [*(system for system in selection.systems if system in names), *names]
    second = next((other for other in others if other != first), None)
    if second:
        show_page_link("battle", "Compare two side by side", a=first, b=second, query=key_text(shown.key))


def show_passages(shown: QueryView) -> None:
    """Show the passages."""
    above = heading_html(count_text(len(shown.passages), "passage"))
    if shown.subset == "relevant" and all(p.relevant is None for p in shown.passages):
        above += '<p class="mg-about">At least one passage answers the query; the source does not say which.</p>'
    answer_card.show_passages(shown, above=above)


show_page("answers", main)
