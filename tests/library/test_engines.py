"""Work in other processes and by several workers: the same bytes, nothing lost, one pace, one budget."""

import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from commands import mirage
from generating_cases import generate, write
from hypothesis import given
from hypothesis import strategies as st
from llm_cases import replies_of
from misbehaving import Service, error
from parts_cases import by_text, tables

from mirage import schema
from mirage.errors import BadInput, MirageError, TableMissing, UnknownName, Unreachable
from mirage.llm import asking, presets
from mirage.llm.asking import Replies
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.client import Pace
from mirage.llm.completion import Reply
from mirage.llm.engines import cluster
from mirage.llm.engines.cluster import complete_on
from mirage.llm.engines.processes import Processes
from mirage.stages import stage
from mirage.store.arena import open_arena
from mirage.store.ledger import Ledger, ledger_path, lock_ledger


def double(number: int) -> int:
    return 2 * number


def die_once(task: tuple[int, str]) -> int:
    """Kills its own process, the first time that it has this task."""
    number, folder = task
    mark = Path(folder) / str(number)
    if number % 5 == 0 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(task: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(task: int) -> None:
    raise UnknownName("system", "mime", ["mine"])


def same_passages(tables: Any) -> dict[str, Any]:
    return {"passages": tables["passages"].cast(schema.arrow_schema("passages"))}


class Weighing:
    """Runs work in this process, and weighs what a worker is handed."""

    workers, heaviest = 1, 0

    def run(self, work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        for task in tasks:
            Weighing.heaviest = max(Weighing.heaviest, len(pickle.dumps(task)))
            yield work(task)


def test_a_worker_is_handed_no_more_of_a_table_ten_times_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo = stage.Stage("echo", ("queries", "passages"), ("passages",), same_passages, by=("language", "query_id"))
    heaviest = []
    for n in (100, 1_000):
        path = write(tmp_path / str(n), n=n)
        before = open_arena(path)
        size = sum(before.read(name).nbytes for name in echo.reads)
        monkeypatch.setattr(stage, "_BYTES", 3_000)
        Weighing.heaviest = 0
        after = stage.run(echo, path, made_by="a test", executor=Weighing())  # type: ignore[arg-type]
        assert after.read("passages").equals(before.read("passages"))
        assert size > 8 * 3_000, "not cut so for the sake of many parts"
        heaviest.append(Weighing.heaviest)
    assert heaviest[1] < 1.3 * heaviest[0]


def test_processes_do_every_task_once_and_take_them_as_they_get_free() -> None:
    taken = 0

    def tasks() -> Iterator[int]:
        nonlocal taken
        for number in range(40):
            taken += 1
            yield number

    results = Processes(2).run(double, tasks())
    first = next(results)
    assert taken < 40
    assert [first, *results] == [2 * number for number in range(40)]


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    results = Processes(2).run(die_once, [(number, str(tmp_path)) for number in range(12)])
    assert list(results) == list(range(12))


def test_processes_that_are_killed_again_and_again_are_an_error() -> None:
    with pytest.raises(BadInput, match="were killed"):
        list(Processes(1).run(die, [0]))


def test_an_error_comes_back_from_a_process_as_what_it_was() -> None:
    with pytest.raises(UnknownName, match="there is no system 'mime'") as caught:
        list(Processes(1).run(refuse, [0]))
    assert caught.value.nearest == ["mine"]


@pytest.mark.parametrize(
    "raised",
    [
        BadInput("what", where="there", do="this"),
        TableMissing("answers", where="x", command="y"),
    ],
)
def test_every_error_can_be_sent_between_processes(raised: MirageError) -> None:
    back = pickle.loads(pickle.dumps(raised))
    assert (type(back), str(back), vars(back)) == (type(raised), str(raised), vars(raised))


def test_features_of_several_processes_are_the_same_bytes(tmp_path: Path) -> None:
    here, there = write(tmp_path / "here", n=9), write(tmp_path / "there", n=9)
    with Service(by_text) as service:
        for path in (here, there):
            generate(path, service)
            # The reference answers one query alone: most parts have no answer of it.
            generate(path, service, "--limit", "1", system="reference", model="big")
    mirage("measure", "features", here, "--reference", "reference")
    mirage("measure", "features", there, "--reference", "reference", "--engine", "processes", "--workers", "2")
    assert tables(there) == tables(here)
    result = mirage("measure", "features", there, "--reference", "nobody", "--engine", "processes", code=2)
    assert "there is no system 'nobody'" in result.stderr


def test_options_of_an_engine_that_has_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=1)
    for options, message in (
        (["--workers", "2"], "--workers needs"),
        (["--address", "127.0.0.1:1"], "--address needs"),
        (["--engine", "processes"], "--concurrency"),
    ):
        assert message in generate(path, "http://127.0.0.1:9/v1", *options, code=2).stderr
    assert "--engine processes" in mirage("measure", "features", path, "--engine", "ray", code=2).stderr


# Calls by several workers: here one after another, on a cluster at once


class Workers:
    """Workers that take a chunk each before any has a result."""

    def __init__(self, workers: int) -> None:
        self.workers, self.rounds = workers, 0

    def run(self, model: ChatModel, chunks: Iterable[cluster.Chunk]) -> Iterator[tuple[str, Replies]]:
        self.rounds += 1
        worker, waiting = cluster.Worker(model, cluster.version()), iter(chunks)
        while at_once := list(islice(waiting, self.workers)):
            yield from [worker.run(chunk) for chunk in at_once]


def ask(folder: Path, service: Service, n: int = 50, **limits: Any) -> list[Reply | None]:
    conversations = [[{"role": "user", "content": f"q{number}"}] for number in range(n)]
    call_limits = Limits(**{"backoff": 0.001, "retries": 1, **limits})
    with Ledger(ledger_path(folder)) as ledger:
        model = ChatModel(Settings("m"), call_limits, presets.resolve(base_url=service.url))
        engine_on = partial(complete_on, model=model, cluster=Workers(1))
        return replies_of(asking.ask(conversations, model, ledger, engine=engine_on))


def test_calls_by_workers_are_each_made_once_and_kept_by_the_driver(tmp_path: Path) -> None:
    flaky = lambda call: error(500) if call.number == 1 and len(call.content) % 2 else by_text(call)  # noqa: E731
    with Service(flaky) as service:
        replies = ask(tmp_path, service)
        assert [reply is not None and reply.status for reply in replies] == ["ok"] * 50
        assert set(service.answered.values()) == {1}
        assert ask(tmp_path, service)
        assert set(service.answered.values()) == {1}


def test_a_service_that_refuses_the_key_or_always_fails_gets_no_further_calls(tmp_path: Path) -> None:
    with Service(lambda call: error(401)) as service:
        with pytest.raises(Unreachable, match="401"):
            ask(tmp_path / "a", service)
        service.behave = lambda call: error(500)
        replies = ask(tmp_path / "b", service, n=400, retries=0)
        assert {reply and reply.status for reply in replies} == {"api_error"}
        assert sum(reply is not None and not reply.attempts for reply in replies) > 300


def test_a_budget_is_handed_out_in_few_rounds_and_nearly_spent(tmp_path: Path) -> None:
    price, four = 120 / 1e6, Workers(4)
    limits = Limits(concurrency=4, budget=200 * price, price_in=1, price_out=1)
    asked = [[{"role": "user", "content": f"q{number}"}] for number in range(400)]
    with Service(by_text) as service, Ledger(ledger_path(tmp_path)) as ledger:
        model = ChatModel(Settings("m"), limits, presets.resolve(base_url=service.url))
        replies = asking.ask(asked, model, ledger, engine=partial(complete_on, model=model, cluster=four))
    assert 180 <= replies.cost.calls <= 200
    assert four.rounds <= 6


@given(
    st.floats(8, 600),
    st.integers(1, 8),
    st.lists(st.tuples(st.floats(0, 30), st.floats(0, 1), st.integers(0, 7)), min_size=2, max_size=200),
)
def test_the_rate_of_all_workers_holds_in_every_minute_however_late_requests_are(
    rate: float, workers: int, waits: list[tuple[float, float, int]]
) -> None:
    now = 0.0
    model = cluster.share_rates(ChatModel(Settings("m"), Limits(requests_per_minute=rate)), workers)
    paces = [Pace(model.limits.requests_per_minute) for _ in range(workers)]
    sent = []
    for pause, late, worker in waits:
        now += pause
        sent.append(paces[worker % workers].book(1, now) + 3 * late)
    sent.sort()
    for number, first in enumerate(sent):
        assert sum(first <= moment < first + 60 - 1e-6 for moment in sent[number:]) <= rate


def test_a_run_is_refused_beside_another_of_its_arena_or_with_too_low_a_rate(
    tmp_path: Path,
) -> None:
    with Service(by_text) as service:
        with lock_ledger(ledger_path(tmp_path), 0, BadInput("x")), pytest.raises(BadInput, match="another run"):
            ask(tmp_path, service)
        with pytest.raises(BadInput, match="too few for 1 workers"):
            ask(tmp_path, service, requests_per_minute=0.5)
        assert service.calls == []
