"""Default languages of a page: the browser's, then English."""

from __future__ import annotations

import streamlit as st

from mirage.errors import MirageError
from mirage.text.languages import base, language


def preferred_languages(locale: str | None) -> tuple[str, ...]:
    """Return codes in order of preference: the locale's, its base language, English.

    Args:
        locale: the browser's locale (`pt-BR`); English only if None or unknown.
    """
    codes = ["en"]
    if locale:
        try:
            code = language(locale).code
        except MirageError:
            code = base(locale.replace("_", "-").lower())
        codes = [code, base(code), "en"]
    return tuple(dict.fromkeys(codes))


def reader_languages() -> tuple[str, ...]:
    """Return the codes that this reader prefers, by the browser's language."""
    return preferred_languages(st.context.locale)
