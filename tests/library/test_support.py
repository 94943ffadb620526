"""Support in three grades: citation precision and recall by a model and by votes; nothing is lost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from arena_writer import make_answer, make_query, read_rows, write_arena
from commands import mirage
from golden.cases import read_table
from misbehaving import Act, Call, Service, error, reply
from text_cases import TWO_SENTENCES

from mirage import schema
from mirage.people.votes.kinds import Evidence
from mirage.people.votes.rows import now
from mirage.people.votes.stage import grade_support_by_votes
from mirage.stages.features.graded_support import measure
from mirage.stages.features.spec import MeasuredAnswer
from mirage.stages.features.support import cited_places, sentence_places
from mirage.stages.features.support_grading import FORM, PEOPLE
from mirage.store.arena import open_arena
from mirage.text.languages import LANGUAGES
from mirage.text.marks import read_mark

TEXT = "The lamp was lit in 1889 [d1]. It is kept by people [d1] [d2]. It stands on a rock."
PASSAGES = ("d1", "d2")
GRADES = {(0, "d1"): "full", (1, "d1"): "none", (1, "d2"): "partial"}


def answer(grades: dict[tuple[int, str], schema.Support | None], text: str = TEXT) -> MeasuredAnswer:
    return MeasuredAnswer("en", text, False, PASSAGES, (None, None), grades=grades)


def test_precision_is_over_citations_and_recall_over_sentences() -> None:
    assert [place.number for place in sentence_places(answer({}))] == [0, 1, 2]
    assert [place.number for place in cited_places(answer({}))] == [0, 1]
    precision, recall = measure(answer(GRADES))  # type: ignore[arg-type]  # the literals are grades
    assert precision == pytest.approx(1.5 / 3)
    assert recall == pytest.approx(1.5 / 3)
    assert measure(answer({**GRADES, (1, "d1"): "contradicted"})) == (precision, recall)  # type: ignore[dict-item]


def test_without_a_grade_or_a_citation_there_is_a_reason() -> None:
    assert all(isinstance(value, str) for value in measure(answer({})))
    assert all(isinstance(value, str) for value in measure(answer({**GRADES, (0, "d1"): None})))  # type: ignore[dict-item]
    precision, recall = measure(answer({}, "It stands on a rock."))
    assert isinstance(precision, str)
    assert recall == 0


@pytest.mark.parametrize(*read_table("support_grades"))
def test_a_grade_is_the_one_that_the_model_sets(text: str, shown: tuple[str, ...], grade: str | None) -> None:
    assert read_mark(FORM, text, shown) == grade


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_VOTES_URL", f"sqlite:///{tmp_path / 'votes.sqlite'}")
    path = tmp_path / "arena"
    tables = {
        "queries": [make_query("en", f"q{k}", None, "What of it?") for k in range(6)],
        "passages": [
            schema.Passage("en", f"q{k}", name, n, None, f"Passage {name}." if name == "d1" or k else None, None)
            for k in range(6)
            for n, name in enumerate(PASSAGES, 1)
        ],
        "answers": [make_answer("en", f"q{k}", "s", TEXT, numbered=False) for k in range(6)],
    }
    return write_arena(path, tables).path


def grades_it(call: Call) -> Act:
    words = re.search(r"<<SENTENCE \w+>>\n(.*)\n<<END", call.content)
    assert "[d" not in words[1]
    name = "full" if "1889" in words[1] else "partial" if "Passage d2." in call.content else "contradicted"
    return reply(f"It says so.\nGrade: [[{name}]]")


def test_a_model_grades_every_citation_and_a_failed_call_is_asked_again(arena: Path) -> None:
    def ill(call: Call) -> Act:
        return error(500, "overloaded") if "1889" in call.content else grades_it(call)

    with Service(ill) as service:
        options = ("--model", "m", "--base-url", service.url, "--retries", 0)
        mirage("measure", "support", arena, *options)
        rows = read_rows(arena, "support_grades")
        assert len(rows) == 18
        assert {row["reason"] is None for row in rows if row["sentence"] == 0} == {False}
        # One passage has no text: no call, a reason.
        assert [row["call"] for row in rows if row["query_id"] == "q0" and row["passage_id"] == "d2"] == [None]
        service.behave = grades_it
        before = len(service.calls)
        result = mirage("measure", "support", arena, *options, "--format", "json")
        assert len(service.calls) - before == 1  # the same texts are asked about once
    assert "6 contradicted" in result.stderr, "contradicted is told from unsupported"
    means = {row["feature"]: row for row in json.loads(result.stdout)}
    assert means["citation_precision"]["mean"] == pytest.approx(0.5)
    assert (means["citation_recall"]["n"], means["citation_recall"]["total"]) == (5, 6)


def test_answers_of_whole_systems_are_graded_against_what_their_retriever_brought(tmp_path: Path) -> None:
    query = ("en", "q1")
    ids = ("d8", "d9")
    tables = {
        "queries": [make_query(*query, None, "What of it?")],
        "retrieved": [
            schema.Retrieved(*query, "bm25", name, rank, None, None, f"Passage {name}.")
            for rank, name in enumerate(ids, 1)
        ],
        "answers": [
            schema.Answer(*query, "deep", "It was lit [d9].", "ok", None, None, None, False, "bm25", 2),
            schema.Answer(*query, "shallow", "It was lit [d8] [d9].", "ok", None, None, None, False, "bm25", 1),
        ],
    }
    given_passages = [
        schema.Passage(*query, "d9", 1, None, None, True),
        schema.Passage(*query, "d1", 2, None, "x", None),
    ]
    for name, more in (("alone", {}), ("with", {"passages": given_passages})):
        path = tmp_path / name
        rows = {**tables, **more}
        write_arena(path, rows)
        with Service(grades_it) as service:
            mirage("measure", "support", path, "--model", "m", "--base-url", service.url)
            contents = [call.content for call in service.calls]
        assert sorted(name for text in contents for name in ids if f"Passage {name}." in text) == ["d8", "d9"]
        graded = read_rows(path, "support_grades")
        assert {(row["system"], row["passage_id"]) for row in graded} == {("deep", "d9"), ("shallow", "d8")}
        assert all(row["grade"] for row in graded)


def vote(number: int, word: Any, *, query: str = "q1", sentence: int = 0, who: str = "a") -> Evidence:
    about = {"arena": "arena", "language": "en", "system": "s", "passage_id": "d1"}
    return Evidence(vote_id=f"v{number}", time=now(), query_id=query, sentence=sentence, voter=who, vote=word, **about)


def test_votes_of_people_are_grades_where_most_are_of_one_mind(arena: Path) -> None:
    log = [
        vote(1, "yes"),
        vote(2, "yes", who="b"),
        vote(3, "no", who="c"),
        vote(4, "no", sentence=1),
        vote(5, "unclear", query="q2"),
        vote(6, "yes", query="q3"),
        vote(7, "no", query="q3", who="b"),
    ]
    grade_support_by_votes(arena, log, made_by="a test")
    rows = read_rows(arena, "support_grades")
    assert {row["grader"] for row in rows} == {PEOPLE}
    assert {(row["query_id"], row["sentence"]): row["grade"] for row in rows} == {
        ("q1", 0): "full",
        ("q1", 1): "none",
        ("q2", 0): None,
        ("q3", 0): None,
    }
    grade_support_by_votes(arena, log[:2], made_by="a test")
    assert open_arena(arena).rows("support_grades") == 1
    mirage("measure", "support", arena, "--votes", code=2)  # the log in the database is empty


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_citation_ends_no_sentence_and_joins_none_in_any_language(code: str) -> None:
    first, second = TWO_SENTENCES[code]
    space = "" if code in ("ja", "zh") else " "
    bare = [sentence.rstrip(".。।") for sentence in (first, second)]
    ends = [sentence[len(words) :] for sentence, words in zip((first, second), bare, strict=True)]
    texts = [
        f"{first}{space}[1#0]{space}{second}{space}[2#0]",
        f"{first} [1#0] {second} [2#0]",
        f"{first}[1#0]{space}{second}[2#0]",
        f"{bare[0]} [1#0]{ends[0]} {bare[1]} [2#0]{ends[1]}",
        f"{bare[0]}[1#0]{ends[0]}{space}{bare[1]}[2#0]{ends[1]}",
        f"{first} [1#0]\n{second} [2#0]",
    ]
    for text in texts:
        answer = MeasuredAnswer(code, text, False, ("1#0", "2#0"), (None, None))
        assert [place.passage_ids for place in sentence_places(answer)] == [("1#0",), ("2#0",)], text
    both = MeasuredAnswer(code, f"{first} [1#0][2#0] {second}", False, ("1#0", "2#0"), (None, None))
    assert [place.passage_ids for place in sentence_places(both)] == [("1#0", "2#0"), ()]


def test_short_thai_clauses_each_with_a_citation_are_told_apart() -> None:
    text = "เขาเกิด พ.ศ. 2445 [1#0] เขาตาย พ.ศ. 2500 [2#0]"
    answer = MeasuredAnswer("th", text, False, ("1#0", "2#0"), (None, None))
    assert [place.passage_ids for place in sentence_places(answer)] == [("1#0",), ("2#0",)]


def test_citations_without_a_sentence_are_no_sentence() -> None:
    assert sentence_places(MeasuredAnswer("en", "[1#0] [2#0]", False, ("1#0", "2#0"), (None, None))) == []
