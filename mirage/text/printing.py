"""Texts on paper and screen: LaTeX with the rules of `booktabs`, GitHub's Markdown, terminals.

Every text is printed as it is, whatever is in it: no text can end a cell, a row or the table. Names in other scripts
than Latin need XeLaTeX or LuaLaTeX and a font that has them.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Embeddings, overrides and isolates: an open one would turn what follows the name."""
_EXECUTED = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]|{_BIDI.pattern}")
"""Control characters other than line ends and tabs, which a terminal would execute, and those that turn a line."""
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_LIGATURES = re.compile(r"(?<=([-',]))(?=\1)")
"""Between two characters that TeX joins to another."""
_MARKDOWN = re.compile(r"[\\`*_\[\]<~|&$]|^[-+=#>]")
_NUMBERED = re.compile(r"^(\d+)\.")
"""A text that would begin a list."""
_SIGNED = re.compile(r"[+−-](?:\d[\d,.]*|∞)%?")
"""A number with its sign: Markdown shows it as it is."""
_SIGNED_IN_TEX = re.compile(r"(?<![\w.])([+−-])(\d[\d,.]*|∞)")
"""A number with its sign, alone or as an end of an interval: TeX has the minus sign and infinity in mathematics."""
_LABEL = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """One column of a table to print."""

    head: str
    """Column head; plain text."""
    cells: tuple[str, ...]
    """Its cells from the first row to the last; plain text, empty where there is no value."""
    number: bool = False
    """Whether it holds numbers and intervals, which are aligned right."""


def latex_table(columns: Sequence[PrintedColumn]) -> str:
    """Return a table of plain texts as a LaTeX `table` environment, without caption and label.

    Args:
        columns: at least one, all with the same number of cells.
    """
    rows = zip(*([_latex_cell(cell, column.number) for cell in column.cells] for column in columns), strict=True)
    return latex_frame(
        [latex_text(column.head) for column in columns],
        list(rows),
        sides="".join("r" if column.number else "l" for column in columns),
    )


def markdown_table(columns: Sequence[PrintedColumn]) -> str:
    """Return a table of plain texts as GitHub Markdown.

    Args:
        columns: at least one, all with the same number of cells.
    """
    rows = zip(*([_markdown_cell(cell, column.number) for cell in column.cells] for column in columns), strict=True)
    return markdown_frame(
        [markdown_text(column.head) for column in columns],
        list(rows),
        sides="".join("r" if column.number else "l" for column in columns),
    )


def latex_frame(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    sides: str,
    caption: str = "",
    label: str = "",
) -> str:
    r"""Return a `table` environment around LaTeX cells.

    Args:
        head: column heads.
        rows: cells by row.
        sides: alignment of each column, `l` or `r`.
        caption: LaTeX; without it the table has neither caption nor label.
        label: what the table is called in `\label{tab:...}`; letters and digits are kept.
    """
    lines = [f"    {' & '.join(row)} \\\\" for row in rows]
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs}.",
            r"\begin{table}",
            r"  \centering",
            *([rf"  \caption{{{caption}}}", rf"  \label{{tab:{label_text(label)}}}"] if caption else []),
            rf"  \begin{{tabular}}{{{sides}}}",
            r"    \toprule",
            rf"    {' & '.join(head)} \\",
            r"    \midrule",
            *lines,
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def markdown_frame(head: Sequence[str], rows: Sequence[Sequence[str]], *, sides: str = "", caption: str = "") -> str:
    """Return a table around Markdown cells; arguments as for `latex_frame`. Without `sides`, all columns are
    left-aligned.
    """
    marks = [" ---: " if side == "r" else " --- " for side in sides or "l" * len(head)]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(marks)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join([*lines, *(["", caption] if caption else []), ""])


def terminal_text(text: str) -> str:
    """Escape what a terminal would execute, or show elsewhere, as a string of JSON does."""
    return _EXECUTED.sub(lambda character: f"\\u{ord(character[0]):04x}", text)


def single_line(text: str) -> str:
    """Return a text on one line, without control characters or bidirectional overrides."""
    letters = (" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in _BIDI.sub("", text))
    return " ".join("".join(letters).split())


def latex_text(text: str) -> str:
    """Escape a plain text for LaTeX, in a table cell or caption."""
    parts = _LIGATURES.sub("\0", single_line(text)).split("\0")
    return "{}".join("".join(_TEX.get(character, character) for character in part) for part in parts)


def markdown_text(text: str) -> str:
    """Escape a plain text for Markdown, in a table cell, heading or paragraph."""
    return _NUMBERED.sub(r"\1\\.", _MARKDOWN.sub(r"\\\g<0>", single_line(text)))


def label_text(text: str) -> str:
    """Convert a text to a LaTeX label or part of a file name: lower-case letters, digits and hyphens."""
    return _LABEL.sub("-", text.lower()).strip("-") or "table"


def _latex_cell(text: str, number: bool) -> str:
    if not number:
        # A bracket would be taken for the option of the line's end before it.
        return f"{{}}{latex_text(text)}" if single_line(text).startswith(("[", "*")) else latex_text(text)
    cell = _SIGNED_IN_TEX.sub(_in_mathematics, latex_text(text))
    return f"{{{cell}}}" if cell.startswith("[") else cell


def _in_mathematics(match: re.Match[str]) -> str:
    number = match[2].replace("∞", r"\infty").replace(",", "{,}")
    return f"${match[1].replace('−', '-')}{number}$"


def _markdown_cell(text: str, number: bool) -> str:
    return text if number and _SIGNED.fullmatch(text) else markdown_text(text)
