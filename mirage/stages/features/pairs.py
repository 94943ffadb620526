"""Local Hugging Face models that score pairs of texts, in batches of similar length, on a GPU if there is one.

Needs the extra `local` (torch, transformers), imported when a model is loaded.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mirage.errors import BadInput, Unreachable
from mirage.store import files as store_files
from mirage.store.extras import extra
from mirage.store.files import find_files
from mirage.store.ledger import Ledger, ledger_key

Pair = tuple[str, str]

_FILES = ("*.json", "*.model", "*.txt", "*.safetensors", "*.bin")
"""Files that determine a model in a folder."""
_CHUNK = 4_096
"""Pairs that are tokenized and sorted by length at once."""
_CPU_BATCH, _GPU_BATCH = 4_096, 32_768
"""Tokens per batch. Larger batches do not speed up a CPU, and smaller batches have less padding."""


class PairModel:
    """A sequence classifier over pairs of texts (`mirage.stages.features.spec.PairScorer`).

    Args:
        name: name on the Hugging Face Hub, or a local folder.
        max_tokens: maximum tokens of a pair; the longer text is truncated.
        ledger: cache of scores by model and pair, so that an interrupted run resumes and equal pairs are scored once;
            None caches only within a call.
        batch_tokens: tokens per batch, padding included; by default enough to keep a GPU busy, fewer on a CPU.
        device: torch device; by default the GPU if there is one.
        progress: called during `scores` with the number of distinct pairs done and the total.

    Raises:
        BadInput: if the extra is not installed, or there is no such model.
        Unreachable: if the model is not on this machine and the Hub does not answer.
    """

    def __init__(
        self,
        name: str,
        *,
        max_tokens: int,
        ledger: Ledger | None = None,
        batch_tokens: int | None = None,
        device: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        with extra("local", "a local model"):
            import torch
            import transformers
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(name, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise _load_error(name, error) from None
        self._model: Any = model.to(self.device).eval()
        self.labels = tuple(str(model.config.id2label[index]).lower() for index in range(model.config.num_labels))
        self.identity = f"{name}@{_revision(name, model.config)}"
        """The model and its version, which the ledger knows its scores by."""
        self.max_tokens = max_tokens
        self.batch_tokens = batch_tokens or (_CPU_BATCH if self.device == "cpu" else _GPU_BATCH)
        self.ledger, self.progress = ledger, progress
        self.tokens = self.padding = 0
        """Tokens and padding tokens run so far."""

    def scores(self, pairs: Sequence[Pair]) -> list[tuple[float, ...]]:
        """Return the raw scores (logits) of each pair, in the order of `labels`.

        Other texts in a batch affect them only by 32-bit rounding.
        """
        distinct = list(dict.fromkeys(pairs))
        scored = {pair: stored for pair in distinct if (stored := self._cached_scores(pair)) is not None}
        for part, rows in self._run([pair for pair in distinct if pair not in scored]):
            for pair, row in zip(part, rows, strict=True):
                scored[pair] = row
                if self.ledger is not None:
                    self.ledger.put(self._key(pair), self._request(), {"scores": row})
            if self.progress is not None:
                self.progress(len(scored), len(distinct))
        return [scored[pair] for pair in pairs]

    def _run(self, pairs: Sequence[Pair]) -> Iterator[tuple[list[Pair], list[tuple[float, ...]]]]:
        """Yield scored batches with their pairs."""
        import torch

        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            encoded = self._tokenizer(
                [first for first, _ in chunk],
                [second for _, second in chunk],
                truncation="longest_first",
                max_length=self.max_tokens,
            )
            lengths = [len(ids) for ids in encoded["input_ids"]]
            for batch in batches(lengths, self.batch_tokens):
                part = {name: [encoded[name][position] for position in batch] for name in encoded}
                inputs = self._tokenizer.pad(part, return_tensors="pt").to(self.device)
                self.tokens += inputs["input_ids"].numel()
                self.padding += inputs["input_ids"].numel() - sum(lengths[position] for position in batch)
                with torch.inference_mode():
                    logits = self._model(**inputs).logits.float().cpu().tolist()
                yield [chunk[position] for position in batch], [tuple(row) for row in logits]

    def _cached_scores(self, pair: Pair) -> tuple[float, ...] | None:
        """Return the cached scores of a pair."""
        record = None if self.ledger is None else self.ledger.get(self._key(pair))
        return None if record is None else tuple(record["scores"])

    def _key(self, pair: Pair) -> str:
        return ledger_key({**self._request(), "pair": pair})

    def _request(self) -> dict[str, Any]:
        # Omit the texts, which are large and in the arena.
        return {"model": self.identity, "max_tokens": self.max_tokens}


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield batches of positions of similar length, longest first, each within a budget of padded length.

    Args:
        lengths: length of each item.
        budget: maximum of the longest item times the number of items; a longer item is its own batch.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda position: (-lengths[position], position)):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def _revision(name: str, config: Any) -> str:
    """Return the version of a model: the Hub's commit, or a hash of the files in a folder."""
    commit = getattr(config, "_commit_hash", None)
    if commit:
        return str(commit)[:12]
    digest = hashlib.sha256()
    files, links = find_files(Path(name), *_FILES)
    for path in sorted(files + links):  # a snapshot of the Hub is of links
        digest.update(f"{path.name}\0{store_files.fingerprint(path)}\0".encode())
    return digest.hexdigest()[:12]


def _load_error(name: str, error: Exception) -> BadInput | Unreachable:
    """Return the error for a model that cannot be loaded."""
    first = str(error).strip().split("\n")[0]
    if Path(name).is_dir():
        return BadInput(f"the model cannot be loaded: {first}", where=name, do="use a folder saved by save_pretrained")
    return Unreachable(
        f"the model {name} is not on this machine and could not be downloaded: {first}",
        do="check its name and the connection to huggingface.co, or use the folder of a local copy",
    )
