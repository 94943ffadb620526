"""What each system was shown: the passages given with a query, or the first of what a retriever brought."""

from pathlib import Path

import pyarrow as pa
import pytest
from arena_writer import add_rows, read_rows, write_arena
from hypothesis import given
from hypothesis import strategies as st

from mirage import schema
from mirage.io.formats import full_records
from mirage.stages.features import table as feature_table
from mirage.stages.features.stage import FEATURES
from mirage.stages.generate.stage import answers_of
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.prompt import Prompts
from mirage.stages.shown import GIVEN, contexts, shown_passages
from mirage.stages.stage import run
from mirage.store import files
from mirage.store.arena import Arena
from mirage.views import battle as battle
from mirage.views import query as view
from mirage.views import spot_check

QUERY = ("en", "q")


def passage(name: str, position: int, *, relevant: bool | None = None) -> schema.Passage:
    return schema.Passage(*QUERY, name, position, f"Title {name}", f"Text of {name}.", relevant)


def retrieved(retriever: str, rank: int, name: str, text: str | None = None) -> schema.Retrieved:
    return schema.Retrieved(*QUERY, retriever, name, rank, 1 / rank, None, text)


def answer(system: str, text: str, retriever: str | None = None, depth: int | None = None) -> schema.Answer:
    return schema.Answer(*QUERY, system, text, "ok", None, None, None, True, retriever, depth)


def tables() -> dict[str, pa.Table]:
    """One query with two given passages; `bm25` brings one of these second, after one of its own."""
    rows = {
        "queries": [schema.Query(*QUERY, "relevant", "Is it so?", None)],
        "passages": [passage("a", 1, relevant=True), passage("b", 2, relevant=False)],
        "retrieved": [
            retrieved("bm25", 1, "x", "Text of x."),
            retrieved("bm25", 2, "a"),
            retrieved("bm25", 3, "y", "Text of y."),
            retrieved("dense", 1, "b"),
        ],
        "answers": [
            answer("plain", "Yes [1]."),
            answer("searching", "Yes [2].", "bm25", 2),
            answer("dense", "No [1].", "dense"),
        ],
    }
    return {name: schema.from_rows(name, part) for name, part in rows.items()}


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return write_arena(tmp_path / "arena", tables())


def ids(rows: pa.Table) -> dict[str, list[str]]:
    by_system: dict[str, list[str]] = {}
    for row in rows.to_pylist():
        by_system.setdefault(row["system"], []).append(row["passage_id"])
    return by_system


def test_a_system_was_shown_what_was_given_or_the_first_of_its_retriever() -> None:
    rows = shown_passages(tables())
    assert ids(rows) == {"plain": ["a", "b"], "searching": ["x", "a"], "dense": ["b"]}
    searching = [row for row in rows.to_pylist() if row["system"] == "searching"]
    assert [(row["position"], row["text"], row["relevant"]) for row in searching] == [
        (1, "Text of x.", None),
        (2, "Text of a.", True),
    ]


def test_without_a_retriever_it_is_the_passages_of_the_query() -> None:
    part = {name: table for name, table in tables().items() if name != "retrieved"}
    of_query = contexts(part["passages"])
    assert (
        of_query.select(["passage_id", "position", "title", "text", "relevant"]).to_pylist()
        == part["passages"].select(["passage_id", "position", "title", "text", "relevant"]).to_pylist()
    )
    assert set(of_query["retriever"].to_pylist()) == {GIVEN}
    assert "searching" not in ids(shown_passages(part)), "nobody knows any more what it was shown"


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("pqrs"), st.integers(1, 9)), unique_by=lambda t: t[:2])
)
def test_places_count_from_1_without_gaps_in_the_order_of_the_ranks(rows: list[tuple[str, str, int]]) -> None:
    table = schema.from_rows("retrieved", [retrieved(name, rank, passage_id) for name, passage_id, rank in rows])
    placed = contexts(None, table)
    for name in "ab":
        own = sorted((rank, passage_id) for retriever, passage_id, rank in rows if retriever == name)
        got = [
            (row["position"], row["passage_id"])
            for row in placed.sort_by("position").to_pylist()
            if row["retriever"] == name
        ]
        assert got == [(place, passage_id) for place, (_, passage_id) in enumerate(own, start=1)]


def test_features_are_measured_on_what_the_system_was_shown(arena: Arena) -> None:
    after = run(FEATURES, arena.path, made_by="a test")
    values = {(r["system"], r["feature"]): r["value"] for r in read_rows(after, "features")}
    assert values["searching", "n_citations"] == values["plain", "n_citations"] == 1
    assert values["dense", "n_unknown_citations"] == 0, "it was shown b alone, as its first"
    assert values["plain", "citation_MAP@10"] == 1
    reasons = {(r["system"], r["feature"]): r["reason"] for r in read_rows(after, "features")}
    assert values["searching", "citation_MAP@10"] is None, "nobody has labelled x"
    assert reasons["searching", "citation_MAP@10"]


def test_passages_that_are_gone_are_null_with_a_reason(arena: Arena) -> None:
    without = {name: arena.read(name) for name in ("queries", "passages", "answers")}
    rows = feature_table.compute(**without, only=["citation_Recall@10"]).to_pylist()
    (row,) = (row for row in rows if row["system"] == "searching")
    assert row["value"] is None
    assert row["reason"]


def test_a_battle_shows_the_passages_of_both_those_of_the_first_first() -> None:
    parts = tables()
    orders = [("searching", "plain"), ("plain", "searching")]
    prompts = Prompts([OrderedPair(*QUERY, *order) for order in orders], **parts)
    first, second = prompts.texts_of(0), prompts.texts_of(1)
    assert [(p.position, p.passage_id) for p in first.passages] == [(1, "x"), (2, "a"), (3, "b")]
    assert [(p.position, p.passage_id) for p in second.passages] == [(1, "a"), (2, "b"), (3, "x")]
    # Each number means the passage that its system meant.
    assert (first.answer_a, first.answer_b) == ("Yes [2].", "Yes [2].")
    assert (second.answer_a, second.answer_b) == ("Yes [1].", "Yes [1].")


def test_two_systems_that_were_shown_the_same_have_the_prompt_as_it_was() -> None:
    parts = tables()
    answers = parts["answers"].filter(pa.compute.is_null(parts["answers"]["retriever"]))
    twin = schema.from_rows("answers", [answer("twin", "No [2].")])
    given_only = {
        "queries": parts["queries"],
        "passages": parts["passages"],
        "answers": pa.concat_tables([answers, twin]),
    }
    battle_ = [OrderedPair(*QUERY, "plain", "twin")]
    assert Prompts(battle_, **given_only)[0] == Prompts(battle_, **given_only, retrieved=parts["retrieved"])[0]


def test_pages_list_what_each_system_was_shown(arena: Arena) -> None:
    query = view.query_view(arena, QUERY, "strict")
    assert [(p.position, p.passage_id) for p in query.passages][:2] == [(1, "a"), (2, "b")]
    assert {p.passage_id for p in query.passages} == {"a", "b", "x"}, "y is beyond the depth"
    by_system = {shown_answer.system: shown_answer for shown_answer in query.answers}
    assert by_system["searching"].shown == ("x", "a")
    assert [c.passage_id for c in by_system["searching"].citations] == ["a"]
    fought = battle.battle_view(arena, QUERY, "searching", "dense")
    assert {p.passage_id for p in fought.query.passages} == {"x", "a", "b"}
    assert {p.passage_id for p in battle.battle_view(arena, QUERY, "plain", "dense").query.passages} == {"a", "b"}


def test_a_vote_on_a_citation_is_on_the_passage_that_the_system_was_shown(arena: Arena) -> None:
    (pair,) = spot_check.pairs(arena, *QUERY, "searching")
    assert pair.passage_id == "a"


def test_show_answers_and_exports_name_what_was_shown(arena: Arena, tmp_path: Path) -> None:
    assert [row["citations"] for row in answers_of(arena.path, "searching")] == ["a"]
    full_records.write(arena, tmp_path / "out.jsonl")
    contexts_of = {
        line.value["system"]: [context["text"] for context in line.value["contexts"]]
        for line in files.jsonl(tmp_path / "out.jsonl")
    }
    assert contexts_of["searching"] == ["Text of x.", "Text of a."]
    assert contexts_of["plain"] == ["Text of a.", "Text of b."]


def test_an_answer_shown_other_passages_loses_its_features(arena: Arena) -> None:
    run(FEATURES, arena.path, made_by="a test")
    after = add_rows(arena.path, answers=[answer("searching", "Yes [2].", "dense", 2)])
    assert set(after.read("features")["system"].to_pylist()) == {"plain", "dense"}
