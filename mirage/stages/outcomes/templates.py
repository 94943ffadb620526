"""Rates by prompt template, as in the prompt study of NoMIRACL (Table 3), and the effect of a template.

An answer has one row per query and system, so a system asked with several prompts has several names in an arena, each
with the template's suffix (`mistral-7b@vanilla`, `mistral-7b@role`). Here they are one system again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mirage.errors import NotEnoughData
from mirage.schema import Parser
from mirage.stages.outcomes.rates import keep_named, rates
from mirage.stats.intervals import REACH
from mirage.text.languages import place

if TYPE_CHECKING:
    import pyarrow as pa

REFERENCE = "vanilla"
"""Reference template of comparisons: the paper's Original."""
COLUMNS = ("change", "change_low", "change_high", "pairs")
"""Columns that `template_rates` adds to those of `Rate`, after `template`."""
_QUERY = ("language", "query_id")


def base_names(variants: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the system behind each name that was asked with one template.

    If a name ends in its own template's name, set off by a mark (`-`, `_`, `@`, `:`, `/`, `+`, `.`, a space or
    brackets), the system is the rest, provided that another name with another template has the same rest. Any other
    name stays.

    Args:
        variants: pairs of a system's name and a template's.

    Returns:
        The name of the system by pair.
    """
    pairs = sorted(set(variants))
    stems = {pair: _stem(*pair) for pair in pairs}
    groups: dict[str, list[tuple[str, str]]] = {}
    for pair, stem in stems.items():
        groups.setdefault(stem, []).append(pair)
    bases: dict[tuple[str, str], str] = {}
    for stem, members in groups.items():
        templates = [template for _, template in members]
        # Two names with one template are two systems, and a single name has no variants to merge.
        joined = len(members) > 1 and len(set(templates)) == len(templates)
        bases |= {pair: stem if joined else pair[0] for pair in members}
    return bases


def template_rates(
    outcomes: pa.Table,
    answers: pa.Table,
    *,
    parser: Parser = "strict",
    languages: Iterable[str] | None = None,
) -> pa.Table:
    """Compute the rates of every system by prompt template, language and subset, and the row `all`.

    Args:
        outcomes: an `outcomes` table.
        answers: an `answers` table with the template of each answer; rows without one are skipped.
        parser: parser whose outcomes count.
        languages: codes; None for all in the table.

    Returns:
        The columns of `Rate`, with `system` by `base_names`; `template`; and the change from template `REFERENCE` on
        the queries decided under both: `change` (rate minus that of the reference, a share in [-1, 1]; in the row `all`
        the mean over languages), `change_low` and `change_high` (95%: Agresti and Min 2005, matched pairs with half a
        query added to each of the four cells), and `pairs` (those queries). Null if the system was not asked with the
        reference template, and in its own rows.

    Raises:
        UnknownName: if the tables have no such parser or language.
        NotEnoughData: if no answer has a known template.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    templated = answers.select([*_QUERY, "system", "template"]).filter(pc.is_valid(answers["template"]))
    table = outcomes.join(templated, [*_QUERY, "system"], join_type="inner")
    if not len(table):
        raise NotEnoughData(
            "no answer has a known prompt template", do="import answers with the column template, or generate"
        )
    variants = table.select(["system", "template"]).group_by(["system", "template"]).aggregate([]).to_pylist()
    bases = base_names((row["system"], row["template"]) for row in variants)
    pairs = zip(table["system"].to_pylist(), table["template"].to_pylist(), strict=True)
    column = table.schema.get_field_index("system")
    table = table.set_column(column, "system", pa.array([bases[pair] for pair in pairs], pa.string()))
    table = table.select([*outcomes.column_names, "template"])
    table = keep_named(table, "language", languages)
    parts = []
    for template in sorted(pc.unique(table["template"]).to_pylist(), key=lambda name: (name != REFERENCE, name)):
        part = rates(table.filter(pc.equal(table["template"], template)).drop_columns(["template"]), parser=parser)
        parts.append(part.append_column("template", pa.array([template] * len(part), pa.string())))
    result = pa.concat_tables(parts)
    changes = _changes(table.filter(pc.equal(table["parser"], parser)))
    keys = zip(*(result[name].to_pylist() for name in ("language", "subset", "system", "template")), strict=True)
    change_rows = [changes.get(key, (None, None, None, None)) for key in keys]
    for name, values in zip(COLUMNS, zip(*change_rows, strict=True), strict=True):
        kind = pa.int32() if name == "pairs" else pa.float64()
        result = result.append_column(name, pa.array(values, kind))
    rows = result.select(["language", "subset", "system"]).to_pylist()
    places = sorted(
        range(len(rows)),
        key=lambda i: (place(rows[i]["language"]), rows[i]["subset"], rows[i]["system"], i),
    )
    return result.take(places)


def matched_difference(cells: Sequence[tuple[int, int, int]]) -> tuple[float, float, float]:
    """Return the mean over languages of the difference of two proportions on the same queries, with its 95% interval.

    Args:
        cells: per language: queries with a yes under the first only, under the second only, and all of them.

    Returns:
        First minus second, and the ends of the interval, each in [-1, 1].

    Source: Agresti and Min, Statistics in Medicine 24 (2005), 729-740: Wald's interval of matched pairs after half a
    query is added to each of the four cells; here the mean of its centres and of its variances.
    """
    k = len(cells)
    mean = sum((first - second) / n for first, second, n in cells) / k
    centre = sum((first - second) / (n + 2) for first, second, n in cells) / k
    variance = 0.0
    for first, second, n in cells:
        b, c, total = first + 0.5, second + 0.5, n + 2
        variance += ((b + c) - (b - c) ** 2 / total) / total**2 / k**2
    half = REACH * variance**0.5
    return mean, max(-1.0, min(mean, centre - half)), min(1.0, max(mean, centre + half))


def _stem(system: str, template: str) -> str:
    """Return the name without its template's suffix; the whole name if there is none."""
    name = re.escape(template)
    match = re.fullmatch(rf"(.*[^\s@:/+_.-])(?:[\s@:/+_.-]+{name}|\s*[(\[]{name}[)\]])", system, re.IGNORECASE)
    return match[1].rstrip() if match else system


def _changes(table: pa.Table) -> dict[tuple[str, str, str, str], tuple[float, float, float, int]]:
    """Return differences from the reference template by language, subset, system and template."""
    import pyarrow.compute as pc

    decided = table.filter(pc.is_valid(table["correct"]))
    columns = ("language", "subset", "system", "query_id", "correct", "template")
    keys = ["language", "subset", "system", "query_id"]
    first = decided.filter(pc.not_equal(decided["template"], REFERENCE)).select(columns)
    second = decided.filter(pc.equal(decided["template"], REFERENCE)).select([*keys, "correct"])
    matched = first.join(second.rename_columns([*keys, "before"]), keys, join_type="inner")
    grouped = matched.group_by(["language", "subset", "system", "template", "correct", "before"]).aggregate(
        [([], "count_all")]
    )
    counts: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for row in grouped.to_pylist():
        cell = counts.setdefault((row["subset"], row["system"], row["template"]), {}).setdefault(
            row["language"], [0, 0, 0]
        )
        n = row["count_all"]
        cell[2] += n
        if row["correct"] != row["before"]:
            cell[1 if row["correct"] else 0] += n  # A wrong answer counts in either rate.
    changes = {}
    for (subset, system, template), by_language in counts.items():
        cells = {code: (first, second, n) for code, (first, second, n) in by_language.items()}
        for code, counted in cells.items():
            changes[code, subset, system, template] = (*matched_difference([counted]), counted[2])
        total = sum(n for _, _, n in cells.values())
        changes["all", subset, system, template] = (*matched_difference(list(cells.values())), total)
    return changes
