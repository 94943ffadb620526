"""In which language a text is written.

The detector is py3langid: a naive Bayes classifier over byte sequences whose scores are divided by the square root of
the text's length in bytes, then normalised to sum to 1 over the languages that compete. It needs no network.

    detect("Hà Nội là thủ đô.")     # "vi"; None where no language is likely enough
    detect_set(texts)               # of texts that belong together: brief ones take a language of the others
    language_probabilities(text)    # of the 18 languages of `LANGUAGES`, which compete among themselves
    language_probabilities(text, every=True)    # of every language that the model knows
    probabilities_of(texts)         # the same of many texts, several times as fast
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from mirage.languages import LANGUAGES, base, language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DECIDED = 0.5
"""A text in which no language reaches this probability is too short, or too mixed, to tell: it has no value."""
_SIDE_BY_SIDE = 512
"""Texts of like length that the automaton reads at once: 4 MB of states reached, where they have 2,000 bytes each."""
_SHORT = 64
"""Characters below which a text is looked at alone: that is quick, and such texts come again and again."""
_LONG = 8_000
"""Characters above which a text is looked at alone: every text of a block takes the room of its longest."""
_FEW = 16
"""Texts that are looked at alone, where there are no more of them: a step of the automaton costs as much for one."""
_LABELS = {"nb": "no"}
"""Codes that the model writes otherwise: its Norwegian is Bokmål."""


@cache
def _model() -> Any:
    """The detector with all of its languages, loaded once a process at first use (half a second)."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _identifier(*, every: bool) -> Any:
    """The detector of all of its languages, or of the 18 alone; both share the automaton."""
    if every:
        return _model()
    identifier = copy(_model())
    identifier.set_languages([code for code in LANGUAGES if code in identifier.nb_classes])
    return identifier


# Texts repeat: 88,469 published NoMIRACL answers are 34,179 different texts.
@lru_cache(maxsize=4_096)
def language_probabilities(text: str, *, every: bool = False) -> Mapping[str, float]:
    """Probability of each language for a text as it stands, by code; they sum to 1.

    A text without anything the detector knows (no letters, some words of two or three Latin letters) gives all of them
    the same.

    Args:
        text: the text.
        every: let all languages of the model compete, not the 18 alone. Close relatives then share the probability of
            a short text, as Portuguese and Galician.
    """
    classes, shares = zip(*_identifier(every=every).rank(text), strict=True)
    return _by_language(map(_code, classes), shares)


def probabilities_of(texts: Sequence[str], *, every: bool = False) -> list[Mapping[str, float]]:
    """`language_probabilities` of many texts: the detector's automaton goes through all of them side by side.

    Args:
        texts: the texts; those that repeat are looked at once.
        every: let all languages of the model compete, not the 18 alone.

    Returns:
        The probabilities of each text, in order.
    """
    import numpy as np

    identifier, weights = _identifier(every=every), _weights(every=every)
    different = [text for text in dict.fromkeys(texts) if _SHORT <= len(text) <= _LONG]
    if len(different) <= _FEW:
        different = []
    together = set(different)
    shares = {text: language_probabilities(text, every=every) for text in texts if text not in together}
    encoded = [_encoded(text) for text in different]
    codes = [_code(name) for name in identifier.nb_classes]
    places = np.zeros(len(weights), dtype=np.intp)
    for text, data, features in zip(different, encoded, _walk(encoded), strict=True):
        met, counts = _counted(features, places)
        scores = np.log1p(counts) @ weights[met].astype(np.float32, copy=False) + identifier.nb_pc
        scores *= 1 / math.sqrt(len(data) or 1)
        scores = np.exp(scores - scores.max()) if len(met) else np.ones(len(scores))
        shares[text] = _by_language(codes, (scores / scores.sum()).tolist())
    return [shares[text] for text in texts]


def _by_language(codes: Iterable[str], shares: Iterable[float]) -> Mapping[str, float]:
    """Shares of the model's classes by language: it has two for a language in two scripts."""
    total: dict[str, float] = {}
    for code, share in zip(codes, shares, strict=True):
        total[code] = total.get(code, 0.0) + share
    return total


@cache
def _code(name: str) -> str:
    """The code of the language of one of the model's classes."""
    return language(name).code


def _encoded(text: str) -> bytes:
    """A text as the detector reads it."""
    text = text.lower() if text.isupper() else text
    return unicodedata.normalize("NFC", text).encode("utf8", errors="surrogatepass")


@cache
def _automaton() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.intp], npt.NDArray[np.int32]]:
    """The detector's automaton: next states by row and byte, the row of each state, the feature that it completes."""
    import numpy as np

    identifier = _model()
    moves = np.frombuffer(identifier.tk_nextmove, dtype=np.uint32)
    rows = np.asarray(identifier.tk_row, dtype=np.intp) << 8
    return moves, rows, np.asarray(identifier.tk_output, dtype=np.int32)


@cache
def _weights(*, every: bool) -> Any:
    """The model's logarithms of probabilities, a row for each feature: ready to multiply for the 18 languages; as the
    model has them, of half precision, for all of its languages, which would take 57 MB.
    """
    import numpy as np

    table = _identifier(every=every).nb_ptc
    return table if every else np.ascontiguousarray(table, dtype=np.float32)


def _counted(
    features: npt.NDArray[np.int32], places: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Each different feature and how often it is met, in the order in which the detector meets them first, so that its
    sums of floats are these.

    Args:
        features: features as often as they are met.
        places: room for one number a feature of the model; what it holds does not matter.
    """
    import numpy as np

    order = np.arange(len(features))
    # Of several values for one index NumPy keeps the last, which is the first place here.
    places[features[::-1]] = order[::-1]
    first = places[features]
    new = first == order
    return features[new], np.bincount(first, minlength=len(features))[new].astype(np.float32)


def _walk(texts: Sequence[bytes]) -> list[npt.NDArray[np.int32]]:
    """The features that the automaton completes on each text, in the order of its bytes, as often as they are met."""
    import numpy as np

    moves, rows, output = _automaton()
    features = [np.zeros(0, dtype=np.int32)] * len(texts)
    by_length = sorted((i for i, text in enumerate(texts) if text), key=lambda i: -len(texts[i]))
    for start in range(0, len(by_length), _SIDE_BY_SIDE):
        block = by_length[start : start + _SIDE_BY_SIDE]
        lengths = np.array([len(texts[i]) for i in block])
        longest = int(lengths[0])
        # A row for each position and a column for each text, the longest first, so that those still read are in front.
        padded = b"".join(texts[i].ljust(longest, b"\0") for i in block)
        letters = np.ascontiguousarray(np.frombuffer(padded, dtype=np.uint8).reshape(len(block), longest).T)
        still = len(block) - np.searchsorted(lengths[::-1], np.arange(1, longest + 1))
        reached = np.zeros(letters.shape, dtype=np.uint32)
        states = np.zeros(len(block), dtype=np.uint32)
        for letter, row, reading in zip(letters, reached, still.tolist(), strict=True):
            moves_of = rows.take(states[:reading])
            moves_of += letter[:reading]
            # Every index is one of the table; without `clip`, NumPy would copy what it takes once more.
            states = moves.take(moves_of, out=row[:reading], mode="clip")
        for i, met, length in zip(block, output[reached.T], lengths.tolist(), strict=True):
            features[i] = met[:length][met[:length] >= 0]
    return features


def label(code: str) -> str:
    """The code under which the detector knows a language: without script and region."""
    return _LABELS.get(base(code), base(code))


RELATIVES = {
    "an": "es",
    "ary": "ar",
    "arz": "ar",
    "ast": "es",
    "bs": "hr",
    "ext": "es",
    "gl": "pt",
    "lij": "it",
    "ltg": "lv",
    "ms": "id",
    "nn": "no",
    "pcm": "en",
    "prs": "fa",
    "sco": "en",
    "vec": "it",
    "wuu": "zh",
    "yue": "zh",
}
"""Languages that short texts are mistaken for, each with the far more usual one that it is close to."""


def language_shares(text: str, named: Collection[str] = ()) -> Mapping[str, float]:
    """Return the probability of each language, of all that the model knows, with `RELATIVES` counted for the usual one.

    Args:
        text: the text.
        named: codes that the text's source names; a relative among them competes as a language of its own.
    """
    own = {label(code) for code in named}
    shares: dict[str, float] = {}
    for code, share in language_probabilities(text, every=True).items():
        name = label(code)
        usual = code if name in own else _code(RELATIVES.get(name, code))
        shares[usual] = shares.get(usual, 0.0) + share
    return shares


def detect(text: str, named: Collection[str] = ()) -> str | None:
    """Return the code of the language that a text is most likely written in, of all that the model knows.

    None where no language reaches `DECIDED`: a few Latin letters, no letters, many languages.

    Args:
        text: the text.
        named: codes that the text's source names (`language_shares`).
    """
    if not any(map(str.isalpha, text)):
        return None
    shares = language_shares(text, named)
    likeliest = max(shares, key=lambda code: shares[code])
    return likeliest if shares[likeliest] >= DECIDED else None


_BRIEF = 60
"""Bytes below which a text alone tells its language badly."""
_SURE = 0.95
"""Probability from which even a brief text is not taken for another language."""
_PLAUSIBLE = 0.01
"""Probability of the languages of a set together below which a text is in none of them."""
_STRAY = 0.1
"""Share of a set's texts below which a language is no language of the set."""


def detect_set(texts: Sequence[str], named: Mapping[str, int] | None = None) -> list[str | None]:
    """Return the language of each of some texts that belong together: a brief text takes a language of the set.

    Args:
        texts: the texts.
        named: how many texts beside these are known to be in a language, by its code.
    """
    counts = Counter(dict(named or {}))
    detected = [detect(text, counts) for text in texts]
    brief = [len(text.encode(errors="replace")) < _BRIEF for text in texts]
    decided = [code for code, short in zip(detected, brief, strict=True) if code is not None and not short]
    own = tuple(counts)
    counts.update(decided or filter(None, detected))
    usual = [code for code, n in counts.items() if n >= _STRAY * counts.total()]
    return [
        _settled(text, code, usual, own) if short and usual else code
        for text, code, short in zip(texts, detected, brief, strict=True)
    ]


def _settled(text: str, detected: str | None, usual: Sequence[str], named: Collection[str]) -> str | None:
    """The language of a brief text: one of the set's, unless it is surely or plausibly in none of them."""
    if detected in usual or not any(map(str.isalpha, text)):
        return detected
    shares = language_shares(text, named)
    if detected is not None and shares[detected] >= _SURE:
        return detected
    likeliest = max(usual, key=lambda code: (shares.get(code, 0.0), code))
    return likeliest if sum(shares.get(code, 0.0) for code in usual) >= _PLAUSIBLE else detected
