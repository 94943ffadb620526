"""Support of sentences by the passages they cite, by natural-language inference."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mirage.errors import BadInput
from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools
from mirage.text.answers import blank_citations
from mirage.text.segmentation import sentences

MODEL = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
"""Default model."""
MAX_TOKENS = 512
"""Maximum tokens of a pair, as in the model's training."""


_WANTED = ("entailment", "neutral")


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence, and the known passages it cites."""

    number: int
    """Index among the sentences of its part (`mirage.text.segmentation.sentences`), from 0."""
    start: int
    """Start in the answer."""
    end: int
    """End (exclusive)."""
    words: str
    """The sentence without its citations."""
    passage_ids: tuple[str, ...]
    """Cited passages by first mention; empty if there are none."""


def cited_places(answer: MeasuredAnswer) -> list[Cited]:
    """Return the sentences that cite known passages (`sentence_places`)."""
    return [place for place in sentence_places(answer) if place.passage_ids]


def sentence_places(answer: MeasuredAnswer) -> list[Cited]:
    """Return each sentence of the reason (of the answer if no reason is marked), and the known passages it cites.

    The text is split with citations blanked: `It rose. [a] It fell.` is two sentences in every language. A citation
    belongs to its sentence. Between two sentences it belongs to the first unless that has its own, as in `It rose. [a]
    It fell. [b]`. Citations are removed from the sentences; sentences without words are dropped.
    """
    part = answer.parts.reason_span or answer.parts.answer_span
    if part is None:
        return []
    blank = blank_citations(answer.text, answer.mentions)[slice(*part)]
    places = [(part[0] + start, part[0] + end) for start, end in sentences(blank, answer.language)]
    if not places:
        return []
    cited_ids: list[dict[str, None]] = [{} for _ in places]
    has_own = [False] * len(places)
    for mention in answer.mentions:
        if not part[0] <= mention.start < part[1]:
            continue
        position = next((n for n, (_, end) in enumerate(places) if mention.start < end), len(places) - 1)
        heads = not _has_words(answer.words_of(places[position][0], mention.start))
        if heads and position and not has_own[position - 1]:
            position -= 1
        else:
            has_own[position] = True
        if mention.passage_id is not None:
            cited_ids[position][mention.passage_id] = None
    candidates = (
        Cited(number, *place, answer.words_of(*place), tuple(ids))
        for number, (place, ids) in enumerate(zip(places, cited_ids, strict=True))
    )
    return [candidate for candidate in candidates if _has_words(candidate.words)]


def cited_sentences(answer: MeasuredAnswer) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words of each sentence that cites known passages, and these passages (`cited_places`)."""
    return [(sentence.words, sentence.passage_ids) for sentence in cited_places(answer)]


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def softmax(logits: Sequence[float]) -> list[float]:
    """Return the softmax of one pair's raw scores."""
    top = max(logits)
    weights = [math.exp(x - top) for x in logits]
    return [w / sum(weights) for w in weights]


def measure(answers: Sequence[MeasuredAnswer], tools: Tools, _names: Collection[str]) -> Iterator[tuple[Measured, ...]]:
    """Return the mean probabilities of entailment and neutrality over the sentence-citation pairs, or reasons."""
    if tools.support is None:
        raise TypeError("these features need a model")
    labels = list(tools.support.labels)
    if not set(_WANTED) <= set(labels):
        raise BadInput(
            f"the model's labels are {', '.join(labels)}; support needs entailment and neutral",
            do=f"use a model for natural-language inference, such as {MODEL}",
        )
    columns = [labels.index(name) for name in _WANTED]
    pair_lists = [_pairs(answer) for answer in answers]
    scores = iter(tools.support.scores([pair for pairs in pair_lists if not isinstance(pairs, str) for pair in pairs]))
    for pairs in pair_lists:
        if isinstance(pairs, str):
            yield (pairs,) * 2
        else:
            rows = [softmax(next(scores)) for _ in pairs]
            yield tuple(math.fsum(row[column] for row in rows) / len(rows) for column in columns)


def _pairs(answer: MeasuredAnswer) -> list[tuple[str, str]] | str:
    """Return premise and hypothesis of every sentence-citation pair, or the reason why there are none."""
    if not answer.passage_ids:
        return "the passages are not known"
    text = dict(zip(answer.passage_ids, answer.texts, strict=True))
    candidates = [(text[passage], sentence) for sentence, ids in cited_sentences(answer) for passage in ids]
    pairs = [(premise, sentence) for premise, sentence in candidates if premise is not None]
    if len(pairs) < len(candidates):
        return "the texts of the cited passages are not known"
    return pairs or "no sentence cites a passage"


_RULE = (
    " by a multilingual NLI model. Premise: a cited passage, with its title; hypothesis: a"
    " sentence of the reason that cites it (of the answer where no reason is marked). The mean over all such pairs."
    " Null where no sentence cites a passage it was given, and where the passages' texts are not known."
)
_SOURCE = (
    f"MIRAGE-Bench, heuristic features, with the model {MODEL}. Its program"
    " (mirage_bench/evaluate/context_grounding.py) rounds each probability to one decimal before it averages; ours does"
    " not."
)

FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="support_entailment",
            title="Support",
            meaning="Probability that a cited passage entails the sentence that cites it," + _RULE,
            unit="probability",
            source=_SOURCE,
            needs=("answers", "passages", "support"),
        ),
        FeatureSpec(
            name="support_neutral",
            title="Neither supported nor contradicted",
            meaning="Probability that a cited passage neither entails nor contradicts the sentence that cites it,"
            + _RULE,
            unit="probability",
            direction="lower",
            source=_SOURCE,
            needs=("answers", "passages", "support"),
        ),
    ),
    measure=measure,
)
