"""A model writes nuggets and assigns them: strict reading, failures with reasons, and runs that go on."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from arena_writer import make_answer, make_query, read_rows, write_arena
from commands import mirage
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import FAILURES, Act, Call, Service, reply
from typer.testing import Result

from mirage import schema
from mirage.stages.nuggets.stage import (
    BATCH,
    MAX_NUGGETS,
    AssignRequest,
    BankRequest,
    parse_assignments,
    parse_bank,
)

QUERIES = 12
SYSTEMS = ("a", "b", "c")


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    path = tmp_path / "arena"
    keys = [("en", f"q{k}") for k in range(QUERIES)]
    tables = {
        "queries": [make_query(*key, None, f"What of {key[1]}?") for key in keys],
        "passages": [
            schema.Passage(*key, f"{key[1]}#{k}", k, None, f"Text {k} of {key[1]}.", k == 2)
            for key in keys
            for k in (1, 2)
        ],
        "answers": [
            make_answer(*key, system, f"The words of {system} on {key[1]}.", template="rag")
            for key in keys
            for system in SYSTEMS
        ],
    }
    return write_arena(path, tables).path


def nuggets(path: Path, service: Service, *args: object, code: int = 0) -> Result:
    words = ("measure", "nuggets", path, "--model", "m", "--base-url", service.url, "--retries", 0)
    return mirage(*words, *args, code=code)


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
    return read_rows(path, name)


def does_both(call: Call) -> Act:
    """A model that writes three nuggets and assigns them."""
    return assigns(call) if "<<NUGGET " in call.content else writes(call)


def test_a_bank_is_written_from_the_relevant_passages_and_assigned_in_batches(arena: Path) -> None:
    with Service(lambda call: assigns(call) if "<<NUGGET " in call.content else writes(call, 12)) as service:
        result = nuggets(arena, service, "--create", "--format", "json")
        banks = [call.content for call in service.calls if "<<NUGGET " not in call.content]
        assert len(banks) == QUERIES
        assert all("Text 2 of" in text and "Text 1 of" not in text for text in banks)
        assert len(service.calls) == QUERIES * (1 + 2 * len(SYSTEMS))
        assert max(call.content.count("<<NUGGET ") for call in service.calls) == BATCH
        assert "has nuggets already" in nuggets(arena, service, "--create").stderr
        assert len(service.calls) == QUERIES * (1 + 2 * len(SYSTEMS))
    bank = table(arena, "nuggets")
    assert len(bank) == 12 * QUERIES
    assert {(row["author"], row["passage_id"] == f"{row['query_id']}#2") for row in bank} == {("m", True)}
    means = {(row["system"], row["feature"]): row["mean"] for row in json.loads(result.stdout)}
    assert [means[system, "nugget_all"] for system in SYSTEMS] == [1, 0.5, 0]
    assert [means[system, "nugget_all_strict"] for system in SYSTEMS] == [1, 0, 0]
    assert {row["quote"] for row in table(arena, "nugget_assignments")} == {None, "the WORDS of  a", "the WORDS of  b"}


def test_with_three_calls_in_ten_failing_rows_say_why_and_a_rerun_asks_for_these(arena: Path) -> None:
    def fails(call: Call) -> Act:
        ill = "<<NUGGET " in call.content and hashlib.sha256(call.content.encode()).digest()[0] < 0.3 * 256
        return FAILURES[len(call.content) % len(FAILURES)]() if ill else does_both(call)

    with Service(fails) as service:
        nuggets(arena, service, "--create")
        rows = table(arena, "nugget_assignments")
        failed = [row for row in rows if row["assignment"] is None]
        assert len(rows) == 3 * len(SYSTEMS) * QUERIES
        assert 0 < len(failed) < len(rows) / 2
        assert all(row["reason"] for row in failed)
        values = [row for row in table(arena, "features") if row["feature"] == "nugget_all"]
        assert {(row["query_id"], row["system"]) for row in values if row["value"] is None} == {
            (row["query_id"], row["system"]) for row in failed
        }
        first = len(service.calls)
        service.behave = assigns
        nuggets(arena, service)
        assert len(service.calls) - first == len(failed) / 3
    assert all(row["assignment"] for row in table(arena, "nugget_assignments"))


def test_a_budget_and_a_dry_run(arena: Path) -> None:
    prices = ("--price-in", 1, "--price-out", 1)
    with Service(does_both) as service:
        assert f"{QUERIES} calls would be made" in nuggets(arena, service, "--create", "--dry-run", *prices).stderr
        assert not service.calls
        nuggets(arena, service, "--create", "--budget", 0.005, "--concurrency", 1, *prices)
        assert 0 < len({row["query_id"] for row in table(arena, "nuggets")}) < QUERIES
        nuggets(arena, service, "--create")
        assert service.answered.total() == QUERIES * (1 + len(SYSTEMS))


# --- reading ----------------------------------------------------------------------------------------------------------

BANK = BankRequest("en", "q", "What?", (("d1", "x"), ("d2", "y")))
GOOD = {"nugget": "A fact.", "importance": "vital", "passage": 2}


def test_a_bank_is_read_with_thoughts_and_a_fence_and_cut_to_the_most_vital() -> None:
    entries = [{**GOOD, "nugget": f"Fact {k}", "importance": "vital" if k % 2 else "okay"} for k in range(70)]
    read = parse_bank(f"<think>[]</think>\n```json\n{json.dumps(entries)}\n```\n", BANK, "m")
    assert isinstance(read, list)
    assert len(read) == MAX_NUGGETS
    assert {(nugget.importance, nugget.passage_id) for nugget in read} == {("vital", "d2")}


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


@pytest.mark.parametrize(*read_table("assignments"))
def test_an_assignment_is_read_strictly(entries: list[dict[str, Any]], first: list[str | None]) -> None:
    (assignment, quote, reason), (other, _, missing) = parse_assignments(json.dumps(entries), ONE)
    assert [assignment, quote] == first
    assert (reason is None) == (assignment is not None)
    assert other is None
    assert missing


@given(st.text(max_size=200))
def test_no_text_is_read_as_what_it_does_not_say(text: str) -> None:
    for assignment, _, reason in parse_assignments(text, ONE):
        assert (assignment is None) == (reason is not None)
