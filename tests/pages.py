"""What the tests of pages share: opening a page by a link, everything it says in words, and its parts in HTML."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import unescape

from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

PREFIXED = {"ui.side_by_side"}
"""Functions that put a word of their own before a key."""


def uses() -> Iterator[tuple[str, str, tuple[str, str]]]:
    """Yield key, file and meaning of every widget with a literal key: the function that draws it and what it picks."""
    for path in sorted((*(ROOT / "pages").glob("*.py"), *(ROOT / "mirage" / "ui").glob("*.py"))):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) in PREFIXED:
                continue
            named = {keyword.arg: keyword.value for keyword in call.keywords}
            key = named.get("key")
            if isinstance(key, ast.Constant):
                kind = ast.unparse(named["kind"]) if "kind" in named else "".join(map(ast.unparse, call.args[:1]))
                yield key.value, path.name, (ast.unparse(call.func).removeprefix("ui."), kind)


def open_page(name: str, **link: str) -> AppTest:
    """Return a page opened by a link, having checked that nothing was raised."""
    page = AppTest.from_file(ROOT / "pages" / f"{name}.py", default_timeout=PATIENCE)
    for key, value in link.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception, (link, [(error.message, error.stack_trace) for error in page.exception])
    return page


def page_text(app: AppTest) -> str:
    """All plain text of a page, with Markdown's escapes and invisible joiners taken out."""
    kinds = (app.header, app.markdown, app.caption, app.info, app.warning, app.error, app.code)
    words = "\n".join(str(element.value) for kind in kinds for element in kind)
    return re.sub(r"\\(.)", r"\1", words).replace("\u2060", "") + text(app)


def titles(app: AppTest) -> list[str]:
    """The headings of the first level: one on every page."""
    return [unescape(title) for title in re.findall(r"<h1>(.*?)</h1>", html(app))]


def headings(app: AppTest) -> list[str]:
    """The headings of the second level that are parts of HTML."""
    return [unescape(heading) for heading in re.findall(r"<h2[^>]*>(.*?)</h2>", html(app))]


def conclusion(app: AppTest) -> str:
    """What the page comes to, under its question; empty where it says nothing."""
    return "".join(map(unescape, re.findall(r'<p class="mg-conclusion">(.*?)</p>', html(app))))


def html(app: AppTest) -> str:
    """The source of its HTML parts."""
    return "".join(element.proto.body for element in app.get("html"))


def notes(app: AppTest) -> list[str]:
    """What is said in small type about parts of a page."""
    return [unescape(words) for words in re.findall(r'<p class="mg-about">(.*?)</p>', html(app), re.DOTALL)]


def read_tables(app: AppTest) -> list[list[dict[str, str]]]:
    """The rows of every table to read, by the heads of its columns."""
    tables = []
    for body in re.findall(r'<table class="mg-table">(.*?)</table>', html(app), re.DOTALL):
        heads, *lines = [
            [unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", line)]
            for line in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
        ]
        tables.append([dict(zip(heads, line, strict=True)) for line in lines])
    return tables


def text(app: AppTest) -> str:
    """What a reader of the HTML parts sees."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html(app), flags=re.DOTALL))
