"""Formats of numbers and intervals in tables, charts and text."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from mirage.text.data import load_words

Format = Literal["rating", "anchored", "rate", "points", "probability", "count", "rank", "mean", "difference", "value"]
"""Kind of a number."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The formats of one kind of number: in tables (printf style), in charts (d3) and in text (Python)."""

    table: str
    """printf style, or a preset of `st.dataframe`."""
    d3: str
    text: str
    scale: float = 1
    """Factor applied to a value before `table`."""

    @property
    def rewrites(self) -> bool:
        """Return whether tables need another number than the value: scaled, or 0 instead of a signed 0."""
        return self.scale != 1 or self.table.startswith("%+")

    def table_value(self, value: float | None) -> float | None:
        """Return the number for a table to format; 0 has no minus sign."""
        if value is None:
            return None
        return 0.0 if value < 0 and _is_zero(self.text.format(value)) else value * self.scale

    def write(self, value: float | None) -> str:
        """Format a number, 0 without a sign; None is a dash."""
        if value is None:
            return "–"
        text = self.text.format(value)
        return text.lstrip("+-") if _is_zero(text) else text.replace("-", "−")


def _is_zero(text: str) -> bool:
    """Return whether a number as text has no digit other than 0."""
    return re.search("[1-9]", text) is None


FORMATS: dict[Format, NumberFormat] = {kind: NumberFormat(**load_words("numbers")[kind]) for kind in get_args(Format)}
"""One format for each kind of number, everywhere."""


def three_digits(value: float) -> str:
    """Format a number with three significant digits, from 100 on as a whole one: `0.0157`, `46.9`, `8,351`."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def span(low: float | None, high: float | None, kind: Format = "rating") -> str:
    """Format an interval; an end that is None is unbounded."""
    write = FORMATS[kind].write
    if low is None and high is None:
        return "no bound on either side"
    if high is None:
        return f"from {write(low)}, no upper bound"
    if low is None:
        return f"up to {write(high)}, no lower bound"
    return f"{write(low)} to {write(high)}"
