"""Measurement of answers family by family, and the values or reasons as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from mirage import schema
from mirage.stages.features.families import FAMILIES
from mirage.stages.features.spec import FeatureFamily, Measured, MeasuredAnswer, Tools

if TYPE_CHECKING:
    import pyarrow as pa

Block = Sequence[MeasuredAnswer | str]
"""Consecutive answers; for each that cannot be measured, the reason."""


def measure_blocks(
    blocks: Iterable[Block],
    names: Sequence[str],
    tools: Tools,
    *,
    total: int,
    progress: Callable[[int, int], None] | None = None,
) -> Measurements:
    """Measure features of answers.

    Args:
        blocks: the answers, read lazily. Families that need all answers at once come after the last block.
        names: names of the features, sorted.
        tools: tools of some features.
        total: number of answers.
        progress: called with the number of answers done and the total.
    """
    families = [family for family in FAMILIES if any(spec.name in names for spec in family.specs)]
    by_block, by_whole = ([family for family in families if family.whole is whole] for whole in (False, True))
    measurements = Measurements(names, total)
    every: list[MeasuredAnswer | str] = []
    done = 0
    for block in blocks:
        measurements.add(by_block, block, tools, done)
        done += len(block)
        if by_whole:
            every.extend(block)
        if progress is not None:
            progress(done, total)
    measurements.add(by_whole, every, tools, 0)
    return measurements


class Measurements:
    """Values and reasons, one row per answer and one column per feature; reasons are dictionary-encoded."""

    def __init__(self, names: Sequence[str], rows: int) -> None:
        import numpy as np

        self._columns = {name: column for column, name in enumerate(names)}
        self._values = np.full((rows, len(names)), np.nan)
        self._reasons = np.full((rows, len(names)), -1, dtype=np.int32)
        self._codes: dict[str, int] = {}

    def add(self, families: Iterable[FeatureFamily], block: Block, tools: Tools, start: int) -> None:
        """Measure a block of answers by some families, and store the values in the rows from `start` on."""
        rows = [row for row, answer in enumerate(block, start) if isinstance(answer, MeasuredAnswer)]
        sound = [answer for answer in block if isinstance(answer, MeasuredAnswer)]
        for family in families:
            names = [spec.name for spec in family.specs]
            for row, answer in enumerate(block, start):
                if isinstance(answer, str):
                    self._store(row, names, [answer] * len(names))
            for row, measured in zip(rows, family.measure(sound, tools, self._columns), strict=True):
                self._store(row, names, measured)

    def _store(self, row: int, names: Sequence[str], measured: Sequence[Measured]) -> None:
        """Store the wanted measurements of one answer."""
        for name, value in zip(names, measured, strict=True):
            column = self._columns.get(name)
            if column is None:
                continue
            if isinstance(value, str):
                self._reasons[row, column] = self._codes.setdefault(value, len(self._codes))
            else:
                self._values[row, column] = value

    def table(self, answers: pa.Table) -> pa.Table:
        """Return everything as `schema.Feature` rows; the answers are in row order."""
        import numpy as np
        import pyarrow as pa

        rows = np.repeat(np.arange(len(answers)), len(self._columns))
        names = np.tile(np.arange(len(self._columns)), len(answers))
        values, reasons = self._values.ravel(), self._reasons.ravel()
        return schema.from_columns(
            "features",
            {
                **{key: answers[key].take(pa.array(rows)) for key in ("language", "query_id", "system")},
                "feature": pa.array(list(self._columns), pa.string()).take(pa.array(names)),
                "value": pa.array(values, mask=np.isnan(values)),
                "reason": pa.array(list(self._codes), pa.string()).take(pa.array(reasons, mask=reasons < 0)),
            },
        )
