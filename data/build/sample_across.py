"""Build the sample across languages: `python data/build/sample_across.py [INTO]`, or `make sample`.

`questions.jsonl` has parallel questions, CC0-1.0, written over the sample. Each is a question of the sample (`of`),
asked in every language: its own language and English use the sample's text, the others the text written here. In its
own language the sample's passages answer it, in every other the passage written here. `answers` has the answer in every
language. `passages` and `answers` are empty for a question that no passage answers.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
from derivation import derive
from sample_source import LICENCE, english_questions, read_sample
from searching import DEPTH, Search, find_passages, search_by

from mirage import schema
from mirage.io.imports.public import prints
from mirage.stages.generate.baselines import ABSTENTIONS, TEMPLATE
from mirage.stages.generate.stage import whole_system
from mirage.stages.retrieve.bm25 import Bm25, Hit
from mirage.stages.retrieve.corpus import Corpus
from mirage.store import files, writing
from mirage.store.arena import Arena
from mirage.store.writing import Provenance
from mirage.text.answers import compose_answer
from mirage.text.segmentation import terms

WORDS, TRANSLATED = "words", "translated"
RETRIEVERS = {
    WORDS: "searches one index of all languages by the question's own words",
    TRANSLATED: "searches it by the question in each of its languages, and fuses the lists by rank",
}
"""The retrievers by name, and how each searches."""
POLYGLOT, NATIVE = "polyglot", "native"
CHARACTERS = {
    POLYGLOT: "answers from any relevant passage that it was shown, whatever its language",
    NATIVE: "answers from relevant passages in the question's language alone, else finds no answer",
}
"""The systems by name, and the character of each."""
SHOWN = 5
"""Top passages shown to a system."""
_DEEP = 50
"""Passages of each list that is fused."""
_RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""
ASSIGNER = "written"
FILE = "questions.jsonl"


@dataclass(frozen=True, slots=True)
class ParallelQuestion:
    """One question in several languages."""

    query_id: str
    of: str
    """The question of the sample, such as `de-06`."""
    questions: Mapping[str, str]
    """Its text by language, for languages that the sample lacks."""
    passages: Mapping[str, Mapping[str, str]]
    """Title and text of a passage that answers it, by language, except its own."""
    answers: Mapping[str, str]
    """The answer according to the passages, by language."""


def read_parallel(folder: Path) -> tuple[tuple[str, ...], list[ParallelQuestion]]:
    """Return the languages of the parallel questions, and the questions."""
    names = [field.name for field in fields(ParallelQuestion)]
    questions = [ParallelQuestion(*(line.value[name] for name in names)) for line in files.jsonl(folder / FILE)]
    return tuple(sorted({code for question in questions for code in question.answers})), questions


def _search_translated(wordings: Mapping[str, Sequence[str]]) -> Search:
    """Return a search by every wording of a query, which fuses the lists."""

    def search(corpus: Corpus, queries: Sequence[str]) -> list[list[Hit]]:
        index = Bm25(corpus.texts(), terms)
        found = []
        for query in queries:
            scores: dict[str, float] = {}
            for text in sorted(set(wordings[query])):
                for rank, (row, _) in enumerate(index.search(text, _DEEP), start=1):
                    scores[str(row)] = scores.get(str(row), 0.0) + 1 / (_RRF + rank)
            best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:DEPTH]
            found.append([(int(row), score) for row, score in best])
        return found

    return search


def _queries(
    sample: Mapping[str, pa.Table], source: Path, questions: Sequence[ParallelQuestion]
) -> dict[tuple[str, str], str]:
    """Return the text of every question by language and id."""
    own = {row["query_id"]: row for row in sample["queries"].to_pylist()}
    english = english_questions(source)
    texts: dict[tuple[str, str], str] = {}
    for question in questions:
        row = own[question.of]
        written = {"en": english[question.of], **question.questions, row["language"]: row["text"]}
        texts |= {(code, question.query_id): text for code, text in written.items()}
    return texts


def _passages(
    sample: Mapping[str, pa.Table], codes: Sequence[str], questions: Sequence[ParallelQuestion]
) -> list[schema.Passage]:
    """Return the labelled passages of every question: those of the sample, and those written in other languages."""
    by_query: dict[str, list[dict[str, Any]]] = {}
    for row in sample["passages"].sort_by([("query_id", "ascending"), ("position", "ascending")]).to_pylist():
        by_query.setdefault(row["query_id"], []).append(row)
    rows = []
    for question in questions:
        labelled = [
            (row["passage_id"], row["title"], row["text"], row["relevant"], row["language"])
            for row in by_query[question.of]
        ]
        labelled += [
            (f"{question.query_id}#{code}", passage["title"], passage["text"], True, code)
            for code, passage in sorted(question.passages.items())
        ]
        for code in codes:
            rows += [
                schema.Passage(code, question.query_id, name, place, title, text, relevant, True, language)
                for place, (name, title, text, relevant, language) in enumerate(labelled, start=1)
            ]
    return rows


def _cite(system: str, key: tuple[str, str], relevant: Sequence[tuple[str, str]]) -> str | None:
    """Return the passage that a system cites, or None if it abstains.

    Args:
        system: `polyglot` or `native`.
        key: language and id of the query.
        relevant: id and language of the relevant passages shown to it, in order.
    """
    if system == NATIVE:
        return next((name for name, code in relevant if code == key[0]), None)
    if not relevant:
        return None
    # All with equal probability, regardless of rank and language.
    digest = hashlib.sha256("\0".join((system, *key)).encode()).digest()
    return relevant[int.from_bytes(digest[:8], "big") % len(relevant)][0]


def build_sample_across(source: Path, sample_source: Path) -> dict[str, pa.Table]:
    """Build every table of the sample across languages, from the parallel questions and the sample's files."""
    sample = read_sample(sample_source)
    codes, questions = read_parallel(source)
    texts = _queries(sample, sample_source, questions)
    answered = {question.query_id for question in questions if question.answers}
    subsets: dict[bool, schema.Subset] = {True: "relevant", False: "non_relevant"}
    queries = [
        schema.Query(code, query_id, subsets[query_id in answered], text, None)
        for (code, query_id), text in texts.items()
    ]
    nuggets = [
        schema.Nugget(code, question.query_id, "fact", question.answers[code], "vital", None, author=ASSIGNER)
        for question in questions
        for code in codes
        if question.answers
    ]
    tables = {
        "queries": schema.sort("queries", schema.from_rows("queries", queries)),
        "passages": schema.sort("passages", schema.from_rows("passages", _passages(sample, codes, questions))),
        "nuggets": schema.sort("nuggets", schema.from_rows("nuggets", nuggets)),
    }
    pooled = {"queries": tables["queries"], "passages": pa.concat_tables([tables["passages"], sample["passages"]])}
    wordings = {text: [texts[code, query_id] for code in codes] for (_, query_id), text in texts.items()}
    searches = {WORDS: search_by(terms), TRANSLATED: _search_translated(wordings)}
    lists = [find_passages(pooled, name, search, across=True) for name, search in searches.items()]
    tables["retrieved"] = schema.sort("retrieved", pa.concat_tables(lists))
    tables |= _answers(tables, questions)
    return derive(tables, {"outcomes": {}, "features": {}, "judgments by the heuristic judge": {}})


def _answers(tables: Mapping[str, pa.Table], questions: Sequence[ParallelQuestion]) -> dict[str, pa.Table]:
    """Return the answers of every system, and the nuggets that each states."""
    about = {
        (row["language"], row["query_id"], row["passage_id"]): row
        for row in tables["passages"].to_pylist()
        if row["relevant"]
    }
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    order = [(name, "ascending") for name in ("language", "query_id", "retriever", "rank")]
    for row in tables["retrieved"].sort_by(order).to_pylist():
        label = about.get((row["language"], row["query_id"], row["passage_id"]))
        own = found.setdefault((row["language"], row["query_id"], row["retriever"]), [])
        if label is not None and row["rank"] <= SHOWN:
            own.append((row["passage_id"], label["passage_language"]))
    answers, assignments = [], []
    written = {question.query_id: question.answers for question in questions}
    for code, query_id in zip(*(tables["queries"][name].to_pylist() for name in ("language", "query_id")), strict=True):
        sentence = written[query_id].get(code)
        for character, retriever in product(CHARACTERS, RETRIEVERS):
            system = whole_system(character, retriever)
            cited = _cite(character, (code, query_id), found.get((code, query_id, retriever), []))
            claim = f"{sentence} [{cited}]"
            text = compose_answer(*(ABSTENTIONS[code] if cited is None else (claim, claim)))
            answers.append(
                schema.Answer(
                    *(code, query_id, system, text), "ok", TEMPLATE, None, None, retriever=retriever, depth=SHOWN
                )
            )
            if sentence is None:
                continue
            states: schema.Assignment = "not_support" if cited is None else "support"
            quote = None if cited is None else sentence
            assignments.append(
                schema.NuggetAssignment(code, query_id, system, "fact", ASSIGNER, states, quote, None, None)
            )
    return {
        "answers": schema.sort("answers", schema.from_rows("answers", answers)),
        "nugget_assignments": schema.sort("nugget_assignments", schema.from_rows("nugget_assignments", assignments)),
    }


def write_sample_across(source: Path, sample_source: Path, into: Path) -> Arena:
    """Build the arena; the same files give the same bytes."""
    tables = build_sample_across(source, sample_source)
    codes, questions = read_parallel(source)
    return writing.write(
        into,
        tables,
        title="Sample across languages: the same questions over passages in 18 languages",
        label="sample",
        about=f"Written for this project: {len(questions)} questions of the sample, each asked in {len(codes)} "
        "languages, all but two answered by passages in each, among all passages of the sample. Made by rule, no "
        f"model: {len(RETRIEVERS)} retrievers ({', '.join(RETRIEVERS)}) and {len(CHARACTERS)} characters of systems "
        f"({', '.join(CHARACTERS)}). Computed: outcomes, features and the heuristic judge's verdicts.",
        licence=LICENCE,
        made_by=Provenance(
            "make sample",
            labels="written",
            sources=prints(source, [source / FILE]),
            notes=[
                *(f"{name} {how}" for name, how in RETRIEVERS.items()),
                *(f"{name} {character}" for name, character in CHARACTERS.items()),
            ],
        ),
    )


if __name__ == "__main__":
    DATA = Path(__file__).parents[1]
    into = Path(sys.argv[1]) if sys.argv[1:] else DATA / "sample-across"
    write_sample_across(DATA / "sample-across" / "source", DATA / "sample" / "source", into)
