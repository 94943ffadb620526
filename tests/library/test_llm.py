"""The door to models: what a call is, what it costs, and what is never shown."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from commands import refuses, run_python
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st
from llm_cases import ask, conversations, ledger, spent  # noqa: F401  # a fixture
from misbehaving import Service, error, reply

from mirage.errors import BadInput
from mirage.llm import calls, presets, retry
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.client import Pace
from mirage.llm.completion import Reply
from mirage.llm.presets import PRESETS, Endpoint
from mirage.store.ledger import Ledger

KEY = "sk-planted-5f2e9b71c04d"


# Addresses and keys


@pytest.mark.parametrize(
    ("provider", "environ", "address"),
    [
        *((name, {}, None) for name in ("openai", "nvidia", "cohere", "anthropic", "gemini")),
        ("azure", {"AZURE_OPENAI_ENDPOINT": "https://mine.example/"}, "https://mine.example/openai/v1"),
        ("azure", {"AZURE_OPENAI_API_BASE": "https://mine.example"}, "https://mine.example/openai/v1"),
        ("anyscale", {"ANYSCALE_BASE_URL": "https://mine.example/v1/"}, "https://mine.example/v1"),
    ],
)
def test_every_provider_of_the_two_published_programs_is_one_option_away(
    provider: str, environ: dict[str, str], address: str | None
) -> None:
    variable = PRESETS[provider].key_env
    assert variable is not None
    endpoint = presets.resolve(provider, environ={**environ, variable: f" {KEY}\r\n"})
    assert endpoint.base_url.startswith("https://")
    assert address in (None, endpoint.base_url)
    assert endpoint.secret == KEY


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_server_on_this_machine_needs_no_key(host: str) -> None:
    endpoint = presets.resolve(base_url=f"http://{host}:8000/v1", environ={"OPENAI_API_KEY": KEY})
    assert endpoint.secret is None
    assert endpoint.local


def test_a_key_that_is_absent_is_named_and_where_to_put_it() -> None:
    with pytest.raises(BadInput, match="OPENAI_API_KEY is not set"):
        presets.resolve("openai", environ={})
    with pytest.raises(BadInput, match="MY_KEY is not set"):
        presets.resolve(base_url="http://127.0.0.1:1/v1", key_env="MY_KEY", environ={"MY_KEY": "  "})
    with refuses(BadInput, do="--key-env"):
        presets.resolve(base_url="https://models.example.org/v1", environ={})


@pytest.mark.parametrize(
    ("options", "environ"),
    [
        ({"preset": "openai"}, {"OPENAI_API_KEY": f"{KEY}\nx-other: {KEY}"}),
        ({"preset": "openai"}, {"OPENAI_API_KEY": f"{KEY} {KEY}"}),
        ({"preset": "openai"}, {"OPENAI_API_KEY": f"{KEY}\u2013"}),
        ({"preset": "openai"}, {"OPENAI_API_KEY": f'"{KEY}"'}),
        ({"preset": "azure"}, {"AZURE_OPENAI_ENDPOINT": KEY, "AZURE_OPENAI_API_KEY": "https://mine"}),
        ({"base_url": f"https://user:{KEY}@example.org/v1"}, {}),
        ({"base_url": f"https://example.org/v1?key={KEY}"}, {}),
    ],
    ids=["two lines", "a space", "a dash of print", "quotes", "swapped variables", "in the address", "in the query"],
)
def test_a_key_in_the_wrong_shape_or_place_is_refused_without_showing_it(
    options: dict[str, str], environ: dict[str, str]
) -> None:
    with pytest.raises(BadInput) as caught:
        presets.resolve(**options, environ=environ)  # type: ignore[arg-type]
    assert KEY not in str(caught.value)
    assert caught.value.do


# What is sent


def test_the_parameters_go_out_under_the_names_the_service_has_for_them(ledger: Ledger) -> None:
    with Service() as service:
        settings = Settings("tiny", temperature=0.2, top_p=None, max_tokens=7, seed=3)
        for number, name in enumerate(("max_tokens", "max_completion_tokens")):
            endpoint = Endpoint(service.url, limit=name)
            ask(service, ledger, f"q{number}", settings=settings, endpoint=endpoint)
        common = {"model": "tiny", "temperature": 0.2, "seed": 3}
        bodies = [{name: value for name, value in call.body.items() if name != "messages"} for call in service.calls]
    assert bodies == [{**common, "max_tokens": 7}, {**common, "max_completion_tokens": 7}]
    assert PRESETS["openai"].limit == "max_completion_tokens"


def test_an_extra_body_is_sent_and_is_part_of_the_call(ledger: Ledger) -> None:
    with Service() as service:
        for extra in (
            {"reasoning_effort": "low", "provider": {"order": ["lab"]}},
            {"enable_thinking": False},
            None,
            None,
        ):
            ask(service, ledger, "q", settings=Settings("tiny", extra_body=extra))
        first, second, third = (call.body for call in service.calls)
    assert (first["reasoning_effort"], first["provider"]) == ("low", {"order": ["lab"]})
    assert second == {**third, "enable_thinking": False}
    assert "extra_body" not in first


@pytest.mark.parametrize(
    "extra",
    [{"model": "m"}, {"messages": []}, {"max_completion_tokens": 5}, {"stream": True}, {"route": {"api_key": KEY}}],
)
def test_an_extra_body_sets_no_field_of_this_program_and_holds_no_key(extra: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="extra body") as caught:
        Settings("tiny", extra_body=extra)
    assert KEY not in str(caught.value)


def test_a_local_server_is_reached_past_a_proxy(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with Service() as service:
        (answer,) = ask(service, ledger, "q", retries=0)
    assert answer.status == "ok"


@pytest.mark.parametrize("concurrency", [1, 4])
def test_pitfall_13_so_many_calls_are_under_way_at_once(ledger: Ledger, concurrency: int) -> None:
    with Service(latency=0.05) as service:
        ask(service, ledger, *(f"q{i}" for i in range(12)), concurrency=concurrency)
        assert service.at_once == concurrency


@given(st.floats(1, 10_000), st.lists(st.floats(0, 30), min_size=2, max_size=50))
def test_no_minute_holds_more_requests_than_the_rate(rate: float, gaps: list[float]) -> None:
    pace = Pace(rate)
    begins = [pace.book(1, now) for now in np.cumsum(gaps)]
    for start in begins:
        assert sum(start <= begin < start + 60 - 1e-6 for begin in begins) <= np.ceil(rate)


def test_retries_count_towards_the_rate(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    booked = []
    monkeypatch.setattr(Pace, "book", lambda self, amount, now: booked.append(amount) or now)
    with Service(lambda call: error(500) if call.number < 3 else reply()) as service:
        ask(service, ledger, "q")
    assert booked.count(1) == 3


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"max_body": 0}, {"retries": -1}, {"timeout": 0}, {"budget": 1.0}]
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput) as caught:
        Limits(**wrong)  # type: ignore[arg-type]
    assert caught.value.do


# What comes back


@pytest.mark.parametrize(
    ("act", "status", "text"),
    [
        (reply("Yes, bec", finish="length"), "truncated", "Yes, bec"),
        (reply(None, refusal="I cannot help with that."), "refused", "I cannot help with that."),
    ],
    ids=["cut", "refusal"],
)
def test_what_is_no_sound_reply_says_what_it_is_and_is_not_asked_again(
    ledger: Ledger, act: object, status: str, text: str | None
) -> None:
    with Service(lambda call: act) as service:  # type: ignore[arg-type, return-value]
        (first,) = ask(service, ledger, "q")
        (again,) = ask(service, ledger, "q")
        assert service.requests["q"] == 1
    assert (first.status, first.text) == (again.status, again.text) == (status, text)
    assert (first.attempts, again.attempts) == (1, 0)


def test_half_a_character_at_the_end_of_a_reply_can_be_stored(ledger: Ledger) -> None:
    with Service(lambda call: reply("cut in the middle: \ud83d")) as service:
        (answer,) = ask(service, ledger, "q")
    assert answer.text == "cut in the middle: \ufffd"
    assert ledger.get(answer.key)["text"] == answer.text  # type: ignore[index]


def test_the_same_conversation_is_asked_once_and_answers_every_place(ledger: Ledger) -> None:
    with Service() as service:
        answers = ask(service, ledger, "q", "r", "q", concurrency=3)
        assert service.requests == {"q": 1, "r": 1}
    assert [answer.attempts for answer in answers if answer] == [1, 1, 0]
    assert spent(answers).calls == 2
    assert spent(answers).kept == 1


def test_nothing_is_loaded_where_the_ledger_has_everything(ledger: Ledger) -> None:
    with Service() as service:
        ask(service, ledger, "q")
    code = f"""
import pathlib, sys
from mirage.llm.asking import ask
from mirage.llm.calls import ChatModel, Settings
from mirage.llm.presets import Endpoint
from mirage.store.ledger import Ledger
model = ChatModel(Settings("tiny"), endpoint=Endpoint("http://127.0.0.1:9/v1"))
replies = ask([[{{"role": "user", "content": "q"}}]], model, Ledger(pathlib.Path({str(ledger.path)!r})))
(answer,) = replies.by_number
print(answer.status, "openai" in sys.modules)
"""
    assert run_python(code) == "ok False\n"


# Keys of calls


def test_the_key_is_made_of_model_parameters_and_messages_alone() -> None:
    settings = Settings("tiny", temperature=0.1, max_tokens=50)
    messages = conversations("Où ?")[0]
    key = settings.keys(messages)[0]
    # Written once: a key that changes would have every reply of every arena asked and paid for again.
    assert key == "4658804ce4f1a832f9ce7a73"
    changes = [{"model": "other"}, {"temperature": 0.2}, {"temperature": None}]
    changed = [replace(settings, **change) for change in (*changes, {"max_tokens": 51}, {"seed": 0})]
    others = [
        *(each.keys(messages)[0] for each in changed),
        settings.keys(conversations("Où?")[0])[0],
        settings.keys([{"role": "system", "content": "Où ?"}])[0],
    ]
    assert len({key, *others}) == 8


# Money


def test_a_plan_says_what_would_be_sent_and_sends_nothing(ledger: Ledger) -> None:
    with Service() as service:
        ask(service, ledger, "a")
        priced = Limits(price_in=2.0, price_out=10.0)
        model = ChatModel(Settings("tiny", max_tokens=100), priced)
        cost = calls.plan(conversations("a", "b", "c", "c"), model, ledger)
        nothing = calls.plan(conversations("a"), ChatModel(Settings("tiny")), ledger)
        assert sum(service.requests.values()) == 1
    assert (cost.calls, cost.kept, cost.tokens_out) == (3, 1, 300)
    assert cost.money == pytest.approx((cost.tokens_in * 2 + 300 * 10) / 1e6)
    assert (nothing.calls, nothing.money) == (0, None)
    assert calls.plan(conversations("a"), ChatModel(Settings("tiny")), None).calls == 1


def test_a_budget_is_not_overstepped_and_the_next_run_goes_on(ledger: Ledger) -> None:
    # The service counts 100 + 20 tokens: a call costs 0.12. By the estimate it costs 0.173 at most.
    queries = [f"{i:02} " + "word " * 65 for i in range(12)]
    limits = {"price_in": 1000.0, "price_out": 1000.0, "concurrency": 4}
    seen: set[str] = set()
    with Service() as service:

        def run(budget: float | None) -> list[Reply | None]:
            return ask(service, ledger, *queries, settings=Settings("tiny", max_tokens=64), budget=budget, **limits)

        runs = 0
        while len(seen) < len(queries):
            answers = run(0.6)
            money = spent(answers, Limits(**limits)).money or 0.0
            assert 0 < money <= 0.6
            new = {answer.key for answer in answers if answer}
            assert seen < new
            seen = new
            runs += 1
        assert runs == 3  # 0.6 - 3 * 0.12 affords a fourth call at 0.173, 0.6 - 4 * 0.12 no fifth
        assert set(service.requests.values()) == {1}


def test_a_service_that_does_not_count_tokens_is_charged_by_the_estimate(ledger: Ledger) -> None:
    with Service(lambda call: reply("word " * 200, usage=False)) as service:
        answers = ask(
            service, ledger, *(f"q{i}" for i in range(20)), price_in=1000.0, price_out=1000.0, budget=4.0, concurrency=2
        )
    answered = [answer for answer in answers if answer]
    assert 0 < len(answered) < 20
    assert all(answer.estimated for answer in answered)
    money = spent(answered, Limits(price_in=1000.0, price_out=1000.0)).money or 0.0
    assert 0 < money <= 4.0


# What a failure means


NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(*read_table("retry_after"))
def test_pitfall_10_retry_after_is_read_as_a_number_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry.asked_wait(headers, now=NOW) == seconds


def test_pauses_double_have_jitter_and_an_end() -> None:
    rng = np.random.default_rng(0)
    for attempt, most in ((1, 1.0), (2, 2.0), (3, 4.0), (9, 60.0)):
        drawn = [retry.pause(attempt, rng, base=1.0, longest=60.0) for _ in range(200)]
        assert most / 2 <= min(drawn) < max(drawn) <= most
        assert len(set(drawn)) == 200
