"""The sample: queries, passages and reference answers written for this project, one JSON file a language.

    {"language": "fi", "licence": "CC0-1.0", "questions": [
      {"query_id": "fi-01", "question": "..", "question_en": "..",
       "passages": [{"passage_id": "fi-01#0", "title": "..", "text": "..", "relevant": true}, .. 8],
       "reason": ".. [fi-01#0]", "answer": ".. [fi-01#0]"}, .. 10]}

People review and correct these files, so that everything a reviewer could break is checked. The first eight queries
have one to three relevant passages; reason and answer cite the same ones of them. The last two have none: nothing is
cited, and the answer says that the passages hold none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import BadInput
from mirage.io.sources.review import Review, open_review
from mirage.text.answers import compose_answer

if TYPE_CHECKING:
    import pyarrow as pa

REFERENCE = "reference"
"""The system that the answers in the files are those of."""
TEMPLATE = "rag"
QUERIES, ANSWERABLE, PASSAGES = 10, 8, 8
"""Queries of a language, how many of them (the first) have relevant passages, and passages of a query."""
RELEVANT = (1, 3)
"""Fewest and most relevant passages of an answerable query."""
WORDS, CHARACTERS = (25, 70), (60, 180)
"""Shortest and longest passage: in words, or in characters where words are not spaced."""

_FILE = {"language": str, "licence": str, "questions": list}
_QUERY = {"query_id": str, "question": str, "question_en": str, "passages": list, "reason": str, "answer": str}
_PASSAGE = {"passage_id": str, "title": str, "text": str, "relevant": bool}
_BRACKET = re.compile(r"\[([^\]]*)\]")


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
        code, queries = _read(path)
        for query in queries:
            key = code, query["query_id"]
            subset: schema.Subset = (
                "relevant" if any(passage["relevant"] for passage in query["passages"]) else "non_relevant"
            )
            text = compose_answer(query["reason"], query["answer"])
            rows["queries"].append(schema.Query(*key, subset, query["question"], None))
            rows["answers"].append(schema.Answer(*key, REFERENCE, text, "ok", TEMPLATE, None, None))
            rows["passages"] += [
                schema.Passage(
                    *key, passage["passage_id"], position, passage["title"], passage["text"], passage["relevant"]
                )
                for position, passage in enumerate(query["passages"], start=1)
            ]
    return {name: schema.from_rows(name, records) for name, records in rows.items()}


def sample_files(folder: Path) -> list[Path]:
    """Return the files that `read_sample` reads.

    Raises:
        BadInput: if there is no such folder.
    """
    return store.list_files(folder, "*.json")


def _read(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """Language and queries of one file, checked."""
    review, data = open_review(path, _FILE, indent=1, form="mirage/io/sources/sample.py")
    queries = data["questions"]
    review.expect(len(queries) == QUERIES, f"there are {len(queries)} queries")
    for number, query in enumerate(queries, start=1):
        _check_query(review, query, f"{review.code}-{number:02d}", answerable=number <= ANSWERABLE)
    texts = [text for query in queries for text in _unique(query)]
    for repeated in sorted({text for text in texts if texts.count(text) > 1}):
        review.expect(False, f"occurs twice: {repeated[:60]!r}")
    review.refuse()
    return review.code, queries


def _unique(query: Any) -> Iterator[str]:
    """The query and the passage texts, as far as they are there."""
    if isinstance(query, dict):
        yield str(query.get("question"))
        passages = query.get("passages")
        yield from (str(passage.get("text")) for passage in passages or () if isinstance(passage, dict))


def _check_query(review: Review, query: Any, query_id: str, *, answerable: bool) -> None:
    if not review.shape(query, _QUERY, query_id):
        return
    review.expect(query["query_id"] == query_id, f"query_id is {query['query_id']!r}", query_id)
    passages = query["passages"]
    review.expect(len(passages) == PASSAGES, f"there are {len(passages)} passages, not {PASSAGES}", query_id)
    ids = [f"{query_id}#{k}" for k in range(len(passages))]
    shapes_hold = [
        review.shape(passage, _PASSAGE, passage_id) for passage, passage_id in zip(passages, ids, strict=True)
    ]
    if not all(shapes_hold):
        return
    texts = {name: query[name] for name in ("question", "question_en", "reason", "answer")}
    for name, text in texts.items():
        review.text(name, text, query_id)
    for passage, passage_id in zip(passages, ids, strict=True):
        review.expect(passage["passage_id"] == passage_id, f"passage_id is {passage['passage_id']!r}", passage_id)
        review.text("title", passage["title"], passage_id)
        review.text("text", passage["text"], passage_id)
        review.size(passage["text"], WORDS, CHARACTERS, passage_id)
    titles = [passage["title"] for passage in passages]
    review.expect(len(set(titles)) == len(titles), "two passages have the same title", query_id)

    relevant = {passage_id for passage, passage_id in zip(passages, ids, strict=True) if passage["relevant"]}
    reason, answer = (_find_citations(query[part]) for part in ("reason", "answer"))
    if not answerable:
        review.expect(not relevant, "no passage of this query may be relevant", query_id)
        review.expect(not reason | answer, f"nothing may be cited, and {sorted(reason | answer)} is", query_id)
        return
    low, high = RELEVANT
    review.expect(low <= len(relevant) <= high, f"{len(relevant)} passages are relevant, not {low} to {high}", query_id)
    review.expect(bool(reason), "the reason cites nothing", query_id)
    review.expect(
        reason == answer, f"the reason cites {sorted(reason)}, the answer {sorted(answer)}, not the same", query_id
    )
    wrong_ids = sorted((reason | answer) - relevant)
    review.expect(not wrong_ids, f"cited and not a relevant passage: {', '.join(wrong_ids)}", query_id)


def _find_citations(text: str) -> set[str]:
    """Return all content of square brackets: here all of it must be citations, so that no error passes as text."""
    return {citation.strip() for bracket in _BRACKET.findall(text) for citation in bracket.split(",")}
