"""Further tables of the Hallucination page: confusion matrices, rates by prompt template, published tables."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import schema
from mirage.explorer.hallucination.data import rate_table
from mirage.io.sources.published import BASELINES
from mirage.papers import printed
from mirage.schema import Parser
from mirage.stages import outcomes
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

SOURCE = "NoMIRACL"


@lru_cache(maxsize=16)
def confusions(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table:
    """Return confusion matrices by language and over these languages: rows of `outcomes.Confusion`."""
    return outcomes.confusion(rate_table(arena, parser, languages))


@lru_cache(maxsize=16)
def by_template(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> pa.Table | None:
    """Return the rates of the systems asked with several prompts, over these languages.

    Returns:
        One row a system and template: `system, template`, and of either metric (`hallucination_`, `error_`) `rate, low,
        high, change, change_low, change_high, n` as in `outcomes.template_rates`; changes are in percentage points,
        `n` is decided answers. None where no system was asked with several.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if "answers" not in arena.tables:
        return None
    answers = arena.read("answers", columns=["language", "query_id", "system", "template"])
    answers = answers.filter(pc.is_valid(answers["template"]))
    shown = [code for code in languages if code in set(pc.unique(answers["language"]).to_pylist())]
    if len(pc.unique(answers["template"])) < 2 or not shown:
        return None
    table = outcomes.template_rates(arena.read("outcomes"), answers, parser=parser, languages=shown)
    metrics = {"non_relevant": "hallucination", "relevant": "error"}
    cells: dict[tuple[str, str], dict[str, object]] = {}
    for row in table.to_pylist():
        if row["language"] == "all":
            cell = cells.setdefault(
                (row["system"], row["template"]), {"system": row["system"], "template": row["template"]}
            )
            metric = metrics[row["subset"]]
            changes = (row[name] for name in ("change", "change_low", "change_high"))
            change, low, high = (None if share is None else 100 * share for share in changes)
            cell |= {
                f"{metric}_rate": row["rate"],
                f"{metric}_low": row["rate_low"],
                f"{metric}_high": row["rate_high"],
                f"{metric}_change": change,
                f"{metric}_change_low": low,
                f"{metric}_change_high": high,
                f"{metric}_n": row["answered"] + row["abstained"],
            }
    systems = [system for system, _ in cells]
    columns = [
        f"{metric}_{name}"
        for metric in metrics.values()
        for name in ("rate", "low", "high", "change", "change_low", "change_high", "n")
    ]
    rows = [dict.fromkeys(columns) | cell for (system, _), cell in cells.items() if systems.count(system) > 1]
    return pa.Table.from_pylist(rows) if rows else None


@lru_cache(maxsize=8)
def paper_tables(figures: Arena) -> tuple[str, ...]:
    """Return NoMIRACL's tables among the printed figures, except the rates, which have their own page."""
    rows = figures.read("published", columns=("source", "item")).to_pylist()
    return tuple(sorted({row["item"] for row in rows if row["source"] == SOURCE} - {BASELINES}))


@lru_cache(maxsize=8)
def table_languages(figures: Arena, item: str) -> tuple[str, ...]:
    """Return the languages of a table; `all` is first if the paper prints a mean or total."""
    rows = figures.read("published", columns=("source", "item", "language")).to_pylist()
    codes = in_order({row["language"] for row in rows if (row["source"], row["item"]) == (SOURCE, item)})
    return tuple(sorted(codes, key=lambda code: code != "all"))


@lru_cache(maxsize=32)
def printed_beside_ours(figures: Arena, arena: Arena | None, item: str, language: str) -> pa.Table:
    """Return the figures of one table in one language with the arena's own: rows of `reproduce.printed.PrintedFigure`,
    those without a figure of the arena last.
    """
    import pyarrow as pa

    table_figures = _figures(figures, arena, item)
    rows = [asdict(figure) for figure in table_figures if figure.language == language]
    for row in rows:
        row["metric"] = row["metric"].removeprefix("share of replies: ")
    rows.sort(key=lambda row: row["ours"] is None)
    names = ("printed", "ours", "difference", "ours_low", "ours_high")
    kinds = dict.fromkeys(names, pa.float64()) | {"n": pa.int64()}
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in rows[0]]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


@lru_cache(maxsize=8)
def _figures(figures: Arena, arena: Arena | None, item: str) -> list[printed.PrintedFigure]:
    return printed.printed_figures(figures.read("published"), arena, source=SOURCE, item=item)


def meaning(column: str) -> str:
    """Return the meaning of a column of a confusion matrix."""
    return next(field.meaning for field in schema.columns(outcomes.Confusion) if field.name == column)
