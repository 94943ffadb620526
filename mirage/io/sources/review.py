"""Files that people review and correct: every mistake is named with its file and line, and nothing is repaired."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput
from mirage.text.languages import language

LICENCE = "CC0-1.0"
"""Licence of the files, stated in each."""

_MARKUP = re.compile(r"https?:|<[a-zA-Z/]|\*\*| {2}")
_SHOWN = 10


@dataclass
class Review:
    """A file under review, with the errors found."""

    path: Path
    """The file."""
    code: str
    """Code of its language."""
    lines: list[str]
    """Its lines."""
    form: str
    """The module whose head has the form of the file, as a path."""
    wrong: list[tuple[str, str]] = field(default_factory=list)
    """Place and problem of each mistake."""

    def expect(self, holds: bool, problem: str, item_id: str = "") -> None:
        """Record an error at the id `item_id` unless a condition holds."""
        if not holds:
            line = next((n for n, text in enumerate(self.lines, start=1) if item_id and f'"{item_id}"' in text), None)
            self.wrong.append(
                (f"{self.path}:{line}" if line else str(self.path), f"{item_id}: {problem}" if item_id else problem)
            )

    def shape(self, value: Any, fields: Mapping[str, type], item_id: str) -> bool:
        """Check that a value is an object with exactly these fields, each of its type and no text empty."""
        before = len(self.wrong)
        if not isinstance(value, dict):
            self.expect(False, f"{value!r} is no object", item_id)
            return False
        self.expect(set(value) == set(fields), f"the fields are {sorted(value)}, not {sorted(fields)}", item_id)
        for name, kind in fields.items():
            if name in value:
                self.expect(type(value[name]) is kind and value[name] != "", f"{name} is {value[name]!r}", item_id)
        return len(self.wrong) == before

    def text(self, name: str, text: str, item_id: str) -> None:
        """Expect a text without white space around it, markup, links and two spaces in a row."""
        self.expect(text == text.strip(), f"{name} has white space around it", item_id)
        self.expect(not _MARKUP.search(text), f"{name} holds markup, a link or two spaces", item_id)

    def size(self, text: str, words: tuple[int, int], characters: tuple[int, int], item_id: str) -> None:
        """Expect a text with a number of words in a range, or of characters in scripts without spaces."""
        spaced = language(self.code).spaced
        size, (low, high) = (len(text.split()), words) if spaced else (len(text), characters)
        unit = "words" if spaced else "characters"
        self.expect(low <= size <= high, f"the text has {size} {unit}, not {low} to {high}", item_id)

    def refuse(self) -> None:
        """Raise if anything is wrong.

        Raises:
            BadInput: naming the first ten mistakes with their places, and how many more there are.
        """
        if self.wrong:
            lines = [f"{where}: {problem}" for where, problem in self.wrong[:_SHOWN]]
            more = len(self.wrong) - len(lines)
            raise BadInput(
                f"{len(self.wrong)} things in this sample file are wrong",
                where="\n         ".join(lines + ([f"and {more} more"] if more else [])),
                do=f"correct them; the head of {self.form} has the form",
            )


def open_review(path: Path, fields: Mapping[str, type], *, indent: int, form: str) -> tuple[Review, dict[str, Any]]:
    """Read a file named by its language, and check what all such files have.

    Args:
        path: the file, such as `fi.json`.
        fields: the fields of the whole and their types; `language` and `licence` are among them.
        indent: indentation of the JSON in spaces.
        form: the module whose head has the form, as a path.

    Returns:
        The review, with the mistakes so far (language, licence, layout, Unicode normal form), and the content.

    Raises:
        UnknownName: if the file is named after no known language.
        BadInput: if it is no JSON, or no object of these fields.
    """
    code = language(path.stem, where=str(path)).code
    raw = "\n".join(text for _, text in store.lines(path))
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"this is not JSON: {error}", where=str(path), do="save it as JSON") from None
    review = Review(path, code, raw.split("\n"), form)
    if not review.shape(data, fields, ""):
        review.refuse()
    review.expect(data["language"] == code, f"language is {data['language']!r}, the file's name says {code!r}")
    review.expect(data["licence"] == LICENCE, f"licence is {data['licence']!r}, not {LICENCE!r}")
    review.expect(
        raw.strip() == json.dumps(data, indent=indent, ensure_ascii=False),
        f"the layout is not that of json.dumps(.., indent={indent}, ensure_ascii=False)",
    )
    review.expect(unicodedata.is_normalized("NFC", raw), "the text is not in Unicode normal form C")
    return review, data
