"""The section on corrected levels: on every page that shows levels, with labels and without."""

from pathlib import Path

import numpy as np
import pytest
import small_arena
from arena_writer import add_rows, read_rows

from mirage import schema
from pages import headings, html, open_page, page_text

HEADING = "Corrected by people's labels"


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    """Two arenas, one with people's labels on most answers."""
    for name in ("bare", "labelled"):
        small_arena.write(module_path, name, tables=("outcomes", "judgments"))
    rng, rows = np.random.default_rng(4), []
    for row in read_rows(module_path / "labelled", "outcomes"):
        if row["parser"] == "strict" and row["outcome"] != "missing":
            answered = float((row["outcome"] == "answered") == (rng.random() < 0.95))
            key = row["language"], row["query_id"], row["system"]
            rows.append(schema.Score(*key, "answered", "amina", True, answered, 0.0, 1.0, None))
    add_rows(module_path / "labelled", scores=rows)
    return module_path


def test_a_page_shows_the_corrected_levels_where_there_are_labels(arenas: Path) -> None:
    shown = open_page("hallucination", arena="labelled")
    assert HEADING in headings(shown)
    assert "Labels" in html(shown)
    assert "drawn at random" in page_text(shown)
    bare = open_page("hallucination", arena="bare")
    assert HEADING not in headings(bare)
