"""Hostile input at every door, drawn from seeds: files, folders, replies of services, links, uploads and arenas.

Each try mutates something sound, gives it to the real command or page, and is held to the same promises: no traceback,
nothing half written, under 60 seconds, under 1 GB. `python -m benchmarks.hostile 1000` runs a thousand tries and prints
each that fails with its seed; `python -m benchmarks.hostile 1 SEED` repeats one.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import Row, peak_mb

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 60
MEGABYTES = 1_000
TRIES = 1_000
A_PROCESS = 50
"""Tries that one process makes, so that its peak of memory says something of few."""

Rng = np.random.Generator

VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, -1e308, float("nan"), float("inf"), 10**400, 2**63, "", " ", "\x00", "\ud800", "\u202e",
    "İ", "a" * 100_000, "=cmd|' /C calc'!A0", "../../etc/passwd", "<script>alert(1)</script>", "${jndi:ldap://x}",
    [], {}, [[]], {"a": {"b": []}}, ["a", 1, None], "9999-99-99T99:99:99", "１２３", "०१२", "NaN", "null",
    "[[A]]", "all", "unparsed",
)  # fmt: skip
"""What a field may hold that nobody expected."""

BYTES: tuple[bytes, ...] = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\x1a", b"{" * 50_000, b"[" * 50_000, b'"', b"," * 20_000,
    b"\xed\xa0\x80", b"9" * 5_000, b"1e999999", b"\n" * 10_000, b"\t" * 10_000, "\u2028".encode(), b"PK\x03\x04",
    b"PAR1", b"\x1f\x8b",
)  # fmt: skip
"""What may stand in a file that nobody expected."""


def records(rng: Rng) -> list[dict[str, Any]]:
    """Sound records of one of several kinds."""
    kind = rng.integers(4)
    rows: list[dict[str, Any]] = []
    for k in range(int(rng.integers(1, 12))):
        if kind == 0:
            row = {"language": "en", "query_id": f"q{k}", "system": "s", "text": f"Answer {k} [1]."}
        elif kind == 1:
            row = {
                "query_id": f"q{k}",
                "judge": "j",
                "system_a": "a",
                "system_b": "b",
                "verdict": "A",
                "language": "de",
            }
        elif kind == 2:
            row = {"question": f"Where is {k}?", "contexts": ["One.", "Two."], "answer": "Here.", "model": f"m{k % 2}"}
        else:
            row = {"model_a": "x", "model_b": "y", "winner": "tie", "question_id": k, "tstamp": 1.7e9, "voter": "v"}
        rows.append(row)
    return rows


def mutated(rows: list[dict[str, Any]], rng: Rng) -> list[Any]:
    """Records with some fields changed, left out, added or doubled."""
    mixed: list[Any] = [dict(row) for row in rows]
    for _ in range(int(rng.integers(0, 5))):
        place = int(rng.integers(len(mixed)))
        row = mixed[place]
        if not isinstance(row, dict) or not row:
            continue
        names = list(row)
        name = names[int(rng.integers(len(names)))]
        act = rng.integers(5)
        if act == 0:
            row[name] = VALUES[int(rng.integers(len(VALUES)))]
        elif act == 1:
            del row[name]
        elif act == 2:
            row[str(VALUES[int(rng.integers(len(VALUES)))])[:200]] = row[name]
        elif act == 3:
            mixed.append(dict(row))
        else:
            mixed[place] = VALUES[int(rng.integers(len(VALUES)))]
    return mixed


def written(folder: Path, rng: Rng) -> Path:
    """A file of mutated records, in one of several forms, with its bytes perhaps mutated too."""
    rows = mutated(records(rng), rng)
    form = ("jsonl", "json", "csv", "tsv", "parquet", "trec", "jsonl.gz")[int(rng.integers(7))]
    name = ("f", "ü", "a b", "x" * 200, "-rf", "qrels", "run")[int(rng.integers(7))]
    path = folder / f"{name}.{'txt' if form == 'trec' else form}"
    whole = [row for row in rows if isinstance(row, dict)]
    if form == "json":
        data = json.dumps(rows).encode("utf-8", "surrogatepass")
    elif form in ("csv", "tsv"):
        stream = io.StringIO()
        fields = list(dict.fromkeys(str(name) for row in whole for name in row))
        table = csv.DictWriter(stream, fields, delimiter="\t" if form == "tsv" else ",")
        table.writeheader()
        table.writerows([{str(name): str(value) for name, value in row.items()} for row in whole])
        data = stream.getvalue().encode("utf-8", "surrogatepass")
    elif form == "parquet":
        fields = list(dict.fromkeys(ascii(name)[1:-1] for row in whole for name in row))
        rows_as_text = [{ascii(name)[1:-1]: ascii(value) for name, value in row.items()} for row in whole]
        pq.write_table(pa.table({name: [row.get(name) for row in rows_as_text] for name in fields}), path)
        data = path.read_bytes()
    elif form == "trec":
        lines = [f"q{k % 3} Q0 d{k} {k} {VALUES[int(rng.integers(len(VALUES)))]!r} tag" for k in range(20)]
        data = "\n".join(lines).encode("utf-8", "surrogatepass")
    else:
        data = "\n".join(json.dumps(row) for row in rows).encode("utf-8", "surrogatepass")
    data = bytes_mutated(data, rng)
    path.write_bytes(gzip.compress(data) if form.endswith("gz") else data)
    return path


def bytes_mutated(data: bytes, rng: Rng) -> bytes:
    """Bytes cut, doubled, overwritten, or with something put in between; half of the time as they are."""
    for _ in range(int(rng.integers(0, 3))):
        place = int(rng.integers(len(data) + 1))
        act = rng.integers(4)
        if act == 0:
            data = data[:place]
        elif act == 1:
            data = data[:place] + BYTES[int(rng.integers(len(BYTES)))] + data[place:]
        elif act == 2 and data:
            data = data[:place] + bytes([int(rng.integers(256))]) + data[place + 1 :]
        else:
            data = data + data[place:]
    return data


def sound(arena: Path) -> None:
    """Refuse a folder that is neither absent nor a sound arena."""
    from mirage import store

    if not arena.exists():
        return
    left = [path.name for path in arena.rglob("*") if path.is_file() and path.name != ".lock"]
    if left:
        store.check(store.open_arena(arena))


def invoke(*words: str) -> int:
    """Run a command in this process.

    Raises:
        Exception: what the command did not turn into an error message.
    """
    from typer.testing import CliRunner

    from mirage.cli import app

    done = CliRunner().invoke(app, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code not in (0, 1, 2, 3):
        raise AssertionError(f"exit code {done.exit_code}: {words}")
    if done.exit_code == 2 and not done.stderr.strip() and not done.stdout.strip():
        raise AssertionError(f"exit code 2 and not a word: {words}")
    return done.exit_code


def from_file(folder: Path, rng: Rng) -> None:
    """Import, check or rank a mutated file, into a new arena or one that is there."""
    path = written(folder, rng)
    into = folder / "arena"
    if rng.integers(3) == 0:
        rows = ({"language": "en", "query_id": "q1", "system": "s0", "text": "An answer."},)
        (folder / "before.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        invoke("import", "answers", str(folder / "before.jsonl"), "--into", str(into))
    target = str(path) if rng.integers(8) else str(folder)
    act = rng.integers(6)
    if act == 0:
        invoke("check", "--", target)
    elif act == 1:
        invoke("rank", "--draws", "10", "--", target)
    elif act == 2:
        invoke("import", "judgments", "--into", str(into), "--", target)
    else:
        language = [] if rng.integers(2) else ["--set", "language=en"]
        invoke("import", *language, "--into", str(into), "--", target)
    sound(into)


def small_arena(folder: Path) -> Path:
    """A sound arena of two queries."""
    path = folder / "arena"
    texts = {"contexts": ["In the sea.", "It is long."], "answer": "In the sea [1]."}
    lines = [{"question": f"Where does river {k} end?", "model": m, **texts} for k in range(2) for m in ("a", "b")]
    (folder / "rag.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    invoke("import", str(folder / "rag.jsonl"), "--set", "language=en", "--into", str(path))
    return path


@contextmanager
def service(body: Callable[[], tuple[int, bytes, dict[str, str]]]) -> Iterator[str]:
    """A service on this machine that answers every request with what `body` gives."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, data, headers = body()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def hostile_body(rng: Rng) -> tuple[int, bytes, dict[str, str]]:
    """A reply of a service whose fields are mutated."""
    message: dict[str, Any] = {"role": "assistant", "content": "##Reason: a [1] ##Answer: b. [[A]]"}
    whole: dict[str, Any] = {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "data": [{"index": 0, "embedding": [0.1, 0.2]}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    }  # fmt: skip
    parts = [whole, whole["choices"][0], message, whole["usage"], whole["data"][0]]
    for _ in range(int(rng.integers(0, 4))):
        part = parts[int(rng.integers(len(parts)))]
        if part:
            name = list(part)[int(rng.integers(len(part)))]
            part[name] = VALUES[int(rng.integers(len(VALUES)))]
    status = (200, 200, 200, 200, 400, 401, 404, 418, 429, 500)[int(rng.integers(10))]
    headers = ({}, {"Retry-After": "0"}, {"Retry-After": "nan"}, {"Content-Type": "text/html"})[int(rng.integers(4))]
    return status, bytes_mutated(json.dumps(whole).encode("utf-8", "surrogatepass"), rng), headers


def from_service(folder: Path, rng: Rng) -> None:
    """Generate, judge or embed with a service that answers nonsense."""
    arena = small_arena(folder)
    ask = ["--model", "m", "--retries", "1", "--timeout", "5", "--grace", "1", "--concurrency", "2"]
    with service(lambda: hostile_body(rng)) as url:
        act = rng.integers(3)
        if act == 0:
            invoke("generate", str(arena), "--system", "new", "--base-url", url, *ask)
        elif act == 1:
            invoke("judge", str(arena), "--judge", "j", "--base-url", url, *ask)
        else:
            retrieve = ["--retriever", "dense", "--model", "m", "--base-url", url, "--retries", "1"]
            invoke("retrieve", str(arena), *retrieve)
    sound(arena)


def from_link(_folder: Path, rng: Rng) -> None:
    """Open a page by a link whose parameters are mutated."""
    from streamlit.testing.v1 import AppTest

    pages = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    names = (
        "arena",
        "languages",
        "judge",
        "page",
        "query",
        "system",
        "a",
        "b",
        "section",
        "sort",
        "panel",
        "ranks",
        "skill",
    )
    page.query_params["arena"] = "sample"
    for _ in range(int(rng.integers(1, 6))):
        value = VALUES[int(rng.integers(len(VALUES)))]
        text = str(value).encode("utf-8", "replace").decode()[:5_000]
        page.query_params[names[int(rng.integers(len(names)))]] = text if rng.integers(3) else "9" * 5_000
    page.run()
    page.switch_page(f"pages/{pages[int(rng.integers(len(pages)))]}.py").run()
    if page.exception:
        raise AssertionError(page.exception[0].stack_trace)


def from_upload(folder: Path, rng: Rng) -> None:
    """Read a mutated file as the page Your model does."""
    from mirage import store
    from mirage.errors import MirageError
    from mirage.pipeline import adding

    path = written(folder, rng)
    try:
        adding.read_system(store.open_arena(ROOT / "data" / "sample"), path, system="mine")
    except MirageError:
        return


def from_arena(folder: Path, rng: Rng) -> None:
    """Check, rank and export an arena whose manifest or files are mutated."""
    arena = folder / "arena"
    shutil.copytree(ROOT / "data" / "nomiracl", arena)
    files = sorted(path for path in arena.rglob("*") if path.is_file())
    path = arena / "manifest.json" if rng.integers(2) else files[int(rng.integers(len(files)))]
    act = rng.integers(5)
    if path.name == "manifest.json" and act < 3:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        part: Any = manifest
        for _ in range(int(rng.integers(1, 4))):
            keys = list(part) if isinstance(part, dict) else list(range(len(part))) if isinstance(part, list) else []
            if not keys:
                break
            key = keys[int(rng.integers(len(keys)))]
            if not isinstance(part[key], dict | list) or rng.integers(2):
                part[key] = VALUES[int(rng.integers(len(VALUES)))]
                break
            part = part[key]
        path.write_bytes(json.dumps(manifest).encode("utf-8", "surrogatepass"))
    elif act == 3:
        path.unlink()
        if rng.integers(2):
            os.mkfifo(path)
    else:
        path.write_bytes(bytes_mutated(path.read_bytes(), rng))
    before = {str(file): file.stat().st_size for file in arena.rglob("*") if file.is_file()}
    command = (
        ("check", str(arena)), ("rank", str(arena), "--languages", "sw", "--draws", "10"), ("rates", str(arena)),
        ("export", str(arena), "--table", "ratings"), ("compare", str(arena), "--a", "gpt-4-azure", "--b", "aya-101"),
    )[int(rng.integers(5))]  # fmt: skip
    invoke(*command)
    after = {str(file): file.stat().st_size for file in arena.rglob("*") if file.is_file() and file.name != ".lock"}
    if {name: size for name, size in after.items() if before.get(name) != size}:
        raise AssertionError("reading changed the arena")


DOORS: dict[str, Callable[[Path, Rng], None]] = {
    "files": from_file,
    "replies": from_service,
    "links": from_link,
    "uploads": from_upload,
    "arenas": from_arena,
}
SHARES = ("files", "files", "files", "files", "uploads", "uploads", "arenas", "arenas", "replies", "links")
"""Of ten tries."""


def attempt(seed: int) -> str | None:
    """Make the try of a seed and return what went wrong, or None."""

    def late(_number: int, _frame: object) -> None:
        raise TimeoutError(f"over {SECONDS} seconds")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with tempfile.TemporaryDirectory() as folder:
            DOORS[SHARES[seed % len(SHARES)]](Path(folder), np.random.default_rng(seed))
    except (Exception, SystemExit):
        return traceback.format_exc(limit=-4)
    finally:
        signal.alarm(0)
    return None


def work(first: int, count: int) -> None:
    """Make some tries in this process and print a line a failure, and the peak of memory last."""
    import warnings

    warnings.simplefilter("ignore")
    os.environ["MIRAGE_HOME"] = tempfile.mkdtemp()
    for seed in range(first, first + count):
        if (failure := attempt(seed)) is not None:
            print(json.dumps({"seed": seed, "door": SHARES[seed % len(SHARES)], "failure": failure}), flush=True)
    print(json.dumps({"peak": peak_mb()}), flush=True)


def run(tries: int = TRIES, first: int = 0) -> list[Row]:
    """Make the tries, some in each of several processes."""
    failures: Counter[str] = Counter()
    counts: Counter[str] = Counter(SHARES[seed % len(SHARES)] for seed in range(first, first + tries))
    peak = 0.0
    for start in range(first, first + tries, A_PROCESS):
        count = min(A_PROCESS, first + tries - start)
        command = [sys.executable, "-m", "benchmarks.hostile", "--work", str(start), str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not any("peak" in line for line in lines):
            failures["a process"] += 1
            print(f"tries {start} to {start + count} ended with {done.returncode}: {done.stderr[-2000:]}")
        for line in lines:
            if "peak" in line:
                peak = max(peak, line["peak"])
            else:
                failures[line["door"]] += 1
                print(f"seed {line['seed']} ({line['door']}): {line['failure']}")
    rows = [
        Row(f"hostile tries over {door}", f"{failures[door]} failed", f"of {counts[door]} tries", "", "0")
        for door in DOORS
    ]
    rows.append(Row("processes that ended early", str(failures["a process"]), "", "", "0"))
    rows.append(
        Row("largest memory of a process", f"{peak:,.0f} MB", f"{A_PROCESS} tries each", "", f"{MEGABYTES:,} MB")
    )
    return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(int(sys.argv[2]), int(sys.argv[3]))
    else:
        for row in run(*map(int, sys.argv[1:])):
            print(row.what, row.value, row.against, row.target, sep=" | ")
