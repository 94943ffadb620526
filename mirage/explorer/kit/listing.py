"""A list of untrusted texts to choose from, each in its own language and direction, with the current choice marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from mirage.explorer.kit.text import direction


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


def listing(entries: Sequence[ListEntry], *, current: str, key: str, on_pick: Callable[[str], Any]) -> None:
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
