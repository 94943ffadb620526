"""Forged boards, each to be found by `mirage verify`: `python -m benchmarks.forgeries [N] [DIR]`.

A forgery changes one thing of a published board: a value, a row, the order of rows, a head, a file, a text or a source.
The forger then does nothing more (`plain`), writes all hashes and heads again (`rehashed`), or is the publisher and
signs as well (`resigned`). Whoever signs again over changed sources or a changed past is found by a head that was kept
elsewhere, and by nothing else.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mirage import store
from mirage.explorer.site.publishing import publish
from mirage.explorer.site.verifying import VerifyReport, verify_site
from mirage.publish.chain import FIRST, HEADS, BoardHead, canonical, heads_file, next_head, read_heads
from mirage.publish.feed import FEED, feed
from mirage.publish.signing import new_private_key, sign_head

ROOT = Path(__file__).resolve().parents[1]
GUIDE, MARK = ROOT / "docs" / "publish.md", "<!-- /forgeries -->"
KINDS = ("value", "row", "order", "head", "file", "text", "source")
SYSTEMS = ["thorough", "concise", "fluent", "uncited"]
JUDGE = ["simulated/length"]
STRENGTHS = ("plain", "rehashed", "resigned")
_BY_HEAD = ("head", "source")
"""Kinds that only a head kept elsewhere reveals once they are signed again."""


@dataclass
class ForgedBoard:
    """A published board in memory, to forge and to restore."""

    site: Path
    private: bytes
    files: dict[str, bytes] = field(default_factory=dict)
    kept: str = ""
    """The last head, as somebody else kept it."""

    @classmethod
    def of(cls, site: Path, private: bytes) -> ForgedBoard:
        """Read a board."""
        files = {p.relative_to(site).as_posix(): p.read_bytes() for p in site.rglob("*") if p.is_file()}
        return cls(site, private, files, read_heads(files[HEADS])[-1].head)

    @contextmanager
    def forged(self, files: dict[str, bytes]) -> Iterator[Path]:
        """Write other files into the site, and restore it."""
        changed = {name for name in files.keys() | self.files.keys() if files.get(name) != self.files.get(name)}
        try:
            for name in changed:
                _put(self.site / name, files.get(name))
            yield self.site
        finally:
            for name in changed:
                _put(self.site / name, self.files.get(name))


def forge(board: ForgedBoard, kind: str, strength: str, rng: np.random.Generator) -> dict[str, bytes]:
    """Return the files of a board with one forgery."""
    files = dict(board.files)
    _FORGERS[kind](files, rng)
    if strength != "plain":
        _rewrite(files, board.private if strength == "resigned" else None)
    return files


def check(board: ForgedBoard, kind: str, strength: str, rng: np.random.Generator) -> tuple[bool, VerifyReport]:
    """Forge a board and return whether verification finds it, with its report."""
    files = forge(board, kind, strength, rng)
    against = board.kept if strength == "resigned" and kind in _BY_HEAD else None
    with board.forged(files) as site:
        report = verify_site(site, against=against)
    return bool(report.faults), report


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _rewrite(files: dict[str, bytes], private: bytes | None) -> None:
    """Write the hashes of the last manifest, all heads and the feed again; sign them with a key."""
    heads = list(read_heads(files[HEADS]))
    chain = {HEADS, FEED, "chain/board.pub", *(head.manifest for head in heads)}
    manifests = [json.loads(files[head.manifest]) for head in heads]
    manifests[-1]["files"] = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in sorted(files.items())
        if name not in chain
    }
    before, after = FIRST, []
    for head, manifest in zip(heads, manifests, strict=True):
        manifest["before"] = before
        digest = next_head(before, manifest)
        signature = head.signature if private is None else sign_head(private, digest)
        after.append(BoardHead(head.number, digest, signature))
        files[head.manifest] = canonical(manifest)
        before = digest
    files[HEADS], files[FEED] = heads_file(after), feed(after, manifests)


def _pick(rng: np.random.Generator, names: list[str]) -> str:
    return names[int(rng.integers(len(names)))]


def _table(files: dict[str, bytes], rng: np.random.Generator, least: int) -> tuple[str, pa.Table]:
    """Return one of the published tables with at least some rows."""
    names = [name for name in files if name.endswith(".parquet") and name.startswith("data/")]
    tables = {name: pq.read_table(io.BytesIO(files[name])) for name in names}
    name = _pick(rng, sorted(name for name, table in tables.items() if len(table) >= least))
    return name, tables[name]


def _write_table(files: dict[str, bytes], name: str, table: pa.Table) -> None:
    files[name] = store.to_parquet(table)
    files[name.replace(".parquet", ".csv")] = store.to_csv(table).encode()


def _value(files: dict[str, bytes], rng: np.random.Generator) -> None:
    """Change one number: in a table and its CSV, in the CSV alone, or a digit on a page."""
    way = int(rng.integers(3))
    if way == 2:
        _digit(files, _pick(rng, sorted(n for n in files if n.endswith(".html"))), rng)
        return
    name, table = _table(files, rng, 1)
    numbers = [f.name for f in table.schema if pa.types.is_floating(f.type) or pa.types.is_integer(f.type)]
    if way == 1 or not numbers:
        csv = name.replace(".parquet", ".csv")
        _digit(files, csv, rng) if any(c in files[csv] for c in b"0123456789") else _drop_line(files, csv, rng)
        return
    column, row = _pick(rng, numbers), int(rng.integers(len(table)))
    values = table[column].to_pylist()
    values[row] = 1 if values[row] is None else values[row] + (1 if isinstance(values[row], int) else 0.001)
    place = table.column_names.index(column)
    field_ = table.schema.field(place)
    _write_table(files, name, table.set_column(place, field_, pa.array(values, field_.type)))


def _digit(files: dict[str, bytes], name: str, rng: np.random.Generator) -> None:
    """Change one digit of a file."""
    content = bytearray(files[name])
    places = [n for n, byte in enumerate(content) if 48 <= byte <= 57]
    place = places[int(rng.integers(len(places)))]
    content[place] = 48 + (content[place] - 48 + int(rng.integers(1, 10))) % 10
    files[name] = bytes(content)


def _drop_line(files: dict[str, bytes], name: str, rng: np.random.Generator) -> None:
    lines = files[name].splitlines(keepends=True)
    del lines[int(rng.integers(len(lines)))]
    files[name] = b"".join(lines)


def _row(files: dict[str, bytes], rng: np.random.Generator) -> None:
    """Drop or repeat a row of a table, or drop one of a page."""
    if rng.random() < 0.3:
        name = _pick(rng, sorted(n for n in files if n.endswith(".html") and b"<tr><th" in files[n]))
        lines = files[name].splitlines(keepends=True)
        rows = [n for n, line in enumerate(lines) if line.startswith(b"<tr><th")]
        del lines[rows[int(rng.integers(len(rows)))]]
        files[name] = b"".join(lines)
        return
    name, table = _table(files, rng, 1)
    row = int(rng.integers(len(table)))
    parts = [table.slice(0, row), table.slice(row + 1)]
    _write_table(files, name, pa.concat_tables(parts if rng.random() < 0.5 else [table, table.slice(row, 1)]))


def _order(files: dict[str, bytes], rng: np.random.Generator) -> None:
    """Swap two rows of a table."""
    name, table = _table(files, rng, 2)
    a, b = rng.choice(len(table), size=2, replace=False).tolist()
    order = list(range(len(table)))
    order[a], order[b] = order[b], order[a]
    _write_table(files, name, table.take(order))


def _head(files: dict[str, bytes], rng: np.random.Generator) -> None:
    """Change a head, a signature, what a manifest says of a publication, or drop the last publication."""
    way, heads = int(rng.integers(4)), list(read_heads(files[HEADS]))
    n = int(rng.integers(len(heads)))
    if way == 0:
        heads[n] = BoardHead(n + 1, hashlib.sha256(rng.bytes(8)).hexdigest(), heads[n].signature)
        files[HEADS] = heads_file(heads)
        # Hashes that are written again undo this one: the forger changes the past as well.
    elif way == 1:
        heads[n] = BoardHead(n + 1, heads[n].head, rng.bytes(64).hex())
        files[HEADS] = heads_file(heads)
    elif way == 2 and len(heads) > 1:
        del files[heads[-1].manifest]
        last = json.loads(files[heads[-2].manifest])
        files[heads[-2].manifest] = canonical(last | {"at": "2020-01-01T00:00:00+00:00"})
        files[HEADS] = heads_file(heads[:-1])
        return
    manifest = json.loads(files[heads[n].manifest])
    manifest["changes"] = [*manifest["changes"], f"a change that never was {rng.integers(1 << 30)}"]
    files[heads[n].manifest] = canonical(manifest)


def _file(files: dict[str, bytes], rng: np.random.Generator) -> None:
    """Add, remove or rename a file."""
    chain = ("chain/", FEED, "sources/")
    name = _pick(rng, sorted(n for n in files if not n.startswith(chain)))
    way = int(rng.integers(3))
    if way == 0:
        files[f"extra-{rng.integers(1000)}.html"] = b"<h1>Another leaderboard</h1>"
        return
    content = files.pop(name)
    if way == 2:
        files[f"{name}.old"] = content


def _text(files: dict[str, bytes], rng: np.random.Generator) -> None:
    """Change a word of a page, a record or the script."""
    endings = (".html", ".json", ".js", ".css")
    name = _pick(rng, sorted(n for n in files if n.endswith(endings) and not n.startswith(("chain/", "sources/"))))
    content = bytearray(files[name])
    places = [n for n, byte in enumerate(content) if 97 <= byte <= 122]
    place = places[int(rng.integers(len(places)))]
    content[place] = 97 + (content[place] - 97 + int(rng.integers(1, 26))) % 26
    files[name] = bytes(content)


def _source(files: dict[str, bytes], rng: np.random.Generator) -> None:
    """Change a verdict or an outcome among the sources, with the hashes of their own manifest."""
    manifest = json.loads(files["sources/manifest.json"])
    table = _pick(rng, [name for name in ("judgments", "outcomes") if name in manifest["tables"]])
    entry = manifest["tables"][table][int(rng.integers(len(manifest["tables"][table])))]
    path = f"sources/{entry['path']}"
    rows = pq.read_table(io.BytesIO(files[path]))
    column, values = ("verdict", ("A", "B")) if table == "judgments" else ("outcome", ("answered", "abstained"))
    old = rows[column].to_pylist()
    row = int(rng.integers(len(old)))
    old[row] = values[0] if old[row] != values[0] else values[1]
    place = rows.column_names.index(column)
    rows = rows.set_column(place, rows.schema.field(place), pa.array(old, pa.string()))
    content = io.BytesIO()
    pq.write_table(rows, content, compression="zstd", store_schema=False)
    digest = hashlib.sha256(content.getvalue()).hexdigest()
    del files[path]
    entry["path"] = f"{table}/{entry['language']}-{digest[:12]}.parquet"
    entry |= {"sha256": digest, "bytes": len(content.getvalue())}
    files[f"sources/{entry['path']}"] = content.getvalue()
    files["sources/manifest.json"] = (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()


_FORGERS: dict[str, Callable[[dict[str, bytes], np.random.Generator], None]] = {
    "value": _value,
    "row": _row,
    "order": _order,
    "head": _head,
    "file": _file,
    "text": _text,
    "source": _source,
}


def main(n: int = 1_000, seed: int = 7) -> None:
    """Forge a board N times, print how many were found by kind and strength, and write the table into the guide."""
    found: Counter[tuple[str, str]] = Counter()
    tried: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as place:
        arena = store.open_arena(Path(sys.argv[2])) if len(sys.argv) > 2 else _part_of_sample(Path(place) / "arena")
        board = ForgedBoard.of(*publish_twice(arena, Path(place) / "site"))
        rng = np.random.default_rng(seed)
        for number in range(n):
            kind, strength = KINDS[number % len(KINDS)], STRENGTHS[number // len(KINDS) % len(STRENGTHS)]
            ok, _ = check(board, kind, strength, rng)
            tried[kind, strength] += 1
            found[kind, strength] += ok
            if not ok:
                print(f"NOT FOUND: {kind} {strength}, number {number}", flush=True)
            if number % 100 == 99:
                print(f"{found.total():,} of {number + 1:,} found", flush=True)
    lines = [f"| forgery | {' | '.join(STRENGTHS)} |", "| --- |" + " ---: |" * len(STRENGTHS)]
    for kind in KINDS:
        cells = (f"{found[kind, strength]} of {tried[kind, strength]}" for strength in STRENGTHS)
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    table = "\n".join(lines)
    print(table)
    if n >= 1_000:
        page = GUIDE.read_text(encoding="utf-8")
        head, _, rest = page.partition("<!-- forgeries -->\n")
        GUIDE.write_text(f"{head}<!-- forgeries -->\n{table}\n<!-- /forgeries -->{rest.partition(MARK)[2]}", "utf-8")


def _part_of_sample(into: Path) -> store.Arena:
    """Write four systems of the sample arena in two languages, with texts, outcomes and the verdicts of one judge."""
    sample = store.open_arena(ROOT / "data" / "sample")
    chosen = {"language": ["en", "sw"], "system": SYSTEMS, "system_a": SYSTEMS, "system_b": SYSTEMS, "judge": JUDGE}
    tables = {}
    for name in ("queries", "answers", "outcomes", "judgments"):
        rows = sample.read(name)
        for column, values in chosen.items():
            if column in rows.column_names:
                rows = rows.filter(pc.is_in(rows[column], pa.array(values)))
        tables[name] = rows
    return store.write(into, tables, title="A part of the sample", licence="CC0-1.0", made_by="benchmarks.forgeries")


def publish_twice(arena: store.Arena, site: Path) -> tuple[Path, bytes]:
    """Publish an arena twice, signed, and return the site and its key."""
    private = new_private_key()
    for day in ("2026-11-01", "2026-11-26"):
        publish(arena, site, at=f"{day}T12:00:00+00:00", private=private)
    return site, private


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
