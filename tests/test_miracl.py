"""The evaluation set of MIRAGE-Bench, rebuilt from MIRACL dev."""

from __future__ import annotations

import csv
import gzip
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pyarrow.compute as pc
import pytest
from test_cli import Mirror, mirage, rows
from test_store import snapshot

from mirage import pipeline, schema, store
from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.languages import LANGUAGES
from mirage.sources import miracl

TOPICS = "1\tMji mkuu wa Kenya ni upi?\n2\tZiwa Viktoria lina kina gani?\n3\tNani aliandika?\n"
QRELS = "1\tQ0\t10#0\t1\n1\tQ0\t11#4\t0\n2\tQ0\t20#0\t1\n3\tQ0\t30#1\t0\n3\tQ0\t30#2\t1\n"


def save(folder: Path, code: str = "sw", topics: str = TOPICS, qrels: str = QRELS) -> Path:
    folder.mkdir(exist_ok=True)
    for kind, text in (("topics", topics), ("qrels", qrels)):
        (folder / f"{kind}.{code}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_a_question_stays_if_a_passage_was_judged_non_relevant(tmp_path: Path) -> None:
    tables, (count,) = miracl.read(save(tmp_path))
    for name, table in tables.items():
        schema.validate(name, table)
    assert tables["queries"]["query_id"].to_pylist() == ["1", "3"]
    assert tables["queries"]["text"].to_pylist() == ["Mji mkuu wa Kenya ni upi?", "Nani aliandika?"]
    assert tables["queries"]["subset"].to_pylist() == [None, None]
    passages = tables["passages"].select(["query_id", "passage_id", "position", "relevant", "title", "text"])
    assert [tuple(p.values()) for p in passages.to_pylist()] == [
        ("1", "10#0", 1, True, None, None),
        ("1", "11#4", 2, False, None, None),
        ("3", "30#1", 1, False, None, None),
        ("3", "30#2", 2, True, None, None),
    ]
    assert count == miracl.Count("sw", 3, 2, 481, 4, "the rule gives 2; the paper prints 481")


def test_the_labels_are_those_of_the_file_pitfall_27(shared: Path) -> None:
    """1 is relevant, in every language: each kept question has a passage of either label."""
    tables, _ = miracl.read(shared / "miracl", languages=["fi", "yo"])
    lines = gzip.decompress((shared / "miracl" / "qrels.fi.tsv.gz").read_bytes()).decode().splitlines()
    ones = {(line.split("\t")[0], line.split("\t")[2]) for line in lines if line.endswith("\t1")}
    fi = tables["passages"].filter(pc.equal(tables["passages"]["language"], "fi")).to_pylist()
    assert all(p["relevant"] == ((p["query_id"], p["passage_id"]) in ones) for p in fi)


def test_the_published_sizes_come_out_and_telugu_as_the_rule_gives_it(shared: Path) -> None:
    """DEFINITIONS 2, after Table 1 of MIRAGE-Bench: all 18 but te, where the rule gives 84 and the paper prints 150."""
    tables, counts = miracl.read(shared / "miracl")
    with (shared / "published" / "mirage_table1_dataset_stats.csv").open(encoding="utf-8", newline="") as stream:
        table1 = {row["stat"]: row for row in csv.DictReader(stream) if row["split"] == "eval"}
    printed = {code: int(table1["n_queries"][code]) for code in LANGUAGES}
    assert printed == miracl.PUBLISHED
    assert sum(printed.values()) == 11_195
    found = {count.language: count.questions for count in counts}
    assert found == printed | {"te": 84}
    assert {count.language for count in counts if count.remark} == {"ar", "te"}
    assert {count.dev for count in counts if count.language == "ar"} == {2896}
    # They have as many passages of each label a question as the paper prints; but for Telugu, whose questions are
    # others, and Bengali, for which it prints 8.0 non-relevant ones.
    passages = tables["passages"].select(["language", "relevant"]).group_by(["language", "relevant"])
    n = {
        (row["language"], row["relevant"]): row["count_all"]
        for row in passages.aggregate([([], "count_all")]).to_pylist()
    }
    means = {key: count / found[key[0]] for key, count in n.items()}
    stats = {True: table1["avg_rel_passages_per_q"], False: table1["avg_nonrel_passages_per_q"]}
    off = {key for key, mean in means.items() if abs(mean - float(stats[key[1]][key[0]])) > 0.06}
    assert off == {("te", True), ("te", False), ("bn", False)}


def test_arabic_is_drawn_by_the_seed_alone(shared: Path) -> None:
    def drawn(seed: int, *codes: str) -> list[str]:
        queries = miracl.read(shared / "miracl", languages=codes, seed=seed)[0]["queries"]
        return queries.filter(pc.equal(queries["language"], "ar"))["query_id"].to_pylist()

    assert drawn(0, "ar") == drawn(0, "yo", "ar") != drawn(1, "ar")
    assert len(set(drawn(0, "ar"))) == 1501


def test_files_are_taken_under_either_name_and_other_splits_are_left(tmp_path: Path) -> None:
    published = tmp_path / "published"
    published.mkdir()
    for kind, text in (("topics", TOPICS), ("qrels", QRELS)):
        (published / f"{kind}.miracl-v1.0-sw-dev.tsv").write_text(text, encoding="utf-8")
        (published / f"{kind}.miracl-v1.0-sw-train.tsv").write_text("no data", encoding="utf-8")
    other = miracl.read(save(tmp_path / "short"))[0]
    assert all(table.equals(other[name]) for name, table in miracl.read(published)[0].items())
    assert len(miracl.files(published)) == 2


@pytest.mark.parametrize(
    ("topics", "qrels", "said", "line"),
    [
        ("1 no tab\n", QRELS, "not an id, a tab and a question", "topics.sw.tsv.gz:1"),
        (TOPICS + "2\tTena?\n", QRELS, "query 2 occurs twice", "topics.sw.tsv.gz:4"),
        (TOPICS, QRELS + "1\tQ0\t10#0\t0\n", "judged twice", "qrels.sw.tsv.gz:6"),
        (TOPICS, QRELS + "9\tQ0\t10#0\t0\n", "query 9 is judged but not among", "qrels.sw.tsv.gz:6"),
        (TOPICS, QRELS + "1\tQ0\t10#9\t2\n", "this line is no judgment", "qrels.sw.tsv.gz:6"),
    ],
)
def test_pitfall_31_what_is_malformed_is_named_with_file_and_line(
    tmp_path: Path, topics: str, qrels: str, said: str, line: str
) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        miracl.read(save(tmp_path, topics=topics, qrels=qrels))
    assert caught.value.where.startswith(str(tmp_path / line))


def test_what_is_not_there_is_named_with_what_brings_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no topics and qrels(.|\n)*mirage pull miracl"):
        miracl.read(tmp_path)
    save(tmp_path)
    with pytest.raises(UnknownName, match="no language 'fi'"):
        miracl.read(tmp_path, languages=["fi"])
    with pytest.raises(UnknownName, match="no language 'Klingon'"):
        miracl.pull(tmp_path, languages=["Klingon"])
    (tmp_path / "topics.miracl-v1.0-sw-dev.tsv").write_text(TOPICS, encoding="utf-8")
    with pytest.raises(BadInput, match="two files of topics for sw"):
        miracl.read(tmp_path)
    (tmp_path / "topics.miracl-v1.0-sw-dev.tsv").unlink()
    (tmp_path / "qrels.sw.tsv.gz").unlink()
    with pytest.raises(BadInput, match="there are no qrels for sw"):
        miracl.read(tmp_path)
    (tmp_path / "topics.xx.tsv").write_text(TOPICS, encoding="utf-8")
    with pytest.raises(UnknownName, match="no language 'xx'"):
        miracl.read(tmp_path)


def test_the_commands_fetch_and_rebuild_and_say_what_differs(tmp_path: Path) -> None:
    files = {f"{kind}.miracl-v1.0-sw-dev.tsv": text.encode() for kind, text in (("topics", TOPICS), ("qrels", QRELS))}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Mirror,), {"files": files}))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        command = ("pull", "miracl", "--into", tmp_path / "p", "--base-url", f"http://127.0.0.1:{server.server_port}")
        done = mirage(*command)
        assert "2 files are in" in done.stderr
        assert "Not at the source, and not needed to go on: topics.miracl-v1.0-ar-dev.tsv" in done.stderr
        assert "0 of them new" in mirage(*command).stderr
    finally:
        server.shutdown()
        server.server_close()
    done = mirage("import", "miracl", tmp_path / "p", "--into", tmp_path / "a", "--format", "csv")
    assert rows(done) == [{"language": "sw", "dev": "3", "questions": "2", "published": "481", "passages": "4"}]
    assert "sw: the rule gives 2; the paper prints 481" in done.stderr
    arena = store.open_arena(tmp_path / "a")
    assert store.check(arena)
    notes = arena.manifest["made"]["queries"]["notes"]
    assert notes == ["sw: the rule gives 2; the paper prints 481", miracl.NO_TEXT]
    assert len(arena.manifest["made"]["queries"]["from"]) == 3


def test_the_same_files_and_seed_give_the_same_bytes(shared: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        pipeline.import_miracl(shared / "miracl", tmp_path / name, languages=["ar", "te"])
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")
    assert any("te: the rule gives 84; the paper prints 150" in note for note in _notes(tmp_path / "a"))
    pipeline.import_miracl(shared / "miracl", tmp_path / "c", languages=["ar", "te"], seed=1)
    assert snapshot(tmp_path / "a") != snapshot(tmp_path / "c")


def _notes(path: Path) -> list[str]:
    return list(store.open_arena(path).manifest["made"]["queries"]["notes"])


def test_questions_are_not_put_under_answers_to_others(tmp_path: Path) -> None:
    answer = schema.Answer("sw", "1", "mine", "ndiyo", "ok", None, None, None)
    store.write(tmp_path / "a", {"answers": schema.from_rows("answers", [answer])}, made_by="a test")
    with pytest.raises(ArenaError, match="holds answers to the questions it has"):
        pipeline.import_miracl(save(tmp_path / "in"), tmp_path / "a")
