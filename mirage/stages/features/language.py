"""Language features: in which language an answer is written.

The detector is that of `mirage.text.detection`. For queries in one of the 18 languages of MIRACL only these compete;
for any other language all languages of the detector compete.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools
from mirage.text.answers import strip_markup
from mirage.text.detection import DECIDED, label, merge_relatives, probabilities_of
from mirage.text.languages import LANGUAGES, base

DECIMALS = 4
"""Decimals of probabilities. A mean moves by at most 0.00005; the table shrinks by a third."""


def measure(
    answers: Sequence[MeasuredAnswer], _tools: Tools, _wanted: Collection[str]
) -> Iterator[tuple[Measured, Measured]]:
    """Return the probabilities of the query's language and of English for each answer, or reasons."""
    texts = [strip_markup(answer.text, answer.mentions) for answer in answers]
    others = [base(answer.language) not in LANGUAGES for answer in answers]
    shares: list[Mapping[str, float] | None] = [None] * len(answers)
    for every in (False, True):
        rows = [i for i, other in enumerate(others) if other is every and any(map(str.isalpha, texts[i]))]
        for row, by_language in zip(rows, probabilities_of([texts[i] for i in rows], every=every), strict=True):
            shares[row] = by_language
    return map(_read_shares, answers, shares)


def _read_shares(answer: MeasuredAnswer, by_language: Mapping[str, float] | None) -> tuple[Measured, Measured]:
    """Return both values of an answer from its probabilities by language, None if it has no letters."""
    if by_language is None:
        return ("no letters",) * 2
    own = label(answer.language)
    if base(answer.language) not in LANGUAGES:
        # Its rare relatives count as it, as when the language of a query is detected.
        by_language = {label(code): share for code, share in merge_relatives(by_language, frozenset({own})).items()}
    if max(by_language.values()) < DECIDED:
        return ("no language is likely enough",) * 2
    english = round(by_language["en"], DECIMALS)
    if own not in by_language:
        return "the detector does not support the language", english
    return round(by_language[own], DECIMALS), english


_RULE = (
    "Measured on the whole answer without citations and without Reason and Answer markers. No value where nothing but"
    f" digits and signs is left, or where no language reaches {DECIDED} (most answers of up to four Latin letters, few"
    " of more than twenty; in other scripts two characters mostly suffice). The 18 languages of MIRACL compete among"
    " themselves; for queries in another language all of the detector's compete, rare relatives (Southern Kurdish) as"
    " the common one. Regional variants count as one."
)
_SOURCE = (
    "MIRAGE-Bench, section 4.1 (the paper: langid). Its program (mirage_bench/evaluate/language_detection.py) uses"
    " langdetect, for Yoruba lingua with English as the only other language, and cuts the answer at the first blank "
    "line;"
    " ours is one detector for all languages, keeps the whole answer and leaves a failure without a value."
)

FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="target_language",
            title="Target language",
            meaning="Probability that the answer is written in the language of the query. " + _RULE,
            unit="probability",
            source=_SOURCE,
            needs=("answers",),
        ),
        FeatureSpec(
            name="english_language",
            title="English",
            meaning="Probability that the answer is written in English. For queries in English the same as"
            " target_language. " + _RULE,
            unit="probability",
            direction="lower",
            source=_SOURCE,
            needs=("answers",),
        ),
    ),
    measure=measure,
)
