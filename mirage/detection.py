"""In which language a text is written.

The detector is py3langid: a naive Bayes classifier over byte sequences whose scores are divided by the square root of
the text's length in bytes, then normalised to sum to 1 over the languages that compete. It needs no network.

    detect("Hà Nội là thủ đô.")     # "vi"; None where no language is likely enough
    language_probabilities(text)    # of the 18 languages of `LANGUAGES`, which compete among themselves
    language_probabilities(text, every=True)    # of every language that the model knows
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from mirage.languages import LANGUAGES, base, language

DECIDED = 0.5
"""A text in which no language reaches this probability is too short, or too mixed, to tell: it has no value."""
_LABELS = {"nb": "no"}
"""Codes that the model writes otherwise: its Norwegian is Bokmål."""


@cache
def _identifier(*, every: bool) -> Any:
    """The detector, loaded once a process at first use (half a second)."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    if not every:
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
    shares: dict[str, float] = defaultdict(float)
    for label, share in _identifier(every=every).rank(text):
        # The model has two classes for a language in two scripts.
        shares[language(label).code] += share
    return dict(shares)


def label(code: str) -> str:
    """The code under which the detector knows a language: without script and region."""
    return _LABELS.get(base(code), base(code))


def detect(text: str) -> str | None:
    """Code of the language that a text is most likely written in, of all that the model knows.

    None where no language reaches `DECIDED`: a few Latin letters, no letters, many languages.
    """
    if not any(map(str.isalpha, text)):
        return None
    shares = language_probabilities(text, every=True)
    likeliest = max(shares, key=lambda code: shares[code])
    return likeliest if shares[likeliest] >= DECIDED else None
