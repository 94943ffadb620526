"""Relevance of the cited passages to the query: a cross-encoder's score."""

import math
from collections.abc import Collection, Iterator, Sequence

from mirage.errors import BadInput
from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools
from mirage.text.answers import cited_ids

MODEL = "BAAI/bge-reranker-v2-m3"
"""Default model."""
MAX_TOKENS = 1024
"""Maximum tokens of a pair: a query with a passage of the RAG prompt, which has at most 800 tokens."""


def measure(answers: Sequence[MeasuredAnswer], tools: Tools, _names: Collection[str]) -> Iterator[tuple[Measured, ...]]:
    """Return the mean raw score of query and cited passages, or the reason why there is none."""
    if tools.reranker is None:
        raise TypeError("this feature needs a model")
    if len(tools.reranker.labels) != 1:
        raise BadInput(
            f"the model gives {len(tools.reranker.labels)} scores per pair; a reranker gives one",
            do=f"use a reranker, such as {MODEL}",
        )
    pair_lists = [_pairs(answer) for answer in answers]
    scores = iter(tools.reranker.scores([pair for pairs in pair_lists if not isinstance(pairs, str) for pair in pairs]))
    for pairs in pair_lists:
        yield (pairs if isinstance(pairs, str) else math.fsum(next(scores)[0] for _ in pairs) / len(pairs),)


def _pairs(answer: MeasuredAnswer) -> list[tuple[str, str]] | str:
    """Return the query with each cited passage, or the reason why there are none."""
    if not answer.passage_ids:
        return "the passages are not known"
    if answer.query is None:
        return "the text of the query is not known"
    text = dict(zip(answer.passage_ids, answer.texts, strict=True))
    texts = [text[passage] for passage in cited_ids(answer.mentions)]
    known_texts = [passage for passage in texts if passage is not None]
    if len(known_texts) < len(texts):
        return "the texts of the cited passages are not known"
    return [(answer.query, passage) for passage in known_texts] or "no passage is cited"


FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="reranker_score",
            title="Reranker score",
            meaning="Relevance of the cited passages to the query by a multilingual cross-encoder: its raw score"
            " (a logit), averaged over the passages cited, each once. Null where no passage it was given is cited, and"
            " where the texts are not known.",
            unit="logits",
            low=None,
            high=None,
            source=f"MIRAGE-Bench, heuristic features, with the model {MODEL}.",
            needs=("queries", "answers", "passages", "reranker"),
        ),
    ),
    measure=measure,
)
