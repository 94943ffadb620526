"""NoMIRACL in: published outputs, labelled queries, and the download of both."""

import json
import random
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from commands import refuses
from golden.cases import read_table
from hypothesis import assume, example, given
from hypothesis import strategies as st
from miracl_cases import served
from nomiracl_cases import HEAD, PASSAGES, prompt, row, save

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io.imports.public import import_outputs
from mirage.io.sources.nomiracl.download import pull_nomiracl
from mirage.io.sources.nomiracl.outputs import read_outputs, summarise
from mirage.io.sources.nomiracl.prompt import split_prompt
from mirage.io.sources.nomiracl.queries import read_queries


def one_file(folder: Path, *rows: dict[str, Any] | str) -> Path:
    return save(folder / "relevant" / "en.test.vanilla_prompt.jsonl", rows)


def valid(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    for name, table in tables.items():
        schema.validate(name, table)
    return tables


def rows(tables: dict[str, pa.Table], name: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return columns of a table, sorted by its key."""
    return [tuple(row[column] for column in columns) for row in schema.sort(name, tables[name]).to_pylist()]


# Published outputs


def test_outputs_become_queries_passages_and_answers(tmp_path: Path) -> None:
    save(tmp_path / "relevant" / "en.test.vanilla_prompt.jsonl", [row("q1")])
    save(
        tmp_path / "non_relevant" / "fi.test.vanilla_prompt.jsonl.gz", [row("q2", results={"alpha": "No", "beta": "?"})]
    )
    tables = valid(read_outputs(tmp_path))
    assert rows(tables, "queries", "language", "query_id", "subset", "text", "reason") == [
        ("en", "q1", "relevant", "What is q1?", None),
        ("fi", "q2", "non_relevant", "What is q2?", None),
    ]
    about = rows(tables, "passages", "query_id", "passage_id", "position", "title", "text", "relevant", "pooled")
    assert about[3] == ("q1", "q1#3", 4, "Title 4", "Text of passage 4.", None, None)
    assert [row[5] for row in about] == [None] * 10 + [False] * 10
    assert rows(tables, "answers", "language", "system", "text", "status", "template") == [
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
    reports: list[tuple[int, int]] = []
    tables = valid(read_outputs(tmp_path, progress=lambda count, total: reports.append((count, total))))
    assert reports == [(0, 2), (1, 2), (2, 2)]
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
    tables = valid(read_outputs(tmp_path))
    status = dict.fromkeys("abc", "empty") | dict.fromkeys("de", "ok")
    assert rows(tables, "answers", "system", "text", "status") == [(n, texts[n], status[n]) for n in texts]


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
    *languages, total = summarise(read_outputs(tmp_path))
    numbers = {"files": 2, "queries": 3, "answers": 5, "missing": 1, "empty": 1, "prompts_absent": 1}
    assert [asdict(count) for count in languages] == [
        {"language": "ar", "files": 1, "queries": 1, "answers": 2, "missing": 0, "empty": 0, "prompts_absent": 0},
        {"language": "en", **numbers},
    ]
    assert asdict(total) == {**numbers, "language": "all", "files": 3, "queries": 4, "answers": 7}


def without(name: str) -> dict[str, Any]:
    return {k: v for k, v in row("q2").items() if k != name}


BAD_ROWS = {
    "not JSON": ('{"query_id": "q2", ', "not JSON"),
    "not an object": ("[1, 2]", "not an object"),
    "no query_id": (without("query_id"), "query_id is missing"),
    "no results": (without("results"), "results is missing"),
    "query_id a number": (row("q2", query_id=7), "query_id is 7, not a text"),
    "query_id empty": (row("q2", query_id=""), "query_id is '', not a text"),
    "docids a text": (row("q2", docids="1#0"), "docids is '1#0', not a list"),
    "a docid a number": (row("q2", docids=[1, *"bcdefghij"]), "docid 1 of query q2 is 1, not a text"),
    "nine docids": (row("q2", docids=list("abcdefghi")), "q2 has 9 docids, not 10"),
    "a docid twice": (row("q2", docids=list("aacdefghij")), "q2 has a docid twice"),
    "template null": (row("q2", template=None), "template is None, not a text"),
    "another template": (row("q2", template="explanation"), "'explanation'"),
    "an answer a flag": (row("q2", results={"alpha": True}), "alpha is True, not a text"),
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


def test_text_that_is_no_unicode_is_refused_with_its_file(tmp_path: Path) -> None:
    path = one_file(tmp_path, json.dumps(row(results={"alpha": "x"})).replace('"x"', '"\\ud800"'))
    with pytest.raises(BadInput) as caught:
        read_outputs(tmp_path)
    assert str(path) in caught.value.where


def test_an_empty_file_an_unknown_language_and_a_language_given_twice_are_refused(tmp_path: Path) -> None:
    path = one_file(tmp_path / "a")
    with refuses(BadInput, "this file is empty", where=str(path)):
        read_outputs(tmp_path / "a")
    other = save(tmp_path / "b" / "relevant" / "swahilli.test.vanilla_prompt.jsonl", [row()])
    with refuses(UnknownName, "swahilli", where=str(other)):
        read_outputs(tmp_path / "b")
    one_file(tmp_path / "c", row())
    save(tmp_path / "c" / "relevant" / "en.test.vanilla_prompt.jsonl.gz", [row()])
    with pytest.raises(BadInput, match="two files for en, relevant"):
        read_outputs(tmp_path / "c")


def test_a_folder_without_outputs_is_refused_with_the_layout(tmp_path: Path) -> None:
    (tmp_path / "relevant").mkdir()
    (tmp_path / "relevant" / "notes.txt").write_text("nothing", "utf-8")
    with refuses(BadInput, "holds no published outputs", do="en.test.vanilla_prompt.jsonl"):
        read_outputs(tmp_path)
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
    *languages, total = summarise(valid(published))
    assert asdict(total) == {
        "language": "all",
        "files": 33,
        "queries": 8045,
        "answers": 88469,
        "missing": 26,
        "empty": 349,
        "prompts_absent": 1409,
    }
    assert len(languages) == 17
    assert len(published["answers"]["system"].unique()) == 11
    missing = published["answers"].filter(pc.equal(published["answers"]["status"], "missing"))
    assert set(zip(missing["language"].to_pylist(), missing["system"].to_pylist(), strict=True)) == {("id", "aya-101")}
    assert len(published["passages"]) == 80450
    assert len(published["answers"]) == 11 * 8045


@pytest.mark.data
def test_passages_of_the_published_files_stand_at_their_docids(published: dict[str, pa.Table]) -> None:
    """A document shown with several queries has one title, so the order of passages is the order of docids."""
    titles = defaultdict(set)
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
        (root / "topics" / f"{split}.{subset}.tsv").write_text(topics, "utf-8")
        (root / "qrels" / f"{split}.{subset}.tsv").write_text(qrels, "utf-8")
    return root


def ids(tables: dict[str, pa.Table], subset: str, code: str = "en") -> list[str]:
    rows = tables["queries"].to_pylist()
    return [r["query_id"] for r in rows if r["subset"] == subset and r["language"] == code]


def test_topics_become_queries_and_labelled_passages_pitfall_27(tmp_path: Path) -> None:
    language_folder(tmp_path / "data" / "english", relevant=1, non_relevant=1)
    tables = valid(read_queries(tmp_path))
    assert rows(tables, "queries", "language", "query_id", "subset", "text") == [
        ("en", "n0", "non_relevant", "Query n0?"),
        ("en", "r0", "relevant", "Query r0?"),
    ]
    assert rows(tables, "passages", "query_id", "passage_id", "position", "title", "text", "relevant") == [
        ("n0", "0#0", 2, "T0", "Text 0: with\ta tab.", False),
        ("n0", "2#0", 1, "T2", "Text 2: with\ta tab.", False),
        ("r0", "0#0", 2, "T0", "Text 0: with\ta tab.", True),
        ("r0", "2#0", 1, "T2", "Text 2: with\ta tab.", False),
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


@pytest.mark.parametrize(*read_table("wrong_source_lines"))
def test_a_malformed_or_contradictory_line_is_refused_with_file_and_line(
    tmp_path: Path, name: str, line: str, message: str
) -> None:
    path = language_folder(tmp_path / "en", relevant=1, non_relevant=1) / name
    last = len(path.read_text("utf-8").splitlines()) + 1
    with path.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    with pytest.raises(BadInput) as caught:
        read_queries(tmp_path, cap=1)
    assert message in caught.value.what
    assert f"{path}:{last}" in caught.value.where


def test_swapped_labels_are_refused_pitfall_27(tmp_path: Path) -> None:
    root = language_folder(tmp_path / "en")
    path = root / "qrels" / "test.relevant.tsv"
    path.write_text("r0\tQ0\t2#0\t0\nr0\tQ0\t0#0\t0\n", "utf-8")
    with refuses(BadInput, "query r0 is in the relevant subset, but no passage is", where=f"{path}:1"):
        read_queries(tmp_path)


def test_a_corpus_that_lacks_a_field_or_contradicts_itself_is_refused(tmp_path: Path) -> None:
    root = language_folder(tmp_path / "en")
    path = root / "corpus.jsonl.gz"
    save(path, [{"docid": "0#0", "title": "T"}])
    with refuses(BadInput, "'text' is missing", where=f"{path}:1"):
        read_queries(tmp_path)
    save(path, [{"docid": "0#0", "title": "T", "text": text} for text in "ab"])
    with refuses(BadInput, "document 0#0 occurs with two texts", where=f"{path}:2"):
        read_queries(tmp_path)
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
    with refuses(UnknownName, "'fi'", where=str(tmp_path)):
        read_queries(tmp_path, languages=["finnish"])
    with pytest.raises(BadInput, match="holds no dev queries"):
        read_queries(tmp_path, split="dev")
    language_folder(tmp_path / "english")
    with pytest.raises(BadInput, match="two folders for en"):
        read_queries(tmp_path)


# Download


def test_outputs_and_queries_are_fetched_under_their_names_and_can_be_read(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for subset in ("relevant", "non_relevant"):
        save(source / subset / "en.test.vanilla_prompt.jsonl", [row(f"{subset}{k}") for k in range(30)])
    for split in ("dev", "test"):
        language_folder(source / "data" / "finnish", split=split)
    files = {path.relative_to(source).as_posix(): path.read_bytes() for path in source.rglob("*") if path.is_file()}
    with served(files) as address:
        result = pull_nomiracl(tmp_path / "a", languages=["english", "en"], base_url=address)
        assert (result.files, result.fetched, result.absent) == (2, 2, ())
        result = pull_nomiracl(tmp_path / "b", what="questions", languages=["fi"], base_url=f"{address}/")
        assert (result.files, result.fetched) == (9, 9)
        with pytest.raises(UnknownName, match="'Klingon'"):
            pull_nomiracl(tmp_path / "c", languages=["en", "Klingon"], base_url=address)
        with pytest.raises(UnknownName, match="'answers'"):
            pull_nomiracl(tmp_path / "c", what="answers", base_url=address)  # type: ignore[arg-type]
    assert summarise(valid(read_outputs(tmp_path / "a")))[-1].queries == 60
    copy, original = read_queries(tmp_path / "b"), read_queries(source)
    assert all(copy[name].equals(original[name]) for name in original)


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
