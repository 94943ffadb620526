"""The papers' figures: every printed cell is a row with its source, and names meet the names of the outputs."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from golden.cases import read_table
from published_figures import FIGURES, read_published

from mirage import open_arena, schema
from mirage.text.languages import LANGUAGES


@pytest.fixture(scope="module")
def figures() -> pa.Table:
    """The bundled figures."""
    return open_arena("published").read("published")


def row_where(figures: pa.Table, **conditions: str) -> dict[str, object]:
    rows = figures
    for column, value in conditions.items():
        rows = rows.filter(pc.equal(rows[column], value))
    (row,) = rows.to_pylist()
    return dict(row)


@pytest.mark.parametrize(*read_table("printed_cells"))
def test_a_printed_cell_is_a_row(figures: pa.Table, cell: tuple[str, ...]) -> None:
    """Cells read off the papers' pages: item, metric, setting, system, language, value, text, unit."""
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
