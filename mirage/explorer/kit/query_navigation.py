"""Navigation between queries: the current one in the URL, keys for previous and next, a list of all.

The list shows untrusted texts, each in its own language and direction.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from mirage.errors import UnknownName
from mirage.explorer.kit.text import direction, plain
from mirage.text.languages import name_of
from mirage.views.query_keys import PAGE, Key, Keys, key_text, preferred_languages
from mirage.views.query_search import QueryItem


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One list entry."""

    key: str
    """Value returned if chosen."""
    text: str
    """Untrusted text, shown verbatim and cut after two lines."""
    language: str
    """Code of its language; empty for a name or an id."""
    note: str
    """Small text below."""


def query_entry(item: QueryItem, *notes: str) -> ListEntry:
    """Return the entry of a query: its text, or its id, with its language and these notes."""
    code, query_id = item.key
    text, language = (query_id, "") if item.text is None else (item.text, code)
    return ListEntry(key_text(item.key), text, language, " · ".join([name_of(code), *notes]))


_LONGEST = 1_000
"""Characters per line; two lines are visible."""

_CSS = """
ol { list-style: none; margin: 0; padding: 0; }
li + li { border-top: 1px solid var(--st-border-color); }
button {
  all: unset; box-sizing: border-box; display: block; width: 100%; padding: 0.4rem 0.6rem; cursor: pointer;
  border-inline-start: 3px solid transparent; color: var(--st-text-color); font: inherit; line-height: 1.45;
}
button:hover { background: var(--st-secondary-background-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: -2px; }
button[aria-current] {
  background: var(--st-secondary-background-color); border-inline-start-color: var(--st-primary-color);
}
button[aria-current] .text { font-weight: 600; }
.text {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; overflow-wrap: anywhere;
  unicode-bidi: isolate;
}
.entry:dir(rtl) { text-align: right; }
.note { display: block; font-size: 0.8em; opacity: 0.75; unicode-bidi: isolate; }
@media (max-width: 960px) { ol { max-height: 15rem; overflow-y: auto; border: 1px solid var(--st-border-color); } }
"""
_JS = """
export default function ({ parentElement, data, setTriggerValue }) {
  const list = parentElement.querySelector("ol")
  const focused = [...list.children].findIndex((row) => row.firstChild === parentElement.activeElement)
  list.replaceChildren(...data.map((entry) => {
    const make = (tag) => document.createElement(tag)
    const [row, button, both, text, note] = ["li", "button", "div", "span", "span"].map(make)
    button.type = "button"
    if (entry.current) button.setAttribute("aria-current", "true")
    Object.assign(both, { className: "entry", dir: entry.dir })
    Object.assign(text, { className: "text", textContent: entry.text, title: entry.text, lang: entry.lang })
    Object.assign(note, { className: "note", textContent: entry.note, dir: "ltr" })
    both.append(text, note)
    button.append(both)
    button.onclick = () => setTriggerValue("picked", entry.key)
    row.append(button)
    return row
  }))
  if (focused >= 0) list.children[focused]?.firstChild.focus()
  const chosen = list.querySelector("[aria-current]")
  if (chosen) list.scrollTop = chosen.offsetTop - list.offsetTop - list.clientHeight / 3
}
"""


def show_list(entries: Sequence[ListEntry], *, current: str, key: str, on_pick: Callable[[str], Any]) -> None:
    """Show the entries.

    Args:
        entries: the entries.
        current: key of the current choice.
        key: unique on the page.
        on_pick: called with the chosen key, before the page reruns.
    """
    component = st.components.v2.component("mirage_listing", html="<ol></ol>", css=_CSS, js=_JS)
    data = [
        {
            "key": entry.key,
            "text": entry.text[:_LONGEST],
            "note": entry.note,
            "lang": entry.language or "und",
            "dir": direction(entry.text, entry.language),
            "current": entry.key == current,
        }
        for entry in entries
    ]
    component(key=key, data=data, on_picked_change=lambda: on_pick(st.session_state[key].picked))


_DIGITS = 9
"""Maximum digits of a page number."""


def current_query(
    page: str, queries: Keys, state: Hashable, resolve: Callable[[str], Key], *, start: Callable[[], Key | None]
) -> Key | None:
    """Return the query to show: the one in the address, else a matching one, which the address then names.

    Args:
        page: the page's name.
        queries: matching queries.
        state: arena and filters; if they change and exclude the shown query, another is shown.
        resolve: the query that a link means; raises UnknownName.
        start: returns one that matches, to be shown where the address names none; None for the first.
    """
    requested = st.query_params.get("query", "")
    before = st.session_state.get(f"_{page}_before", ("", state))
    key = None
    if requested:
        try:
            key = resolve(requested)
        except UnknownName as error:
            if before[0] != requested:
                message = f"Unknown value in the link: {error.what}; {error.do}"
                st.session_state[f"_{page}_problem"] = message
        # A query that the filters exclude is replaced, unless a link names it.
        if key is not None and queries.place(key) is None and before[0] == requested and before[1] != state:
            key = None
    elif number := st.query_params.get("page", ""):
        # Limit the digits: Python rejects very long integers, and others are slow.
        place = int(number) if number.isdecimal() and len(number) <= _DIGITS else 0
        if place > 0 and queries.page(place):
            key = queries.page(place)[0]
        else:
            st.session_state[f"_{page}_problem"] = (
                f"Unknown value in the link: no page {number[:_DIGITS]}; use 1 to {queries.pages}"
            )
    if key is None and queries.keys:
        key = start() or queries.keys[0]
    query_name = key_text(key) if key else ""
    st.query_params.pop("page", None)
    if query_name and query_name != requested:
        st.query_params["query"] = query_name
    st.session_state[f"_{page}_before"] = (query_name, state)
    if problem := st.session_state.get(f"_{page}_problem"):
        st.caption(f":orange[{plain(problem)}]")
    return key


def go(page: str, query: str) -> None:
    """Switch to another query, by its name."""
    st.session_state.pop(f"_{page}_problem", None)
    st.query_params["query"] = query


def step_buttons(page: str, queries: Keys, key: Key) -> str:
    """Draw the buttons to the previous and the next query, which the arrow keys press.

    Returns:
        The position among the matching queries, in words.
    """
    place = queries.place(key)
    following = 0 if place is None else place + 1
    for label, shortcut, target in (
        ("Previous", "Left", None if place is None else place - 1),
        ("Next", "Right", following),
    ):
        exists = target is not None and 0 <= target < len(queries.keys)
        st.button(
            label,
            key=f"{page}_{shortcut.lower()}",
            shortcut=shortcut,
            disabled=not exists,
            on_click=go,
            args=(page, key_text(queries.keys[target]) if exists and target is not None else ""),
        )
    return "does not match the filters" if place is None else f"{place + 1:,} of {len(queries.keys):,}"


def list_page(page: str, queries: Keys, key: Key, entries: Callable[[tuple[Key, ...]], Sequence[ListEntry]]) -> None:
    """Draw the page of the list that contains a query, and links to other pages.

    Args:
        page: the page's name.
        queries: those that match.
        key: the one that is shown.
        entries: the lines of some queries; their keys are the queries' names.
    """
    place = queries.place(key)
    number = 1 if place is None else place // PAGE + 1
    show_list(
        entries(queries.page(number)),
        current=key_text(key),
        key=f"{page}_listing",
        on_pick=lambda query: go(page, query),
    )
    if queries.pages > 1:
        picker = f"{page}_page_{number}"
        st.pagination(
            queries.pages,
            default=number,
            key=picker,
            max_visible_pages=5,
            on_change=_turn,
            args=(page, queries, picker),
        )


def _turn(page: str, queries: Keys, picker: str) -> None:
    """Switch to the first query of the selected list page."""
    go(page, key_text(queries.page(st.session_state[picker])[0]))


def reader_languages() -> tuple[str, ...]:
    """Return the codes that this reader prefers, by the browser's language."""
    return preferred_languages(st.context.locale)
