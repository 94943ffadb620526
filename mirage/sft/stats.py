"""Statistics of a training set by language, in the shape of Table 1 of MIRAGE-Bench."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mirage import store
from mirage.languages import LANGUAGES, in_order
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
    teacher: str | None
    """Whose answers; None for those of all teachers together."""
    language: str
    """Language code."""
    n_queries: int
    """Conversations: queries, where each has one answer."""
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
    """Statistics of both parts, by language in the order of the codes; a language without conversations has none.

    Args:
        training: the training set.
        count: counts the tokens of a text.

    Returns:
        The rows of all teachers together, then, where there are several, those of each by name.
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
    """The statistics of all teachers together as CSV: a row for each part and statistic, a column for each of the 18
    languages, and any other; one decimal, and a dash where there is nothing.
    """
    return _table(stats, [None], ["split", "stat"])


def by_teacher(stats: Sequence[Stats]) -> str:
    """The same table with a row for each teacher, part and statistic; its first column is the teacher."""
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
