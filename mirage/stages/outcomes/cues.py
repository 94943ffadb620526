"""A fast test of which of many regular expressions can match a text.

Searching a clause for hundreds of expressions takes most of the time of reading it, and few match. Every match of one
has one of a few literals in it ("document", "passage"), its cues. The cues of all expressions are found together, and
only the expressions with a cue in the text are searched for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

TOKENS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|<?[=!]|:)|(?:[?*+]|\{\d*,?\d*\})[?+]?|.", re.DOTALL)
"""Elements of an expression: an escape, a set, the start of a group, a quantifier, or a character."""
_START = "\b"
"""Marks a literal with which a word starts."""
_STARTS = r"(?<![^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff])"
"""The start of a word; in an unspaced script, any place."""
_MOST = 64
"""Maximum number of texts of an element that are listed."""
_LENGTH = 5
"""Length to which literals are cut."""
Literals = Set[str]


@dataclass(frozen=True, slots=True)
class _Element:
    """Part of an expression."""

    texts: Literals | None
    """Every text that it matches; None if they are many."""
    cues: Literals | None
    """Literals, one of which is in every match; None if there are none."""
    before: int
    """Whether a word can only start after it: 2, always; 1, if one can before it; 0, not known."""


def cues_of(expression: str) -> Literals | None:
    """Return literals, one of which is in every match of a regular expression; None if there are none.

    Args:
        expression: without flags, conditionals and back references.
    """
    return _alternatives(_Tokens(TOKENS.findall(expression)), starts=False).cues


def _union(sets: Iterable[Literals | None]) -> Literals | None:
    """Return the cues of alternatives; None if one of them has none."""
    every = list(sets)
    return None if None in every else frozenset[str]().union(*filter(None, every))


class Cues:
    """The cues of many expressions."""

    def __init__(self, cues: Sequence[Literals | None]) -> None:
        """Index the cues of each expression by its number."""
        self._always = frozenset(number for number, literals in enumerate(cues) if literals is None)
        self._indexes = []
        for place, starts in ((_STARTS, True), ("", False)):
            numbers: dict[str, set[int]] = defaultdict(set)
            for number, literals in enumerate(cues):
                for literal in literals or ():
                    if literal.startswith(_START) == starts:
                        numbers[literal.removeprefix(_START)[:_LENGTH]].add(number)
            if numbers:
                # The longest literal is found; it stands for those that it begins with.
                index = {
                    text: frozenset[int]().union(*(numbers.get(text[:end], ()) for end in range(1, len(text) + 1)))
                    for text in numbers
                }
                # A set of first characters is tested faster than the characters one by one.
                firsts = "".join(sorted({re.escape(text[0]) for text in numbers}))
                self._indexes.append((re.compile(f"{place}(?=[{firsts}])(?=({_trie(numbers)}))"), index))

    def find(self, text: str) -> frozenset[int]:
        """Return the numbers of the expressions that can match in a text or a part of it."""
        found = [index[cue] for pattern, index in self._indexes for cue in set(pattern.findall(text))]
        return self._always.union(*found)


class _Tokens:
    """The elements of an expression, with the next one."""

    def __init__(self, tokens: list[str]) -> None:
        self._rest = iter(tokens)
        self.next = next(self._rest, ")")

    def take(self) -> str:
        token, self.next = self.next, next(self._rest, ")")
        return token


def _alternatives(tokens: _Tokens, *, starts: bool) -> _Element:
    """Read alternatives up to the end of their group; `starts`: a word can only start before them."""
    read = [_sequence(tokens, starts=starts)]
    while tokens.take() == "|":
        read.append(_sequence(tokens, starts=starts))
    texts = _union(each.texts for each in read)
    listed = texts if texts is not None and len(texts) <= _MOST else None
    return _Element(listed, _union(each.cues for each in read), min(each.before for each in read))


def _sequence(tokens: _Tokens, *, starts: bool) -> _Element:
    """Read elements up to the end of their alternative."""
    run: Literals = {""}
    run_starts, before, whole = starts, 1, True
    candidates: list[Literals | None] = []
    while tokens.next not in ("|", ")"):
        element = _quantified(_element(tokens, starts=starts), tokens)
        candidates.append(element.cues)
        if element.texts is not None and len(run) * len(element.texts) <= _MOST:
            run = {left + right for left in run for right in element.texts}
        else:
            candidates.append(_cues(run, starts=run_starts))
            run, run_starts, whole = element.texts or {""}, starts, False
        before = element.before if element.before != 1 else before
        starts = element.before == 2 or (element.before == 1 and starts)
        run_starts = starts if run == {""} else run_starts
    return _Element(run if whole else None, _rarest([*candidates, _cues(run, starts=run_starts)]), before)


def _element(tokens: _Tokens, *, starts: bool) -> _Element:
    """Read an element without its quantifier."""
    piece = tokens.take()
    if piece[0] == "(":
        group = _alternatives(tokens, starts=starts)
        if piece in ("(?!", "(?<!", "(?<=", "(?="):
            return _Element({""}, group.cues if piece == "(?=" else None, 1)
        return group
    if piece in (r"\b", "^", "$"):
        return _Element({""}, None, 1 if piece == "$" else 2)
    texts: Literals | None = {piece}
    if piece[0] == "[":
        texts = None if re.search(r"^\^|\\|.-.", piece[1:-1]) else set(piece[1:-1])
    elif piece[0] == "\\":
        texts = None if piece[1].isalnum() else {piece[1]}
    elif piece == ".":
        texts = None
    apart = piece in (r"\s", r"\W") or (texts is not None and not re.search(r"\w", "".join(texts)))
    return _Element(texts, _cues(texts, starts=starts), 2 if apart else 0)


def _quantified(element: _Element, tokens: _Tokens) -> _Element:
    """Read the quantifier of an element, if it has one."""
    if tokens.next[0] not in "?*+{":
        return element
    quantifier = tokens.take()
    if not quantifier.startswith(("?", "*", "{0", "{,")):
        return _Element(None, element.cues, element.before)
    texts = {"", *element.texts} if quantifier[0] == "?" and element.texts is not None else None
    return _Element(texts, None, min(1, element.before))


def _cues(texts: Literals | None, *, starts: bool) -> Literals | None:
    """Return a literal of each text, marked if a word starts with it; None if one is white space."""
    literals = set()
    for text in texts or ("",):
        word = re.sub(r"^\W+", "", text)
        literals.add((_START if word != text or starts else "") + word if word else text)
    return literals if all(literal.strip() for literal in literals) else None


def _rarest(candidates: Iterable[Literals | None]) -> Literals | None:
    """Return the literals that the fewest texts have, judged by their lengths in bytes."""
    return min((each for each in candidates if each), key=_frequency, default=None)


def _frequency(literals: Literals) -> float:
    return sum(8.0 ** -min(len(literal.encode()), 2 * _LENGTH) for literal in literals)


def _trie(texts: Iterable[str]) -> str:
    """Return an expression that matches the longest of some texts, with each beginning tried once."""
    rests: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        rests[text[0]].add(text[1:])
    branches = []
    for first, following in rests.items():
        longer = following - {""}
        rest = f"(?:{_trie(longer)}){'?' if '' in following else ''}" if longer else ""
        branches.append(re.escape(first) + rest)
    return "|".join(branches)
