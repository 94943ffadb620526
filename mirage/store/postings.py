"""The answers that contain a text of one or two characters, ready-made for every such text.

Answers are taken by the `PART` at most, of one language each. Which of a part contain a text is kept as their numbers
in the part, two bytes each, or, where they are many, as one bit for every answer of a part, compressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PART_BITS, _CHARACTER_BITS = 14, 21
PART = 1 << _PART_BITS
"""Answers of a part, at most."""
SHORT_TEXTS = 1 << 2 * _CHARACTER_BITS
"""Numbers that a text of one or two characters can have (`number_of`)."""
_NUMBER, _CHARACTER = PART - 1, (1 << _CHARACTER_BITS) - 1
"""Masks of the number of an answer in its part, and of a character."""
_MANY = 128
"""From so many numbers on, bits take less room."""
_LIST, _BITS = b"l", b"b"


def pairs(texts: Sequence[str | None], start: int) -> NDArray[np.int64]:
    """Which answers contain which two neighbouring characters, as numbers in ascending order: the first character, the
    second (NUL at the end of a text), the number of the answer.

    Args:
        texts: the answers; none contains NUL.
        start: the number of the first in its part.
    """
    import numpy as np

    there = [text or "" for text in texts]
    characters = np.frombuffer("\0".join([*there, ""]).encode("utf-32-le"), dtype="<u4").astype(np.int64)
    number = np.repeat(np.arange(start, start + len(there)), [len(text) + 1 for text in there])
    first = characters != 0
    second = np.roll(characters, -1)
    # np.unique hashes, which takes several times as long here.
    keys = np.sort(((characters << _CHARACTER_BITS | second) << _PART_BITS | number)[first])
    return keys[_begins(keys)]


def number_of(text: str) -> int:
    """A text of one or two characters as a number below `SHORT_TEXTS`."""
    first, second = map(ord, text.ljust(2, "\0"))
    return first << _CHARACTER_BITS | second


def postings(batches: Sequence[NDArray[np.int64]]) -> Iterator[tuple[int, bytes]]:
    """Each text of one or two characters in the answers of a part, as `number_of` it and in this order; and which
    contain it.

    Args:
        batches: what `pairs` has returned of each of its answers once.
    """
    import numpy as np

    # Sorted runs, which a stable sort merges.
    keys = np.sort(np.concatenate(batches), kind="stable")
    for beginning in _runs(keys, _CHARACTER_BITS + _PART_BITS):
        answers = np.zeros(PART, dtype=bool)
        answers[beginning & _NUMBER] = True
        yield int(beginning[0]) >> _PART_BITS & ~_CHARACTER, _packed(np.flatnonzero(answers))
        for run in _runs(beginning, _PART_BITS):
            if (text := int(run[0]) >> _PART_BITS) & _CHARACTER:
                yield text, _packed(run & _NUMBER)


def unpacked(numbers: bytes) -> NDArray[np.int64]:
    """The numbers, ascending, of the answers that `postings` returned."""
    import numpy as np

    if numbers[:1] == _LIST:
        return np.frombuffer(numbers, dtype="<u2", offset=1).astype(np.int64)
    return np.flatnonzero(np.unpackbits(np.frombuffer(zlib.decompress(numbers[1:]), dtype=np.uint8)))


def _packed(numbers: NDArray[np.int64]) -> bytes:
    import numpy as np

    if len(numbers) < _MANY:
        return _LIST + numbers.astype("<u2").tobytes()
    answers = np.zeros(PART, dtype=bool)
    answers[numbers] = True
    return _BITS + zlib.compress(np.packbits(answers).tobytes())


def _begins(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a value is not the one before."""
    import numpy as np

    begins = np.ones(len(values), dtype=bool)
    begins[1:] = values[1:] != values[:-1]
    return begins


def _runs(keys: NDArray[np.int64], bits: int) -> Iterator[NDArray[np.int64]]:
    """Neighbours that agree but for their lowest bits."""
    import numpy as np

    starts = np.flatnonzero(_begins(keys >> bits)).tolist()
    return (keys[start:stop] for start, stop in pairwise([*starts, len(keys)]))
