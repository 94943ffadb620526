"""An arena whose judge never lets one system lose nor another win, and hardly judged a third."""

from __future__ import annotations

from pathlib import Path

from mirage import store
from mirage.sources.simulated import simulate_arena

UNBEATEN, WINLESS, RARE = "sim-01", "sim-02", "sim-03"


def write(path: Path) -> store.Arena:
    """Write the arena: eight systems, 30 queries in each of English and Swahili, judge `gpt-4o`, both orders.

    The rare system meets the others on four queries, of English alone.
    """
    tables = dict(
        simulate_arena(systems=8, queries=30, languages=["en", "sw"], seed=5, judges=("gpt-4o",), orders=2).tables
    )
    judgments = tables["judgments"]
    few = [f"{query}" for query in sorted(set(judgments["query_id"].to_pylist()))[:4]]
    rows = []
    for row in judgments.to_pylist():
        pair = (row["system_a"], row["system_b"])
        if RARE in pair and (row["query_id"] not in few or row["language"] != "en"):
            continue
        if UNBEATEN in pair:
            row["verdict"] = "A" if pair[0] == UNBEATEN else "B"
        elif WINLESS in pair:
            row["verdict"] = "B" if pair[0] == WINLESS else "A"
        rows.append(row)
    tables["judgments"] = type(judgments).from_pylist(rows, schema=judgments.schema)
    store.write(path, tables, made_by="test")
    return store.open_arena(path)
