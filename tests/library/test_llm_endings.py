"""How replies end, what they cost, and requests that services turn down."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from golden.cases import read_table
from llm_cases import ask as ask_one
from llm_cases import ledger  # noqa: F401  # a fixture
from llm_cases import spent as cost_of_all
from misbehaving import Act, Service, replied, reply

from mirage.errors import Unreachable
from mirage.llm.calls import Limits, Settings
from mirage.llm.completion import read_usage, state
from mirage.llm.faults import find_behaviour
from mirage.store.ledger import Ledger

ask = partial(ask_one, settings=Settings("tiny", top_p=0.9, max_tokens=50), retries=1)


def refused(status: int, body: object) -> Act:
    """An error with a body of any shape."""
    return Act(status, json.dumps(body).encode())


# Endings


ENDINGS: dict[str, list[str | None]] = {
    "ok": [*("stop", "STOP", "end_turn", "eos", "stop_sequence", "COMPLETE", "endTurn", "stop-sequence"), None],
    "truncated": [
        "tool_calls",
        "length",
        "MAX_TOKENS",
        "model_length",
        "FINISH_REASON_MAX_TOKENS",
        "maxTokens",
        "Max Tokens",
    ],
    "refused": ["content_filter", "SAFETY", "RECITATION", "ERROR_TOXIC", "content-filter", "guardrailIntervened"],
    "api_error": ["networkError"],
}
"""Finish reasons by the status that they imply, in any case and with anything between their words."""


@pytest.mark.parametrize(("status", "finish"), [(status, name) for status, names in ENDINGS.items() for name in names])
def test_an_ending_implies_a_status_and_only_a_known_good_one_a_whole_reply(status: str, finish: str | None) -> None:
    found, reason = state("It was", finish)
    assert found == status
    assert (reason is None) == (status == "ok")
    if status == "refused":
        assert str(finish) in str(reason)
    if status == "truncated":
        assert state("", finish)[0] == "empty"


def test_a_reply_that_the_service_broke_off_is_a_failed_call_that_was_paid_for(ledger: Ledger) -> None:
    choice = {
        "index": 0,
        "finish_reason": "error",
        "message": {"role": "assistant", "content": "It was bu"},
        "error": {"code": 502, "message": "the provider went away"},
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    with Service(lambda call: Act(body=json.dumps({"choices": [choice], "usage": usage}).encode())) as service:
        (answer,) = ask(service, ledger, "q")
        assert service.requests["q"] == 1
    assert (answer.status, answer.tokens_in, answer.tokens_out) == ("api_error", 10, 5)
    assert "the provider went away" in str(answer.reason)
    assert ledger.get(answer.key) is None


# Tokens


@pytest.mark.parametrize(*read_table("reply_tokens"))
def test_reply_tokens_are_the_largest_account_that_the_service_gives(usage: Mapping[str, Any], out: int) -> None:
    assert read_usage({"usage": usage}, sent=400, limit=500, received=300) == (100, out, False, False)


def test_a_budget_counts_thoughts_that_the_service_bills_beside_the_reply(ledger: Ledger) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 1030}
    limits = {"price_in": 0.0, "price_out": 1_000.0, "budget": 3.0}
    with Service(lambda call: replied({"content": "Seven."}, usage=usage)) as service:
        answers = ask(service, ledger, *(f"q{n}" for n in range(9)), **limits)
    spent = cost_of_all(answers, Limits(**limits))
    assert answers.count(None) == 7  # 1.02 each: a third might cost more than what is left
    assert spent.money == pytest.approx(2.04)


# Requests that are turned down

LIMIT = {"error": {"message": "Unsupported parameter: use another name.", "param": "max_tokens", "code": "x"}}


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_other_name_of_the_limit_is_tried_once_and_remembered(ledger: Ledger, concurrency: int) -> None:
    with Service(lambda call: refused(400, LIMIT) if "max_tokens" in call.body else reply()) as service:
        answers = ask(service, ledger, *(f"q{n}" for n in range(8)), concurrency=concurrency)
        names = ["max_tokens" in call.body for call in service.calls]
    assert {answer.status for answer in answers if answer} == {"ok"}
    assert sum(names) <= concurrency
    assert {call.body["max_completion_tokens"] for call in service.calls if "max_tokens" not in call.body} == {50}


BOTH = {"error": {"message": "litellm: `temperature` and `top_p` cannot both be specified; take one", "code": "400"}}


def test_sampling_parameters_that_a_model_does_not_take_are_left_out(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    with Service(
        lambda call: refused(400, BOTH) if {"temperature", "top_p"} <= call.body.keys() else reply()
    ) as service:
        answers = ask(service, ledger, "a", "b")
        last = service.calls[-1].body
    assert [answer.status for answer in answers if answer] == ["ok", "ok"]
    assert len(service.calls) == 3
    assert ("temperature" in last) + ("top_p" in last) == 1
    assert "does not support" in caplog.text


@pytest.mark.parametrize(
    ("body", "option"),
    [
        (
            {"error": {"message": "'max_tokens' is too large: 50. The maximum context length is 0,032 tokens."}},
            "--max-tokens",
        ),
        ({"error": {"message": "The value is out of range.", "param": "temperature", "code": "invalid"}}, "--temper"),
        ({"error": {"message": "'seed' is not supported", "code": "unsupported_parameter"}}, "--model-seed"),
    ],
)
def test_a_setting_at_fault_stops_the_run_with_the_option_that_helps(ledger: Ledger, body: object, option: str) -> None:
    with (
        Service(lambda call: refused(400, body)) as service,
        pytest.raises(Unreachable) as caught,
    ):
        ask(service, ledger, "a", "b", settings=Settings("tiny", max_tokens=50, seed=1))
    assert option in caught.value.do
    assert len(service.calls) == 1


FILTER = {"message": "Filtered", "code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}}
LENGTH = {"code": 400, "message": "The input token count (2) exceeds the maximum", "status": "INVALID_ARGUMENT"}


@pytest.mark.parametrize(("fault", "status"), [(FILTER, "refused"), (LENGTH, "api_error")])
def test_a_prompt_at_fault_is_a_row_however_many_there_are(
    ledger: Ledger, fault: Mapping[str, Any], status: str
) -> None:
    with Service(lambda call: reply() if call.content == "good" else refused(400, {"error": fault})) as service:
        answers = ask(service, ledger, *(f"q{n}" for n in range(12)), "good")
    assert [answer.status for answer in answers if answer] == [status] * 12 + ["ok"]
    assert len(service.calls) == 13


def test_a_parameter_that_was_not_sent_is_nobodys_fault() -> None:
    assert find_behaviour(400, {"message": "temperature is not supported"}, {"model": "m"}).kind == "unknown"
    assert find_behaviour(400, {"message": "no such thing"}, {"model": "m", "max_tokens": 5}).kind == "unknown"
