"""Untrusted texts, files and addresses: shown as they are, bounded in size, never obeyed."""

import csv
import gzip
import io
import json
import os
import pickle
import re
import socket
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import urlencode
from urllib.request import build_opener
from xml.etree import ElementTree

import browser
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from arena_writer import make_answer, make_query, write_arena
from browser import Opened, show
from commands import CliRunner, mirage
from conftest import ROOT
from markdown_it import MarkdownIt
from own_system import read_system
from payloads import HOSTILE, NAMES, PAYLOADS, STRAY, TEXTS, cores, name_of, plain
from store_cases import forge

from mirage import cli, open_arena, schema
from mirage.errors import ArenaError, BadInput, MirageError
from mirage.explorer.kit.page_list import PAGES
from mirage.io.imports.formats import import_file
from mirage.io.sources.download import fetch
from mirage.llm import presets
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
from mirage.pipeline import adding
from mirage.stages.features.stage import FEATURES
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.store import copies, folders, owned, writing
from mirage.store.arena import Arena
from mirage.store.makers import makers_of
from mirage.store.sheets import QUOTED
from mirage.store.writing import Provenance
from mirage.views.query_keys import PAGE

CODES = ("ar", "en", "ja", "te")
GIVEN = 10
"""Passages a query."""
JUDGES = (NAMES[6], HOSTILE[1])
LARGE = 5_000_000
"""Characters of the largest answer."""
FORGED = ("queries", "answers", "outcomes", "judgments")
"""Tables of which an arena has one with values that are none of their enumerations."""
FOLDER = "**evil05** <img src=x onerror=window.evil12=1>"
"""Name of the arena's folder."""


def test_the_corpus_has_at_least_fifty_payloads_all_different() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 50
    assert sum("evil" in payload for payload in PAYLOADS) >= 50


# Files


@pytest.fixture(scope="module")
def sample() -> Arena:
    return open_arena("sample")


def record(text: str, query_id: str = "1") -> str:
    return json.dumps({"language": "en", "query_id": query_id, "text": text}) + "\n"


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.touch, (self.target,)


def zeros(size: int) -> bytes:
    packed = io.BytesIO()
    with gzip.open(packed, "wb", compresslevel=1) as stream:
        for _ in range(size // 1_000_000):
            stream.write(bytes(1_000_000))
    return packed.getvalue()


FILES: dict[str, tuple[str, Callable[[Path], bytes], str]] = {
    "a pickle": ("a.parquet", lambda target: pickle.dumps(Bomb(target)), "not a complete Parquet file"),
    "a pickle, packed": (
        "a.parquet.gz",
        lambda target: gzip.compress(pickle.dumps(Bomb(target))),
        "not a complete Parquet",
    ),
    "zeros": ("a.jsonl.gz", lambda _: zeros(10_000_000), "this file has more than 2 MB"),
    "zeros for Parquet": ("a.parquet.gz", lambda _: zeros(10_000_000), "this file has more than 2 MB"),
    "blank lines": ("a.csv.gz", lambda _: gzip.compress(b"language\n" + b"\n" * 20_000, 1), "no record can be read"),
    "a dictionary of one": ("a.parquet", lambda _: _repeated("x" * 50_000, 900), "this file has more than 2 MB"),
    "a huge field": ("a.csv", lambda _: b"language,query_id,text\nen,1," + b"x" * 1_000_000, "there is no query"),
    "an open quote": ("a.csv", lambda _: b'language,query_id,text\nen,1,"' + b"x\n" * 20_000, "close every quote"),
    "no UTF-8": ("a.jsonl", lambda _: record("x").encode() + b'{"text": "\xff\xfe"}\n', "not UTF-8"),
    "half a character": ("a.jsonl", lambda _: record("\ud800").encode(), "lone surrogate"),
    "a deep nest": ("a.jsonl", lambda _: b"[" * 200_000 + b"\n", "not JSON"),
    "too many records": (
        "a.jsonl",
        lambda _: b'{"question": "Who?", "answer": "Ann.", "language": "en"}\n' * 1_001,
        "more than 1,000 records",
    ),
    "an endless number": ("a.jsonl", lambda _: b'{"text": ' + b"9" * 100_000 + b"}\n", "not JSON"),
    "no ending": ("a.pkl", lambda target: pickle.dumps(Bomb(target)), "no record can be read"),
}


def _repeated(text: str, times: int) -> bytes:
    """A Parquet file that holds a text once, and says that it is in every row."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([text]))
    out = io.BytesIO()
    keys = {"language": ["en"] * times, "query_id": [str(i) for i in range(times)]}
    pq.write_table(pa.table({**keys, "text": column}), out)
    return out.getvalue()


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_not_to_be_trusted_is_refused_in_words_and_in_bounds(
    tmp_path: Path, sample: Arena, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    name, make, problem = FILES[case]
    target = tmp_path / "ran"
    file = tmp_path / name
    file.write_bytes(make(target))
    monkeypatch.setattr(adding, "MOST_ANSWERS", 1_000)
    monkeypatch.setattr(adding, "MOST_BYTES", 2_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput) as caught:
            read_system(sample, file, system="mine")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problem in str(caught.value)
    assert peak < 100_000_000
    assert list(tmp_path.iterdir()) == [file], "nothing ran, nothing is left"


HEADER = json.dumps({"version": 2, "status": "success", "eval": {"model": "m", "task": "t"}})
SAMPLE = json.dumps(
    {
        "id": 1,
        "epoch": 1,
        "input": "Who built the bridge?",
        "target": "",
        "output": {"completion": "Ann."},
        "metadata": {"language": "en"},
    }
)


RECORD = json.dumps({"language": "en", "id": "1", "question": "Who?", "system": "a", "answer": "Ann."}) + "\n"


def archive(path: Path, *members: tuple[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in (("header.json", HEADER), *members):
            packed.writestr(name, content)
    return path


def encrypted(path: Path) -> Path:
    """An archive whose members are marked as encrypted."""
    data = bytearray(archive(path, ("samples/1.json", SAMPLE)).read_bytes())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := data.find(start, place + 1)) >= 0:
            data[place + flags] |= 1
    path.write_bytes(data)
    return path


ARCHIVES: dict[str, Callable[[Path], Path]] = {
    "is encrypted": encrypted,
    "a JSON list": lambda path: archive(path, ("samples/1.json", "[1, 2]")),
    "a JSON NoneType": lambda path: archive(path, ("samples/1.json", "null")),
    "nested too deeply": lambda path: archive(path, ("samples/1.json", "[" * 100_000)),
    "would unpack to": lambda path: archive(path, ("samples/1.json", bytes(65_000_000))),
    "not JSON": lambda path: archive(path, ("samples/1.json", b"\xff\xfe")),
    "damaged": lambda path: path.write_bytes(archive(path, ("samples/1.json", SAMPLE)).read_bytes()[:-30]) and path,
}


@pytest.mark.parametrize("problem", ARCHIVES)
def test_pitfall_192_an_archive_that_is_not_to_be_trusted_is_bad_input(tmp_path: Path, problem: str) -> None:
    file = ARCHIVES[problem](tmp_path / "log.eval")
    with pytest.raises(BadInput, match=problem) as caught:
        import_file(file, tmp_path / "arena")
    assert str(file) in str(caught.value)
    assert list(tmp_path.iterdir()) == [file]


def test_members_that_lead_out_of_an_archive_are_read_and_never_written(tmp_path: Path) -> None:
    file = archive(tmp_path / "log.eval", ("samples/../../../x.json", SAMPLE), ("../../evil.json", SAMPLE))
    assert import_file(file, tmp_path / "deep" / "arena").arena.rows("answers")
    assert {path.name for path in tmp_path.iterdir()} == {"log.eval", "deep"}


@pytest.mark.parametrize("kind", ["link", "device", "pipe", "socket", "folder"])
def test_pitfall_188_links_and_devices_are_not_read(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, secret = tmp_path / "files", tmp_path / "secret.jsonl"
    (folder / "deep").mkdir(parents=True)
    secret.write_text(RECORD, "utf-8")
    (folder / "a.jsonl").write_text(RECORD, "utf-8")
    odd = folder / "deep" / "b.jsonl"
    if kind in ("link", "device", "folder"):
        odd.symlink_to({"link": secret, "device": Path("/dev/zero"), "folder": tmp_path}[kind])
    elif kind == "pipe":
        os.mkfifo(odd)
    else:
        with socket.socket(socket.AF_UNIX) as listening:
            monkeypatch.chdir(folder / "deep")  # the name of a socket is short
            listening.bind("b.jsonl")
    with pytest.raises(BadInput, match="a link, a pipe or a device") as caught:
        import_file(folder, tmp_path / "arena", name="rag")
    assert str(odd) in str(caught.value)
    if kind in ("device", "pipe", "socket"):
        with pytest.raises(BadInput, match="pipe or a device"):
            import_file(odd, tmp_path / "arena", name="rag")
    assert not (tmp_path / "arena").exists()


def test_an_arena_whose_files_are_links_that_lead_out_is_refused(tmp_path: Path, sample: Arena) -> None:
    arena = copies.copy(sample, tmp_path / "arena")
    entry = arena.path / arena.manifest["tables"]["queries"][0]["path"]
    entry.rename(tmp_path / "queries.parquet")
    entry.symlink_to(tmp_path / "queries.parquet")
    with pytest.raises(ArenaError, match="outside"):
        open_arena(arena.path)
    (tmp_path / "id_rsa").write_text("private", "utf-8")
    entry.unlink()
    (tmp_path / "queries.parquet").rename(entry)
    (arena.path / "makers.csv").symlink_to(tmp_path / "id_rsa")
    assert not (copies.copy(open_arena(arena.path), tmp_path / "copy").path / "makers.csv").exists()
    assert makers_of(open_arena(arena.path)) == makers_of(sample)
    (arena.path / "tournaments").symlink_to(tmp_path)
    with pytest.raises(ArenaError, match="is a link"), writing.exclusive_lock(arena.path):
        pass


ADDRESSES: dict[str, Callable[[Path], object]] = {
    "a copy": lambda _: copies.copy_arena(str(ROOT / "data" / "sample"), "gopher://name:hunter2@host/arena"),
    "an arena": lambda _: folders.locate("s3://name:hunter2@bucket/arena"),
    "a service": lambda _: presets.resolve(base_url="http://name:hunter2@host:99999/v1"),
    "a service of another kind": lambda _: presets.resolve(base_url="ftp://name:hunter2@host/v1"),
    "a query": lambda _: presets.resolve(base_url="https://host/v1#hunter2"),
    "a file": lambda path: import_file(Path("https://name:hunter2@host/a.jsonl?key=hunter2"), path),
    "a mirror": lambda path: fetch(path, ["x"], "http://name:hunter2@127.0.0.1:1"),
    "no database of votes": lambda _: Votes("mysql://host/x?password=hunter2"),
    "votes": lambda _: Votes("postgresql://127.0.0.1:1/x?user=name&password=hunter2").rows(Vote),
}


@pytest.mark.parametrize("kind", ADDRESSES)
def test_no_error_repeats_the_secrets_of_an_address(tmp_path: Path, kind: str) -> None:
    with pytest.raises(MirageError) as caught:
        ADDRESSES[kind](tmp_path)
    assert "hunter2" not in str(caught.value)


WRITERS = {
    "ledger.sqlite": ("generate", "--system", "x", "--model", "m", "--base-url", "http://127.0.0.1:1/v1"),
    "passport": ("judge", "passport", "--judge", "heuristic", "--queries", "1"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_in_an_arena_leads_no_command_out(tmp_path: Path, sample: Arena, name: str) -> None:
    arena, victim = copies.copy(sample, tmp_path / "arena"), tmp_path / "victim"
    victim.touch(mode=0o644) if name == "ledger.sqlite" else victim.mkdir()
    before = victim.stat()
    (arena.path / name).symlink_to(victim)
    said = mirage(*WRITERS[name], arena.path, "--languages", "sw", code=2).stderr
    assert "is a link" in said
    assert (victim.stat().st_mode, victim.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


# Texts in a real browser


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an arena in which every text and every name is hostile, one with a system of the user's own beside it,
    and one with very large texts.
    """
    folder = tmp_path_factory.mktemp("hostile")
    names = ("queries", "passages", "answers", "judgments", "nuggets", "nugget_assignments")
    by_table: dict[str, list[Any]] = {name: [] for name in names}
    pairs = list(combinations(NAMES, 2))
    for i, payload in enumerate(PAYLOADS):
        key = (CODES[i % len(CODES)], f"{i:02} {name_of(payload)}")
        texts = [PAYLOADS[(i // 12 * 12 + k) % len(PAYLOADS)] for k in range(12)]
        subset = ("relevant", "non_relevant")[i // len(CODES) % 2]
        by_table["queries"].append(make_query(*key, subset, payload))
        by_table["passages"] += [
            schema.Passage(*key, f"{k} {name_of(text)}", k, text, text * 2, k == 1 and subset == "relevant")
            for k, text in enumerate(texts[:GIVEN], 1)
        ]
        by_table["nuggets"] += [
            schema.Nugget(*key, plain(text), text, importance, f"1 {name_of(texts[0])}", text)
            for text, importance in zip(texts[:2], ("vital", "okay"), strict=True)
        ]
        by_table["nugget_assignments"] += [
            schema.NuggetAssignment(*key, name, plain(text), JUDGES[0], "partial_support", text, None, None)
            for name in NAMES
            for text in texts[:2]
        ]
        for name, text in zip(NAMES, texts, strict=True):
            answer = f"Yes, answer is present [1] {text}" if (i + len(name)) % 3 else f"I don't know {text}"
            by_table["answers"].append(make_answer(*key, name, answer, template="vanilla"))
        for k, text in enumerate(texts):
            a, b = pairs[(i * 12 + k) % len(pairs)]
            for judge, verdict in zip(JUDGES, "AB", strict=True):
                verdict = "AB"[(i + k) % 2] if judge == JUDGES[0] else verdict
                by_table["judgments"].append(schema.Judgment(*key, judge, a, b, verdict, text, None, None))
                by_table["judgments"].append(schema.Judgment(*key, judge, b, a, "tie", text, None, None))
    tables = {name: schema.from_rows(name, rows) for name, rows in by_table.items()}
    tables |= OUTCOMES.run(tables)
    tables |= FEATURES.run(tables)
    arena = write_arena(folder / FOLDER, tables, title=HOSTILE[0], label="simulated")
    copies.copy(arena, folder / "own")
    for table in FORGED:
        copies.copy(arena, folder / f"forged-{table}")
        rows = arena.read(table, languages=CODES[:1])
        for place, column in enumerate(schema.columns(table)):
            if column.choices:
                values = pa.array([PAYLOADS[k % len(PAYLOADS)] for k in range(len(rows))])
                rows = rows.set_column(place, pa.field(column.name, pa.string()), values)
        forge(folder / f"forged-{table}", table, rows)
    made_by = Provenance("a test", settings={NAMES[0]: owned.ADDED})
    writing.write(folder / "own", {"answers": tables["answers"]}, label=adding.OWN, made_by=made_by)
    key = ("en", "1")
    huge = "<b>word</b> [1] " * (LARGE // 16)
    large = {
        "queries": [make_query(*key, "relevant", huge)],
        "passages": [schema.Passage(*key, "1#0", 1, "title", huge, True)],
        "answers": [make_answer(*key, name, huge, template="vanilla") for name in ("one", "two")],
        "judgments": [schema.Judgment(*key, "judge", "one", "two", "A", huge, None, None)],
    }
    write_arena(folder / "large", large, title="Large", label="simulated")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


class Canary(BaseHTTPRequestHandler):
    """The host of the payloads for the browser, and the proxy of every program: it hears what is asked of others."""

    asked: ClassVar[list[str]] = []

    def handle_one_request(self) -> None:
        """Write down the first line of a request, and refuse it."""
        self.asked.append(self.rfile.readline().decode("latin-1").strip())
        self.wfile.write(b"HTTP/1.0 403 No\r\n\r\n")
        self.close_connection = True


@pytest.fixture(scope="module")
def canary() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Canary) as server, pytest.MonkeyPatch.context() as patch:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.setenv(name, address)
        for name in ("no_proxy", "NO_PROXY"):
            patch.setenv(name, "127.0.0.1,localhost")
        yield address
        server.shutdown()


@pytest.fixture(scope="module")
def start(canary: str) -> Iterator[Callable[..., Opened]]:
    # By its name alone: through a proxy it would hear what Chromium asks of its maker.
    name = f"--host-resolver-rules=MAP hostile.example {canary.removeprefix('http://')}"
    with browser.chromium("--no-proxy-server", name) as start:
        yield start


@pytest.fixture(scope="module")
def url(hostile: Path, home: Path, canary: str) -> Iterator[str]:
    with browser.server(hostile, MIRAGE_HOME=str(home)) as url:
        yield url


@pytest.mark.browser
def test_the_canary_hears_a_browser_and_a_program(start: Callable[..., Opened]) -> None:
    opened = start()
    opened.page.set_content("<img src=http://hostile.example/page.png>")
    with pytest.raises(OSError, match="403"):
        build_opener().open("http://hostile.example/program")  # urlopen keeps the proxies of its first call
    assert [line.split()[1] for line in Canary.asked] == ["/page.png", "http://hostile.example/program"]
    Canary.asked.clear()
    opened.page.close()


@pytest.fixture
def opened(start: Callable[..., Opened]) -> Iterator[Opened]:
    """A page that must have been quiet, and show no trace of a payload's doing, when it is done."""
    opened = start()
    try:
        yield opened
        opened.settle()
        assert opened.page.evaluate(STRAY, cores(*PAYLOADS, *map(name_of, PAYLOADS), FOLDER)) == []
        assert (*opened.heard, Canary.asked) == ([], [], [], [])
    finally:
        opened.page.close()


PICKS: dict[str, dict[str, Any]] = {
    "leaderboard": {"judge": JUDGES[0]},
    "hallucination": {"systems": list(NAMES[:3])},
    "battle": {"judge": JUDGES[0], "a": NAMES[0], "b": NAMES[1], "marks": "differences"},
    "features": {"systems": list(NAMES[:4])},
    "methods": {"search": TEXTS[0]},
}
"""What a link to a page picks, so that it shows more."""
OTHERS = [entry for entry in PAGES if entry.name not in ("answers", "your_model")]
"""Pages without a test of their own."""


@pytest.mark.browser
@pytest.mark.parametrize(
    "entry", [e for e in PAGES if e.name not in ("answers", "your_model")], ids=lambda entry: entry.name
)
def test_pitfall_45_every_page_shows_hostile_texts_and_names_as_text(opened: Opened, url: str, entry: Any) -> None:
    parameters = {"arena": FOLDER} | PICKS.get(entry.name, {})
    page = show(opened, f"{url}/{entry.name}?{urlencode(parameters, doseq=True)}")
    assert page.locator("h1").all_inner_texts() == [entry.title]
    assert page.get_by_role("combobox", name="Arena").input_value() == FOLDER
    assert page.get_by_text(HOSTILE[0], exact=True).first.is_visible()
    # Names in a chart's hovers are read from under the mouse.
    for mark in page.locator(".js-plotly-plot .scatterlayer .point").all()[: len(NAMES)]:
        mark.hover(force=True)
        hovers = page.locator(".js-plotly-plot .hoverlayer").evaluate_all(ALL_TEXTS)
        assert all(any(core in text for core in CORES) for text in hovers if "evil" in text), hovers


@pytest.mark.browser
def test_pitfall_232_a_forged_enumeration_is_told_as_text(opened: Opened, url: str, hostile: Path) -> None:
    opened.page.goto(f"{url}/battle?{urlencode({'arena': 'forged-judgments'})}")
    opened.page.get_by_text("is not one of").first.wait_for()
    for table in FORGED:
        mirage("export", "html", hostile / f"forged-{table}", "--into", hostile / "out.html", code=2)
        assert not (hostile / "out.html").exists()


@pytest.mark.browser
def test_pitfall_232_every_export_shows_hostile_texts_as_text(
    start: Callable[..., Opened], hostile: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(home))
    arena, opened, words = hostile / FOLDER, start(), cores(*PAYLOADS, *map(name_of, PAYLOADS), FOLDER)

    def render(markdown: str) -> None:
        opened.page.set_content(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown))
        assert opened.page.evaluate(STRAY, {}) == []

    mirage("export", "html", arena, "--into", tmp_path / "report.html", "--texts")
    opened.page.goto((tmp_path / "report.html").as_uri())
    opened.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    policy = opened.page.locator("meta[http-equiv]").get_attribute("content")
    assert all(f"{name} 'none'" in policy for name in ("default-src", "base-uri", "form-action", "frame-src"))
    opened.page.evaluate("document.querySelectorAll('#figures, meta[http-equiv]').forEach((e) => e.remove())")
    assert opened.page.evaluate(STRAY, words) == []
    compared = ["compare", arena, *NAMES[:2], "--judge", JUDGES[0]]
    files = [tmp_path / f"{name}.csv" for name in (*open_arena(arena).tables, "ballot", "votes")]
    for kind in ("table", "csv", "json", "markdown", "latex"):
        for command in (["rank", arena, "--judge", JUDGES[0]], ["report", "rates", arena], ["show", arena], compared):
            printed = CliRunner().invoke(cli.app, [*map(str, command), "--format", kind])
            assert printed.exit_code in (0, 1)
            assert not EXECUTED.search(printed.output)
            if kind == "markdown":
                render(printed.stdout)
            elif kind == "latex":
                assert not IN_TEX.search(printed.stdout)
            elif kind == "csv":
                files.append(tmp_path / f"{command[0]}-{len(files)}.csv")
                files[-1].write_text(printed.stdout, "utf-8")
    CliRunner().invoke(cli.app, [*map(str, compared), "--junit", f"{tmp_path}/j.xml", "--markdown", f"{tmp_path}/c.md"])
    render((tmp_path / "c.md").read_text("utf-8"))
    assert "<!" not in (junit := (tmp_path / "j.xml").read_text("utf-8"))
    assert {element.tag for element in ElementTree.fromstring(junit).iter()} <= JUNIT
    mirage("export", "hub", arena, "--into", tmp_path / "hub")
    _, head, body = (tmp_path / "hub" / "README.md").read_text("utf-8").split("---\n", 2)
    assert yaml.safe_load(head)["license"] == "unknown"
    render(body)
    mirage("export", "trec", arena, "--out", tmp_path / "trec.txt", "--queries")
    lines = (tmp_path / "trec.txt").read_text("utf-8").split("\n")
    assert {len(line.split()) for line in lines[:-1]} == {4}
    mirage("votes", "ballot", arena, "--language", "en", "--out", tmp_path / "ballot.csv")
    mirage("votes", "export", tmp_path / "votes.csv")
    for table in open_arena(arena).tables:
        mirage("export", "table", arena, table, "--out", tmp_path / f"{table}.csv")
    for path in files:
        with path.open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.DictReader(file) for name, cell in row.items() if name != QUOTED]
        assert not [cell for cell in cells if re.match(r"\s*[=+@]|-\s*\D", cell)], path
    assert all(url.startswith("file:") for url in opened.outside)
    assert (opened.dialogs, Canary.asked) == ([], [])
    opened.page.close()


IN_TEX = re.compile(r"\\(text\{|frac|href|includegraphics|begin\{x|evil)")
"""Commands of TeX in the payloads."""
JUNIT = {"testsuites", "testsuite", "testcase", "failure", "skipped", "system-out"}
EXECUTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal executes, or that turn a line."""
CORES = [core for some in cores(*PAYLOADS).values() for core in some]
ALL_TEXTS = "(all) => all.map((e) => e.textContent)"


@pytest.mark.browser
def test_pitfall_45_every_payload_comes_out_as_it_went_in(opened: Opened, url: str, hostile: Path) -> None:
    """As an answer, a rationale, a passage, a title and in the list of queries."""
    arena = open_arena(hostile / FOLDER)
    tables = {name: arena.read(name, languages=CODES[:1]).to_pylist() for name in ("answers", "passages", "judgments")}
    queries = sorted({row["query_id"] for row in tables["answers"]})
    page = show(opened, f"{url}/answers?{urlencode({'arena': FOLDER, 'languages': CODES[0]})}")
    page.get_by_text("judgments by").click()
    seen: set[str] = set()
    listed: set[str] = set()
    # Every third query of the language has other texts.
    for place in range(0, len(queries), 3):
        query = queries[place]
        begins_page = place and place % PAGE == 0
        (page.get_by_label("Next page") if begins_page else page.locator("ol button").nth(place % PAGE)).click()
        page.wait_for_function("id => document.querySelector('.mg-about')?.textContent.includes(id)", arg=query)
        page.locator("details:not([id]):not(.mg-raw) .mg-text").first.wait_for(state="attached")
        opened.settle()
        rows = {name: [row for row in part if row["query_id"] == query] for name, part in tables.items()}
        answers = page.locator(".mg-answer > .mg-text").evaluate_all(ALL_TEXTS)
        assert clean(answers) == clean(r["text"].replace("[1]", "1", 1) for r in rows["answers"])
        assert clean(page.locator("[id^=passage-] .mg-text").evaluate_all(ALL_TEXTS)) == clean(
            r["text"] for r in rows["passages"]
        )
        assert clean(page.locator("[id^=passage-] bdi").evaluate_all(ALL_TEXTS)) == clean(
            r["title"] for r in rows["passages"]
        )
        as_written = page.locator(".mg-raw .mg-text").evaluate_all(ALL_TEXTS)
        assert clean(as_written) == clean(r["text"] for r in rows["answers"] if "[1]" in r["text"])
        rationales = page.locator("details:not([id]):not(.mg-raw) .mg-text").evaluate_all(ALL_TEXTS)
        assert clean(rationales) == clean(r["rationale"] for r in rows["judgments"])
        listed |= set(clean(page.locator("ol .text").evaluate_all(ALL_TEXTS)))
        seen |= set(clean(r["title"] for r in rows["passages"])) | set(clean(rationales))
        assert page.evaluate(STRAY, cores(*PAYLOADS, *map(name_of, PAYLOADS), FOLDER)) == []
    assert seen == set(clean(PAYLOADS))
    assert listed <= seen


def clean(texts: Any) -> list[str]:
    """Texts as a browser holds them, sorted."""
    return sorted(plain(text.replace("\ufffd", "")).strip() for text in texts)


@pytest.mark.browser
def test_an_answer_of_five_megabytes_leaves_the_pages_usable(opened: Opened, url: str) -> None:
    for name in ("answers", "battle"):
        page = show(opened, f"{url}/{name}?arena=large&judge=judge&a=one&b=two")
        page.wait_for_selector(".mg-answer")
        assert page.get_by_text("First 20,000 of 4,999,999 characters.").count() >= 2
        assert page.evaluate("document.body.textContent.length") < LARGE / 5
        if name == "answers":
            page.get_by_role("button", name="Share").click()
            with page.expect_download() as waiting:
                page.get_by_role("button", name="JSON", exact=True).click()
            rows = json.loads(Path(waiting.value.path()).read_text("utf-8"))["rows"]
            assert [len(row["text"]) for row in rows] == [LARGE, LARGE]
            page.keyboard.press("Escape")


@pytest.mark.browser
def test_beside_a_hostile_system_an_upload_is_refused_in_words_and_leaves_nothing(
    opened: Opened, url: str, home: Path, tmp_path: Path
) -> None:
    page = show(opened, f"{url}/your_model?{urlencode({'arena': 'own', 'system': NAMES[0]})}")
    page.get_by_text("Evaluate another file").click()
    target = tmp_path / "ran"
    for name, data, problem in (
        ("evil.parquet", pickle.dumps(Bomb(target)), "not a complete Parquet file"),
        ("..%2f..%2fbomb.jsonl.gz", zeros(6_000_000), "not JSON"),
        ("<img src=x>.csv", b"language,query_id,system,text\nen,nowhere,m,x\n", "nowhere"),
    ):
        page.locator("input[type=file]").set_input_files([{"name": name, "mimeType": "text/plain", "buffer": data}])
        page.get_by_role("button", name=f"Remove {name}").wait_for()
        opened.settle()
        page.locator("[data-testid=stAlert]").get_by_text(problem).wait_for()
        opened.settle()
        page.get_by_role("button", name=f"Remove {name}").click()
        opened.settle()
        assert {path.name for path in (home / "own").rglob("*") if path.is_file()} <= {".lock"}
    assert not target.exists()
