"""Statistics of a training set by language, those of Table 1 of MIRAGE-Bench."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mirage.stages.sft.examples import Example, TrainingSet
from mirage.text.languages import in_order


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of one language."""

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
    """Compute the statistics by language, in code order; languages without conversations are omitted.

    Args:
        training: the training set.
        count: counts the tokens of a text.

    Returns:
        The rows of all teachers together, then, if there are several, those of each by name.
    """
    teachers = sorted({example.system for example in training.examples})
    rows = []
    for teacher in (None, *(teachers if len(teachers) > 1 else ())):
        groups: dict[str, list[Example]] = {}
        for example in training.examples:
            if teacher in (None, example.system):
                groups.setdefault(example.language, []).append(example)
        rows += [_stats(teacher, code, groups[code], count) for code in in_order(groups)]
    return rows


def _stats(teacher: str | None, code: str, examples: Sequence[Example], count: Callable[[str], int]) -> Stats:
    def mean(values: Sequence[int]) -> float:
        return sum(values) / len(values)

    return Stats(
        teacher=teacher,
        language=code,
        n_queries=len(examples),
        avg_query_tokens=mean([count(example.query) for example in examples]),
        avg_rel_passages_per_q=mean([example.relevant for example in examples]),
        avg_nonrel_passages_per_q=mean([example.distractors for example in examples]),
        avg_teacher_context_tokens=mean([count(example.reason) for example in examples]),
        avg_teacher_answer_tokens=mean([count(example.conclusion) for example in examples]),
    )
