"""Datasets of the hub as records: folders of `save_to_disk`, splits, and what is told when the hub does not answer."""

from pathlib import Path

import pytest
from commands import mirage, refuses

from mirage.errors import BadInput, Unreachable
from mirage.io.imports.formats import dataset_lines
from mirage.store import arena as arenas
from mirage.store.arena import open_arena

datasets = pytest.importorskip("datasets", reason="the extra hub is not installed")
EN = "Why does the sun rise in the east and not in the west of every country?"
ROWS = {"user_input": [EN, f"{EN} Really?"], "response": ["East.", ""], "retrieved_contexts": [["The earth."], []]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    datasets.Dataset.from_dict(ROWS).save_to_disk(str(tmp_path / "mine"))
    return tmp_path / "mine"


def test_a_folder_is_recognised_and_imported_like_a_file(folder: Path, tmp_path: Path) -> None:
    mirage("import", "hf", folder, "--into", tmp_path / "arena")
    arena = open_arena(tmp_path / "arena")
    arenas.check(arena)
    assert {(row["system"], row["text"]) for row in arena.read("answers").to_pylist()} == {
        ("mine", "East."),
        ("mine", ""),
    }
    mirage("import", "hf", folder, "--into", tmp_path / "arena", "--as", "ragas")
    assert open_arena(tmp_path / "arena").version == arena.version


def test_one_of_several_splits_must_be_chosen(tmp_path: Path) -> None:
    parts = datasets.DatasetDict({name: datasets.Dataset.from_dict({"a": [name]}) for name in ("dev", "test")})
    parts.save_to_disk(str(tmp_path / "both"))
    assert [line.value for line in dataset_lines(str(tmp_path / "both"), split="dev")] == [{"a": "dev"}]
    for split in (None, "train"):
        with refuses(BadInput, do="dev"):
            next(dataset_lines(str(tmp_path / "both"), split=split))


def test_a_folder_without_a_dataset_says_how_to_import_files(tmp_path: Path) -> None:
    with refuses(BadInput, do="mirage import"):
        next(dataset_lines(str(tmp_path)))


def test_without_a_connection_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: object, **__: object) -> None:
        raise ConnectionError("offline")

    monkeypatch.setattr(datasets, "load_dataset", offline)
    with refuses(Unreachable, do="save_to_disk"):
        next(dataset_lines("owner/name"))
