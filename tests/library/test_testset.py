"""`mirage testset`: questions from a corpus, and evidence that half of them have no answer in what is left of it."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows
from commands import mirage as run
from misbehaving import Act, Call, Service, filtered, reply
from testset_cases import ScriptedModel, passage, question_in, towns, write_corpus

import mirage
from mirage.errors import BadInput, NotEnoughData
from mirage.store import arena as store_arena
from mirage.store.arena import is_arena, open_arena

OPTIONS = ("--languages", "sw,de", "--n", 6, "--model", "m")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return write_corpus(tmp_path / "docs")


def make(corpus: Path, into: Path, model: Any, *more: object, code: int = 0) -> Any:
    with Service(model) as service:
        return run("testset", into, "--corpus", corpus, *OPTIONS, "--base-url", service.url, *more, code=code)


def read_left(arena: Path) -> list[dict[str, Any]]:
    """The corpus that is left."""
    return [json.loads(line) for line in (arena / "source" / "corpus.jsonl").read_text("utf-8").splitlines()]


def test_questions_of_both_subsets_with_their_evidence(corpus: Path, tmp_path: Path) -> None:
    make(corpus, tmp_path / "arena", ScriptedModel())
    arena = open_arena(tmp_path / "arena")
    kinds = Counter((row["language"], row["subset"]) for row in read_rows(arena, "queries"))
    assert kinds == {(code, subset): 3 for code in ("de", "sw") for subset in ("relevant", "non_relevant")}
    tables = {name: read_rows(arena, name) for name in arena.tables}
    subsets = {row["query_id"]: row["subset"] for row in tables["queries"]}
    towns_of = {row["query_id"]: row["text"] for row in tables["queries"]}
    model = ScriptedModel()
    ids = {row["docid"] for row in read_left(tmp_path / "arena")}
    for query_id, subset in subsets.items():
        shown = [row for row in tables["passages"] if row["query_id"] == query_id]
        answering = [row for row in shown if model.states(towns_of[query_id], row["text"])]
        assert {row["passage_id"] for row in shown if row["relevant"]} == {row["passage_id"] for row in answering}
        assert bool(answering) is (subset == "relevant")
        assert 7 <= len(shown) <= 10
        assert sorted(row["position"] for row in shown) == list(range(1, len(shown) + 1))
        assert {row["passage_id"] for row in shown} <= ids
        checks = [row for row in tables["passage_checks"] if row["query_id"] == query_id]
        gone = {row["passage_id"] for row in checks if row["removed"]}
        if subset == "non_relevant":
            assert {row["passage_id"] for row in checks if row["check"] == "source"} <= gone
            assert not [row for row in read_left(tmp_path / "arena") if model.states(towns_of[query_id], row["text"])]
        # The model says of each other passage that it answers nothing.
        silent = {(row["passage_id"], row["check"]) for row in checks if row["finding"] == "nothing"}
        assert all((row["passage_id"], "model") in silent for row in shown if not row["relevant"])
    answerable = {query_id for query_id, subset in subsets.items() if subset == "relevant"}
    assert {row["query_id"] for row in tables["references"]} == answerable
    assert {row["query_id"] for row in tables["nuggets"]} == answerable
    assert {row["value"] for row in tables["tags"]} == {"fact", "list"}
    assert store_arena.check(arena)


def test_copies_and_passages_with_the_fact_go_too(corpus: Path, tmp_path: Path) -> None:
    draw = random.Random(3)
    for k, town in enumerate(towns("de", 12)):
        sentences = passage("de", town).split(". ")
        draw.shuffle(sentences)
        (corpus / f"copy-{k}.txt").write_text(". ".join(sentences), "utf-8")
        other = f"Die Chronik von {town['town']} nennt für die Brücke das Jahr {town['year']} und {town['builder']}."
        (corpus / f"chronicle-{k}.txt").write_text(
            other + " Mehr ist nicht bekannt, und niemand fragt danach.", "utf-8"
        )
    make(corpus, tmp_path / "arena", ScriptedModel(), "--languages", "de")
    arena = open_arena(tmp_path / "arena")
    model = ScriptedModel()
    texts = [row["text"] for row in read_left(tmp_path / "arena")]
    checks = Counter((row["check"], row["finding"]) for row in read_rows(arena, "passage_checks"))
    assert checks["copy", "answers"] >= 4
    assert checks["model", "answers"] >= 4
    for row in read_rows(arena, "queries"):
        assert any(model.states(row["text"], text) for text in texts) is (row["subset"] == "relevant")


SPOILED = {
    "refuses": ("refuses", lambda town, written: [{"question": None, "why": "a table of contents"}]),
    "text": ("not a JSON list", lambda town, written: reply("Here is a question for you.")),
    "filtered": ("did not reply", lambda town, written: filtered()),
    "swahili": (
        "in Swahili",
        lambda town, written: [
            written[0]
            | {
                "question": f"Daraja lililoko {town} lilikamilika mwaka gani, na nani alilijenga?",
                "answer": f"Daraja la {town} lilijengwa na watu wa mji huo mwaka 1777.",
            }
        ],
    ),
    "copies": (
        "copies the passage",
        lambda town, written: [written[0] | {"question": written[0]["facts"][0]["quote"]}],
    ),
    "repeats": (
        "repeats another",
        lambda town, written: [written[0] | {"question": "Wann wurde die alte Brücke gebaut?"}],
    ),
    "unquoted": (
        "quote",
        lambda town, written: [written[0] | {"facts": [written[0]["facts"][0] | {"quote": "ganz anders"}]}],
    ),
    "okay": (
        "no vital",
        lambda town, written: [written[0] | {"facts": [written[0]["facts"][0] | {"importance": "okay"}]}],
    ),
}


def test_unfit_questions_are_dropped_with_the_reason_and_replaced(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    corpus = write_corpus(tmp_path / "docs", 19)
    known = [town["town"] for town in towns("de", 19)]
    kinds = dict(zip(known, [*SPOILED, "repeats"], strict=False))  # one repeats the other

    def spoil(town: str, written: list[dict[str, Any]]) -> object:
        return SPOILED[kinds[town]][1](town, written) if town in kinds else written

    more = ("--languages", "de", "--n", 12)
    result = make(corpus, tmp_path / "arena", ScriptedModel(spoil=spoil), *more)
    assert open_arena(tmp_path / "arena").rows("queries") == 11  # and there is no further passage
    assert "Fewer than requested" in result.stderr
    drafts = {row["passages"]: row for row in read_rows(tmp_path / "arena", "drafts")}
    dropped = Counter[str]()
    for k, town in enumerate(known):
        row = drafts.get(f"stadt-{k:02}.md#1")
        if row is not None and row["query_id"] is None:
            assert SPOILED[kinds[town]][0] in row["reason"]
            dropped[kinds[town]] += 1
    assert dropped == dict.fromkeys(SPOILED, 1)


def test_when_no_question_is_accepted_it_says_why(corpus: Path, tmp_path: Path) -> None:
    result = make(corpus, tmp_path / "arena", lambda call: reply("I cannot help with that."), code=2)
    assert "questions was accepted" in result.stderr
    assert "not a JSON list" in result.stderr
    assert not is_arena(tmp_path / "arena")


def test_passages_without_a_finding_are_undecided_and_not_shown(corpus: Path, tmp_path: Path) -> None:
    model = ScriptedModel()

    def behave(call: Call) -> Act:
        act = model(call)
        if question_in(call.content) is None:
            return act
        (choice,) = json.loads(act.body)["choices"]
        return reply(json.dumps(json.loads(choice["message"]["content"])[1:]))

    result = make(corpus, tmp_path / "arena", behave, "--languages", "de")
    assert "6 passages that the model did not classify" in result.stderr
    arena = open_arena(tmp_path / "arena")
    checks = read_rows(arena, "passage_checks")
    undecided = [row for row in checks if row["finding"] is None]
    assert len(undecided) == 6
    assert all(row["check"] == "model" and "no valid finding" in row["reason"] for row in undecided)
    shown = {(row["query_id"], row["passage_id"]) for row in read_rows(arena, "passages")}
    assert shown.isdisjoint((row["query_id"], row["passage_id"]) for row in undecided)


def test_a_budget_ends_it_and_more_money_resumes_it(corpus: Path, tmp_path: Path) -> None:
    prices = ("--price-in", 10, "--price-out", 10)
    with Service(ScriptedModel()) as service:
        common = ("testset", tmp_path / "arena", "--corpus", corpus, *OPTIONS, "--base-url", service.url, *prices)
        planned = run(*common, "--dry-run")
        assert "calls would be made" in planned.stderr
        assert not service.calls
        ended = run(*common, "--budget", "0.03", "--concurrency", 1, code=2)
        assert "budget" in ended.stderr
        assert 0 < len(service.calls) < 24
        run(*common, "--budget", "10")
        assert "already" in run(*common, code=2).stderr
        assert len(service.requests) == 24
        assert set(service.requests.values()) == {1}


def test_the_same_seed_gives_the_same_test_set_and_python_does_too(corpus: Path, tmp_path: Path) -> None:
    arenas = []
    with Service(ScriptedModel()) as service:
        model = mirage.chat_model("m", base_url=service.url)
        for name, seed in (("a", 0), ("b", 0), ("c", 1)):
            made = mirage.testset([corpus], tmp_path / name, model, languages=["de"], n=8, seed=seed)
            arenas.append({table: made.read(table) for table in made.tables})
    assert arenas[0] == arenas[1]
    assert arenas[0]["queries"] != arenas[2]["queries"]


def test_questions_in_a_language_that_the_corpus_lacks_are_from_all_of_it(corpus: Path, tmp_path: Path) -> None:
    for file in corpus.glob("*.txt"):
        file.unlink()
    make(corpus, tmp_path / "arena", ScriptedModel(), "--languages", "sw")
    arena = open_arena(tmp_path / "arena")
    assert {row["language"] for row in read_rows(arena, "queries")} == {"sw"}
    assert all("stadt" in row["passages"] for row in read_rows(arena, "drafts"))


def test_options_that_cannot_be_are_refused(corpus: Path, tmp_path: Path) -> None:
    model = mirage.chat_model("m", base_url="http://127.0.0.1:1/v1")
    for options in ({"n": 0}, {"unanswerable": 2}, {"depth": 1}):
        with pytest.raises(BadInput):
            mirage.testset(corpus, tmp_path / "arena", model, **options)  # type: ignore[arg-type]
    (tmp_path / "short.txt").write_text("Too short.", "utf-8")
    with pytest.raises(NotEnoughData):
        mirage.testset(tmp_path / "short.txt", tmp_path / "arena", model, languages=["en"])
