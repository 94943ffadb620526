"""Precomputed posting lists: the answers that contain each text of one or two characters.

Answers are split into parts of at most `PART`, each of one language. A posting list holds the indices in the part, as
two bytes each, or if long as one bit per answer, compressed.
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
"""Maximum number of answers in a part."""
SHORT_TEXTS = 1 << 2 * _CHARACTER_BITS
"""Number of possible codes of a text of one or two characters (`number_of`)."""
_NUMBER, _CHARACTER = PART - 1, (1 << _CHARACTER_BITS) - 1
"""Bit masks of an answer's index in its part, and of a character."""
_MANY = 128
"""List length from which a bitmap is smaller."""
_LIST, _BITS = b"l", b"b"


def pairs(texts: Sequence[str | None], start: int) -> NDArray[np.int64]:
    """Return the character bigrams of the answers, as sorted codes: two characters (NUL at the end), answer index.

    Args:
        texts: the answers; none contains NUL.
        start: index of the first in its part.
    """
    import numpy as np

    there = [text or "" for text in texts]
    characters = np.frombuffer("\0".join([*there, ""]).encode("utf-32-le"), dtype="<u4").astype(np.int64)
    number = np.repeat(np.arange(start, start + len(there)), [len(text) + 1 for text in there])
    first = characters != 0
    second = np.roll(characters, -1)
    # np.unique hashes, which is several times slower here.
    keys = np.sort(((characters << _CHARACTER_BITS | second) << _PART_BITS | number)[first])
    return keys[_begins(keys)]


def number_of(text: str) -> int:
    """Encode a text of one or two characters as a number below `SHORT_TEXTS`."""
    first, second = map(ord, text.ljust(2, "\0"))
    return first << _CHARACTER_BITS | second


def postings(batches: Sequence[NDArray[np.int64]]) -> Iterator[tuple[int, bytes]]:
    """Yield each text of one or two characters in a part, encoded and sorted by `number_of`, with its posting list.

    Args:
        batches: results of `pairs` that cover each answer of the part once.
    """
    import numpy as np

    # A stable sort merges the sorted runs.
    keys = np.sort(np.concatenate(batches), kind="stable")
    for beginning in _runs(keys, _CHARACTER_BITS + _PART_BITS):
        answers = np.zeros(PART, dtype=bool)
        answers[beginning & _NUMBER] = True
        yield int(beginning[0]) >> _PART_BITS & ~_CHARACTER, _encode_indices(np.flatnonzero(answers))
        for run in _runs(beginning, _PART_BITS):
            if (text := int(run[0]) >> _PART_BITS) & _CHARACTER:
                yield text, _encode_indices(run & _NUMBER)


def unpack(numbers: bytes) -> NDArray[np.int64]:
    """Decode a posting list of `postings` to ascending answer indices."""
    import numpy as np

    if numbers[:1] == _LIST:
        return np.frombuffer(numbers, dtype="<u2", offset=1).astype(np.int64)
    return np.flatnonzero(np.unpackbits(np.frombuffer(zlib.decompress(numbers[1:]), dtype=np.uint8)))


def _encode_indices(numbers: NDArray[np.int64]) -> bytes:
    import numpy as np

    if len(numbers) < _MANY:
        return _LIST + numbers.astype("<u2").tobytes()
    answers = np.zeros(PART, dtype=bool)
    answers[numbers] = True
    return _BITS + zlib.compress(np.packbits(answers).tobytes())


def _begins(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the values that differ from their predecessor."""
    import numpy as np

    begins = np.ones(len(values), dtype=bool)
    begins[1:] = values[1:] != values[:-1]
    return begins


def _runs(keys: NDArray[np.int64], bits: int) -> Iterator[NDArray[np.int64]]:
    """Split sorted keys into runs that differ only in their lowest bits."""
    import numpy as np

    starts = np.flatnonzero(_begins(keys >> bits)).tolist()
    return (keys[start:stop] for start, stop in pairwise([*starts, len(keys)]))
