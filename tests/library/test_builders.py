"""The builders of the bundled arenas: each gives the tables that come with the program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import bundle
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sample
import sample_across
from conftest import DATA, ROOT

from mirage import schema
from mirage.store import arena as arenas
from mirage.store.arena import open_arena

FITTED = {"predictions", "importances"}
"""Tables of regressors, of which linear regression alone is fitted again here: `check --recompute` fits all."""


def check_equal(name: str, built: Mapping[str, pa.Table]) -> None:
    """Expect the tables of a bundled arena, but for the last digits of numbers, which depend on the machine."""
    arena = open_arena(ROOT / "data" / name)
    arenas.check(arena)
    assert set(arena.tables) - {"importances"} == set(built)
    for table in set(built):
        ours, theirs = (schema.sort(table, rows) for rows in (arena.read(table), built[table]))
        if table == "predictions":
            columns = ["language", "judge", "skill", "system", "rating", "judged", "outside"]
            ours, theirs = (
                rows.filter(pc.equal(rows["regressor"], "linear")).select(columns) for rows in (ours, theirs)
            )
        assert ours.num_rows == theirs.num_rows, f"{name}, {table}: build it again"
        for column in ours.column_names:
            told = f"{name}, {table}.{column}: build it again"
            if pa.types.is_floating(ours.schema.field(column).type):
                numbers = (rows[column].to_numpy() for rows in (ours, theirs))
                np.testing.assert_allclose(*numbers, rtol=1e-6, atol=1e-9, err_msg=told)
            else:
                assert ours[column].equals(theirs[column]), told


def test_the_sample() -> None:
    check_equal("sample", sample.build_sample(ROOT / "data" / "sample" / "source", regressors=["linear"], weigh=False))


def test_the_sample_across_languages() -> None:
    folder = ROOT / "data"
    check_equal(
        "sample-across",
        sample_across.build_sample_across(folder / "sample-across" / "source", folder / "sample" / "source"),
    )


@pytest.mark.skipif(not (DATA / "judged" / bundle.FILE).exists(), reason="the judged battles are not at hand")
def test_people_are_the_same_bytes(tmp_path: Path) -> None:
    bundled = open_arena(ROOT / "data" / "people")
    assert bundle.bundle_people(DATA / "judged", tmp_path).manifest == bundled.manifest


def test_the_numbers_of_the_papers(shared: Path, tmp_path: Path) -> None:
    for arena in bundle.bundle(shared, tmp_path, regressors=["linear"], weigh=False):
        check_equal(arena.name, {name: arena.read(name) for name in arena.tables})
        bundled = open_arena(ROOT / "data" / arena.name)
        ours, theirs = (
            {table: origin for table, origin in one.manifest["made"].items() if table not in FITTED}
            for one in (bundled, arena)
        )
        assert ours == theirs
        assert all(bundled.manifest[key] == arena.manifest[key] for key in ("title", "label", "about"))
