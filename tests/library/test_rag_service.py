"""A live RAG service: its answers, its contexts as a retriever's lists, and what it answers instead."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows
from click.testing import Result
from commands import mirage
from generating_cases import shown, write
from golden.cases import read_table
from misbehaving import Act, Call, Service, not_json

import mirage as api
from mirage import open_arena
from mirage.errors import BadInput, UnknownName, Unreachable
from mirage.llm.json_paths import find, parse_path
from mirage.stages.shown import shown_passages
from mirage.store import arena as arenas
from mirage.store import copies
from mirage.store.ledger import Ledger, ledger_path

KEY = "sk-planted-5f2e9b71c04d"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "a", n=3)


def answered(call: Call) -> Act:
    """An answer with two contexts, under the names of the defaults."""
    contexts = [f"About {call.content}", "Something else"]
    return Act(body=json.dumps({"answer": f"It is so: {call.content} [1]", "contexts": contexts}).encode())


def nested(call: Call) -> Act:
    """Answer and contexts further down, these with ids, titles and scores."""
    documents = [
        {"metadata": {"id": f"d{k}", "title": f"Title {k}"}, "body": f"{call.content} {k}", "score": 1 / (k + 1)}
        for k in range(3)
    ]
    answer = {"result": [{"message": {"text": "Yes [d1]."}}], "hits": documents}
    return Act(body=json.dumps(answer).encode())


NESTED = "answer=result[0].message.text,contexts=hits[*]"


def generate(path: Path, service: Service, *more: str, code: int = 0) -> Result:
    named = ("generate", path, "--provider", "rag", "--system", "live", "--base-url", service.url)
    return mirage(*named, "--retries", "1", *more, code=code)


def rows(path: Path, table: str) -> list[dict[str, Any]]:
    return read_rows(path, table)


def calls(path: Path) -> list[Mapping[str, Any]]:
    """What the ledger has of the system's answers."""
    with Ledger(ledger_path(path), read_only=True) as ledger:
        return [ledger.get(row["call"]) or {} for row in rows(path, "answers") if row["call"]]


def test_answers_and_contexts_come_into_the_arena_and_nothing_is_asked_twice(path: Path) -> None:
    with Service(answered) as service:
        generate(path, service)
        assert {call.path for call in service.calls} == {"/v1"}
        assert all(set(call.body) == {"question"} for call in service.calls)
        assert len(service.calls) == 6
        generate(path, service)
        assert len(service.calls) == 6
    assert {row["outcome"] for row in shown(path, "live")} == {"ok"}
    arena = open_arena(path)
    assert arenas.check(arena)
    tables = {name: arena.read(name) for name in ("answers", "passages", "retrieved")}
    seen = [row for row in shown_passages(tables).to_pylist() if row["query_id"] == "q001"]
    assert [row["text"] for row in seen] == [
        text for code in ("de", "en") for text in (f"About Query q001 in {code}?", "Something else")
    ]
    assert {row["retriever"] for row in rows(path, "retrieved")} == {"live"}
    assert {row["numbered"] for row in rows(path, "answers")} == {True}
    assert all(call["seconds"] is not None and call["tokens_in"] and call["tokens_out"] for call in calls(path))
    assert all(call["estimated"] for call in calls(path)), "the service counts no tokens"


def test_paths_lead_to_every_part_of_a_response(path: Path) -> None:
    body = '{"input": ["{query}"], "options": {"lang": "{language}", "k": 3}}'
    with Service(nested) as service:
        generate(path, service, "--paths", NESTED, "--body", body)
        sent = service.calls[0].body
        assert sent["options"] == {"lang": sent["input"][0].split(" in ")[1][:2], "k": 3}
    first = [row for row in rows(path, "retrieved") if (row["language"], row["query_id"]) == ("de", "q000")]
    assert [(row["passage_id"], row["rank"], row["title"]) for row in first] == [
        ("d0", 1, "Title 0"),
        ("d1", 2, "Title 1"),
        ("d2", 3, "Title 2"),
    ]
    assert [row["score"] for row in first] == [1, 1 / 2, pytest.approx(1 / 3)]
    assert {row["citations"] for row in shown(path, "live")} == {"d1"}


def streamed(call: Call, line: Callable[[Any], str]) -> Act:
    events = [
        {"type": "sources", "docs": [{"id": "d1", "content": "First."}, {"id": "d2", "content": "Second."}]},
        {"type": "token", "delta": "It is "},
        {"type": "token", "delta": "so\u2028[2]."},
        {"type": "end"},
    ]
    return Act(body="".join(line(event) for event in events).encode() + b"data: [DONE]\n\n" * (line is sse))


def sse(event: Any) -> str:
    return f": a comment\r\nevent: {event['type']}\r\ndata: {json.dumps(event, ensure_ascii=False)}\r\n\r\n"


def ndjson(event: Any) -> str:
    return json.dumps(event, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("line", [sse, ndjson])
def test_a_stream_is_joined(path: Path, line: Callable[[Any], str]) -> None:
    with Service(lambda call: streamed(call, line)) as service:
        generate(path, service, "--paths", "answer=delta,contexts=docs")
    assert {row["text"] for row in rows(path, "answers")} == {"It is so\u2028[2]."}
    assert {row["passage_id"] for row in rows(path, "retrieved")} == {"d1", "d2"}
    assert {row["citations"] for row in shown(path, "live")} == {"d2"}


@pytest.mark.parametrize(
    ("behave", "looked_for", "there"),
    [
        (not_json, "answer", "We will be back soon."),
        (lambda: Act(body=b'{"reply": "Yes", "docs": [{"text": "a"}]}'), "answer", "docs[*].text, reply"),
        (lambda: Act(body=b'{"answer": "Yes", "docs": []}'), "contexts", "answer, docs"),
        (lambda: Act(body=b""), "answer", "empty"),
    ],
)
def test_another_answer_is_one_error_with_address_path_and_what_was_there(
    path: Path, behave: Callable[[], Act], looked_for: str, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_KEY", KEY)
    with Service(lambda call: behave()) as service:
        told = generate(path, service, "--key-env", "OUR_KEY", "--concurrency", "1", code=2).stderr
        assert len(service.calls) <= 3, "every other answer would be the same"
        assert {call.headers["authorization"] for call in service.calls} == {f"Bearer {KEY}"}
    for part in (service.url, looked_for, there, "--paths"):
        assert part in told
    assert len(re.findall("to do", told)) == 1
    assert KEY not in told
    for file in filter(Path.is_file, path.rglob("*")):
        assert KEY.encode() not in file.read_bytes()
    assert "answers" not in open_arena(path).tables
    with Service(nested) as other:
        generate(path, other, "--paths", NESTED)
    assert {row["outcome"] for row in shown(path, "live")} == {"ok"}


def test_a_context_keeps_its_own_text_under_the_id_of_another(path: Path) -> None:
    contexts = [
        {"id": "q000#0", "text": "A text about q000."},
        {"id": "q000#1", "text": "Another text"},
        {"id": "d", "text": "One chunk"},
        {"id": "d", "text": "Its second chunk"},
    ]
    with Service(lambda call: Act(body=json.dumps({"answer": "Yes [4].", "contexts": contexts}).encode())) as service:
        generate(path, service, "--languages", "de", "--limit", "1")
    arena = open_arena(path)
    tables = {name: arena.read(name) for name in ("answers", "passages", "retrieved")}
    seen = shown_passages(tables).to_pylist()
    assert [row["text"] for row in seen] == [context["text"] for context in contexts]
    assert [row["passage_id"] for row in seen] == ["q000#0", "q000#1~2", "d", "d~4"]
    assert [row["relevant"] for row in seen] == [True, None, None, None]
    assert [row["citations"] for row in shown(path, "live")] == ["d~4"]


def test_a_context_without_an_id_has_the_label_of_the_passage_with_its_text(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    copies.copy(open_arena("sample"), path)
    given = open_arena(path).read("passages", languages=["sw"]).to_pylist()
    texts = {row["query_id"]: row for row in given if row["relevant"]}
    asked = {row["text"]: row["query_id"] for row in rows(path, "queries") if row["language"] == "sw"}

    def known(call: Call) -> Act:
        own = texts.get(asked[call.content])
        contexts = ["Nobody wrote this.", *([own["text"]] if own else [])]
        return Act(body=json.dumps({"answer": "Ndiyo [2].", "contexts": contexts}).encode())

    with Service(known) as service:
        generate(path, service, "--languages", "sw")
    lists = {row["query_id"]: row for row in rows(path, "retrieved") if row["retriever"] == "live" and row["rank"] == 2}
    assert texts
    assert lists.keys() == texts.keys()
    assert {key: row["passage_id"] for key, row in lists.items()} == {k: row["passage_id"] for k, row in texts.items()}


def test_replace_asks_again_and_replaces_the_lists_too(path: Path) -> None:
    with Service(answered) as service:
        generate(path, service)
        service.behave = lambda call: Act(body=b'{"answer": "No.", "contexts": ["Only this"]}')
        generate(path, service, "--replace")
        assert len(service.calls) == 12
        generate(path, service)
        assert len(service.calls) == 12
    assert {row["text"] for row in rows(path, "retrieved")} == {"Only this"}
    assert {row["text"] for row in rows(path, "answers")} == {"No."}
    with Service(answered) as other:
        told = generate(path, other, code=2).stderr
        assert other.url in told
        assert not other.calls


def test_a_dry_run_counts_the_calls_and_sends_nothing(path: Path) -> None:
    with Service(answered) as service:
        assert "6 calls" in generate(path, service, "--dry-run").stderr
        generate(path, service, "--limit", "1")
        assert "4 calls" in generate(path, service, "--dry-run").stderr
        assert len(service.calls) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        ["--paths", "answer"],
        ["--paths", "reply=text"],
        ["--paths", "answer=a[x]"],
        ["--body", '["{query}"]'],
        ["--body", '{"question": "?"}'],
        ["--model", "m"],
        ["--retriever", "bm25"],
        ["--batch"],
    ],
    ids=" ".join,
)
def test_options_that_do_not_fit_are_rejected_before_anything_is_sent(path: Path, wrong: list[str]) -> None:
    with Service(answered) as service:
        assert "to do" in generate(path, service, *wrong, code=2).stderr
        assert not service.calls
    named = ["generate", path, "--system", "s", "--model", "m", "--base-url", service.url]
    assert "rag" in mirage(*named, "--paths", "answer=a", code=2).stderr


def test_the_api_asks_a_service_as_the_command_does(path: Path) -> None:
    with Service(nested) as service:
        parts = dict(entry.split("=") for entry in NESTED.split(","))
        live = api.rag_service(service.url, paths=parts, body={"question": "{query}", "k": 3})
        arena = api.generate(api.open_arena(path), rag=live, system="live", languages=["en"], limit=2)
        assert len(service.calls) == 2
    assert len(arena.read("retrieved")) == 6
    with pytest.raises(BadInput):
        api.generate(arena)
    with pytest.raises(BadInput):
        api.generate(arena, rag=live)
    with pytest.raises(UnknownName, match="anwser"):
        api.rag_service(service.url, paths={"anwser": "a"})
    with pytest.raises(BadInput, match="secret, which the ledger would keep"):
        api.rag_service(service.url, body={"input": {"q": "{query}", "Authorization": "x"}})
    with pytest.raises(Unreachable):
        api.generate(arena, rag=api.rag_service("http://127.0.0.1:9/ask", retries=0), system="gone")


@pytest.mark.parametrize(("words", "tries"), [("The index is loading.", 2), ("Your API key has expired.", 1)])
def test_an_error_in_place_of_an_answer_is_told_in_its_own_words(path: Path, words: str, tries: int) -> None:
    with Service(lambda call: Act(body=json.dumps({"error": {"message": words}}).encode())) as service:
        assert words in generate(path, service, code=2).stderr
        assert set(service.requests.values()) == {tries}


@pytest.mark.parametrize(*read_table("paths"))
def test_a_path_finds_values_in_order(path_text: str, value: Any, found: list[Any] | None) -> None:
    assert find(value, parse_path(path_text)) == found
