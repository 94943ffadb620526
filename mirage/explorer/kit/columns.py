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
"""Pixels by kind of column."""


@dataclass(frozen=True, slots=True)
class Col:
    """One column of a table on a page."""

    name: str
    """Column of the rows; for `interval` and `span` the column its ends belong to."""
    label: str
    """Column head."""
    kind: ColKind
    """`system`: a system's name with its mark, which is pinned; `text`; `language`: a code,
    shown as the language's name; a kind of number (`palette.FORMATS`);
    `interval`: value, low and high drawn on one scale; `span`: two whole numbers as `low–high`."""
    help: str = ""
    """What it means; the column's own meaning in the schema where empty."""
    of: str = ""
    """Table of the schema that defines the column."""
    low: str = ""
    """Column of the lower end, for `interval` and `span`."""
    high: str = ""
    """Column of the upper end."""
    width: int | None = None
    """Pixels; by kind unless given."""
    zero: float = 0.0
    """Where the broken line stands, for `interval`."""
    ends: tuple[float, float] | None = None
    """Ends of the scale, for `interval`; the least and the most of what is shown unless given."""
    endless: bool = False
    """Whether an end that is null is one without a bound, for `interval`; else the row has no interval."""
    written: Kind | None = None
    """The kind of number as which the value is written beside its band, for `interval`; not written where absent."""
    right: bool = False
    """Whether a `text` stands at the right, as numbers do."""

    @property
    def pixels(self) -> int | None:
        """Its width; None where its kind has none."""
        return self.width or _WIDTHS.get(self.kind)

    @property
    def meaning(self) -> str:
        """The text shown on the column head."""
        if self.help or not self.of:
            return self.help
        return next((c.meaning for c in schema.columns(self.of) if c.name == self.name), "")
