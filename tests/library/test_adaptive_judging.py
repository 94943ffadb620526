"""`mirage judge --until`: rounds through a loopback judge, budgets, interruptions, and what a ranking makes of them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import mirage as command
from judge_cases import answers, judgments, says, texts
from misbehaving import Act, Call, Service, error
from typer.testing import Result

import mirage
from mirage import llm, store
from mirage.errors import BadInput
from mirage.store import Ledger, ledger_path

SYSTEMS = ("best", "good", "fair", "poor")
PRICES = ("--price-in", 10, "--price-out", 50)
PER_CALL = (100 * 10 + 20 * 50) / 1e6
"""What a call costs: the loopback service counts 100 prompt tokens and 20 of the reply."""
QUERIES = 12
ALL = 6 * 2 * QUERIES
"""Battles of a full tournament, each two calls."""


def by_strength(call: Call) -> Act:
    """The stronger of two systems wins four times of five, the same way whenever it is asked."""
    first, second = (SYSTEMS.index(name) for name in re.findall(r"##Answer: (\w+) on", call.content)[:2])
    upset = hashlib.sha256(call.content.encode()).digest()[0] < 51
    return says("A" if (first < second) != upset else "B")


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    path = tmp_path / "arena"
    store.write(path, {**texts(QUERIES), "answers": answers(SYSTEMS, QUERIES)}, made_by="a test")
    return path


def judge(path: Path, service: Service, *args: object, name: str = "j", code: int = 0) -> Result:
    options = ("--judge", name, "--model", "m", "--base-url", service.url, "--retries", 0, "--max-tokens", 50)
    return command("judge", path, *options, *args, code=code)


def battles(rows: list[dict[str, Any]]) -> set[tuple[str, str, frozenset[str]]]:
    return {(row["language"], row["query_id"], frozenset((row["system_a"], row["system_b"]))) for row in rows}


def test_rounds_go_on_until_the_best_system_is_separated(arena: Path) -> None:
    with Service(by_strength) as service:
        result = judge(arena, service, "--until", "top:1", "--rounds", 6, "--format", "csv")
        assert max(service.requests.values()) == 1
    rows = judgments(arena, "j")
    assert len(rows) == 2 * len(battles(rows)) == sum(service.requests.values())
    assert len(battles(rows)) <= ALL
    assert "Round 1 of 6" in result.stderr
    assert "Stopped" in result.stderr
    assert result.stdout.splitlines()[1].split(",")[1] == "best"


def test_a_verdict_has_the_share_of_its_pair_and_language_as_inclusion_probability(arena: Path) -> None:
    with Service(by_strength) as service:
        judge(arena, service, "--until", "separated", *PRICES, "--budget", 60 * 2 * PER_CALL, "--rounds", 3)
    rows = judgments(arena, "j")
    for row in rows:
        pair = {row["system_a"], row["system_b"]}
        of_cell = [o for o in rows if o["language"] == row["language"] and {o["system_a"], o["system_b"]} == pair]
        assert row["inclusion"] == pytest.approx(len(battles(of_cell)) / QUERIES)
    assert "inclusion" in mirage.rank(store.open_arena(arena), judge="j").method
    remarks = command("rank", arena, "--judge", "j").stderr
    assert "inclusion" in remarks


def test_a_budget_is_never_exceeded_and_nearly_spent(arena: Path) -> None:
    budget = 60 * 2 * PER_CALL
    with Service(by_strength) as service:
        result = judge(arena, service, "--until", "separated", *PRICES, "--budget", budget, "--rounds", 4)
        calls = sum(service.requests.values())
    assert 0.7 * budget <= calls * PER_CALL <= budget + 1e-9
    assert "cost" in result.stderr


@pytest.mark.parametrize("after", [7, 60, 100])
def test_an_interrupted_run_goes_on_and_neither_asks_nor_pays_twice(arena: Path, tmp_path: Path, after: int) -> None:
    """The service goes away in the middle of a round; the same command then ends as if nothing had happened."""
    options = ("--until", "separated", *PRICES, "--budget", 70 * 2 * PER_CALL, "--rounds", 3, "--concurrency", 1)
    other = tmp_path / "other"
    command("arena", "copy", arena, other)
    with Service(by_strength) as service:
        judge(other, service, *options)
    n = 0

    def dies(call: Call) -> Act:
        nonlocal n
        n += 1
        return by_strength(call) if n <= after else error(401)

    with Service(dies) as service:
        options = (*options, "--service", "s")
        judge(arena, service, *options, code=2)
        service.behave = by_strength
        judge(arena, service, *options)
        answered = sum(service.requests.values()) - sum(count - 1 for count in service.requests.values())
        assert max(service.requests.values()) <= 2  # refused once, then answered
    with Ledger(ledger_path(arena), read_only=True) as ledger:
        assert ledger.totals()[0] == answered
    assert answered * PER_CALL <= 70 * 2 * PER_CALL + 1e-9
    chosen = {key: row["verdict"] for row in judgments(arena, "j") for key in [(*battles([row]), row["system_a"])]}
    wanted = {key: row["verdict"] for row in judgments(other, "j") for key in [(*battles([row]), row["system_a"])]}
    assert chosen == wanted


def test_rounds_by_a_criterion_are_a_judge_of_its_own(arena: Path) -> None:
    options = ("--until", "top:1", *PRICES, "--budget", 50 * 2 * PER_CALL)
    with Service(by_strength) as service:
        judge(arena, service, *options, "--criterion", "groundedness")
        paid = sum(service.requests.values())
        judge(arena, service, *options, "--criterion", "groundedness")
        assert sum(service.requests.values()) == paid <= 100
    assert not judgments(arena, "j")
    rows = judgments(arena, "j: groundedness")
    assert rows
    assert all(row["criterion"] == "groundedness" and row["inclusion"] for row in rows)


def test_python_judges_until_a_goal_too(arena: Path) -> None:
    with Service(by_strength) as service:
        prices = {"price_in": 10, "price_out": 50, "budget": 50 * 2 * PER_CALL}
        model = mirage.chat_model("m", base_url=service.url, max_tokens=50, **prices)
        opened = mirage.open_arena(arena)
        judged = mirage.judge(opened, model, judge="j", until="top:1")
        assert 0 < sum(service.requests.values()) <= 100
    ranking = mirage.rank(judged, judge="j", draws=50)
    assert ranking.table()["system"][0].as_py() == "best"


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--until", "best"), "top:K"),
        (("--until", "top:4"), "K below 4"),
        (("--until", "separated", "--budget", 1), "price"),
        (("--until", "separated", "--pairs", 5), "--pairs"),
        (("--until", "separated", "--known", "--replace"), "--known, --replace"),
        (("--until", "separated", "--repeats", 2), "omit --repeats"),
        (("--until", "separated", "--shard", "1/2"), "--shard"),
        (("--until", "separated", *PRICES, "--budget", 0.000001), "budget"),
        (("--rounds", 3), "--until"),
    ],
)
def test_an_option_that_cannot_be_is_refused_before_anything_is_sent(
    arena: Path, options: tuple[object, ...], word: str
) -> None:
    with Service(by_strength) as service:
        result = judge(arena, service, *options, code=2)
        assert not service.requests
    assert word in result.stderr


def test_verdicts_chosen_in_another_way_are_not_mixed_in(arena: Path) -> None:
    with Service(by_strength) as service:
        judge(arena, service, "--pairs", 4)
        assert "another name" in judge(arena, service, "--until", "top:1", code=2).stderr
        judge(arena, service, "--until", "top:1", name="k")
        assert max(service.requests.values()) == 1


def test_exported_verdicts_keep_their_weights_when_they_are_imported(arena: Path, tmp_path: Path) -> None:
    with Service(by_strength) as service:
        judge(arena, service, "--until", "top:1", *PRICES, "--budget", 40 * 2 * PER_CALL, "--rounds", 2)
    names = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "inclusion")
    wanted = [{name: row[name] for name in names} for row in judgments(arena, "j")]
    file = tmp_path / "verdicts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in wanted), encoding="utf-8")
    command("import", file, "--into", tmp_path / "again")
    assert [{name: row[name] for name in names} for row in judgments(tmp_path / "again", "j")] == wanted
    file.write_text(json.dumps(wanted[0] | {"inclusion": 0}) + "\n", encoding="utf-8")
    assert "inclusion" in command("import", file, "--into", tmp_path / "never", code=2).stderr


def test_languages_judged_one_after_the_other_stay(arena: Path) -> None:
    with Service(by_strength) as service:
        for code in ("en", "fi"):
            judge(arena, service, "--until", "top:1", "--rounds", 2, "--languages", code)
    assert {row["language"] for row in judgments(arena, "j")} == {"en", "fi"}


def test_python_refuses_what_the_command_refuses(arena: Path) -> None:
    opened = mirage.open_arena(arena)
    model = llm.ChatModel(llm.Settings("m"))
    for options in ({"until": "best"}, {"until": "top:1", "pairs": 3}):
        with pytest.raises(BadInput):
            mirage.judge(opened, model, judge="j", **options)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="costs nothing"):
        mirage.judge(opened, until="separated")


def test_a_dry_run_sends_nothing(arena: Path) -> None:
    with Service(by_strength) as service:
        result = judge(arena, service, "--until", "separated", "--dry-run")
        assert not service.requests
    assert f"{2 * ALL:,} calls" in result.stderr
