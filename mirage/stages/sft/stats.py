"""Statistics of a training set by language, in the format of Table 1 of MIRAGE-Bench."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mirage import store
from mirage.stages.sft.examples import Example, TrainingSet
from mirage.text.languages import LANGUAGES, in_order

SPLITS = ("train", "heldout")
"""The two parts, as named in the table."""
STATS = (
    "n_queries",
    "avg_query_tokens",
    "avg_rel_passages_per_q",
    "avg_nonrel_passages_per_q",
    "avg_teacher_context_tokens",
    "avg_teacher_answer_tokens",
)
"""Rows of the table per part, as in the paper, whose teacher was GPT-4o."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of one language in one part."""

    split: str
    """`train` or `heldout`."""
    teacher: str | None
    """The teacher; None for all teachers together."""
    language: str
    """Language code."""
    n_queries: int
    """Number of conversations, equal to queries with one answer each."""
    avg_query_tokens: float
    """Mean tokens of a query."""
    avg_rel_passages_per_q: float
    """Mean relevant passages in a prompt."""
    avg_nonrel_passages_per_q: float
    """Mean non-relevant passages in a prompt."""
    avg_teacher_context_tokens: float
    """Mean tokens of the teacher's reasoning."""
    avg_teacher_answer_tokens: float
    """Mean tokens of the teacher's answer proper."""


def statistics(training: TrainingSet, count: Callable[[str], int]) -> list[Stats]:
    """Compute the statistics of both parts by language, in code order; languages without conversations are omitted.

    Args:
        training: the training set.
        count: counts the tokens of a text.

    Returns:
        The rows of all teachers together, then, if there are several, those of each by name.
    """
    parts = dict(zip(SPLITS, (training.train, training.heldout), strict=True))
    teachers = sorted({example.system for examples in parts.values() for example in examples})
    rows = []
    for teacher in (None, *(teachers if len(teachers) > 1 else ())):
        for split, examples in parts.items():
            groups: dict[str, list[Example]] = {}
            for example in examples:
                if teacher in (None, example.system):
                    groups.setdefault(example.language, []).append(example)
            rows += [_stats(split, teacher, code, groups[code], count) for code in in_order(groups)]
    return rows


def table1(stats: Sequence[Stats]) -> str:
    """Return the statistics of all teachers together as CSV.

    One row per part and statistic, one column per language, the 18 and others; one decimal, and a dash for missing
    values.
    """
    return _table(stats, [None], ["split", "stat"])


def by_teacher(stats: Sequence[Stats]) -> str:
    """Return the same table with one row per teacher, part and statistic; its first column is the teacher."""
    teachers = sorted({row.teacher for row in stats if row.teacher is not None})
    return _table(stats, teachers, ["teacher", "split", "stat"])


def _table(stats: Sequence[Stats], teachers: Sequence[str | None], heads: Sequence[str]) -> str:
    by_place = {(row.teacher, row.split, row.language): row for row in stats}
    codes = in_order({*LANGUAGES, *(row.language for row in stats)})
    rows: list[list[str]] = []
    for teacher in teachers:
        for split in SPLITS:
            for name in STATS:
                cells = [by_place.get((teacher, split, code)) for code in codes]
                values = ["-" if cell is None else _cell(getattr(cell, name)) for cell in cells]
                rows.append([*([] if teacher is None else [teacher]), split, name, *values])
    return store.csv_text([*heads, *codes], rows)


def _stats(
    split: str, teacher: str | None, code: str, examples: Sequence[Example], count: Callable[[str], int]
) -> Stats:
    def mean(values: Sequence[int]) -> float:
        return sum(values) / len(values)

    return Stats(
        split=split,
        teacher=teacher,
        language=code,
        n_queries=len(examples),
        avg_query_tokens=mean([count(example.query) for example in examples]),
        avg_rel_passages_per_q=mean([example.relevant for example in examples]),
        avg_nonrel_passages_per_q=mean([example.distractors for example in examples]),
        avg_teacher_context_tokens=mean([count(example.reason) for example in examples]),
        avg_teacher_answer_tokens=mean([count(example.conclusion) for example in examples]),
    )


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.1f}"
