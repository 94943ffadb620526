"""Token counts and truncation of texts, by the model's tokenizer or an estimate.

The estimate counts characters by script. It follows the token counts that OpenAI printed for one sentence in 20
languages when it introduced the o200k tokenizer (Hello GPT-4o, May 2024), rounded towards more tokens; scripts missing
in the table take the value of their neighbours. Older tokenizers split Indic and Thai text two to four times finer.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mirage.errors import BadInput

_PER_TOKEN = {
    0x0000: 3.3,  # ASCII: Latin letters, digits, white space
    0x0080: 1.7,  # Latin letters beyond ASCII
    0x0300: 1.2,  # combining marks
    0x0370: 2.7,  # Greek and Cyrillic
    0x0590: 2.2,  # Hebrew and Arabic
    0x0900: 2.0,  # Devanagari, Bengali, Telugu and the other Indic scripts; Thai
    0x0E80: 1.0,
    0x1E00: 1.7,  # Latin letters with two marks
    0x2000: 1.2,  # punctuation; kana and Han, which share this value
    0xA000: 1.0,
    0xAC00: 1.8,  # Hangul
    0xD7B0: 1.0,
}
"""Characters per token, by the first code point of each range."""
_STARTS = np.array(list(_PER_TOKEN), dtype=np.uint32)
_WEIGHTS = 1 / np.array(list(_PER_TOKEN.values()))


class Tokens(Protocol):
    """Counts and truncates texts in tokens."""

    @property
    def name(self) -> str:
        """`estimate`, or the tokenizer's name."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""

    def cut(self, text: str, limit: int) -> str:
        """Return the longest prefix of a text with at most `limit` tokens."""


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Token estimate from characters by script."""

    name: str = "estimate"

    def count(self, text: str) -> int:
        """Estimate the number of tokens of a text."""
        return int(np.ceil(_weights(text).sum() - 1e-9))

    def cut(self, text: str, limit: int) -> str:
        """Return the longest prefix of a text with about `limit` tokens."""
        return text[: int(np.searchsorted(_weights(text).cumsum(), limit + 1e-9, side="right"))]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A model's own tokenizer."""

    name: str
    encoder: Any
    """A `tokenizers.Tokenizer`."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, without special tokens."""
        return len(self.encoder.encode(text, add_special_tokens=False).ids)

    def cut(self, text: str, limit: int) -> str:
        """Return a text up to the end of its `limit`-th token."""
        offsets = self.encoder.encode(text, add_special_tokens=False).offsets
        if len(offsets) <= limit:
            return text
        return text[: max((end for _, end in offsets[:limit]), default=0)]


def tokens_of(model: str) -> Tokens:
    """Return the token counter of a model: its tokenizer if available locally, else the estimate.

    A tokenizer is a `tokenizer.json` in the folder `model`, or in the local Hugging Face cache under its name. Nothing
    is downloaded.

    Args:
        model: name or folder of the model.

    Raises:
        BadInput: if the tokenizer cannot be read.
    """
    path = _find(model)
    if path is None:
        return TokenEstimate()
    try:
        from tokenizers import Tokenizer as Encoder
    except ImportError:
        return TokenEstimate()
    try:
        encoder = Encoder.from_file(path)
    except Exception as error:  # the library raises bare Exceptions
        raise BadInput(f"the tokenizer cannot be read: {error}", where=path, do="correct or remove the file") from None
    encoder.no_truncation()
    encoder.no_padding()
    return Tokenizer(model, encoder)


def _find(name: str) -> str | None:
    """Return the path of a `tokenizer.json` in a folder, or in the Hugging Face cache."""
    if Path(name).is_dir():
        file = Path(name) / "tokenizer.json"
        return str(file) if file.is_file() else None
    try:
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(name, "tokenizer.json")
    except (ImportError, ValueError):  # without the package there is no cache; or no valid model name
        return None
    return cached if isinstance(cached, str) else None


def _weights(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the estimated tokens per character."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    weights: np.ndarray[Any, np.dtype[np.float64]] = _WEIGHTS[np.searchsorted(_STARTS, points, side="right") - 1]
    return weights
