"""The same calls without a service: transformers loads the model on this machine.

Prompts of similar length are generated together, the longest first. The model's own chat template applies. 4-bit and
8-bit weights need the package bitsandbytes, LoRA adapters the package peft.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput, Unreachable
from mirage.llm.calls import ChatModel, Settings
from mirage.llm.completion import Messages, Reply, failed_reply, separate_reasoning
from mirage.store.extras import extra

_LOG = logging.getLogger(__name__)
GROUP = 8
"""Default number of prompts generated together."""
OPTIONS = ("batch_size", "device", "dtype", "load_in_4bit", "load_in_8bit", "peft", "cache_dir", "max_length")
"""Options of the engine; all others are passed to `from_pretrained`."""
_ADAPTER = "adapter_config.json"
"""File of a folder with a LoRA adapter."""


@dataclass(frozen=True)
class LoadedModel:
    """A model of transformers on this machine."""

    name: str
    """Name on the Hub, or the folder."""
    tokenizer: Any
    model: Any
    settings: Settings
    """Sampling parameters."""
    group: int
    """Maximum prompts generated together."""
    longest: int | None
    """Maximum tokens of a prompt with its reply; None if the model states none."""

    def replies(self, prompts: Mapping[str, Messages]) -> Iterator[Reply]:
        """Yield the replies to conversations by key; groups shrink if the memory is too small.

        Raises:
            Unreachable: if the model fails, or one prompt alone does not fit the memory.
        """
        import torch

        encoded = {key: self.encode(messages) for key, messages in prompts.items()}
        most = self.settings.max_tokens
        # The longest first: if the memory is too small, that shows at once.
        todo = sorted(encoded, key=lambda key: -len(encoded[key]))
        while self.longest is not None and todo and len(encoded[todo[0]]) + most > self.longest:
            key = todo.pop(0)
            reason = f"the prompt has {len(encoded[key]):,} tokens, and the reply up to {most:,}"
            yield failed_reply(key, f"{reason}: more than the model's context of {self.longest:,}", attempts=1)
        size = self.group
        while keys := todo[:size]:
            try:
                outputs = self.generate([encoded[key] for key in keys])
            except Exception as error:  # whatever torch and CUDA raise
                if isinstance(error, torch.OutOfMemoryError) and size > 1:
                    size = max(1, min(size, len(keys)) // 2)
                    _LOG.warning("The memory is too small; prompts are now generated %s at a time.", size)
                    continue
                raise Unreachable(
                    f"{self.name} failed: {error}", do="rerun the command; replies received are cached"
                ) from error
            todo = todo[len(keys) :]
            for key, (raw, finish, n) in zip(keys, outputs, strict=True):
                text, reasoning, status, why = separate_reasoning(raw, finish)
                yield Reply(key, text, status, why, len(encoded[key]), n, self.name, 1, reasoning=reasoning)

    def encode(self, messages: Messages) -> list[int]:
        """Return the tokens of a conversation by the chat template; without one, of its texts."""
        conversation = [dict(message) for message in messages]
        if self.tokenizer.chat_template:
            text = self.tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        text = "\n\n".join(message["content"] for message in messages)
        return list(self.tokenizer(text)["input_ids"])

    def generate(self, prompts: Sequence[Sequence[int]]) -> list[tuple[str, str, int]]:
        """Return text, finish reason and number of tokens of the reply to each prompt.

        The same prompts in the same group give the same replies; torch's random state is restored.
        """
        import torch

        encoded = self.tokenizer.pad({"input_ids": [list(prompt) for prompt in prompts]}, return_tensors="pt")
        pad, device = self.tokenizer.pad_token_id, self.model.device
        rows = encoded["input_ids"]
        cuda = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices=cuda), torch.inference_mode():
            digest = hashlib.sha256(repr((self.settings.seed or 0, rows.tolist())).encode()).digest()
            torch.manual_seed(int.from_bytes(digest[:4], "big"))
            output = self.model.generate(**encoded.to(device), pad_token_id=pad, **self._sampling())
        start = 0 if self.model.config.is_encoder_decoder else rows.shape[1]
        return [self._decode(tokens[start:].tolist(), pad) for tokens in output]

    def _sampling(self) -> dict[str, Any]:
        """Return the parameters of `generate`; others default to the model's generation_config.json."""
        settings = self.settings
        chosen: dict[str, Any] = {"max_new_tokens": settings.max_tokens}
        if settings.temperature == 0:
            return chosen | {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if settings.temperature is not None:
            chosen |= {"do_sample": True, "temperature": settings.temperature}
        return chosen if settings.top_p is None else chosen | {"do_sample": True, "top_p": settings.top_p}

    def _decode(self, tokens: list[int], pad: int) -> tuple[str, str, int]:
        """Return the text of a reply up to its end, why it ended, and its tokens."""
        ends = self.model.generation_config.eos_token_id
        stops = {pad, *(ends if isinstance(ends, list) else [ends])} - {None}
        if self.model.config.is_encoder_decoder:
            tokens = tokens[1:]
        place = next((k for k, token in enumerate(tokens) if token in stops), None)
        whole = tokens if place is None else tokens[:place]
        text = self.tokenizer.decode(whole, skip_special_tokens=True)
        return text, "length" if place is None else "stop", len(whole) + (place is not None)


def load(model: ChatModel) -> LoadedModel:
    """Load a model and its tokenizer.

    Raises:
        BadInput: if transformers or a package for an option is not installed, or an option is invalid.
        Unreachable: if the model cannot be loaded.
    """
    with extra("local", "running a model on this machine"):
        import torch
        import transformers
    settings, options = model.settings, dict(model.options)
    own = {name: options.pop(name) for name in OPTIONS if name in options}
    group = own.get("batch_size", GROUP)
    if not isinstance(group, int) or isinstance(group, bool) or group < 1:
        raise BadInput(f"batch_size is {group!r}", where="--engine-args", do="use a whole number, at least 1")
    device = own.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
    cache = {"cache_dir": own["cache_dir"]} if own.get("cache_dir") else {}
    arguments = {**cache, "dtype": own.get("dtype", "auto"), **options, **_quantization(own)}
    adapter, name = _adapter(settings.model, own.get("peft"))
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, padding_side="left", **cache)
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token_id = tokenizer.eos_token_id or 0
        config = transformers.AutoConfig.from_pretrained(name, **cache)
        kind = "AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModelForCausalLM"
        loaded = getattr(transformers, kind).from_pretrained(name, **arguments)
        if adapter is not None:
            peft = _need("peft", f"the LoRA adapter {adapter}")
            loaded = peft.PeftModel.from_pretrained(loaded, adapter)
        if "device_map" not in arguments:
            loaded = loaded.to(device)
    except BadInput:
        raise
    except Exception as error:  # whatever torch, the hub or a model's code raise
        if isinstance(error, TypeError | ValueError):
            raise BadInput(f"transformers rejects this: {error}", do="check --model and --engine-args") from error
        raise Unreachable(
            f"transformers could not load {name}: {error}",
            do="check the model's name or folder, the network and the memory",
        ) from error
    loaded.eval()
    limits = [n for n in (own.get("max_length"), getattr(config, "max_position_embeddings", None)) if n]
    return LoadedModel(settings.model, tokenizer, loaded, settings, group, min(limits, default=None))


def _quantization(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for 4-bit or 8-bit weights.

    Raises:
        BadInput: if bitsandbytes is not installed.
    """
    bits = [name for name in ("load_in_4bit", "load_in_8bit") if own.get(name)]
    if not bits:
        return {}
    _need("bitsandbytes", bits[0])
    from transformers import BitsAndBytesConfig

    return {"quantization_config": BitsAndBytesConfig(**{bits[0]: True}), "device_map": "auto"}


def _adapter(name: str, given: object) -> tuple[str | None, str]:
    """Return the LoRA adapter and the model under it: of a folder with an adapter, what it was trained on.

    Args:
        name: the model, or a folder with an adapter.
        given: an adapter for the model; true or None for none but that of the folder.
    """
    if isinstance(given, str | os.PathLike):
        return str(given), name
    file = Path(name) / _ADAPTER
    if not file.is_file():
        return None, name
    base = json.loads("\n".join(line for _, line in store.lines(file))).get("base_model_name_or_path")
    return name, str(base or name)


def _need(package: str, option: str) -> Any:
    """Import a package that an option needs.

    Raises:
        BadInput: if it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        do = f"run: pip install {package}, or omit it"
        raise BadInput(f"{option} needs {package}, which is not installed", do=do) from None
