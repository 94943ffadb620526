"""Criteria of a judge: what it is asked, and in which words.

    load_criterion("groundedness")                 # a bundled criterion
    load_criterion(rubric=Path("tone.yaml"))       # a question or a whole prompt of your own

A judge with another criterion is another judge: its verdicts are stored as `NAME: CRITERION`.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mirage.errors import BadInput, UnknownName
from mirage.llm.prompts import bundled_text, check_placeholders, fill
from mirage.schema import OVERALL, criterion_judge
from mirage.store.files import Line
from mirage.store.yaml_files import yaml_fields
from mirage.text.languages import name_of

PLANTED = "planted"
"""Suffix of the judge name for planted cases (`prompt.Plant`), so no criterion has this name."""
MARKS = "[[A]] if assistant A is better, [[B]] if assistant B is better, [[C]] for a tie"
"""The verdicts that are read from a judge's reply to a pair of answers."""
_POINTS = re.compile(r"points(?:\s+(?:from\s+)?(\d{1,4})\s+to\s+(\d{1,4}))?")
"""A scale of points; without its ends from 1 to 5."""
_QUESTIONS = {
    "groundedness": "Groundedness: is every statement of the answer borne out by the passages? A statement that they "
    "contradict or do not contain counts against it, even if it is true. An answer that rightly says that the passages "
    "do not answer the question is grounded.",
    "citation": "Citation: does each statement that needs a source cite one, and does the cited passage bear it out? "
    "Wrong citations are worse than missing ones; citations of passages that add nothing count against the answer.",
    "completeness": "Completeness: does the answer cover every part of the question, and everything in the passages "
    "that the person who asked needs to know? Detail that does not answer the question adds nothing.",
    "language-quality": "Language quality: is the answer written in {language}, the language of the question, and is "
    "it correct, idiomatic and easy to follow? Whether its content is true does not count.",
}
BUNDLED = (OVERALL, *_QUESTIONS)
"""Names of the bundled criteria."""
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")
_FIELDS = ("name", "question", "scale", "template")
_MOST = 40
"""Maximum length of a name."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """Criterion of a judge."""

    name: str
    """Its name, in column `criterion` and after the judge's name."""
    text: str
    """Prompt template, with `{question}`, `{passages}`, `{answer_a}` and `{answer_b}`, with points `{answer}`. Also
    allowed: `{criterion}` for the question to judge by, `{code}` for a code that occurs in no inserted text, to fence
    them, `{language}` for the English name of the query's language, and with points `{low}` and `{high}`.
    """
    question: str = ""
    """Question to judge by, for `{criterion}`; may have `{language}`."""
    points: tuple[int, int] | None = None
    """Fewest and most points of one answer, judged alone; None to compare two answers."""

    @property
    def prompt(self) -> str:
        """Hash of the instructions to the judge: 12 hexadecimal digits."""
        told = [[["en", text]] if text else [] for text in (self.text, self.question)]
        # The language, and a scale also without points, keep stored hashes valid.
        scale = ("pairwise", 0, 0, 0.0) if self.points is None else ("points", *self.points, 0.0)
        return hashlib.sha256(json.dumps([*told, scale], ensure_ascii=False).encode()).hexdigest()[:12]

    def judge_name(self, judge: str) -> str:
        """Return the name under which a judge's verdicts by this criterion are stored."""
        return criterion_judge(judge, self.name)

    def template(self, language: str) -> str:
        """Return the prompt for queries in a language, with all placeholders but those of the battle filled."""
        name = name_of(language) if language else ""
        told = {"criterion": fill(self.question, {"language": name}), "language": name}
        told |= dict(zip(("low", "high"), map(str, self.points or ()), strict=False))
        return _PLACEHOLDER.sub(lambda match: told.get(match[1], match[0]), self.text)


@cache
def _load_bundled(name: str) -> Criterion:
    if name == OVERALL:
        return Criterion(OVERALL, bundled_text("judge"))
    return Criterion(name, bundled_text("criterion"), _QUESTIONS[name])


def load_criterion(name: str | None = None, *, rubric: Path | None = None) -> Criterion:
    """Load a bundled criterion, or one from a rubric.

    Args:
        name: one of `BUNDLED`; `overall` if None.
        rubric: YAML file with `question` (what to judge by), `template` (a whole prompt) or both, and optionally `name`
            (otherwise the file's) and `scale` (`points`, or `points 0 to 10`: each answer is judged alone).

    Raises:
        UnknownName: if there is no such criterion or field.
        BadInput: if a file is missing or unreadable, a placeholder is missing or unknown, a template asks for no
            verdict that can be read, the scale is unknown, or the name is one of a bundled criterion.
    """
    if rubric is None:
        if name is not None and name not in BUNDLED:
            raise UnknownName("criterion", name, BUNDLED)
        return _load_bundled(name or OVERALL)
    if name is not None:
        raise BadInput("a criterion and a rubric both name the criterion", where=str(rubric), do="omit the criterion")
    fields = yaml_fields(rubric)
    for unknown in sorted(fields.keys() - set(_FIELDS)):
        raise UnknownName("field of a rubric", unknown, _FIELDS, where=fields[unknown].where)
    question, template = _text(fields, "question"), _text(fields, "template")
    if not question and not template:
        raise BadInput(
            "the rubric has no question and no template",
            where=fields["question"].where if "question" in fields else str(rubric),
            do="add what to judge by, such as `question: Is the answer polite?`",
        )
    if question:
        do = "only {language} can be used in a question"
        check_placeholders("question", question, known=("language",), where=fields["question"].where, do=(do, ""))
    points = _read_scale(fields)
    if template:
        also = ("code", "language", *(("criterion",) if question else ()), *(("low", "high") if points else ()))
        _check_template(template, also, fields["template"].where, points)
    bundled = bundled_text("criterion" if points is None else "points")
    return Criterion(_name(fields, rubric), template or bundled, question, points)


def _read_scale(fields: Mapping[str, Line]) -> tuple[int, int] | None:
    """Return the fewest and most points of a rubric; None for one that compares two answers."""
    if "scale" not in fields:
        return None
    given = _text(fields, "scale")
    match = _POINTS.fullmatch(given)
    low, high = (int(match[1] or 1), int(match[2] or 5)) if match else (0, 0)
    if low >= high:
        raise BadInput(
            f"the scale {given!r} is not one of points" if match is None else f"the scale {given!r} has no two values",
            where=fields["scale"].where,
            do="write `scale: points` (1 to 5), or its ends in whole numbers, the worst first: `scale: points 0 to 10`",
        )
    return low, high


def _text(fields: Mapping[str, Line], name: str) -> str:
    """Return the text of a field; empty without one."""
    field = fields.get(name)
    if field is None or not field.value:
        return ""
    if not isinstance(field.value, str):
        raise BadInput(f"the {name} is a mapping", where=field.where, do=f"write {name}: TEXT")
    return field.value.strip()


def _name(fields: Mapping[str, Line], path: Path) -> str:
    """Return the name of a rubric's criterion: its field's, else its file's."""
    name = _text(fields, "name") or path.stem.strip()
    if name in (*BUNDLED, PLANTED):
        raise BadInput(f"{name} is the name of a bundled criterion", where=str(path), do="give yours another name")
    if not 0 < len(name) <= _MOST or ":" in name or not name.isprintable():
        raise BadInput(
            f"{name[:_MOST]!r} cannot name a criterion",
            where=str(path),
            do=f"use at most {_MOST} characters on one line, without a colon",
        )
    return name


def _check_template(text: str, optional: tuple[str, ...], where: str, points: tuple[int, int] | None) -> None:
    """Check the placeholders of a template, and that it asks for a verdict or points that can be read."""
    required = ("question", "passages", *(("answer",) if points else ("answer_a", "answer_b")))
    needed, also = (", ".join(f"{{{name}}}" for name in names) for names in (required, optional))
    marks = f"a number from {points[0]} to {points[1]}, such as [[{points[1]}]]" if points else MARKS
    check_placeholders(
        "template",
        text,
        known=(*required, *optional),
        needed=required,
        where=where,
        do=(
            f"use {needed}; also allowed: {also}; for braces in the prompt put a space inside them",
            f"it needs {needed}, and must ask for {marks}",
        ),
    )
    if any(mark not in text for mark in (("[[",) if points else ("[[A]]", "[[B]]"))):
        raise BadInput(
            "the template asks for no verdict that can be read", where=where, do=f"ask for {marks}, on a last line"
        )
