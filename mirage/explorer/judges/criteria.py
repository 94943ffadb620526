"""Agreement of a judge's criteria, for the Judges page."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.people.exam import CriteriaAgreement, criteria_agreement

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

_DRAWS = 200


@lru_cache(maxsize=16)
def criteria_rows(arena: Arena) -> pa.Table:
    """Return the `CriteriaAgreement` rows of an arena with judgments, none if no judge has two criteria."""
    try:
        return schema.from_rows(CriteriaAgreement, criteria_agreement(arena, draws=_DRAWS))
    except NotEnoughData:
        return schema.from_rows(CriteriaAgreement, [])
