"""Overlap of an answer's wording with the reference system's answer."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, each
from mirage.text import languages

Tokenizer = Literal["char", "intl", "zh"]
TOKENIZERS: dict[str, Tokenizer] = {"ja": "char", "ko": "char", "th": "char", "zh": "zh"}
"""sacreBLEU's tokenizer by language; for all others `intl`, or `char` in unspaced scripts. Japanese, Korean and Thai
are compared by character, which needs no dictionary.
"""


def _tokenizer(code: str) -> Tokenizer:
    entry = languages.language(code)
    if entry.script in ("Hans", "Hant", "Hani"):
        return "zh"
    return TOKENIZERS.get(entry.base, "intl" if entry.spaced else "char")


def bleu(answer: str, reference: str, language: str) -> float:
    """Return the sentence BLEU of an answer against one reference: float in [0, 1].

    sacreBLEU's score on its own tokens, divided by 100, with exponential smoothing and effective order, so that a short
    answer equal to its reference scores 1.

    Args:
        answer: the answer.
        reference: the reference.
        language: code of the query's language, which selects the tokenizer.
    """
    metric = _metric(_tokenizer(language))
    # sacreBLEU caches the words of 65,536 texts, which may be long; keep those of one answer and its reference.
    tokenize: Any = type(metric.tokenizer).__call__
    tokenize.cache_clear()
    return min(float(metric.sentence_score(answer, [reference]).score) / 100, 1.0)


@cache
def _metric(tokenizer: Tokenizer) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=tokenizer, effective_order=True)


def rouge_l(answer: Sequence[str], reference: Sequence[str]) -> float:
    """Return the ROUGE-L F1 of two word sequences: twice their longest common subsequence over their total length.

    Source: Lin 2004, with equal weights of precision and recall. 0 if either has no words.
    """
    from rapidfuzz.distance import LCSseq

    shared = LCSseq.similarity(answer, reference)
    return 2 * shared / (len(answer) + len(reference)) if shared else 0.0


def measure(answer: MeasuredAnswer) -> tuple[Measured, ...]:
    """Return BLEU and ROUGE-L of the answer part, or reasons."""
    if isinstance(answer.reference, str):
        return (answer.reference,) * 2
    if answer.answer is None:
        return ("no answer part",) * 2
    if not answer.reference.answer:
        return ("the reference has no answer part",) * 2
    return (
        bleu(answer.answer, answer.reference.answer, answer.language),
        rouge_l(answer.answer_words, answer.reference.answer_words),
    )


_RULE = (
    " Measured on the answer parts (the whole answer where it marks none), without citations. 0 where they share"
    " nothing, 1 where they are the same; null for the reference itself, where it has no answer to the query, and"
    " where the answer has no answer part. Not comparable between languages."
)
_SOURCE = "MIRAGE-Bench, section 4.1 (the reference there: GPT-4). "

FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="answer_bleu",
            title="Answer BLEU",
            meaning="Sentence BLEU of the answer against the reference system's answer, or, unless a system is named,"
            " against the query's written reference answer." + _RULE,
            source=_SOURCE + "Its program takes sacreBLEU's default tokeniser, 13a, in every language"
            " (mirage_bench/evaluate/rouge_and_blue.py); ours zh for Chinese, char for Japanese, Korean and Thai, intl"
            " for all others.",
            needs=("answers", "reference"),
        ),
        FeatureSpec(
            name="answer_rougeL",
            title="Answer ROUGE-L",
            meaning="ROUGE-L F1, by the longest common subsequence of words, of the answer against the reference"
            " system's answer, or, unless a system is named, against the query's written reference answer. Words are"
            " folded in case; in Chinese, Japanese and Thai script each character is one." + _RULE,
            source=_SOURCE + "Its program tokenises by language, and stems in nine of them"
            " (mirage_bench/evaluate/rouge_and_blue.py); ours takes words of any script, unstemmed.",
            needs=("answers", "reference"),
        ),
    ),
    measure=each(measure),
)
