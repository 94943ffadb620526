"""The same calls without a service: vLLM loads the model on this machine's GPUs, once for all prompts.

vLLM is not among the requirements: it needs CUDA and pins its own torch. It is imported when a model is to be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mirage.errors import BadInput, Unreachable
from mirage.extras import install_command
from mirage.llm.batch import Batch, OnReply, failed
from mirage.llm.calls import Messages, Reply, Settings, separate_reasoning
from mirage.store import Ledger

Engine = tuple[Any, Any]
"""vLLM with a model in it, and the parameters of sampling."""
BATCH = 512
"""Prompts handed over at once. A run that is killed has lost the replies to one batch at most."""


def complete_local(
    conversations: Sequence[Messages],
    *,
    settings: Settings,
    ledger: Ledger,
    options: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    on_reply: OnReply | None = None,
    again: str | None = None,
    accepted: bool = False,  # noqa: ARG001  # as `client.complete` takes it; no prompt stops the others here
) -> list[Reply | None]:
    """Get a reply to every conversation, through the model's own chat template; what the ledger holds is not asked.

    A prompt that the model cannot take (it is longer than its context) is a reply with status `api_error`.

    Args:
        conversations: the conversations.
        settings: model (name or folder) and parameters. The seed, 0 if there is none, is the engine's and every
            prompt's.
        ledger: where replies are kept, batch by batch.
        options: further arguments of `vllm.LLM`, such as `tensor_parallel_size`.
        engine: what `load` has loaded; None to load it now.
        on_reply: called with the number of a conversation and its reply.
        again: as for `client.complete`. Without a temperature the engine says the same again.
        accepted: has no effect.

    Raises:
        BadInput: if vLLM is not installed, or does not know an option.
        Unreachable: if the model cannot be loaded, or the engine breaks down. Replies that had come are in the ledger.
        ArenaError: if the ledger cannot be written.
    """
    batch = Batch(conversations, settings, ledger, on_reply, again)
    todo = list(batch.open.items())
    if not todo:
        return batch.replies
    model, parameters = engine or load(settings, options or {})
    for start in range(0, len(todo), BATCH):
        part = todo[start : start + BATCH]
        outputs = _chat(model, parameters, [[dict(message) for message in conversations[number]] for _, number in part])
        for (key, _), output in zip(part, outputs, strict=True):
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
    try:
        import vllm
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "vllm"
        raise BadInput(
            "vLLM is not installed" if missing else f"vLLM cannot be imported: {error}",
            do=f"run: {install_command('vllm')}, on a machine with a CUDA GPU; or serve the model anywhere and use "
            "--engine openai with --base-url",
        ) from None
    seed = settings.seed or 0
    sampling = {"temperature": settings.temperature, "top_p": settings.top_p}
    try:
        parameters = vllm.SamplingParams(
            max_tokens=settings.max_tokens,
            seed=seed,
            **{name: value for name, value in sampling.items() if value is not None},
        )
        return vllm.LLM(model=settings.model, seed=seed, **options), parameters
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"vLLM does not take this: {error}", do="check --model, the sampling options and --engine-args"
        ) from error
    except Exception as error:  # whatever torch, CUDA or the hub raise
        raise Unreachable(
            f"vLLM could not load {settings.model}: {error}",
            do="check the model's name, the GPU's memory and --engine-args",
        ) from error


def _chat(model: Any, parameters: Any, conversations: list[list[dict[str, str]]]) -> Iterator[Any]:
    """One output a conversation, or the error with which the engine refuses it."""
    try:
        outputs = model.chat(conversations, sampling_params=parameters, use_tqdm=False)
    except ValueError as error:
        # One that does not fit has the whole batch refused: halve until it stands alone.
        if len(conversations) == 1:
            yield error
            return
        half = len(conversations) // 2
        yield from _chat(model, parameters, conversations[:half])
        yield from _chat(model, parameters, conversations[half:])
        return
    except Exception as error:  # whatever torch and CUDA raise
        raise Unreachable(
            f"vLLM broke down: {error}", do="run the same command again; the replies that have come are kept"
        ) from error
    # Sorted by the time they were handed over: vLLM before 0.11 also returns what was left of a batch it refused.
    if len(outputs) < len(conversations):
        raise Unreachable(
            f"vLLM gave {len(outputs):,} replies to {len(conversations):,} prompts", do="try another version of vLLM"
        )
    yield from outputs[-len(conversations) :]


def _read(key: str, output: Any, served: str) -> Reply:
    """A reply out of vLLM's `RequestOutput`."""
    if isinstance(output, Exception):
        return failed(key, f"the model does not take this prompt: {output}", attempts=1)
    first = output.outputs[0]
    if first.finish_reason not in ("stop", "length"):
        return failed(key, f"the engine ended the reply: {first.finish_reason}", attempts=1)
    text, reasoning, status, reason = separate_reasoning(first.text, first.finish_reason)
    tokens_in, tokens_out = len(output.prompt_token_ids or ()), len(first.token_ids)
    return Reply(key, text, status, reason, tokens_in, tokens_out, served, attempts=1, reasoning=reasoning)
