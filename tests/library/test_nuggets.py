"""Nuggets: nuggetizer's arithmetic, the matcher of terms, and what goes with a bank."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from arena_writer import add_rows, make_answer, make_query, read_rows, write_arena
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st

import mirage
from mirage import open_arena, schema
from mirage.errors import UnknownName
from mirage.stages.features.assessed import ASSESSED, decider
from mirage.stages.features.families import FEATURES
from mirage.stages.features.measuring import measure
from mirage.stages.nuggets.bank import nugget_id, nugget_scores
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.nuggets.terms import TERMS, match_terms
from mirage.stages.stage import run
from mirage.store.arena import Arena
from mirage.store.lineage import LINEAGE
from mirage.text.segmentation import sentences

NAMES = ("nugget_vital_strict", "nugget_all_strict", "nugget_vital", "nugget_all")

# --- arithmetic -------------------------------------------------------------------------------------------------------


def published(bank: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """The scores as nuggetizer's program defines them, written from its definition."""
    vital = [nugget["assignment"] for nugget in bank if nugget["importance"] == "vital"]
    every = [nugget["assignment"] for nugget in bank]

    def share(given: list[str], part: float) -> float:
        return (given.count("support") + part * given.count("partial_support")) / len(given) if given else 0.0

    return {
        "strict_vital_score": share(vital, 0),
        "strict_all_score": share(every, 0),
        "vital_score": share(vital, 0.5),
        "all_score": share(every, 0.5),
    }


BANKS = st.lists(
    st.fixed_dictionaries(
        {
            "importance": st.sampled_from(["vital", "okay"]),
            "assignment": st.sampled_from(["support", "partial_support", "not_support"]),
        }
    ),
    max_size=12,
)


@given(BANKS)
def test_the_scores_are_nuggetizers_and_null_where_it_has_nothing_to_count(bank: list[dict[str, Any]]) -> None:
    ours = nugget_scores((nugget["importance"], nugget["assignment"]) for nugget in bank)
    for name, theirs in published(bank).items():
        counted = [nugget for nugget in bank if nugget["importance"] == "vital" or "vital" not in name]
        assert ours[name] == theirs if counted else isinstance(ours[name], str)


def test_a_nugget_without_an_assignment_leaves_no_score_of_what_counts_it() -> None:
    scores = nugget_scores([("vital", "support"), ("okay", None)])
    assert scores["vital_score"] == 1
    assert isinstance(scores["all_score"], str)


# --- the matcher of terms ---------------------------------------------------------------------------------------------

SAMPLE = open_arena("sample")
CODES = SAMPLE.languages("passages")


def facts(code: str) -> list[list[str]]:
    """By query: sentences of its relevant passages with a few words."""
    by_query: dict[str, list[str]] = {}
    for row in SAMPLE.read("passages", languages=[code]).to_pylist():
        if row["relevant"] and row["text"]:
            cut = [row["text"][start:end] for start, end in sentences(row["text"], code)]
            by_query.setdefault(row["query_id"], []).extend(text for text in cut if len(text) > 12)
    return [texts for texts in by_query.values() if texts]


@pytest.mark.parametrize("code", CODES)
def test_the_matcher_finds_planted_nuggets_of_the_query_in_every_language(code: str) -> None:
    planted = [texts[0] for texts in facts(code)]
    assert len(planted) >= 5
    own_hits, other_hits = [], []
    for own, other in pairwise([*planted, planted[0]]):
        if own == other:
            continue
        answer = f"{other} {own} [1]"
        own_hits.append(match_terms(own, answer, code)[0] == "support")
        other_hits.append(match_terms(own, other, code)[0] == "support")
    assert mean(own_hits) == 1
    assert mean(other_hits) <= 0.1


@pytest.mark.parametrize(*read_table("nugget_terms"))
def test_numbers_forms_of_words_and_citations_are_told_apart(nugget: str, answer: str, assignment: str) -> None:
    given_now, quote = match_terms(nugget, answer, "en")
    assert given_now == assignment
    assert quote is None if assignment == "not_support" else quote in answer


@pytest.mark.parametrize(
    ("language", "nugget", "answer"),
    [
        (
            "en",
            "The bridge was built in 1932.",
            "It crosses the Tana. [2] The bridge was built in 1932. [1] It is free.",
        ),
        ("de", "Die Brücke wurde 1932 gebaut.", "Sie führt zum Dorf. [2] Die Brücke wurde 1932 gebaut. [1] Frei."),
        ("fi", "Silta rakennettiin 1932.", "Se ylittää joen. [2] Silta rakennettiin 1932. [1] Kukaan ei maksa."),
        ("th", "สะพานสร้างในปี 1932", "สะพานข้ามแม่น้ำ [2] สะพานสร้างในปี 1932 [1] ไม่มีใครจ่าย"),
    ],
)
def test_a_quote_is_the_sentence_alone_where_citations_follow_sentences(
    language: str, nugget: str, answer: str
) -> None:
    assert match_terms(nugget, answer, language) == ("support", nugget)


def test_the_words_of_the_query_state_nothing() -> None:
    query, nugget = "When was the lighthouse of Sennen built?", "The lighthouse of Sennen was built in 1795."
    assert match_terms(nugget, "The lighthouse of Sennen was built.", "en", query)[0] == "not_support"
    assert match_terms(nugget, "In 1795.", "en", query)[0] == "support"


def bank(*texts: str, query: str = "q1") -> list[schema.Nugget]:
    return [schema.Nugget("en", query, nugget_id(text), text, "okay", "d#0", "m") for text in texts]


# --- an arena ---------------------------------------------------------------------------------------------------------

ANSWERS = {"good": "The lamp was lit in 1889. Volunteers keep it.", "half": "The lamp was lit in 1889.", "poor": "No."}


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Two queries with the same answers; a bank of two nuggets each, and none for a third query."""
    path = tmp_path / "arena"
    queries = [make_query("en", f"q{k}", None, "What of the light?") for k in (1, 2, 3)]
    answers = [
        make_answer("en", f"q{k}", system, text, template="rag") for k in (1, 2, 3) for system, text in ANSWERS.items()
    ]
    answers.append(schema.Answer("en", "q1", "silent", None, "missing", None, None, None))
    rows = [nugget for query in ("q1", "q2") for nugget in bank(*LINES, query=query)]
    rows = [replace(nugget, importance="vital") if nugget.text == LINES[0] else nugget for nugget in rows]
    tables = {"queries": queries, "answers": answers, "nuggets": rows}
    return write_arena(path, tables).path


LINES = ("The lamp was lit in 1889.", "Volunteers keep it today.")


def assign(path: Path) -> Arena:
    run(TERM_ASSIGNMENTS, path, made_by="a test", part="assigner")
    return measure(path, made_by="a test")


def scores(arena: Arena, name: str = "nugget_all") -> dict[tuple[str, str], float | None]:
    rows = read_rows(arena, "features")
    return {(row["query_id"], row["system"]): row["value"] for row in rows if row["feature"] == name}


def test_scores_are_features_where_a_bank_is_and_nowhere_else(arena: Path) -> None:
    measured = assign(arena)
    assert scores(measured, "nugget_vital") | {} == {
        ("q1", "good"): 1.0, ("q1", "half"): 1.0, ("q1", "poor"): 0.0, ("q1", "silent"): None,
        ("q2", "good"): 1.0, ("q2", "half"): 1.0, ("q2", "poor"): 0.0,
        ("q3", "good"): None, ("q3", "half"): None, ("q3", "poor"): None,
    }  # fmt: skip
    assert scores(measured)["q1", "half"] == 0.5
    reasons = {row["reason"] for row in read_rows(measured, "features") if row["query_id"] == "q3"}
    assert "the query has no nugget" in reasons
    means = {(row["system"], row["feature"]): row for row in mirage.nugget_scores(measured)}
    assert means["good", "nugget_vital"]["mean"] == 1
    assert (means["poor", "nugget_all"]["n"], means["poor", "nugget_all"]["total"]) == (2, 3)


def test_the_store_knows_which_features_rest_on_which_table() -> None:
    for table in ASSESSED:
        resting = {name for name, spec in FEATURES.items() if table in spec.needs}
        assert set(LINEAGE[table].features) == resting, table


def test_assignments_go_with_the_answer_that_they_are_about(arena: Path) -> None:
    assign(arena)
    new = make_answer("en", "q1", "half", "Other words.")
    after = add_rows(arena, answers=[new])
    keys = {(row["query_id"], row["system"]) for row in read_rows(after, "nugget_assignments")}
    assert ("q1", "half") not in keys
    assert {("q1", "good"), ("q2", "half")} <= keys


def test_a_model_counts_before_the_floor_and_a_name_before_both(arena: Path) -> None:
    table = assign(arena).read("nugget_assignments")
    assert decider(table, "assigner") == TERMS
    rows = [schema.NuggetAssignment(**row) for row in table.to_pylist()]
    single = schema.NuggetAssignment("en", "q1", "poor", rows[0].nugget_id, "m", "support", None, None, None)
    both = schema.from_rows("nugget_assignments", [*rows, single])
    assert decider(both, "assigner") == "m"
    assert decider(both, "assigner", TERMS) == TERMS
    with pytest.raises(UnknownName):
        decider(both, "assigner", "x")


def test_several_processes_assign_what_one_does(arena: Path) -> None:
    from mirage.llm.engines.processes import Processes

    here = assign(arena).read("nugget_assignments")
    run(TERM_ASSIGNMENTS, arena, made_by="a test", part="assigner", executor=Processes(2))
    assert open_arena(arena).read("nugget_assignments").equals(here)
