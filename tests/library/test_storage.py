"""Arenas on object storage: writers that overtake each other, readers beside them, what fails, what is kept here."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import objects as server
import pyarrow as pa
import pytest
import small_arena
from commands import CliRunner, mirage
from conftest import ROOT
from generating_cases import command as generate_command
from generating_cases import write as write_queries
from hypothesis import given
from hypothesis import strategies as st
from mirage.ranking.large import VerdictFiles, rank_files
from misbehaving import Service
from objects import BUCKET, KEY, SECRET, Storage
from parts_cases import by_text

from mirage import api, cli, schema, store
from mirage.errors import ArenaError, BadInput, MirageError, Unreachable
from mirage.ranking.settings import RankSettings
from mirage.store import cache, copies, home, objects, query_rows, remote
from mirage.store.ledger import ledger_path

ADDRESS = f"s3://{BUCKET}/team/arena"
MANIFEST = "team/arena/manifest.json"


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    """An object storage that the environment names, a home and a cache of the test's own."""
    with server.storage() as storage:
        for name, value in storage.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("MIRAGE_CACHE", str(tmp_path / "cache"))
        yield storage


@pytest.fixture
def path(storage: Storage) -> Path:
    """What stands for the address of the tests."""
    return store.locate(ADDRESS)


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    outcomes = schema.from_rows("outcomes", small_arena.outcomes())
    return {"judgments": small_arena.judgments(languages=("en", "fi", "sw")), "outcomes": outcomes}


@pytest.fixture
def arena(path: Path, tables: dict[str, pa.Table]) -> store.Arena:
    return store.write(path, tables, title="A title", made_by="a test")


def answer(system: str, query: str = "q0", text: str = "An answer.", language: str = "en") -> pa.Table:
    return schema.from_rows("answers", [schema.Answer(language, query, system, text, "ok", None, None, None)])


def forget_everything(tmp_path: Path) -> None:
    """Be another machine: nothing is kept, nothing is known."""
    remote._remote.cache_clear()
    for file in (tmp_path / "cache").rglob("*.lock"):
        file.unlink()
    for file in (tmp_path / "cache" / "objects").glob("*"):
        file.unlink()


def counted_requests(storage: Storage, method: str, part: str) -> int:
    return sum(request.method == method and part in request.path for request in storage.requests)


WRITER = """
import sys
from mirage import schema, store
for number in range(int(sys.argv[2])):
    rows = [schema.Answer("en", f"q{number}", sys.argv[1], f"Text {number}.", "ok", None, None, None)]
    new = {"answers": store.by_key("answers", schema.from_rows("answers", rows))}
    store.upsert(store.locate(sys.argv[3]), new, made_by="a test")
"""


def writer(system: str, n: int, home_folder: Path, address: str = ADDRESS) -> subprocess.Popen[bytes]:
    """A program that puts answers of a system into an arena, one by one, as if on a machine of its own."""
    folders = {"MIRAGE_HOME": str(home_folder), "MIRAGE_CACHE": str(home_folder / "cache")}
    command = [sys.executable, "-c", WRITER, system, str(n), address]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **folders, "PYTHONPATH": str(ROOT)})


# Addresses


@pytest.mark.parametrize(
    "text",
    [
        "s3://bucket",
        "s3://bucket/a/b c/é",
        "gs://bucket/a",
        "abfs://container@account.dfs.core.windows.net/a",
        "hdfs://name-node:8020/user/a",
    ],
)
def test_an_address_and_the_folder_that_stands_for_it_say_each_other(text: str) -> None:
    folder = store.locate(text)
    assert store.is_remote(folder)
    assert store.address(folder) == text
    assert folder.is_relative_to(home.home_folder())
    assert store.locate(text + "/") == folder


@given(
    st.lists(st.text(st.characters(exclude_characters="/?#", exclude_categories=("C", "Z")), min_size=1), max_size=4)
)
def test_any_folder_of_a_bucket_can_be_said(parts: list[str]) -> None:
    text = "/".join(["s3://bucket", *parts])
    if {".", ".."} & set(parts):
        with pytest.raises(BadInput):
            store.locate(text)
        return
    folder = store.locate(text)
    assert store.address(folder) == text
    assert ".." not in folder.parts


def test_a_path_is_a_path(tmp_path: Path) -> None:
    assert store.locate(str(tmp_path)) == tmp_path
    assert store.locate(f"file://{tmp_path}") == tmp_path
    assert not store.is_remote(tmp_path)
    assert store.address(tmp_path) == str(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        f"s3://{KEY}:{SECRET}@bucket/arena",
        f"s3://{KEY}@bucket/arena",
        f"s3://bucket/arena?X-Amz-Signature={SECRET}",
        f"s3://bucket/arena#{SECRET}",
        f"https://bucket.s3.amazonaws.com/arena?X-Amz-Credential={SECRET}",
        f"abfs://container:{SECRET}@account.dfs.core.windows.net/arena",
        f"hdfs://{SECRET}@host/arena",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        store.locate(text)
    assert SECRET not in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.do
    result = CliRunner().invoke(cli.app, ["check", text])
    assert result.exit_code == 2
    assert SECRET not in result.output
    assert KEY not in result.output


@pytest.mark.parametrize("text", ["s3://", "s3:///a", "s3://bucket/../a", "s3://bucket//a", "s3://bucket/a\nb"])
def test_an_address_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        store.locate(text)


def test_the_variable_of_arenas_takes_folders_and_addresses(
    storage: Storage, arena: store.Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, pa.Table]
) -> None:
    local = store.write(tmp_path / "2024-local", tables, made_by="a test")
    store.write(store.locate(f"s3://{BUCKET}/team/other"), tables, made_by="a test")
    monkeypatch.setattr(store, "bundled_arenas", dict)
    monkeypatch.setenv("MIRAGE_ARENAS", f"{local.path}:{ADDRESS}")
    paths, problems = home.all_arenas()
    assert (paths, problems) == ({"2024-local": local.path, "arena": arena.path}, [])
    monkeypatch.setenv("MIRAGE_ARENAS", f"s3://{BUCKET}/team:hdfs://host:8020/a:{local.path}")
    assert home._PLACE.findall(os.environ["MIRAGE_ARENAS"])[1] == "hdfs://host:8020/a"
    monkeypatch.setenv("MIRAGE_ARENAS", f"s3://{BUCKET}/team")
    assert set(home.all_arenas()[0]) == {"arena", "other"}
    for secret in (SECRET, f"with/a/slash{SECRET}"):
        monkeypatch.setenv("MIRAGE_ARENAS", f"s3://{KEY}:{secret}@{BUCKET}/team")
        paths, problems = home.all_arenas()
        assert len(problems) == 1
        assert SECRET not in problems[0]


# Reading and writing


def test_an_arena_is_the_same_there_and_here(
    storage: Storage, arena: store.Arena, tmp_path: Path, tables: dict[str, pa.Table]
) -> None:
    local = store.write(tmp_path / "arena", tables, title="A title", made_by="a test")
    assert storage.data(MANIFEST) == (local.path / "manifest.json").read_bytes()
    files = {file.relative_to(local.path).as_posix() for file in local.path.rglob("*.parquet")}
    for name in files:
        assert storage.data(f"team/arena/{name}") == (local.path / name).read_bytes()
    assert arena == store.Arena(arena.path, local.manifest, local.version)
    assert arena.read("judgments").equals(local.read("judgments"))
    sql = "SELECT * FROM judgments AS j JOIN outcomes AS o ON j.system_a = o.system ORDER BY ALL"
    assert arena.sql(sql).equals(local.sql(sql))
    assert store.check(arena) == store.check(local)
    assert arena.address == ADDRESS
    assert arena.name == "arena"
    key = ("fi", "q1")
    assert query_rows.of_query(arena, "judgments", key) == query_rows.of_query(local, "judgments", key)
    assert api.open_arena(ADDRESS).version == local.version


def test_only_the_files_that_are_needed_are_fetched(storage: Storage, arena: store.Arena, tmp_path: Path) -> None:
    forget_everything(tmp_path)
    storage.requests.clear()
    again = store.reopen(arena.path)
    again.read("judgments", columns=["verdict"], languages=["fi"])
    assert [request.path.split("/")[-1].split("-")[0] for request in storage.requests] == ["manifest.json", "fi"]
    again.sql("SELECT count(*) AS outcomes FROM judgments WHERE language = $l", {"l": "sw"}, languages=["sw"])
    assert counted_requests(storage, "GET", "judgments/sw") == 1
    assert counted_requests(storage, "GET", "judgments/en") == counted_requests(storage, "GET", "outcomes/") == 0
    storage.requests.clear()
    for _ in range(3):
        store.reopen(arena.path).read("judgments", languages=["fi", "sw"])
    assert storage.requests == []


def test_commands_take_an_address(storage: Storage, arena: store.Arena, tmp_path: Path) -> None:
    for command in (["check", ADDRESS], ["rates", ADDRESS], ["contents-absent"]):
        result = CliRunner().invoke(cli.app, command)
        assert result.exit_code == (0 if command[0] != "contents-absent" else 2), result.output
    file = tmp_path / "answers.jsonl"
    file.write_text('{"language": "en", "query_id": "q0", "text": "What?"}\n', "utf-8")
    new = f"s3://{BUCKET}/new"
    result = CliRunner().invoke(cli.app, ["import", "queries", str(file), "--into", new])
    assert result.exit_code == 0, result.output
    assert api.open_arena(new).rows("queries") == 1


@pytest.mark.parametrize(
    "command",
    [
        ["export", "dataset", ADDRESS, "--into"],
        ["export", "leaderboard", ADDRESS, "--out"],
        ["reproduce", ADDRESS, "--into"],
    ],
)
def test_what_is_no_arena_is_not_written_to_an_address(
    command: list[str], arena: store.Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.rglob("*"))
    result = CliRunner().invoke(cli.app, [*command, f"s3://{BUCKET}/elsewhere"])
    assert result.exit_code == 2
    assert "mirage arena copy" in result.output
    assert set(tmp_path.rglob("*")) == before


def test_the_ledger_stays_on_this_machine(storage: Storage, arena: store.Arena) -> None:
    with store.Ledger(ledger_path(arena.path)) as ledger:
        ledger.put("k", {"a": 1}, {"b": 2})
    with store.kept_ledger(arena.path) as kept:
        assert kept is not None
        assert kept.get("k") == {"b": 2}
    assert ledger_path(arena.path).is_relative_to(home.home_folder())
    assert not any("ledger" in key for key in storage.names())
    output = CliRunner().invoke(cli.app, ["judge", ADDRESS, "--dry-run", "--model", "m"]).output
    assert str(ledger_path(arena.path)) in output.replace("\n", "")
    assert "cached on this machine" not in CliRunner().invoke(cli.app, ["report", "rates", ADDRESS]).output


def test_an_arena_that_is_ranked_a_block_at_a_time_is_fetched(arena: store.Arena) -> None:
    files = VerdictFiles.of_arena(arena)
    assert len(files.paths) == 3
    ranking = rank_files(files, RankSettings(draws=20))
    assert set(ranking.languages) >= {"en", "fi", "sw"}


def test_a_ranking_of_some_languages_fetches_no_others(storage: Storage, arena: store.Arena) -> None:
    whole = rank_files(VerdictFiles.of_arena(arena), RankSettings(languages=("fi",), draws=20))
    forget_everything(Path(os.environ["MIRAGE_CACHE"]).parent)
    storage.requests.clear()
    files = VerdictFiles.of_arena(store.open_arena(arena.path), languages=["fi"])
    assert len(files.paths) == 1
    assert files.rows < arena.rows("judgments")
    assert counted_requests(storage, "GET", "/judgments/") == 1
    assert rank_files(files, RankSettings(languages=("fi",), draws=20)).table() == whole.table()
    assert len(VerdictFiles.of_arena(arena, languages=["fi", "te"]).paths) == 3, "who names a wrong one is told of all"


def test_the_makers_that_lie_beside_the_tables_are_read(storage: Storage, arena: store.Arena) -> None:
    storage.put("team/arena/makers.csv", b"system,maker\naya-101,Somebody\n")
    assert store.makers_of(arena).of("aya-101") == "Somebody"


def test_an_arena_is_copied_there_and_back(
    storage: Storage, tmp_path: Path, path: Path, tables: dict[str, pa.Table]
) -> None:
    local = store.write(tmp_path / "local", tables, made_by="a test")
    beside = {"makers.csv": b"system,maker\naya-101,Somebody\n", "taxonomy.yaml": b"- name: wrong\n  meaning: It is.\n"}
    for name, data in beside.items():
        (local.path / name).write_bytes(data)
    result = CliRunner().invoke(cli.app, ["arena", "copy", str(local.path), ADDRESS])
    assert result.exit_code == 0, result.output
    assert store.open_arena(path).version == local.version
    result = CliRunner().invoke(cli.app, ["arena", "copy", ADDRESS, str(tmp_path / "back")])
    assert result.exit_code == 0, result.output
    assert store.check(store.open_arena(tmp_path / "back")) == store.check(local)
    result = CliRunner().invoke(cli.app, ["arena", "copy", ADDRESS, f"s3://{BUCKET}/third"])
    assert result.exit_code == 0, result.output
    assert api.open_arena(f"s3://{BUCKET}/third").version == local.version
    for name, data in beside.items():
        assert (tmp_path / "back" / name).read_bytes() == data
    assert store.makers_of(store.open_arena(path)).of("aya-101") == "Somebody"


def test_an_arena_is_not_begun_where_other_things_are(
    storage: Storage, path: Path, tables: dict[str, pa.Table]
) -> None:
    storage.put("team/arena/holiday.jpg", b"x")
    with pytest.raises(ArenaError, match="other files"):
        store.write(path, tables, made_by="a test")
    assert storage.names() == {"team/arena/holiday.jpg"}


def test_shares_of_an_arena_there_together_are_the_whole(storage: Storage, tmp_path: Path) -> None:
    """Two machines that share the bucket alone; the third, which merges, has no ledger of theirs."""
    whole = write_queries(tmp_path / "whole", n=4)
    write_queries(store.locate(f"s3://{BUCKET}/shared"), n=4)
    shared = f"s3://{BUCKET}/shared"
    with Service(by_text) as service:
        for n, step in enumerate((generate_command(whole, service), ["features", str(whole), "--reference", "mine"])):
            mirage(*step)
            for number in (1, 2):
                with pytest.MonkeyPatch.context() as machine:
                    machine.setenv("MIRAGE_HOME", str(tmp_path / f"{n}-{number}"))
                    remote._remote.cache_clear()
                    there = [shared if word == str(whole) else word for word in step]
                    result = mirage(*there, "--shard", f"{number}/2")
                    assert f"mirage arena merge {shared} {shared}.part-{number}-of-2" in result.stderr.replace(
                        "\n", " "
                    )
            parts = [f"{shared}.part-{number}-of-2" for number in (1, 2)]
            mirage("arena", "merge", shared, *parts)
    merged, expected = api.open_arena(shared), store.open_arena(whole)
    assert merged.tables == expected.tables
    for name, files in expected.manifest["tables"].items():
        assert [file["sha256"] for file in merged.manifest["tables"][name]] == [file["sha256"] for file in files]
    version = merged.version
    mirage("arena", "merge", shared, *reversed(parts))
    assert api.open_arena(shared).version == version


def test_a_conflict_of_shares_names_their_addresses(storage: Storage, arena: store.Arena, path: Path) -> None:
    for name, text in (("one", "A text."), ("two", "Another text.")):
        part = store.locate(f"s3://{BUCKET}/{name}")
        store.write(part, {"answers": answer("mine", text=text)}, made_by="a test")
    result = mirage("arena", "merge", ADDRESS, f"s3://{BUCKET}/one", f"s3://{BUCKET}/two", code=2)
    assert f"s3://{BUCKET}/one" in result.stderr.replace("\n", "")
    assert str(home.home_folder()) not in result.stderr.replace("\n", "")
    assert "answers" not in store.open_arena(path).tables


# Several at once


def test_of_two_machines_that_write_at_once_no_row_is_lost(storage: Storage, path: Path, tmp_path: Path) -> None:
    writers = [writer(system, 6, tmp_path / system) for system in ("first", "second")]
    assert [process.wait() for process in writers] == [0, 0]
    answers = store.open_arena(path).read("answers")
    expected = {(system, f"q{n}") for system in ("first", "second") for n in range(6)}
    assert set(zip(answers["system"].to_pylist(), answers["query_id"].to_pylist(), strict=True)) == expected
    store.check(store.open_arena(path))


def test_who_begins_an_arena_that_another_begins_meanwhile_writes_into_it(
    storage: Storage, path: Path, tmp_path: Path
) -> None:
    """The other one begins it after this one saw that there is no manifest, and before it looks what is there."""

    def begin(method: str, name: str) -> None:
        if method == "GET" and not name.endswith("manifest.json"):
            storage.before = lambda _method, _path: None
            assert writer("other", 1, tmp_path / "other").wait() == 0

    storage.before = begin
    store.upsert(path, {"answers": store.by_key("answers", answer("mine"))}, made_by="a test")
    assert sorted(store.open_arena(path).read("answers")["system"].to_pylist()) == ["mine", "other"]


def test_a_writer_that_is_overtaken_writes_again_on_the_others_rows(
    storage: Storage, path: Path, tmp_path: Path, arena: store.Arena
) -> None:
    """The other one commits between this one's reading and its commit, each time for the first three times."""
    interrupted = []

    def overtake(method: str, name: str) -> None:
        if method == "PUT" and "answers/" in name and len(interrupted) < 3:
            interrupted.append(name)
            storage.before = lambda _method, _path: None
            done = writer(f"other-{len(interrupted)}", 1, tmp_path / "other").wait()
            assert done == 0
            storage.before = overtake

    storage.before = overtake
    store.upsert(path, {"answers": store.by_key("answers", answer("mine"))}, made_by="a test")
    systems = store.open_arena(path).read("answers")["system"].to_pylist()
    assert sorted(systems) == ["mine", "other-1", "other-2", "other-3"]


def test_who_is_killed_between_the_files_and_the_manifest_leaves_the_old_arena(
    storage: Storage, path: Path, tmp_path: Path, arena: store.Arena
) -> None:
    reached, leave = threading.Event(), threading.Event()

    def lose_the_manifest(method: str, name: str) -> tuple[int, str] | None:
        if method != "PUT" or not name.endswith("manifest.json"):
            return None
        reached.set()
        leave.wait()
        return 503, "SlowDown"

    storage.fault = lose_the_manifest
    process = writer("killed", 1, tmp_path / "killed")
    assert reached.wait(300)
    process.send_signal(signal.SIGKILL)
    process.wait()
    leave.set()
    storage.fault = lambda _method, _path: None
    (leftover,) = (key for key in storage.names() if "/answers/" in key)
    assert store.open_arena(path).version == arena.version
    store.check(store.open_arena(path))
    # It may be another's who is about to name it; an hour later it is nobody's.
    store.upsert(path, {"answers": store.by_key("answers", answer("next"))}, made_by="a test")
    assert leftover in storage.names()
    storage.age(leftover, 2)
    store.upsert(path, {"answers": store.by_key("answers", answer("last"))}, made_by="a test")
    assert leftover not in storage.names()
    store.check(store.open_arena(path))


def test_a_reader_sees_the_old_arena_or_the_new_one(storage: Storage, path: Path, tmp_path: Path) -> None:
    """While another machine writes, whatever is opened is whole, and its files agree with its manifest."""
    process = writer("writer", 8, tmp_path / "writer")
    sizes = []
    while process.poll() is None:
        if store.is_arena(path):
            forget_everything(tmp_path)
            sizes.append(store.consistently(path, lambda arena: len(arena.read("answers"))))
    assert process.returncode == 0
    assert sizes == sorted(sizes)
    assert store.open_arena(path).rows("answers") == 8


def test_a_reader_keeps_what_it_opened_while_the_next_one_is_written(
    storage: Storage, arena: store.Arena, path: Path, tmp_path: Path, tables: dict[str, pa.Table]
) -> None:
    for key in storage.names():
        storage.age(key, 48)
    expected = arena.read("judgments")
    forget_everything(tmp_path)
    store.write(path, {"judgments": tables["judgments"].slice(0, 5)}, made_by="a test")
    forget_everything(tmp_path)
    assert arena.read("judgments").equals(expected)
    store.write(path, {"judgments": tables["judgments"].slice(0, 4)}, made_by="a test")
    forget_everything(tmp_path)
    with pytest.raises(ArenaError, match="changed while"):
        arena.read("judgments")


def test_a_new_manifest_is_noticed_within_seconds(
    storage: Storage, arena: store.Arena, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.reopen(path).version == arena.version
    assert writer("other", 1, tmp_path / "other").wait() == 0
    storage.requests.clear()
    assert store.reopen(path).version == arena.version
    assert storage.requests == []
    later = time.monotonic() + remote.FRESH
    monkeypatch.setattr(remote.time, "monotonic", lambda: later)
    assert "answers" in store.reopen(path).tables
    assert counted_requests(storage, "GET", "manifest.json") == 1


def test_a_storage_that_does_not_heed_conditions_is_refused(
    storage: Storage, path: Path, tables: dict[str, pa.Table]
) -> None:
    application = storage._application

    def without_conditions(environ: dict[str, object], start: object) -> object:
        for name in ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH"):
            environ.pop(name, None)
        return application(environ, start)

    storage._application = without_conditions
    with pytest.raises(ArenaError, match="ignores write conditions"):
        store.write(path, tables, made_by="a test")
    assert not any(key.endswith((".parquet", "manifest.json")) for key in storage.names())


def test_an_arena_on_hdfs_is_read_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, pa.Table]
) -> None:
    """Without a Hadoop cluster: the file system behind the address is a folder."""
    from pyarrow import fs

    local = store.write(tmp_path / "files" / "arena", tables, made_by="a test")
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MIRAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        objects, "open_hadoop", lambda _address: (fs.LocalFileSystem(), str(tmp_path / "files" / "arena"))
    )
    path = store.locate("hdfs://name-node:8020/arena")
    arena = store.open_arena(path)
    assert arena.read("judgments").equals(local.read("judgments"))
    before = sorted((tmp_path / "files").rglob("*"))
    with pytest.raises(ArenaError, match="read-only"):
        store.write(path, tables, made_by="a test")
    assert sorted((tmp_path / "files").rglob("*")) == before


# What is kept


def test_a_kept_file_that_is_damaged_is_fetched_again(storage: Storage, arena: store.Arena, tmp_path: Path) -> None:
    expected = arena.read("judgments")
    for file in (tmp_path / "cache" / "objects").iterdir():
        file.write_bytes(file.read_bytes()[:-9] + b"damaged!!")
    with pytest.raises(ArenaError, match="damaged"):
        arena.read("judgments")
    assert arena.read("judgments").equals(expected)
    for file in (tmp_path / "cache" / "objects").iterdir():
        file.unlink()
    assert arena.sql("SELECT count(*) AS n FROM judgments")["n"].to_pylist() == [len(expected)]


def test_a_file_that_is_not_what_the_manifest_says_is_never_kept(
    storage: Storage, arena: store.Arena, tmp_path: Path
) -> None:
    forget_everything(tmp_path)
    (key,) = (key for key in storage.names() if "judgments/fi" in key)
    storage.put(key, b"x" * len(storage.data(key)))
    with pytest.raises(ArenaError, match="manifest"):
        arena.read("judgments", languages=["fi"])
    with pytest.raises(ArenaError, match="manifest"):
        arena.sql("SELECT * FROM judgments")
    assert not any(file.name.endswith(".tmp") for file in (tmp_path / "cache" / "objects").iterdir())
    hashes = {hashlib.sha256(file.read_bytes()).hexdigest() for file in (tmp_path / "cache" / "objects").iterdir()}
    assert hashes == {file.name for file in (tmp_path / "cache" / "objects").iterdir()}


def test_a_manifest_cannot_name_a_file_outside(storage: Storage, arena: store.Arena, path: Path) -> None:
    text = storage.data(MANIFEST).decode()
    digest = arena.manifest["tables"]["judgments"][0]["sha256"]
    for old, new in ((f'"{digest}"', '"../../../etc/passwd"'), ("judgments/en-", "../other/en-")):
        storage.put(MANIFEST, text.replace(old, new).encode())
        with pytest.raises(ArenaError, match="outside the arena"):
            store.open_arena(path)


def test_what_was_used_longest_ago_goes_when_there_is_too_much(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache.LIMIT, "1")
    monkeypatch.setattr(cache, "SPARED", 0.0)
    parts = [bytes([number]) * 300_000 for number in range(6)]
    kept = [cache.cached(hashlib.sha256(part).hexdigest(), len(part), lambda part=part: [part]) for part in parts[:3]]
    for age, file in zip((10, 30, 20), kept, strict=True):
        os.utime(file, (time.time() - age, time.time() - age))
    cache.cached(kept[1].name, 300_000, lambda: pytest.fail("it is there"))  # used now
    cache.cached(hashlib.sha256(parts[3]).hexdigest(), 300_000, lambda: [parts[3]])
    assert [file.exists() for file in kept] == [True, True, False]
    monkeypatch.setattr(cache, "SPARED", 60.0)
    for part in parts:
        cache.cached(hashlib.sha256(part).hexdigest(), len(part), lambda part=part: [part])
    assert len(list((tmp_path / "cache" / "objects").iterdir())) == 6, "what is in use stays"
    monkeypatch.setenv(cache.LIMIT, "none")
    with pytest.raises(BadInput, match=cache.LIMIT):
        cache.cached("0" * 64, 1, lambda: [b"x"])


def test_a_file_that_several_want_at_once_is_fetched_once(storage: Storage, arena: store.Arena, tmp_path: Path) -> None:
    forget_everything(tmp_path)
    storage.requests.clear()
    threads = [threading.Thread(target=arena.read, args=("judgments",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted_requests(storage, "GET", "judgments/") == 3


# What goes wrong


def tell(storage: Storage, code: str, status: int, *, writing: bool = False) -> None:
    """Let requests be refused: all, or those that write."""
    storage.fault = lambda method, _path: (status, code) if not writing or method == "PUT" else None


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("InvalidAccessKeyId", 403, "credentials"),
        ("SignatureDoesNotMatch", 403, "credentials"),
        ("AccessDenied", 403, "denies"),
        ("ExpiredToken", 400, "expired"),
        ("NoSuchBucket", 404, "no arena"),
    ],
)
def test_a_refusal_says_what_to_do_and_no_secret(
    storage: Storage, arena: store.Arena, path: Path, code: str, status: int, words: str
) -> None:
    tell(storage, code, status)
    with pytest.raises(MirageError, match=words) as caught:
        store.open_arena(path)
    assert caught.value.do
    result = CliRunner().invoke(cli.app, ["check", ADDRESS])
    assert result.exit_code == 2
    for text in (str(caught.value), repr(caught.value.__context__ and caught.value), result.output):
        assert KEY not in text
        assert SECRET not in text
        assert "Traceback" not in text
    assert caught.value.__suppress_context__


def test_a_bucket_that_is_only_read_is_as_it_was(
    storage: Storage, arena: store.Arena, path: Path, tables: dict[str, pa.Table]
) -> None:
    keys, manifest, expected = storage.names(), storage.data(MANIFEST), arena.read("judgments")
    tell(storage, "AccessDenied", 403, writing=True)
    with pytest.raises(ArenaError, match="cannot be written"):
        store.write(path, {"judgments": tables["judgments"].slice(0, 3)}, made_by="a test")
    assert store.open_arena(path).read("judgments").equals(expected)
    assert (storage.names(), storage.data(MANIFEST)) == (keys, manifest)


def test_credentials_that_expire_in_the_middle_leave_the_old_arena(
    storage: Storage, arena: store.Arena, path: Path
) -> None:
    manifest = storage.data(MANIFEST)
    storage.fault = lambda method, name: (400, "ExpiredToken") if method == "PUT" and "manifest" in name else None
    with pytest.raises(ArenaError, match="expired"):
        store.upsert(path, {"answers": store.by_key("answers", answer("late"))}, made_by="a test")
    assert storage.data(MANIFEST) == manifest
    storage.fault = lambda _method, _path: None
    assert "answers" not in store.open_arena(path).tables
    store.upsert(path, {"answers": store.by_key("answers", answer("late"))}, made_by="a test")
    assert store.open_arena(path).rows("answers") == 1


def test_a_storage_that_is_gone_or_slow_is_told_of_within_its_time(
    storage: Storage, arena: store.Arena, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "READ_SECONDS", 1)
    monkeypatch.setattr(objects, "RETRY_SECONDS", 1)
    remote._remote.cache_clear()
    leave = threading.Event()
    storage.before = lambda _method, _path: leave.wait()
    with pytest.raises(Unreachable) as caught:
        store.open_arena(path)
    leave.set()
    assert caught.value.do
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(Unreachable):
        store.open_arena(path)


def test_no_secret_is_written_anywhere(storage: Storage, arena: store.Arena, path: Path, tmp_path: Path) -> None:
    arena.read("judgments")
    arena.sql("SELECT 1 FROM outcomes")
    with store.Ledger(ledger_path(path)) as ledger:
        ledger.put("k", {}, {})
    contents = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    contents += [storage.data(key) for key in storage.names()]
    contents += [repr(arena).encode(), repr(remote.remote_of(path)).encode(), *map(os.fsencode, tmp_path.rglob("*"))]
    assert not any(secret.encode() in content for content in contents for secret in (KEY, SECRET))


def test_without_the_extra_an_address_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    remote._remote.cache_clear()
    with pytest.raises(BadInput, match="obstore") as caught:
        store.open_arena(store.locate("s3://bucket/without"))
    assert "mirage-rag[storage]" in caught.value.do


def test_pitfall_144_a_storage_that_turns_down_three_of_ten_requests_is_asked_again(
    storage: Storage, arena: store.Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(objects, "_LONGEST_PAUSE", 0.05)
    forget_everything(tmp_path)
    rng = random.Random(0)
    storage.fault = lambda _method, _path: (503, "SlowDown") if rng.random() < 0.3 else None
    for number in range(4):
        copied = store.copy(store.open_arena(arena.path), tmp_path / f"copy{number}")
        there = store.copy(copied, store.locate(f"{ADDRESS}-{number}"))
        assert there.manifest["tables"] == arena.manifest["tables"]
        forget_everything(tmp_path)


def test_pitfall_144_a_copy_onto_a_full_disk_leaves_nothing(
    arena: store.Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:10])
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr(copies.shutil, "copyfile", fill)
    (tmp_path / "empty").mkdir()
    for name, exists in (("new", False), ("empty", True)):
        with pytest.raises(ArenaError, match="No space left"):
            store.copy(arena, tmp_path / name)
        assert (tmp_path / name).exists() == exists
    assert not list((tmp_path / "empty").iterdir())
