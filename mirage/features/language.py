"""In which language a reply is written.

The detector is py3langid restricted to the 18 languages: a naive Bayes classifier over byte sequences whose scores are
divided by the square root of the text's length in bytes, then normalised over the 18 to sum to 1. It needs no network.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from mirage.answers import strip_markup
from mirage.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, each
from mirage.languages import LANGUAGES

DECIDED = 0.5
"""A text in which no language reaches this probability is too short, or too mixed, to tell: it has no value."""
DECIMALS = 4
"""Probabilities are given to this many decimals. A mean moves by at most 0.00005; the table shrinks by a third."""


@cache
def _identifier() -> Any:
    """The detector, loaded once a process at first use (half a second)."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([code for code in LANGUAGES if code in identifier.nb_classes])
    return identifier


# Replies repeat: 88,469 published NoMIRACL replies are 34,179 different texts.
@lru_cache(maxsize=4_096)
def language_probabilities(text: str) -> Mapping[str, float]:
    """Probability of each of the 18 languages for a text as it stands; they sum to 1.

    A text without anything the detector knows (no letters, some words of two or three Latin letters) gives 1/18 each.
    """
    return dict(_identifier().rank(text))


def measure(reply: MeasuredAnswer) -> tuple[Measured, ...]:
    """Probability of the question's language and of English, or why there is none."""
    text = strip_markup(reply.text, reply.mentions)
    if not any(character.isalpha() for character in text):
        return ("no letters",) * 2
    by_language = language_probabilities(text)
    if max(by_language.values()) < DECIDED:
        return ("no language is likely enough",) * 2
    english = round(by_language["en"], DECIMALS)
    if reply.language not in by_language:
        return "the detector does not know the language", english
    return round(by_language[reply.language], DECIMALS), english


_RULE = (
    "Measured on the whole reply without citations and without Reason and Answer markers. No value where nothing but"
    f" digits and signs is left, or where no language reaches {DECIDED} (most replies of up to four Latin letters, few"
    " of more than twenty; in other scripts two characters mostly suffice)."
)
_SOURCE = (
    "MIRAGE-Bench, section 4.1 (the paper: langid). Its program (mirage_bench/evaluate/language_detection.py) uses"
    " langdetect, for Yoruba lingua with English as the only other language, and cuts the reply at the first blank "
    "line;"
    " ours is one detector for all 18 languages, keeps the whole reply and leaves a failure without a value."
)

FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="target_language",
            title="Target language",
            meaning="Probability that the reply is written in the language of the question. " + _RULE,
            unit="probability",
            low=0,
            high=1,
            direction="higher",
            source=_SOURCE,
            needs=("answers",),
        ),
        FeatureSpec(
            name="english_language",
            title="English",
            meaning="Probability that the reply is written in English. For questions in English the same as"
            " target_language. " + _RULE,
            unit="probability",
            low=0,
            high=1,
            direction="lower",
            source=_SOURCE,
            needs=("answers",),
        ),
    ),
    measure=each(measure),
)
