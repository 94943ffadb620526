"""Arrays that are too large for memory, kept in numbered files of a temporary folder meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Buckets:
    """Numbered files of rows; `append` until all is there, then `read` and `replace`."""

    folder: Path
    """Where the files are."""
    files: tuple[BinaryIO, ...]
    """Open for writing at their ends."""

    def append(self, number: int, rows: NDArray[Any]) -> None:
        """Write rows at the end of a bucket.

        Raises:
            OSError: if the disk is full.
        """
        rows.tofile(self.files[number])

    def read(self, number: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """All rows of a bucket."""
        self.files[number].flush()
        return np.fromfile(self._path(number), dtype=dtype)

    def mapped(self, number: int, dtype: np.dtype[Any], width: int) -> NDArray[Any]:
        """All rows of a bucket as a matrix that stays on disk until parts of it are read."""
        self.files[number].flush()
        return np.memmap(self._path(number), dtype=dtype, mode="r").reshape(-1, width)

    def replace(self, number: int, rows: NDArray[Any]) -> None:
        """Put other rows, perhaps of another type, in place of a bucket's."""
        rows.tofile(self._path(number))

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:04}"


@contextmanager
def buckets(n: int, *, folder: Path | None = None) -> Iterator[Buckets]:
    """So many empty buckets, removed in the end.

    Args:
        n: how many.
        folder: in which folder; None for the system's temporary one.
    """
    with TemporaryDirectory(dir=folder, prefix="mirage-") as name, ExitStack() as stack:
        files = tuple(stack.enter_context((Path(name) / f"{k:04}").open("wb")) for k in range(n))
        yield Buckets(Path(name), files)
