"""Streamed replies: text as it comes, and every way in which a stream goes wrong has an ending with its reason."""

from __future__ import annotations

import queue
from collections.abc import Iterator

import pytest
from conftest import PATIENCE
from streaming_service import Script, StreamingService

from mirage.llm.calls import Settings
from mirage.llm.presets import Endpoint
from mirage.llm.streaming import Ending, Piece, StreamCall, Streams

HTML = b"<!doctype html><title>Sign in</title><script>alert(1)</script>"
SCRIPTS = {
    "plain": Script(("Der ", "Eiffelturm ", "[d1]."), usage={"prompt_tokens": 9, "completion_tokens": 4}),
    "narrow": Script(unknown=("stream_options",)),
    "html": Script(raw=HTML, kind="text/html"),
    "html as events": Script(raw=HTML),
    "garbage": Script(raw=bytes(range(128, 256)) * 64),
    "endless garbage": Script(raw=b"\xff" * 65_536, endless=True),
    "no object": Script(raw=b"data: [1, 2]\n\ndata: [DONE]\n\n"),
    "error": Script(raw=b'data: {"error": {"message": "overloaded <b>"}}\n\n'),
    "unavailable": Script(raw=b'{"error": {"message": "down"}}', kind="application/json", status=503),
    "whole": Script(raw=b'{"choices": [{"message": {"content": "At once."}}]}', kind="application/json"),
    "silent": Script(hang=0),
    "stuck": Script(hang=2),
    "early": Script(early=True),
    "endless": Script(("word ",), endless=True, gap=0.001),
    "empty": Script(()),
    "thinking": Script(("<think>hm", "</think>", "Yes.")),
    "bytes": Script(("a\x00b", "\ud83d", "c")),
}


@pytest.fixture(scope="module")
def service() -> Iterator[StreamingService]:
    with StreamingService(SCRIPTS) as service:
        yield service


@pytest.fixture(scope="module")
def streams() -> Iterator[Streams]:
    with Streams() as streams:
        yield streams


def call(service: StreamingService, model: str) -> StreamCall:
    endpoint = Endpoint(service.url, "a-secret-key")
    messages = [{"role": "user", "content": "Who?"}]
    return StreamCall(endpoint, Settings(model), messages, first_seconds=0.5, gap_seconds=0.3, characters=400)


def follow(service: StreamingService, streams: Streams, model: str) -> tuple[str, Ending]:
    events: queue.SimpleQueue[Piece | Ending] = queue.SimpleQueue()
    streams.start(call(service, model), events.put)
    text = ""
    while isinstance(event := events.get(timeout=PATIENCE), Piece):
        text += event.text
    assert isinstance(event, Ending)
    return text, event


def test_a_reply_comes_in_pieces_and_ends_with_the_tokens(service: StreamingService, streams: Streams) -> None:
    text, ending = follow(service, streams, "plain")
    assert text == ending.text == "Der Eiffelturm [d1]."
    assert (ending.status, ending.reason, ending.tokens_in, ending.tokens_out) == ("ok", None, 9, 4)


def test_a_rejected_parameter_is_left_out(service: StreamingService, streams: Streams) -> None:
    assert follow(service, streams, "narrow")[1].status == "ok"


@pytest.mark.parametrize(
    ("model", "came", "word"),
    [
        ("html", "", "HTML"),
        ("html as events", "", "HTML"),
        ("garbage", "", "JSON"),
        ("endless garbage", "", "JSON"),
        ("no object", "", "chat completions"),
        ("error", "", "overloaded"),
        ("unavailable", "", "503"),
        ("silent", "", "0.5 seconds"),
        ("stuck", "The answer ", "stopped"),
        ("early", "The answer [d1].", "ended before"),
        ("endless", "word " * 80, "400"),
    ],
)
def test_a_stream_that_goes_wrong_ends_with_its_reason(
    service: StreamingService, streams: Streams, model: str, came: str, word: str
) -> None:
    text, ending = follow(service, streams, model)
    assert text == came
    assert ending.status == "api_error"
    assert word in (ending.reason or "")
    assert "a-secret-key" not in (ending.reason or "")


def test_a_service_that_does_not_stream_is_read_whole(service: StreamingService, streams: Streams) -> None:
    assert follow(service, streams, "whole") == ("At once.", follow(service, streams, "whole")[1])


def test_an_empty_stream_is_an_empty_answer(service: StreamingService, streams: Streams) -> None:
    assert follow(service, streams, "empty")[1].status == "empty"


def test_thoughts_are_no_part_of_the_text(service: StreamingService, streams: Streams) -> None:
    ending = follow(service, streams, "thinking")[1]
    assert (ending.text, ending.thoughts) == ("Yes.", "hm")


def test_text_that_cannot_be_stored_is_replaced(service: StreamingService, streams: Streams) -> None:
    assert follow(service, streams, "bytes")[1].text == "a\ufffdb\ufffdc"


def test_a_closed_stream_closes_its_connection_and_the_service_stops() -> None:
    with StreamingService({"slow": Script(("word ",), endless=True, gap=0.02)}) as service, Streams() as streams:
        events: queue.SimpleQueue[Piece | Ending] = queue.SimpleQueue()
        stream = streams.start(call(service, "slow"), events.put)
        assert isinstance(events.get(timeout=PATIENCE), Piece)
        stream.close()
        reply = service.replies[0]
        assert reply.done.wait(PATIENCE)
        assert reply.left is not None
        while not events.empty():
            assert isinstance(events.get(), Piece), "a closed stream has no ending"
