"""Pickers whose choice is in the address, and links that name what does not exist.

A picker's key is the name of its query parameter, and its options are the bare codes that stand in the address.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import streamlit as st

from mirage.errors import UnknownName
from mirage.ui.text import plain


def check_link(param: str, kind: str, valid: Iterable[str]) -> list[str]:
    """What the address asks for and does not exist, one sentence each, with the nearest names that do.

    Streamlit drops such values silently from the address. The sentences stay until the picker of that name is used.

    Args:
        param: name of the query parameter, which is the picker's key.
        kind: what the name should be, in the singular.
        valid: the names that exist.
    """
    valid = list(valid)
    problems: dict[str, list[str]] = st.session_state.setdefault("_link_problems", {})
    if param not in st.session_state or st.session_state.get("_arrived"):
        unknown = [value for value in st.query_params.get_all(param) if value and value not in valid]
        errors = [UnknownName(kind, value, valid) for value in unknown]
        if errors:
            problems[param] = [f"The link asks for what is not here: {error.what}; {error.do}" for error in errors]
    elif st.session_state.get(f"_was_{param}") not in (None, st.session_state[param]):
        problems.pop(param, None)
    st.session_state[f"_was_{param}"] = st.session_state.get(param)
    return problems.get(param, [])


def arrive(page: str) -> None:
    """Note which page runs: the pickers of a page that was just opened follow its link, whatever was picked before."""
    st.session_state["_arrived"] = st.session_state.get("_page") not in (None, page)
    st.session_state["_page"] = page


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
    width: int | Literal["stretch", "content"] | None = None,
) -> Any:
    """A picker bound to the query parameter of its key.

    Args:
        label: shown above it.
        options: bare codes, as they stand in the address.
        key: name of the parameter; unique over all pages, except where pages mean the same thing by it.
        many: pick any number; nothing picked is an empty list and usually means all.
        segments: draw the options side by side; for few and short ones. Where one could be taken for markup they are
            in a list, which shows them as they are.
        default: chosen at first; the first option unless given. Not for `many`.
        help: shown on hover.
        placeholder: shown while nothing is picked.
        width: in pixels, `stretch`, or `content` where the options lie side by side.
        kind: what an option is, in the singular; given, a link with an unknown one is answered under the picker.

    Returns:
        The option, or a list of them for `many`.
    """
    problems = check_link(key, kind, options) if kind else []
    page, handed = st.session_state.get("_asked", ("", {}))
    requested: list[str] = handed.pop(key, []) if page == st.session_state.get("_page") else []
    if not requested and st.session_state.get("_arrived") and key in st.session_state:
        requested = st.query_params.get_all(key)
    requested = [value for value in requested if value in options]
    if requested:
        st.session_state[key] = requested if many else requested[-1]
    start = default if default in options else options[0] if options else None
    common: dict[str, Any] = {"key": key, "help": help, "bind": "query-params", "persist_state": "session"}
    if segments and any(plain(option.replace("_", "")) != option.replace("_", "") for option in options):
        segments, width = False, 240 if width == "content" else width
    if width is not None:
        common["width"] = width
    value: Any
    if many:
        value = st.multiselect(label, options, placeholder=placeholder, **common)
    elif segments:
        value = st.segmented_control(label, options, default=start, required=True, **common)
    else:
        value = st.selectbox(label, options, index=options.index(start) if start else None, **common)
    for problem in problems:
        st.caption(f":orange[{plain(problem)}]")
    return value


def pick_language(label: str, languages: Sequence[str], *, key: str, help: str, width: int = 160) -> str:  # noqa: A002  # as above
    """A picker of one language, or of all: the first option, whose code is `all`.

    Args:
        label: shown above it.
        languages: codes.
        key: as for `pick`.
        help: what is shown for all.
        width: in pixels.
    """
    code: str = pick(label, ("all", *languages), key=key, kind="language", width=width, help=f"all: {help}")
    return code
