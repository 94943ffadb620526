"""Outcomes of further answers to the same query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage.stages.outcomes.tables import outcomes

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


def sample_outcomes(arena: Arena) -> pa.Table | None:
    """Return the outcomes of the further answers in table `samples`; None if the arena has none with a label.

    Returns:
        The columns of table `outcomes`, one row for each sample and parser: the key repeats.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    samples = arena.read_optional("samples")
    if samples is None or "queries" not in arena.tables:
        return None
    queries = arena.read("queries")
    queries = queries.filter(pc.is_valid(queries["subset"]))
    keys = ["language", "query_id"]
    samples = samples.join(queries.select(keys), keys, join_type="left semi")
    # One sample at a time, since the outcomes of several would share their keys.
    parts = [
        outcomes(queries, samples.filter(pc.equal(samples["sample"], number)))
        for number in sorted(samples["sample"].unique().to_pylist())
    ]
    return pa.concat_tables(parts) if parts else None
