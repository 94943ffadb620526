"""Rates by prompt template, as in the prompt study of NoMIRACL (Table 3), and the effect of a template.

An answer has one row per query and system, so a system asked with several prompts has several names in an arena, each
with the template's suffix (`mistral-7b@vanilla`, `mistral-7b@role`). Here they are one system again.
"""

import re
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.schema import Parser
from mirage.stages.outcomes.rates import Rate, keep_named, rates
from mirage.stats.intervals import REACH
from mirage.stats.rows import group, read_rows
from mirage.text.languages import place

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
    bases: dict[tuple[str, str], str] = {}
    for stem, members in group((_stem(*pair), pair) for pair in sorted(set(variants))).items():
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
    templated = answers.select([*_QUERY, "system", "template"]).filter(pc.is_valid(answers["template"]))
    table = outcomes.join(templated, [*_QUERY, "system"], join_type="inner")
    if not len(table):
        raise NotEnoughData(
            "no answer has a known prompt template", do="import answers with the column template, or generate"
        )
    names = base_names(read_rows(table, "system", "template"))
    systems = [names[pair] for pair in read_rows(table, "system", "template")]
    table = table.drop_columns(["system"]).append_column("system", pa.array(systems, pa.string()))
    table = keep_named(table.select([*outcomes.column_names, "template"]), "language", languages)
    changes = _changes(table.filter(pc.equal(table["parser"], parser)))
    rows = []
    for template in sorted(table["template"].unique().to_pylist(), key=lambda name: (name != REFERENCE, name)):
        part = rates(table.filter(pc.equal(table["template"], template)).drop_columns(["template"]), parser=parser)
        for row in part.to_pylist():
            change = changes.get((row["language"], row["subset"], row["system"], template), (None,) * 4)
            rows.append(row | {"template": template} | dict(zip(COLUMNS, change, strict=True)))
    rows.sort(key=lambda row: (place(row["language"]), row["subset"], row["system"]))
    added = [("template", pa.string()), *((name, pa.float64()) for name in COLUMNS[:3]), ("pairs", pa.int32())]
    return pa.Table.from_pylist(
        rows, pa.schema([*schema.arrow_schema(Rate), *map(pa.field, *zip(*added, strict=True))])
    )


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
    columns = ("language", "subset", "system", "query_id", "template", "correct")
    decided = {tuple(of): correct for *of, correct in read_rows(table, *columns) if correct is not None}
    counts: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for (language, subset, system, query, template), correct in decided.items():
        before = decided.get((language, subset, system, query, REFERENCE))
        if template != REFERENCE and before is not None:
            cell = counts.setdefault((subset, system, template), {}).setdefault(language, [0, 0, 0])
            cell[int(correct)] += correct != before  # A wrong answer counts in either rate.
            cell[2] += 1
    changes = {}
    for of, by_language in counts.items():
        cells = {code: (first, second, n) for code, (first, second, n) in sorted(by_language.items())}
        for code, members in (("all", [*cells.values()]), *((code, [cell]) for code, cell in cells.items())):
            changes[code, *of] = (*matched_difference(members), sum(n for *_, n in members))
    return changes
