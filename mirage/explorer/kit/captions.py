"""Captions of exported figures and tables: content, n and method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mirage.text.printing import label_text, latex_text

_NAMES = {"page": "", "arena": "", "title": "", "numbers": "", "version": "", "text": ""}
"""Facts that are shown elsewhere or omitted."""
_LONGEST = 300
"""Maximum characters of a fact in a caption."""


def caption(subject: str, summary: str, facts: Mapping[str, Any]) -> str:
    """Return a caption as plain text.

    Args:
        subject: what is shown, a sentence or a name.
        summary: how much is behind it, as on the page.
        facts: how it was made, as in the page's download: `arena`, `title`, `numbers` (their kind), `version`, and what
            the page adds, of which the texts, the numbers and short lists of these are taken.
    """
    about = "; ".join(
        f"{name.replace('_', ' ')}: {words}"
        for name, value in facts.items()
        if name not in _NAMES and 0 < len(words := _words(value)) <= _LONGEST
    )
    source = f"Arena: {facts.get('title') or facts.get('arena', '')} ({facts.get('numbers', '')})"
    version = f", version {facts['version']}" if facts.get("version") else ""
    sentences = (subject, summary, about[:1].upper() + about[1:], source + version)
    return " ".join(f"{sentence.strip().rstrip('.')}." for sentence in sentences if sentence.strip())


def figure_latex(file: str, caption: str, *, wide: bool) -> str:
    """Return a LaTeX `figure` environment around a picture.

    Args:
        file: name of the picture's file, without its ending.
        caption: plain text.
        wide: over both columns.
    """
    kind = "figure*" if wide else "figure"
    return "\n".join(
        [
            r"% Needs \usepackage{graphicx}. An SVG becomes a PDF with: rsvg-convert -f pdf, or Inkscape.",
            rf"\begin{{{kind}}}",
            r"  \centering",
            rf"  \includegraphics{{{label_text(file)}}}",
            rf"  \caption{{{latex_text(caption)}}}",
            rf"  \label{{fig:{label_text(file)}}}",
            rf"\end{{{kind}}}",
            "",
        ]
    )


def _words(value: Any) -> str:
    """Return a fact in words; empty if it is too long."""
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(part, str | int | float) for part in value):
        return ", ".join(map(str, value))
    return ""
