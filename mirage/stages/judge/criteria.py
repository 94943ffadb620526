"""Criteria of a judge: what it is asked, on which scale, and in which words.

    load_criterion("groundedness")                 # a bundled criterion
    load_criterion(rubric=Path("tone.yaml"))       # a question and a scale of your own
    load_criterion(prompt=Path("mine.txt"))        # a whole prompt of your own

A judge with another criterion is another judge: its verdicts are stored as `NAME: CRITERION`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from mirage.errors import BadInput, UnknownName
from mirage.llm.prompts import bundled_text, check_placeholders, fill, read_prompt
from mirage.schema import OVERALL, criterion_judge
from mirage.store.files import Line
from mirage.store.yaml_files import yaml_fields
from mirage.text.languages import base, is_code, name_of

PLANTED = "planted"
"""Suffix of the judge name for planted cases (`prompt.Plant`), so no criterion has this name."""
MARKS = "[[A]] if assistant A is better, [[B]] if assistant B is better, [[C]] for a tie"
"""The verdicts that are read from a judge's reply to a pair of answers."""
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
_PAIRWISE = "pairwise"
_POINTS = re.compile(r"(?:points\s+)?(\d{1,4})\s*(?:to|-|–|\.\.)\s*(\d{1,4})", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")
_FIELDS = ("name", "question", "scale", "margin", "template")
_MOST = 40
"""Maximum length of a name."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale on which a judge decides by a criterion."""

    kind: Literal["pairwise", "points"] = "pairwise"
    """`pairwise`: a verdict on two answers. `points`: points for one answer; the answer with more points wins."""
    low: int = 0
    """Fewest points, the worst."""
    high: int = 0
    """Most points, the best."""
    margin: float = 0.0
    """Answers whose points differ by at most this tie."""

    @property
    def required(self) -> tuple[str, ...]:
        """Placeholders that a template must have."""
        return ("question", "passages", *(("answer",) if self.kind == "points" else ("answer_a", "answer_b")))

    @property
    def marks(self) -> str:
        """The marks that are read from a reply, in words."""
        return MARKS if self.kind == "pairwise" else f"a number from {self.low} to {self.high}, as in [[{self.high}]]"


@dataclass(frozen=True, slots=True)
class Criterion:
    """Criterion of a judge. Texts are by language, each a pair of code and text; the first is the fallback."""

    name: str
    """Its name, in column `criterion` and after the judge's name."""
    scale: Scale
    """How it decides."""
    templates: tuple[tuple[str, str], ...]
    """Prompt templates; see `Scale.required` for their placeholders. Also allowed: `{criterion}` for the question,
    `{code}` for a code that occurs in no inserted text, to fence them, `{language}` for the English name of the query's
    language, and with points `{low}` and `{high}`.
    """
    questions: tuple[tuple[str, str], ...] = ()
    """What to judge by, for `{criterion}`."""

    @property
    def prompt(self) -> str:
        """Hash of the instructions to the judge and of the scale: 12 hexadecimal digits."""
        scale = [self.scale.kind, self.scale.low, self.scale.high, self.scale.margin]
        told = json.dumps([self.templates, self.questions, scale], ensure_ascii=False)
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    def judge_name(self, judge: str) -> str:
        """Return the name under which a judge's verdicts by this criterion are stored."""
        return criterion_judge(judge, self.name)

    def template(self, language: str) -> str:
        """Return the prompt for queries in a language, with all placeholders but those of the battle filled.

        Templates and questions in the query's language are used if there are any, else those in its base language
        (`pt` for `pt-BR`), in English, or the first, in this order.
        """
        name = name_of(language) if language else ""
        question = fill(_in_language(self.questions, language), {"language": name}) if self.questions else ""
        told = {"criterion": question, "language": name, "low": str(self.scale.low), "high": str(self.scale.high)}
        text = _in_language(self.templates, language)
        return _PLACEHOLDER.sub(lambda match: told.get(match[1], match[0]), text)


def _in_language(texts: tuple[tuple[str, str], ...], language: str) -> str:
    by_code = dict(texts)
    return next((by_code[code] for code in (language, base(language), "en") if code in by_code), texts[0][1])


@cache
def _load_bundled(name: str) -> Criterion:
    if name == OVERALL:
        return Criterion(OVERALL, Scale(), (("en", bundled_text("judge")),))
    return Criterion(name, Scale(), (("en", bundled_text("criterion")),), (("en", _QUESTIONS[name]),))


def load_criterion(name: str | None = None, *, rubric: Path | None = None, prompt: Path | None = None) -> Criterion:
    """Load a criterion: bundled, from a rubric, or as a whole prompt.

    Args:
        name: one of `BUNDLED`, `overall` if None; with `prompt`, a name for it instead of its file's.
        rubric: YAML file with the fields `question` (a text, or texts by language), and optionally `name` (otherwise
            the file's), `scale` (`pairwise`, the default, or points such as `1 to 5`), `margin` and `template` (a text,
            or texts by language).
        prompt: UTF-8 text file with the template; together with a rubric it replaces the rubric's template.

    Raises:
        UnknownName: if there is no such criterion.
        BadInput: if a file is missing or unreadable, a field or placeholder is missing or unknown, a template asks for
            no verdict that can be read, or the name is one of a bundled criterion.
    """
    if rubric is None and prompt is None:
        if name is not None and name not in BUNDLED:
            raise UnknownName("criterion", name, BUNDLED)
        return _load_bundled(name or OVERALL)
    if rubric is not None and name is not None:
        raise BadInput("--criterion and --rubric both name the criterion", where=str(rubric), do="omit --criterion")
    own = None if prompt is None else read_prompt(prompt)
    if rubric is None and prompt is not None:
        criterion = Criterion(_check_name(name or prompt.stem, str(prompt)), Scale(), (("en", own or ""),))
        _check_template(criterion, own or "", str(prompt))
        return criterion
    return _read_rubric(rubric or Path(), own, prompt)


def _read_rubric(path: Path, template: str | None, prompt: Path | None) -> Criterion:
    fields = yaml_fields(path)
    for unknown in sorted(fields.keys() - set(_FIELDS)):
        raise UnknownName("field of a rubric", unknown, _FIELDS, where=fields[unknown].where)
    name = _one_text(fields.get("name"), "name")
    scale = _scale(fields)
    questions = _texts(fields.get("question"), "question")
    if not questions:
        raise BadInput(
            "the rubric has no question",
            where=fields["question"].where if "question" in fields else str(path),
            do="add what to judge by, such as `question: Is the answer polite?`",
        )
    where = str(path)
    templates = _texts(fields.get("template"), "template")
    if template is not None:
        templates, where = (("en", template),), str(prompt)
    elif templates:
        where = fields["template"].where
    else:
        templates = (("en", bundled_text("criterion" if scale.kind == _PAIRWISE else "points")),)
    criterion = Criterion(_check_name(name or path.stem, str(path)), scale, templates, questions)
    for _, text in templates:
        _check_template(criterion, text, where)
    for _, text in questions:
        do = "only {language} can be used in a question"
        check_placeholders("question", text, known=("language",), where=fields["question"].where, do=(do, ""))
    return criterion


def _scale(fields: Mapping[str, Line]) -> Scale:
    """Read the scale of a rubric, with its margin."""
    given = _one_text(fields.get("scale"), "scale") or _PAIRWISE
    where = fields["scale"].where if "scale" in fields else ""
    margin_text = _one_text(fields.get("margin"), "margin")
    match = _POINTS.fullmatch(given.strip())
    if match is None and given.strip() != _PAIRWISE:
        raise BadInput(
            f"the scale {given!r} fits no verdict", where=where, do="write `pairwise`, or points such as `1 to 5`"
        )
    if match is None:
        if margin_text is not None:
            raise BadInput(
                "a pairwise scale has no margin", where=fields["margin"].where, do="omit it, or use points: `1 to 5`"
            )
        return Scale()
    low, high = int(match[1]), int(match[2])
    if low >= high:
        raise BadInput(
            f"the scale {given!r} has no two values", where=where, do="write the lower number first: `1 to 5`"
        )
    try:
        margin = float(margin_text or 0)
    except ValueError:
        margin = -1.0
    if not 0 <= margin < high - low:
        raise BadInput(
            f"the margin {margin_text!r} is not between 0 and {high - low}",
            where=fields["margin"].where,
            do="give the largest difference in points that is still a tie",
        )
    return Scale("points", low, high, margin)


def _one_text(field: Line | None, name: str) -> str | None:
    """Return the text of a field that cannot differ by language."""
    if field is not None and isinstance(field.value, Mapping):
        raise BadInput(f"the {name} is a mapping", where=field.where, do=f"write {name}: VALUE")
    return None if field is None else field.value


def _texts(field: Line | None, name: str) -> tuple[tuple[str, str], ...]:
    """Return the texts of a field by language; a text alone is in English."""
    if field is None or not field.value:
        return ()
    if isinstance(field.value, str):
        return (("en", field.value.strip()),) if field.value.strip() else ()
    for code, text in field.value.items():
        if not is_code(code):
            raise BadInput(f"{code} is no language code", where=field.where, do=f"write {name}: {{en: ..., te: ...}}")
        if not (text or "").strip():
            raise BadInput(f"the {name} in {code} is empty", where=field.where, do="write it, or omit the language")
    return tuple((code, text.strip()) for code, text in field.value.items())


def _check_name(name: str, where: str) -> str:
    name = name.strip()
    if name in (*BUNDLED, PLANTED):
        raise BadInput(f"{name} is the name of a bundled criterion", where=where, do="give yours another name")
    if not 0 < len(name) <= _MOST or ":" in name or not name.isprintable():
        raise BadInput(
            f"{name[:_MOST]!r} cannot name a criterion",
            where=where,
            do=f"use at most {_MOST} characters on one line, without a colon",
        )
    return name


def _check_template(criterion: Criterion, text: str, where: str) -> None:
    """Check the placeholders of a template, and that it asks for a verdict that can be read."""
    scale = criterion.scale
    optional = ["code", "language"]
    optional += ["criterion"] if criterion.questions else []
    optional += ["low", "high"] if scale.kind == "points" else []
    needed = _list_names(scale.required)
    check_placeholders(
        "template",
        text,
        known=(*scale.required, *optional),
        needed=scale.required,
        where=where,
        do=(
            f"use {needed}; also allowed: {_list_names(optional)}; for braces in the prompt put a space inside them",
            f"it needs {needed}, and must ask for {scale.marks}",
        ),
    )
    wanted = ("[[A]]", "[[B]]") if scale.kind == _PAIRWISE else ("[[",)
    if not all(mark in text for mark in wanted):
        raise BadInput(
            "the template asks for no verdict that can be read",
            where=where,
            do=f"ask for {scale.marks}, on a last line",
        )


def _list_names(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
