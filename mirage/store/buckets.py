"""Arrays too large for memory, in numbered files of a temporary folder."""

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
    """Numbered files of rows: first `append` everything, then `read` and `replace`."""

    folder: Path
    """Folder of the files."""
    files: tuple[BinaryIO, ...]
    """Files opened for appending."""

    def append(self, number: int, rows: NDArray[Any]) -> None:
        """Append rows to a bucket.

        Raises:
            OSError: if the disk is full.
        """
        rows.tofile(self.files[number])

    def read(self, number: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Read all rows of a bucket."""
        self.files[number].flush()
        return np.fromfile(self._path(number), dtype=dtype)

    def memory_map(self, number: int, dtype: np.dtype[Any], width: int) -> NDArray[Any]:
        """Return all rows of a bucket as a memory-mapped matrix."""
        self.files[number].flush()
        return np.memmap(self._path(number), dtype=dtype, mode="r").reshape(-1, width)

    def replace(self, number: int, rows: NDArray[Any]) -> None:
        """Replace the rows of a bucket, possibly with another type."""
        rows.tofile(self._path(number))

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:04}"


@contextmanager
def buckets(n: int, *, folder: Path | None = None) -> Iterator[Buckets]:
    """Create empty buckets, and remove them on exit.

    Args:
        n: number of buckets.
        folder: parent folder; None for the system's temporary one.
    """
    with TemporaryDirectory(dir=folder, prefix="mirage-") as name, ExitStack() as stack:
        files = tuple(stack.enter_context((Path(name) / f"{k:04}").open("wb")) for k in range(n))
        yield Buckets(Path(name), files)
