"""Whole systems: a model, or a baseline, that answers from what a retriever brought."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import CliRunner
from misbehaving import Service, replied

from mirage import schema, store
from mirage.cli import app
from mirage.stages.generate.baselines import BASELINES
from mirage.stages.judge.stage import BattleSample, JudgeSettings, judge_by_model


def mirage(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two queries; `bm25` brought three passages for the first, one of them given with it, and none for the second."""
    queries = [schema.Query("en", f"q{n}", None, f"Is it so {n}?", None) for n in (1, 2)]
    passages = [schema.Passage("en", "q1", "given", 1, None, "A given text is here.", True)]
    retrieved = [
        schema.Retrieved("en", "q1", "bm25", name, n, None, None, None if name == "given" else f"It is {name} so.")
        for n, name in enumerate(("x", "given", "y"), start=1)
    ]
    tables = {
        "queries": schema.from_rows("queries", queries),
        "passages": schema.from_rows("passages", passages),
        "retrieved": schema.from_rows("retrieved", retrieved),
    }
    return store.write(tmp_path / "arena", tables, made_by="a test").path


def test_a_model_is_shown_the_first_passages_of_the_retriever(path: Path) -> None:
    with Service(lambda _call: replied({"content": "##Reason: [x] ##Answer: yes"})) as service:
        options = ("--model", "m", "--base-url", service.url, "--retriever", "bm25", "--depth", 2)
        mirage("generate", path, *options)
        (call,) = service.calls
        assert "It is x so." in call.content
        assert "A given text is here." in call.content
        assert "It is y so." not in call.content
        mirage("generate", path, *options)
        assert len(service.calls) == 1, "what is in the ledger is not asked again"
        rows = {row["query_id"]: row for row in store.open_arena(path).read("answers").to_pylist()}
        assert {row["system"] for row in rows.values()} == {"m+bm25"}
        assert {(row["retriever"], row["depth"]) for row in rows.values()} == {("bm25", 2)}
        assert (rows["q1"]["status"], rows["q2"]["status"]) == ("ok", "missing")
        assert "bm25" in rows["q2"]["reason"]
        # The same name with other passages is another system.
        other = ("--model", "m", "--base-url", service.url, "--retriever", "bm25", "--system", "m+bm25")
        mirage("generate", path, *other, code=2)
    assert store.check(store.open_arena(path))


def test_a_retriever_that_is_not_there_is_refused(path: Path) -> None:
    options = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert "nobody" in mirage("generate", path, *options, "--retriever", "nobody", code=2)
    mirage("generate", path, *options, code=2)
    mirage("generate", path, *options, "--system", "s", "--depth", 3, code=2)


def test_the_baselines_answer_from_what_was_retrieved(path: Path) -> None:
    mirage("generate", path, "--baselines", "--retriever", "bm25", "--depth", 1)
    rows = {(row["system"], row["query_id"]): row for row in store.open_arena(path).read("answers").to_pylist()}
    assert {system for system, _ in rows} == {f"{name}+bm25" for name in BASELINES}
    lead = rows["baseline/lead+bm25", "q1"]
    assert "It is x so." in lead["text"]
    assert (lead["retriever"], lead["depth"]) == ("bm25", 1)
    assert rows["baseline/lead+bm25", "q2"]["status"] == "missing"
    mirage("evaluate", path, "--to", "features")
    arena = store.open_arena(path)
    assert {f"{name}+bm25" for name in BASELINES} == set(arena.read("features")["system"].to_pylist())


def test_a_judge_sees_what_either_system_was_shown(path: Path) -> None:
    mirage("generate", path, "--baselines", "--retriever", "bm25", "--depth", 1)
    given = [schema.Answer("en", "q1", "plain", "Yes [given].", "ok", None, None, None)]
    store.upsert(path, {"answers": store.by_key("answers", schema.from_rows("answers", given))}, made_by="a test")
    seen: list[str] = []

    def engine(conversations, **_options):  # type: ignore[no-untyped-def]
        seen.extend(messages[0]["content"] for messages in conversations)
        return [None] * len(conversations)

    from mirage import llm
    from mirage.stages import judge

    battles = [judge.OrderedPair("en", "q1", "plain", "baseline/lead+bm25")]
    calls = llm.ArenaCalls(engine, llm.ChatModel(llm.Settings("j")), "a test")
    judge_by_model(path, JudgeSettings("j", BattleSample(battles=battles)), calls)
    assert len(seen) == 2
    assert all("A given text is here." in text and "It is x so." in text for text in seen)
