"""The anchor set of an arena: fixed battles that a judge decides again on other days, to measure its drift."""

from __future__ import annotations

from pathlib import Path

from mirage import store
from mirage.battles.anchors import PATTERN, split_anchor
from mirage.llm.engines.shards import Shard
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.stage import BattleSample, of_shard


def anchor_sample(path: Path, judge: str, draw: BattleSample, *, by_features: bool) -> BattleSample:
    """Return the battles of the anchor set that a judge has not decided on a day.

    The set is the battles of earlier days, by any judge. Without any, it is drawn: the same seed and number give the
    same set. Battles whose answers have changed are no longer in it.

    Args:
        path: the arena's folder.
        judge: the judge's own name.
        draw: the day, and how to draw the set: pairs per language, seed, languages.
        by_features: whether the heuristic judge is used, which needs no texts.

    Returns:
        The battles, none if all are decided.

    Raises:
        ArenaError: if the arena lacks queries, passages or answers.
        NotEnoughData: if there is nothing to draw from.
    """
    arena, day = store.open_arena(path), draw.day or ""
    stored: set[OrderedPair] = set()
    done: set[OrderedPair] = set()
    if "judgments" in arena.tables:
        sql = "SELECT * FROM judgments WHERE regexp_matches(judge, ?) ORDER BY language, query_id, system_a, system_b"
        for row in arena.sql(sql, [PATTERN]).to_pylist():
            battle = OrderedPair(row["language"], row["query_id"], row["system_a"], row["system_b"])
            parted = split_anchor(row["judge"])
            if parted is not None and parted[1] < day and (not draw.languages or battle.language in draw.languages):
                stored.add(battle)
            if row["judge"] == draw.owner(judge):
                done.add(battle)
    drawn = None if stored else of_shard(path, draw, Shard(1, 1), by_features=by_features).battles
    battles = stored if drawn is None else drawn
    order = sorted(battles, key=lambda battle: (battle.language, battle.query_id, battle.system_a, battle.system_b))
    return BattleSample(battles=[battle for battle in order if battle not in done], day=draw.day)
