"""Soft verdicts: a judgment may carry what the first system takes of the battle's point."""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from arena_writer import make_judgment, read_rows, write_arena

from mirage.store.arena import open_arena


def test_an_arena_written_before_a_column_was_there_still_opens(tmp_path: Path) -> None:
    row = make_judgment("en", "q", "j", "a", "b", "A")
    arena = write_arena(tmp_path / "arena", {"judgments": [row]})
    (file,) = arena.manifest["tables"]["judgments"]
    old = pq.read_table(arena.path / file["path"]).drop_columns(["points"])
    rewritten = tmp_path / "old"
    write_arena(rewritten, {"judgments": [row]})
    pq.write_table(old, rewritten / file["path"])
    manifest = json.loads((rewritten / "manifest.json").read_text("utf-8"))
    described = manifest["tables"]["judgments"][0]
    content = (rewritten / file["path"]).read_bytes()
    described |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (rewritten / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    older = open_arena(rewritten)
    assert read_rows(older, "judgments") == read_rows(arena, "judgments")
    assert older.sql("SELECT points, verdict FROM judgments").to_pylist() == [{"points": None, "verdict": "A"}]
    assert older.read("judgments", columns=["points"]).column_names == ["points"]
    assert pa.types.is_float64(older.sql("SELECT points FROM judgments").schema.field("points").type)
