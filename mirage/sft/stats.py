"""Statistics of a training set by language, in the shape of Table 1 of MIRAGE-Bench."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mirage.languages import LANGUAGES
from mirage.sft.examples import Example, TrainingSet

SPLITS = ("train", "heldout")
"""The two parts, as the table names them."""
STATS = (
    "n_queries",
    "avg_query_tokens",
    "avg_rel_passages_per_q",
    "avg_nonrel_passages_per_q",
    "avg_teacher_context_tokens",
    "avg_teacher_answer_tokens",
)
"""The rows of the table for each part, as the paper has them; its teacher was GPT-4o."""


@dataclass(frozen=True, slots=True)
class Stats:
    """One language of one part."""

    split: str
    """`train` or `heldout`."""
    language: str
    """Language code."""
    n_queries: int
    """Conversations."""
    avg_query_tokens: float
    """Mean tokens of a question."""
    avg_rel_passages_per_q: float
    """Mean relevant passages in a prompt."""
    avg_nonrel_passages_per_q: float
    """Mean non-relevant passages in a prompt."""
    avg_teacher_context_tokens: float
    """Mean tokens of the teacher's reasoning."""
    avg_teacher_answer_tokens: float
    """Mean tokens of the teacher's answer proper."""


def statistics(training: TrainingSet, count: Callable[[str], int]) -> list[Stats]:
    """Statistics of both parts, by language in the order of the codes; a language without conversations has none.

    Args:
        training: the training set.
        count: counts the tokens of a text.
    """
    parts = zip(SPLITS, (training.train, training.heldout), strict=True)
    groups = [(split, code, [one for one in of if one.language == code]) for split, of in parts for code in LANGUAGES]
    return [_stats(split, code, examples, count) for split, code, examples in groups if examples]


def table1(stats: Sequence[Stats]) -> str:
    """The statistics as CSV: a row for each part and statistic, a column for each of the 18 languages; one decimal, and
    a dash where there is nothing.
    """
    by_place = {(one.split, one.language): one for one in stats}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["split", "stat", *LANGUAGES])
    for split in SPLITS:
        for name in STATS:
            cells = [by_place.get((split, code)) for code in LANGUAGES]
            writer.writerow([split, name, *("-" if cell is None else _cell(getattr(cell, name)) for cell in cells)])
    return stream.getvalue()


def _stats(split: str, code: str, examples: Sequence[Example], count: Callable[[str], int]) -> Stats:
    def mean(values: Sequence[int]) -> float:
        return sum(values) / len(values)

    return Stats(
        split=split,
        language=code,
        n_queries=len(examples),
        avg_query_tokens=mean([count(one.question) for one in examples]),
        avg_rel_passages_per_q=mean([one.relevant for one in examples]),
        avg_nonrel_passages_per_q=mean([one.distractors for one in examples]),
        avg_teacher_context_tokens=mean([count(one.reason) for one in examples]),
        avg_teacher_answer_tokens=mean([count(one.conclusion) for one in examples]),
    )


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.1f}"
