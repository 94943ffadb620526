"""Pickers bound to the URL, and messages for unknown URL values.

A picker's key is the name of its query parameter, and its options are the codes in the URL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

import streamlit as st

from mirage.errors import UnknownName
from mirage.explorer.kit.text import plain
from mirage.text.languages import search_name

_STATE: Final = "_link"
_ABSENT: Final = object()


@dataclass
class LinkState:
    """URL state of a session, kept in one entry because each session entry slows down every picker."""

    page: str | None = None
    """The page that runs."""
    arrived: bool = False
    """Whether it was just opened: its pickers follow its link, whatever was picked before."""
    wanted: tuple[str, dict[str, list[str]]] = ("", {})
    """The page that a link inside leads to, and what it names for the pickers of that page."""
    problems: dict[str, list[str]] = field(default_factory=dict)
    """What the address names in vain, by picker."""
    previous: dict[str, Any] = field(default_factory=dict)
    """What every picker was at in the run before."""


def link_state() -> LinkState:
    """Return the URL state of this session."""
    state: LinkState | None = st.session_state.get(_STATE)
    if state is None:
        state = st.session_state[_STATE] = LinkState()
    return state


def check_link(param: str, kind: str, valid: Iterable[str], values: Sequence[str] = ()) -> list[str]:
    """Return a sentence with the nearest valid names for each unknown URL value.

    Streamlit drops such values silently from the address. The sentences stay until the picker of that name is used.

    Args:
        param: name of the query parameter, which is the picker's key.
        kind: what the name should be, in the singular.
        valid: the names that exist.
        values: what the address asks for by another parameter than this.
    """
    state = link_state()
    current = st.session_state.get(param, _ABSENT)
    if current is _ABSENT or state.arrived:
        valid = list(valid)
        unknown = [value for value in (*values, *st.query_params.get_all(param)) if value and value not in valid]
        errors = [UnknownName(kind, value, valid) for value in unknown]
        if errors:
            state.problems[param] = [f"Unknown value in the link: {error.what}; {error.do}" for error in errors]
    elif state.previous.get(param) not in (None, current):
        state.problems.pop(param, None)
    state.previous[param] = None if current is _ABSENT else current
    return state.problems.get(param, [])


def arrive(page: str) -> None:
    """Note which page runs: the pickers of a page that was just opened follow its link, whatever was picked before."""
    state = link_state()
    state.arrived = state.page not in (None, page)
    state.page = page


@lru_cache(maxsize=256)
def _markup(options: tuple[str, ...]) -> bool:
    """Return whether an option could be read as markup."""
    return any(plain(option.replace("_", "")) != option.replace("_", "") for option in options)


def pick(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    many: bool = False,
    segments: bool = False,
    default: str | None = None,
    help: str | None = None,  # noqa: A002  # Streamlit's own name for it
    placeholder: str | None = None,
    kind: str = "",
    former: str = "",
    named: Callable[[str], str] | None = None,
    width: int | Literal["stretch", "content"] | None = None,
) -> Any:
    """Draw a picker bound to the query parameter of its key.

    Args:
        label: shown above it.
        options: codes, as in the URL.
        key: name of the parameter; prefixed with the page if other pages use it with another meaning.
        many: pick any number; nothing picked is an empty list and usually means all.
        segments: draw the options side by side; for few and short ones. Where one could be taken for markup they are
            in a list, which shows them as they are.
        default: chosen at first; the first option unless given. Not for `many`.
        help: shown on hover.
        placeholder: shown while nothing is picked.
        width: in pixels, `stretch`, or `content` where the options lie side by side.
        kind: what an option is, in the singular; given, a link with an unknown one is answered under the picker.
        named: gives what is shown, and searched, for an option; the link keeps the option itself. Lists alone.
        former: an older name of the parameter. A link that has it is read once and goes on with the new name.

    Returns:
        The option, or a list of them for `many`.
    """
    old = st.query_params.get_all(former) if former else []
    if old:
        del st.query_params[former]
    problems = check_link(key, kind, options, old) if kind else []
    state = link_state()
    page, handed = state.wanted
    requested: list[str] = handed.pop(key, []) if page == state.page else []
    if not requested and state.arrived and key in st.session_state:
        requested = st.query_params.get_all(key)
    if not requested and key not in st.query_params:
        requested = old
    requested = [value for value in requested if value in options]
    if requested:
        st.session_state[key] = requested if many else requested[-1]
    start = default if default in options else options[0] if options else None
    common: dict[str, Any] = {"key": key, "help": help, "bind": "query-params", "persist_state": "session"}
    if segments and _markup(tuple(options)):
        segments, width = False, 240 if width == "content" else width
    if width is not None:
        common["width"] = width
    value: Any
    if named is not None:
        common |= {"placeholder": placeholder} if many else {}
        return _pick_named(label, options, named, many=many, start=start, **common)
    if many:
        value = st.multiselect(label, options, placeholder=placeholder, **common)
    elif segments:
        value = st.segmented_control(label, options, default=start, required=True, **common)
    else:
        value = st.selectbox(label, options, index=options.index(start) if start else None, **common)
    for problem in problems:
        st.caption(f":orange[{plain(problem)}]")
    # A link may leave the control without a choice, though one is required.
    return start if value is None else value


def _pick_named(
    label: str, options: Sequence[str], named: Callable[[str], str], *, many: bool, start: str | None, **common: Any
) -> Any:
    """Draw a list of names whose link holds the options themselves.

    Streamlit puts what a bound list shows into the address. So the bound list holds the options and is hidden, and the
    list that is shown sets it.
    """
    key, shown = common["key"], f"{common['key']}_named"
    looks = {name: common.pop(name) for name in ("help", "width", "placeholder") if name in common}
    draw: Any = st.multiselect if many else st.selectbox
    first: dict[str, Any] = {} if many else {"index": options.index(start) if start else None}
    with st.container(key=f"bound_{key}"):
        value: Any = draw("In the link", options, **first, **common)
    value = start if value is None else value

    def choose() -> None:
        st.session_state[key] = st.session_state[shown]

    st.session_state[shown] = value
    draw(label, options, key=shown, format_func=named, filter_mode="contains", on_change=choose, **looks)
    return value


def pick_language(label: str, languages: Sequence[str], *, key: str, help: str, width: int = 160) -> str:  # noqa: A002  # as above
    """Show a picker of one language or of all; `all` is the first option.

    Args:
        label: shown above it.
        languages: codes.
        key: as for `pick`.
        help: what is shown for all.
        width: in pixels.
    """
    code: str = pick(
        label,
        ("all", *languages),
        key=key,
        kind="language",
        named=search_name,
        width=width,
        help=f"All languages: {help}",
    )
    return code


def pickers_popover(label: str, keys: Iterable[str], about: str) -> Any:
    """Return a popover for less common pickers; its button shows how many of them are set.

    Args:
        label: the button's label.
        keys: query parameters of the pickers.
        about: a sentence above the pickers.
    """
    changed = sum(key in st.query_params for key in keys)
    place = st.popover(f"{label}: {changed} set" if changed else label)
    place.caption(about)
    return place
