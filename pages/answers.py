"""What did each system actually say?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from mirage import ui
from mirage.languages import LANGUAGES
from mirage.ui import judgments, listing, reply, searching, steps, texts
from mirage.views import answers as views
from mirage.views.keys import Key, key_text

if TYPE_CHECKING:
    from collections.abc import Sequence

SUBSETS = {"relevant": "at least one passage answers it", "non_relevant": "no passage answers it"}


def main() -> None:
    """Filters, the questions that match, and one of them with all that was said to it."""
    page = ui.begin("answers")
    if "answers" not in page.arena.tables:
        page.need("outcomes")
    scope = views.scope(page.arena)
    selection = filters(page, scope)
    questions = views.find_questions(page.arena, selection)
    page.summary(
        f"{len(questions.keys):,} of {scope.queries:,} questions; {questions.replies:,} of {scope.replies:,} replies "
        "match."
    )
    if selection.text:
        searching.offer_index(page.arena)
    key = steps.current_question(
        "answers",
        questions,
        (page.arena.version, selection),
        lambda question: views.question_of_link(page.arena, question, page.picked),
    )
    if key is None:
        with st.container(border=True):
            st.markdown("**No question matches these filters.**")
            st.button("Clear the filters", on_click=clear)
        return
    with st.container(horizontal=True, key="answers_body", gap="medium"):
        with st.container(key="answers_list", gap="small"):
            steps.list_page("answers", questions, key, lambda keys: entries(page, keys))
        with st.container(key="answers_shown", gap="small"):
            show(page, scope, questions, selection, key)


def filters(page: ui.Page, scope: views.Scope) -> views.AnswerFilter:
    """The row of filters."""
    rename("system", "systems", scope.systems)
    rename("outcomes", "outcome", scope.outcomes)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        subset = ""
        if scope.subsets:
            subset = ui.pick(
                "Subset",
                ("any", *scope.subsets),
                key="subset",
                kind="subset",
                width=150,
                help="; ".join(f"{name}: {meaning}" for name, meaning in SUBSETS.items()) + ".",
            )
        systems = ui.pick(
            "Systems",
            scope.systems,
            key="systems",
            kind="system",
            many=True,
            placeholder=f"All {len(scope.systems)} systems",
            help="Whose replies are looked for. None picked means all.",
        )
        outcomes, parser = [], ""
        if scope.outcomes:
            outcomes = ui.pick(
                "Outcome",
                scope.outcomes,
                key="outcome",
                kind="outcome",
                many=True,
                placeholder="Any outcome",
                width=210,
                help=ui.column_help("outcomes", "outcome"),
            )
            parser = ui.pick(
                "Parser",
                scope.parsers,
                key="parser",
                kind="parser",
                width=130,
                help=ui.column_help("outcomes", "parser"),
            )
        text = ""
        if scope.texts:
            text = st.text_input(
                "Text",
                key="q",
                bind="query-params",
                type="search",
                placeholder="in questions and replies",
                help="Finds these characters in either case, in any script.",
            )
    return views.AnswerFilter(
        languages=page.picked,
        subset="" if subset == "any" else subset,
        systems=tuple(systems),
        outcomes=tuple(outcomes),
        parser=parser,
        text=(text or "").strip(),
    )


def rename(alias: str, name: str, options: Sequence[str]) -> None:
    """Take a filter from a link that calls it by its other number, singular or plural."""
    if alias in st.query_params:
        values = st.query_params.get_all(alias)
        st.query_params[name] = values
        del st.query_params[alias]
        ui.check_link(name, name.rstrip("s"), options)
        st.session_state[name] = [value for value in values if value in options]


def clear() -> None:
    """Take all filters back."""
    for picker in ("systems", "outcome", "languages"):
        st.session_state[picker] = []
    st.session_state["subset"], st.session_state["q"] = "any", ""


def entries(page: ui.Page, keys: tuple[Key, ...]) -> list[listing.ListEntry]:
    """The lines of the list: each question with its language and its subset."""
    lines = []
    for item in views.items(page.arena, keys):
        code, query_id = item.key
        note = " · ".join([LANGUAGES[code].name, *([item.subset.replace("_", "-")] if item.subset else [])])
        text, language = (query_id, "") if item.text is None else (item.text, code)
        lines.append(listing.ListEntry(key_text(item.key), text, language, note))
    return lines


def show(
    page: ui.Page, scope: views.Scope, questions: views.AnswerSelection, selection: views.AnswerFilter, key: views.Key
) -> None:
    """One question: its passages, and what every system replied."""
    shown = views.question_view(page.arena, key, selection.parser)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        where = steps.step_buttons("answers", questions, key)
        reply.show_facts([where, LANGUAGES[key[0]].name, *([subset(shown)] if shown.subset else []), f"id {key[1]}"])
    reply.show_question(shown)
    with st.container(horizontal=True, key="answers_pair", gap="medium"):
        with st.container(key="answers_replies", gap="small"):
            show_replies(scope, selection, shown)
            judgments.show_judgments(page.arena, key)
            side_by_side(selection, shown)
        with st.container(key="answers_given", gap="small"):
            given(page, scope, shown)
    page.download(
        f"answers-{key[0]}-{key[1]}",
        shown.table(),
        about={
            "question": key_text(key),
            "parser": selection.parser,
            "passages": [p.passage_id for p in shown.passages],
        },
    )


def subset(shown: views.QuestionView) -> str:
    """The subset of a question with its meaning."""
    return f"{str(shown.subset).replace('_', '-')} subset: {SUBSETS.get(str(shown.subset), '')}"


def show_replies(scope: views.Scope, selection: views.AnswerFilter, shown: views.QuestionView) -> None:
    """The replies: those that the filters look for first."""
    names = [r.system for r in shown.replies]
    hits = views.matches(shown, selection) if selection.narrowed else frozenset(names)
    others = [name for name in names if name not in hits]
    head = f"{len(hits)} of {len(names)} replies match" if others else f"{len(names)} replies"
    st.header(head if hits else f"None of the {len(names)} replies matches", anchor=False)
    if hits:
        reply.show_replies(shown, hits, hits=hits if others else (), texts=scope.reply_texts)
    if hits and others:
        st.header(f"The other {len(others)}", anchor=False)
    if others:
        reply.show_replies(shown, others, hits=(), texts=scope.reply_texts)
    reply.unmeasured(shown)


def side_by_side(selection: views.AnswerFilter, shown: views.QuestionView) -> None:
    """The way to two of the replies side by side: those of the systems picked, or the first two."""
    names = [reply.system for reply in shown.replies]
    first, *others = [*(system for system in selection.systems if system in names), *names]
    second = next((other for other in others if other != first), None)
    if second:
        ui.onward("battle", "Two of them side by side", a=first, b=second, query=key_text(shown.key))


def given(page: ui.Page, scope: views.Scope, shown: views.QuestionView) -> None:
    """The passages, or what brings them."""
    if shown.passages:
        st.header(f"{len(shown.passages)} passages", anchor=False)
        if shown.subset == "relevant" and all(p.relevant is None for p in shown.passages):
            st.caption("At least one answers the question; the source does not say which.")
        reply.show_passages(shown)
    if not scope.reply_texts:
        texts.absent(page)


main()
