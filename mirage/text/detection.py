"""Language detection.

The detector is py3langid: a naive Bayes classifier over byte sequences whose scores are divided by the square root of
the text's length in bytes, then normalised to sum to 1 over the competing languages. It needs no network.

    detect("Hà Nội là thủ đô.")     # "vi"; None if no language is likely enough
    detect_set(texts)               # related texts: short texts take a language of the others
    language_probabilities(text)    # of the 18 languages of `LANGUAGES` only
    language_probabilities(text, every=True)    # of every language of the model
    probabilities_of(texts)         # batched, several times as fast
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mirage.text.languages import LANGUAGES, WORDS, base, language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DECIDED = 0.5
"""Minimum probability to detect a language; a text without is too short or too mixed."""
_STATES = 1_000_000
"""Bytes of texts of similar length, each padded to the longest, that are processed in one batch."""
_LABELS = {"nb": "no"}
"""Codes that the model labels differently: its Norwegian is Bokmål."""


@cache
def _model() -> Any:
    """Load the detector with all of its languages, once per process at first use (half a second)."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _identifier(*, every: bool) -> Any:
    """Return the detector for all of its languages, or for the 18; both share the automaton."""
    if every:
        return _model()
    identifier = copy(_model())
    identifier.set_languages([code for code in LANGUAGES if code in identifier.nb_classes])
    return identifier


# Texts repeat: 88,469 published NoMIRACL answers are 34,179 different texts.
@lru_cache(maxsize=4_096)
def language_probabilities(text: str, *, every: bool = False) -> Mapping[str, float]:
    """Return the probability of each language for a text, by code; they sum to 1.

    A text without usable input (no letters, or a few Latin letters) gives a uniform distribution.

    Args:
        text: the text.
        every: let all languages of the model compete instead of the 18. Close relatives, such as Portuguese and
            Galician, then share the probability of a short text.
    """
    data = _encode(text)
    (shares,) = _shares([data], _walk([data]), every=every)
    return dict(sorted(shares.items(), key=lambda share: -share[1]))


def probabilities_of(texts: Sequence[str], *, every: bool = False) -> list[Mapping[str, float]]:
    """Return `language_probabilities` of many texts, computed in batches.

    Args:
        texts: the texts; duplicates are processed once.
        every: let all languages of the model compete instead of the 18.

    Returns:
        The probabilities of each text, in order.
    """
    different = list(dict.fromkeys(texts))
    encoded = [_encode(text) for text in different]
    shares = dict(zip(different, _shares(encoded, _walk(encoded), every=every), strict=True))
    return [shares[text] for text in texts]


def _shares(
    encoded: Sequence[bytes], features: Sequence[npt.NDArray[np.int32]], *, every: bool
) -> Iterator[dict[str, float]]:
    """Yield the probability of each language for encoded texts with these features.

    Sums use double precision: in single precision, as in the detector, rounding would depend on the processor.
    """
    import numpy as np

    prior = np.asarray(_identifier(every=every).nb_pc, dtype=np.float64)
    codes, order, starts = _classes(every=every)
    for data, met in zip(encoded, features, strict=True):
        scores = (_sums(met, every=every) + prior) / np.sqrt(len(data) or 1) if len(met) else np.zeros_like(prior)
        scores = np.exp(scores - scores.max())
        # A language with two scripts has two classes.
        yield dict(zip(codes, np.add.reduceat((scores / scores.sum())[order], starts).tolist(), strict=True))


def _sums(features: npt.NDArray[np.int32], *, every: bool) -> npt.NDArray[np.float64]:
    """Return the weighted log probabilities of the features of a text by class."""
    import numpy as np

    met, counts = np.unique(features, return_counts=True)
    return np.asarray(np.log1p(counts) @ _weights(every=every)[met].astype(np.float64, copy=False))


@cache
def _classes(*, every: bool) -> tuple[tuple[str, ...], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the languages of the model, the order of its classes by language, and the first class of each in it."""
    import numpy as np

    names = _codes(every=every)
    codes = tuple(dict.fromkeys(names))
    index = np.array([codes.index(name) for name in names])
    order = np.argsort(index, kind="stable")
    return codes, order, np.searchsorted(index[order], np.arange(len(codes)))


@cache
def _codes(*, every: bool) -> tuple[str, ...]:
    """Return the language code of each class of the model."""
    return tuple(language(name).code for name in _identifier(every=every).nb_classes)


def _encode(text: str) -> bytes:
    """Encode a text as the detector reads it."""
    text = text.lower() if text.isupper() else text
    return unicodedata.normalize("NFC", text).encode("utf8", errors="surrogatepass")


@cache
def _automaton() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.intp], npt.NDArray[np.int32]]:
    """Return the detector's automaton: next states by row and byte, the row of each state, and completed features."""
    import numpy as np

    identifier = _model()
    moves = np.frombuffer(identifier.tk_nextmove, dtype=np.uint32)
    rows = np.asarray(identifier.tk_row, dtype=np.intp) << 8
    return moves, rows, np.asarray(identifier.tk_output, dtype=np.int32)


@cache
def _weights(*, every: bool) -> Any:
    """Return the model's log probabilities, one row per feature.

    They are in double precision for the 18 languages; for all languages they stay in half precision, since double would
    take 114 MB.
    """
    import numpy as np

    table = _identifier(every=every).nb_ptc
    return table if every else np.ascontiguousarray(table, dtype=np.float64)


def _walk(texts: Sequence[bytes]) -> list[npt.NDArray[np.int32]]:
    """Return the features that the automaton completes on each text, in byte order, with repetitions."""
    import numpy as np

    moves, rows, output = _automaton()
    features = [np.zeros(0, dtype=np.int32)] * len(texts)
    by_length = sorted((i for i, text in enumerate(texts) if text), key=lambda i: -len(texts[i]))
    while by_length:
        longest = len(texts[by_length[0]])
        block = by_length[: max(1, _STATES // longest)]
        del by_length[: len(block)]
        lengths = np.array([len(texts[i]) for i in block])
        # Rows are positions and columns texts, longest first, so that unfinished texts are a prefix.
        padded = b"".join(texts[i].ljust(longest, b"\0") for i in block)
        letters = np.ascontiguousarray(np.frombuffer(padded, dtype=np.uint8).reshape(len(block), longest).T)
        still = len(block) - np.searchsorted(lengths[::-1], np.arange(1, longest + 1))
        reached = np.zeros(letters.shape, dtype=np.uint32)
        states = np.zeros(len(block), dtype=np.uint32)
        for letter, row, reading in zip(letters, reached, still.tolist(), strict=True):
            moves_of = rows.take(states[:reading])
            moves_of += letter[:reading]
            # All indices are valid; without `clip`, NumPy would buffer the output.
            states = moves.take(moves_of, out=row[:reading], mode="clip")
        for i, met, length in zip(block, output[reached.T], lengths.tolist(), strict=True):
            features[i] = met[:length][met[:length] >= 0]
    return features


def label(code: str) -> str:
    """Return the detector's code of a language: without script and region."""
    return _LABELS.get(base(code), base(code))


RELATIVES: dict[str, str] = WORDS["relatives"]
"""Languages that short texts are mistaken for, each with its far more common relative."""


CLOSE = (
    ("hi", "ne", "mr"),
    ("no", "da", "nn"),
    ("cs", "sk"),
    ("hr", "sr"),
    ("id", "ms"),
    ("pt", "gl"),
    ("de", "lb"),
    ("zh", "yue"),
)
"""Close relatives, which a set of texts tells apart better than a single text does (`_settle_relatives`)."""


def language_shares(text: str, named: Collection[str] = ()) -> Mapping[str, float]:
    """Return the probability of each language of the model, with relatives merged.

    Args:
        text: the text.
        named: codes given by the text's source; relatives among them compete separately.
    """
    return merge_relatives(language_probabilities(text, every=True), frozenset(named))


def merge_relatives(probabilities: Mapping[str, float], named: frozenset[str]) -> dict[str, float]:
    """Return the probability of each language, with relatives merged, from the most probable on."""
    usual = _common_relatives(named)
    shares: dict[str, float] = {}
    for code, share in sorted(probabilities.items(), key=lambda share: -share[1]):
        name = usual[code]
        shares[name] = shares.get(name, 0.0) + share
    return shares


@lru_cache(maxsize=64)
def _common_relatives(named: frozenset[str]) -> dict[str, str]:
    """Map each language of the model to itself, or to its relative that is named or common."""
    own = {label(code) for code in named}
    relative = {code: RELATIVES.get(code, code) for code in map(label, _codes(every=True))}
    for group in CLOSE:
        if chosen := min((code for code in own if RELATIVES.get(code, code) in group), default=None):
            relative |= {code: chosen for code, other in relative.items() if other in group and other not in own}
    return {code: code if label(code) in own else language(relative[label(code)]).code for code in _codes(every=True)}


def detect(text: str, named: Collection[str] = ()) -> str | None:
    """Return the code of the most likely language of a text, among all of the model; None below `DECIDED`.

    Args:
        text: the text.
        named: codes given by the text's source (`language_shares`).
    """
    return _decide(text, language_probabilities(text, every=True), frozenset(named))


def _decide(text: str, probabilities: Mapping[str, float], named: frozenset[str]) -> str | None:
    """Return the code of the most likely language of a text with these probabilities; None below `DECIDED`."""
    if not any(map(str.isalpha, text)):
        return None
    shares = merge_relatives(probabilities, named)
    likeliest = max(shares, key=shares.__getitem__)
    return likeliest if shares[likeliest] >= DECIDED else None


_BATCH = 1024
"""Texts of a set whose probabilities of all languages are held at once."""
_LEAST = 1e-5
"""Probability below which a language of a text is not held."""
_BRIEF = 60
"""Bytes below which detection on a single text is unreliable."""
_SURE = 0.95
"""Probability from which a text may be in a language outside the set."""
_PLAUSIBLE = 0.01
"""Total probability of a set's languages below which a text is in none of them."""
_STRAY = 0.1
"""Share of a set's texts below which a language does not belong to the set."""
_HELD = 4
"""Texts of a close relative from which a set holds it."""
_STEPS = 60
"""Steps of the EM algorithm for the weights of close relatives."""
_PRESENT = 0.05
"""Share of a text's letters below which a script is not the text's."""
_TOGETHER = 100
"""Short texts of one script that are read to tell their language."""
_QUOTED = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"]*"|＂[^＂]*＂|“[^“”]*”|”[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|»[^«»]*«|‹[^‹›]*›|›[^‹›]*‹"""
    r"""|「[^「」]*」|『[^『』]*』|《[^《》]*》|〈[^〈〉]*〉|﹁[^﹁﹂]*﹂|﹃[^﹃﹄]*﹄|〝[^〝〞〟]*[〞〟]"""
    r"""|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))+'(?!\w)|(?<!\w)[‘‚](?:[^‘‚’\n]|(?<=\w)’(?=\w))+[’‘](?!\w)|^>.*$""",
    re.DOTALL | re.MULTILINE,
)
_LEFT = 4
"""Letters of a text outside quotation marks from which these letters tell its language."""
_READ = 1_000
"""Characters of a text whose scripts are counted."""
_NAME = re.compile(r"\b\w*[A-Z0-9]\w*\b")
"""Words that may be names, which every language writes in Latin letters."""
_SCRIPTS: dict[str, str] = WORDS["scripts"]["letters"]
"""First words of the Unicode names of a script's letters, by its ISO 15924 code."""
_SEVERAL: dict[str, str] = WORDS["scripts"]["further"]
"""Further scripts of languages that are written in two."""
_KNOWN = frozenset(" ".join(_SCRIPTS.values()).split())


@lru_cache(maxsize=1024)
def _scripts_of(code: str) -> frozenset[str]:
    """Return the scripts of a language; every one if they are not known."""
    known = _SCRIPTS.get(language(code).script)
    return frozenset(known.split()) | {_SEVERAL.get(base(code), "")} if known else _KNOWN


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0] if letter.isalpha() else ""


def _scripts(text: str) -> Counter[str]:
    """Count the letters of a text by script; of a text in several, without names in Latin letters."""
    counts = Counter(map(_script_of, text[:_READ]))
    if counts["LATIN"]:
        counts["LATIN"] = sum(_script_of(letter) == "LATIN" for letter in _NAME.sub("", text[:_READ]))
    total = sum(counts[script] for script in _KNOWN)
    return Counter({script: n for script in _KNOWN if (n := counts[script]) and n >= _PRESENT * total})


def fits_script(code: str, text: str) -> bool:
    """Return whether a language may be that of a text by its script; true for a text without letters."""
    found = _scripts(strip_quotations(text))
    return not found or not _scripts_of(code).isdisjoint(found)


def strip_quotations(text: str) -> str:
    """Return a text without quotations, which may be in another language; the whole text if nothing else is left."""
    rest = _QUOTED.sub(" ", text)
    letters = sum(map(str.isalpha, rest)) if len(rest) < len(text) else 0
    return rest if letters >= _LEFT else text


class SetLanguage(NamedTuple):
    """The language of a text of a set."""

    code: str | None
    """The language; None if the text has too few letters, or none that is likely enough."""
    alone: str | None
    """The language that the text would have by itself."""


def detect_set(texts: Sequence[str], named: Mapping[str, int] | None = None) -> list[SetLanguage]:
    """Detect the languages of related texts.

    Quotations do not count. A text takes one of the set's usual languages, if that is written in its script, unless its
    own language is certain. Short texts in another script than the usual languages are detected together.

    Args:
        texts: the texts.
        named: number of further texts known to be in a language, by its code.
    """
    bare = [strip_quotations(text) for text in texts]
    held: list[dict[str, float]] = []
    for start in range(0, len(bare), _BATCH):
        held += [
            {code: share for code, share in shares.items() if share >= _LEAST}
            for shares in probabilities_of(bare[start : start + _BATCH], every=True)
        ]
    own = frozenset(named or ()).union(*CLOSE)
    held = [merge_relatives(shares, own) for shares in held]
    folded = _settle_relatives(held, frozenset(map(label, named or ())))
    alone = [_decide(text, shares, own) for text, shares in zip(bare, held, strict=True)]
    brief = [len(text.encode(errors="replace")) < _BRIEF for text in bare]
    decided = [code for code, short in zip(alone, brief, strict=True) if code is not None and not short]
    counts = Counter(named or {})
    counts.update(decided or filter(None, alone))
    usual = [code for code, n in counts.items() if n >= _STRAY * counts.total()]
    often = {code for code, n in Counter(alone).items() if n >= _STRAY * len(texts)}
    codes: list[str | None] = []
    apart: dict[str, list[int]] = {}
    for place, (text, code, shares) in enumerate(zip(bare, alone, held, strict=True)):
        if code in usual or not any(map(str.isalpha, text)):
            codes.append(code)
            continue
        found = _scripts(text)
        fitting = [known for known in usual if not found or not _scripts_of(known).isdisjoint(found)]
        if fitting:
            stray = len(usual) == 1 and (code is None or code not in often)
            codes.append(_join(code, shares, fitting, found, brief=brief[place], stray=stray))
        else:
            codes.append(code)
            if found:
                apart.setdefault(max(found, key=found.__getitem__), []).append(place)
    for places in apart.values():
        code = _detect_together([held[place] for place in places[:_TOGETHER]])
        for place in places:
            if brief[place] and held[place].get(str(alone[place]), 0.0) < _SURE:
                codes[place] = code or codes[place]
    return [SetLanguage(code, folded.get(place, alone[place])) for place, code in enumerate(codes)]


def _settle_relatives(held: Sequence[dict[str, float]], named: Collection[str]) -> dict[int, str]:
    """Give the probability of close relatives in each text to one of them, in place.

    A set holds a language that is named, the most frequent relative, and any other with a tenth of the texts and at
    least `_HELD`; the weights of relatives are the maximum of the texts' mixture likelihood.

    Returns:
        By index, the relative that a text has by itself, if the set does not hold it.
    """
    import numpy as np

    folded: dict[int, str] = {}
    for group in CLOSE:
        shares = np.array([[text.get(code, 0.0) for code in group] for text in held]).reshape(len(held), len(group))
        likely = np.square(shares + _LEAST)  # the detector's are too flat
        own = shares.sum(axis=1) >= DECIDED
        weights = np.full(len(group), 1 / len(group))
        for _ in range(_STEPS if own.any() else 0):
            parts = likely[own] * weights
            weights = (parts / parts.sum(axis=1, keepdims=True)).mean(axis=0)
        found = (likely * weights).argmax(axis=1)
        counts = np.bincount(found[own], minlength=len(group))
        known = [place for place, code in enumerate(group) if code in named]
        most = [] if known else [int(weights.argmax())]
        there = {*known, *most, *np.flatnonzero(counts >= max(_HELD, _STRAY * own.sum())).tolist()}
        absent = np.array([place not in there for place in range(len(group))])
        kept = np.where(absent, 0.0, likely * np.maximum(weights, _LEAST)).argmax(axis=1)
        for place in np.flatnonzero(shares.any(axis=1)).tolist():
            text = held[place]
            total = sum(text.pop(code, 0.0) for code in group)
            text[group[kept[place]]] = total
            if own[place] and absent[found[place]]:
                folded[place] = group[found[place]]
    return folded


def _join(
    code: str | None,
    shares: Mapping[str, float],
    fitting: Sequence[str],
    found: Collection[str],
    *,
    brief: bool,
    stray: bool,
) -> str | None:
    """Return the language of a text that alone is in none of the set's languages: one of the set's, if plausible.

    Args:
        code: its language by itself.
        shares: its probability by language.
        fitting: the set's usual languages in its scripts.
        found: its scripts.
        brief: whether it is too short for a certain language of its own.
        stray: whether the set has one language, and hardly a text in that of this one.
    """
    others = [known for known in fitting if code is not None and _scripts_of(known).isdisjoint(_scripts_of(code))]
    mixed = [known for known in others if not _scripts_of(known).isdisjoint(found)]
    sure = code is not None and shares[code] >= _SURE
    if sure and not brief and not mixed:
        return code
    likeliest = max(fitting, key=lambda known: (known in mixed, shares.get(known, 0.0), known))
    plausible = sum(shares.get(known, 0.0) for known in fitting) >= _PLAUSIBLE
    return likeliest if mixed or plausible or (stray and not sure) else code


def _detect_together(texts: Sequence[Mapping[str, float]]) -> str | None:
    """Return the language that short texts have together; None below `DECIDED`."""
    scores = {
        code: sum(math.log(max(shares.get(code, 0.0), _LEAST)) for shares in texts)
        for code in {code for shares in texts for code in shares}
    }
    likeliest = max(scores, key=scores.__getitem__)
    total = sum(math.exp(score - scores[likeliest]) for score in scores.values())
    return likeliest if 1 / total >= DECIDED else None
