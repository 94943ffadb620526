"""vLLM itself, with a tiny model made on the spot: in this process and as a server (`make engines`)."""

import csv
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")
from conftest import ROOT
from engine_vllm_cases import StandIn
from tiny_model import make

from mirage import open_arena
from mirage.errors import ArenaError
from mirage.llm import asking, engine_vllm, presets
from mirage.llm.batch import complete_loaded
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.completion import Messages, Reply
from mirage.store import copies
from mirage.store.ledger import Ledger, ledger_path

pytestmark = pytest.mark.filterwarnings("ignore")
"""vLLM and torch warn of each other."""
OPTIONS = {
    "enforce_eager": True,
    "enable_chunked_prefill": False,  # with seeds it crashes on a CPU
    "max_num_batched_tokens": 65_536,
    "max_model_len": 4_096,
}
LANGUAGES = "de,th"
LONG, HALF = "word " * 9_000, "half a \ud83d character"
START = 400.0
"""Seconds that a server gets to load the model."""
AT_ONCE = 64
"""Calls under way over HTTP."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's folder."""
    return make(tmp_path_factory.mktemp("models") / "tiny", head_dim=32)


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    """No network, and no more memory than needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        patch.setenv("PYTHONPATH", str(ROOT))
        yield


@pytest.fixture(scope="module")
def engine(model: Path, environment: None) -> engine_vllm.VllmModel:
    """The model, loaded once; its own defaults are those of a generation_config.json."""
    config = {"do_sample": True, "temperature": 0.9, "top_k": 7, "repetition_penalty": 1.3, "eos_token_id": 0}
    (model / "generation_config.json").write_text(json.dumps(config))
    return engine_vllm.load(ChatModel(Settings(str(model), temperature=0.2, max_tokens=20), options=OPTIONS))


@pytest.fixture(scope="module")
def service(model: Path, environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of `vllm serve` with the model."""
    folder = tmp_path_factory.mktemp("service")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # `vllm serve` reads the metadata of a distribution called vllm; that of its CPU build has another name.
    metadata = folder / "site" / "vllm-0.32.0+cpu.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n")
    flags = ["--enforce-eager", "--no-enable-chunked-prefill", "--max-num-batched-tokens", "65536"]
    flags += ["--max-model-len", "4096", "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    program = Path(sys.executable).with_name("vllm")
    environ = {**os.environ, "PYTHONPATH": str(metadata.parents[1]), "VLLM_NO_USAGE_STATS": "1"}
    with (folder / "serve.log").open("wb") as log:
        server = subprocess.Popen(
            [str(program), "serve", str(model), *flags], env=environ, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _await_server(f"http://127.0.0.1:{port}/health", server, folder / "serve.log")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """A copy of the sample."""
    return copies.copy(open_arena("sample"), tmp_path / "arena").path


def mirage(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "mirage", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def by_engine(model: Path) -> tuple[object, ...]:
    return ("--model", model, "--engine", "vllm", "--engine-args", json.dumps(OPTIONS), "--max-tokens", 24)


def test_the_stand_in_of_the_unit_tests_refuses_prompts_as_the_real_one_does(engine: engine_vllm.VllmModel) -> None:
    model, parameters = engine.model, engine.parameters
    imitation = StandIn().LLM(model="tiny")
    for text in ("too long " * 3_000, HALF):
        kinds = []
        for loaded in (model, imitation):
            with pytest.raises(Exception) as caught:  # noqa: PT011  # its class is what is compared
                loaded.enqueue_chat([[{"role": "user", "content": text}]], sampling_params=parameters, use_tqdm=False)
            kinds.append([kind.__name__ for kind in caught.type.__mro__ if kind.__module__ != "abc"])
        assert kinds[0] == kinds[1]


def test_prompts_that_are_refused_are_rows_and_the_others_are_answered(
    engine: engine_vllm.VllmModel, tmp_path: Path
) -> None:
    texts = ["What is it?", LONG, HALF, "", "Was ist das?"]
    conversations = [[{"role": "user", "content": text}] for text in texts]
    local = ChatModel(Settings("tiny", temperature=0.2, max_tokens=20, service="vllm"))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for _ in range(2):
            replies = _ask_engine(engine, local, ledger, conversations)
            failed = [reply is not None and reply.status == "api_error" for reply in replies]
            assert failed == [False, True, True, False, False]
        assert ledger.totals()[0] == 3


def test_the_model_s_own_defaults_hold_where_nothing_is_set(engine: engine_vllm.VllmModel) -> None:
    parameters = engine.parameters
    assert (parameters.top_k, parameters.repetition_penalty) == (7, 1.3)
    assert (parameters.temperature, parameters.max_tokens) == (0.2, 20)
    served = engine.model.get_default_sampling_params()
    assert (served.top_k, served.repetition_penalty) == (7, 1.3)


def test_the_sample_is_answered_and_judged_and_nothing_else_is_printed(model: Path, arena: Path) -> None:
    options = (*by_engine(model), "--languages", LANGUAGES, "--format", "csv")
    done = mirage("generate", arena, "--system", "tiny", *options)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["language"] for row in rows} == set(LANGUAGES.split(","))
    assert all(row["not_asked"] == "0" for row in rows)
    judged = mirage("judge", arena, "--judge", "tiny", "--pairs", 4, *options)
    assert judged.returncode == 0, judged.stderr[-3000:]
    assert {row["judge"] for row in csv.DictReader(io.StringIO(judged.stdout))} == {"tiny"}


def test_a_killed_run_leaves_no_process_and_goes_on(model: Path, arena: Path) -> None:
    command = [sys.executable, "-m", "mirage", "generate", str(arena), "--system", "tiny", *map(str, by_engine(model))]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    ledger = ledger_path(arena)
    end = time.monotonic() + START
    while not _replies(ledger) and program.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    program.send_signal(signal.SIGKILL)
    program.wait()
    kept = _replies(ledger)
    assert kept
    assert _alive(program.pid) == []
    done = mirage("generate", arena, "--system", "tiny", *by_engine(model), "--format", "csv")
    assert done.returncode == 0, done.stderr[-3000:]
    queries = open_arena(arena).rows("queries")
    assert _replies(ledger) <= queries


def test_the_sample_is_answered_and_judged_over_http(service: str, arena: Path, tmp_path: Path) -> None:
    options = ("--model", "tiny", "--base-url", service, "--concurrency", AT_ONCE, "--max-tokens", 24)
    chosen = (*options, "--languages", LANGUAGES, "--format", "csv")
    done = mirage("generate", arena, "--system", "served", *chosen)
    assert done.returncode == 0, done.stderr[-3000:]
    judged = mirage("judge", arena, "--judge", "served", "--pairs", 4, *chosen)
    assert judged.returncode == 0, judged.stderr[-3000:]
    # An over-long prompt is a row here too.
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        replies = _ask_service(service, Settings("tiny", max_tokens=20), ledger, [LONG, "What is it?"])
    assert [reply.status == "api_error" for reply in replies] == [True, False]


def _ask_engine(
    engine: engine_vllm.VllmModel, model: ChatModel, ledger: Ledger, asked: list[Messages]
) -> list[Reply | None]:
    send = partial(complete_loaded, model=model, load=lambda _: engine)
    return list(asking.ask(asked, model, ledger, engine=send).by_number)


def _ask_service(service: str, settings: Settings, ledger: Ledger, texts: list[str]) -> list[Reply]:
    model = ChatModel(settings, Limits(concurrency=AT_ONCE), presets.resolve(base_url=service))
    replies = asking.ask([[{"role": "user", "content": text}] for text in texts], model, ledger).by_number
    return [reply for reply in replies if reply is not None]


def _replies(ledger: Path) -> int:
    """How many replies a ledger has; 0 where there is none."""
    if not ledger.exists():
        return 0
    try:
        with Ledger(ledger, read_only=True) as opened:
            return opened.totals()[0]
    except ArenaError:  # it is being made
        return 0


def _alive(group: int) -> list[str]:
    """The processes of a group that live on."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [args for pgid, stat, args in lines if int(pgid) == group and not stat.startswith("Z")]


def _await_server(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(log.read_text(errors="replace")[-3000:]) from None
            time.sleep(0.5)
