"""The same calls without a service: transformers loads the model on this machine.

Prompts of similar length are generated together, the longest first. The model's own chat template applies.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mirage.errors import BadInput, Unreachable
from mirage.llm.calls import ChatModel, Settings
from mirage.llm.completion import Messages, Reply, failed_reply, separate_reasoning
from mirage.store.extras import extra

GROUP = 8
"""Default number of prompts generated together."""


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
    """Number of prompts generated together."""
    longest: int | None
    """Maximum tokens of a prompt with its reply; None if the model states none."""

    def replies(self, prompts: Mapping[str, Messages]) -> Iterator[Reply]:
        """Yield the replies to conversations by key; a prompt beyond the model's context is a failed call.

        Raises:
            Unreachable: if the model fails, or a group does not fit the memory.
        """
        most, encoded = self.settings.max_tokens, {}
        for key, messages in prompts.items():
            tokens = self.encode(messages)
            if self.longest is None or len(tokens) + most <= self.longest:
                encoded[key] = tokens
                continue
            reason = f"the prompt has {len(tokens):,} tokens, and the reply up to {most:,}"
            yield failed_reply(key, f"{reason}: more than the model's context of {self.longest:,}", attempts=1)
        # The longest first: if the memory is too small, that shows at once.
        todo = sorted(encoded, key=lambda key: -len(encoded[key]))
        for start in range(0, len(todo), self.group):
            keys = todo[start : start + self.group]
            try:
                outputs = self.generate([encoded[key] for key in keys])
            except Exception as error:  # whatever torch and CUDA raise
                raise Unreachable(
                    f"{self.name} failed: {error}",
                    do="rerun the command, with a smaller batch_size in --engine-args if the memory is too small;"
                    " replies received are cached",
                ) from error
            for key, (raw, finish, n) in zip(keys, outputs, strict=True):
                text, reasoning, status, why = separate_reasoning(raw, finish)
                yield Reply(key, text, status, why, len(encoded[key]), n, self.name, 1, reasoning=reasoning)

    def encode(self, messages: Messages) -> list[int]:
        """Return the tokens of a conversation by the chat template; without one, of its texts."""
        if not self.tokenizer.chat_template:
            return list(self.tokenizer("\n\n".join(message["content"] for message in messages))["input_ids"])
        conversation = [dict(message) for message in messages]
        text = self.tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def generate(self, prompts: Sequence[Sequence[int]]) -> list[tuple[str, str, int]]:
        """Return text, finish reason and number of tokens of the reply to each prompt.

        The same prompts in the same group give the same replies; torch's random state is restored. Parameters that are
        not set default to the model's generation_config.json.
        """
        import torch

        settings, pad, device = self.settings, self.tokenizer.pad_token_id, self.model.device
        sampling: dict[str, Any] = {"max_new_tokens": settings.max_tokens, "pad_token_id": pad}
        if settings.temperature == 0:
            sampling |= {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        else:
            chosen = {"temperature": settings.temperature, "top_p": settings.top_p}
            chosen = {name: value for name, value in chosen.items() if value is not None}
            sampling |= {"do_sample": True, **chosen} if chosen else {}
        rows = self.tokenizer.pad({"input_ids": [list(prompt) for prompt in prompts]}, return_tensors="pt")
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), torch.inference_mode():
            digest = hashlib.sha256(repr((settings.seed or 0, rows["input_ids"].tolist())).encode()).digest()
            torch.manual_seed(int.from_bytes(digest[:4], "big"))
            output = self.model.generate(**rows.to(device), **sampling)
        start = 1 if self.model.config.is_encoder_decoder else rows["input_ids"].shape[1]
        return [self._decode(tokens[start:].tolist(), pad) for tokens in output]

    def _decode(self, tokens: list[int], pad: int) -> tuple[str, str, int]:
        """Return the text of a reply up to its end, why it ended, and its tokens."""
        ends = self.model.generation_config.eos_token_id
        stops = {pad, *(ends if isinstance(ends, list) else [ends])}
        place = next((k for k, token in enumerate(tokens) if token in stops), None)
        text = self.tokenizer.decode(tokens[:place], skip_special_tokens=True)
        return text, "length" if place is None else "stop", len(tokens) if place is None else place + 1


def load(model: ChatModel) -> LoadedModel:
    """Load a model and its tokenizer; the options `batch_size` and `max_length` are ours, others of `from_pretrained`.

    Raises:
        BadInput: if transformers or a package for an option is not installed, or an option is invalid.
        Unreachable: if the model cannot be loaded.
    """
    with extra("local", "running a model on this machine"):
        import transformers
    name, options = model.settings.model, {"dtype": "auto", "device_map": "auto", **model.options}
    group, longest = options.pop("batch_size", GROUP), options.pop("max_length", None)
    if not isinstance(group, int) or isinstance(group, bool) or group < 1:
        raise BadInput(f"batch_size is {group!r}", where="--engine-args", do="use a whole number, at least 1")
    cache = options.get("cache_dir")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, padding_side="left", cache_dir=cache)
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token_id = tokenizer.eos_token_id or 0
        config = transformers.AutoConfig.from_pretrained(name, cache_dir=cache)
        kind = "AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModelForCausalLM"
        loaded = getattr(transformers, kind).from_pretrained(name, **options)
    except (TypeError, ValueError, ImportError) as error:
        raise BadInput(f"transformers rejects this: {error}", do="check --model and --engine-args") from error
    except Exception as error:  # whatever torch, the hub or a model's code raise
        raise Unreachable(
            f"transformers could not load {name}: {error}",
            do="check the model's name or folder, the network and the memory",
        ) from error
    limits = [n for n in (longest, getattr(config, "max_position_embeddings", None)) if n]
    return LoadedModel(name, tokenizer, loaded.eval(), model.settings, group, min(limits, default=None))
