"""Pickers bound to the URL, and messages for unknown URL values.

A picker's key is the name of its query parameter, and its options are the codes in the URL.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Final, Literal

import streamlit as st

from mirage.errors import UnknownName
from mirage.explorer.kit.text import plain
from mirage.text.languages import search_name

_STATE: Final = "_link"
_ABSENT: Final = object()
Width = int | Literal["stretch", "content"] | None
"""Width of a picker: in pixels, `stretch`, or `content` where the options lie side by side; None for Streamlit's."""
_FIND_ONE = partial(st.selectbox, filter_mode="contains")
_FIND_MANY = partial(st.multiselect, filter_mode="contains")
"""Lists whose options are found by any part of their name."""


@dataclass
class LinkState:
    """URL state of a session, kept in one entry because each session entry slows down every picker."""

    carried: bool = field(default_factory=lambda: bool(st.query_params))
    """Whether the address with which the session began carries a state."""
    page: str | None = None
    """The page that runs."""
    arrived: bool = False
    """Whether it was just opened: its pickers follow its link, whatever was picked before."""
    wanted: tuple[str, dict[str, list[str]]] = ("", {})
    """The page that a link inside leads to, and what it names for the pickers of that page."""
    problems: dict[str, list[str]] = field(default_factory=dict)
    """Unknown URL values, by picker."""
    previous: dict[str, Any] = field(default_factory=dict)
    """Values of all pickers in the previous run."""
    defaults: dict[str, str | None] = field(default_factory=dict)
    """Options that pickers of one choice had at first in the previous run."""


def link_state() -> LinkState:
    """Return the URL state of this session."""
    state: LinkState | None = st.session_state.get(_STATE)
    if state is None:
        state = st.session_state[_STATE] = LinkState()
    return state


def check_link(param: str, kind: str, valid: Iterable[str]) -> list[str]:
    """Return a sentence with the nearest valid names for each unknown URL value.

    Streamlit drops such values silently from the address. The sentences stay until the picker of that name is used.

    Args:
        param: name of the query parameter, which is the picker's key.
        kind: what the name should be, in the singular.
        valid: the names that exist.
    """
    state = link_state()
    current = st.session_state.get(param, _ABSENT)
    if current is _ABSENT or state.arrived:
        valid = list(valid)
        unknown = [value for value in st.query_params.get_all(param) if value and value not in valid]
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
    kind: str = "",
    default: str | None = None,
    help: str | None = None,  # noqa: A002  # Streamlit's own name for it
    named: Callable[[str], str] | None = None,
    width: Width = None,
) -> Any:
    """Draw a list of options, bound to the query parameter of its key, and return the chosen one.

    Args:
        label: shown above it.
        options: codes, as in the URL.
        key: name of the parameter; prefixed with the page if other pages use it with another meaning.
        kind: what an option is, in the singular; given, a link with an unknown one is answered under the picker.
        default: chosen at first; the first option unless given.
        help: shown on hover.
        named: gives what is shown, and searched, for an option; the link keeps the option itself.
        width: in pixels, or `stretch`.
    """
    if _take_only_choice(key, options, kind):
        return options[0]
    problems = _follow_link(key, options, kind, many=False)
    start = _resolve_default(options, default, key)
    common = _common(key, help, width) | {"index": options.index(start) if start else None}
    draw = st.selectbox if named is None else partial(_pick_named, _FIND_ONE, named=named, start=start)
    value = draw(label, options, **common)
    _show_problems(problems)
    return start if value is None else value


def pick_segments(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    kind: str = "",
    default: str | None = None,
    help: str | None = None,  # noqa: A002  # as above
    named: Callable[[str], str] | None = None,
    width: Width = None,
) -> Any:
    """Draw few and short options side by side; arguments as for `pick`, with `content` as a width.

    If an option could be read as markup, they are in a list, which shows them as they are.
    """
    if _take_only_choice(key, options, kind):
        return options[0]
    if _markup(tuple(options)):
        in_list = 240 if width == "content" else width
        return pick(label, options, key=key, kind=kind, default=default, help=help, named=named, width=in_list)
    problems = _follow_link(key, options, kind, many=False)
    start = _resolve_default(options, default, key)
    segments: Any = partial(st.segmented_control, required=True)
    draw = segments if named is None else partial(_pick_named, segments, named=named, start=start)
    value = draw(label, options, default=start, **_common(key, help, width))
    _show_problems(problems)
    # A link may leave the control without a choice, though one is required.
    return start if value is None else value


def hold(options: Sequence[str], *, key: str, kind: str) -> str:
    """Keep in the link a choice that is made elsewhere on the page, such as by a row of a table, and return it.

    Args:
        options: codes, as in the URL; the first means no choice.
        key: name of the parameter.
        kind: what an option is, in the singular.
    """
    _show_problems(check_link(key, kind, options))
    with st.container(key=f"bound_{key}"):
        chosen: str = pick("In the link", options, key=key)
    return chosen


def pick_many(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    kind: str = "",
    help: str | None = None,  # noqa: A002  # as above
    placeholder: str | None = None,
    named: Callable[[str], str] | None = None,
    width: Width = None,
) -> list[str]:
    """Draw a multiple-choice list; arguments as for `pick`. No choice usually means all.

    Args:
        label: shown above it.
        options: codes, as in the URL.
        key: name of the parameter.
        kind: what an option is, in the singular.
        help: shown on hover.
        placeholder: shown while nothing is picked.
        named: gives what is shown for an option.
        width: in pixels, or `stretch`.
    """
    problems = _follow_link(key, options, kind, many=True)
    draw = st.multiselect if named is None else partial(_pick_named, _FIND_MANY, named=named)
    value = draw(label, options, placeholder=placeholder, **_common(key, help, width))
    _show_problems(problems)
    return list(value)


def _follow_link(key: str, options: Sequence[str], kind: str, *, many: bool) -> list[str]:
    """Set a picker to what the link names for it, and return a sentence for each unknown value."""
    state = link_state()
    problems = check_link(key, kind, options) if kind else []
    page, handed = state.wanted
    requested: list[str] = handed.pop(key, []) if page == state.page else []
    if not requested and state.arrived and key in st.session_state:
        requested = st.query_params.get_all(key)
    requested = [value for value in requested if value in options]
    if requested:
        st.session_state[key] = requested if many else requested[-1]
    return problems


def _take_only_choice(key: str, options: Sequence[str], kind: str) -> bool:
    """Take the only option of a picker, which is then not drawn, and return whether it has one alone."""
    if len(options) != 1:
        return False
    _show_problems(check_link(key, kind, options) if kind else [])
    st.session_state[key] = link_state().defaults[key] = options[0]
    return True


def _resolve_default(options: Sequence[str], default: str | None, key: str) -> str | None:
    """Return the option that is chosen at first, and name the former one in the link where the picker still has it: a
    link does not name a default.
    """
    start = default if default in options else options[0] if options else None
    former = link_state().defaults.get(key, start)
    if former is not None and former != start and former in options and st.session_state.get(key) == former:
        st.session_state[key] = former  # Streamlit writes a value that is set into the link
    link_state().defaults[key] = start
    return start


def _common(key: str, about: str | None, width: Width) -> dict[str, Any]:
    """Return the arguments of every picker."""
    common = {"key": key, "help": about, "bind": "query-params", "persist_state": "session"}
    return common if width is None else common | {"width": width}


def _show_problems(problems: Sequence[str]) -> None:
    """Show the sentences on unknown values of the link under the picker."""
    for problem in problems:
        st.caption(f":orange[{plain(problem)}]")


def _pick_named(
    draw: Any,
    label: str,
    options: Sequence[str],
    named: Callable[[str], str],
    start: str | None = None,
    **common: Any,
) -> Any:
    """Draw a list of names that keeps the options themselves in the link.

    Streamlit puts what a bound list shows into the address. So the bound list holds the options and is hidden, and the
    list that is shown sets it.
    """
    key, shown = common["key"], f"{common['key']}_named"
    looks = {name: common.pop(name) for name in ("help", "width", "placeholder") if name in common}
    with st.container(key=f"bound_{key}"):
        value = draw("In the link", options, **common)
    value = start if value is None else value

    def choose() -> None:
        st.session_state[key] = st.session_state[shown]

    st.session_state[shown] = value
    draw(label, options, key=shown, format_func=named, on_change=choose, **looks)
    return value


def pick_language(languages: Sequence[str], *, key: str, help: str, width: int = 160) -> str:  # noqa: A002  # as above
    """Show a picker of one language or of all; `all` is the first option.

    Args:
        languages: codes.
        key: as for `pick`.
        help: what is shown for all.
        width: in pixels.
    """
    about, options = f"All languages: {help}", ("all", *languages)
    code: str = pick("Language", options, key=key, kind="language", named=search_name, width=width, help=about)
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


SECTION = "section"


def sections(pickers: Mapping[str, Sequence[str]]) -> str:
    """Offer the sections of a page, and return the one to draw.

    A link that names a picker of a section opens that section, unless it names a section too.

    Args:
        pickers: keys of the pickers of every section, by its name, which is also the URL value; the first
            section is open unless another one is chosen. At least one.
    """
    fresh = SECTION not in st.session_state
    if st.session_state.get(SECTION) not in pickers and not fresh:
        st.session_state[SECTION] = next(iter(pickers))
    if fresh or link_state().arrived:
        meant = [name for name, keys in pickers.items() if any(key in st.query_params for key in keys)]
        if meant and SECTION not in st.query_params:
            st.session_state[SECTION] = meant[0]
            if fresh:
                # The URL must be set before the picker is drawn; Streamlit forbids it later.
                st.query_params[SECTION] = meant[0]
    chosen: str = pick_segments("Section", tuple(pickers), key=SECTION, kind="section")
    return chosen


def search_text(placeholder: str, width: int | Literal["stretch"] = "stretch") -> str:
    """Ask for a text to search for; empty for none."""
    text = st.text_input(
        "Search",
        key="q",
        bind="query-params",
        type="search",
        placeholder=placeholder,
        help="Case-insensitive substring search; works in any script.",
        width=width,
    )
    return (text or "").strip()
