"""The offline engine, against a stand-in with the interface of `vllm.LLM`: vLLM needs a GPU and is not run here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from test_generating import command, mirage, shown, write

from mirage import llm
from mirage.errors import BadInput, Unreachable
from mirage.llm import engine_vllm
from mirage.store import Ledger

SETTINGS = llm.Settings("tiny", temperature=0.2, top_p=None, max_tokens=30, seed=4)


class StandIn(ModuleType):
    """Notes what it is asked; a prompt with `too long` is refused as vLLM refuses it, with its whole batch."""

    def __init__(self) -> None:
        super().__init__("vllm")
        self.loaded: list[dict[str, Any]] = []
        self.parameters: list[dict[str, Any]] = []
        self.batches: list[list[str]] = []
        self.left = 0
        """Outputs of a refused batch that the next call returns first, as versions before 0.11 do."""
        module = self

        class LLM:
            def __init__(self, **options: Any) -> None:
                if "nonsense" in options:
                    raise TypeError("unexpected keyword argument 'nonsense'")
                if options["model"] == "absent":
                    raise OSError("absent is not a local folder")
                module.loaded.append(options)

            def chat(self, messages: list[Any], sampling_params: Any, use_tqdm: bool) -> list[Any]:
                assert use_tqdm is False
                texts = [conversation[-1]["content"] for conversation in messages]
                if "too long" in texts:
                    module.left += texts.index("too long")
                    raise ValueError("The prompt is longer than the maximum model length of 4096.")
                if "out of memory" in texts:
                    raise RuntimeError("CUDA out of memory")
                module.batches.append(texts)
                leftovers, module.left = module.left, 0
                return [output("left over")] * leftovers + [output(text) for text in texts]

        self.LLM = LLM
        self.SamplingParams = lambda **options: self.parameters.append(options)


def output(text: str) -> Any:
    """A `RequestOutput` with one completion."""
    finish = {"cut": "length", "stopped": "abort"}.get(text, "stop")
    reply = "" if text == "nothing" else f"re {text}"
    return SimpleNamespace(
        prompt_token_ids=[1] * len(text),
        outputs=[SimpleNamespace(text=reply, finish_reason=finish, token_ids=[1, 2, 3])],
    )


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    module = StandIn()
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def ask(ledger: Ledger, *queries: str, settings: llm.Settings = SETTINGS, **options: Any) -> list[llm.Reply]:
    conversations = [[{"role": "user", "content": query}] for query in queries]
    replies = engine_vllm.complete_local(conversations, settings=settings, ledger=ledger, **options)
    assert None not in replies
    return [reply for reply in replies if reply is not None]


def test_one_load_serves_all_prompts_with_their_seed_and_parameters(vllm: StandIn, ledger: Ledger) -> None:
    queries = [f"q{i}" for i in range(engine_vllm.BATCH + 5)]
    replies = ask(ledger, *queries, options={"tensor_parallel_size": 2})
    assert [reply.text for reply in replies] == [f"re {query}" for query in queries]
    assert vllm.loaded == [{"model": "tiny", "seed": 4, "tensor_parallel_size": 2}]
    assert vllm.parameters == [{"max_tokens": 30, "seed": 4, "temperature": 0.2}]
    assert [len(batch) for batch in vllm.batches] == [engine_vllm.BATCH, 5]
    assert (replies[0].tokens_in, replies[0].tokens_out, replies[0].served) == (2, 3, "tiny")


def test_what_the_ledger_has_is_not_asked_and_nothing_is_loaded_for_it(vllm: StandIn, ledger: Ledger) -> None:
    first = ask(ledger, "a", "b", "a")
    assert vllm.batches == [["a", "b"]]
    repeated = ask(ledger, "b", "a")
    assert [(reply.text, reply.attempts) for reply in repeated] == [("re b", 0), ("re a", 0)]
    assert len(vllm.loaded) == 1
    assert [reply.attempts for reply in first] == [1, 1, 0]
    # The same key as a service's: who moves from one to the other pays for nothing again.
    assert first[0].key == llm.call_key(SETTINGS, [{"role": "user", "content": "a"}])


def test_how_a_reply_ended_is_its_status(vllm: StandIn, ledger: Ledger) -> None:
    replies = ask(ledger, "fine", "cut", "nothing", "stopped")
    assert [reply.status for reply in replies] == ["ok", "truncated", "empty", "api_error"]
    assert replies[3].reason == "the engine ended the reply: abort"
    assert ledger.get(replies[3].key) is None


@pytest.mark.parametrize("place", range(5))
def test_a_prompt_that_does_not_fit_is_a_row_and_the_others_are_answered(
    vllm: StandIn, ledger: Ledger, place: int
) -> None:
    queries = [f"q{i}" for i in range(5)]
    queries[place] = "too long"
    for _ in range(2):
        replies = ask(ledger, *queries)
        for query, reply in zip(queries, replies, strict=True):
            if query == "too long":
                assert reply.status == "api_error"
                assert "longer than the maximum model length" in str(reply.reason)
            else:
                assert reply.text == f"re {query}"
    assert sorted(text for batch in vllm.batches for text in batch) == sorted(set(queries) - {"too long"})


def test_replies_that_came_before_the_engine_broke_down_are_kept(
    vllm: StandIn, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_vllm, "BATCH", 2)
    with pytest.raises(Unreachable, match="vLLM broke down: CUDA out of memory") as caught:
        ask(ledger, "a", "b", "out of memory", "c")
    assert "again" in caught.value.do
    ask(ledger, "a", "b", "c")
    assert vllm.batches == [["a", "b"], ["c"]]


def test_a_model_or_an_option_that_is_not_there_is_a_clear_error(vllm: StandIn, ledger: Ledger) -> None:
    with pytest.raises(Unreachable, match="vLLM could not load absent"):
        ask(ledger, "q", settings=llm.Settings("absent"))
    with pytest.raises(BadInput, match="unexpected keyword argument 'nonsense'") as caught:
        ask(ledger, "q", options={"nonsense": 1})
    assert "--engine-args" in caught.value.do


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
    result = mirage(*command(path, "http://127.0.0.1:9/v1", "--engine", "vllm"), code=2)
    assert "vLLM is not installed" in result.stderr
    assert "pip install 'mirage-rag[vllm]'" in result.stderr
    assert "--engine openai" in result.stderr
