"""Criteria of a judge: what it is asked, and in which words.

    load_criterion("groundedness")                 # a bundled criterion
    load_criterion(rubric=Path("tone.yaml"))       # a question or a whole prompt of your own

A judge with another criterion is another judge: its verdicts are stored as `NAME: CRITERION`.
"""

from __future__ import annotations

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
_REQUIRED = ("question", "passages", "answer_a", "answer_b")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")
_FIELDS = ("name", "question", "template")
_MOST = 40
"""Maximum length of a name."""
_NO_SCALE = ("pairwise", 0, 0, 0.0)
"""Part of the hash of a prompt, like the language of its texts, so that stored hashes stay valid."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """Criterion of a judge."""

    name: str
    """Its name, in column `criterion` and after the judge's name."""
    text: str
    """Prompt template, with `{question}`, `{passages}`, `{answer_a}` and `{answer_b}`. Also allowed: `{criterion}` for
    the question to judge by, `{code}` for a code that occurs in no inserted text, to fence them, and `{language}` for
    the English name of the query's language.
    """
    question: str = ""
    """What to judge by, for `{criterion}`; may have `{language}`."""

    @property
    def prompt(self) -> str:
        """Hash of the instructions to the judge: 12 hexadecimal digits."""
        told = [[["en", text]] if text else [] for text in (self.text, self.question)]
        return hashlib.sha256(json.dumps([*told, _NO_SCALE], ensure_ascii=False).encode()).hexdigest()[:12]

    def judge_name(self, judge: str) -> str:
        """Return the name under which a judge's verdicts by this criterion are stored."""
        return criterion_judge(judge, self.name)

    def template(self, language: str) -> str:
        """Return the prompt for queries in a language, with all placeholders but those of the battle filled."""
        name = name_of(language) if language else ""
        told = {"criterion": fill(self.question, {"language": name}), "language": name}
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
            (otherwise the file's).

    Raises:
        UnknownName: if there is no such criterion or field.
        BadInput: if a file is missing or unreadable, a placeholder is missing or unknown, a template asks for no
            verdict that can be read, or the name is one of a bundled criterion.
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
    if template:
        _check_template(template, ("code", "language", *(("criterion",) if question else ())), fields["template"].where)
    return Criterion(_name(fields, rubric), template or bundled_text("criterion"), question)


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


def _check_template(text: str, optional: tuple[str, ...], where: str) -> None:
    """Check the placeholders of a template, and that it asks for a verdict that can be read."""
    needed, also = (", ".join(f"{{{name}}}" for name in names) for names in (_REQUIRED, optional))
    check_placeholders(
        "template",
        text,
        known=(*_REQUIRED, *optional),
        needed=_REQUIRED,
        where=where,
        do=(
            f"use {needed}; also allowed: {also}; for braces in the prompt put a space inside them",
            f"it needs {needed}, and must ask for {MARKS}",
        ),
    )
    if "[[A]]" not in text or "[[B]]" not in text:
        raise BadInput(
            "the template asks for no verdict that can be read", where=where, do=f"ask for {MARKS}, on a last line"
        )
