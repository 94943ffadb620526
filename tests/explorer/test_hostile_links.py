"""Links with hostile values: every parameter of every page, as its widgets and the router name them."""

import re
from functools import cache

import pytest
from conftest import ROOT

from mirage.explorer.kit.page_list import PAGES
from pages import open_page, page_text, uses

HOSTILE = (
    "9" * 5_000,
    "-1",
    "0",
    "1e400",
    "NaN",
    "\x00",
    "../../etc/passwd",
    "<b>x</b>",
    "%s{0}",
    "\u202e",
    "٣" * 400,
)
"""Numbers too large, paths, markup, signs of other scripts."""


@cache
def parameters(name: str) -> list[str]:
    """Return the parameters that a page may read: keys of its widgets and what its file reads from the address."""
    text = (ROOT / "pages" / f"{name}.py").read_text("utf-8")
    shared = "".join(path.read_text("utf-8") for path in sorted((ROOT / "mirage" / "explorer").rglob("*.py")))
    read = re.findall(r'query_params(?:\.get(?:_all)?\(|\[)"(\w+)"', text + shared)
    own = [key for key, file, (function, _) in uses() if file == f"{name}.py" and "pick" in function]
    return sorted({*own, *read, "arena", "languages", "tags", "section", "query", "page", "q", "a", "b", "margin"})


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("name", [entry.name for entry in PAGES])
def test_a_hostile_link_is_no_traceback(name: str, value: str) -> None:
    open_page(name, **(dict.fromkeys(parameters(name), value) | {"arena": "sample"}))


@pytest.mark.parametrize("value", [*HOSTILE, "/etc", "..", "sample/../sample", "%2e%2e/sample"], ids=range(15))
def test_a_hostile_name_of_an_arena_is_answered_with_a_notice(value: str) -> None:
    page = open_page("methods", arena=value)
    assert [warning for warning in page.warning if "Unknown value in the link" in warning.value]


@pytest.mark.parametrize("name", ["answers", "battle"])
def test_a_page_number_that_is_none_is_answered_with_a_notice(name: str) -> None:
    page = open_page(name, arena="sample", page="9" * 5_000)
    assert "no page" in page_text(page)
    assert "page" not in page.query_params
