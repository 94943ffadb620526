"""Parallel questions across languages, written for this project over the sample, one JSON object a line.

    {"query_id": "across-01", "of": "de-06", "questions": {"ar": "..", "fr": ".."},
     "passages": {"ar": {"title": "..", "text": ".."}, ..}, "answers": {"ar": "..", "de": "..", ..}, "licence": ".."}

Each is a question of the sample (`of`), asked in every language: its own language and English use the sample's text,
the others the text written here. In its own language the sample's passages answer it, in every other the passage
written here. `answers` has the answer in every language. `passages` and `answers` are empty for a question that no
passage answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mirage import store
from mirage.errors import BadInput
from mirage.io.sources.sample import sample_files
from mirage.text.languages import is_code

FILE = "questions.jsonl"
"""File name."""
_FORM = "mirage/io/sources/sample_across.py describes the format"


@dataclass(frozen=True, slots=True)
class ParallelQuestion:
    """One question in several languages."""

    query_id: str
    """Its id in all languages."""
    of: str
    """The question of the sample, such as `de-06`."""
    questions: Mapping[str, str]
    """Its text by language, for languages that the sample lacks."""
    passages: Mapping[str, tuple[str, str]]
    """Title and text of a passage that answers it, by language, except its own."""
    answers: Mapping[str, str]
    """The answer according to the passages, by language."""


def read_parallel(folder: Path) -> tuple[tuple[str, ...], list[ParallelQuestion]]:
    """Read the parallel questions of a folder.

    Returns:
        The languages, and the questions.

    Raises:
        BadInput: if the file is missing or no JSON Lines, or naming the first line that lacks a language or a text.
    """
    questions: list[ParallelQuestion] = []
    codes: tuple[str, ...] = ()
    for line in store.jsonl(folder / FILE):
        value = line.value
        try:
            passages = {code: (own["title"], own["text"]) for code, own in value["passages"].items()}
            question = ParallelQuestion(value["query_id"], value["of"], value["questions"], passages, value["answers"])
            own = question.of.partition("-")[0]
            codes = codes or tuple(sorted(question.answers))
            answered = set(codes) if question.answers else set()
            wanted = {"answers": answered, "passages": answered - {own}, "questions": set(codes) - {own, "en"}}
            wrong = [name for name, languages in wanted.items() if set(getattr(question, name)) != languages]
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"a field is missing: {error}", where=line.where, do=_FORM) from None
        if wrong or own not in codes or not all(map(is_code, codes)):
            problem = f"{' and '.join(wrong) or 'codes'} are not in the languages of the first line"
            raise BadInput(problem, where=line.where, do=_FORM)
        questions.append(question)
    return codes, questions


def english_questions(folder: Path) -> dict[str, str]:
    """Return the English translation of each question of the sample, by its id.

    Args:
        folder: the folder of the sample files, which `mirage.io.sources.sample` checks.
    """
    files = [json.loads("\n".join(text for _, text in store.lines(path))) for path in sample_files(folder)]
    return {row["query_id"]: row["question_en"] for data in files for row in data["questions"]}
