"""The papers' figures: every printed cell is a row with its source, and names meet the names of the outputs."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from published_figures import FIGURES, read_published

from mirage import schema
from mirage.store import arena
from mirage.store.arena import open_arena
from mirage.text.languages import LANGUAGES


@pytest.fixture(scope="module")
def figures() -> pa.Table:
    """The bundled figures."""
    return open_arena(arena.bundled_arenas()["published"]).read("published")


def row_where(figures: pa.Table, **conditions: str) -> dict[str, object]:
    rows = figures
    for column, value in conditions.items():
        rows = rows.filter(pc.equal(rows[column], value))
    (row,) = rows.to_pylist()
    return dict(row)


# Read off the papers' pages: item, metric, setting, system, language, value, text, unit.
PRINTED = [
    ("NoMIRACL", "Baselines", "hallucination rate", "", "GPT-4", "ar", 38.4, None, "%"),
    ("NoMIRACL", "Baselines", "error rate", "", "LLAMA-2-13B", "yo", 37.8, None, "%"),
    ("NoMIRACL", "Baselines", "hallucination rate", "", "GPT-4", "all", 35.5, None, "%"),
    ("NoMIRACL", "Table 1", "questions", "non_relevant, dev", "", "zh", 1085, None, "count"),
    ("NoMIRACL", "Table 1", "questions", "relevant, test", "", "all", 17737, None, "count"),
    ("NoMIRACL", "Table 2", "share of replies: Yes exactly", "relevant", "GPT-4", "en", 94.8, None, "%"),
    ("NoMIRACL", "Table 3", "error rate", "prompt +Repeat", "Mistral-7B v0.3", "ja", 1.6, None, "%"),
    ("NoMIRACL", "Table 7", "hallucination rate", "", "Llama-3 8B + SFT", "te", 0.0, None, "%"),
    ("MIRAGE-Bench", "Figure 4", "rank", "judge: GPT-4o, pairwise", "GPT-4o", "ar", 2, None, "rank"),
    ("MIRAGE-Bench", "Table 1", "n_queries", "eval", "", "te", 150, None, "count"),
    ("MIRAGE-Bench", "Table 1", "n_queries", "train", "", "yo", None, "-", "count"),
    ("MIRAGE-Bench", "Table 1", "avg_query_tokens", "eval", "", "th", 19.6, None, ""),
    ("MIRAGE-Bench", "Table 3", "R2", "holdout, Linear Regression", "", "ko", -26.53, None, "R2"),
    ("MIRAGE-Bench", "Table 5", "R2 over bootstraps: ci95_minus", "", "", "yo", -0.22, None, "R2"),
    ("MIRAGE-Bench", "Table 6", "Attention", "fine-tuning", "", "", None, "FlashAttention-2", ""),
    ("MIRAGE-Bench", "Table 6", "Learning rate", "fine-tuning", "", "", 0.0002, "2e-4", ""),
    ("MIRAGE-Bench", "Table 6", "Epochs", "fine-tuning", "", "", 1, None, ""),
]


@pytest.mark.parametrize("cell", PRINTED, ids=lambda cell: " ".join(cell[:6]))
def test_a_printed_cell_is_a_row(figures: pa.Table, cell: tuple[str, ...]) -> None:
    source, item, metric, setting, system, language, value, text, unit = cell
    row = row_where(figures, source=source, item=item, metric=metric, setting=setting, system=system, language=language)
    assert (row["value"], row["text"], row["unit"]) == (value, text, unit)
    assert "arXiv" in str(row["reference"])


def test_every_column_of_figure_4_is_a_permutation_of_the_ranks(figures: pa.Table) -> None:
    ranks = figures.filter(pc.equal(figures["item"], "Figure 4"))
    for setting in pc.unique(ranks["setting"]).to_pylist():
        for code in LANGUAGES:
            column = ranks.filter(pc.and_(pc.equal(ranks["setting"], setting), pc.equal(ranks["language"], code)))
            assert sorted(column["value"].to_pylist()) == list(range(1, 20))


def test_every_cell_of_every_file_is_a_row_and_no_other(shared: Path, figures: pa.Table) -> None:
    cells = 0
    for figure in FIGURES:
        with (shared / "published" / f"{figure.file}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        key_columns = {
            "metric",
            "model",
            "subset",
            "split",
            "pattern",
            "setting",
            "panel",
            "stat",
            "lang",
            "part",
            "features",
        }
        cells += sum(name not in key_columns | {"n_features", "hyperparameter"} for name in rows[0]) * (len(rows) - 1)
    assert len(list((shared / "published").glob("*.csv"))) == len(FIGURES)
    table = schema.sort("published", read_published(shared / "published"))
    assert len(table) == cells
    assert table.equals(schema.sort("published", figures)), "the bundled table is what `make data` gives"
