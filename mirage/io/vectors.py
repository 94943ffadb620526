"""Passage vectors from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import store
from mirage.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def read_vectors(path: Path, passage_ids: Sequence[str]) -> NDArray[np.float32]:
    """Read the vector of each passage from JSON Lines or Parquet: `passage_id` and `vector`, a list of numbers.

    Args:
        path: the file; extra passages are ignored.
        passage_ids: the passages, in the order of the rows to return.

    Raises:
        BadInput: if a record is invalid, vectors differ in length, or a passage has none.
    """
    import numpy as np

    rows = {name: row for row, name in enumerate(passage_ids)}
    vectors: NDArray[np.float32] | None = None
    missing = set(rows)
    for line in store.records(path):
        name = line.value.get("passage_id")
        try:
            vector = np.asarray(line.value.get("vector"), dtype=np.float32)
        except (TypeError, ValueError):
            vector = np.empty(0, np.float32)
        if name is None or vector.ndim != 1 or not len(vector) or not np.all(np.isfinite(vector)):
            raise BadInput(
                "this record has no passage_id or no vector of numbers",
                where=line.where,
                do='write {"passage_id": "a.md#1", "vector": [0.1, 0.2]}',
            )
        if vectors is None:
            vectors = np.zeros((len(rows), len(vector)), np.float32)
        if len(vector) != vectors.shape[1]:
            raise BadInput(
                f"this vector has {len(vector)} numbers, an earlier vector {vectors.shape[1]}",
                where=line.where,
                do="use vectors from a single model",
            )
        if str(name) in rows:
            vectors[rows[str(name)]] = vector
            missing.discard(str(name))
    if missing or vectors is None:
        raise BadInput(
            f"{len(missing):,} of {len(rows):,} passages have no vector, such as {min(missing, default='none')}",
            where=str(path),
            do="add them; `mirage testset --passages-only FILE` writes the passages with their ids",
        )
    return vectors
