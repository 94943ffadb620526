"""Hallucination and error rates, uncorrected and corrected by people's labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirage import store
from mirage.people.levels.labels import read_labels
from mirage.people.levels.levels import correct_levels
from mirage.ranking.compare.measures import RATE
from mirage.schema import Parser
from mirage.stages import outcomes

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("labels", "corrected", "corrected_low", "corrected_high", "lam", "width", "status", "reason")
"""Columns that `corrected_rates` adds to those of `outcomes.Rate`, with the meanings of `CorrectedLevel`."""


def corrected_rates(
    arena: store.Arena,
    *,
    parser: Parser = "strict",
    languages: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
) -> tuple[pa.Table, list[str]]:
    """Return the rates of an arena with corrected rates, and notes. The corrected rate covers every answer that is
    present, since people can decide answers that a parser cannot. Labels of queries (whether a passage answers them)
    are assumed correct.

    Args:
        arena: with the tables `outcomes` and `scores`.
        parser: parser whose rates are corrected; the other is a predictor.
        languages: codes; None for all.
        systems: names; None for all.

    Raises:
        TableMissing: if the arena has no outcomes.
        NotEnoughData: if people labelled no answer.
        UnknownName: if there is no such language, system or parser.
    """
    import pyarrow as pa

    table = outcomes.rates(
        arena.read("outcomes"),
        samples=outcomes.sample_outcomes(arena),
        parser=parser,
        languages=languages,
        systems=systems,
    )
    labels = read_labels(arena, RATE, languages=languages, parser=parser)
    levels = correct_levels(labels)
    by_key = {(row.language, row.subset, row.system): row for row in levels.rows}
    keys = zip(*(table[name].to_pylist() for name in ("language", "subset", "system")), strict=True)
    one = len(labels.languages) == 1
    rows = [by_key.get((labels.languages[0] if one and key[0] == "all" else key[0], *key[1:])) for key in keys]
    values = {
        "labels": [0 if row is None else row.labels for row in rows],
        "corrected": [None if row is None else row.corrected for row in rows],
        "corrected_low": [None if row is None else row.low for row in rows],
        "corrected_high": [None if row is None else row.high for row in rows],
        "lam": [None if row is None else row.lam for row in rows],
        "width": [None if row is None else row.width for row in rows],
        "status": ["not checked" if row is None else row.status for row in rows],
        "reason": ["no answer is present" if row is None else row.reason for row in rows],
    }
    # Drop the columns of the label audit, which is a separate correction.
    table = table.drop_columns([name for name in outcomes.AUDIT_COLUMNS if name in table.column_names])
    kinds = {"labels": pa.int64(), "status": pa.string(), "reason": pa.string()}
    for name in COLUMNS:
        table = table.append_column(name, pa.array(values[name], kinds.get(name, pa.float64())))
    return table, [*levels.notes(), "labels of queries (relevant or not) are assumed correct and not corrected here"]
