"""Layout of matrices of square marks, with the names of the columns above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mirage.publish.charts.palette import ROW, SPACE, Mode, axis, layout, rows_axis

SIDE: Final = 2 * ROW
"""Pixels of a row and of a column."""
MARK: Final = {"size": SIDE - 3, "text_size": 13}
"""Sizes of a mark and of its text, for `primitives.cells`."""


def shades(values: Sequence[float], *, symmetric: bool = False) -> list[float]:
    """Return the shade of each value, from 0 for the largest to 1 for the smallest; the middle if all are equal.

    Args:
        values: the values.
        symmetric: make 0 the middle.
    """
    most = max(map(abs, values)) if symmetric else max(values)
    least = -most if symmetric else min(values)
    return [(most - value) / (most - least) if most > least else 0.5 for value in values]


def square_layout(
    columns: Sequence[str], rows: Sequence[str], *, left: int, right: int, head: int, mode: Mode
) -> dict[str, Any]:
    """Return the layout of a matrix.

    Args:
        columns: labels of the columns, slanted above them.
        rows: labels of the rows.
        left: pixels for the labels of the rows.
        right: pixels for the end of the last column's label.
        head: pixels for the labels of the columns.
        mode: light or dark.
    """
    return layout(
        mode,
        height=head + SIDE * len(rows) + SPACE,
        width=left + SIDE * len(columns) + right,
        margin={"l": SPACE, "r": right, "t": head, "b": SPACE},
        xaxis=axis(
            mode,
            side="top",
            tickvals=list(range(len(columns))),
            ticktext=list(columns),
            tickangle=-35,
            range=[-0.6, len(columns) - 0.4],
            showgrid=False,
            zeroline=False,
        ),
        yaxis=rows_axis(rows, mode, showgrid=False),
    )
