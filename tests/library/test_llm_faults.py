"""The door to models against a service that misbehaves: every answer arrives, none is asked for without need."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from misbehaving import FAILURES, Act, Service, dropped, error, half, no_choice, not_json, reply, silent, trickling

from mirage import llm
from mirage.errors import Unreachable
from mirage.store import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def ask(service: Service, ledger: Ledger, *queries: str, **limits: float) -> list[llm.Reply | None]:
    """Ask queries with short pauses between tries."""
    return llm.complete(
        [[{"role": "user", "content": query}] for query in queries],
        llm.ChatModel(
            llm.Settings("tiny"),
            llm.Limits(**{"backoff": 0.001, **limits}),  # type: ignore[arg-type]
            llm.resolve(base_url=service.url),
        ),
        ledger=ledger,
        rng=np.random.default_rng(0),
    )


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (error(429), "HTTP 429"),
        (error(500), "HTTP 500"),
        (error(503), "HTTP 503"),
        (error(408), "HTTP 408"),
        (half(), "connection failed"),
        (dropped(), "connection failed"),
        (not_json(), "not JSON"),
        (no_choice(), "no choice"),
        (Act(body=b'{"error": {"message": "overloaded"}}'), "overloaded"),
        (Act(body=b'{"choices": [{"message": null}]}'), "no message"),
        (Act(body=b"[]"), "not a JSON object"),
        (Act(body=b"[" * 100_000), "not JSON"),
        (Act(body=b""), "not JSON"),
        (silent(30), "time limit"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failure_that_may_pass_is_tried_again_and_else_is_a_row_with_its_reason(
    ledger: Ledger, act: Act, reason: str
) -> None:
    with Service(lambda call: act if call.number == 1 or call.content == "never" else reply()) as service:
        passed, failed = ask(service, ledger, "once", "never", retries=2, timeout=3 if act.silence else 300)
        assert service.requests == {"once": 2, "never": 3}
    assert passed is not None
    assert failed is not None
    assert (passed.status, passed.attempts, passed.reason) == ("ok", 2, None)
    assert (failed.status, failed.attempts, failed.text) == ("api_error", 3, None)
    assert failed.reason is not None
    assert reason in failed.reason
    assert "(3 attempts)" in failed.reason


def test_pitfall_12_a_failed_call_is_no_answer_and_is_made_again_by_the_next_run(ledger: Ledger) -> None:
    with Service(lambda call: error(500)) as service:
        (answer,) = ask(service, ledger, "q", retries=0)
        assert answer is not None
        assert (answer.status, answer.text) == ("api_error", None)
        assert ledger.get(answer.key) is None
        service.behave = lambda call: reply()
        (retried,) = ask(service, ledger, "q")
    assert retried is not None
    assert (retried.key, retried.status) == (answer.key, "ok")


def test_with_one_call_in_five_failing_2000_answers_arrive_and_none_twice(ledger: Ledger) -> None:
    rng = np.random.default_rng(5)
    draws = iter(rng.random(20_000))
    kinds = iter(rng.integers(len(FAILURES), size=20_000))
    queries = [f"query {i}" for i in range(2_000)]

    def behave(call: object) -> Act:
        return FAILURES[next(kinds)]() if next(draws) < 0.2 else reply(f"about {call.content}")  # type: ignore[attr-defined]

    with Service(behave) as service:
        answers = ask(service, ledger, *queries, concurrency=32)
        assert service.answered == dict.fromkeys(queries, 1)
        assert 2_400 < sum(service.requests.values()) < 2_600
        repeated = ask(service, ledger, *queries)
        assert service.answered == dict.fromkeys(queries, 1)
    assert [answer.text for answer in answers if answer] == [f"about {query}" for query in queries]
    assert [(answer.text, answer.attempts) for answer in repeated if answer] == [(f"about {q}", 0) for q in queries]


@pytest.mark.parametrize(("status", "do"), [(401, "variable"), (402, "credit"), (403, "access"), (404, "--model")])
def test_pitfall_10_what_every_call_would_get_stops_at_once_and_says_what_to_do(
    ledger: Ledger, status: int, do: str
) -> None:
    with Service(lambda call: error(status, "not like this")) as service:
        with pytest.raises(Unreachable, match=f"HTTP {status}: not like this") as caught:
            ask(service, ledger, *(f"q{i}" for i in range(50)), concurrency=4)
        assert sum(service.requests.values()) <= 4
        assert set(service.requests.values()) == {1}
    assert do in caught.value.do
    assert service.url in caught.value.where


def test_pitfall_10_a_request_that_no_call_gets_past_stops_everything(ledger: Ledger) -> None:
    with Service(lambda call: error(400, "no such parameter")) as service:
        with pytest.raises(Unreachable, match="HTTP 400: no such parameter") as caught:
            ask(service, ledger, *(f"q{i}" for i in range(50)), concurrency=1)
        assert sum(service.requests.values()) <= 3
        with pytest.raises(Unreachable):
            ask(service, ledger, "alone")
    assert "options" in caught.value.do


@pytest.mark.parametrize("place", [0, 3, 7])
def test_one_prompt_that_is_too_long_does_not_stop_the_others(ledger: Ledger, place: int) -> None:
    queries = [f"q{i}" for i in range(8)]
    queries[place] = "too long"
    late = Service(lambda call: error(400, "maximum context length") if call.content == "too long" else silent(0.1))
    with late as service:
        for _ in range(2):
            answers = ask(service, ledger, *queries, concurrency=8)
            assert [answer.status for answer in answers if answer] == [
                "api_error" if query == "too long" else "ok" for query in queries
            ]
        assert service.requests["too long"] == 2
        assert service.requests["q1"] == 1


def test_many_prompts_that_are_too_long_do_not_stop_the_others(ledger: Ledger) -> None:
    queries = ["q0", *(f"too long {i}" for i in range(30)), "q1"]
    with Service(lambda call: error(400) if "too long" in call.content else reply()) as service:
        answers = ask(service, ledger, *queries, concurrency=1)
        assert set(service.requests.values()) == {1}
    assert [answer.status for answer in answers if answer] == ["ok", *["api_error"] * 30, "ok"]


def test_an_account_without_credit_stops_at_once_by_its_code(ledger: Ledger) -> None:
    with Service(lambda call: error(429, "You exceeded your quota.", code="insufficient_quota")) as service:
        with pytest.raises(Unreachable, match="HTTP 429") as caught:
            ask(service, ledger, "q")
        assert service.requests["q"] == 1
    assert "credit" in caught.value.do


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
        assert answer is not None
        assert answer.status == "api_error"
        assert "HTTP 500" in str(answer.reason)
    assert str(answers[-1].reason).startswith("not asked")  # type: ignore[union-attr]


def test_no_server_at_all_is_a_failed_connection(ledger: Ledger) -> None:
    with Service() as service:
        pass
    (answer,) = ask(service, ledger, "q", retries=1)
    assert answer is not None
    assert answer.status == "api_error"
    assert "connection failed" in str(answer.reason)


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


def test_a_service_that_asks_to_wait_too_long_ends_the_run(ledger: Ledger) -> None:
    with Service(lambda call: error(429, retry_after="3600")) as service:
        with pytest.raises(Unreachable, match="asks to wait 3,600 seconds") as caught:
            ask(service, ledger, "q", longest_pause=60)
        assert service.requests["q"] == 1
    assert "rerun" in caught.value.do


def test_pitfall_11_a_time_in_the_words_of_an_error_is_not_read(ledger: Ledger) -> None:
    with Service(
        lambda call: error(429, "Please retry after 3600 seconds.") if call.number == 1 else reply()
    ) as service:
        (answer,) = ask(service, ledger, "q", longest_pause=1)
    assert answer is not None
    assert answer.status == "ok"


@pytest.mark.parametrize("act", [silent(30), trickling(0.02)], ids=["silent", "trickling"])
def test_a_call_ends_at_its_time_limit_even_if_bytes_still_trickle_in(ledger: Ledger, act: Act) -> None:
    with Service(lambda call: act) as service:
        (answer,) = ask(service, ledger, "q", timeout=0.2, retries=0)
    assert answer is not None
    assert answer.reason == "no answer within the time limit"


def test_two_programs_with_the_same_call_name_the_same_reply(ledger: Ledger) -> None:
    def behave(call: object) -> Act:
        # While the answer is on its way, another program has got one.
        with Ledger(ledger.path) as other:
            entry = {"text": "theirs", "status": "ok", "reason": None, "tokens_in": 1, "tokens_out": 1, "served": None}
            settings = llm.Settings("tiny")
            messages = [{"role": "user", "content": "q"}]
            other.put(llm.call_key(settings, messages), llm.request(settings, messages), entry)
        return reply("ours")

    with Service(behave) as service:
        (answer,) = ask(service, ledger, "q")
    assert answer is not None
    assert answer.text == "theirs"
