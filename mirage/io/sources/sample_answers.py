"""The sentences of the sample that its systems answer with, written for this project, one JSON file a language.

    {"language": "fi", "licence": "CC0-1.0", "padding": ["..", .. 4], "answers": [
     {"query_id": "fi-01", "facts": ["..", ".."], "unsupported": "..", "english": ".."}, .. 10]}

People review and correct these files, so that everything a reviewer could break is checked. `facts` has one sentence
for each nugget of the query, in the order of the nuggets and in other words; a query without relevant passages has
none. `unsupported` sounds like an answer and is wrong or stated by no passage. `english` says in English what the vital
facts say, or the unsupported claim where there is none. `padding` fits every query and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput
from mirage.io.sources.review import Review, open_review
from mirage.io.sources.sample_nuggets import SampleNugget

ANSWERS = "answers"
"""The folder of these files, beside the sample files."""
PADDING = 4
"""Sentences of padding of a language."""

_FILE = {"language": str, "licence": str, "padding": list, "answers": list}
_ANSWER = {"query_id": str, "facts": list, "unsupported": str, "english": str}


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The sentences about one query."""

    facts: tuple[str, ...]
    """One sentence for each nugget of the query, in their order."""
    unsupported: str
    """An answer that is wrong, or that no passage states."""
    english: str
    """The vital facts in English; without any, the unsupported answer."""


@dataclass(frozen=True, slots=True)
class WrittenAnswers:
    """The sentences of some languages."""

    by_query: Mapping[tuple[str, str], WrittenAnswer]
    """Sentences by language and query."""
    padding: Mapping[str, Sequence[str]]
    """Sentences by language that fit every query and say nothing."""


def read_written(folder: Path, queries: Iterable[tuple[str, str]], nuggets: Sequence[SampleNugget]) -> WrittenAnswers:
    """Read and check the written answers of a folder.

    Args:
        folder: a folder of files named by language code, such as `fi.json`; every language of the queries has one.
        queries: language and id of every query.
        nuggets: the nuggets, as `read_nuggets` gives them.

    Raises:
        BadInput: naming file and line of what is wrong, the first ten places of a file; nothing is repaired.
    """
    expected: dict[str, dict[str, int]] = {}
    for language, query_id in queries:
        expected.setdefault(language, {})[query_id] = sum(nugget.query_id == query_id for nugget in nuggets)
    by_query, padding = {}, {}
    for path in written_files(folder, sorted(expected)):
        review, data = open_review(path, _FILE, indent=1, form="mirage/io/sources/sample_answers.py")
        _check(review, data, expected[review.code])
        padding[review.code] = tuple(data["padding"])
        for answer in data["answers"]:
            texts = tuple(answer["facts"]), answer["unsupported"], answer["english"]
            by_query[review.code, answer["query_id"]] = WrittenAnswer(*texts)
    return WrittenAnswers(by_query, padding)


def written_files(folder: Path, languages: Iterable[str]) -> list[Path]:
    """The files that `read_written` reads.

    Raises:
        BadInput: if a language has none.
    """
    files = {path.stem: path for path in store.list_files(folder, "*.json")}
    lacking = [code for code in languages if code not in files]
    if lacking:
        raise BadInput(
            f"there are no written answers in {', '.join(lacking)}", where=str(folder), do=f"add {lacking[0]}.json"
        )
    return [files[code] for code in languages]


def _check(review: Review, data: Mapping[str, Any], expected: Mapping[str, int]) -> None:
    """Refuse a file with a mistake; `expected` is the number of nuggets by query."""
    padding, answers = data["padding"], data["answers"]
    review.expect(len(padding) == PADDING, f"there are {len(padding)} sentences of padding, not {PADDING}")
    sound = [
        answer
        for number, answer in enumerate(answers, start=1)
        if review.shape(answer, _ANSWER, _place(answer, number))
    ]
    ids = [answer["query_id"] for answer in sound]
    review.expect(ids == sorted(expected), f"the answers are to {', '.join(ids)}, not to each query once, in order")
    for answer in sound:
        query_id, facts = answer["query_id"], answer["facts"]
        n = expected.get(query_id, 0)
        review.expect(len(facts) == n, f"there are {len(facts)} facts, and {n} nuggets", query_id)
        for text in (*facts, answer["unsupported"], answer["english"]):
            _check_text(review, text, query_id)
    for text in padding:
        _check_text(review, text, "padding")
    texts = [text for answer in sound for text in (*answer["facts"], answer["unsupported"])]
    for repeated in sorted({str(text) for text in texts if texts.count(text) > 1}):
        review.expect(False, f"occurs twice: {repeated[:60]!r}")
    review.refuse()


def _place(answer: Any, number: int) -> str:
    """Return the id of an answer's query, or its number."""
    query_id = answer.get("query_id") if isinstance(answer, dict) else None
    return query_id if isinstance(query_id, str) else f"answer {number}"


def _check_text(review: Review, text: Any, item_id: str) -> None:
    """Expect a sentence without markup and citations."""
    if isinstance(text, str) and text:
        review.text("a sentence", text, item_id)
        review.expect("[" not in text, "a sentence cites", item_id)
    else:
        review.expect(False, f"a sentence is {text!r}", item_id)
