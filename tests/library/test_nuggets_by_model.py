"""A model writes nuggets and assigns them: strict reading, failures with reasons, and runs that go on."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import mirage
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import Act, Call, Service, reply
from typer.testing import Result

from mirage import schema, store
from mirage.stages.nuggets.assign import AssignRequest, parse_assignments
from mirage.stages.nuggets.create import MAX_NUGGETS, BankRequest, bank_requests, parse_bank

QUERIES = 12
SYSTEMS = ("a", "b", "c")


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    path = tmp_path / "arena"
    keys = [("en", f"q{k}") for k in range(QUERIES)]
    tables = {
        "queries": [schema.Query(*key, None, f"What of {key[1]}?", None) for key in keys],
        "passages": [
            schema.Passage(*key, f"{key[1]}#{k}", k, None, f"Text {k} of {key[1]}.", k == 2)
            for key in keys
            for k in (1, 2)
        ],
        "answers": [
            schema.Answer(*key, system, f"The words of {system} on {key[1]}.", "ok", "rag", None, None)
            for key in keys
            for system in SYSTEMS
        ],
    }
    store.write(path, {name: schema.from_rows(name, rows) for name, rows in tables.items()}, made_by="a test")
    return path


def nuggets(verb: str, path: Path, service: Service, *args: object, code: int = 0) -> Result:
    return mirage(
        "measure", "nuggets", verb, path, "--model", "m", "--base-url", service.url, "--retries", 0, *args, code=code
    )


def writes(call: Call, n: int = 3) -> Act:
    """A model that writes n nuggets, the first vital."""
    query = re.search(r"What of (q\d+)\?", call.content)
    assert query is not None
    entries = [
        {"nugget": f"Fact {k} of {query[1]}.", "importance": "okay" if k else "vital", "passage": 1} for k in range(n)
    ]
    return reply(json.dumps(entries))


def assigns(call: Call) -> Act:
    """A model that finds every nugget in the answers of `a`, a part in those of `b`."""
    system = re.search(r"The words of (\w) on", call.content)
    assert system is not None
    count = len(re.findall(r"^<<NUGGET ", call.content, flags=re.MULTILINE))
    given_now = {"a": "support", "b": "partial_support", "c": "not_support"}[system[1]]
    quote = f"the WORDS of  {system[1]}" if system[1] != "c" else None
    return reply(json.dumps([{"nugget": k, "assignment": given_now, "quote": quote} for k in range(1, count + 1)]))


def table(path: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = store.open_arena(path).read(name).to_pylist()
    return rows


def ill(call: Call) -> bool:
    """Three calls in ten, by their text."""
    return hashlib.sha256(call.content.encode()).digest()[0] < 0.3 * 256


# --- reading ----------------------------------------------------------------------------------------------------------

BANK = BankRequest("en", "q", "What?", (("d1", "x"), ("d2", "y")))
GOOD = {"nugget": "A fact.", "importance": "vital", "passage": 2}


def test_a_bank_is_read_with_thoughts_and_a_fence_and_cut_to_the_most_vital() -> None:
    entries = [{**GOOD, "nugget": f"Fact {k}", "importance": "vital" if k % 2 else "okay"} for k in range(70)]
    read = parse_bank(f"<think>[]</think>\n```json\n{json.dumps(entries)}\n```\n", BANK, "m")
    assert isinstance(read, list)
    assert len(read) == MAX_NUGGETS
    assert {(nugget.importance, nugget.passage_id) for nugget in read} == {("vital", "d2")}


def test_what_is_said_twice_counts_once_and_is_vital_if_it_is_once() -> None:
    (nugget,) = parse_bank(json.dumps([{**GOOD, "importance": "okay"}, GOOD]), BANK, "m")
    assert nugget.importance == "vital"  # type: ignore[union-attr]  # it is read


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[1]", f"Here: {json.dumps([GOOD])}", f"{json.dumps([GOOD])} [[A]]", "<think>[]",
        json.dumps([{**GOOD, "nugget": " "}]), json.dumps([{**GOOD, "importance": "high"}]),
        json.dumps([{**GOOD, "passage": 3}]), json.dumps([{**GOOD, "passage": True}]), json.dumps([GOOD, {}]),
        "[" * 100_000,
    ],
)  # fmt: skip
def test_any_other_reply_is_no_bank_and_says_why(text: str) -> None:
    read = parse_bank(text, BANK, "m")
    assert isinstance(read, str)
    assert read


ONE = AssignRequest("en", "q", "s", "What?", "Some words here.", (("n1", "A."), ("n2", "B.")))


@pytest.mark.parametrize(
    ("entries", "first"),
    [
        ([{"nugget": 1, "assignment": "support", "quote": "some  WORDS"}], ("support", "some  WORDS")),
        ([{"nugget": 1, "assignment": "support", "quote": "other words"}], ("support", None)),
        ([{"nugget": 1, "assignment": "not_support", "quote": "some words"}], ("not_support", None)),
        ([{"nugget": 1, "assignment": "yes"}], (None, None)),
        ([{"nugget": 1, "assignment": "support"}, {"nugget": 1, "assignment": "not_support"}], (None, None)),
        ([{"nugget": 3, "assignment": "support"}], (None, None)),
        ([{"nugget": True, "assignment": "support"}], (None, None)),
    ],
)
def test_an_assignment_is_read_strictly(entries: list[dict[str, Any]], first: tuple[str | None, str | None]) -> None:
    (assignment, quote, reason), (other, _, missing) = parse_assignments(json.dumps(entries), ONE)
    assert (assignment, quote) == first
    assert (reason is None) == (assignment is not None)
    assert other is None
    assert missing


@given(st.text(max_size=200))
def test_no_text_is_read_as_what_it_does_not_say(text: str) -> None:
    for assignment, _, reason in parse_assignments(text, ONE):
        assert (assignment is None) == (reason is not None)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_answer_leaves_its_fence(answer: str, nugget: str) -> None:
    (message,) = AssignRequest("en", "q", "s", "What?", answer, (("n", nugget),)).conversation()
    code = re.search(r"with the code (\w+)", message["content"])
    assert code is not None
    assert code[1] not in answer + nugget
    assert f"<<ANSWER {code[1]}>>\n{answer}\n<<END {code[1]}>>" in message["content"]


def test_passages_are_the_relevant_ones_or_all_where_none_has_a_label() -> None:
    queries = schema.from_rows("queries", [schema.Query("en", f"q{k}", None, "What?", None) for k in range(4)])
    labels = {"q0": (True, False), "q1": (None, None), "q2": (False, False)}
    rows = [
        schema.Passage("en", query, f"d{k}", k + 1, None, "x", label)
        for query, pair in labels.items()
        for k, label in enumerate(pair)
    ]
    requests, left = bank_requests(queries, schema.from_rows("passages", rows))
    assert {request.query_id: [name for name, _ in request.passages] for request in requests} == {
        "q0": ["d0"],
        "q1": ["d0", "d1"],
    }
    assert sum(left.values()) == 2
