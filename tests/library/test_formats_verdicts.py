"""Formats of verdicts, of TREC and of nuggets: each value of a file of that shape lands where it should."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mirage
from mirage import schema
from mirage.errors import BadInput, NotEnoughData
from mirage.io.formats import run
from mirage.io.formats.run import Summary
from mirage.io.formats.spec import Tables
from mirage.io.sources.files import Options
from mirage.stages.retrieve.measures import measure_retrievers

HOSTILE = 'a "quoted", <b>line</b>\r\nbreak; |tab|\t=1+1 \u202eright to left\u202c 🏳️‍🌈 [3]'


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path, name: str | None = None, **options: Any) -> tuple[Tables, Summary]:
    return run.read(path, name=name, options=Options.parse(**options))


def rows(tables: Tables, table: str, *columns: str) -> list[Any]:
    data = schema.sort(table, tables[table]).select(list(columns)).to_pylist()
    return [tuple(row.values()) if len(columns) > 1 else row[columns[0]] for row in data]


def left_out(summary: Summary) -> dict[str, int]:
    return {entry.what: entry.n for entry in summary.left_out}


def messages(*contents: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[k % 2], "content": text} for k, text in enumerate(contents)]


@pytest.fixture
def arena(tmp_path: Path) -> Callable[..., Any]:
    """Imports a file into an arena of its own."""
    from mirage.io.imports.formats import import_file

    def imported(path: Path, **options: Any) -> Any:
        name = options.pop("name", None)
        folder = tmp_path / f"arena-{path.stem}"
        return import_file(path, folder, name=name, options=Options.parse(**options)).arena

    return imported


# LMArena


def vote(**changes: Any) -> dict[str, Any]:
    row = {"question_id": "q1", "model_a": "red", "model_b": "blue", "winner": "model_a", "judge": "arena_user_9"}
    conversations = {
        "conversation_a": messages("How tall is the tower in Paris?", HOSTILE),
        "conversation_b": messages("How tall is the tower in Paris?", "330 m"),
    }
    return row | conversations | {"turn": 1, "anony": True, "language": "English", "tstamp": 1682351660.1} | changes


def test_lmarena_votes(tmp_path: Path) -> None:
    tables, summary = read(
        jsonl(
            tmp_path / "v.jsonl",
            vote(),
            vote(question_id="q2", winner="tie (bothbad)", judge="arena_user_8"),
            vote(question_id="q3", winner="both_bad", judge=None),
            vote(question_id="q4", winner="tie"),
        )
    )
    assert summary.format == "lmarena"
    assert rows(tables, "judgments", "query_id", "judge", "system_a", "system_b", "verdict", "person", "voter") == [
        ("q1", "human", "red", "blue", "A", True, "arena_user_9"),
        ("q2", "human", "red", "blue", "both_bad", True, "arena_user_8"),
        ("q3", "human", "red", "blue", "both_bad", True, None),
        ("q4", "human", "red", "blue", "tie", True, "arena_user_9"),
    ]
    assert rows(tables, "queries", "language", "text")[0] == ("en", "How tall is the tower in Paris?")
    assert (("red", HOSTILE) in rows(tables, "answers", "system", "text")) is True
    assert ("q1", "anony", "true") in rows(tables, "tags", "query_id", "tag", "value")
    assert {"people", "both bad"} <= set(summary.guessed)


def test_lmarena_conversations_of_several_turns(tmp_path: Path) -> None:
    """The last turn is the query, earlier ones of the user are its turns; what a system said before has no place."""
    parts = [{"type": "text", "text": "And at night?", "image": None, "mimeType": None}]
    conversations = [
        [
            *messages("How tall is it?", first),
            {"role": "user", "content": parts},
            {"role": "assistant", "content": last},
        ]
        for first, last in (("330 m", "The same."), ("1063 ft", "Taller."))
    ]
    row = vote(conversation_a=conversations[0], conversation_b=conversations[1])
    tables, summary = read(jsonl(tmp_path / "v.jsonl", row))
    assert rows(tables, "queries", "text") == ["And at night?"]
    assert rows(tables, "turns", "position", "speaker", "text") == [(1, "user", "How tall is it?")]
    assert rows(tables, "answers", "system", "text") == [("blue", "Taller."), ("red", "The same.")]
    assert left_out(summary) == {"earlier answers": 2}


def test_lmarena_judges_side_by_side(tmp_path: Path) -> None:
    """Every column of winners is a judge; an empty cell is no verdict; a repeated battle keeps both votes."""
    path = tmp_path / "wide.csv.gz"
    text = (
        "num,question_id,model_a,model_b,Human,gpt-4\n"
        "0,q1,red,blue,model_a,model_b\n1,q1,red,blue,tie,model_b\n1,q1,red,blue,tie,model_b\n2,q2,red,blue,,tie\n"
        "3,q3,red,red,tie,tie\n"
    )
    path.write_bytes(gzip.compress(("\ufeff" + text).encode()))
    tables, summary = read(path)
    assert rows(tables, "judgments", "query_id", "judge", "voter", "verdict", "person") == [
        ("q1", "Human", "~2", "tie", True),
        ("q1", "Human", None, "A", True),
        ("q1", "gpt-4", "~2", "B", None),
        ("q1", "gpt-4", None, "B", None),
        ("q2", "gpt-4", None, "tie", None),
    ]
    assert summary.guessed["repeated battles"].startswith("2 verdicts ")
    assert "people" in summary.guessed["Human"]
    assert left_out(summary) == {"battles of a model with itself": 2}
    assert "language" in summary.guessed


def test_votes_on_one_query_keep_its_id(shared: Path, arena: Callable[..., Any]) -> None:
    """The query is the unit of the bootstrap, so votes of several people on it are told apart by the voter."""
    imported = arena(shared / "field" / "repeated-votes.jsonl")
    judgments = imported.read("judgments")
    assert (imported.rows("queries"), len(judgments), len(set(judgments["voter"].to_pylist()))) == (10, 200, 20)
    difference = mirage.rank(imported, judge="human").difference("x", "y")
    assert difference.low < 0 < difference.high


def test_an_id_with_other_answers_is_another_query(tmp_path: Path) -> None:
    """One arena has one answer of a system to a query; the summary says what that makes of the intervals."""
    other = messages("How tall is the tower in Paris?", "About 1,000 feet")
    path = jsonl(tmp_path / "v.jsonl", vote(), vote(judge="u2", conversation_a=other), vote(judge="u3", winner="tie"))
    tables, summary = read(path)
    assert rows(tables, "judgments", "query_id", "voter") == [("q1", "arena_user_9"), ("q1", "u3"), ("q1~2", "u2")]
    assert "intervals" in summary.guessed["repeated queries"]


@pytest.mark.parametrize(
    ("change", "message", "flag"),
    [
        ({"winner": "modelA"}, "winner is 'modelA'", "--value winner:"),
        ({"model_b": None}, "model_b is missing", "--map"),
        ({"conversation_a": "not a list"}, "conversation_a must be", "--map THEIRS=conversation_a"),
        ({"conversation_b": messages("Another question?", "yes")}, "the user says something else", ""),
    ],
)
def test_lmarena_refuses(tmp_path: Path, change: dict[str, Any], message: str, flag: str) -> None:
    path = jsonl(tmp_path / "v.jsonl", vote(), vote(question_id="q2", **change))
    with pytest.raises(BadInput) as caught:
        read(path, "lmarena")
    assert message in caught.value.what
    assert caught.value.where.endswith("v.jsonl:2")
    assert flag in caught.value.do


# alpaca_eval


def annotation(**changes: Any) -> dict[str, Any]:
    row = {"instruction": "How did US states get their names?", "output_1": "From many.", "generator_1": "base"}
    row |= {"dataset": "helpful_base", "output_2": HOSTILE, "generator_2": "mine", "annotator": "weighted_gpt4"}
    return row | {"preference": 1.25, "raw_completion": {"text": "m", "message": {"content": "m"}}} | changes


@pytest.mark.parametrize(
    ("preference", "verdict", "points"),
    [
        (1, "A", None),
        (2.0, "B", None),
        (1.5, "tie", None),
        (0, "tie", None),
        (1.25, "A", 0.75),
        ("1.9", "B", 0.1),
        (None, "unparsed", None),
        ("NaN", "unparsed", None),
    ],
)
def test_alpaca_eval_preferences(tmp_path: Path, preference: Any, verdict: str, points: float | None) -> None:
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps([annotation(preference=preference)], indent=2))
    tables, summary = read(path)
    assert summary.format == "alpaca_eval"
    ((judge, a, b, decision, share, rationale),) = rows(
        tables, "judgments", "judge", "system_a", "system_b", "verdict", "points", "rationale"
    )
    assert (judge, a, b, decision, rationale) == ("weighted_gpt4", "base", "mine", verdict, "m")
    assert share == pytest.approx(points)
    assert rows(tables, "answers", "system", "text") == [("base", "From many."), ("mine", HOSTILE)]
    assert rows(tables, "tags", "tag", "value") == [("dataset", "helpful_base")]


@pytest.mark.parametrize("preference", [3, 0.5, "good", True])
def test_alpaca_eval_refuses_other_preferences(tmp_path: Path, preference: Any) -> None:
    path = jsonl(tmp_path / "a.jsonl", annotation(preference=preference))
    with pytest.raises(BadInput, match="preference must be") as caught:
        read(path, "alpaca_eval")
    assert "=preference" in caught.value.do


# MT-Bench


def test_mt_bench_verdicts_in_both_orders(tmp_path: Path) -> None:
    """The second game shows model_2 first: its winner is turned; a turn is a query of its own."""
    pair = {"question_id": 81, "model_1": "red", "model_2": "blue", "judge": ["gpt-4", "pair-v2"], "tstamp": 1.5}
    games = {"g1_user_prompt": "..", "g1_judgment": HOSTILE, "g2_user_prompt": "..", "g2_judgment": "[[A]]"}
    tables, summary = read(
        jsonl(
            tmp_path / "gpt-4_pair.jsonl",
            pair | games | {"g1_winner": "model_1", "g2_winner": "model_2", "turn": 1},
            pair | games | {"g1_winner": "tie", "g2_winner": "error", "turn": 2},
        ),
        values=["language=en"],
    )
    assert summary.format == "mt_bench"
    assert rows(tables, "judgments", "query_id", "judge", "system_a", "system_b", "verdict", "rationale") == [
        ("81#1", "gpt-4", "blue", "red", "A", "[[A]]"),
        ("81#1", "gpt-4", "red", "blue", "A", HOSTILE),
        ("81#2", "gpt-4", "blue", "red", "unparsed", "[[A]]"),
        ("81#2", "gpt-4", "red", "blue", "tie", HOSTILE),
    ]
    assert rows(tables, "tags", "query_id", "tag", "value") == [("81#1", "turn", "1"), ("81#2", "turn", "2")]


def test_mt_bench_scores(tmp_path: Path) -> None:
    single = {"question_id": 81, "model": "red", "judge": ["gpt-4", "single-v1"], "judgment": "Rating: [[9.5]]"}
    path = jsonl(tmp_path / "gpt-4_single.jsonl", single | {"score": 9.5, "turn": 1}, single | {"score": -1, "turn": 2})
    tables, summary = read(path, values=["language=en"])
    (good, bad) = tables["scores"].to_pylist()
    assert (good["query_id"], good["rater"], good["person"], good["value"]) == ("81#1", "gpt-4", False, 9.5)
    assert (good["low"], good["high"], bad["value"]) == (1, 10, None)
    assert bad["reason"]
    assert left_out(summary) == {"explanations of scores": 2}


def test_mt_bench_queries_answers_and_votes_fit_together(tmp_path: Path) -> None:
    folder = tmp_path / "mt"
    folder.mkdir()
    turns = ["Write a post about Hawaii.", "Now begin every sentence with A."]
    first = {"question_id": 81, "category": "writing", "turns": turns, "reference": ["ref 1", "ref 2"]}
    jsonl(folder / "question.jsonl", first)
    answers = [{"index": 0, "turns": ["Aloha!", "All is well."]}, {"index": 1, "turns": ["Hello!", "Again."]}]
    jsonl(folder / "red.jsonl", {"question_id": 81, "answer_id": "x", "model_id": "red", "choices": answers})
    conversations = {"conversation_a": messages(turns[0], "Aloha!", turns[1], "All is well.")}
    conversations |= {"conversation_b": messages(turns[0], "Hi", turns[1], "A b.")}
    ballot = {"question_id": 81, "model_a": "red", "model_b": "blue", **conversations}
    jsonl(
        folder / "votes.jsonl",
        ballot | {"winner": "model_b", "judge": "expert_3", "turn": 1},
        ballot | {"winner": "tie", "judge": "author_1", "turn": 2},
        ballot | {"winner": "tie (inconsistent)", "judge": "gpt4_pair", "turn": 2},
    )
    tables, summary = read(folder, "mt_bench")
    assert rows(tables, "queries", "query_id", "text") == [("81#1", turns[0]), ("81#2", turns[1])]
    assert rows(tables, "turns", "query_id", "text") == [("81#2", turns[0])]
    assert rows(tables, "references", "query_id", "text") == [("81#1", "ref 1"), ("81#2", "ref 2")]
    assert ("81#2", "blue", "A b.") in rows(tables, "answers", "query_id", "system", "text")
    assert ("81#1", "red", "Aloha!") in rows(tables, "answers", "query_id", "system", "text")
    assert rows(tables, "samples", "query_id", "sample", "text") == [("81#1", 1, "Hello!"), ("81#2", 1, "Again.")]
    assert rows(tables, "judgments", "query_id", "judge", "verdict", "person") == [
        ("81#1", "expert_3", "B", True),
        ("81#2", "author_1", "tie", True),
        ("81#2", "gpt4_pair", "tie", None),
    ]
    assert read(folder / "votes.jsonl")[1].format == "mt_bench"
    assert "inconsistent" in summary.guessed


def test_mt_bench_refuses_an_unknown_winner(tmp_path: Path) -> None:
    pair = {"question_id": 81, "model_1": "red", "model_2": "blue", "judge": ["gpt-4", "pair-v2"]}
    path = jsonl(tmp_path / "p.jsonl", pair | {"g1_winner": "red", "g2_winner": "tie"})
    with pytest.raises(BadInput, match="g1_winner must be") as caught:
        read(path, "mt_bench", values=["language=en"])
    assert caught.value.where.endswith("p.jsonl:1")


# TREC

SGML = """<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate.
</top>
"""
XML = (
    '<?xml version="1.0"?>\n<topics task="x">\n<topic number="7" type="a">\n<description>A patient &amp; more'
    "</description>\n</topic></topics>\n"
)


def trec_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "topics.sw.tsv").write_text("q1\tMji mkuu wa Tanzania ni upi?\nq2\tNani alishinda 1990\n")
    (folder / "qrels.sw.txt").write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d9 -1\n")
    lines = [f"q1 Q0 d{n} {n} {100 - n}.5 bm25" for n in range(2, 14)]
    (folder / "run.sw.txt").write_text("\n".join(lines) + "\n")
    texts = [{"_id": f"d{n}", "title": f"T{n}", "text": f"text {n} {HOSTILE}"} for n in (1, 2, 3, 50)]
    jsonl(folder / "corpus.sw.jsonl", *texts)
    return folder


def test_trec_folder(tmp_path: Path) -> None:
    """The pool is what is judged and the first ten of the run, which has its own table; metadata keep the grades."""
    tables, summary = read(trec_folder(tmp_path / "trec"), "trec")
    assert rows(tables, "queries", "language", "query_id", "text")[1] == ("sw", "q2", "Nani alishinda 1990")
    passages = {row["passage_id"]: row for row in tables["passages"].to_pylist() if row["query_id"] == "q1"}
    assert set(passages) == {f"d{n}" for n in range(1, 11)}
    assert (passages["d1"]["relevant"], passages["d2"]["relevant"], passages["d3"]["relevant"]) == (True, False, None)
    assert passages["d1"]["text"] == f"text 1 {HOSTILE}".strip()
    assert passages["d2"]["position"] == 1
    documents = {row["passage_id"]: row["metadata"] for row in tables["documents"].to_pylist()}
    assert json.loads(documents["d1"]) == {"grade": 2}
    assert json.loads(documents["d2"]) == {"grade": 0, "ranks": {"bm25": 2}}
    assert [row["relevant"] for row in tables["passages"].to_pylist() if row["query_id"] == "q2"] == [None]
    ranked = [row for row in tables["retrieved"].to_pylist() if row["query_id"] == "q1"]
    assert [(row["rank"], row["score"]) for row in sorted(ranked, key=lambda row: row["rank"])] == [
        (n - 1, 100 - n + 0.5) for n in range(2, 14)
    ]
    assert left_out(summary) == {"passages of the corpus": 1, "texts of retrieved documents": 10}


def test_trec_is_recognised(tmp_path: Path) -> None:
    folder = trec_folder(tmp_path / "trec")
    for name in ("topics.sw.tsv", "qrels.sw.txt", "run.sw.txt"):
        assert read(folder / name)[1].format == "trec", name
    assert read(folder)[1].format == "trec"


def test_trec_grades_by_another_threshold(tmp_path: Path) -> None:
    path = tmp_path / "qrels.en.txt"
    path.write_text("1 0 a 1\n1 0 b 2\n")
    tables, _ = read(path, "trec", meanings=["grade:1=0"])
    assert rows(tables, "passages", "passage_id", "relevant") == [("a", False), ("b", True)]


@pytest.mark.parametrize(
    ("text", "expected"), [(SGML, ("301", "International Organized Crime")), (XML, ("7", "A patient & more"))]
)
def test_trec_topics_with_tags(tmp_path: Path, text: str, expected: tuple[str, str]) -> None:
    path = tmp_path / "topics.en.txt"
    path.write_text(text)
    assert rows(read(path)[0], "queries", "query_id", "text") == [expected]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("qrels.el.txt", "el"),
        ("qrels.pt-BR.txt.gz", "pt-BR"),
        ("qrels.zh_TW.tsv", "zh-TW"),
        ("qrels.yue.txt", "yue"),
        ("qrels-v2.vi.txt", "vi"),
        ("run.sr-Latn.trec", "sr-Latn"),
        ("qrels.miracl-v1.0-sw-dev.tsv", "sw"),
        ("run.txt", None),
        ("qrels.run.txt", None),
        ("qrels.dev.txt", None),
        ("qrels.test.txt", None),
        ("qrels.new.txt", None),
        ("run.bge.txt", None),
        ("run.bm25.txt", None),
        ("el.qrels.bm25.txt", None),
        ("qrels.greek.txt", None),
    ],
)
def test_trec_reads_the_language_off_the_name_of_a_file(tmp_path: Path, name: str, language: str | None) -> None:
    """Any tag between the kind and the ending; words and splits that happen to be codes are none."""
    line = "1 Q0 d1 1 2.5 x\n" if name.startswith("run") else "1 0 d1 1\n"
    (tmp_path / name).write_bytes(gzip.compress(line.encode()) if name.endswith(".gz") else line.encode())
    tables, _ = read(tmp_path / name, values=["language=fr"])
    assert rows(tables, "queries", "language") == [language or "fr"]


def test_trec_in_several_languages(tmp_path: Path, arena: Callable[..., Any]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for code in ("el", "pt-BR", "sw"):
        (folder / f"topics.{code}.tsv").write_text("q1\tOne text for all?\n")
        (folder / f"qrels.{code}.txt").write_text("q1 0 d1 1\n")
    first = arena(folder, name="trec")
    assert first.read("queries")["language"].to_pylist() == ["el", "pt-BR", "sw"]


def test_trec_beir(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    jsonl(folder / "queries.jsonl", {"_id": "q1", "text": "What is the height of the tower?", "metadata": {}})
    jsonl(folder / "corpus.jsonl", {"_id": "d1", "title": "Tower", "text": "330 m", "metadata": {}})
    (folder / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    tables, _ = read(folder, "trec", values=["language=en"])
    assert rows(tables, "passages", "query_id", "title", "text", "relevant") == [("q1", "Tower", "330 m", True)]


@pytest.mark.parametrize(
    ("name", "lines", "message", "line"),
    [
        ("qrels.en.txt", "1 0 a 1\n1 0 b good\n", "no judgment", 2),
        ("run.en.txt", "1 Q0 a 1 2.5 x\n1 Q0 b first 2.5 x\n", "not of a run", 2),
        ("topics.en.tsv", "1\tWho won?\nno tab here\n", "not an id, a tab", 2),
        ("qrels.en.txt", "1 0 a 1\n1 0 a 2\n", "two grades", 2),
    ],
)
def test_trec_refuses(tmp_path: Path, name: str, lines: str, message: str, line: int) -> None:
    (tmp_path / name).write_text(lines)
    with pytest.raises(BadInput, match=message) as caught:
        read(tmp_path / name, "trec")
    assert caught.value.where.endswith(f"{name}:{line}")


def test_trec_runs_of_one_tag_are_told_apart_by_file(shared: Path, arena: Callable[..., Any], tmp_path: Path) -> None:
    imported = arena(shared / "field" / "same-run-tag", values=["language=en"])
    gains = {row["retriever"]: row["value"] for row in measure_retrievers(imported, measures=["nDCG@10"]).to_pylist()}
    assert {round(gain, 3) for name, gain in gains.items() if name.startswith("Anserini")} >= {0.613, 0.264}
    folder = tmp_path / "languages"
    folder.mkdir()
    for code in ("de", "sw"):
        (folder / f"run.one.{code}.txt").write_text("q1 Q0 d1 1 2.5 tag\n")
        (folder / f"run.two.{code}.txt").write_text("q1 Q0 d2 1 2.5 tag\n")
    assert {row["retriever"] for row in read(folder)[0]["retrieved"].to_pylist()} == {"tag:run.one", "tag:run.two"}
    for code in ("de", "sw"):
        (folder / f"run.two.{code}.txt").unlink()
    assert {row["retriever"] for row in read(folder)[0]["retrieved"].to_pylist()} == {"tag"}


def test_trec_ranks_that_order_nothing_are_ignored(shared: Path, arena: Callable[..., Any]) -> None:
    imported = arena(shared / "field" / "rank-column-0", values=["language=en"])
    expected = {*(f"d{n:02d}" for n in range(10)), "d25"}
    assert set(imported.read("passages")["passage_id"].to_pylist()) == expected


def test_trec_passages_of_a_pool_are_no_retriever(shared: Path, arena: Callable[..., Any], tmp_path: Path) -> None:
    """The pool is in no order that a retriever brought, and its labels have no part in the order that systems see."""
    imported = arena(shared / "field" / "given-phantom", values=["language=en"])
    means = measure_retrievers(imported, measures=["AP@1000"]).to_pylist()
    assert {row["retriever"] for row in means} == {"mine"}
    relevant = imported.read("passages", columns=["query_id", "position", "relevant"]).to_pylist()
    assert [row["relevant"] for row in relevant if row["query_id"] == "1"][:6] != [True] * 6
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "qrels.en.txt").write_text("1 0 b 1\n1 0 a 0\n1 0 c 2\n")
    labels = arena(tmp_path / "labels")
    assert labels.read("passages")["passage_id"].to_pylist() == ["a", "b", "c"]
    with pytest.raises(NotEnoughData):
        measure_retrievers(labels)


GRADES = "1 0 d1 0.5\n1 0 d2 1.0\n"


@pytest.mark.parametrize(
    ("name", "lines", "refused"),
    [
        ("qrels.txt", GRADES, "qrels.txt:1"),
        ("qrels.txt", "# judged by Ann\n1 0 d4 1\n", ""),
        ("qrels.tsv", "1\td4\t1\n", ""),
        ("run.tsv", "query_id\tQ0\tdoc_id\trank\tscore\trun\n1\tQ0\td1\t1\t9.0\theader\n", ""),
        ("run.txt", "1 Q0 d2 1 nan withnan\n1 Q0 d1 2 0.5 withnan\n", "run.txt:1"),
        ("run.txt", "1 Q0 d2 1 inf withinf\n", "run.txt:1"),
        ("run.txt", "1 Q0 Jos\xe9\xa0Mart\xed 1 3.0 nbsp\n", ""),
        ("run.txt", "1 Q0 two words 1 3.0 spaces\n", "run.txt"),
        ("run.txt", "1 d1 0.5\n", "run.txt"),
    ],
)
def test_trec_reads_every_file_of_a_folder_or_names_it(tmp_path: Path, name: str, lines: str, refused: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "topics.en.tsv").write_text("1\tWho built the bridge over the river?\n")
    (folder / name).write_text(lines)
    (folder / "notes.md").write_text("Nothing of use\n")
    if refused:
        with pytest.raises(BadInput) as caught:
            read(folder, values=["language=en"])
        assert refused in caught.value.where
        return
    tables, summary = read(folder, values=["language=en"])
    assert {"passages", "retrieved"} & tables.keys()
    assert left_out(summary) == {"notes.md": 1}


def test_every_refused_file_of_a_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "topics.en.tsv").write_text("1\tWho built the bridge over the river?\n")
    names = ("qrels.a.txt", "run.b.txt", "run.c.txt")
    for name in names:
        (folder / name).write_text("Nothing of use\n")
    with pytest.raises(BadInput) as caught:
        read(folder, values=["language=en"])
    assert all(name in caught.value.where for name in names)


def test_trec_grades_that_are_no_whole_numbers_are_mapped(tmp_path: Path) -> None:
    (tmp_path / "qrels.en.txt").write_text(GRADES)
    tables, _ = read(tmp_path / "qrels.en.txt", meanings=["grade:0.5=1"])
    assert rows(tables, "passages", "passage_id", "relevant") == [("d1", True), ("d2", True)]


# Nuggets


def nugget(text: str, importance: str, assignment: str) -> dict[str, str]:
    return {"text": text, "importance": importance, "assignment": assignment}


ASSIGNED = [
    nugget("N1", "vital", "support"),
    nugget("N2", "vital", "partial_support"),
    nugget("N3", "okay", "not_support"),
    nugget("N4", "okay", "support"),
]


def test_nuggetizer_assignments_become_nuggets_and_assignments(tmp_path: Path) -> None:
    row = {
        "query": "What is Python used for?",
        "qid": "q1",
        "answer_text": HOSTILE,
        "response_length": 9,
        "run_id": "mine",
    }
    tables, summary = read(jsonl(tmp_path / "n.jsonl", row | {"nuggets": ASSIGNED}))
    assert summary.format == "nuggets"
    assert rows(tables, "answers", "query_id", "system", "text") == [("q1", "mine", HOSTILE)]
    assert {row["text"]: (row["importance"], row["author"]) for row in tables["nuggets"].to_pylist()} == {
        given["text"]: (given["importance"], "nuggetizer") for given in ASSIGNED
    }
    texts = {row["nugget_id"]: row["text"] for row in tables["nuggets"].to_pylist()}
    assert {texts[row["nugget_id"]]: row["assignment"] for row in tables["nugget_assignments"].to_pylist()} == {
        given["text"]: given["assignment"] for given in ASSIGNED
    }
    assert "scores" not in tables
    assert left_out(summary) == {}


def test_what_nuggetizer_failed_to_decide_is_null_with_a_reason_or_okay(tmp_path: Path) -> None:
    row = {"query": "What is Python used for?", "qid": "q1", "answer_text": "x", "run_id": "mine"}
    tables, _ = read(jsonl(tmp_path / "n.jsonl", row | {"nuggets": [nugget("N", "failed", "failed")]}))
    assert rows(tables, "nuggets", "text", "importance") == [("N", "okay")]
    ((assignment, reason),) = rows(tables, "nugget_assignments", "assignment", "reason")
    assert assignment is None
    assert reason


def test_a_nugget_that_is_there_twice_counts_twice_as_at_nuggetizer(tmp_path: Path) -> None:
    row = {"query": "What is Python used for?", "qid": "q1", "answer_text": "x", "run_id": "mine"}
    twins = [nugget("N", "okay", given) for given in ("support", "not_support", "support")]
    tables, _ = read(jsonl(tmp_path / "n.jsonl", row | {"nuggets": twins}))
    assert len(tables["nuggets"]) == len(tables["nugget_assignments"]) == 3


def test_nuggets_of_passages_metrics_and_banks(tmp_path: Path) -> None:
    passage = {
        "text": "What is Python used for?",
        "qid": "q1",
        "candidate_text": "Much.",
        "docid": "d1",
        "nuggets": ASSIGNED,
    }
    metrics = {"qid": "q1", "strict_vital_score": 0.5, "strict_all_score": 0.5, "vital_score": 0.7, "all_score": 0.6}
    bank = {"query_id": "q2", "title_query": "Rising demand for avocado", "format_version": "v3"}
    asking = {"question": "Why?", "importance": "vital", "answers": {"It sells.": {"answer": "It sells."}}}
    asking |= {"references": [{"doc_id": "d9"}], "creator": [{"is_human": False, "llm_model": "an-llm"}]}
    bank |= {"nugget_bank": {"Why?": asking}, "claim_bank": {"C": {"claim": "C"}, "D": {"claim": "D"}}}
    board = {"run_id": "mine", "topic_id": "q2", "measure": "GRADE", "value": 0.4}
    path = jsonl(
        tmp_path / "n.jsonl", passage, metrics, metrics | {"qid": "all"}, bank, board, board | {"topic_id": "all"}
    )
    tables, summary = read(path, "nuggets", values=["run_id=mine", "language=en"])
    (document,) = tables["documents"].to_pylist()
    assert json.loads(document["metadata"])["vital_score"] == 0.75
    scores = {
        (row["query_id"], row["system"], row["measure"], row["rater"]): row["value"]
        for row in tables["scores"].to_pylist()
    }
    assert scores["q1", "mine", "all_score", "nuggetizer"] == 0.6
    assert scores["q2", "mine", "GRADE", "autojudge"] == 0.4
    assert left_out(summary) == {"means over all queries": 2}
    assert rows(tables, "queries", "query_id", "text")[1] == ("q2", "Rising demand for avocado")
    of_bank = {row["text"]: row for row in tables["nuggets"].to_pylist() if row["query_id"] == "q2"}
    assert set(of_bank) == {"Why? It sells.", "C", "D"}
    assert of_bank["Why? It sells."]["importance"] == "vital"
    assert (of_bank["Why? It sells."]["passage_id"], of_bank["Why? It sells."]["author"]) == ("d9", "an-llm")
    assert of_bank["C"]["importance"] == "okay"


def test_nuggets_refuse(tmp_path: Path) -> None:
    row = {"query": "What is Python used for?", "qid": "q1", "answer_text": "x", "run_id": "mine"}
    path = jsonl(tmp_path / "n.jsonl", row | {"nuggets": [nugget("N", "okay", "maybe")]})
    with pytest.raises(BadInput, match="assignment must be"):
        read(path)


def test_labels_and_runs_as_json_objects(tmp_path: Path) -> None:
    """Objects of objects of numbers are labels where the file is named for them, else a run; ties keep their order."""
    folder = tmp_path / "nested"
    folder.mkdir()
    (folder / "qrels.el.json").write_text(json.dumps({"ερ1": {"δ1": 2, "δ2": 0}, "ερ2": {"δ3": 1}}), encoding="utf-8")
    run_file = {"ερ1": {"δ2": 0.5, "δ1": 0.5, "δ4": 1.5}, "ερ2": {"δ3": 1e-3}}
    (folder / "run_bm25.el.json").write_text(json.dumps(run_file, indent=2), encoding="utf-8-sig")
    tables, summary = read(folder)
    retrieved = rows(tables, "retrieved", "query_id", "retriever", "rank", "passage_id", "score")
    assert sorted(retrieved) == [
        ("ερ1", "run_bm25", 1, "δ4", 1.5),
        ("ερ1", "run_bm25", 2, "δ2", 0.5),
        ("ερ1", "run_bm25", 3, "δ1", 0.5),
        ("ερ2", "run_bm25", 1, "δ3", 0.001),
    ]
    assert set(rows(tables, "passages", "passage_id", "relevant")) == {
        ("δ1", True),
        ("δ2", False),
        ("δ3", True),
        ("δ4", None),
    }
    assert "rank" not in summary.guessed
    (folder / "run_bm25.el.json").write_text('{"ερ1": {"δ2": 0.5}, "ερ2": [1]}', encoding="utf-8")
    with pytest.raises(BadInput, match="ερ2"):
        read(folder)


def test_battles_without_ids_or_texts_are_queries_of_their_own(tmp_path: Path) -> None:
    """Equal rows stay several battles, in one file and over two; the same file again changes nothing."""
    file = tmp_path / "votes.csv"
    file.write_text(
        "model_a,model_b,winner\nκόκκινο,蓝,model_a\nκόκκινο,蓝,model_a\n蓝,κόκκινο,tie\n", encoding="utf-8"
    )
    tables, summary = read(file)
    assert len(tables["queries"]) == len(tables["judgments"]) == 3
    assert "query_id" in summary.guessed
    assert read(file)[0]["queries"].equals(tables["queries"])
    other = file.rename(tmp_path / "more.csv")
    ids = {*rows(tables, "queries", "query_id"), *rows(read(other)[0], "queries", "query_id")}
    assert len(ids) == 6
