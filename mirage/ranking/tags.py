"""Rankings by the values of a query tag.

split = rank_by_tag(outcomes, tags, "domain", Judge.relevance())  # a ranking of the queries with each value
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mirage import schema
from mirage.battles.judge import Judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.bootstrap import RankingReport, rank_battles
from mirage.ranking.settings import RankSettings

if TYPE_CHECKING:
    import pyarrow as pa

_KEYS = ["language", "query_id"]


@dataclass(frozen=True)
class TagSplit:
    """Rankings of the queries by the values of a tag; a query with several values counts for each."""

    rankings: Mapping[str, RankingReport]
    """By value: the ranking over the queries that have it."""
    lacking: Mapping[str, str]
    """Values whose queries cannot be ranked, with the reason."""


def rank_by_tag(
    table: pa.Table, tags: pa.Table, tag: str, judge: Judge, settings: RankSettings = RankSettings()
) -> TagSplit:
    """Rank the systems on the queries of each value of a tag.

    Args:
        table: as `ranking.read_decisions` returns it.
        tags: table `tags`.
        tag: name of the tag.
        judge: the judge, as for `arena.rank_arena`.
        settings: as for `arena.rank_arena`.

    Raises:
        UnknownName: if no query has the tag.
        NotEnoughData: if no value's queries can be ranked.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if tag not in (known := sorted(set(tags["tag"].to_pylist()))):
        raise UnknownName("tag", tag, known)
    name = "outcomes" if "outcome" in table.column_names else "judgments"
    if settings.languages is not None:
        table = table.filter(pc.is_in(table["language"], value_set=pa.array(settings.languages, pa.string())))
        settings = replace(settings, languages=None)  # a value may have no query in some of them
    tags = tags.filter(pc.equal(tags["tag"], tag)).join(table.select(_KEYS), _KEYS, join_type="left semi")
    rankings: dict[str, RankingReport] = {}
    lacking: dict[str, str] = {}
    for value in sorted(set(tags["value"].to_pylist())):
        having = tags.filter(pc.equal(tags["value"], value)).select(_KEYS)
        part = schema.sort(name, table.join(having, _KEYS, join_type="left semi"))
        try:
            rankings[value] = rank_battles(judge.battles(part), settings)
        except (NotEnoughData, UnknownName, BadInput) as error:
            lacking[value] = error.what
    if not rankings:
        raise NotEnoughData(
            f"the queries of no value of {tag} can be ranked ({'; '.join(lacking.values())})",
            do="rank all queries together, or tag queries that have battles",
        )
    return TagSplit(rankings, lacking)
