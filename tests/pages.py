"""What the tests of pages read: everything a page says in words, and its parts in HTML."""

from __future__ import annotations

import re
from html import unescape

from streamlit.testing.v1 import AppTest


def said(at: AppTest) -> str:
    """All plain text of a page, with Markdown's escapes and invisible joiners taken out."""
    kinds = (at.title, at.header, at.markdown, at.caption, at.info, at.warning, at.error, at.code)
    words = "\n".join(str(one.value) for kind in kinds for one in kind)
    return re.sub(r"\\(.)", r"\1", words).replace("\u2060", "") + text(at)


def html(at: AppTest) -> str:
    """The source of its HTML parts."""
    return "".join(element.proto.body for element in at.get("html"))


def text(at: AppTest) -> str:
    """What a reader of the HTML parts sees."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html(at), flags=re.DOTALL))
