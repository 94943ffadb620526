"""Systems without a model, a lower bound for every table.

| system | what it answers |
|---|---|
| `baseline/bm25-3` | the three sentences of the passages that match the query best |
| `baseline/abstain` | that the passages have no answer, in the language of the query |

Both answer in the form the RAG prompt asks for (`##Reason: .. ##Answer: ..`), citing passages by id: their sentences
are the reason, the first of them the answer.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.stages.shown import query_texts
from mirage.stats.rows import group, read_rows
from mirage.text.answers import compose_answer
from mirage.text.data import load_words
from mirage.text.languages import base
from mirage.text.segmentation import sentences, terms

TEMPLATE = "rag"
K1, B = 1.2, 0.75
"""BM25's saturation and length normalisation, at customary values (Robertson and Zaragoza 2009, section 3.6)."""
EXTRACT, ABSTAIN = "baseline/bm25-3", "baseline/abstain"
BASELINES = (EXTRACT, ABSTAIN)
"""Every baseline by name."""
ABSTENTIONS: dict[str, list[str]] = load_words("abstentions", "mirage.stages.generate")
"""Reason and answer of an abstention by language."""
_SENTENCES = 3


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """Score documents against a query, both as terms, by Okapi BM25 with an idf that is never negative.

    The weight of a term is idf * f * (K1 + 1) / (f + K1 * (1 - B + B * length / mean length)), with idf =
    ln(1 + (N - n + 0.5) / (n + 0.5)). Source: Robertson and Zaragoza 2009, equation 3.15, the idf as in Lucene.
    """
    counts = [Counter(document) for document in documents]
    mean = sum(map(len, documents)) / max(len(documents), 1) or 1.0
    found = {term: sum(term in count for count in counts) for term in set(query)}
    weight = {term: math.log1p((len(documents) - n + 0.5) / (n + 0.5)) for term, n in found.items()}
    scores = []
    for document, count in zip(documents, counts, strict=True):
        damping = K1 * (1 - B + B * len(document) / mean)
        scores.append(math.fsum(weight[t] * count[t] * (K1 + 1) / (count[t] + damping) for t in query if count[t]))
    return scores


def baseline_answers(queries: pa.Table, passages: pa.Table) -> pa.Table:
    """Return the baselines' answers to every query: `schema.Answer` rows, template `rag`.

    If the texts that a baseline needs are unknown, its answer is `missing` with the reason.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows; passages without text are skipped.
    """
    ordered = passages.filter(pc.is_valid(passages["text"])).sort_by("position")
    columns = ("language", "query_id", "passage_id", "text")
    texts = group((row[:2], row[2:]) for row in read_rows(ordered, *columns))
    rows = []
    for key, query in query_texts(queries).items():
        text, missing = _extract(query, texts.get(key, ()), key[0])
        status: schema.Status = "missing" if missing else "ok"
        rows.append(schema.Answer(*key, EXTRACT, text, status, TEMPLATE, missing, None))
        abstention = compose_answer(*ABSTENTIONS.get(base(key[0]), ABSTENTIONS["en"]))
        rows.append(schema.Answer(*key, ABSTAIN, abstention, "ok", TEMPLATE, None, None))
    return schema.from_rows("answers", rows)


def _extract(query: str | None, passages: Iterable[tuple[Any, ...]], language: str) -> tuple[str | None, str | None]:
    """Return the sentences that match a query best, ties in order, or the reason why there are none."""
    if query is None:
        return None, "the text of the query is not known"
    found = [(text[slice(*span)], passage) for passage, text in passages for span in sentences(text, language)]
    if not found:
        return None, "no passage text is known"
    scores = bm25(terms(query), [terms(sentence) for sentence, _ in found])
    best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:_SENTENCES]
    statements = [f"{sentence} [{passage}]" for sentence, passage in (found[place] for place in best)]
    return compose_answer(" ".join(statements), statements[0]), None
