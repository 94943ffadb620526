"""Logs of other programs: each value of a file of their shape lands where it should, and a damaged one is refused with
the file, the field and what to do.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from golden import imports as golden
from golden.imports import cases

from mirage.errors import BadInput
from mirage.io.formats import run
from mirage.io.imports.formats import import_file
from mirage.store.arena import is_arena
from mirage.store.json_members import json_members

ASK = "Which birds nest in the harbour of the island in spring?"
PROMPTFOO = "promptfoo_results_become_answers_of_providers_with_scores"
KEY = "sk-proj-abcdefghijklmnop0123456789"


def document(path: Path, value: Any, *, indent: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent), "utf-8")
    return path


def example(name: str) -> Any:
    """Return the JSON document of a golden case."""
    (content,) = cases(Path(golden.__file__).with_name("imports") / f"{name}.json")[0]["files"].values()
    return json.loads(content)


# Archives of Inspect

INSPECT = "inspect_logs_say_what_failed_what_was_cut_and_what_is_attached"


def archive(path: Path, *, zstd: bool = False) -> Path:
    """Write the log of a golden case as an archive; with zstd as Inspect packs it, which `zipfile` cannot write."""
    log = example(INSPECT)
    members = {f"samples/{entry['id']}_epoch_{entry['epoch']}.json": entry for entry in log.pop("samples")}
    raw = {name: json.dumps(value, indent=2).encode() for name, value in (members | {"header.json": log}).items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED if zstd else zipfile.ZIP_DEFLATED) as packed:
        for name, data in raw.items():
            packed.writestr(name, pa.compress(data, codec="zstd", asbytes=True) if zstd else data)
    if zstd:
        content = bytearray(path.read_bytes())
        with zipfile.ZipFile(path) as packed:
            places = [(entry.header_offset, entry.filename) for entry in packed.infolist()]
            start = packed.start_dir
        # Mark each member as packed with zstd, with the size and checksum of what it holds.
        for at, name in places:
            for place, offset in ((at, 0), (content.index(name.encode(), start) - 46, 2)):
                content[place + 8 + offset : place + 10 + offset] = (93).to_bytes(2, "little")
                content[place + 14 + offset : place + 18 + offset] = zipfile.crc32(raw[name]).to_bytes(4, "little")
                content[place + 22 + offset : place + 26 + offset] = len(raw[name]).to_bytes(4, "little")
        path.write_bytes(content)
    return path


@pytest.mark.parametrize("zstd", [False, True])
def test_an_archive_of_inspect_is_read_as_its_json(tmp_path: Path, zstd: bool) -> None:
    from_json = import_file(document(tmp_path / "log.json", example(INSPECT)), tmp_path / "a")
    from_archive = import_file(archive(tmp_path / "log.eval", zstd=zstd), tmp_path / "b")
    assert from_archive.summary.rows == from_json.summary.rows
    for table in from_json.arena.tables:
        assert from_archive.arena.read(table).equals(from_json.arena.read(table)), table
    assert KEY not in str([from_json.arena.read(name).to_pylist() for name in from_json.arena.tables])


def test_a_damaged_archive_is_refused_with_its_member(tmp_path: Path) -> None:
    whole = archive(tmp_path / "log.eval").read_bytes()
    (tmp_path / "cut.eval").write_bytes(whole[:-60])
    at = whole.index(b"samples/1_epoch_1.json") + 60
    (tmp_path / "bad.eval").write_bytes(whole[:at] + bytes(20) + whole[at + 20 :])
    for name, place in (("cut.eval", "cut.eval"), ("bad.eval", "samples/1_epoch_1.json")):
        with pytest.raises(BadInput, match="damaged or incomplete") as refused:
            import_file(tmp_path / name, tmp_path / "arena")
        assert place in refused.value.where
    assert not is_arena(tmp_path / "arena")


# OpenTelemetry


def test_a_truncated_export_names_its_line(tmp_path: Path) -> None:
    path = document(tmp_path / "t.json", example("spans_of_openinference_and_openllmetry_are_read"), indent=1)
    path.write_text(path.read_text()[:-80])
    with pytest.raises(BadInput, match="not JSON") as refused:
        import_file(path, tmp_path / "arena", name="otel")
    assert refused.value.where.startswith(f"{path}:")


# Large documents


def test_elements_of_a_long_document_are_read_one_by_one(tmp_path: Path) -> None:
    value = {"a": {"skip": [1, {"b": [2]}], "rows": [{"n": k, "text": "x" * 50} for k in range(40_000)], "z": None}}
    path = document(tmp_path / "long.json", value)
    members = list(json_members(path, [("a", "rows")]))
    rows = [member for member in members if member.place == ("a", "rows", "*")]
    assert [member.value["n"] for member in rows] == list(range(40_000))
    assert [(member.place, member.value) for member in members if member.place[-1:] != ("*",)] == [
        (("a", "skip"), value["a"]["skip"]),
        (("a", "z"), None),
        ((), None),
    ]
    assert "rows[39999]" in rows[-1].where


def test_a_large_log_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    run_ = example(PROMPTFOO)
    first = run_["results"]["results"][0]
    run_["results"]["results"] = [first | {"vars": {"question": f"{ASK} {k} " + "x" * 1000}} for k in range(2_000)]
    path = document(tmp_path / "results.json", run_)
    assert path.stat().st_size > 4_000_000
    assert run.recognise_file(path)[0].format.name == "promptfoo"
