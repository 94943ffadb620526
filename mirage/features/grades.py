"""What a chat model says about an answer: a grade from 1 to 5 for its agreement with the reference, and for fluency."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from mirage.features.spec import Completion, Family, FeatureSpec, Measured, Reply, Tools
from mirage.languages import LANGUAGES
from mirage.marks import Mark, MarkForm, after_thoughts, bracketed
from mirage.prompts import bundled, fence_code, fill

LOW, HIGH = 1, 5
"""Lowest and highest grade."""

_NUMBER = r"(?P<grade>\d+(?:[.,]\d+)?)(?:\s*/\s*5)?"
_ALONE = re.compile(rf"\W*{_NUMBER}\W*")
_NOUNS = "score|rating|grade"


def _value(mark: Mark) -> float | None:
    return float(mark["grade"].replace(",", "."))


_MARKED = MarkForm(re.compile(bracketed(_NUMBER)), _value, _NOUNS)
_SAID = MarkForm(
    re.compile(rf"\b(?:{_NOUNS})\b(?:\s+is|\s+of)?[\s:：=*_\[(]{{0,8}}{_NUMBER}", re.IGNORECASE), _value, _NOUNS
)


def parse_grade(text: str, shown: Iterable[str] = ()) -> float | None:
    """The grade in a grader's reply, from 1 to 5; None where there is none or it is out of range.

    The last `[[3]]` that the grader sets counts, also with spaces and in full-width brackets; without any, the last
    `Score: 3` (or rating, or grade) that it sets; without any, a number that is the whole reply. Which it sets and
    which it only mentions is said in `mirage.marks`. A reasoning model's thoughts do not count.

    Where a text that the grader was shown carries a grade of the same form, only those on a line of their own count,
    and if these disagree there is no grade.

    Args:
        text: what the grader wrote.
        shown: the texts it was shown: question, passages, answers.
    """
    begin = after_thoughts(text)
    if begin is None:
        return None
    shown = list(shown)
    marked = [m.span() for m in _MARKED.pattern.finditer(text, begin)]
    for form in (_MARKED, _SAID):
        found = form.own(text, shown, begin=begin)
        if form is _SAID:
            found = [m for m in found if not any(start < m.end() and m.start() < end for start, end in marked)]
        if found:
            disagree = form.planted(shown) and len({_value(m) for m in found}) > 1
            return None if disagree else _within(_value(found[-1]))
    alone = _ALONE.fullmatch(text, begin)
    return _within(_value(alone)) if alone and not marked else None


def _within(grade: float | None) -> float | None:
    return grade if grade is not None and LOW <= grade <= HIGH else None


Conversation = list[Mapping[str, str]]


def overlap(reply: Reply) -> Conversation | str:
    """What the grader is asked about an answer and its reference, or why it is not."""
    if isinstance(reply.reference, str):
        return reply.reference
    if not reply.reference.answer:
        return "the reference has no answer part"
    if reply.question is None:
        return "the text of the question is not known"
    if not reply.answer:
        return "no answer part"
    return _ask("overlap", reply, question=reply.question, reference=reply.reference.answer, answer=reply.answer)


def fluency(reply: Reply) -> Conversation | str:
    """What the grader is asked about the language of an answer, or why it is not."""
    return _ask("fluency", reply, answer=reply.answer) if reply.answer else "no answer part"


def _ask(name: str, reply: Reply, **texts: str) -> Conversation:
    values = {"code": fence_code(texts.values()), "language": LANGUAGES[reply.language].name, **texts}
    return [{"role": "user", "content": fill(_template(name), values)}]


_template = cache(bundled)


_ASKS = {"answer_overlap_score": overlap, "fluency_score": fluency}


def measure(replies: Sequence[Reply], tools: Tools, wanted: Collection[str]) -> Iterator[tuple[Measured, ...]]:
    """Both grades of each reply, or why there is none. The model is asked for the wanted ones, all in one go."""
    if tools.grade is None:
        raise TypeError("these features need a model")
    asked = [[ask(reply) if name in wanted else "not asked for" for name, ask in _ASKS.items()] for reply in replies]
    said = iter(tools.grade([one for row in asked for one in row if not isinstance(one, str)]))
    for row in asked:
        yield tuple(one if isinstance(one, str) else _graded(next(said)) for one in row)


def _graded(completion: Completion | None) -> Measured:
    if completion is None:
        return "not graded (the budget was reached)"
    grade = None if completion.text is None else parse_grade(completion.text)
    if grade is None and completion.status in ("ok", "truncated"):
        return "no grade could be read"
    return f"not graded ({completion.status})" if grade is None else grade


_RULE = (
    " from 1 to 5 by a chat model, which is shown the answer part (the whole reply where it marks none) without"
    " citations. Null where the model gave no grade that can be read, and where the reply has no answer part."
)
_SOURCE = (
    "MIRAGE-Bench, heuristic features, graded by Llama-3-8B-Instruct there. Its published program reads a grade such as"
    " [[3]] as 0 and counts a failure as 0; ours leaves it without a value. The prompt is ours:"
)

FAMILY = Family(
    specs=(
        FeatureSpec(
            name="answer_overlap_score",
            title="Agreement with the reference",
            meaning="Grade of the answer against the reference system's answer (1 off the subject or made up, 2 says"
            " that it cannot answer, 3 relevant with notable errors, 4 acceptable, 5 fully accurate),"
            + _RULE
            + " Null for the reference itself, and where it has no answer to the question.",
            unit="grade",
            low=LOW,
            high=HIGH,
            direction="higher",
            source=f"{_SOURCE} mirage/prompts/overlap.txt.",
            needs=("queries", "answers", "reference", "grade"),
        ),
        FeatureSpec(
            name="fluency_score",
            title="Fluency",
            meaning="Grade of how fluent and coherent the answer is in the language of the question," + _RULE,
            unit="grade",
            low=LOW,
            high=HIGH,
            direction="higher",
            source=f"{_SOURCE} mirage/prompts/fluency.txt.",
            needs=("answers", "grade"),
        ),
    ),
    measure=measure,
    whole=True,
)
