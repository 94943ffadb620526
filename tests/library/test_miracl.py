"""The evaluation set of MIRAGE-Bench, rebuilt from MIRACL dev."""

import csv
import gzip
from pathlib import Path

import pyarrow.compute as pc
import pytest
from commands import mirage, refuses
from miracl_cases import PASSAGES, QRELS, TOPICS, hub, served

from mirage import open_arena, schema
from mirage.errors import BadInput, UnknownName
from mirage.io.sources import miracl
from mirage.store import arena as arenas
from mirage.text.languages import LANGUAGES


def save(folder: Path, code: str = "sw", topics: str = TOPICS, qrels: str = QRELS) -> Path:
    folder.mkdir(exist_ok=True)
    for kind, text in (("topics", topics), ("qrels", qrels)):
        (folder / f"{kind}.{code}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_a_query_stays_if_a_passage_was_judged_non_relevant(tmp_path: Path) -> None:
    tables, (count,) = miracl.read_miracl(save(tmp_path))
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
    assert count == miracl.TrainingCount("sw", "dev", 3, 2, 481, 4, 0, "the rule gives 2; the paper prints 481")


def test_the_labels_are_those_of_the_file_pitfall_27(shared: Path) -> None:
    """1 is relevant, in every language: each kept query has a passage of either label."""
    tables, _ = miracl.read_miracl(shared / "miracl", languages=["fi", "yo"])
    lines = gzip.decompress((shared / "miracl" / "qrels.fi.tsv.gz").read_bytes()).decode().splitlines()
    ones = {(line.split("\t")[0], line.split("\t")[2]) for line in lines if line.endswith("\t1")}
    fi = tables["passages"].filter(pc.equal(tables["passages"]["language"], "fi")).to_pylist()
    assert all(p["relevant"] == ((p["query_id"], p["passage_id"]) in ones) for p in fi)


def test_the_published_sizes_come_out_and_telugu_as_the_rule_gives_it(shared: Path) -> None:
    """DEFINITIONS 2, after Table 1 of MIRAGE-Bench: all 18 but te, where the rule gives 84 and the paper prints 150."""
    tables, counts = miracl.read_miracl(shared / "miracl")
    with (shared / "published" / "mirage_table1_dataset_stats.csv").open(encoding="utf-8", newline="") as stream:
        table1 = {row["stat"]: row for row in csv.DictReader(stream) if row["split"] == "eval"}
    printed = {code: int(table1["n_queries"][code]) for code in LANGUAGES}
    assert printed == miracl.printed_queries("dev")
    assert sum(printed.values()) == 11_195
    sizes = {count.language: count.queries for count in counts}
    assert sizes == printed | {"te": 84}
    assert {count.language for count in counts if count.remark} == {"ar", "te"}
    assert {count.topics for count in counts if count.language == "ar"} == {2896}
    # They have as many passages of each label a query as the paper prints; but for Telugu, whose queries are
    # others, and Bengali, for which it prints 8.0 non-relevant ones.
    passages = tables["passages"].select(["language", "relevant"]).group_by(["language", "relevant"])
    n = {
        (row["language"], row["relevant"]): row["count_all"]
        for row in passages.aggregate([([], "count_all")]).to_pylist()
    }
    means = {key: count / sizes[key[0]] for key, count in n.items()}
    stats = {True: table1["avg_rel_passages_per_q"], False: table1["avg_nonrel_passages_per_q"]}
    off = {key for key, mean in means.items() if abs(mean - float(stats[key[1]][key[0]])) > 0.06}
    assert off == {("te", True), ("te", False), ("bn", False)}


def test_arabic_is_drawn_by_the_seed_alone(shared: Path) -> None:
    def drawn(seed: int, *codes: str) -> list[str]:
        queries = miracl.read_miracl(shared / "miracl", languages=codes, seed=seed)[0]["queries"]
        return queries.filter(pc.equal(queries["language"], "ar"))["query_id"].to_pylist()

    assert drawn(0, "ar") == drawn(0, "yo", "ar") != drawn(1, "ar")
    assert len(set(drawn(0, "ar"))) == 1501


def test_files_are_taken_under_either_name_and_other_splits_are_left(tmp_path: Path) -> None:
    published = tmp_path / "published"
    published.mkdir()
    for kind, text in (("topics", TOPICS), ("qrels", QRELS)):
        (published / f"{kind}.miracl-v1.0-sw-dev.tsv").write_text(text, "utf-8")
    lay(published, {name: content for name, content in hub("sw").items() if name.endswith(".tsv")})
    assert miracl.read_miracl(published, split="train")[1][0].topics == 4
    other = miracl.read_miracl(save(tmp_path / "short"))[0]
    assert all(table.equals(other[name]) for name, table in miracl.read_miracl(published)[0].items())
    assert len(miracl.miracl_files(published)) == 2


@pytest.mark.parametrize(
    ("topics", "qrels", "message", "line"),
    [
        ("1 no tab\n", QRELS, "not an id, a tab and a query", "topics.sw.tsv.gz:1"),
        (TOPICS + "2\tTena?\n", QRELS, "query 2 occurs twice", "topics.sw.tsv.gz:4"),
        (TOPICS, QRELS + "1\tQ0\t10#0\t0\n", "judged twice", "qrels.sw.tsv.gz:6"),
        (TOPICS, QRELS + "9\tQ0\t10#0\t0\n", "query 9 is judged but not among", "qrels.sw.tsv.gz:6"),
        (TOPICS, QRELS + "1\tQ0\t10#9\t2\n", "this line is no judgment", "qrels.sw.tsv.gz:6"),
    ],
)
def test_pitfall_31_what_is_malformed_is_named_with_file_and_line(
    tmp_path: Path, topics: str, qrels: str, message: str, line: str
) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        miracl.read_miracl(save(tmp_path, topics=topics, qrels=qrels))
    assert caught.value.where.startswith(str(tmp_path / line))


def test_what_is_not_there_is_named_with_what_brings_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no topics and qrels(.|\n)*mirage pull miracl"):
        miracl.read_miracl(tmp_path)
    save(tmp_path)
    with pytest.raises(UnknownName, match="no language 'fi'"):
        miracl.read_miracl(tmp_path, languages=["fi"])
    with pytest.raises(UnknownName, match="no language with MIRACL dev queries 'tlh'"):
        miracl.pull_miracl(tmp_path, languages=["Klingon"])
    (tmp_path / "topics.miracl-v1.0-sw-dev.tsv").write_text(TOPICS, "utf-8")
    with pytest.raises(BadInput, match="two files of topics for sw"):
        miracl.read_miracl(tmp_path)
    (tmp_path / "topics.miracl-v1.0-sw-dev.tsv").unlink()
    (tmp_path / "qrels.sw.tsv.gz").unlink()
    with pytest.raises(BadInput, match="there are no qrels for sw"):
        miracl.read_miracl(tmp_path)
    (tmp_path / "topics.xx.tsv").write_text(TOPICS, "utf-8")
    with pytest.raises(UnknownName, match="no language 'xx'"):
        miracl.read_miracl(tmp_path)


def test_the_commands_fetch_and_rebuild_and_say_what_differs(tmp_path: Path) -> None:
    files = {f"{kind}.miracl-v1.0-sw-dev.tsv": text.encode() for kind, text in (("topics", TOPICS), ("qrels", QRELS))}
    with served(files) as address:
        command = ("pull", "miracl", "--into", tmp_path / "p", "--base-url", address)
        result = mirage(*command)
        assert "2 files in " in result.stderr
        assert "Not available, and not required: topics.miracl-v1.0-ar-dev.tsv" in result.stderr
        assert "0 of them new" in mirage(*command).stderr
    result = mirage("import", "miracl", tmp_path / "p", "--into", tmp_path / "a")
    assert "sw: the rule gives 2; the paper prints 481" in result.stderr
    arena = open_arena(tmp_path / "a")
    assert arenas.check(arena)
    notes = arena.manifest["made"]["queries"]["notes"]
    assert notes == ["sw: the rule gives 2; the paper prints 481", miracl.NO_TEXT]


# --- the training set -------------------------------------------------------------------------------------------------


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def test_the_published_sizes_of_both_splits_are_those_of_the_paper() -> None:
    """MIRAGE-Bench, Table 1: 39,763 pairs in 16 languages."""
    assert sum(miracl.printed_queries("train").values()) == 39_763
    figures = open_arena("published").read("published").to_pylist()
    printed = {
        (row["setting"], row["language"]): int(row["value"])
        for row in figures
        if row["source"] == "MIRAGE-Bench"
        and row["item"] == "Table 1"
        and row["metric"] == "n_queries"
        and row["value"]
    }
    settings = {"dev": "eval", "train": "train"}
    for split, setting in settings.items():
        assert miracl.printed_queries(split) == {
            code: printed[setting, code] for code in LANGUAGES if (setting, code) in printed
        }
    assert set(LANGUAGES) - set(miracl.printed_queries("train")) == {"de", "yo"}


def test_the_commands_bring_the_training_queries_with_their_texts(tmp_path: Path) -> None:
    with served(hub("sw") | hub("fi", shards=2)) as address:
        command = ("pull", "miracl", "--split", "train", "--texts", "--languages", "sw,fi", "--into", tmp_path / "p")
        result = mirage(*command, "--base-url", address)
        assert "7 files in " in result.stderr
        assert "miracl-corpus-v1.0-fi/docs-2.jsonl.gz" in result.stderr, "the Finnish corpus has four files"
        assert "0 of them new" in mirage(*command, "--base-url", address).stderr
    result = mirage("import", "miracl", tmp_path / "p", "--split", "train", "--into", tmp_path / "a")
    assert "sw: the rule gives 3; the paper prints 1,866" in result.stderr
    arena = open_arena(tmp_path / "a")
    assert arenas.check(arena)
    swahili = arena.read("passages", languages=["sw"]).to_pylist()
    assert {row["text"] for row in swahili} == {f"Kifungu cha {docid}." for docid in PASSAGES[:5]}
    assert {row["query_id"] for row in swahili} == {"1", "2", "3"}, "query 4 has no relevant passage"


def test_texts_are_taken_from_the_corpus_files_that_are_there(tmp_path: Path) -> None:
    files = hub("fi", shards=2)
    del files["miracl-corpus-v1.0-fi/docs-1.jsonl.gz"]
    tables, (count,) = miracl.read_miracl(lay(tmp_path / "part", files), split="train")
    assert (count.passages, count.texts) == (5, 3)
    assert "3 of 5 passages have a text: 1 corpus files are there" in count.remark
    texts = dict(zip(tables["passages"]["passage_id"].to_pylist(), tables["passages"]["text"].to_pylist(), strict=True))
    assert texts == {"10#0": "Kifungu cha 10#0.", "11#4": None, "20#0": "Kifungu cha 20#0.", "30#1": None} | {
        "30#2": "Kifungu cha 30#2."
    }


def test_a_passage_that_its_whole_corpus_lacks_is_named(tmp_path: Path) -> None:
    files = hub("sw")
    name = "miracl-v1.0-sw/qrels/qrels.miracl-v1.0-sw-train.tsv"
    files[name] += b"3\tQ0\t77#0\t0\n"
    with refuses(BadInput, "document 77#0 is judged but in no file of the corpus of sw", where=f"{tmp_path / name}:7"):
        miracl.read_miracl(lay(tmp_path, files), split="train")


def test_a_language_without_the_split_is_refused_and_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="train queries 'de'"):
        miracl.pull_miracl(tmp_path, split="train", languages=["de"])
    with pytest.raises(UnknownName, match="no split 'test'"):
        miracl.pull_miracl(tmp_path, split="test")  # type: ignore[arg-type]  # what a caller may write
    with pytest.raises(BadInput, match=r"of MIRACL train(.|\n)*mirage pull miracl --split train"):
        miracl.read_miracl(save(tmp_path / "dev"), split="train")
