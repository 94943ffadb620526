"""Arenas on disk: whole writes, the manifest last, readers that reach nothing else, and what a damaged one says."""

import gzip
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_cases import edit_manifest, file_size_limit, forge, snapshot

from mirage import schema
from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.store import arena as arenas
from mirage.store import files as store_files
from mirage.store import writing
from mirage.store.arena import Arena, open_arena
from mirage.store.files import Sink, list_files, write_text
from mirage.store.writing import Provenance

TESTS = Path(__file__).parents[1]
OURS = os.pathsep.join(str(folder) for folder in (TESTS, TESTS / "fixtures", TESTS / "library"))
"""Where a program of its own finds this module and what it imports."""


def queries(*languages: str, n: int = 3, text: str = "a query") -> pa.Table:
    keys = [(code, f"{i}") for i in reversed(range(n)) for code in languages]
    return schema.from_columns(
        "queries",
        {
            "language": [code for code, _ in keys],
            "query_id": [i for _, i in keys],
            "subset": ["relevant"] * len(keys),
            "text": [f"{text} {code} {i}" for code, i in keys],
        },
    )


def answers(*languages: str, n: int = 3) -> pa.Table:
    keys = [(code, f"{i}", system) for code in languages for i in range(n) for system in ("one", "two")]
    return schema.from_columns(
        "answers",
        {
            "language": [k[0] for k in keys],
            "query_id": [k[1] for k in keys],
            "system": [k[2] for k in keys],
            "text": ["Yes."] * len(keys),
            "status": ["ok"] * len(keys),
        },
    )


def make(path: Path, **options: Any) -> Arena:
    tables = {"queries": queries("en", "ar"), "answers": answers("en", "ar")}
    return writing.write(path, tables, **{"made_by": "a test", **options})


# --- writing and reading ----------------------------------------------------------------------------------------------


def test_a_written_arena_describes_itself_and_returns_rows_in_order_of_keys(tmp_path: Path) -> None:
    arena = make(
        tmp_path / "a",
        title="Small",
        label="simulated",
        about="Three queries.",
        licence="CC0",
        made_by=Provenance("a test", [{"name": "x", "sha256": "0"}], ["nothing is missing"]),
    )
    assert (arena.name, arena.title, arena.label) == ("a", "Small", "simulated")
    assert arena.tables == ("queries", "answers")
    assert arena.languages("queries") == ("ar", "en")
    assert (arena.rows("queries"), arena.rows("features")) == (6, 0)
    back = arena.read("queries")
    assert back["language"].to_pylist() == ["ar"] * 3 + ["en"] * 3
    assert back["query_id"].to_pylist() == ["0", "1", "2"] * 2
    assert arena.manifest["made"]["queries"] == {
        "by": "a test",
        "from": [{"name": "x", "sha256": "0"}],
        "notes": ["nothing is missing"],
    }
    assert len(arenas.check(arena)) == 2


def test_text_can_be_read_as_numbers_of_its_distinct_values() -> None:
    arena = open_arena(arenas.bundled_arenas()["sample"])
    for table in arena.tables:
        plain = arena.read(table)
        texts = [field.name for field in plain.schema if pa.types.is_string(field.type)]
        encoded = arena.read(table, encoded=texts)
        assert encoded.to_pylist() == plain.to_pylist()
        assert all(pa.types.is_dictionary(encoded.schema.field(name).type) for name in texts)
        for name in texts:
            dictionaries = [chunk.dictionary for chunk in encoded[name].chunks]
            assert all(values == dictionaries[0] for values in dictionaries), "a number means the same in all chunks"
    part = arena.read("answers", columns=["system"], languages=["en"], encoded=["system"])
    assert part.to_pylist() == arena.read("answers", columns=["system"], languages=["en"]).to_pylist()


def test_pitfall_44_an_unknown_table_column_or_language_is_an_error(tmp_path: Path) -> None:
    arena = make(tmp_path / "a")
    with pytest.raises(UnknownName, match="there is no table 'query'"):
        arena.read("query")
    with pytest.raises(UnknownName, match="did you mean: text"):
        arena.read("queries", columns=["texts"])
    with pytest.raises(UnknownName, match="there is no language 'fi'"):
        arena.read("queries", languages=["en", "fi"])
    with pytest.raises(UnknownName, match="there is no language 'english'"):
        arena.read("queries", languages=["english"])


def test_a_write_replaces_its_tables_and_leaves_the_others(tmp_path: Path) -> None:
    before = make(tmp_path / "a", title="Kept")
    after = writing.write(tmp_path / "a", {"queries": queries("de")}, made_by="another")
    assert after.title == "Kept"
    assert after.version != before.version
    assert after.languages("queries") == ("de",)
    assert after.read("answers").equals(before.read("answers"))
    assert after.manifest["made"]["answers"]["by"] == "a test"
    assert len(list((tmp_path / "a" / "queries").iterdir())) == 1, "files of the old table are swept"


def test_what_was_made_from_a_table_goes_when_the_table_changes_and_only_then(tmp_path: Path) -> None:
    make(tmp_path / "a")
    same = writing.write(tmp_path / "a", {"queries": queries("en", "ar")}, made_by="again", stale=["answers"])
    assert same.tables == ("queries", "answers")
    other = writing.write(tmp_path / "a", {"queries": queries("en")}, made_by="again", stale=["answers"])
    assert other.tables == ("queries",)
    assert not list((tmp_path / "a" / "answers").iterdir())
    assert set(other.manifest["made"]) == {"queries"}


@pytest.mark.parametrize("named", ["title", "about"])
def test_half_a_character_is_refused_before_anything_is_written(tmp_path: Path, named: str) -> None:
    with pytest.raises(BadInput, match="lone surrogate"):
        writing.write(tmp_path / "a", {"queries": queries("en")}, made_by="test", **{named: "so \udc80 then"})
    assert not (tmp_path / "a").exists()


def test_a_table_without_rows_is_a_table(tmp_path: Path) -> None:
    arena = writing.write(tmp_path / "a", {"queries": queries(), "answers": answers("en")}, made_by="a test")
    assert len(arena.read("queries")) == 0
    assert arena.sql("select count(*) as n, max(text) as t from queries").to_pylist() == [{"n": 0, "t": None}]
    assert arenas.check(arena)


@pytest.mark.parametrize("name", ["run [1] it's", "名前", "a{b,c}"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    arena = make(tmp_path / name)
    assert arena.sql("select count(*) as n from queries").to_pylist() == [{"n": 6}]
    assert len(arena.read("queries")) == 6


def test_pitfall_43_an_arena_and_a_file_can_be_written_beside_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(Path("notes.txt"), "text")
    assert Path("notes.txt").read_text("utf-8") == "text"
    arena = make(Path("a"))
    assert arena.path == tmp_path / "a"
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert len(make(Path()).read("queries")) == 6


def test_the_bundled_arenas_are_found_and_sound() -> None:
    bundled = arenas.bundled_arenas()
    assert set(bundled) >= {"nomiracl", "people", "published", "sample"}
    assert all(arenas.check(open_arena(path)) for path in bundled.values())


# --- readers reach the arena and nothing else -------------------------------------------------------------------------


def test_values_go_into_sql_as_parameters(tmp_path: Path) -> None:
    arena = make(tmp_path / "a")
    rows = arena.sql("select query_id from queries where language = ? and text = ?", ["en", "a query en 1"])
    assert rows.to_pylist() == [{"query_id": "1"}]
    assert arena.sql("select * from queries where text = ?", ["' or 1=1 --"]).num_rows == 0


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('{other}')",
        "select * from read_text('{other}')",
        "select * from read_parquet('{sibling}/queries/*.parquet')",
        "select * from read_text('{arena}/manifest.json')",
        "select * from glob('/*')",
        "copy queries to '{other}.new'",
        "attach '{other}.db'",
        "export database '{other}.d'",
        "load httpfs",
        "set enable_external_access = true",
        "set allowed_paths = ['{other}']",
        "reset lock_configuration",
    ],
)
def test_sql_reaches_no_file_outside_the_arena_and_changes_none(tmp_path: Path, query: str) -> None:
    import duckdb

    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n", "utf-8")
    make(tmp_path / "sibling")
    arena = make(tmp_path / "a")
    before = snapshot(tmp_path)
    with pytest.raises(duckdb.Error):
        arena.sql(query.format(other=other, arena=arena.path, sibling=tmp_path / "sibling"))
    assert snapshot(tmp_path) == before


def test_several_threads_may_ask_at_once(tmp_path: Path) -> None:
    arena = make(tmp_path / "a")
    counts: list[int] = []

    def ask() -> None:
        for _ in range(5):
            counts.extend(row["n"] for row in arena.sql("select count(*) as n from answers").to_pylist())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [12] * 20


def test_a_reader_of_an_arena_that_was_rewritten_meanwhile_is_told_so(tmp_path: Path) -> None:
    old = make(tmp_path / "a")
    writing.write(tmp_path / "a", {"queries": queries("de")}, made_by="another")
    for read in (lambda: old.read("queries"), lambda: old.sql("select max(text) from queries")):
        with pytest.raises(ArenaError, match="was changed while it was being read"):
            read()
    assert len(old.read("answers")) == 12, "what the write did not touch is still read"
    assert len(open_arena(tmp_path / "a").read("queries")) == 3


# --- damaged, half-written, tampered, foreign -------------------------------------------------------------------------


def first_file(path: Path) -> Path:
    return sorted((path / "queries").iterdir())[0]


def test_a_folder_that_is_absent_or_half_written_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="there is no arena at"):
        open_arena(tmp_path / "nowhere")
    with pytest.raises(ArenaError, match=r"did you mean nomiracl\?"):
        open_arena(Path("nomircal"))
    with pytest.raises(ArenaError, match=r"there is no file \S+answers\.jsonl"):
        open_arena(Path("answers.jsonl"))
    make(tmp_path / "a")
    (tmp_path / "a" / "manifest.json").unlink()
    with pytest.raises(ArenaError, match=r"not a finished arena(.|\n)*rerun the command that was writing it"):
        open_arena(tmp_path / "a")
    assert arenas.check(make(tmp_path / "a")), "and running it again works"


def test_a_file_that_is_absent_or_of_another_size_is_seen_on_opening(tmp_path: Path) -> None:
    make(tmp_path / "a")
    file = first_file(tmp_path / "a")
    raw = file.read_bytes()
    file.write_bytes(raw[:-1])
    with pytest.raises(ArenaError, match="bytes instead of"):
        open_arena(tmp_path / "a")
    file.unlink()
    with pytest.raises(ArenaError, match="it is missing"):
        open_arena(tmp_path / "a")


def test_a_file_of_no_format_is_named_though_its_hash_holds(tmp_path: Path) -> None:
    path = make(tmp_path / "a").path
    file = first_file(path)
    file.write_bytes(b"PAR1 no Parquet PAR1")
    facts = {"bytes": file.stat().st_size, "sha256": store_files.fingerprint(file)}
    edit_manifest(
        path, lambda m: [entry.update(facts) for entry in m["tables"]["queries"] if file.name in entry["path"]]
    )
    with pytest.raises(ArenaError, match=file.name):
        open_arena(path).sql("SELECT 1")


def test_changed_content_of_the_same_size_is_seen_by_check_and_named_on_reading(tmp_path: Path) -> None:
    arena = make(tmp_path / "a")
    file = first_file(tmp_path / "a")
    file.write_bytes(bytes(len(file.read_bytes())))
    for read in (
        lambda: arenas.check(arena),
        lambda: arena.read("queries"),
        lambda: arena.sql("select max(text) from queries"),
    ):
        with pytest.raises(ArenaError, match=r"SHA-256(.|\n)*" + file.name):
            read()
    assert arenas.check(make(tmp_path / "a")), "making it again mends it"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["tables"]["queries"][0].update(rows=2), "3 rows instead of 2"),
        (lambda m: m["tables"]["queries"][0].update(language="fi"), "language does not match"),
        (
            lambda m: m["tables"]["queries"].append(m["tables"]["queries"][0]),
            "queries has 3 duplicate keys",
        ),
        (lambda m: m["tables"]["queries"].reverse(), "not in order"),
        (lambda m: m.update(certified="yes"), "a member 'certified'"),
        (lambda m: m["tables"]["queries"][0].update(sha256="0" * 64), "SHA-256"),
    ],
)
def test_check_sees_a_manifest_that_does_not_match_its_tables(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    make(tmp_path / "a")
    edit_manifest(tmp_path / "a", change)
    with pytest.raises((ArenaError, BadInput), match=message):
        arenas.check(open_arena(tmp_path / "a"))


def test_check_sees_rows_that_break_the_contract_though_the_manifest_agrees(tmp_path: Path) -> None:
    make(tmp_path / "a")
    file = first_file(tmp_path / "a")
    data = pq.read_table(file)
    for rows, problem in (
        (pa.concat_tables([data, data.slice(len(data) - 1)]), "duplicate keys"),
        (data.take(list(reversed(range(len(data))))), "not in order"),
        (data.drop_columns(["query_id"]), "a file of the arena is damaged"),
    ):
        forge(tmp_path / "a", "queries", rows)
        with pytest.raises((BadInput, ArenaError), match=problem):
            arenas.check(open_arena(tmp_path / "a"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format=2), "it has format 2"),
        (lambda m: m.pop("title"), "it has no text 'title'"),
        (lambda m: m.update(tables=[]), "provenance of a table is missing"),
        (lambda m: m["tables"].update(queries={}), "the files of queries are not a list"),
        (lambda m: m["tables"]["queries"][0].pop("rows"), "a file of queries lacks one of"),
        (lambda m: m["tables"]["queries"][0].update(language="xx"), "the unknown language 'xx'"),
        (
            lambda m: (m["tables"].update(extra=[]), m["made"].update(extra={})),
            "a table 'extra'",
        ),
    ],
)
def test_a_manifest_that_says_too_little_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    make(tmp_path / "a")
    edit_manifest(tmp_path / "a", change)
    with pytest.raises(ArenaError, match=message):
        open_arena(tmp_path / "a")


def test_a_manifest_that_repeats_a_member_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "a")
    file = tmp_path / "a" / "manifest.json"
    file.write_text(file.read_text("utf-8").replace('"title"', '"title": "Another", "title"', 1), "utf-8")
    with pytest.raises(ArenaError, match="repeated"):
        open_arena(tmp_path / "a")


@pytest.mark.parametrize(
    "outside", ["../secret.parquet", "queries/../../secret.parquet", "{root}/secret.parquet", "link"]
)
def test_a_manifest_that_names_a_file_outside_the_arena_is_refused(tmp_path: Path, outside: str) -> None:
    make(tmp_path / "a")
    secret = tmp_path / "secret.parquet"
    shutil.copy(first_file(tmp_path / "a"), secret)
    (tmp_path / "a" / "link").symlink_to(secret)
    named = outside.format(root=tmp_path)
    edit_manifest(tmp_path / "a", lambda m: m["tables"]["queries"][0].update(path=named))
    with pytest.raises(ArenaError, match="a file outside the arena"):
        open_arena(tmp_path / "a")


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", "utf-8")
    before = snapshot(tmp_path)
    with pytest.raises(ArenaError, match="holds other files and is not an arena"):
        make(tmp_path)
    assert snapshot(tmp_path) == before


def test_who_begins_an_arena_that_another_begins_meanwhile_writes_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one begins it after this one saw that there is no manifest, and before it looks what is there."""
    path = tmp_path / "arena"
    path.mkdir()
    look = Path.iterdir

    def begin(folder: Path) -> Iterator[Path]:
        monkeypatch.setattr(Path, "iterdir", look)
        make(path)
        return look(folder)

    monkeypatch.setattr(Path, "iterdir", begin)
    writing.write(path, {"passages": passages()}, made_by="a test")
    assert set(open_arena(path).tables) == {"queries", "answers", "passages"}


def test_files_of_others_inside_an_arena_are_never_swept(tmp_path: Path) -> None:
    make(tmp_path / "a")
    files = [tmp_path / "a" / "README.md", tmp_path / "a" / "queries" / "notes.txt", tmp_path / "a" / "x.tmp"]
    for file in files:
        file.write_text("mine", "utf-8")
    writing.write(tmp_path / "a", {"queries": queries("de")}, made_by="another")
    assert all(file.exists() for file in files)


def test_a_table_that_breaks_the_contract_is_refused_before_the_first_byte(tmp_path: Path) -> None:
    make(tmp_path / "a")
    before = snapshot(tmp_path)
    twice = pa.concat_tables([queries("en"), queries("en")])
    with pytest.raises(BadInput, match="duplicate keys"):
        writing.write(tmp_path / "a", {"answers": answers("fi"), "queries": twice}, made_by="a test")
    assert snapshot(tmp_path) == before


# --- a disk that does not take it, and a process that dies ------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_a_full_disk_gives_a_clear_error_and_leaves_the_arena_as_it_was(tmp_path: Path, share: float) -> None:
    make(tmp_path / "a")
    before = snapshot(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "room")
    sizes = sorted(p.stat().st_size for p in make_other(tmp_path / "room").path.rglob("*.*") if p.name != ".lock")
    limit = sizes[round(share * (len(sizes) - 1))] - 1
    with file_size_limit(limit), pytest.raises(ArenaError, match=r"cannot be written(.|\n)*the arena is unchanged"):
        make_other(tmp_path / "a")
    assert snapshot(tmp_path / "a") == before, "nothing half-written is left behind to fill the disk"
    assert arenas.check(open_arena(tmp_path / "a"))


def test_a_folder_that_may_not_be_written_gives_a_clear_error(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        target = Path("/proc/arena")  # where even root may not write
    else:
        tmp_path.chmod(0o500)
        target = tmp_path / "a"
    with pytest.raises(ArenaError, match=r"cannot be written(.|\n)*check permissions"):
        make(target)


def test_a_write_waits_for_another_and_says_so_when_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    make(tmp_path / "a")
    monkeypatch.setattr(writing, "LOCK_SECONDS", 0.05)
    with FileLock(tmp_path / "a" / ".lock"), pytest.raises(ArenaError, match="another program has been writing"):
        make_other(tmp_path / "a")
    assert arenas.check(make_other(tmp_path / "a"))


def make_other(path: Path) -> Arena:
    """Another content for the arena of `make`: one table replaced, one new, one removed, several files each."""
    tables = {"queries": queries("en", "de", "fi", n=40), "passages": passages()}
    return writing.write(path, tables, made_by="a later run", stale=["answers"])


def passages() -> pa.Table:
    return schema.from_columns(
        "passages",
        {
            "language": ["en", "fi"],
            "query_id": ["0", "0"],
            "passage_id": ["d#0", "d#0"],
            "position": [1, 1],
            "text": ["a passage", "another"],
        },
    )


DYING = """
import os, shutil, signal, sys
from itertools import count
from pathlib import Path
sys.path[:0] = sys.argv[2].split(os.pathsep)
import test_store, pyarrow.compute, pyarrow.parquet, filelock
first = Path(sys.argv[1])
for step in count():
    folder = first / str(step)
    shutil.copytree(first / "old", folder)
    child = os.fork()
    if not child:
        seen = 0

        def on_event(event, args):
            global seen
            touches = any(isinstance(a, (str, bytes, os.PathLike)) and str(folder) in os.fsdecode(a) for a in args)
            if touches and event in ("open", "os.rename", "os.remove", "os.mkdir"):
                seen += 1
                if seen > step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(on_event)
        test_store.make_other(folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    assert os.WTERMSIG(status) == signal.SIGKILL
"""


def test_a_write_killed_before_any_of_its_steps_leaves_the_old_arena_or_the_new_one(tmp_path: Path) -> None:
    """Kill -9 before every opening, renaming and removing of a file that a write makes, one after the other."""
    old = make(tmp_path / "old", title="T")
    subprocess.run([sys.executable, "-W", "ignore", "-c", DYING, str(tmp_path), OURS], check=True)
    *killed, whole = (tmp_path / str(step) for step in range(len(list(tmp_path.iterdir())) - 1))
    assert len(killed) > 20, "a write has many steps"
    versions = [old.version, open_arena(whole).version]
    positions = []
    for folder in killed:
        arena = open_arena(folder)
        assert arenas.check(arena)
        positions.append(versions.index(arena.version))
    assert positions == sorted(positions), "the old arena up to one step, the new one from there on"
    assert set(positions) == {0, 1}
    for folder in killed[::5]:
        assert make_other(folder).version == versions[1]
        assert snapshot(folder) == snapshot(whole), "the next write sweeps what the killed one left"


def test_pitfall_237_a_command_removes_what_a_killed_one_left_unless_another_writes(tmp_path: Path) -> None:
    path = make(tmp_path / "arena", title="T").path
    table = next(iter(open_arena(path).tables))
    left = [path / table / "en-0123456789ab.parquet", path / table / ".x.1.tmp", path / ".manifest.json.1.tmp"]
    for file in left:
        file.write_bytes(b"x")
    with writing.exclusive_lock(path):
        writing.claim_arena(path)
        assert all(file.exists() for file in left)
    writing.claim_arena(path)
    assert not any(file.exists() for file in left)
    arenas.check(open_arena(path))


# --- text files -------------------------------------------------------------------------------------------------------


def test_lines_carry_their_file_and_number_gzipped_or_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("one\r\n\ntwo\u2028still two".encode())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("ไทย\n".encode()))
    plain = tmp_path / "a.txt"
    assert list(store_files.lines(plain)) == [
        (f"{plain}:1", "one"),
        (f"{plain}:2", ""),
        (f"{plain}:3", "two\u2028still two"),
    ]
    assert list(store_files.lines(tmp_path / "a.txt.gz")) == [(f"{tmp_path / 'a.txt.gz'}:1", "ไทย")]


def damaged_files() -> dict[str, tuple[str, bytes, str]]:
    whole = gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)
    flipped = bytearray(whole)
    flipped[20] ^= 255
    return {
        "cut off": ("f.jsonl.gz", whole[:-9], "damaged or truncated"),
        "cut off early": ("f.jsonl.gz", whole[:5], "damaged or truncated"),
        "empty": ("f.jsonl.gz", b"", "damaged or truncated"),
        "no gzip": ("f.jsonl.gz", b'{"a": 1}\n', "damaged or truncated"),
        "damaged": ("f.jsonl.gz", bytes(flipped), "damaged or truncated"),
        "not UTF-8": ("f.jsonl", b'{"a": 1}\n{"a": "\xe9"}\n', "not UTF-8"),
        "no JSON": ("f.jsonl", b'{"a": 1}\n{"a": \n', "not JSON"),
        "too deep": ("f.jsonl", b'{"a": 1}\n' + b"[" * 200_000, "not JSON"),
        "too long a number": ("f.jsonl", b'{"a": 1}\n{"a": ' + b"1" * 5_000 + b"}", "not JSON"),
        "no object": ("f.jsonl", b'{"a": 1}\n[1]\n', "a JSON list, not an object"),
    }


@pytest.mark.parametrize("case", damaged_files())
def test_pitfall_31_a_damaged_file_is_refused_with_file_and_line(tmp_path: Path, case: str) -> None:
    name, raw, message = damaged_files()[case]
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(BadInput, match=message) as caught:
        list(store_files.jsonl(tmp_path / name))
    file, _, line = caught.value.where.rpartition(":")
    assert file == str(tmp_path / name)
    if not name.endswith(".gz"):
        assert line == "2"
    assert caught.value.do


def test_a_path_that_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no file"):
        list(store_files.lines(tmp_path / "nothing.gz"))
    with pytest.raises(BadInput, match="is a folder, not a file"):
        list(store_files.lines(tmp_path))
    with pytest.raises(BadInput, match="there is no folder"):
        list_files(tmp_path / "nothing", "*")


def test_a_download_goes_on_where_it_stopped_and_has_its_name_only_when_whole(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "deep" / "f.bin")
    sink.append(b"abc")
    sink.pause()
    later = Sink(tmp_path / "deep" / "f.bin")
    assert (later.done, later.offset) == (False, 3)
    later.append(b"def")
    later.finish()
    assert (later.done, later.offset) == (True, 0)
    assert (tmp_path / "deep" / "f.bin").read_bytes() == b"abcdef"
    fresh = Sink(tmp_path / "g.bin")
    fresh.append(b"wrong")
    fresh.restart()
    assert fresh.offset == 0
