"""The sample: questions, passages and reference answers written for this project, one JSON file a language.

    {"language": "fi", "licence": "CC0-1.0", "questions": [
      {"query_id": "fi-01", "question": "..", "question_en": "..",
       "passages": [{"passage_id": "fi-01#0", "title": "..", "text": "..", "relevant": true}, .. 8],
       "reason": ".. [fi-01#0]", "answer": ".. [fi-01#0]"}, .. 10]}

People review and correct these files, so that everything a reviewer could break is checked. The first eight questions
have one to three relevant passages; reason and answer cite the same ones of them. The last two have none: nothing is
cited, and the answer says that the passages hold none.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.answers import compose_answer
from mirage.errors import BadInput
from mirage.languages import language

if TYPE_CHECKING:
    import pyarrow as pa

REFERENCE = "reference"
"""The system that the answers in the files are those of."""
LICENCE = "CC0-1.0"
"""What the files are released under; each says so."""
TEMPLATE = "rag"
QUESTIONS, ANSWERABLE, PASSAGES = 10, 8, 8
"""Questions of a language, how many of them (the first) have relevant passages, and passages of a question."""
RELEVANT = (1, 3)
"""Fewest and most relevant passages of an answerable question."""
WORDS, CHARACTERS = (25, 70), (60, 180)
"""Shortest and longest passage: in words, or in characters where words are not spaced."""

_FILE = {"language": str, "licence": str, "questions": list}
_QUESTION = {"query_id": str, "question": str, "question_en": str, "passages": list, "reason": str, "answer": str}
_PASSAGE = {"passage_id": str, "title": str, "text": str, "relevant": bool}
_MARKUP = re.compile(r"https?:|<[a-zA-Z/]|\*\*| {2}")
_BRACKET = re.compile(r"\[([^\]]*)\]")
_SHOWN = 10


def read_sample(folder: Path) -> dict[str, pa.Table]:
    """Read and check the sample files of a folder.

    Args:
        folder: a folder of files named by language code, such as `fi.json`.

    Returns:
        The tables `queries` (subset `relevant` or `non_relevant`, whether any passage is), `passages` (labelled, in the
        order of the file) and `answers` (of the system `reference`).

    Raises:
        UnknownName: if a file is named after no known language.
        BadInput: naming file and line of what is wrong, the first ten places of a file; nothing is repaired.
    """
    files = sample_files(folder)
    if not files:
        raise BadInput(f"there is no sample file in {folder}", do="name each by its language, as fi.json")
    rows: dict[str, list[Any]] = {"queries": [], "passages": [], "answers": []}
    for path in files:
        code = language(path.stem, where=str(path)).code
        for question in _read(path, code):
            key = code, question["query_id"]
            subset: schema.Subset = (
                "relevant" if any(passage["relevant"] for passage in question["passages"]) else "non_relevant"
            )
            text = compose_answer(question["reason"], question["answer"])
            rows["queries"].append(schema.Query(*key, subset, question["question"], None))
            rows["answers"].append(schema.Answer(*key, REFERENCE, text, "ok", TEMPLATE, None, None))
            rows["passages"] += [
                schema.Passage(
                    *key, passage["passage_id"], position, passage["title"], passage["text"], passage["relevant"]
                )
                for position, passage in enumerate(question["passages"], start=1)
            ]
    return {name: schema.from_rows(name, records) for name, records in rows.items()}


def sample_files(folder: Path) -> list[Path]:
    """The files that `read_sample` reads.

    Raises:
        BadInput: if there is no such folder.
    """
    return store.list_files(folder, "*.json")


@dataclass
class _Check:
    """A file under review: what is wrong, and where."""

    path: Path
    lines: list[str]
    wrong: list[tuple[str, str]] = field(default_factory=list)

    def expect(self, holds: bool, problem: str, item_id: str = "") -> None:
        """Note what is wrong at the id `item_id`, unless it holds."""
        if not holds:
            line = next((n for n, text in enumerate(self.lines, start=1) if item_id and f'"{item_id}"' in text), None)
            self.wrong.append(
                (f"{self.path}:{line}" if line else str(self.path), f"{item_id}: {problem}" if item_id else problem)
            )

    def shape(self, value: Any, fields: Mapping[str, type], item_id: str) -> bool:
        """Whether a value is an object of exactly these fields, each of its type and no text empty."""
        before = len(self.wrong)
        if not isinstance(value, dict):
            self.expect(False, f"{value!r} is no object", item_id)
            return False
        self.expect(set(value) == set(fields), f"the fields are {sorted(value)}, not {sorted(fields)}", item_id)
        for name, kind in fields.items():
            if name in value:
                self.expect(type(value[name]) is kind and value[name] != "", f"{name} is {value[name]!r}", item_id)
        return len(self.wrong) == before

    def refuse(self) -> None:
        """Raise if anything is wrong."""
        if self.wrong:
            lines = [f"{where}: {problem}" for where, problem in self.wrong[:_SHOWN]]
            more = len(self.wrong) - len(lines)
            raise BadInput(
                f"{len(self.wrong)} things in this sample file are wrong",
                where="\n         ".join(lines + ([f"and {more} more"] if more else [])),
                do="correct them; the head of mirage/sources/sample.py has the form",
            )


def _read(path: Path, code: str) -> list[dict[str, Any]]:
    """The questions of one file, checked."""
    raw = "\n".join(text for _, text in store.lines(path))
    try:
        data = json.loads(raw)
    except ValueError as error:
        raise BadInput(f"this is not JSON: {error}", where=str(path), do="save it as JSON") from None
    check = _Check(path, raw.split("\n"))
    if check.shape(data, _FILE, ""):
        check.expect(data["language"] == code, f"language is {data['language']!r}, the file's name says {code!r}")
        check.expect(data["licence"] == LICENCE, f"licence is {data['licence']!r}, not {LICENCE!r}")
        check.expect(len(data["questions"]) == QUESTIONS, f"there are {len(data['questions'])} questions")
        check.expect(
            raw.strip() == json.dumps(data, indent=1, ensure_ascii=False),
            "the layout is not that of json.dumps(.., indent=1, ensure_ascii=False)",
        )
        check.expect(unicodedata.is_normalized("NFC", raw), "the text is not in Unicode normal form C")
        for number, question in enumerate(data["questions"], start=1):
            _check_question(check, question, f"{code}-{number:02d}", code, answerable=number <= ANSWERABLE)
        texts = [text for question in data["questions"] for text in _unique(question)]
        for repeated in sorted({text for text in texts if texts.count(text) > 1}):
            check.expect(False, f"occurs twice: {repeated[:60]!r}")
    check.refuse()
    return list(data["questions"])


def _unique(question: Any) -> Iterator[str]:
    """The question and the passage texts, as far as they are there."""
    if isinstance(question, dict):
        yield str(question.get("question"))
        passages = question.get("passages")
        yield from (str(passage.get("text")) for passage in passages or () if isinstance(passage, dict))


def _check_question(check: _Check, question: Any, query_id: str, code: str, *, answerable: bool) -> None:
    if not check.shape(question, _QUESTION, query_id):
        return
    check.expect(question["query_id"] == query_id, f"query_id is {question['query_id']!r}", query_id)
    passages = question["passages"]
    check.expect(len(passages) == PASSAGES, f"there are {len(passages)} passages, not {PASSAGES}", query_id)
    ids = [f"{query_id}#{k}" for k in range(len(passages))]
    shapes_hold = [
        check.shape(passage, _PASSAGE, passage_id) for passage, passage_id in zip(passages, ids, strict=True)
    ]
    if not all(shapes_hold):
        return
    texts = {name: question[name] for name in ("question", "question_en", "reason", "answer")}
    for name, text in texts.items():
        _check_text(check, name, text, query_id)
    for passage, passage_id in zip(passages, ids, strict=True):
        check.expect(passage["passage_id"] == passage_id, f"passage_id is {passage['passage_id']!r}", passage_id)
        _check_text(check, "title", passage["title"], passage_id)
        _check_text(check, "text", passage["text"], passage_id)
        spaced = language(code).spaced
        size, (low, high) = (len(passage["text"].split()), WORDS) if spaced else (len(passage["text"]), CHARACTERS)
        unit = "words" if spaced else "characters"
        check.expect(low <= size <= high, f"the text has {size} {unit}, not {low} to {high}", passage_id)
    titles = [passage["title"] for passage in passages]
    check.expect(len(set(titles)) == len(titles), "two passages have the same title", query_id)

    relevant = {passage_id for passage, passage_id in zip(passages, ids, strict=True) if passage["relevant"]}
    reason, answer = (_cited(question[part]) for part in ("reason", "answer"))
    if not answerable:
        check.expect(not relevant, "no passage of this question may be relevant", query_id)
        check.expect(not reason | answer, f"nothing may be cited, and {sorted(reason | answer)} is", query_id)
        return
    low, high = RELEVANT
    check.expect(low <= len(relevant) <= high, f"{len(relevant)} passages are relevant, not {low} to {high}", query_id)
    check.expect(bool(reason), "the reason cites nothing", query_id)
    check.expect(
        reason == answer, f"the reason cites {sorted(reason)}, the answer {sorted(answer)}, not the same", query_id
    )
    wrong_ids = sorted((reason | answer) - relevant)
    check.expect(not wrong_ids, f"cited and not a relevant passage: {', '.join(wrong_ids)}", query_id)


def _cited(text: str) -> set[str]:
    """What stands in square brackets: here everything there must be a citation, so that no slip passes as text."""
    return {citation.strip() for bracket in _BRACKET.findall(text) for citation in bracket.split(",")}


def _check_text(check: _Check, name: str, text: str, item_id: str) -> None:
    check.expect(text == text.strip(), f"{name} has white space around it", item_id)
    check.expect(not _MARKUP.search(text), f"{name} holds markup, a link or two spaces", item_id)
