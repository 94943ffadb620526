"""Normalisation of names and ids, so that two spellings of a name are one system, and lookalikes are refused."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = frozenset(
    ("query_id", "passage_id", "system", "system_a", "system_b", "judge", "voter", "retriever", "rater", "assigner")
)
"""Columns with a name or an id."""

_INVISIBLE = "".join(chr(k) for k in range(0x3001) if chr(k).isspace()) + "\u200b\u2060\ufeff"
"""White space, and characters of no width that a copied name may begin or end with."""
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(chr(k) for k in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""Characters that show nothing although Unicode counts them as letters, marks or symbols."""
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Joiners and variation selectors, which several scripts and emoji need between or after their characters."""


@lru_cache(maxsize=8_192)
def normalise_name(name: str) -> str:
    """Normalise a name: without surrounding whitespace and characters of no width, in Unicode form NFC."""
    name = name.strip(_INVISIBLE)
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def normalise_names(names: pa.Array) -> pa.Array:
    """Normalise the names in an Arrow array or dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(names.type):
        return normalise_names(names.dictionary).take(names.indices)
    if not pa.types.is_string(names.type):
        return names
    return pc.utf8_normalize(pc.utf8_trim(names, characters=_INVISIBLE), form="NFC")


def hidden_character(name: str) -> str | None:
    """Return the code of the first character of a name that shows nothing or turns the direction, `U+202E`; None if
    there is none. Joiners within words of scripts that need them, and within emoji, are no such characters.
    """
    if name.isprintable() and name.isascii():
        return None
    before = ""
    for letter in name:
        joins = letter in _JOINERS and not before.isascii() and unicodedata.category(before)[0] in "LMS"
        if not joins and (letter in _BLANK or unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")):
            return f"U+{ord(letter):04X}"
        before = letter
    return None


def fold_name(name: str) -> str:
    """Return the form in which names that look alike are equal: without case, width, joiners and repeated spaces."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", "".join(letter for letter in name if letter not in _JOINERS))
    return " ".join(unicodedata.normalize("NFKC", name.casefold()).split())


class Names:
    """Names seen so far, by kind, so that none is confused with another."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, ...]] = set()
        self._first: dict[tuple[str, ...], tuple[str, str]] = {}

    def check(self, name: str, kind: str, where: str, *within: str) -> None:
        """Check a normalised name: nothing in it is hidden, and no other name of its kind differs in case, width or
        spaces only.

        Args:
            name: the name.
            kind: what it names, for the error.
            where: its place.
            within: what names of this kind are unique in: the language of an id.

        Raises:
            BadInput: if it is hidden or looks like a name seen before.
        """
        if (kind, *within, name) in self._seen:
            return
        need_visible(name, kind, where)
        first, place = self._first.setdefault((kind, *within, fold_name(name)), (name, where))
        if first != name:
            raise BadInput(
                f"{kind} {name!r} differs from {first!r}{f' ({place})' if place else ''} in case, width or spaces only",
                where=where,
                do=f"write one name for both, or names that differ (mirage import: --value {kind}:THEIRS=OURS)",
            )
        self._seen.add((kind, *within, name))


def need_visible(name: str, kind: str, where: str) -> None:
    """Check that nothing in a name is hidden.

    Raises:
        BadInput: naming the first hidden character.
    """
    if code := hidden_character(name):
        raise BadInput(f"{kind} {name!r} has the hidden character {code}", where=where, do="remove it from the name")
