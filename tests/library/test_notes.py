"""Notes on answers and battles: rows of the log on both databases, the taxonomy, counts, files, and the commands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import mirage, rows
from conftest import ROOT
from votes_cases import every_store_is_closed, postgres, url  # noqa: F401  # fixtures

import mirage as library
from mirage import schema, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people import votes
from mirage.people.notes import (
    CategoryCount,
    category_counts,
    count_categories,
    import_notes,
    load_taxonomy,
    make_note,
    notes_on,
)
from mirage.people.votes import Note, Votes
from mirage.stats.intervals import clustered_proportion

PAGE = (ROOT / "docs" / "error-analysis.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language, name of the file and content of each block of the guide."""
QUERIES = ("1", "2", "3", "4")
SYSTEMS = ("x", "y")


def build(path: Path, text: str = "Answer of {0} to {1}.") -> store.Arena:
    """Write an arena with answers in two languages."""
    answers = [
        schema.Answer(code, query, system, text.format(system, query), "ok", *[None] * 3)
        for code in ("sw", "te")
        for query in QUERIES
        for system in SYSTEMS
    ]
    queries = [schema.Query(code, query, None, f"Query {query}?", None) for code in ("sw", "te") for query in QUERIES]
    tables = {
        "queries": schema.sort("queries", schema.from_rows("queries", queries)),
        "answers": schema.sort("answers", schema.from_rows("answers", answers)),
    }
    return store.write(path, tables, title=path.name, made_by="a test")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(votes.URL, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def arena(tmp_path: Path) -> store.Arena:
    return build(tmp_path / "mine")


def note(arena: store.Arena, query: str = "1", *systems: str, language: str = "sw", **about: Any) -> Note:
    """A note by amina on an answer of x unless told otherwise."""
    about = {"voter": "amina", "categories": ["padded"]} | about
    return make_note(arena, (language, query), systems or ("x",), **about)


# The log


def test_a_note_is_stored_replaced_and_undone_on_both_databases(arena: store.Arena, url: str) -> None:
    with Votes(url) as db:
        first = db.submit(note(arena, text="Too long."))
        assert db.rows(Note) == [first]
        assert db.version() == (0, 0, 0, 1, 0)
        later = db.submit(note(arena, categories=["wrong fact", "padded"]))
        other = db.submit(note(arena, voter="juma", text="Fine.", categories=[]))
        on_battle = db.submit(note(arena, "1", "y", "x"))
        assert notes_on(arena, db.rows(Note)).counting == [later, other, on_battle]
        with pytest.raises(BadInput, match="not a vote by juma"):
            db.undo(Note, later.vote_id, voter="juma")
        db.undo(Note, later.vote_id, voter="amina")
        db.undo(Note, later.vote_id, voter="amina")
        assert notes_on(arena, db.rows(Note)).counting == [first, other, on_battle], "the earlier note counts again"
        assert len(db.rows(Note)) == 5, "nothing is deleted"


def test_a_database_of_the_last_release_gets_the_table(arena: store.Arena, url: str) -> None:
    from sqlalchemy import create_engine, text

    with Votes(url) as before:
        before.version()
    address = url.replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(address)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE mirage_note"))
    engine.dispose()
    with Votes(url) as again:
        row = again.submit(note(arena))
        assert again.rows(Note) == [row]


def test_an_erased_author_leaves_categories_and_no_text(arena: store.Arena, url: str) -> None:
    with Votes(url) as db:
        db.submit(note(arena, text="I am Amina.", session="s"))
        db.submit(note(arena, "2", categories=[], text="Only a text."))
        assert db.forget("amina") == 2
        (kept,) = notes_on(arena, db.rows(Note)).counting
        assert (kept.categories, kept.note, kept.session) == ("padded", None, None)
        assert kept.voter.startswith("anonymous-")


def test_a_note_belongs_to_the_text_it_was_written_on(tmp_path: Path, arena: store.Arena) -> None:
    written = note(arena)
    shutil.copytree(arena.path, tmp_path / "renamed")
    assert notes_on(store.open_arena(tmp_path / "renamed"), [written]).counting == [written]
    changed = notes_on(build(tmp_path / "changed", "Another answer of {0}."), [written])
    assert (changed.counting, changed.changed) == ([], [written])


@pytest.mark.parametrize(
    "about",
    [
        {"system": None},
        {"system_b": "y"},
        {"system_a": "x", "system_b": "y"},
        {"system": None, "system_a": "x"},
        {"system": None, "system_a": "x", "system_b": "x"},
        {"vote": "A"},
        {"vote": "undo"},
        {"language": "klingon"},
        {"time": "yesterday"},
        {"note": "n" * 4_001},
        {"voter": ""},
    ],
)
def test_a_note_that_contradicts_itself_is_rejected(arena: store.Arena, about: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        votes.validate_row(replace(note(arena), **about))


def test_categories_have_one_form(arena: store.Arena) -> None:
    row = votes.validate_row(replace(note(arena), categories=" padded ,wrong  fact,,padded"))
    assert row.categories == "padded,wrong fact"
    assert votes.split_categories(row.categories) == ("padded", "wrong fact")
    assert votes.split_categories(None) == ()


def test_a_new_note_names_what_exists(arena: store.Arena) -> None:
    with pytest.raises(UnknownName) as error:
        note(arena, categories=["paded"])
    assert error.value.nearest == ["padded"]
    with pytest.raises(BadInput, match="empty"):
        note(arena, categories=[], text="  ")
    with pytest.raises(BadInput, match="no answer text of z to sw:1"):
        note(arena, "1", "z")


# The taxonomy


def test_the_bundled_taxonomy_is_short(arena: store.Arena) -> None:
    taxonomy = load_taxonomy(arena)
    assert 8 <= len(taxonomy.categories) <= 10
    assert all("\n" not in category.meaning for category in taxonomy.categories)


def test_the_nearest_taxonomy_wins(arena: store.Arena, home: Path) -> None:
    home.mkdir()
    (home / "taxonomy.yaml").write_text("- {name: of the team, meaning: Ours.}\n", encoding="utf-8")
    assert load_taxonomy(arena).names == ("of the team",)
    (arena.path / "taxonomy.yaml").write_text("of the arena: {meaning: Its own.}\n", encoding="utf-8")
    assert load_taxonomy(arena).names == ("of the arena",)
    assert load_taxonomy().names == ("of the team",)
    note(arena, categories=["of the arena"])


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("- name: a\n  meaning: A.\n- name: A\n  meaning: B.\n", 3, "twice"),
        ("a: {meaning: A.}\na: {meaning: B.}\n", 2, "duplicate"),
        ("- name: a\n", 1, "meaning"),
        ("- meaning: A.\n", 1, "name"),
        ("- name: a\n  meaning: A.\n  colour: red\n", 1, "colour"),
        ("- name: a, b\n  meaning: A.\n", 1, "comma"),
        ("- name: a\n  meaning: [A]\n", 2, "list"),
        ("- name: a\n  meaning: 'A.\n", None, "YAML"),
        ("- just words\n", 1, "mapping"),
        ("- name: " + "a" * 41 + "\n  meaning: A.\n", 1, "name"),
        ('- name: "a\\u202e"\n  meaning: A.\n', 1, "name"),
        ("[]\n", None, "0 categories"),
        ("", None, "list"),
        ("word\n", None, "list"),
    ],
)
def test_a_bad_taxonomy_is_one_error_with_its_line(arena: store.Arena, text: str, line: int | None, what: str) -> None:
    file = arena.path / "taxonomy.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        load_taxonomy(arena)
    assert what in error.value.what
    assert error.value.do
    assert error.value.where == f"{file}:{line}" if line else str(file) in error.value.where
    assert "taxonomy.yaml" in mirage("notes", "taxonomy", arena.path, code=2).stderr


# Counts


def test_counts_are_of_answers_with_intervals_over_queries(arena: store.Arena) -> None:
    written = [
        note(arena, "1", categories=["padded"]),
        note(arena, "1", voter="juma", categories=["wrong fact"]),
        note(arena, "2", categories=["padded", "wrong fact"]),
        note(arena, "3", categories=["no error"]),
        note(arena, "3", "y", categories=["padded"]),
        note(arena, "4", categories=[], text="No category."),
        note(arena, "1", language="te", categories=["padded"]),
        note(arena, "1", "x", "y", categories=["padded"]),
    ]
    table = count_categories(written, load_taxonomy(arena).names)
    row = {(r.about, r.language, r.system, r.category): r for r in table}
    of_x = row["answers", "sw", "x", "padded"]
    assert (of_x.k, of_x.n, of_x.queries, of_x.authors) == (2, 3, 3, 2)
    assert (of_x.rate, of_x.rate_low, of_x.rate_high) == pytest.approx(clustered_proportion([(1, 1), (1, 1), (0, 1)]))
    pooled = row["answers", "sw", "all", "padded"]
    assert (pooled.k, pooled.n, pooled.queries) == (3, 4, 3)
    assert (pooled.rate_low, pooled.rate_high) == pytest.approx(clustered_proportion([(1, 1), (1, 1), (1, 2)])[1:])
    assert row["answers", "all", "all", "padded"].queries == 4, "a query id of two languages is two queries"
    alone = row["answers", "te", "x", "padded"]
    assert (alone.k, alone.n, alone.rate_low) == (1, 1, None)
    assert alone.reason
    assert row["answers", "te", "x", "wrong fact"].k == 0
    assert {r.category for r in table if r.about == "battles"} == {"padded"}
    assert [row["battles", "sw", system, "padded"].n for system in ("x", "y", "all")] == [1, 1, 1]
    used = list(dict.fromkeys(r.category for r in table if r.about == "answers"))
    assert used == ["wrong fact", "padded", "no error"], "in the order of the taxonomy"


def test_a_category_that_left_the_taxonomy_is_still_counted(arena: store.Arena) -> None:
    written = [note(arena, "1"), note(arena, "2")]
    (arena.path / "taxonomy.yaml").write_text("new: {meaning: New.}\n", encoding="utf-8")
    table = category_counts(arena, [*written, note(arena, "3", categories=["new"])])
    assert [(row.category, row.k, row.n) for row in table] == [("new", 1, 3), ("padded", 2, 3)]


def test_without_categories_there_are_no_counts(arena: store.Arena) -> None:
    with pytest.raises(NotEnoughData):
        category_counts(arena, [note(arena, categories=[], text="Hm.")])
    with pytest.raises(NotEnoughData, match="te"):
        category_counts(arena, [note(arena)], languages=["te"])


def test_results_from_python_have_a_frame(arena: store.Arena) -> None:
    with Votes() as db:
        for query in QUERIES:
            db.submit(note(arena, query, text="<b>Why</b>"))
    counts = library.notes(arena)
    assert [(row["k"], row["n"]) for row in counts] == [(4, 4)]
    assert list(counts.to_pandas().columns) == [column.name for column in schema.columns(CategoryCount)]
    assert "padded" in repr(counts)
    each = library.notes(arena, each=True, languages=["sw"])
    assert [row["query_id"] for row in each] == list(QUERIES)
    assert "<b>" not in each._repr_html_()
    assert len(library.notes(arena, each=True, languages=["te"])) == 0


# Files and commands


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


BY_HAND = {"language": "sw", "query_id": "1", "system": "x", "voter": "amina", "categories": "padded"}
ON_BATTLE = {"language": "sw", "query_id": "1", "system_a": "x", "system_b": "y", "voter": "amina", "note": "Mbaya."}


def test_a_file_written_by_hand_is_imported_once(arena: store.Arena, tmp_path: Path) -> None:
    file = write(tmp_path / "hand.jsonl", BY_HAND | {"categories": ["padded", "wrong fact"]}, ON_BATTLE)
    with Votes() as db:
        assert import_notes(db, file, arena=arena) == (2, 2)
        assert import_notes(db, file, arena=arena) == (2, 0)
        found = notes_on(arena, db.rows(Note)).counting
        assert {(n.system, n.system_a, n.categories, n.note) for n in found} == {
            ("x", None, "padded,wrong fact", None),
            (None, "x", None, "Mbaya."),
        }
        undone = next(n for n in found if n.system)
        db.undo(Note, undone.vote_id, voter="amina")
        assert import_notes(db, file, arena=arena) == (2, 0), "a note that was undone stays undone"
        assert len(notes_on(arena, db.rows(Note)).counting) == 1


def test_a_spreadsheet_will_do(arena: store.Arena, tmp_path: Path) -> None:
    file = tmp_path / "hand.csv"
    file.write_text(
        "language,query_id,system,system_a,system_b,voter,categories,note\n"
        'sw,1,x,,,amina,"padded, wrong fact",\n'
        "sw,1,,x,y,amina,,Both are bad.\n",
        encoding="utf-8",
    )
    assert "2 of them new" in mirage("notes", "import", file, "--arena", arena.path).stderr


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"categories": "paded"}, "paded"),
        ({"categories": ""}, "empty"),
        ({"system": "z"}, "no answer text of z"),
        ({"query_id": "9"}, "sw:9"),
        ({"language": "xx-unknown"}, "language"),
        ({"voter": None}, "voter"),
        ({"system": None}, "one answer or one battle"),
        ({"time": "today"}, "time"),
        ({"query_id": "2", "note": "Second."}, "two notes"),
    ],
)
def test_one_bad_line_rejects_the_file(arena: store.Arena, tmp_path: Path, change: dict[str, Any], what: str) -> None:
    file = write(tmp_path / "hand.jsonl", BY_HAND | {"query_id": "2"}, BY_HAND | change)
    with Votes() as db:
        with pytest.raises(BadInput) as error:
            import_notes(db, file, arena=arena)
        assert what in error.value.what
        assert error.value.where == f"{file}:2"
        assert error.value.do
        assert db.rows(Note) == []
    assert f"{file}:2" in mirage("notes", "import", file, "--arena", arena.path, code=2).stderr


def test_a_file_without_notes_or_without_its_arena_is_rejected(arena: store.Arena, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    for args in ((empty,), (empty, "--arena", arena.path), (write(tmp_path / "hand.jsonl", BY_HAND),)):
        error = mirage("notes", "import", *args, code=2).stderr
        assert "to do" in error
    assert "--arena DIR" in error


@pytest.mark.parametrize("name", ["n.csv", "n.jsonl", "n.parquet"])
def test_an_export_comes_back_as_it_was(
    arena: store.Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with Votes() as db:
        first = db.submit(note(arena, text="=1+1\nSecond line"))
        db.submit(note(arena, "1", "x", "y", categories=[], text="مرحبا"))
        db.submit(note(arena, "2", voter="juma"))
        db.undo(Note, first.vote_id, voter="amina")
        log = db.rows(Note)
    mirage("notes", "export", "--out", tmp_path / name)
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "elsewhere"))
    mirage("notes", "import", tmp_path / name)
    mirage("notes", "import", tmp_path / name, "--arena", arena.path)
    with Votes() as db:
        assert db.rows(Note) == log
    build(tmp_path / "other", "Nothing of {0} in common.")
    mirage("notes", "export", "--out", tmp_path / name, "--arena", tmp_path / "mine")
    assert mirage("notes", "export", "--out", tmp_path / "x.txt", code=2).stderr


def test_the_commands_count_print_and_name_the_file(arena: store.Arena, tmp_path: Path) -> None:
    assert "no notes with a category" in mirage("notes", arena.path, code=2).stderr
    with Votes() as db:
        for query in QUERIES:
            db.submit(note(arena, query, categories=["padded"] if query < "3" else ["no error"]))
        db.submit(note(build(tmp_path / "before", "Earlier answer of {0}."), "1", voter="juma"))
    shown = mirage("notes", arena.path, "--format", "csv")
    assert [(row["category"], row["k"], row["n"]) for row in rows(shown)] == [
        ("padded", "2", "4"),
        ("no error", "2", "4"),
    ]
    assert "1 note on answers whose text has changed" in shown.stderr
    assert rows(mirage("notes", "count", arena.path, "--format", "csv", "--languages", "sw")) == rows(shown)
    printed = mirage("notes", "taxonomy", arena.path, "--format", "csv")
    assert [row["name"] for row in rows(printed)] == list(load_taxonomy(arena).names)
    assert "taxonomy.yaml" in printed.stderr


def test_the_blocks_of_the_guide_run_in_their_order(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    for kind, file, content in BLOCKS:
        if file:
            Path(file).write_text(content, encoding="utf-8")
        elif kind == "python":
            exec(compile(content, "docs/error-analysis.md", "exec"), names)
        elif kind == "bash":
            for command in content.splitlines():
                assert shlex.split(command)[0] == "mirage"
                mirage(*shlex.split(command)[1:])
    assert "from `wrong fact` to `no error`" in PAGE
    bundled = load_taxonomy().names
    assert (len(bundled), bundled[0], bundled[-1]) == (10, "wrong fact", "no error")
