"""Systems without a model: a lower bound for every table and, each with one known flaw, a test case for every
feature.

| system | what it answers |
|---|---|
| `baseline/lead` | the first sentence of the first passage |
| `baseline/bm25` | the sentence of any passage that matches the query best |
| `baseline/bm25-3` | the three best-matching sentences |
| `baseline/bm25-uncited` | the same three, without citations |
| `baseline/bm25-miscited` | the same three, each citing a passage that it is not from, irrelevant ones first |
| `baseline/abstain` | that the passages have no answer, in the language of the query |
| `baseline/english` | in English, whatever the language, citing the passages of the three |
| `baseline/extract` | the best sentence, the rest of its passage, and the best sentence of each of the next three |
| `baseline/half` | the first half of the sentences of `extract` |
| `baseline/no-best` | as `extract`, without the passage that has the best sentence |
| `baseline/verbose` | every sentence of every passage, those that match best first |
| `baseline/latin` | as `extract` for a query in Latin script, as `english` for any other |
| `baseline/cautious` | as `extract`, or as `abstain` if no passage has enough words of the query |

All answer in the form the RAG prompt asks for (`##Reason: .. ##Answer: ..`), citing passages by id: their sentences are
the reason, the first of them the answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import UnknownName
from mirage.text.answers import compose_answer
from mirage.text.languages import base
from mirage.text.languages import language as language_of
from mirage.text.segmentation import sentences, terms

if TYPE_CHECKING:
    import pyarrow as pa

TEMPLATE = "rag"
K1, B = 1.2, 0.75
"""BM25's saturation and length normalisation, at customary values (Robertson and Zaragoza 2009, section 3.6)."""

COVERAGE = 0.2
"""Minimum share of the query's words, weighted by idf over the passages, in a passage for `baseline/cautious` to
answer. Words alone do not determine which queries are answerable: this is a deliberate flaw, not a model of abstention.
"""

Claim = tuple[str, str | None]
"""A sentence and the passage it cites, if any."""


def idf(n: int, of: int) -> float:
    """Return the weight of a term in n of N documents: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log1p((of - n + 0.5) / (n + 0.5))


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """Score documents against a query, both as terms, by Okapi BM25 with an idf that is never negative.

    The weight of a term is idf * f * (K1 + 1) / (f + K1 * (1 - B + B * length / mean length)), with idf =
    ln(1 + (N - n + 0.5) / (n + 0.5)). Source: Robertson and Zaragoza 2009, equation 3.15, the idf as in Lucene.
    """
    counts = [Counter(document) for document in documents]
    mean = sum(map(len, documents)) / max(len(documents), 1) or 1.0
    weight = {term: idf(sum(term in count for count in counts), len(documents)) for term in set(query)}
    scores = []
    for document, count in zip(documents, counts, strict=True):
        damping = K1 * (1 - B + B * len(document) / mean)
        scores.append(math.fsum(weight[t] * count[t] * (K1 + 1) / (count[t] + damping) for t in query if count[t]))
    return scores


@dataclass(frozen=True)
class BaselineInput:
    """Input of a baseline."""

    language: str
    """Code of its language."""
    text: str | None
    """The query; null if its text is unknown."""
    passages: tuple[tuple[str, str], ...]
    """Id and text of each passage with a known text, in prompt order."""
    relevant: frozenset[str] = frozenset()
    """Ids of the passages labelled relevant; used only to cite wrongly with certainty."""

    @cached_property
    def sentences(self) -> list[tuple[str, str]]:
        """Every sentence with its passage, in order."""
        return [
            (text[start:end], passage)
            for passage, text in self.passages
            for start, end in sentences(text, self.language)
        ]

    @cached_property
    def by_match(self) -> list[tuple[str, str]]:
        """Every sentence by match with the query, best first; ties in order."""
        scores = bm25(terms(self.text or ""), [terms(sentence) for sentence, _ in self.sentences])
        order = sorted(range(len(scores)), key=lambda position: (-scores[position], position))
        return [self.sentences[position] for position in order]

    @cached_property
    def best(self) -> list[tuple[str, str]]:
        """The three sentences that match the query best."""
        return self.by_match[:3]

    def best_of(self, passage: str) -> tuple[str, str]:
        """Return the sentence of a passage that matches the query best; ties in order."""
        return next(claim for claim in self.by_match if claim[1] == passage)

    @cached_property
    def ranked(self) -> list[str]:
        """Ids of the passages with a sentence by match with the query, best first; ties in order."""
        with_sentences = dict.fromkeys(passage for _, passage in self.sentences)
        texts = [(passage, terms(text)) for passage, text in self.passages if passage in with_sentences]
        scores = bm25(terms(self.text or ""), [text for _, text in texts])
        order = sorted(range(len(scores)), key=lambda position: (-scores[position], position))
        return [texts[position][0] for position in order]

    @cached_property
    def coverage(self) -> float:
        """Largest idf-weighted share of the query's terms in a passage; from 0 to 1."""
        query = sorted(set(terms(self.text or "")))
        documents = [set(terms(text)) for _, text in self.passages]
        weight = {term: idf(sum(term in document for document in documents), len(documents)) for term in query}
        total = math.fsum(weight.values())
        shares = (math.fsum(weight[term] for term in query if term in document) for document in documents)
        return max(shares, default=0.0) / total if total else 0.0

    def without(self, passage: str) -> BaselineInput:
        """Return the same input without one passage."""
        return replace(self, passages=tuple(part for part in self.passages if part[0] != passage))


def _lead(given: BaselineInput) -> Sequence[Claim]:
    return given.sentences[:1]


def _bm25(given: BaselineInput) -> Sequence[Claim]:
    return given.best[:1]


def _bm25_3(given: BaselineInput) -> Sequence[Claim]:
    return given.best


def _strip_citations(given: BaselineInput) -> Sequence[Claim]:
    return [(sentence, None) for sentence, _ in given.best]


def _cite_others(given: BaselineInput) -> Sequence[Claim]:
    used = {passage for _, passage in given.best}
    others = sorted(
        (passage for passage, _ in given.passages),
        key=lambda passage: (passage in given.relevant, passage in used),
    )
    claims: list[Claim] = []
    for sentence, source in given.best:
        other = next((passage for passage in others if passage != source), None)
        if other is not None:
            others.remove(other)
            others.append(other)
        claims.append((sentence, other))
    return claims


_ENGLISH = (
    "Of all the passages, this one has the most words in common with the question.",
    "This passage also mentions what the question is about.",
    "More on the same subject can be read here.",
)


def _english(given: BaselineInput) -> Sequence[Claim]:
    return [*zip(_ENGLISH, dict.fromkeys(passage for _, passage in given.best), strict=False)]


def _extract(given: BaselineInput) -> Sequence[Claim]:
    if not given.best:
        return []
    best = given.best[0]
    rest = [claim for claim in given.sentences if claim[1] == best[1] and claim != best]
    others = given.without(best[1])
    return [best, *rest, *(others.best_of(passage) for passage in others.ranked[:3])]


def _half(given: BaselineInput) -> Sequence[Claim]:
    claims = _extract(given)
    return claims[: (len(claims) + 1) // 2]


def _no_best(given: BaselineInput) -> Sequence[Claim]:
    return _extract(given.without(given.best[0][1])) if given.best else []


def _verbose(given: BaselineInput) -> Sequence[Claim]:
    return given.by_match


def _latin(given: BaselineInput) -> Sequence[Claim]:
    if language_of(given.language).script == "Latn":
        return _extract(given)
    return [*zip(_ENGLISH, dict.fromkeys(passage for _, passage in _extract(given)), strict=False)]


ABSTENTIONS: dict[str, tuple[str, str]] = {
    "ar": (
        "لا توجد إجابة عن هذا السؤال في أي من الفقرات المعطاة.",
        "لا يمكن الإجابة عن هذا السؤال اعتمادًا على هذه الفقرات.",
    ),
    "bn": (
        "দেওয়া অনুচ্ছেদগুলোর কোনোটিতে এই প্রশ্নের উত্তর নেই।",
        "এই অনুচ্ছেদগুলো থেকে প্রশ্নটির উত্তর দেওয়া সম্ভব নয়।",
    ),
    "de": (
        "Die Textstellen enthalten keine Antwort auf die Frage.",
        "Anhand der Textstellen lässt sich die Frage nicht beantworten.",
    ),
    "en": (
        "None of the passages contains an answer to the question.",
        "The question cannot be answered from these passages.",
    ),
    "es": (
        "Ninguno de los pasajes contiene una respuesta a la pregunta.",
        "La pregunta no puede responderse con estos pasajes.",
    ),
    "fa": (
        "در این متن‌ها پاسخی برای این پرسش نیست.",
        "با این متن‌ها نمی‌توان به این پرسش پاسخ داد.",
    ),
    "fi": (
        "Mikään teksteistä ei sisällä vastausta kysymykseen.",
        "Kysymykseen ei voi vastata näiden tekstien perusteella.",
    ),
    "fr": (
        "Aucun des passages ne contient de réponse à la question.",
        "Ces passages ne permettent pas de répondre à la question.",
    ),
    "hi": (
        "दिए गए अनुच्छेदों में से किसी में इस प्रश्न का उत्तर नहीं है।",
        "इन अनुच्छेदों के आधार पर इस प्रश्न का उत्तर नहीं दिया जा सकता।",
    ),
    "id": (
        "Tidak ada jawaban atas pertanyaan ini dalam teks yang diberikan.",
        "Pertanyaan ini tidak dapat dijawab berdasarkan teks tersebut.",
    ),
    "ja": (
        "与えられた文章には、質問の答えがありません。",
        "これらの文章からは、質問の答えはわかりません。",
    ),
    "ko": (
        "주어진 글 어디에도 질문에 대한 답이 없습니다.",
        "주어진 글만으로는 이 질문에 답할 수 없습니다.",
    ),
    "ru": (
        "Ни в одном из текстов нет ответа на этот вопрос.",
        "По этим текстам ответить на вопрос нельзя.",
    ),
    "sw": (
        "Hakuna jibu la swali hili katika vifungu hivi.",
        "Swali hili haliwezi kujibiwa kwa kutumia vifungu hivi.",
    ),
    "te": (
        "ఇచ్చిన భాగాలలో ఏ ఒక్కదానిలోనూ ఈ ప్రశ్నకు జవాబు లేదు.",
        "ఈ భాగాల ఆధారంగా ఈ ప్రశ్నకు జవాబు చెప్పలేము.",
    ),
    "th": (
        "ข้อความที่ให้มาไม่มีคำตอบของคำถามนี้",
        "จากข้อความที่ให้มา ไม่สามารถตอบคำถามนี้ได้",
    ),
    "yo": (
        "Kò sí ìdáhùn sí ìbéèrè yìí nínú àwọn àyọkà wọ̀nyí.",
        "A kò lè dáhùn ìbéèrè yìí láti inú àwọn àyọkà wọ̀nyí.",
    ),
    "zh": (
        "所给的文字中都没有这个问题的答案。",
        "根据所给的文字，无法回答这个问题。",
    ),
}
"""Reason and answer of an abstention by language: no passage answers, so the query cannot be answered."""

CAUTIOUS = "baseline/cautious"
_EXTRACTIVE: dict[str, Callable[[BaselineInput], Sequence[Claim]]] = {
    "baseline/lead": _lead,
    "baseline/bm25": _bm25,
    "baseline/bm25-3": _bm25_3,
    "baseline/bm25-uncited": _strip_citations,
    "baseline/bm25-miscited": _cite_others,
    "baseline/english": _english,
    "baseline/extract": _extract,
    "baseline/half": _half,
    "baseline/no-best": _no_best,
    "baseline/verbose": _verbose,
    "baseline/latin": _latin,
    CAUTIOUS: _extract,
}
ABSTAIN = "baseline/abstain"
BASELINES: tuple[str, ...] = (*_EXTRACTIVE, ABSTAIN)
"""Every baseline by name."""


def baseline_answers(queries: pa.Table, passages: pa.Table, *, only: Iterable[str] | None = None) -> pa.Table:
    """Return the baselines' answers to every query: `schema.Answer` rows, template `rag`.

    If the texts that a baseline needs are unknown, its answer is `missing` with the reason.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows; passages without text are skipped.
        only: names of baselines; None for all.

    Raises:
        UnknownName: if there is no such baseline.
    """
    names = list(BASELINES if only is None else dict.fromkeys(only))
    for name in names:
        if name not in BASELINES:
            raise UnknownName("baseline", name, BASELINES)
    texts: dict[tuple[str, str], list[tuple[str, str]]] = {}
    relevant: dict[tuple[str, str], list[str]] = {}
    columns = ["language", "query_id", "position", "passage_id", "text", "relevant"]
    for row in passages.select(columns).sort_by([(column, "ascending") for column in columns[:3]]).to_pylist():
        key = row["language"], row["query_id"]
        if row["text"] is not None:
            texts.setdefault(key, []).append((row["passage_id"], row["text"]))
        if row["relevant"]:
            relevant.setdefault(key, []).append(row["passage_id"])
    rows = []
    for query in queries.select(["language", "query_id", "text"]).to_pylist():
        key = query["language"], query["query_id"]
        given = BaselineInput(key[0], query["text"], tuple(texts.get(key, ())), frozenset(relevant.get(key, ())))
        for name in names:
            text, missing = _answer(name, given)
            rows.append(schema.Answer(*key, name, text, "missing" if missing else "ok", TEMPLATE, missing, None))
    return schema.from_rows("answers", rows)


def _abstention(language: str) -> str:
    """Return an abstention in a language, in English if it has none here."""
    return compose_answer(*ABSTENTIONS.get(base(language), ABSTENTIONS["en"]))


def _answer(name: str, given: BaselineInput) -> tuple[str | None, str | None]:
    """Return a baseline's answer, or the reason why there is none."""
    if name == ABSTAIN:
        return _abstention(given.language), None
    if given.text is None and name != "baseline/lead":
        return None, "the text of the query is not known"
    claims = _EXTRACTIVE[name](given)
    if not claims:
        return None, "no passage text is known"
    if name == CAUTIOUS and given.coverage < COVERAGE:
        return _abstention(given.language), None
    statements = [sentence if passage is None else f"{sentence} [{passage}]" for sentence, passage in claims]
    return compose_answer(" ".join(statements), statements[0]), None
