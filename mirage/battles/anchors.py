"""Names of the judges whose verdicts are on the anchor set: fixed battles, judged again on other days.

Their verdicts measure the drift of a judge (`mirage.stages.judge.drift`) and rank nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirage.store import Arena

PATTERN = r"^anchors \d{4}-\d{2}-\d{2}: "
"""Beginning of such a name, as a regular expression."""
_NAME = re.compile(r"anchors (\d{4}-\d{2}-\d{2}): (.+)", re.DOTALL)


def anchor_judge(judge: str, day: str) -> str:
    """Return the name under which a judge's verdicts on the anchor set of a day are stored."""
    return f"anchors {day}: {judge}"


def anchored_judges(arena: Arena) -> tuple[str, ...]:
    """Return the judges with verdicts on the anchor set, by name; none without judgments."""
    if "judgments" not in arena.tables:
        return ()
    names = arena.sql("SELECT DISTINCT judge FROM judgments WHERE regexp_matches(judge, ?)", [PATTERN])["judge"]
    return tuple(sorted({parts[0] for name in names.to_pylist() if (parts := split_anchor(name))}))


def split_anchor(name: str) -> tuple[str, str] | None:
    """Return the judge and the day of verdicts on the anchor set; None for other verdicts."""
    match = _NAME.fullmatch(name)
    return (match[2], match[1]) if match else None
