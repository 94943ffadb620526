"""The builders of the bundled arenas: each gives the tables that come with the program."""

import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import bundle
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sample
import sample_across
from conftest import ROOT
from derivation import derive

from mirage import schema
from mirage.io.imports.public import prints
from mirage.io.sources.nomiracl.outputs import output_files
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena

DATA = ROOT / "data"
SOURCE = DATA / "sample" / "source"
LINEAR: dict[str, Any] = {"regressors": ["linear"], "weigh": False}
"""How ratings are predicted again: `check --recompute` fits all regressors."""


def some_files(files: Iterable[Path], folder: Path, into: Path, codes: Collection[str]) -> Path:
    """Copy the files of some languages: but for the joint rows of ratings, a language is computed by itself."""
    for file in files:
        if file.name.partition(".")[0] in codes:
            target = into / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    return into


def check_equal(name: str, built: Mapping[str, pa.Table], codes: Collection[str] = ()) -> Arena:
    """Expect the tables of a bundled arena, in some languages if they are given."""
    arena = open_arena(DATA / name)
    arenas.check(arena)
    assert set(arena.tables) - {"importances", "ratings"} == set(built) - {"ratings"}
    for table, rows in built.items():
        ours, theirs = arena.read(table), rows
        if codes and "language" in ours.column_names:
            ours, theirs = (each.filter(pc.is_in(each["language"], pa.array(codes))) for each in (ours, theirs))
        if table == "predictions":
            columns = ["language", "judge", "skill", "system", "rating", "judged", "outside", "regressor"]
            ours, theirs = (
                each.filter(pc.equal(each["regressor"], "linear")).select(columns) for each in (ours, theirs)
            )
        check_rows(name, table, ours, theirs)
    return arena


def check_rows(name: str, table: str, ours: pa.Table, theirs: pa.Table) -> None:
    """Expect the same rows, but for the last digits of numbers, which depend on the machine."""
    ours, theirs = schema.sort(table, ours), schema.sort(table, theirs)
    assert ours.num_rows == theirs.num_rows > 0, f"{name}, {table}: build it again"
    for column in ours.column_names:
        told = f"{name}, {table}.{column}: build it again"
        if pa.types.is_floating(ours.schema.field(column).type):
            numbers = (rows[column].to_numpy() for rows in (ours, theirs))
            np.testing.assert_allclose(*numbers, rtol=1e-6, atol=1e-9, err_msg=told)
        else:
            assert ours[column].equals(theirs[column]), told


def test_the_sample(tmp_path: Path) -> None:
    files, codes = sample.source_files(SOURCE), ("ja", "sw", "te")
    tables = sample.build_sample(some_files(files, SOURCE, tmp_path, codes), **LINEAR)
    arena = check_equal("sample", tables, codes)
    assert {str(made["from"]) for made in arena.manifest["made"].values()} == {str(prints(SOURCE, files))}


def test_the_sample_across_languages() -> None:
    check_equal("sample-across", sample_across.build_sample_across(DATA / "sample-across" / "source", SOURCE))


def test_the_numbers_of_the_papers(shared: Path, tmp_path: Path) -> None:
    outputs, codes = shared / "nomiracl", ("es", "te")
    files = output_files(outputs)
    some_files(files, outputs, tmp_path / "nomiracl", codes)
    for name in ("judged", "published"):
        shutil.copytree(shared / name, tmp_path / name)
    nomiracl, people, published = bundle.bundle(tmp_path, tmp_path / "into", **LINEAR)
    # Ids of queries repeat between languages, so that the draws of all of them depend on one another.
    built = {name: nomiracl.read(name) for name in nomiracl.tables if name not in ("importances", "ratings")}
    bundled = check_equal("nomiracl", built, codes).manifest
    assert all(bundled[key] == nomiracl.manifest[key] for key in ("title", "label"))
    assert bundled["made"]["queries"]["from"][1:] == prints(outputs, files)
    for arena in (people, published):
        assert arena.manifest == open_arena(DATA / arena.name).manifest


@pytest.mark.parametrize("name", ["nomiracl", "sample"])
def test_the_ratings_of_all_languages(name: str) -> None:
    arena = open_arena(DATA / name)
    made = derive({"outcomes": arena.read("outcomes")}, {"ratings by relevance": {}})["ratings"]
    stored = arena.read("ratings")
    check_rows(name, "ratings", stored.filter(pc.equal(stored["judge"], "relevance")), made)
