"""NoMIRACL in: published outputs, labelled queries, and the download of both."""

from __future__ import annotations

import gzip
import json
import random
import socket
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from nomiracl_cases import HEAD, PASSAGES, prompt, row, save

from mirage import schema
from mirage.errors import BadInput, UnknownName, Unreachable
from mirage.io.imports import import_outputs
from mirage.io.sources.nomiracl import (
    DownloadResult,
    pull_nomiracl,
    read_outputs,
    read_queries,
    split_prompt,
    summarise,
)
from mirage.text.languages import LANGUAGES


def one_file(folder: Path, *rows: dict[str, Any] | str) -> Path:
    return save(folder / "relevant" / "en.test.vanilla_prompt.jsonl", rows)


def valid(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    for name, table in tables.items():
        schema.validate(name, table)
    return tables


# Published outputs


def test_outputs_become_queries_passages_and_answers(tmp_path: Path) -> None:
    save(tmp_path / "relevant" / "en.test.vanilla_prompt.jsonl", [row("q1")])
    save(
        tmp_path / "non_relevant" / "fi.test.vanilla_prompt.jsonl.gz", [row("q2", results={"alpha": "No", "beta": "?"})]
    )
    tables = valid(read_outputs(tmp_path))
    assert schema.sort("queries", tables["queries"]).to_pylist() == [
        {
            "language": "en",
            "query_id": "q1",
            "subset": "relevant",
            "text": "What is q1?",
            "reason": None,
            "labelled_by": None,
        },
        {
            "language": "fi",
            "query_id": "q2",
            "subset": "non_relevant",
            "text": "What is q2?",
            "reason": None,
            "labelled_by": None,
        },
    ]
    passages = schema.sort("passages", tables["passages"]).to_pylist()
    assert passages[3] == {
        "language": "en",
        "query_id": "q1",
        "passage_id": "q1#3",
        "position": 4,
        "title": "Title 4",
        "text": "Text of passage 4.",
        "relevant": None,
        "pooled": None,
        "passage_language": None,
    }
    assert [p["relevant"] for p in passages] == [None] * 10 + [False] * 10
    answers = schema.sort("answers", tables["answers"]).to_pylist()
    assert [(a["language"], a["system"], a["text"], a["status"], a["template"]) for a in answers] == [
        ("en", "alpha", "Yes, answer is present.", "ok", "vanilla"),
        ("en", "beta", "I don't know.", "ok", "vanilla"),
        ("fi", "alpha", "No", "ok", "vanilla"),
        ("fi", "beta", "?", "ok", "vanilla"),
    ]


def test_a_checkout_of_the_repository_and_english_names_are_read_alike(tmp_path: Path) -> None:
    save(tmp_path / "a" / "relevant" / "sw.test.vanilla_prompt.jsonl", [row()])
    save(tmp_path / "b" / "results" / "baselines" / "relevant" / "swahili.test.vanilla_prompt.jsonl", [row()])
    first, second = read_outputs(tmp_path / "a"), read_outputs(tmp_path / "b")
    assert all(first[name].equals(second[name]) for name in ("queries", "passages", "answers"))


def test_a_system_seen_anywhere_in_the_folder_is_missing_where_it_has_no_answer(tmp_path: Path) -> None:
    save(tmp_path / "relevant" / "en.test.vanilla_prompt.jsonl", [row("q1"), row("q2", results={"beta": None})])
    save(tmp_path / "relevant" / "fr.test.vanilla_prompt.jsonl", [row("q1", results={"gamma": "oui"})])
    tables = valid(read_outputs(tmp_path))
    missing = [a for a in tables["answers"].to_pylist() if a["status"] == "missing"]
    assert [(a["language"], a["query_id"], a["system"]) for a in missing] == [
        ("en", "q1", "gamma"),
        ("en", "q2", "alpha"),
        ("en", "q2", "beta"),
        ("en", "q2", "gamma"),
        ("fr", "q1", "alpha"),
        ("fr", "q1", "beta"),
    ]
    assert {(a["text"], a["template"]) for a in missing} == {(None, "vanilla")}
    assert len(tables["answers"]) == 3 * 3


def test_empty_answers_keep_their_text_and_error_texts_stay_answers_pitfall_12(tmp_path: Path) -> None:
    texts = {"a": "", "b": " \n\t", "c": "\u3000", "d": "Unable to generate response.", "e": "."}
    one_file(tmp_path, row(results=texts))
    answers = valid(read_outputs(tmp_path))["answers"].to_pylist()
    assert {a["system"]: a["text"] for a in answers} == texts
    assert {a["system"]: a["status"] for a in answers} == {
        "a": "empty",
        "b": "empty",
        "c": "empty",
        "d": "ok",
        "e": "ok",
    }


def test_a_row_without_prompt_keeps_its_answers_and_says_why_it_has_no_text(tmp_path: Path) -> None:
    one_file(tmp_path, row(prompt=None, template="some other"))
    tables = valid(read_outputs(tmp_path))
    assert tables["queries"].to_pylist()[0]["text"] is None
    assert tables["queries"].to_pylist()[0]["reason"] == "the prompt was not published"
    passages = tables["passages"].to_pylist()
    assert [(p["passage_id"], p["position"]) for p in passages] == [(f"q1#{k}", k + 1) for k in range(10)]
    assert {(p["title"], p["text"]) for p in passages} == {(None, None)}
    assert len(tables["answers"]) == 2


def test_titles_end_at_the_first_colon_and_space(tmp_path: Path) -> None:
    texts = ["Ratio 3:1: text: more", "no title at all", ": untitled", "Title: ", *PASSAGES[4:]]
    one_file(tmp_path, row(prompt=prompt("?", texts)))
    passages = read_outputs(tmp_path)["passages"].to_pylist()[:4]
    assert [(p["title"], p["text"]) for p in passages] == [
        ("Ratio 3:1", "text: more"),
        (None, "no title at all"),
        ("", "untitled"),
        ("Title", ""),
    ]


def test_the_summary_counts_what_was_read_by_language(tmp_path: Path) -> None:
    save(tmp_path / "relevant" / "en.test.vanilla_prompt.jsonl", [row("q1"), row("q2", prompt=None)])
    save(tmp_path / "non_relevant" / "en.test.vanilla_prompt.jsonl", [row("q3", results={"alpha": " "})])
    save(tmp_path / "relevant" / "ar.test.vanilla_prompt.jsonl", [row("q1")])
    summary = summarise(read_outputs(tmp_path))
    numbers = {"files": 2, "queries": 3, "answers": 5, "missing": 1, "empty": 1, "prompts_absent": 1}
    assert [asdict(count) for count in summary.languages] == [
        {"language": "ar", "files": 1, "queries": 1, "answers": 2, "missing": 0, "empty": 0, "prompts_absent": 0},
        {"language": "en", **numbers},
    ]
    assert asdict(summary.total) == {**numbers, "language": "all", "files": 3, "queries": 4, "answers": 7}
    assert summary.systems == ("alpha", "beta")


def test_progress_is_told_file_by_file(tmp_path: Path) -> None:
    for code in ("en", "fi", "fr"):
        save(tmp_path / "relevant" / f"{code}.test.vanilla_prompt.jsonl", [row()])
    reports: list[tuple[int, int]] = []
    read_outputs(tmp_path, progress=lambda count, total: reports.append((count, total)))
    assert reports == [(0, 3), (1, 3), (2, 3), (3, 3)]


def without(name: str) -> dict[str, Any]:
    return {k: v for k, v in row("q2").items() if k != name}


BAD_ROWS = {
    "not JSON": ('{"query_id": "q2", ', "not JSON"),
    "not an object": ("[1, 2]", "not an object"),
    "no query_id": (without("query_id"), "'query_id' is missing"),
    "no docids": (without("docids"), "'docids' is missing"),
    "no prompt": (without("prompt"), "'prompt' is missing"),
    "no template": (without("template"), "'template' is missing"),
    "no results": (without("results"), "'results' is missing"),
    "query_id a number": (row("q2", query_id=7), "query_id is a number, not text"),
    "query_id empty": (row("q2", query_id=""), "query_id is empty"),
    "docids a text": (row("q2", docids="1#0"), "docids is text, not a list"),
    "a docid a number": (row("q2", docids=[1, *"bcdefghij"]), "docid of query q2 is a number"),
    "nine docids": (row("q2", docids=list("abcdefghi")), "q2 has 9 docids, not 10"),
    "eleven docids": (row("q2", docids=list("abcdefghijk")), "q2 has 11 docids, not 10"),
    "a docid twice": (row("q2", docids=list("aacdefghij")), "q2 has a docid twice"),
    "prompt a list": (row("q2", prompt=[]), "prompt is a list, not text or null"),
    "template null": (row("q2", template=None), "template is null, not text"),
    "another template": (row("q2", template="explanation"), "'explanation'"),
    "results a list": (row("q2", results=[]), "results is a list, not an object"),
    "an answer a number": (row("q2", results={"alpha": 3}), "answer of alpha to query q2 is a number, not text"),
    "an answer a flag": (row("q2", results={"alpha": True}), "is true or false, not text"),
    "the same query again": (row("q1"), "query q1 of en occurs twice"),
    "nine passages, pitfall 30": (row("q2", prompt=prompt("?", PASSAGES[:9])), "q2 shows 9 passages, not 10"),
    "eleven passages, pitfall 30": (row("q2", prompt=prompt("?", [*PASSAGES, "t: x"])), "q2 shows more than 10"),
    "no passages, pitfall 30": (row("q2", prompt=f"{HEAD}\n\nQUESTION:\n?\n\nOUTPUT:\n"), "q2 shows 0 passages"),
    "a prompt cut off": (row("q2", prompt=prompt("?", PASSAGES)[:-5]), "query q2 has no QUESTION: or does not end"),
}


@pytest.mark.parametrize(("bad", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_row_that_is_not_as_published_is_refused_with_file_and_line_pitfall_31(
    tmp_path: Path, bad: dict[str, Any] | str, message: str
) -> None:
    path = one_file(tmp_path, row("q1"), bad)
    with pytest.raises(BadInput) as caught:
        read_outputs(tmp_path)
    assert message in caught.value.what
    assert f"{path}:2" in caught.value.where
    assert caught.value.do


def test_a_query_of_both_subsets_is_refused_and_one_of_two_languages_is_not(tmp_path: Path) -> None:
    save(tmp_path / "non_relevant" / "en.test.vanilla_prompt.jsonl", [row("q1")])
    save(tmp_path / "relevant" / "fr.test.vanilla_prompt.jsonl", [row("q1")])
    valid(read_outputs(tmp_path))
    path = one_file(tmp_path, row("q1"))
    with pytest.raises(BadInput, match="query q1 of en occurs twice") as caught:
        read_outputs(tmp_path)
    assert f"{path}:1" in caught.value.where
    assert "non_relevant" in caught.value.where


def test_a_truncated_gzip_is_refused_with_its_line(tmp_path: Path) -> None:
    path = save(tmp_path / "relevant" / "en.test.vanilla_prompt.jsonl.gz", [row(f"q{k}") for k in range(50)])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="damaged or truncated") as caught:
        read_outputs(tmp_path)
    assert f"{path}:" in caught.value.where


def test_text_that_is_no_unicode_is_refused_with_its_file(tmp_path: Path) -> None:
    path = one_file(tmp_path, json.dumps(row(results={"alpha": "x"})).replace('"x"', '"\\ud800"'))
    with pytest.raises(BadInput) as caught:
        read_outputs(tmp_path)
    assert str(path) in caught.value.where


def test_an_empty_file_an_unknown_language_and_a_language_given_twice_are_refused(tmp_path: Path) -> None:
    path = one_file(tmp_path / "a")
    with pytest.raises(BadInput, match="this file is empty") as caught:
        read_outputs(tmp_path / "a")
    assert caught.value.where == str(path)
    other = save(tmp_path / "b" / "relevant" / "swahilli.test.vanilla_prompt.jsonl", [row()])
    with pytest.raises(UnknownName, match="swahilli") as unknown:
        read_outputs(tmp_path / "b")
    assert unknown.value.where == str(other)
    one_file(tmp_path / "c", row())
    save(tmp_path / "c" / "relevant" / "en.test.vanilla_prompt.jsonl.gz", [row()])
    with pytest.raises(BadInput, match="two files for en, relevant"):
        read_outputs(tmp_path / "c")


def test_a_folder_without_outputs_is_refused_with_the_layout(tmp_path: Path) -> None:
    (tmp_path / "relevant").mkdir()
    (tmp_path / "relevant" / "notes.txt").write_text("nothing", encoding="utf-8")
    with pytest.raises(BadInput, match="holds no published outputs") as caught:
        read_outputs(tmp_path)
    assert "en.test.vanilla_prompt.jsonl" in caught.value.do
    with pytest.raises(BadInput, match="there is no folder"):
        read_outputs(tmp_path / "nowhere")


# Passages out of prompts

HOSTILE = st.lists(
    st.one_of(
        st.sampled_from(["\n", "\n\n", " ", "CONTEXTS:", "CONTEXTS:\n", "QUESTION:\n", "OUTPUT:\n", ": ", "x"]),
        st.integers(0, 12).map("[{}] ".format),
        st.integers(0, 12).map("\n[{}] y: z".format),
        st.integers(0, 12).map("\n\n[{}] y: z".format),
        st.sampled_from(
            ["\n\nCONTEXTS:\n[1] ", "\n\nQUESTION:\n", "\n\nOUTPUT:\n", "12#0", "[12#0, 3#1]", "سؤال", "文"]
        ),
        st.text(max_size=8),
    ),
    max_size=6,
).map("".join)
NO_BLANK_LINE = HOSTILE.map(lambda text: text.replace("\n\n", "\n \n"))


@given(query=HOSTILE, passages=st.lists(HOSTILE, min_size=10, max_size=10))
@example(query="?", passages=["a\n\n[2] forged: x", *PASSAGES[1:]])
def test_a_split_is_exact_or_refused_never_another_pitfall_18(query: str, passages: list[str]) -> None:
    try:
        result = split_prompt(prompt(query, passages), query_id="q")
    except BadInput:
        # Refused only where a blank line precedes a number inside a text.
        assert any("\n\n[" in text or "\n\nCONTEXTS:\n[1] " in text for text in (query, *passages))
    else:
        assert result == (query, passages)


@given(query=NO_BLANK_LINE, passages=st.lists(NO_BLANK_LINE, min_size=10, max_size=10))
def test_every_text_without_blank_lines_survives_pitfall_18(query: str, passages: list[str]) -> None:
    assume(not any("\n\n" in text for text in (query, *passages)))
    assert split_prompt(prompt(query, passages), query_id="q") == (query, passages)


def test_passages_that_mention_numbers_and_headings_survive_pitfall_18() -> None:
    passages = [
        "One: see [2] and\n[2] this line, and [1] itself",
        "Two: CONTEXTS:\n[1] a list\n[2] of\n[3] contexts",
        "Three: QUESTION:\nwhat?\n\nOUTPUT:\nnone",
        "Four: an earlier number in a paragraph of its own\n\n[2] Two: again\n\n[3] Three: again",
        "Five: a later number out of turn\n\n[7] Seven: early",
        *PASSAGES[5:9],
        "Ten: \n\nOUTPUT:\n",
    ]
    query = "Is it in\n\nQUESTION:\nCONTEXTS:\nor in [1] or\n[2] there?"
    assert split_prompt(prompt(query, passages), query_id="q") == (query, passages)


@pytest.mark.parametrize("number", [3, 4])
def test_a_paragraph_that_could_be_either_of_two_passages_is_refused(number: int) -> None:
    passages = [*PASSAGES[:2], f"Three: text\n\n[{number}] Forged: text", *PASSAGES[3:]]
    with pytest.raises(
        BadInput, match=rf"prompt of query 8#1 can be split in more than one way.*\[{number}\]"
    ) as caught:
        split_prompt(prompt("?", passages), query_id="8#1", where="file:3")
    assert caught.value.where == "file:3"


# The real files


@pytest.fixture(scope="module")
def published(shared: Path) -> dict[str, pa.Table]:
    return read_outputs(shared / "nomiracl")


@pytest.mark.data
def test_every_answer_and_every_quirk_of_the_published_files_is_accounted_for(published: dict[str, pa.Table]) -> None:
    """The numbers were counted over the raw files of commit 9c787da, without this reader."""
    summary = summarise(valid(published))
    assert asdict(summary.total) == {
        "language": "all",
        "files": 33,
        "queries": 8045,
        "answers": 88469,
        "missing": 26,
        "empty": 349,
        "prompts_absent": 1409,
    }
    assert len(summary.languages) == 17
    assert len(summary.systems) == 11
    missing = published["answers"].filter(pc.equal(published["answers"]["status"], "missing"))
    assert set(zip(missing["language"].to_pylist(), missing["system"].to_pylist(), strict=True)) == {("id", "aya-101")}
    assert len(published["passages"]) == 80450
    assert len(published["answers"]) == 11 * 8045


@pytest.mark.data
def test_passages_of_the_published_files_stand_at_their_docids(published: dict[str, pa.Table]) -> None:
    """A document shown with several queries has one title, so the order of passages is the order of docids."""
    titles: dict[tuple[str, str], set[str]] = defaultdict(set)
    count = 0
    rows = (published["passages"][c].to_pylist() for c in ("language", "passage_id", "title"))
    for code, docid, title in zip(*rows, strict=True):
        if title is not None:
            count += 1
            titles[code, docid].add(title)
    assert count == 66360
    assert count - len(titles) > 3000
    assert sum(len(variants) > 1 for variants in titles.values()) <= 1


@pytest.mark.data
def test_relevance_of_the_published_files_is_false_or_unknown_by_subset_pitfall_27(
    published: dict[str, pa.Table],
) -> None:
    joined = published["passages"].join(published["queries"], ["language", "query_id"], right_suffix="_query")
    labels = {(p["subset"], p["relevant"]) for p in joined.select(["subset", "relevant"]).to_pylist()}
    assert labels == {("non_relevant", False), ("relevant", None)}


# Queries with human labels


def language_folder(root: Path, relevant: int = 4, non_relevant: int = 4, split: str = "test") -> Path:
    """`r0, r1, ..` have passages 1 of which is relevant, `n0, n1, ..` have none that is."""
    (root / "topics").mkdir(parents=True, exist_ok=True)
    (root / "qrels").mkdir(exist_ok=True)
    documents = [{"docid": f"{k}#0", "title": f"T{k}", "text": f"Text {k}: with\ta tab."} for k in range(3)]
    save(root / "corpus.jsonl.gz", [*documents, documents[0]])
    for subset, n, best in (("relevant", relevant, 1), ("non_relevant", non_relevant, 0)):
        ids = [f"{subset[0]}{k}" for k in range(n)]
        topics = "".join(f"{i}\tQuery {i}?\n" for i in ids)
        qrels = "".join(f"{i}\tQ0\t2#0\t0\n{i}\tQ0\t0#0\t{best}\n" for i in ids)
        (root / "topics" / f"{split}.{subset}.tsv").write_text(topics, encoding="utf-8")
        (root / "qrels" / f"{split}.{subset}.tsv").write_text(qrels, encoding="utf-8")
    return root


def ids(tables: dict[str, pa.Table], subset: str, code: str = "en") -> list[str]:
    rows = tables["queries"].to_pylist()
    return [r["query_id"] for r in rows if r["subset"] == subset and r["language"] == code]


def test_topics_become_queries_and_labelled_passages_pitfall_27(tmp_path: Path) -> None:
    language_folder(tmp_path / "data" / "english", relevant=1, non_relevant=1)
    tables = valid(read_queries(tmp_path))
    assert schema.sort("queries", tables["queries"]).to_pylist() == [
        {
            "language": "en",
            "query_id": "n0",
            "subset": "non_relevant",
            "text": "Query n0?",
            "reason": None,
            "labelled_by": None,
        },
        {
            "language": "en",
            "query_id": "r0",
            "subset": "relevant",
            "text": "Query r0?",
            "reason": None,
            "labelled_by": None,
        },
    ]
    common = {"pooled": None, "passage_language": None, "language": "en"}
    zero = {"passage_id": "0#0", "title": "T0", "text": "Text 0: with\ta tab.", "position": 2}
    two = {"passage_id": "2#0", "title": "T2", "text": "Text 2: with\ta tab.", "position": 1}
    assert schema.sort("passages", tables["passages"]).to_pylist() == [
        {**common, "query_id": "n0", **zero, "relevant": False},
        {**common, "query_id": "n0", **two, "relevant": False},
        {**common, "query_id": "r0", **zero, "relevant": True},
        {**common, "query_id": "r0", **two, "relevant": False},
    ]


def test_language_folders_may_be_named_by_code_and_stand_alone(tmp_path: Path) -> None:
    language_folder(tmp_path / "yo", split="dev")
    language_folder(tmp_path / "german", split="dev")
    tables = valid(read_queries(tmp_path, split="dev"))
    assert sorted(set(tables["queries"]["language"].to_pylist())) == ["de", "yo"]
    assert set(read_queries(tmp_path, split="dev", languages=["german"])["queries"]["language"].to_pylist()) == {"de"}
    assert len(read_queries(tmp_path, split="dev", languages=[])["queries"]) == 0


def test_the_sample_is_capped_at_250_a_subset_unless_told_otherwise(tmp_path: Path) -> None:
    language_folder(tmp_path / "en", relevant=260, non_relevant=12)
    tables = valid(read_queries(tmp_path))
    assert (len(ids(tables, "relevant")), len(ids(tables, "non_relevant"))) == (250, 12)
    assert len(tables["passages"]) == 2 * 262
    assert len(ids(read_queries(tmp_path, cap=None), "relevant")) == 260
    assert len(ids(read_queries(tmp_path, cap=5), "non_relevant")) == 5


GOLDEN = {"relevant": ["r13", "r2", "r25", "r35"], "non_relevant": ["n15", "n18", "n20", "n8"]}


def test_the_sample_is_the_same_whatever_else_is_read(tmp_path: Path) -> None:
    """The ids are written out: neither PYTHONHASHSEED nor an earlier draw of the process may change them."""
    language_folder(tmp_path / "en", relevant=40, non_relevant=40)
    tables = read_queries(tmp_path, cap=4)
    assert {subset: ids(tables, subset) for subset in GOLDEN} == GOLDEN
    language_folder(tmp_path / "ar", relevant=40, non_relevant=40)
    assert ids(read_queries(tmp_path, cap=4), "relevant") == GOLDEN["relevant"]
    assert ids(read_queries(tmp_path, cap=4), "relevant", "ar") != GOLDEN["relevant"]
    assert set(ids(read_queries(tmp_path, cap=9), "relevant")) > set(GOLDEN["relevant"])


def test_sampling_leaves_the_global_generators_as_they_were_pitfall_8(tmp_path: Path) -> None:
    language_folder(tmp_path / "en")
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002  # the state that must not move
    read_queries(tmp_path, cap=2)
    assert random.getstate() == python
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), numpy, strict=True))  # noqa: NPY002


def test_a_query_that_nobody_judged_is_left_out(tmp_path: Path) -> None:
    root = language_folder(tmp_path / "en", relevant=2)
    with (root / "topics" / "test.relevant.tsv").open("a", encoding="utf-8") as stream:
        stream.write("r9\tUnjudged?\n")
    assert ids(valid(read_queries(tmp_path)), "relevant") == ["r0", "r1"]


BAD_LINES = {
    "a topic without tab": ("topics/test.relevant.tsv", "r9 Query?", "not an id, a tab and a query"),
    "a topic without text": ("topics/test.relevant.tsv", "r9\t ", "not an id, a tab and a query"),
    "a topic with two tabs": ("topics/test.relevant.tsv", "r9\ta\tb", "not an id, a tab and a query"),
    "a topic twice": ("topics/test.relevant.tsv", "r0\tAgain?", "query r0 occurs twice"),
    "a topic of both subsets": ("topics/test.relevant.tsv", "n0\tAgain?", "query n0 occurs twice"),
    "three fields": ("qrels/test.relevant.tsv", "r0\tQ0\t1#0", "this line is no judgment"),
    "a label of words": ("qrels/test.relevant.tsv", "r0\tQ0\t1#0\tyes", "this line is no judgment"),
    "a label of 2": ("qrels/test.relevant.tsv", "r0\tQ0\t1#0\t2", "this line is no judgment"),
    "an unknown query": ("qrels/test.relevant.tsv", "r7\tQ0\t1#0\t1", "query r7 is judged but not among the topics"),
    "an unknown document": ("qrels/test.relevant.tsv", "r0\tQ0\t7#7\t1", "document 7#7 is judged but not in corpus"),
    "a pair twice": ("qrels/test.relevant.tsv", "r0\tQ0\t0#0\t1", "document 0#0 is judged twice for query r0"),
    "a relevant passage of n0": (
        "qrels/test.non_relevant.tsv",
        "n0\tQ0\t1#0\t1",
        "document 1#0 is relevant to query n0",
    ),
}


@pytest.mark.parametrize(("name", "line", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_malformed_or_contradictory_line_is_refused_with_file_and_line(
    tmp_path: Path, name: str, line: str, message: str
) -> None:
    path = language_folder(tmp_path / "en", relevant=1, non_relevant=1) / name
    last = len(path.read_text(encoding="utf-8").splitlines()) + 1
    with path.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    with pytest.raises(BadInput) as caught:
        read_queries(tmp_path, cap=1)
    assert message in caught.value.what
    assert f"{path}:{last}" in caught.value.where


def test_swapped_labels_are_refused_pitfall_27(tmp_path: Path) -> None:
    root = language_folder(tmp_path / "en")
    path = root / "qrels" / "test.relevant.tsv"
    path.write_text("r0\tQ0\t2#0\t0\nr0\tQ0\t0#0\t0\n", encoding="utf-8")
    with pytest.raises(BadInput, match="query r0 stands in the relevant subset, but no passage is") as caught:
        read_queries(tmp_path)
    assert caught.value.where == f"{path}:1"


def test_a_corpus_that_lacks_a_field_or_contradicts_itself_is_refused(tmp_path: Path) -> None:
    root = language_folder(tmp_path / "en")
    path = root / "corpus.jsonl.gz"
    save(path, [{"docid": "0#0", "title": "T"}])
    with pytest.raises(BadInput, match="'text' is missing") as caught:
        read_queries(tmp_path)
    assert caught.value.where == f"{path}:1"
    save(path, [{"docid": "0#0", "title": "T", "text": text} for text in "ab"])
    with pytest.raises(BadInput, match="document 0#0 occurs with two texts") as caught:
        read_queries(tmp_path)
    assert caught.value.where == f"{path}:2"
    path.unlink()
    with pytest.raises(BadInput, match="has no corpus"):
        read_queries(tmp_path)


def test_arguments_out_of_range_and_names_that_are_not_there_are_refused(tmp_path: Path) -> None:
    language_folder(tmp_path / "en", relevant=4, non_relevant=1)
    with pytest.raises(BadInput, match="cap is 0"):
        read_queries(tmp_path, cap=0)
    with pytest.raises(UnknownName, match="'train'"):
        read_queries(tmp_path, split="train")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="'Elvish'"):
        read_queries(tmp_path, languages=["Elvish"])
    with pytest.raises(UnknownName, match="'fi'") as caught:
        read_queries(tmp_path, languages=["finnish"])
    assert caught.value.where == str(tmp_path)
    with pytest.raises(BadInput, match="holds no dev queries"):
        read_queries(tmp_path, split="dev")
    language_folder(tmp_path / "english")
    with pytest.raises(BadInput, match="two folders for en"):
        read_queries(tmp_path)


@pytest.mark.data
def test_labels_of_real_judgments_are_read_as_the_files_say_pitfall_27(shared: Path, tmp_path: Path) -> None:
    """MIRACL's Yoruba judgments are laid out and labelled as NoMIRACL's relevant dev split: 119 queries (Table 1)."""
    with gzip.open(shared / "miracl" / "qrels.yo.tsv.gz", "rt", encoding="utf-8") as stream:
        qrels = stream.read()
    with gzip.open(shared / "miracl" / "topics.yo.tsv.gz", "rt", encoding="utf-8") as stream:
        topics = stream.read()
    root = tmp_path / "data" / "yoruba"
    labels = {(line.split()[0], line.split()[2]): line.split()[3] == "1" for line in qrels.splitlines()}
    save(root / "corpus.jsonl", [{"docid": d, "title": "T", "text": "x"} for d in sorted({d for _, d in labels})])
    for name, text in (("topics", topics), ("qrels", qrels)):
        (root / name).mkdir()
        (root / name / "dev.relevant.tsv").write_text(text, encoding="utf-8")
    tables = valid(read_queries(tmp_path, split="dev", cap=None))
    assert len(tables["queries"]) == 119
    read = {(p["query_id"], p["passage_id"]): p["relevant"] for p in tables["passages"].to_pylist()}
    assert read == labels
    assert 0 < sum(labels.values()) < len(labels)


# Download, from a server on this machine


@dataclass
class Response:
    """How the server answers one request; the default serves the file and honours Range."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    ignore_range: bool = False
    stop_after: int | None = None
    """Bytes after which the connection is cut, the promised length unkept."""
    claim: int | None = None
    """A Content-Length that is not true."""
    chunked: bool = False
    garble: bool = False
    body: bytes = b"no"
    """What a status other than 200 carries."""


@dataclass
class Server:
    """Files by path, what the next requests are answered with, and what was asked."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    responses: dict[str, list[Response]] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:  # noqa: C901  # one case a line of what a server may do
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the base class's
            pass

        def do_GET(self) -> None:
            name, byte_range = self.path.removeprefix("/"), self.headers.get("Range")
            state.requests.append((name, byte_range))
            queue = state.responses.get(name, [])
            response = (queue.pop(0) if len(queue) > 1 else queue[0]) if queue else Response()
            content = state.files.get(name, b"")
            status = 404 if response.status == 200 and name not in state.files else response.status
            start = (
                int(byte_range.removeprefix("bytes=").removesuffix("-"))
                if byte_range and not response.ignore_range
                else 0
            )
            body = content[start:] if status == 200 else response.body
            if response.garble:
                body = bytes(len(body))
            headers = dict(response.headers)
            if status == 200 and start:
                status = 206 if start < len(content) else 416
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
                if status == 416:
                    headers["Content-Range"] = f"bytes */{len(content)}"
            self.send_response(status)
            if response.chunked:
                headers["Transfer-Encoding"] = "chunked"
            elif response.claim != -1:
                headers["Content-Length"] = str(len(body) if response.claim is None else response.claim)
            for key, value in headers.items():
                self.send_header(key, value)
            self.end_headers()
            if response.chunked:
                body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
            self.wfile.write(body if response.stop_after is None else body[: response.stop_after])
            if response.stop_after is not None or response.claim is not None:
                self.wfile.flush()
                self.close_connection = True

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            # A client that refuses an answer hangs up in the middle of it.
            if not isinstance(sys.exception(), ConnectionError):
                super().handle_error(request, client_address)

    httpd = Quiet(("127.0.0.1", 0), Handler)
    state = Server(f"http://127.0.0.1:{httpd.server_address[1]}")
    thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    httpd.shutdown()
    thread.join()
    httpd.server_close()


RELEVANT = "relevant/en.test.vanilla_prompt.jsonl"
NON_RELEVANT = "non_relevant/en.test.vanilla_prompt.jsonl"


@pytest.fixture
def english(server: Server) -> Server:
    """A server with the two files of English outputs."""
    for name, first in ((NON_RELEVANT, "n"), (RELEVANT, "r")):
        rows = [row(f"{first}{k}") for k in range(30)]
        server.files[name] = "".join(json.dumps(r) + "\n" for r in rows).encode()
    return server


Fetch = Callable[..., list[float]]


@pytest.fixture
def fetch(server: Server, tmp_path: Path) -> Fetch:
    """Fetch into `tmp_path`; returns the pauses that were made."""

    def call(**changed: Any) -> list[float]:
        slept: list[float] = []
        options = {"languages": ["en"], "base_url": server.url, "rng": np.random.default_rng(0), "sleep": slept.append}
        pull_nomiracl(tmp_path, **(options | changed))
        return slept

    return call


def test_outputs_are_fetched_under_their_names_and_can_be_read(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    reports: list[tuple[int, int | None, str]] = []
    assert fetch(progress=lambda received, total, name: reports.append((received, total, name))) == []
    for name, content in english.files.items():
        assert (tmp_path / name).read_bytes() == content
        of_file = [(received, total) for received, total, n in reports if n == name]
        assert of_file == sorted(of_file)
        assert of_file[-1] == (len(content), len(content))
    assert summarise(valid(read_outputs(tmp_path))).total.queries == 60
    assert english.requests == [(NON_RELEVANT, None), (RELEVANT, None)]


def test_what_is_there_is_not_asked_for_again(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    fetch()
    english.requests.clear()
    result = pull_nomiracl(tmp_path, languages=["english", "en"], base_url=english.url)
    assert (result.folder, result.files, result.fetched) == (tmp_path, 2, 0)
    assert english.requests == []


def test_queries_are_nine_files_a_language_and_can_be_read(server: Server, tmp_path: Path, fetch: Fetch) -> None:
    source = tmp_path / "source"
    for split in ("dev", "test"):
        language_folder(source / "data" / "finnish", split=split)
    server.files = {p.relative_to(source).as_posix(): p.read_bytes() for p in source.rglob("*") if p.is_file()}
    assert len(server.files) == 9
    result = pull_nomiracl(tmp_path / "copy", what="questions", languages=["fi"], base_url=server.url + "/")
    assert (result.files, result.fetched) == (9, 9)
    copy, original = read_queries(tmp_path / "copy"), read_queries(source)
    assert all(copy[name].equals(original[name]) for name in original)


def test_a_dropped_connection_goes_on_where_it_stopped(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    english.responses[RELEVANT] = [Response(stop_after=1000), Response(stop_after=500), Response()]
    slept = fetch()
    assert [r for name, r in english.requests if name == RELEVANT] == [None, "bytes=1000-", "bytes=1500-"]
    assert (tmp_path / RELEVANT).read_bytes() == english.files[RELEVANT]
    assert not list(tmp_path.rglob("*.part"))
    assert 0.5 <= slept[0] <= 1.5
    assert 1.0 <= slept[1] <= 3.0


def test_the_jitter_comes_from_the_generator_given(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    def pauses(seed: int) -> list[float]:
        english.responses[RELEVANT] = [Response(503), Response(503), Response()]
        slept = fetch(rng=np.random.default_rng(seed))
        (tmp_path / RELEVANT).unlink()
        return slept

    assert pauses(1) == pauses(1) != pauses(2)


def test_an_interrupted_call_is_resumed_by_the_next(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    english.responses[RELEVANT] = [Response(stop_after=700), Response(500)]
    with pytest.raises(Unreachable, match="did not come in 5 attempts") as caught:
        fetch()
    assert "again to resume" in caught.value.do
    assert caught.value.where == f"{english.url}/{RELEVANT}"
    assert not (tmp_path / RELEVANT).exists()
    english.responses.clear()
    english.requests.clear()
    fetch()
    assert english.requests == [(RELEVANT, "bytes=700-")]
    assert (tmp_path / RELEVANT).read_bytes() == english.files[RELEVANT]


def test_an_interruption_by_the_user_keeps_what_came(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    def stop(received: int, total: int | None, name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(progress=stop)
    assert (tmp_path / f"{NON_RELEVANT}.part").stat().st_size > 0
    fetch()
    assert (tmp_path / NON_RELEVANT).read_bytes() == english.files[NON_RELEVANT]


def test_a_server_that_ignores_range_starts_the_file_anew(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    english.responses[RELEVANT] = [Response(stop_after=1000), Response(ignore_range=True)]
    fetch()
    assert (tmp_path / RELEVANT).read_bytes() == english.files[RELEVANT]


def test_a_server_that_goes_on_elsewhere_is_asked_for_the_whole(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    """The part that comes has the right length, so that its place alone gives it away."""
    content = english.files[RELEVANT]
    content_range = f"bytes 0-{len(content) - 1001}/{len(content)}"
    wrong = Response(206, headers={"Content-Range": content_range}, body=content[:-1000])
    english.responses[RELEVANT] = [Response(stop_after=1000), wrong, Response()]
    fetch()
    assert [r for name, r in english.requests if name == RELEVANT] == [None, "bytes=1000-", None]
    assert (tmp_path / RELEVANT).read_bytes() == english.files[RELEVANT]


def test_a_file_that_lacks_only_its_name_is_finished(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    part = tmp_path / f"{RELEVANT}.part"
    part.parent.mkdir()
    part.write_bytes(english.files[RELEVANT])
    fetch()
    assert english.requests[-1] == (RELEVANT, f"bytes={len(english.files[RELEVANT])}-")
    assert (tmp_path / RELEVANT).read_bytes() == english.files[RELEVANT]


def test_a_leftover_that_is_longer_than_the_file_is_dropped(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    part = tmp_path / f"{RELEVANT}.part"
    part.parent.mkdir()
    part.write_bytes(english.files[RELEVANT] + b"more")
    fetch()
    assert (tmp_path / RELEVANT).read_bytes() == english.files[RELEVANT]


def test_retry_after_is_honoured_from_the_header_pitfalls_10_and_11(english: Server, fetch: Fetch) -> None:
    english.responses[NON_RELEVANT] = [Response(429, {"Retry-After": "17"}), Response()]
    english.responses[RELEVANT] = [Response(503, {"Retry-After": formatdate(time() + 40, usegmt=True)}), Response()]
    slept = fetch()
    assert slept[0] == 17
    assert 35 < slept[1] <= 40


def test_a_retry_after_that_cannot_be_read_is_a_pause_like_any_other(english: Server, fetch: Fetch) -> None:
    english.responses[RELEVANT] = [Response(429, {"Retry-After": "soon"}), Response()]
    (slept,) = fetch()
    assert 0.5 <= slept <= 1.5


def test_a_pause_too_long_to_wait_for_ends_the_call(english: Server, fetch: Fetch) -> None:
    english.responses[NON_RELEVANT] = [Response(429, {"Retry-After": "3600"})]
    with pytest.raises(Unreachable, match="asks to wait 3,600 seconds"):
        fetch()
    assert len(english.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_ends_the_call_at_once_pitfall_10(english: Server, fetch: Fetch, status: int) -> None:
    english.responses[NON_RELEVANT] = [Response(status)]
    with pytest.raises(Unreachable, match=f"refused with {status}") as caught:
        fetch()
    assert english.requests == [(NON_RELEVANT, None)]
    assert "fetch them by hand" in caught.value.do


def test_a_file_that_is_not_there_is_asked_for_once_and_named_pitfall_10(
    english: Server, tmp_path: Path, fetch: Fetch
) -> None:
    del english.files[NON_RELEVANT]
    result = pull_nomiracl(tmp_path, languages=["en"], base_url=english.url)
    assert english.requests == [(NON_RELEVANT, None), (RELEVANT, None)]
    assert result == DownloadResult(tmp_path, files=1, fetched=1, absent=(NON_RELEVANT,))
    assert (tmp_path / RELEVANT).exists()
    assert not (tmp_path / NON_RELEVANT).exists()
    assert summarise(valid(read_outputs(tmp_path))).total.queries == 30


def test_only_when_no_file_at_all_is_there_it_is_an_error_pitfall_10(
    english: Server, tmp_path: Path, fetch: Fetch
) -> None:
    content = english.files.pop(RELEVANT)
    english.files.clear()
    with pytest.raises(Unreachable, match=f"none of the 2 files is there .404., such as {NON_RELEVANT}") as caught:
        fetch()
    assert caught.value.where == f"{english.url}/{NON_RELEVANT}"
    assert english.requests == [(NON_RELEVANT, None), (RELEVANT, None)]
    assert not list(tmp_path.rglob("*.*"))
    english.files[RELEVANT] = content
    fetch()
    english.files.clear()
    result = pull_nomiracl(tmp_path, languages=["en"], base_url=english.url)
    assert (result.files, result.fetched, result.absent) == (1, 0, (NON_RELEVANT,)), "what was there before is kept"


def test_a_length_that_is_never_reached_is_no_file(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    english.responses[NON_RELEVANT] = [Response(claim=10**6, ignore_range=True)]
    with pytest.raises(Unreachable, match="did not come in 5 attempts"):
        fetch()
    assert len(english.requests) == 5
    assert not (tmp_path / NON_RELEVANT).exists()


def test_a_length_that_is_not_said_is_no_file_unless_the_end_is_marked(
    english: Server, tmp_path: Path, fetch: Fetch
) -> None:
    english.responses[NON_RELEVANT] = [Response(chunked=True)]
    english.responses[RELEVANT] = [Response(claim=-1)]
    with pytest.raises(Unreachable, match="does not report the file's length"):
        fetch()
    assert (tmp_path / NON_RELEVANT).read_bytes() == english.files[NON_RELEVANT]
    assert not (tmp_path / RELEVANT).exists()


def test_a_body_in_another_encoding_is_refused(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    english.responses[NON_RELEVANT] = [Response(headers={"Content-Encoding": "gzip"})]
    with pytest.raises(Unreachable, match="another encoding"):
        fetch()
    assert not (tmp_path / NON_RELEVANT).exists()


def test_a_gzip_file_that_does_not_unpack_is_fetched_anew(server: Server, tmp_path: Path, fetch: Fetch) -> None:
    source = tmp_path / "source"
    for split in ("dev", "test"):
        language_folder(source / "data" / "english", split=split)
    server.files = {p.relative_to(source).as_posix(): p.read_bytes() for p in source.rglob("*") if p.is_file()}
    corpus = "data/english/corpus.jsonl.gz"
    server.responses[corpus] = [Response(garble=True), Response()]
    assert len(fetch(what="questions")) == 1
    assert (tmp_path / corpus).read_bytes() == server.files[corpus]
    (tmp_path / corpus).unlink()
    server.responses[corpus] = [Response(garble=True)]
    with pytest.raises(Unreachable, match="does not unpack"):
        fetch(what="questions")
    assert not (tmp_path / corpus).exists()


def test_nobody_at_the_address_is_an_error_after_bounded_attempts_pitfall_10(
    english: Server, tmp_path: Path, fetch: Fetch
) -> None:
    slept: list[float] = []
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unreachable, match="did not come in 5 attempts"):
        fetch(base_url=f"http://127.0.0.1:{port}", sleep=slept.append)
    assert len(slept) == 4


def test_what_cannot_be_asked_for_is_refused_before_any_request(english: Server, tmp_path: Path, fetch: Fetch) -> None:
    with pytest.raises(UnknownName, match="'Klingon'"):
        fetch(languages=["en", "Klingon"])
    with pytest.raises(UnknownName, match="'answers'"):
        fetch(what="answers")
    with pytest.raises(BadInput, match="no address to fetch from"):
        fetch(base_url="ftp://127.0.0.1/x")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match="cannot be written"):
        pull_nomiracl(tmp_path / "file", languages=["en"], base_url=english.url)
    assert [name for name, _ in english.requests] in ([], [NON_RELEVANT])


def test_the_default_addresses_name_the_published_files() -> None:
    """The names in the repository at commit 9c787da and in the hub data set, by every language."""
    from mirage.io.sources.nomiracl import ORIGIN
    from mirage.io.sources.nomiracl.origin import file_names

    assert all(origin.url.startswith("https://") for origin in ORIGIN.values())
    outputs = [name for lang in LANGUAGES.values() for name in file_names("outputs", lang)]
    assert len(set(outputs)) == 36
    assert "relevant/th.test.vanilla_prompt.jsonl" in outputs
    assert file_names("questions", LANGUAGES["ko"]) == [
        "data/korean/topics/dev.non_relevant.tsv",
        "data/korean/topics/dev.relevant.tsv",
        "data/korean/topics/test.non_relevant.tsv",
        "data/korean/topics/test.relevant.tsv",
        "data/korean/qrels/dev.non_relevant.tsv",
        "data/korean/qrels/dev.relevant.tsv",
        "data/korean/qrels/test.non_relevant.tsv",
        "data/korean/qrels/test.relevant.tsv",
        "data/korean/corpus.jsonl.gz",
    ]


def test_processes_make_the_same_arena_and_the_same_errors(tmp_path: Path) -> None:
    for subset in ("relevant", "non_relevant"):
        for code in ("en", "sw"):
            save(tmp_path / "in" / subset / f"{code}.test.vanilla_prompt.jsonl", [row(f"{subset} {code}")])
    alone = import_outputs(tmp_path / "in", tmp_path / "alone")
    assert import_outputs(tmp_path / "in", tmp_path / "several", processes=2).version == alone.version
    save(tmp_path / "in" / "relevant" / "te.test.vanilla_prompt.jsonl", [row("x") | {"docids": []}])
    messages = []
    for processes in (1, 2):
        with pytest.raises(BadInput) as caught:
            import_outputs(tmp_path / "in", tmp_path / "other", processes=processes)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
