"""The offline engine, against a stand-in with the interface of `vllm.LLM`; `make engines` runs the real one."""

import importlib.util
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from commands import mirage, refuses
from engine_vllm_cases import StandIn
from generating_cases import command, generate, shown, write
from llm_cases import ledger, replies_of  # noqa: F401  # a fixture

from mirage.errors import BadInput, Unreachable
from mirage.llm import asking, engine_vllm
from mirage.llm.batch import complete_loaded
from mirage.llm.calls import ChatModel, Settings
from mirage.llm.completion import Reply
from mirage.store.ledger import Ledger

SETTINGS = Settings("tiny", temperature=0.2, top_p=None, max_tokens=30, seed=4)


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    module = StandIn()
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def ask(
    ledger: Ledger,
    *queries: str,
    settings: Settings = SETTINGS,
    options: Mapping[str, Any] = MappingProxyType({}),
    **how: Any,
) -> list[Reply]:
    conversations = [[{"role": "user", "content": query}] for query in queries]
    model = ChatModel(settings, options=options)
    engine = partial(complete_loaded, model=model, load=engine_vllm.load)
    replies = replies_of(asking.ask(conversations, model, ledger, engine=engine, **how))
    assert None not in replies
    return [reply for reply in replies if reply is not None]


def test_one_load_serves_all_prompts_with_their_seed_and_parameters(vllm: StandIn, ledger: Ledger) -> None:
    queries = [f"q{i}" for i in range(engine_vllm.UNDER_WAY + 5)]
    replies = ask(ledger, *queries, options={"tensor_parallel_size": 2})
    assert [reply.text for reply in replies] == [f"re {query}" for query in queries]
    assert vllm.loaded == [{"model": "tiny", "seed": 4, "tensor_parallel_size": 2}]
    assert vllm.parameters == [{"max_tokens": 30, "seed": 4, "temperature": 0.2}]
    assert vllm.most == engine_vllm.UNDER_WAY
    assert (replies[0].tokens_in, replies[0].tokens_out, replies[0].served) == (2, 3, "tiny")


def test_the_model_s_own_defaults_hold_where_nothing_is_set_as_at_a_server(vllm: StandIn, ledger: Ledger) -> None:
    vllm.defaults = {"temperature": 0.9, "top_k": 20, "repetition_penalty": 1.1, "max_tokens": 5}
    ask(ledger, "a")
    assert vllm.parameters == [
        {"temperature": 0.2, "top_k": 20, "repetition_penalty": 1.1, "max_tokens": 30, "seed": 4}
    ]


@pytest.mark.parametrize(("options", "processes"), [({}, "0"), ({"tensor_parallel_size": 2}, None)])
def test_the_engine_is_in_this_process_and_logs_beside_the_output(
    vllm: StandIn, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], processes: str | None
) -> None:
    for name in ("VLLM_LOGGING_STREAM", "VLLM_ENABLE_V1_MULTIPROCESSING"):
        monkeypatch.setenv(name, "")  # so that it is removed again
        monkeypatch.delenv(name)
    ask(ledger, "a", options=options)
    assert os.environ["VLLM_LOGGING_STREAM"] == "ext://sys.stderr"
    assert os.environ.get("VLLM_ENABLE_V1_MULTIPROCESSING") == processes


def test_how_a_reply_ended_is_its_status(vllm: StandIn, ledger: Ledger) -> None:
    replies = ask(ledger, "fine", "cut", "nothing", "stopped")
    assert [reply.status for reply in replies] == ["ok", "truncated", "empty", "api_error"]
    assert "abort" in str(replies[3].reason)
    assert ledger.get(replies[3].key) is None


@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("wrong", ["too long", "half a \ud83d character"])
def test_pitfall_150_a_refused_prompt_is_a_row_and_the_others_are_answered(
    vllm: StandIn, ledger: Ledger, place: int, wrong: str
) -> None:
    queries = [f"q{i}" for i in range(5)]
    queries[place] = wrong
    for _ in range(2):
        replies = ask(ledger, *queries)
        for query, reply in zip(queries, replies, strict=True):
            if query == wrong:
                assert reply.status == "api_error"
                assert "rejects this prompt" in str(reply.reason)
            else:
                assert reply.text == f"re {query}"
    assert sorted(vllm.prompts) == sorted(set(queries) - {wrong})


def test_replies_that_came_before_the_engine_broke_down_are_kept(vllm: StandIn, ledger: Ledger) -> None:
    with refuses(Unreachable, "vLLM failed: CUDA out of memory", do="rerun"):
        ask(ledger, "a", "out of memory", "b", "c")
    assert vllm.aborted == ["a"]
    ask(ledger, "a", "b", "c")
    assert vllm.prompts == ["a", "out of memory", "b", "c", "a"]


def test_a_model_or_an_option_that_is_not_there_is_a_clear_error(vllm: StandIn, ledger: Ledger) -> None:
    with pytest.raises(Unreachable, match="vLLM could not load absent"):
        ask(ledger, "q", settings=Settings("absent"))
    with refuses(BadInput, "unexpected keyword argument 'nonsense'", do="--engine-args"):
        ask(ledger, "q", options={"nonsense": 1})


def test_generate_runs_offline_by_one_option(vllm: StandIn, tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=2)
    args = command(path, "http://127.0.0.1:9/v1", "--engine", "vllm", "--engine-args", '{"max_model_len": 4096}')
    mirage(*args)
    assert {row["outcome"] for row in shown(path)} == {"ok"}
    assert vllm.loaded == [{"model": "tiny", "seed": 0, "max_model_len": 4096}]
    mirage(*args)
    assert len(vllm.loaded) == 1


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed here")
def test_pitfall_25_where_vllm_is_not_installed_the_error_says_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=2)
    result = generate(path, "http://127.0.0.1:9/v1", "--engine", "vllm", code=2)
    assert "vLLM is not installed" in result.stderr
    assert "pip install 'mirage-rag[vllm]'" in result.stderr
    assert "--base-url" in result.stderr
