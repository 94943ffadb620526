"""What a service may send: bodies of a bounded size, no redirect elsewhere, counts that can be, a cause for no text."""

import gzip
import json
from base64 import b64encode, urlsafe_b64encode
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_cases import ask as ask_one
from llm_cases import ledger, spent  # noqa: F401  # a fixture
from misbehaving import Act, Call, Service, endless, redirect, replied, reply

from mirage.errors import Unreachable
from mirage.llm import presets
from mirage.llm.calls import Limits, Settings
from mirage.llm.completion import read_completion
from mirage.llm.presets import Endpoint
from mirage.llm.secrets import remove_secret
from mirage.store.ledger import Ledger

KEY = "sk-planted+7c1f/0d93ab52"
MESSAGES = [{"role": "user", "content": "How many?"}]


def ask(service: Service, ledger: Ledger, *queries: str, **limits: Any) -> list[Any]:
    """Ask queries with a key, without retries."""
    endpoint = presets.resolve(base_url=service.url, key_env="MY_KEY", environ={"MY_KEY": KEY})
    how = {"settings": Settings("tiny", max_tokens=100), "retries": 0, "concurrency": 8, **limits}
    return ask_one(service, ledger, *(queries or ("q",)), endpoint=endpoint, **how)


# Bodies


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_body_that_never_ends_is_not_collected(ledger: Ledger, status: int) -> None:
    with Service(lambda call: endless(status)) as service:
        (answer,) = ask(service, ledger, max_body=1_000_000)
        # What lies in the buffers of both sides comes on top.
        assert service.sent < 20_000_000
    assert answer.status == "api_error"
    assert "larger than 1,000,000 bytes" in str(answer.reason)


def test_a_body_that_unpacks_to_too_much_is_not_unpacked(ledger: Ledger) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000
    with Service(lambda call: Act(body=bomb, headers={"content-encoding": "gzip"})) as service:
        (answer,) = ask(service, ledger, max_body=1_000_000)
    assert "larger than 1,000,000 bytes" in str(answer.reason)


def test_a_packed_answer_is_read_and_other_packings_are_not(ledger: Ledger) -> None:
    packed = gzip.compress(reply("Seven.").body)
    with Service(lambda call: Act(body=packed, headers={"content-encoding": call.content})) as service:
        good, unknown = ask(service, ledger, "gzip", "br")
        assert {call.headers["accept-encoding"] for call in service.calls} == {"gzip"}
        service.behave = lambda call: Act(body=b"no gzip", headers={"content-encoding": "gzip"})
        (broken,) = ask(service, ledger, "other")
    assert (good.status, good.text) == ("ok", "Seven.")
    for answer in (unknown, broken):
        assert answer.status == "api_error"
        assert "compress" in str(answer.reason)


def test_the_bound_of_a_body_counts_bytes_and_the_default_lets_long_replies_through(ledger: Ledger) -> None:
    act = reply("é" * 400_000)
    with Service(lambda call: act) as service:
        (whole,) = ask(service, ledger)
        (same,) = ask(service, ledger, "exactly", max_body=len(act.body))
        (less,) = ask(service, ledger, "one less", max_body=len(act.body) - 1)
    assert [answer and answer.status for answer in (whole, same, less)] == ["ok", "ok", "api_error"]


# Redirects


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_to_another_port_is_not_followed_and_nothing_is_sent_there(ledger: Ledger, status: int) -> None:
    with Service() as other, Service(lambda call: redirect(f"{other.url}/chat/completions", status)) as service:
        with pytest.raises(Unreachable, match="redirects to another origin") as caught:
            ask(service, ledger, *(f"q{i}" for i in range(20)), concurrency=1)
        assert len(service.calls) == 1
        assert other.calls == []
        assert other.url.removesuffix("/v1") in str(caught.value)
    assert "--base-url" in caught.value.do
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "to", ["https://127.0.0.1:{port}/v1/chat/completions", "http://localhost:{port}/v1", "//other/"]
)
def test_another_scheme_or_host_is_another_origin(ledger: Ledger, to: str) -> None:
    def behave(call: Call) -> Act:
        return redirect(to.format(port=service.url.rpartition(":")[2].removesuffix("/v1")))

    with Service(behave) as service:
        with pytest.raises(Unreachable, match="another origin"):
            ask(service, ledger)
        assert len(service.calls) == 1


def test_a_redirect_within_the_service_is_followed(ledger: Ledger) -> None:
    with Service(lambda call: reply() if call.path.startswith("/v2") else redirect("/v2/chat/completions")) as service:
        (answer,) = ask(service, ledger)
        assert [call.path for call in service.calls] == ["/v1/chat/completions", "/v2/chat/completions"]
    assert answer.status == "ok"


# Counts


@pytest.mark.parametrize("wrong", [10**30, 10**9, -1, 1e30, 12.0, float("nan"), float("inf"), True, "12", None, [], {}])
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
def test_a_count_that_cannot_be_is_an_estimate_that_says_so(ledger: Ledger, name: str, wrong: object) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 3, name: wrong}
    price = {"price_in": 1000.0, "price_out": 1000.0}
    with Service(lambda call: replied({"content": "Seven it is."}, usage=usage)) as service:
        answers = ask(service, ledger, "How many?", budget=10.0, **price)
    (answer,) = answers
    assert answer.status == "ok"
    assert answer.estimated
    assert answer.tokens_out is not None
    assert 0 < answer.tokens_in < 40
    assert 0 < answer.tokens_out < 20
    cost = spent(answers, Limits(**price))
    assert cost.estimated == 1
    assert 0 < cost.money < 0.1
    kept = ledger.get(answer.key)
    assert kept["estimated"] is True


@given(st.text(min_size=1, max_size=300), st.integers(1, 5_000))
def test_every_count_that_a_tokenizer_can_come_to_is_believed(text: str, max_tokens: int) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    body = replied({"content": text}, usage={"prompt_tokens": size, "completion_tokens": max(size, max_tokens)}).body
    messages = [{"role": "user", "content": text}]
    answer = read_completion("k", body, 1, messages=messages, max_tokens=max_tokens)
    assert (answer.tokens_in, answer.tokens_out, answer.estimated) == (size, max(size, max_tokens), False)
    assert "estimated" not in answer.ledger_record()


# Replies without text


THOUGHT = "First I count the passages."


@pytest.mark.parametrize(
    ("message", "finish", "says", "reasoning"),
    [
        ({"content": " \n", "reasoning_content": THOUGHT}, "length", "limit of new tokens was reached during", THOUGHT),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]}, "stop", "only", THOUGHT),
        ({"content": None, "function_call": {"name": "look_up"}}, "function_call", "called a tool instead", None),
        ({"content": "", "tool_calls": [None, 3, {"function": None}], "reasoning": 7}, "stop", "has no text", None),
    ],
)
def test_a_reply_without_text_says_why(
    ledger: Ledger, message: dict[str, Any], finish: str, says: str, reasoning: str | None
) -> None:
    with Service(lambda call: replied(message, finish=finish)) as service:
        (answer,) = ask(service, ledger)
        (again,) = ask(service, ledger)
        assert len(service.calls) == 1
    assert answer.status == "empty"
    assert says in str(answer.reason)
    assert answer.reasoning == reasoning
    assert (again.reason, again.reasoning) == (answer.reason, reasoning)


def test_reasoning_is_kept_beside_the_text_and_counted_as_tokens(ledger: Ledger) -> None:
    with Service(lambda call: replied({"content": "Seven.", "reasoning_content": THOUGHT * 50})) as service:
        (answer,) = ask(service, ledger)
    assert (answer.status, answer.text, answer.reason) == ("ok", "Seven.", None)
    assert answer.reasoning == THOUGHT * 50
    assert (ledger.get(answer.key) or {})["reasoning"] == THOUGHT * 50
    assert answer.estimated
    assert answer.tokens_out > 200


ENCODED = {
    "exact": KEY,
    "bearer": f"Authorization: Bearer {KEY.upper()}",
    "base64": b64encode(KEY.encode()).decode(),
    "basic": b64encode(f"amina:{KEY}:".encode()).decode(),
    "header": urlsafe_b64encode(f"Bearer {KEY}".encode()).decode(),
    "address": f"https://amina:{KEY}@127.0.0.1/v1?key={quote(KEY, safe='')}",
    "url": quote(quote(KEY, safe="")),
    "percent": "".join(f"%{byte:02x}" for byte in KEY.encode()),
    "json": json.dumps("".join(f"\\u{byte:04x}" for byte in KEY.encode())),
    "html": "".join(f"&#{byte};" for byte in KEY.encode()),
    "hexadecimal": KEY.encode().hex(" "),
    "fingerprint": KEY.encode().hex(":"),
    "mail": "".join(f"={byte:02X}" for byte in KEY.encode()),
    "folded": f"{KEY[:9]}=\r\n{KEY[9:]}",
    "list": repr([*KEY]),
    "bold": "**".join(KEY),
    "joined": "\u034f".join(KEY),
    "lines": "\n".join(KEY),
    "hidden": f"{KEY[:9]}\u200b{KEY[9:]}",
    "long": "word " * 57 + KEY,
}


@pytest.mark.parametrize("shown", ENCODED.values(), ids=ENCODED.keys())
def test_pitfall_190_a_key_that_comes_back_is_in_no_field_of_a_reply(ledger: Ledger, shown: str) -> None:
    half = len(shown) // 2
    chunks = [
        {"choices": [{"delta": {part: text}}]}
        for part in ("content", "reasoning_content")
        for text in (f"It is {shown[:half]}", f"{shown[half:]}.")
    ]
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, {"model": shown}]) + "data: [DONE]\n\n"
    acts = {
        "stream": Act(body=stream.encode()),
        "thoughts": reply(f"<think>Authorization: {shown}</think>Seven.", model=shown),
        "tool": replied({"reasoning_content": shown}),
        "ending": reply(None, finish=f"content_filter: {shown}"),
        "error": Act(400, json.dumps({"detail": [{"msg": shown}]}).encode()),
        "packing": Act(body=b"{}", headers={"Content-Encoding": KEY}),
        "page": Act(500, f"<html><title>{shown}</title></html>".encode()),
        "fields": Act(400, json.dumps({"error": {"message": "No.", "param": shown, shown: {"msg": shown}}}).encode()),
    }
    with Service(lambda call: acts[call.content]) as service:
        answers = ask(service, ledger, *acts)
    for query, answer in zip(acts, answers, strict=True):
        told = repr(answer) + json.dumps(ledger.get(answer.key))
        assert "[key]" in told or shown == ENCODED["long"], query
        assert remove_secret(told, KEY) == told, query
        assert KEY[:9] not in told, query


def test_pitfall_190_a_key_is_removed_in_linear_time_and_with_its_own_percent_signs() -> None:
    assert remove_secret("\\" * 1_000_000, KEY) == "\\" * 1_000_000
    assert remove_secret("at %41bcdef%2f; \\u0025\\u0034\\u0031BCDEF%252F", "%41bcdef%2f") == "at [key]; [key]"


@pytest.mark.parametrize("key", ["c2stcGxhbnRlZDE=", "sk.planted:7c1f,0d93*ab", "sk'planted=20|ab;cd="])
def test_pitfall_190_a_key_may_have_the_signs_that_could_part_it(key: str) -> None:
    assert remove_secret(f"is {key} here\n{key}\n{key}20", key) == "is [key] here\n[key]\n[key]20"


def test_pitfall_190_a_short_key_is_removed_from_its_header_alone() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "EMPTY")
    assert endpoint.redact(["authorization: bearer EMPTY", "EMPTY"]) == ["authorization: bearer [key]", "EMPTY"]
    assert Endpoint("http://127.0.0.1:9/v1", "sk-123").redact("My key is sk-123.") == "My key is [key]."


def test_replies_stored_without_optional_fields_are_read(ledger: Ledger) -> None:
    settings = Settings("tiny", max_tokens=100)
    kept = {"text": "Six.", "status": "ok", "reason": None, "tokens_in": None, "tokens_out": None, "served": "m-0"}
    ledger.put(settings.keys(MESSAGES)[0], settings.request(MESSAGES), kept)
    with Service() as service:
        (answer,) = ask(service, ledger, "How many?")
        assert service.calls == []
    assert (answer.text, answer.estimated, answer.reasoning) == ("Six.", False, None)
