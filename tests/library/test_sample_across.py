"""The bundled arena across languages: built from its source, and errors in the source named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT

import mirage
from mirage import store
from mirage.errors import BadInput
from mirage.io.sources.sample_across import FILE, read_parallel
from mirage.pipeline.sample_across import TRANSLATED, WORDS, write_sample_across
from mirage.stages.across.preference import LEVEL, OWN

ACROSS = ROOT / "data" / "sample-across"
SAMPLE = ROOT / "data" / "sample" / "source"


def test_the_bundled_arena_is_what_its_source_gives(tmp_path: Path) -> None:
    bundled = store.open_arena(ACROSS)
    store.check(bundled)
    built = write_sample_across(ACROSS / "source", SAMPLE, tmp_path / "arena")
    assert set(built.tables) == set(bundled.tables)
    exact = set(built.tables) - {"features", "judgments"}
    assert all(built.read(name).equals(bundled.read(name)) for name in exact)
    assert built.rows("features") == bundled.rows("features")


def test_one_retriever_prefers_the_language_of_the_query() -> None:
    rows = mirage.language_preference(store.open_arena(ACROSS))
    own = {row["name"]: row for row in rows if row["passage_language"] == OWN}
    assert own[WORDS]["p"] < LEVEL < own[TRANSLATED]["p"]
    assert own[WORDS]["units"] == 12


@pytest.mark.parametrize("field", ["of", "questions", "passages", "answers"])
def test_a_missing_field_is_named_with_its_line(tmp_path: Path, field: str) -> None:
    lines = (ACROSS / "source" / FILE).read_text(encoding="utf-8").splitlines()
    value = json.loads(lines[1])
    del value[field]
    lines[1] = json.dumps(value)
    (tmp_path / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=f"{FILE}:2"):
        read_parallel(tmp_path)


def test_a_missing_language_is_named_with_its_line(tmp_path: Path) -> None:
    lines = (ACROSS / "source" / FILE).read_text(encoding="utf-8").splitlines()
    value = json.loads(lines[2])
    del value["answers"]["fr"]
    lines[2] = json.dumps(value)
    (tmp_path / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="answers"):
        read_parallel(tmp_path)
