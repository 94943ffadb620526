"""Features graded by a chat model: agreement with the reference, and fluency, from 1 to 5."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from mirage.llm.completion import Reply
from mirage.llm.prompts import MAX_PASSAGE_TOKENS, fence_code, fence_texts, one_message
from mirage.llm.tokens import TokenEstimate
from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools
from mirage.text.languages import name_of
from mirage.text.marks import GRADE_NOUNS, Mark, MarkForm, bracket
from mirage.text.thoughts import part_thoughts

LOW, HIGH = 1, 5
"""Lowest and highest grade."""


def _value(mark: Mark) -> float | None:
    return float(mark["grade"].replace(",", "."))


@cache
def _forms(high: int) -> tuple[MarkForm[float], MarkForm[float], re.Pattern[str]]:
    """Return the forms of a grade up to `high`: in brackets, after a label, and as the whole reply."""
    number = rf"(?P<grade>\d+(?:[.,]\d+)?)(?:\s*/\s*{high})?"
    said = rf"\b(?:score|rating|grade)\b(?:\s+is|\s+of)?[\s:：=*_\[(]{{0,8}}{number}"
    return (
        MarkForm(re.compile(bracket(number)), _value, GRADE_NOUNS),
        MarkForm(re.compile(said, re.IGNORECASE), _value, GRADE_NOUNS, labelled=True),
        re.compile(rf"\W*{number}\W*"),
    )


def parse_grade(text: str, shown_texts: Iterable[str] = (), *, low: int = LOW, high: int = HIGH) -> float | None:
    """Return the grade in a grader's reply; None if there is none or it is not from `low` to `high`.

    The last own `[[3]]` counts, also with spaces and in full-width brackets; without any, the last own `Score: 3` (or
    rating, or grade); without any, a number that is the whole reply. `mirage.text.marks` distinguishes own marks from
    mentions. A reasoning model's thoughts do not count.

    If a shown text has a grade of the same form, only marks on their own line count, and if these disagree there is no
    grade.

    Args:
        text: the grader's reply.
        shown_texts: texts in its prompt: query, passages, answers.
        low: lowest grade.
        high: highest grade.
    """
    shown_texts = list(shown_texts)
    parted = part_thoughts(text, shown_texts)
    grade = None if parted.gap is not None else _own_grade(parted.text, shown_texts, high)
    return grade if grade is not None and low <= grade <= high else None


def _own_grade(text: str, shown_texts: Sequence[str], high: int) -> float | None:
    """Return the grade of a reply without thoughts, in range or not."""
    in_brackets, labelled, alone = _forms(high)
    marked = [match.span() for match in in_brackets.pattern.finditer(text)]
    if marks := in_brackets.own(text, shown_texts):
        return in_brackets.settle(marks, shown_texts)
    marks = [
        match
        for match in labelled.own(text, shown_texts)
        if not any(start < match.end() and match.start() < end for start, end in marked)
    ]
    if marks:
        return labelled.settle(marks, shown_texts)
    number = alone.fullmatch(text)
    return _value(number) if number and not marked else None


@dataclass(frozen=True, slots=True)
class Grading:
    """One request to the grader, rendered lazily, since the prompts of an arena can take gigabytes."""

    prompt: str
    """Name of the prompt file in `mirage/llm/prompts`."""
    language: str
    """Code of the query's language."""
    passages: tuple[tuple[str, str], ...]
    """Id and text of each passage with a text, in the order of the answered prompt."""
    texts: Mapping[str, str]
    """Other texts, by placeholder."""

    def untrusted_texts(self) -> list[str]:
        """Return every untrusted text."""
        return [*(part for passage in self.passages for part in passage), *self.texts.values()]

    def conversation(self) -> list[dict[str, str]]:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        passages = [(name, _cut(text)) for name, text in self.passages]
        code = fence_code([*(part for passage in passages for part in passage), *self.texts.values()])
        fenced = fence_texts("PASSAGE", (f"id: {name}\n{text}" for name, text in passages), code)
        language = name_of(self.language)
        return one_message(self.prompt, code=code, language=language, passages=fenced, **self.texts)


def overlap_prompt(answer: MeasuredAnswer) -> Grading | str:
    """Return the request about an answer and its reference, or the reason why there is none."""
    if isinstance(answer.reference, str):
        return answer.reference
    if not answer.reference.answer:
        return "the reference has no answer part"
    if not answer.answer:
        return "no answer part"
    return _grading("overlap", answer, reference=answer.reference.answer, answer=answer.answer)


def fluency(answer: MeasuredAnswer) -> Grading | str:
    """Return the request about the coherence of a whole answer, or the reason why there is none."""
    return _grading("fluency", answer, answer=answer.text)


def _grading(prompt: str, measured: MeasuredAnswer, **texts: str) -> Grading | str:
    if measured.query is None:
        return "the text of the query is not known"
    pairs = zip(measured.passage_ids, measured.texts, strict=True)
    passages = tuple((name, text) for name, text in pairs if text is not None)
    if not passages:
        return "the texts of the passages are not known"
    return Grading(prompt, measured.language, passages, {"question": measured.query, **texts})


@lru_cache(maxsize=1024)
def _cut(text: str) -> str:
    """Truncate a passage as shown to the systems, by the estimate, so that prompts are the same on every machine."""
    return TokenEstimate().cut(text, MAX_PASSAGE_TOKENS)


_ASKS = {"answer_overlap_score": overlap_prompt, "fluency_score": fluency}


def measure(answers: Sequence[MeasuredAnswer], tools: Tools, names: Collection[str]) -> Iterator[tuple[Measured, ...]]:
    """Return both grades of each answer, or reasons. All wanted grades are requested at once."""
    from mirage.llm.asking import Conversations

    if tools.grade is None:
        raise TypeError("these features need a model")
    rows = [[ask(answer) if name in names else "not asked for" for name, ask in _ASKS.items()] for answer in answers]
    gradings = [grading for row in rows for grading in row if not isinstance(grading, str)]
    grader_replies = iter(tools.grade(Conversations(gradings)))
    for row in rows:
        yield tuple(
            grading if isinstance(grading, str) else _read_grade(next(grader_replies), grading) for grading in row
        )


def _read_grade(completion: Reply | None, grading: Grading) -> Measured:
    if completion is None:
        return "not graded (the budget was reached)"
    grade = None if completion.text is None else parse_grade(completion.text, grading.untrusted_texts())
    if grade is None and completion.status in ("ok", "truncated"):
        return "no grade could be read"
    return f"not graded ({completion.status})" if grade is None else grade


_RULE = (
    " The grade is a chat model's, from 1 to 5. Null if the model gave no readable grade, or if the"
    " query or the texts of all its passages are unknown."
)
_SOURCE = (
    "MIRAGE-Bench, {figure}, graded by Llama-3-8B-Instruct there. The prompt says the same in words of ours"
    " (mirage/llm/prompts/{prompt}.txt); the Methods page lists its departures. {published}; ours has no value there."
)

FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="answer_overlap_score",
            title="Agreement with the reference",
            meaning="Grade of the answer against the reference system's answer (1 does not agree, off the subject or"
            " made up, 2 says that it cannot answer, 3 relevant with notable errors, 4 acceptable, 5 fully accurate)."
            " The model is shown query, passages, the reference's answer part and the answer's (the whole answer where"
            " it marks none), both without citations."
            + _RULE
            + " Null for the reference itself, where it has no answer"
            " to the query, and where the answer has no answer part.",
            unit="grade",
            low=LOW,
            high=HIGH,
            direction="higher",
            source=_SOURCE.format(
                figure="Figure 11",
                prompt="overlap",
                published="The class AutomaticAnswerOverlapEvaluator of its package keeps the brackets of [[3]], reads"
                " no number and counts 0",
            ),
            needs=("queries", "passages", "answers", "reference", "grade"),
        ),
        FeatureSpec(
            name="fluency_score",
            title="Fluency",
            meaning="Grade of how coherent the answer is: well structured, building from sentence to sentence to a"
            " coherent whole, and covering the points needed to answer the query. The model is shown query,"
            " passages and the whole answer." + _RULE,
            unit="grade",
            low=LOW,
            high=HIGH,
            direction="higher",
            source=_SOURCE.format(
                figure="Figure 12",
                prompt="fluency",
                published="The class AutomaticFluencyEvaluator of its package counts a grade that it cannot read as 0",
            ),
            needs=("queries", "passages", "answers", "grade"),
        ),
    ),
    measure=measure,
    whole=True,
)
