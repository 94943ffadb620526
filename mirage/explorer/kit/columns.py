"""Columns of the tables on pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mirage import schema
from mirage.publish.charts.palette import Kind

ColKind = Literal["system", "text", "language", "interval", "span"] | Kind

_WIDTHS: dict[str, int] = {
    "system": 172,
    "language": 110,
    "interval": 112,
    "span": 72,
    "rating": 62,
    "rate": 78,
    "points": 70,
    "mean": 74,
    "probability": 74,
    "count": 66,
    "rank": 50,
    "difference": 82,
    "value": 74,
}
"""Default width in pixels by kind of column."""


@dataclass(frozen=True, slots=True)
class Col:
    """One column of a table on a page."""

    name: str
    """Column of the rows; for `interval` and `span` the column its ends belong to."""
    label: str
    """Column header."""
    kind: ColKind
    """`system`: a system's name with its mark, which is pinned; `text`; `language`: a code,
    shown as the language's name; a kind of number (`palette.FORMATS`);
    `interval`: value, low and high drawn on one scale; `span`: two whole numbers as `low–high`."""
    help: str = ""
    """Meaning; empty for the column's meaning in the schema."""
    of: str = ""
    """Table of the schema that defines the column."""
    low: str = ""
    """Column of the lower end, for `interval` and `span`."""
    high: str = ""
    """Column of the upper end."""
    width: int | None = None
    """Pixels; by kind unless given."""
    zero: float = 0.0
    """Position of the dashed line, for `interval`."""
    ends: tuple[float, float] | None = None
    """Ends of the scale, for `interval`; by default the range of the data."""
    endless: bool = False
    """Whether a null end means unbounded, for `interval`; otherwise the row has no interval."""
    written: Kind | None = None
    """Number format of the value written next to its band, for `interval`; None to omit it."""
    right: bool = False
    """Whether to right-align a `text`, like numbers."""

    @property
    def pixels(self) -> int | None:
        """Return its width; None if its kind has none."""
        return self.width or _WIDTHS.get(self.kind)

    @property
    def meaning(self) -> str:
        """The text shown on the column head."""
        if self.help or not self.of:
            return self.help
        return next((c.meaning for c in schema.columns(self.of) if c.name == self.name), "")
