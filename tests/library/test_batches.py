"""Calls in batches: half the price, every request once, whatever the service and the process do."""

import csv
import io
import logging
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from batch_service import SEPARATORS, BatchService
from commands import mirage
from forks import Forks
from generating_cases import command, shown, write
from judge_cases import arena as arena
from judge_cases import judgments
from llm_cases import ledger, replies_of, spent  # noqa: F401  # a fixture

from mirage.errors import Unreachable
from mirage.llm import asking, calls, presets, retry
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.completion import Messages, Reply
from mirage.store.ledger import BATCH_SHARE, Ledger
from mirage.store.open_batches import OpenBatches

KEY = "sk-planted-5f2e9b71c04d"
N = 60


def model_at(service: BatchService, **limits: Any) -> ChatModel:
    """A model whose calls come in batches of 25, with short pauses."""
    quick = {"concurrency": 1, "backoff": 0.001, "longest_pause": 0.01, "batch": True, "batch_size": 25}
    endpoint = presets.resolve(base_url=service.url)
    settings = Settings("m", service=endpoint.service)
    return ChatModel(settings, Limits(**(quick | limits)), endpoint)


def conversations(n: int = N) -> list[Messages]:
    return [[{"role": "user", "content": f"q{k}"}] for k in range(n)]


def ask(service: BatchService, ledger: Ledger, n: int = N, **limits: Any) -> list[Reply | None]:
    return replies_of(asking.ask(conversations(n), model_at(service, **limits), ledger))


def texts(n: int = N) -> list[str]:
    return [f"Reply to q{k} {SEPARATORS}." for k in range(n)]


def open_parts(ledger: Ledger) -> int:
    with OpenBatches(ledger.path) as record:
        return len(record.parts())


def test_pitfall_169_a_service_of_batches_that_is_not_there_stops_after_one_retry(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []
    monkeypatch.setattr(retry, "pause", lambda attempt, *given, **named: attempts.append(attempt) or 0.001)
    with BatchService() as service:
        pass
    with pytest.raises(Unreachable, match="connection failed") as caught:
        ask(service, ledger)
    assert attempts == [1]
    assert "running" in caught.value.do


def test_every_request_is_answered_once_in_parts_of_the_given_size(ledger: Ledger) -> None:
    with BatchService(polls=2) as service:
        replies = ask(service, ledger)
        assert [reply and reply.text for reply in replies] == texts()
        assert [len(made.rows) for made in service.batches.values()] == [25, 25, 10]
        assert set(service.paid.values()) == {1}
        keys = {row.custom_id for made in service.batches.values() for row in made.rows}
        assert ledger.have(keys) == keys, "a request's id is its key in the ledger"
        again = ask(service, ledger)
        assert [reply and reply.attempts for reply in again] == [0] * N
        assert len(service.batches) == 3
    assert not open_parts(ledger)


def test_the_estimate_and_the_ledger_count_half_the_price(ledger: Ledger) -> None:
    prices = {"price_in": 2.0, "price_out": 8.0}
    with BatchService() as service:
        single, batched = (model_at(service, **prices, batch=batch) for batch in (False, True))
        plans = [calls.plan(conversations(), model, None) for model in (single, batched)]
        assert plans[1].money == pytest.approx(BATCH_SHARE * plans[0].money)
        assert plans[1].tokens_in == plans[0].tokens_in
        cost = spent(ask(service, ledger, **prices), batched.limits)
        assert (cost.calls, cost.tokens_in, cost.tokens_out) == (N, 100 * N, 20 * N)
        assert cost.money == pytest.approx(N * (100 * 2 + 20 * 8) / 1e6 / 2)
        more = spent(ask(service, ledger, N + 5, **prices, batch=False), batched.limits)
        assert more.money == pytest.approx(5 * (100 * 2 + 20 * 8) / 1e6), "single calls cost the whole price"


@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        ("error", "it went wrong"),
        ("expired", "executed in time"),
        ("lost", "without a result"),
        ("odd", "no chat completion"),
    ],
)
def test_a_request_without_a_result_is_a_failed_call(ledger: Ledger, fate: str, reason: str) -> None:
    fates = {"q3": fate, "q40": fate}
    with BatchService(lambda row: fates.get(row.body["messages"][0]["content"], "ok")) as service:
        replies = ask(service, ledger)
        failed = [reply for reply in replies if reply and reply.status == "api_error"]
        assert [replies[number] for number in (3, 40)] == failed
        assert all(reason in str(reply.reason) and reply.attempts == 1 for reply in failed)
        fates.clear()
        assert [reply and reply.text for reply in ask(service, ledger)] == texts(), "the next run makes it again"
        assert len(service.batches[f"batch_{len(service.batches) - 1}"].rows) == 2
    assert not open_parts(ledger)


def test_what_a_batch_did_before_its_end_counts(ledger: Ledger) -> None:
    with BatchService(lambda row: "ok" if row.number < 10 else "expired", end=lambda made: "expired") as service:
        assert sum(reply.status == "ok" for reply in ask(service, ledger) if reply) == 30
        assert service.paid.total() == 30
        service.fate, service.end = lambda row: "ok", lambda made: "completed"
        assert [reply and reply.text for reply in ask(service, ledger)] == texts()
        assert set(service.paid.values()) == {1}


def test_a_declined_request_is_a_reply(ledger: Ledger) -> None:
    with BatchService(lambda row: "filtered" if row.number == 3 else "ok") as service:
        replies = ask(service, ledger, 20)
    assert [reply.status for reply in replies if reply and reply.status != "ok"] == ["refused"]


def test_an_unsupported_parameter_is_left_out_of_the_next_batch(ledger: Ledger) -> None:
    with BatchService(lambda row: "parameter" if "temperature" in row.body else "ok") as service:
        assert [reply and reply.text for reply in ask(service, ledger, 20)] == texts(20)
        assert len(service.batches) == 2
        assert set(service.paid.values()) == {1}


def test_a_full_queue_gets_smaller_batches_and_a_rejected_one_ends_the_run(ledger: Ledger) -> None:
    full = ("token_limit_exceeded", "Enqueued token limit reached.")
    with BatchService(end=lambda made: full if len(made.rows) > 8 else "completed") as service:
        assert [reply and reply.text for reply in ask(service, ledger)] == texts()
        assert set(service.paid.values()) == {1}
        service.end = lambda made: ("model_not_found", "The model m does not exist.")
        with pytest.raises(Unreachable, match="model m does not exist"):
            ask(service, ledger, N + 3)
        service.end = lambda made: "completed"
        assert ask(service, ledger, N + 3).count(None) == 0


def test_a_wait_that_is_over_leaves_the_batches_to_a_later_run(ledger: Ledger) -> None:
    with BatchService(polls=10**6) as service:
        with pytest.raises(Unreachable, match="at the service") as stopped:
            ask(service, ledger, batch_wait=0.0)
        assert "60" in str(stopped.value)
        assert open_parts(ledger) == 3
        service.polls = 0
        # Another stage's run has nothing to do with them.
        asking.ask([[{"role": "user", "content": "another"}]], model_at(service), ledger)
        assert open_parts(ledger) == 3
        # A run of fewer conversations collects the whole batch that has them.
        ask(service, ledger, 1)
        assert len(service.batches) == 4
        assert [reply and reply.text for reply in ask(service, ledger)] == texts()
        assert set(service.paid.values()) == {1}
    assert not open_parts(ledger)


def test_a_creation_that_fails_too_late_is_found_and_not_repeated(ledger: Ledger) -> None:
    failing = iter([True, False, True, False, False])

    class Late(BatchService):
        def create(self, body: dict[str, Any]) -> dict[str, Any]:
            made = super().create(body)
            if next(failing):
                raise ConnectionError("the answer is lost")
            return made

    with Late() as service:
        assert [reply and reply.text for reply in ask(service, ledger)] == texts()
        assert len(service.batches) == 3
        assert set(service.paid.values()) == {1}


def test_a_budget_bounds_what_is_submitted_and_the_next_run_goes_on(ledger: Ledger) -> None:
    with BatchService() as service:
        model = model_at(service, price_in=1.0, price_out=1.0)
        most = calls.plan(conversations(1), model, None).money
        replies = ask(service, ledger, price_in=1.0, price_out=1.0, budget=2.5 * most)
        # Replies are shorter than the longest, so that more fit than are reserved for at first.
        n = sum(reply is not None for reply in replies)
        assert 2 <= n < N
        assert spent(replies, model.limits).money <= 2.5 * most  # type: ignore[operator]
        assert ask(service, ledger).count(None) == 0
        assert set(service.paid.values()) == {1}


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [("/v1/files", 404, "--batch"), ("/v1/batches", 401, "key"), ("/v1/batches/", 404, "account")],
)
def test_a_service_that_refuses_is_named_with_what_to_do(
    ledger: Ledger, path: str, status: int, word: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OUR_KEY", KEY)

    def refuse(method: str, asked: str) -> int | None:
        return status if asked == path or (path.endswith("/") and asked.startswith(path)) else None

    with BatchService(refuse=refuse) as service:
        model = model_at(service)
        endpoint = presets.resolve(base_url=service.url, key_env="OUR_KEY")
        model = ChatModel(model.settings, model.limits, endpoint)
        with pytest.raises(Unreachable) as stopped:
            replies_of(asking.ask(conversations(), model, ledger))
        assert word in stopped.value.do
        assert service.url in stopped.value.where
        assert service.keys == {f"Bearer {KEY}"}
    written = b"".join(file.read_bytes() for file in ledger.path.parent.iterdir() if file.is_file())
    assert KEY not in f"{stopped.value}{caplog.text}"
    assert KEY.encode() not in written


@pytest.mark.parametrize("options", [["--engine", "vllm"], ["--batch-wait", "-1"]])
def test_options_that_do_not_fit_are_rejected(tmp_path: Path, options: list[str]) -> None:
    path = write(tmp_path / "a", n=1)
    url = "http://127.0.0.1:9/v1"
    mirage("generate", path, "--system", "s", "--model", "m", "--base-url", url, "--batch", *options, code=2)


def test_generate_and_judge_submit_their_calls_in_batches(arena: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=3)
    with BatchService() as service:
        mirage(*command(path, service.url), "--batch")
        assert {row["outcome"] for row in shown(path)} == {"ok"}
        judge = ("judge", arena, "--judge", "j", "--model", "m", "--base-url", service.url, "--languages", "en")
        service.polls = 10**6
        assert service.url in mirage(*judge, "--batch", "--batch-wait", 0, code=2).stderr
        assert len(service.batches) == 2
        service.polls = 0
        mirage(*judge, "--batch", "--batch-wait", 0)
        assert len(service.batches) == 2
        printed = mirage(*judge, "--batch", "--price-in", 3, "--price-out", 0, "--format", "csv").stdout
    assert judgments(arena, "j")
    (row,) = csv.DictReader(io.StringIO(printed))
    assert float(row["money"]) == pytest.approx(int(row["tokens_in"]) * 3 / 1e6 / 2), "half the price of single calls"


def test_ctrl_c_leaves_the_batches_to_the_next_run(ledger: Ledger) -> None:
    pressed: list[str] = []

    def press(method: str, path: str) -> None:
        if method == "GET" and not pressed:
            pressed.append(path)
            os.kill(os.getpid(), signal.SIGINT)

    with BatchService(polls=10**6, refuse=press) as service:
        with pytest.raises(KeyboardInterrupt):
            ask(service, ledger)
        assert open_parts(ledger) == 3
        service.polls = 0
        assert [reply and reply.text for reply in ask(service, ledger)] == texts()
        assert set(service.paid.values()) == {1}


# Kills


WORK = """
from pathlib import Path
import openai
from mirage.llm.asking import ask
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.presets import resolve
from mirage.store.ledger import Ledger
path, url, n, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
endpoint = resolve(base_url=url)
limits = Limits(batch=True, batch_size=size, backoff=0.001, longest_pause=0.5)
model = ChatModel(Settings("m", service=endpoint.service), limits, endpoint)
def work():
    with Ledger(path) as ledger:
        conversations = [[{"role": "user", "content": f"q{k}"}] for k in range(n)]
        ask(conversations, model, ledger)
"""


def test_programs_that_run_at_once_submit_every_request_once(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with (
        BatchService(polls=2) as service,
        Forks(WORK, ledger, service.url, 120, 20) as first,
        Forks(WORK, ledger, service.url, 120, 20) as second,
    ):
        for runs in (first, second):
            runs.start()
        assert [first.wait(), second.wait()] == [0, 0]
        assert service.paid.total() == 120
        assert set(service.paid.values()) == {1}


def test_killed_between_submission_and_collection_nothing_is_lost_or_paid_twice(tmp_path: Path) -> None:
    n, size, kills, draw = 400, 40, 8, random.Random("batches killed")  # the seed of the moments
    ledger, killed = tmp_path / "ledger.sqlite", 0
    with BatchService(polls=3) as service, Forks(WORK, ledger, service.url, n, size) as forks:

        def progress() -> int:
            polls = sum(made.polls for made in list(service.batches.values()))
            return len(service.files) + len(service.batches) + polls

        while killed < kills:
            forks.start()
            enough = progress() + draw.randrange(1, 8)
            while progress() < enough and forks.alive():
                time.sleep(0.0005)
            time.sleep(draw.random() * 0.01)
            if not forks.alive():
                break
            killed += forks.kill() == -signal.SIGKILL
        forks.start()
        assert forks.wait() == 0
        assert killed > kills // 2
        assert service.paid.total() == n
        assert set(service.paid.values()) == {1}
    with Ledger(ledger, read_only=True) as read:
        assert read.totals()[0] == n
