"""What the tests of pages read: everything a page says in words, and its parts in HTML."""

from __future__ import annotations

import re
from html import unescape

from streamlit.testing.v1 import AppTest


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
