"""Members of JSON documents, streamed: the elements of long lists one by one, without holding the document."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.store.files import LONGEST_OF_OWN, chunks, too_long
from mirage.store.sheets import BOM

Place = tuple[str, ...]
"""Names that lead to a value in a document; `*` is any element of a list. Empty for the document itself."""
ANY = "*"
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Member:
    """One value in a JSON document."""

    where: str
    """`file:line`, with the number of the element if it is in a list."""
    place: Place
    """Its place; that of an element ends with `*`."""
    value: Any
    """The parsed value."""


def json_members(path: Path, lists: Collection[Place]) -> Iterator[Member]:
    """Yield the members of the JSON documents of a file in order: elements of some lists singly, other values whole.

    The file holds one document, several in sequence (JSON Lines), or an array of them. Each document ends with a member
    of the empty place, whose value is None.

    Args:
        path: the file.
        lists: places of the lists whose elements are yielded singly: `("results", "results")`, or
            `("resourceSpans", "*", "spans")` for a list in every element of a list.

    Raises:
        BadInput: naming file and line, if it is not JSON, or a single value is too long.
    """
    with closing(chunks(path)) as pieces:
        text = _Text(path, pieces)
        reader = _Reader(text, {place[:n] for place in lists for n in range(len(place))}, set(lists))
        array = text.peek() == "["
        if array:
            text.take("[")
        while (char := text.peek()) and char != "]":
            if char == ",":
                text.take(",")
                continue
            if char == "{":
                yield from reader.members(())
            else:
                yield Member(text.where, (ANY,), text.value())
            yield Member(text.where, (), None)


def json_values(path: Path) -> Generator[tuple[str, Any, bool]]:
    """Yield the JSON values of an array or of concatenated values, each with its location and whether it is outside an
    array. Of several that begin on one line, each further one has its number, from 0: `file:1 [2]`.

    Raises:
        BadInput: as `json_members`.
    """
    with closing(chunks(path)) as pieces:
        text, array, line = _Text(path, pieces), False, ""
        numbers = itertools.count()
        while char := text.peek():
            if char == "," or char == "[]"[array]:
                array = array if char == "," else not array
                text.take(char)
            else:
                before, line, number = line, text.where, next(numbers)
                yield line if line != before else f"{line} [{number}]", text.value(), not array


class _Reader:
    """Traversal of one document after another."""

    def __init__(self, text: _Text, entered: set[Place], lists: set[Place]) -> None:
        self.text, self.lists = text, lists
        self.entered = entered
        """Places above the lists."""

    def members(self, place: Place) -> Iterator[Member]:
        """Yield the members of the object that starts here."""
        text = self.text
        text.take("{")
        while (char := text.peek()) != "}":
            if char == ",":
                text.take(",")
                continue
            name = text.value()
            text.take(":")
            yield from self.member((*place, str(name)))
        text.take("}")

    def member(self, place: Place) -> Iterator[Member]:
        """Yield the value that starts here, or its members."""
        char = self.text.peek()
        if char == "[" and (place in self.lists or (*place, ANY) in self.entered):
            yield from self.elements(place)
        elif char == "{" and place in self.entered:
            yield from self.members(place)
        else:
            yield Member(self.text.where, place, self.text.value())

    def elements(self, place: Place) -> Iterator[Member]:
        """Yield the elements of the list that starts here."""
        text, inner = self.text, (*place, ANY)
        text.take("[")
        number = 0
        while (char := text.peek()) != "]":
            if char == ",":
                text.take(",")
                continue
            if char == "{" and inner in self.entered:
                yield from self.members(inner)
            else:
                yield Member(f"{text.where} {place[-1]}[{number}]", inner, text.value())
            number += 1
        text.take("]")


class _Text:
    """Text of a file; only the part around the current position is in memory."""

    def __init__(self, path: Path, pieces: Generator[str]) -> None:
        self.path, self.pieces = path, pieces
        self.decode = json.JSONDecoder().raw_decode
        self.text = next(pieces, "").removeprefix(BOM)
        self.start, self.line = 0, 1

    @property
    def where(self) -> str:
        """Return `file:line` of the current position."""
        return f"{self.path}:{self.line}"

    def peek(self) -> str:
        """Skip white space and return the next character; empty at the end of the file."""
        while True:
            end = _SPACE.match(self.text, self.start).end()  # type: ignore[union-attr]  # it matches the empty string
            if end > self.start:
                self.line += self.text.count("\n", self.start, end)
                self.start = end
            if self.start < len(self.text):
                return self.text[self.start]
            if not (piece := next(self.pieces, "")):
                return ""
            self.text, self.start = piece, 0

    def take(self, char: str) -> None:
        """Skip one character.

        Raises:
            BadInput: if the next character is another.
        """
        if (found := self.peek()) != char:
            raise self.syntax_error(
                f"{char!r} expected, found {found!r}" if found else f"the file ends before {char!r}"
            )
        self.start += 1

    def value(self) -> Any:
        """Return the value that starts here, and move behind it.

        Raises:
            BadInput: if there is none, or it is too long.
        """
        if not self.peek():
            raise self.syntax_error("the file ends within a document")
        pieces = 1
        while True:
            try:
                value, end = self.decode(self.text, self.start)
                if end < len(self.text) or not (more := next(self.pieces, "")):
                    break
                # A number at the end of a piece may go on in the next one.
                self.text, self.start = self.text[self.start :] + more, 0
            except RecursionError as error:
                raise self.syntax_error(str(error)) from None
            except ValueError as error:
                if len(self.text) - self.start > LONGEST_OF_OWN:
                    raise too_long(self.path, self.line) from None
                # Double what is held, so that a long value is not parsed repeatedly from its start.
                more = "".join(piece for _, piece in zip(range(pieces), self.pieces, strict=False))
                pieces *= 2
                if not more or not _is_cut(error, self.text):
                    raise self.syntax_error(getattr(error, "msg", str(error)), getattr(error, "pos", None)) from None
                self.text, self.start = self.text[self.start :] + more, 0
        self.line += self.text.count("\n", self.start, end)
        self.start = end
        return value

    def syntax_error(self, why: str, pos: int | None = None) -> BadInput:
        """Return the error for a text that is not JSON."""
        line = self.line if pos is None else self.line + self.text.count("\n", self.start, pos)
        return BadInput(f"this is not JSON: {why}", where=f"{self.path}:{line}", do="write or copy the file again")


def _is_cut(error: ValueError, text: str) -> bool:
    """Return whether an error may come from the end of the text that is held."""
    return isinstance(error, json.JSONDecodeError) and (error.pos > len(text) - 16 or "Unterminated" in error.msg)
