"""The door to models against a service that misbehaves: every answer arrives, none is asked for without need."""

import json
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm_cases import ask, ledger  # noqa: F401  # a fixture
from misbehaving import Act, Call, Service, dropped, error, half, reply, silent, trickling

from mirage.errors import Unreachable
from mirage.llm import retry
from mirage.llm.calls import Settings
from mirage.llm.completion import Reply
from mirage.llm.faults import find_behaviour
from mirage.llm.presets import Endpoint
from mirage.llm.waits import asked_wait
from mirage.store.ledger import Ledger

TABLE = json.loads(Path(__file__).parents[1].joinpath("fixtures", "services.json").read_text("utf-8"))
"""What services send, and what a run does then; the guide prints it (docs/site/generated.py)."""
LONG = "The tower at the harbour serves ships. " * 150


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case["sends"])
def test_pitfall_175_every_behaviour_of_a_service_is_told_as_what_it_is(
    ledger: Ledger, caplog: pytest.LogCaptureFixture, case: dict[str, Any]
) -> None:
    def behave(call: Call) -> Act:
        if call.content != LONG:
            return reply(usage=False, model="tiny")
        status, headers, body = case["replies"][min(call.number, len(case["replies"])) - 1]
        return Act(status, (body if isinstance(body, str) else json.dumps(body)).encode(), headers)

    said = ""
    answers: list[Reply | None] = []
    settings = Settings("tiny", max_tokens=64)
    with Service(behave) as service:
        try:
            answers = ask(service, ledger, LONG, "other", retries=2, longest_pause=0.5, settings=settings)
        except Unreachable as stopped:
            said = str(stopped)
        assert service.requests[LONG] == case["calls"]
        assert bool(service.requests["other"]) == (case["run"] not in ("stop", "wait")), said
    if answers and answers[0]:
        said = answers[0].reason or ""
        assert answers[0].status == case["status"]
        whole = "Seven." if case["status"] == "ok" and case["calls"] == 2 else answers[0].text
        assert answers[0].text == case.get("text", whole)
        assert answers[0].estimated == case.get("estimated", answers[0].estimated)
    told = caplog.text if case["run"] == "warning" else said
    assert case.get("says", "") in told
    if case["run"] == "wait":
        assert f"asks to wait {case['wait']:,} seconds" in said if "wait" in case else "asks to wait" in said
    assert bool(caplog.text) == (case["run"] in ("warning", "other parameters"))


@pytest.mark.parametrize(
    ("act", "reason"),
    [(half(), "connection failed"), (dropped(), "connection failed"), (silent(30), "time limit")],
    ids=["half", "dropped", "silent"],
)
def test_a_failure_that_may_pass_is_tried_again_and_else_is_a_row_with_its_reason(
    ledger: Ledger, act: Act, reason: str
) -> None:
    with Service(lambda call: act if call.number == 1 or call.content == "never" else reply()) as service:
        passed, failed = ask(service, ledger, "once", "never", retries=2, timeout=3 if act.silence else 300)
        assert service.requests == {"once": 2, "never": 3}
    assert (passed.status, passed.attempts, passed.reason) == ("ok", 2, None)
    assert (failed.status, failed.attempts, failed.text) == ("api_error", 3, None)
    assert reason in failed.reason
    assert "(3 attempts)" in failed.reason


def test_pitfall_12_a_failed_call_is_no_answer_and_is_made_again_by_the_next_run(ledger: Ledger) -> None:
    with Service(lambda call: error(500)) as service:
        (answer,) = ask(service, ledger, "q", retries=0)
        assert (answer.status, answer.text) == ("api_error", None)
        assert ledger.get(answer.key) is None
        service.behave = lambda call: reply()
        (retried,) = ask(service, ledger, "q")
    assert (retried.key, retried.status) == (answer.key, "ok")


def test_pitfall_10_a_request_that_no_call_gets_past_stops_everything(ledger: Ledger) -> None:
    with Service(lambda call: error(400, "no such parameter")) as service:
        with pytest.raises(Unreachable, match="HTTP 400: no such parameter") as caught:
            ask(service, ledger, *(f"q{i}" for i in range(50)), concurrency=1)
        assert sum(service.requests.values()) <= 2
        with pytest.raises(Unreachable):
            ask(service, ledger, "alone")
    assert "options" in caught.value.do


def test_one_prompt_that_is_too_long_does_not_stop_the_others(ledger: Ledger) -> None:
    queries = ["too long", *(f"q{i}" for i in range(1, 8))]
    late = Service(lambda call: error(400, "maximum context length") if call.content == "too long" else silent(0.1))
    with late as service:
        for _ in range(2):
            answers = ask(service, ledger, *queries, concurrency=8)
            assert [answer.status for answer in answers if answer] == [
                "api_error" if query == "too long" else "ok" for query in queries
            ]
        assert service.requests["too long"] == 2
        assert service.requests["q1"] == 1


def test_what_was_under_way_when_everything_stops_is_kept(ledger: Ledger) -> None:
    with Service(lambda call: error(401) if call.content == "q0" else silent(0.2)) as service:
        with pytest.raises(Unreachable):
            ask(service, ledger, "q0", "q1", "q2", "q3", "q4", concurrency=3)
        assert set(service.requests) == {"q0", "q1", "q2"}
        service.behave = lambda call: reply()
        ask(service, ledger, "q0", "q1", "q2", "q3", "q4")
        assert service.requests == {"q0": 2, "q1": 1, "q2": 1, "q3": 1, "q4": 1}


def test_a_service_that_is_gone_is_given_up_and_every_row_says_so(ledger: Ledger) -> None:
    with Service(lambda call: error(500)) as service:
        answers = ask(service, ledger, *(f"q{i}" for i in range(100)), retries=1, concurrency=2)
        assert sum(service.requests.values()) <= 24
    assert len(answers) == 100
    for answer in answers:
        assert answer.status == "api_error"
        assert "HTTP 500" in str(answer.reason)
    assert str(answers[-1].reason).startswith("not asked")  # type: ignore[union-attr]


def note_pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The attempts after which there is a pause, which is short."""
    waits: list[int] = []

    def pause(attempt: int, *given: object, **named: object) -> float:
        waits.append(attempt)
        return 0.001

    monkeypatch.setattr(retry, "pause", pause)
    return waits


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1", None])
def test_pitfall_169_a_service_that_is_not_there_stops_after_one_retry(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, base_url: str | None
) -> None:
    waits = note_pauses(monkeypatch)
    with Service() as service:
        pass

    def unknown(host: object, *given: object, **named: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, f"{host!r} is not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    endpoint = Endpoint(base_url or service.url)
    with pytest.raises(Unreachable, match="connection failed") as caught:
        ask(service, ledger, "a", "b", "c", retries=7, endpoint=endpoint)
    assert waits == [1]
    assert caught.value.where == endpoint.base_url
    assert all(word in caught.value.do for word in ("running", "host", "port"))


def test_pitfall_169_a_connection_that_is_lost_later_is_waited_for(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = note_pauses(monkeypatch)
    with Service(lambda call: replace(reply(), silence=0.2, last=True)) as service:
        answers = ask(service, ledger, "a", "b", retries=5)
    assert [answer and answer.status for answer in answers] == ["ok", "api_error"]
    assert waits == [1, 2, 3, 4, 5]


def test_pitfall_10_retry_after_is_waited_for_by_all_calls(ledger: Ledger) -> None:
    arrivals: list[float] = []

    def behave(call: object) -> Act:
        arrivals.append(time.monotonic())
        return error(429, retry_after="0.4") if len(arrivals) == 1 else reply()

    with Service(behave) as service:
        answers = ask(service, ledger, "a", "b", "c", concurrency=1)
    assert all(answer is not None and answer.status == "ok" for answer in answers)
    # A lower bound alone: a slow machine only makes it longer.
    assert arrivals[1] - arrivals[0] >= 0.4


def test_pitfall_11_a_time_in_words_counts_only_where_no_field_has_one() -> None:
    body = {"error": {"message": "Rate limit of 3600 seconds. Please try again in 90 seconds."}}
    assert asked_wait({"retry-after": "2", "x-ratelimit-reset": "9"}, body, limited=True) == 2
    assert asked_wait({}, {**body, "retry_after": 3}) == 3
    assert asked_wait({}, body) == 90
    assert asked_wait({"x-ratelimit-reset": "9"}, {"error": "Within 3600 seconds."}, limited=True) == 9
    assert asked_wait({"x-ratelimit-reset": "9"}, {"error": "We are down."}) is None


def test_a_call_ends_at_its_time_limit_even_if_bytes_still_trickle_in(ledger: Ledger) -> None:
    with Service(lambda call: trickling(0.02)) as service:
        (answer,) = ask(service, ledger, "q", timeout=0.2, retries=0)
    assert answer.reason == "no answer within the time limit"


def test_two_programs_with_the_same_call_name_the_same_reply(ledger: Ledger) -> None:
    def behave(call: object) -> Act:
        # While the answer is on its way, another program has got one.
        with Ledger(ledger.path) as other:
            entry = {"text": "theirs", "status": "ok", "reason": None, "tokens_in": 1, "tokens_out": 1, "served": None}
            settings = Settings("tiny")
            messages = [{"role": "user", "content": "q"}]
            other.put(settings.keys(messages)[0], settings.request(messages), entry)
        return reply("ours")

    with Service(behave) as service:
        (answer,) = ask(service, ledger, "q")
    assert answer.text == "theirs"


SIZES = {
    "Request exceeds the tokens per minute limit of 6000: this request alone has 12000 tokens": "row",
    "Request of 12k tokens exceeds the limit of 6,000 by itself": "row",
    "Rate limit: 12.000 Tokens angefordert, Limit 6.000 pro Minute": "row",
    "Limite de tokens par minute : 6 000 ; cette requête à elle seule en compte davantage": "row",
    "El límite es de 6000 tokens por minuto; la petición tiene 12000": "row",
    "每分钟限制 6000 个 token，本次请求 12000": "row",
    "Tokens per minute (TPM): Limit 6000, Used 0, Requested 12000": "row",
    "a single request may not use more than 6000 tokens": "row",
    "Limit 6000, Used 7000, Requested 200. Please try again in 72s": "again",
    "This request would exceed your rate limit of 30,000 input tokens per minute": "again",
    "Limit: 40000 input tokens per minute. Current: 45000. This request: 5000": "again",
    "Too many requests: 120 requests in 60 s, limit 100": "again",
    "This request was rejected: 500 concurrent requests, limit 400": "again",
    "request id 123456789: rate limit of 60 reached, retry after 86400 seconds": "again",
    "лимит 6000 токенов, использовано 7000, запрошено 100": "again",
}


@pytest.mark.parametrize("words", SIZES)
@pytest.mark.parametrize("status", [429, 503, 498])
def test_a_request_beyond_the_limit_itself_is_never_sent_again(words: str, status: int) -> None:
    for body in ({"error": {"message": words, "code": "rate_limit_exceeded"}}, words):
        assert find_behaviour(status, body, {"model": "m", "max_tokens": 64}).run == SIZES[words]
