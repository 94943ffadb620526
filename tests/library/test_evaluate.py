"""`mirage evaluate` and `mirage.evaluate`: from a file to a ranking in one go, continued where it was left."""

import json
import shlex
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from arena_writer import read_rows, write_arena
from commands import CliRunner, write_jsonl
from commands import mirage as run
from golden.cases import read_table
from misbehaving import Service, reply

import mirage
from mirage import open_arena
from mirage.battles.judge import judges, preferred_judge, verdict_judges
from mirage.cli import app
from mirage.store import arena as arenas
from mirage.store.arena import is_arena
from mirage.store.ledger import ledger_path
from mirage.views.overview import next_step

DECLINES = "I cannot answer this question: the passages do not say it."
ANSWERS = {"new": "It was built in 1902 by Ada North [1].", "old": "I think it was 1902.", "odd": DECLINES}
PASSAGES = ["The bridge was built in 1902 by Ada North.", "The river is ninety kilometres long."]


def records(*systems: str, n: int = 8) -> list[dict[str, Any]]:
    """Answers to n questions about a bridge, of which every other has an answer by its reference: `new` decides
    correctly, `old` always answers, `odd` decides wrongly.
    """
    wrong = {"new": DECLINES, "old": ANSWERS["old"], "odd": ANSWERS["new"]}
    return [
        {
            "question": f"When was bridge number {k} over the river built?",
            "contexts": PASSAGES,
            "answer": (wrong if k % 2 else ANSWERS)[system],
            "ground_truth": "The passages do not say it." if k % 2 else "It was built in 1902 by Ada North.",
            "system": system,
        }
        for k in range(n)
        for system in systems
    ]


def save(path: Path, rows: list[dict[str, Any]]) -> Path:
    write_jsonl(path, *rows)
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "answers.jsonl", records("new", "old", "odd"))
    return tmp_path


evaluate = partial(run, "evaluate")


def suggested(text: str) -> list[list[str]]:
    """The commands that a summary suggests, as words."""
    return [shlex.split(line.partition("  # ")[0]) for line in text.splitlines() if line.startswith("  mirage ")]


def test_a_file_becomes_a_ranking_with_who_is_best_by_how_much_and_what_next(here: Path) -> None:
    done = evaluate("answers.jsonl", "--format", "json")
    rows = json.loads(done.stdout)
    assert [row["system"] for row in rows] == ["new", "old", "odd"]
    ranking = mirage.rank(mirage.open_arena(here / "answers-arena"), judge="relevance")
    assert [row["rating"] for row in rows] == [pytest.approx(value) for value in ranking.to_pandas("en")["rating"]]
    (best,) = [line for line in done.stderr.splitlines() if "tied for best" in line]
    assert "English" in best
    assert f"n = {rows[0]['n']} queries" in best
    assert "new" in best
    assert "by the file's references" in best
    arena = open_arena(here / "answers-arena")
    assert set(arena.read("answers")["system"].to_pylist()) == set(ANSWERS)
    assert not ledger_path(arena.path).exists()
    for words in suggested(done.stderr):
        if "--base-url" not in words and words[1] != "app":
            run(*words[1:])


def test_repeating_it_continues_and_a_changed_file_is_taken(here: Path) -> None:
    evaluate("answers.jsonl")
    before = open_arena(here / "answers-arena").version
    evaluate("answers.jsonl")
    assert open_arena(here / "answers-arena").version == before
    save(here / "answers.jsonl", [row | {"answer": ANSWERS["new"]} for row in records("new", "old", "odd")])
    equal = evaluate("answers.jsonl").stderr
    assert "is a tie" in equal
    assert "ranks first" not in equal


def test_one_system_is_counted_and_the_next_commands_add_another(here: Path) -> None:
    save(here / "one.jsonl", records("new"))
    done = evaluate("one.jsonl")
    assert "new" in done.stdout, "what its answers do"
    assert "does not say which system is better" in done.stderr
    assert "new (8 answers)" in done.stderr
    (again,) = [words for words in suggested(done.stderr) if "--baselines" in words]
    run(*again[1:])
    assert "by the file's references" in evaluate("one-arena").stderr


VERDICTS = [
    {"language": "en", "query_id": f"q{k}", "judge": "gpt-4o", "system_a": "a", "system_b": "b", "verdict": "A"}
    for k in range(12)
] + [{"language": "en", "query_id": "q0", "judge": "other", "system_a": "a", "system_b": "b", "verdict": "B"}]


def test_verdicts_of_a_file_are_ranked_by_their_judge(here: Path) -> None:
    save(here / "judged.jsonl", VERDICTS)
    done = evaluate("judged.jsonl")
    assert "a ranks first of 2 systems" in done.stderr
    assert "gpt-4o" in done.stderr
    assert "heuristic" not in set(open_arena(here / "judged-arena").read("judgments")["judge"].to_pylist())
    assert "tied for best of 2 systems by other" in evaluate("judged.jsonl", "--judge", "other").stderr


@pytest.mark.parametrize(*read_table("bad_evaluations"))
def test_bad_input_is_one_error_and_nothing_is_written(
    words: tuple[str, ...], message: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    save(here / "broken.jsonl", [*records("new", n=1), {"contexts": PASSAGES, "answer": "Ada.", "system": "new"}])
    before = sorted(path.name for path in here.iterdir())
    done = evaluate(*words, code=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in here.iterdir()) == before


def test_a_folder_with_other_files_is_refused_unchanged(here: Path) -> None:
    (here / "answers-arena").mkdir()
    (here / "answers-arena" / "mine.txt").write_text("mine", "utf-8")
    assert "answers-arena" in evaluate("answers.jsonl", code=2).stderr
    assert [path.name for path in (here / "answers-arena").iterdir()] == ["mine.txt"]


def judged_by(service: Service, *words: str) -> list[str]:
    return ["answers.jsonl", "--judge", "m", "--base-url", service.url, *words]


def test_a_model_judges_after_its_cost_is_said_and_no_call_is_made_twice(here: Path) -> None:
    prices = ("--price-in", "1", "--price-out", "2")
    with Service(lambda _: reply("Better. [[A]]")) as service:
        planned = evaluate(*judged_by(service, *prices, "--dry-run"))
        assert not service.calls
        assert "48 calls would be made" in planned.stderr
        assert "in the currency of the prices" in planned.stderr
        assert "by the file's references" in planned.stderr
        done = evaluate(*judged_by(service, *prices, "--yes"))
        assert len(service.calls) == 48
        assert "Decided by the verdicts of m" in done.stderr
        evaluate(*judged_by(service, *prices, "--yes"))
        assert len(service.calls) == 48
        evaluate("answers-arena", "--judge", "m")
    judgments = read_rows(here / "answers-arena", "judgments")
    assert sum(row["judge"] == "m" for row in judgments) == 48
    assert not {"fluency_score"} & set(open_arena(here / "answers-arena").read("features")["feature"].to_pylist())


def test_a_person_is_asked_and_a_no_sends_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False, True])
    monkeypatch.setattr("mirage.cli.evaluating.confirm", lambda *_, **__: next(answers))
    monkeypatch.setattr("mirage.cli.evaluating.is_terminal", lambda: True)
    with Service(lambda _: reply("Better. [[A]]")) as service:
        evaluate(*judged_by(service))
        assert not service.calls
        evaluate(*judged_by(service))
        assert len(service.calls) == 48


def test_without_a_file_the_sample_is_evaluated(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = open_arena("sample")
    tables = {name: sample.read(name, languages=["en", "sw"]) for name in ("queries", "passages", "answers")}
    few = write_arena(here / "given" / "sample", tables)
    monkeypatch.setattr(arenas, "bundled_arenas", lambda: {"sample": few.path})
    assert "14 systems are tied for best" in " ".join(mirage.evaluate(draws=20).findings)
    assert open_arena(few.path).version == few.version
    assert is_arena(here / "sample-arena")


def test_from_python_a_file_an_arena_and_rows_give_the_same(here: Path) -> None:
    from_file = mirage.evaluate("answers.jsonl", draws=50)
    from_rows = mirage.evaluate(pd.DataFrame(records("new", "old", "odd")), here / "rows", draws=50)
    again = mirage.evaluate(from_file.arena, draws=50)
    assert from_file.findings == from_rows.findings == again.findings
    assert list(from_rows.to_pandas()["system"]) == ["new", "old", "odd"]
    for result in (from_file, from_file.arena):
        assert len(repr(result).splitlines()) <= 10
        assert "<script" not in result._repr_html_()
    assert str(here / "rows") in repr(from_rows)


def test_from_python_rows_need_a_folder_and_wrong_rows_are_named(here: Path) -> None:
    with pytest.raises(mirage.BadInput, match="folder"):
        mirage.evaluate(records("new"))
    with pytest.raises(mirage.BadInput) as caught:
        mirage.evaluate(
            [*records("new", n=1), {"contexts": PASSAGES, "answer": "Ada.", "system": "new"}], here / "rows"
        )
    assert "row 2" in caught.value.where
    assert not (here / "rows").exists()
    with pytest.raises(mirage.UnknownName, match="nobody"):
        mirage.evaluate("answers.jsonl", judge="nobody")
    assert not (here / "answers-arena").exists()
    with pytest.raises(mirage.NotEnoughData):
        mirage.evaluate(records("new"), here / "one").to_pandas()


@pytest.mark.parametrize(
    ("rows", "command"),
    [
        (records("new", "old"), "evaluate"),
        (VERDICTS, "rank"),
        ([{"language": "en", "query_id": "q1", "text": "Who built the bridge over the river?"}], "generate"),
    ],
    ids=["answers", "verdicts", "queries"],
)
def test_an_import_ends_with_the_next_command(rows: list[dict[str, Any]], command: str, tmp_path: Path) -> None:
    file = save(tmp_path / "given.jsonl", rows)
    done = run("import", file, "--into", tmp_path / "arena")
    words = shlex.split(done.stderr.splitlines()[-1].rpartition(": ")[2])
    assert words[:2] == ["mirage", command]
    assert next_step(open_arena(tmp_path / "arena")).command == shlex.join(words)
    if command != "generate":
        run(*words[1:])


def test_generate_features_and_judge_from_python_write_what_the_commands_do(tmp_path: Path) -> None:
    arena = mirage.import_file(pd.DataFrame(records("new", "old", n=3)), tmp_path / "arena")
    with Service(lambda _: reply("Better. [[A]]")) as service:
        model = mirage.chat_model("m", base_url=service.url, concurrency=2)
        arena = mirage.generate(arena, model, limit=2)
        assert sum(system == "m" for system in arena.read("answers")["system"].to_pylist()) == 2
        arena = mirage.features(arena, only=["length"])
        assert set(arena.read("features")["feature"].to_pylist()) == {"length"}
        arena = mirage.judge(arena, model, judge="strict", pairs=2)
        assert {row["judge"] for row in read_rows(arena, "judgments")} == {"strict"}
        sent = len(service.calls)
        run("judge", arena.path, "--judge", "strict", "--model", "m", "--base-url", service.url, "--pairs", 2)
        assert len(service.calls) == sent
    with pytest.raises(mirage.BadInput, match="bundled"):
        mirage.features(mirage.open_arena("sample"))
    with pytest.raises(mirage.BadInput, match="needs a model"):
        mirage.judge(arena, judge="somebody")


def test_without_references_labels_or_a_judge_no_system_is_best(here: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != "ground_truth"} for row in records("new", "odd")]
    save(here / "bare.jsonl", rows)
    done = evaluate("bare.jsonl")
    assert "Nothing in the file says which is better" in done.stderr
    assert "ranks first" not in done.stderr
    assert any("--judge" in words for words in suggested(done.stderr))
    assert "judgments" not in open_arena(here / "bare-arena").tables
    asked = evaluate("bare.jsonl", "--judge", "heuristic").stderr
    assert "undecided" in asked
    assert "ranks first" not in asked


def labelled(answers: dict[str, str], subset: str = "relevant", **more: Any) -> list[dict[str, Any]]:
    """Answers to eight labelled questions by systems that give the same answer to each."""
    return [
        {"query_id": f"q{k}", "question": f"When was bridge {k} built?", "contexts": PASSAGES, "answer": answer}
        | {"system": system, "subset": subset, "language": "en", **more}
        for k in range(8)
        for system, answer in answers.items()
    ]


def test_a_language_without_vocabulary_is_not_ranked_at_any_door(here: Path) -> None:
    """Pitfall 157: answers that nobody can read were ranked by the alphabet."""
    texts = {"a": "ድልድዩ በ1902 ተሠራ።", "b": "ጽሑፎቹ ስለዚህ ምንም አይሉም።"}
    save(here / "am.jsonl", labelled(texts, language="am", question="ድልድዩ መቼ ተሠራ?"))
    done = evaluate("am.jsonl")
    assert "0 of 8 answers classified" in done.stderr
    assert "16 answers could not be classified." in done.stderr
    assert "ranks first" not in done.stderr
    for words in (["rank", "am-arena"], ["compare", "am-arena", "a", "b"]):
        refused = run(*words, code=2)
        assert "0 of 8 answers classified" in refused.stderr
        assert "mirage judge" in refused.stderr
    with pytest.raises(mirage.MirageError, match="classified"):
        mirage.rank(mirage.open_arena(here / "am-arena"))


def test_a_system_without_answers_is_named_once_and_not_on_the_board(here: Path) -> None:
    """Pitfall 158: a system whose every call failed stood second."""
    by_labels = labelled({"a": ANSWERS["new"], "b": DECLINES, "z": ""})
    by_references = [row | {"answer": "" if row["system"] == "odd" else row["answer"]} for row in records(*ANSWERS)]
    for name, rows, best, failed in (("one", by_labels, "a ranks first", "z"), ("two", by_references, "best", "odd")):
        save(here / f"{name}.jsonl", rows)
        done = evaluate(f"{name}.jsonl")
        assert f"{best} of 2 systems" in done.stderr
        assert done.stderr.count(f"no answers in English: {failed}") == 1


@pytest.mark.parametrize(("subset", "first"), [("relevant", "a"), ("non_relevant", "b")])
def test_queries_of_one_kind_rank_by_what_there_is(here: Path, subset: str, first: str) -> None:
    """Pitfall 160."""
    save(here / "one.jsonl", labelled({"a": ANSWERS["new"], "b": DECLINES}, subset))
    done = evaluate("one.jsonl")
    assert f"{first} ranks first of 2 systems" in done.stderr
    assert "queries only" in done.stderr


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("AAD", "a and b are tied for best of 3 systems"),
        ("AAAD", "a, b and c are tied for best of 4 systems"),
        ("AAAAD", "5 systems are tied for best"),
        ("AMD", "a and b are tied for best of 3 systems"),
    ],
)
def test_systems_that_no_test_separates_are_tied_for_best(here: Path, answers: str, said: str) -> None:
    """Pitfalls 159 and 200: the first by the alphabet, or by an insignificant difference, was said to rank first."""
    texts = {"A": ANSWERS["new"], "D": DECLINES, "M": ANSWERS["old"]}
    rows = labelled({chr(97 + k): texts[letter] for k, letter in enumerate(answers)})
    for row in rows:
        if "M" in answers and row["system"] == "b" and row["query_id"] == "q3":
            row["answer"] = DECLINES
    save(here / "equal.jsonl", rows)
    done = evaluate("equal.jsonl")
    assert f"{said} in English (n = 8 queries)." in done.stderr
    for word in ("ranks first", "leads", "win rate"):
        assert word not in done.stderr
    run("export", "html", "equal-arena", "--into", "r.html")
    assert said in (here / "r.html").read_text("utf-8")


def test_the_judge_of_evaluate_is_the_default_of_the_arena(here: Path) -> None:
    """Pitfall 162: afterwards every command asked for the judge."""
    row = {"language": "en", "system_a": "a", "system_b": "b"}
    rows = [
        row | {"query_id": f"q{k}", "judge": j, "verdict": v} for k in range(8) for j, v in (("x", "A"), ("y", "B"))
    ]
    save(here / "two.jsonl", rows)
    for judge, first in (("x", "a"), ("y", "b")):
        assert f"{first} ranks first" in evaluate("two.jsonl", "--judge", judge).stderr
        arena = open_arena(here / "two-arena")
        assert arena.judge == judges(arena)[0] == mirage.rank(arena, draws=10).judge == judge
        assert f"by {judge}" in CliRunner().invoke(app, ["compare", "two-arena", "a", "b"]).stderr


def test_scores_decide_before_the_heuristic_judge(here: Path) -> None:
    """Pitfall 178, `field/turn4/11-scores-unseen`: of a judge and, where there are any, of people."""
    rows = [
        {"question_id": k, "model": model, "judge": ["gpt", "single-v1"], "user_prompt": "x", "turn": 1, "tstamp": 1.0}
        | {"score": score, "judgment": f"Rating: [[{score}]]"}
        for k in range(81, 89)
        for model, score in (("red", 9), ("blue", 5))
    ]
    save(here / "scores.jsonl", rows)
    run("import", "scores.jsonl", "--set", "language=en", "--into", "s")
    done = evaluate("s")
    assert "red ranks first of 2 systems" in done.stderr
    assert open_arena(here / "s").judge == "scores: rating"


def test_labels_rank_before_a_simulated_judge() -> None:
    """Pitfall 163: the sample was ranked by a judge with a planted fault."""
    sample = mirage.open_arena("sample")
    assert any(name.startswith("simulated/") for name in verdict_judges(sample))
    assert preferred_judge(sample) == "relevance"
    assert preferred_judge(sample, "simulated/first") == "simulated/first"


BRIDGES = {
    "en": ("In what year was the old bridge number {k} built?", "It was built in 18{k}.", "The documents do not say."),
    "de": (
        "Wann wurde die alte Brücke Nummer {k} gebaut?",
        "Sie wurde 18{k} gebaut.",
        "Die Dokumente sagen das nicht.",
    ),
    "sw": ("Daraja la zamani namba {k} lilijengwa mwaka gani?", "Lilijengwa mwaka 18{k}.", "Hati hazisemi."),
    "ja": ("第{k}番の古い橋はいつ建てられましたか。", "18{k}年に建てられました。", "文書には書かれていません。"),
}
"""A question, an answer and a refusal, by language."""


def bold_and_careful(language: str, **fields: tuple[Any, Any]) -> list[dict[str, Any]]:
    """Answers to 24 questions of which every other has none: `bold` invents one. Fields hold one value where there is
    an answer and another where there is none.
    """
    question, answer, refusal = BRIDGES[language]
    return [
        {"question": question.format(k=k), "contexts": [answer.format(k=99 - k)], "system": system}
        | {"answer": refusal if k % 2 and system == "careful" else answer.format(k=k)}
        | {name: values[k % 2] for name, values in fields.items()}
        for k in range(10, 34)
        for system in ("bold", "careful")
    ]


@pytest.mark.parametrize(*read_table("answerable"))
def test_a_reference_or_a_field_tells_which_queries_are_answerable(
    here: Path, language: str, fields: dict[str, tuple[Any, Any]], source: str
) -> None:
    """Pitfall 199: the system that makes things up ranked first."""
    save(here / "plain.jsonl", bold_and_careful(language, **fields))
    done = evaluate("plain.jsonl", "--format", "json")
    assert [row["system"] for row in json.loads(done.stdout)] == ["careful", "bold"]
    (first,) = [line for line in done.stderr.splitlines() if line.startswith("careful")]
    assert source in first
    assert "human" not in done.stderr
    arena = open_arena(here / "plain-arena")
    assert Counter(arena.read("queries")["subset"].to_pylist()) == {"relevant": 12, "non_relevant": 12}
    assert source in CliRunner().invoke(app, ["compare", "plain-arena", "careful", "bold"]).stderr
    assert source in run("report", "rates", "plain-arena").stderr


@pytest.mark.parametrize(*read_table("unlabelled"))
def test_what_tells_nothing_is_no_label(here: Path, fields: dict[str, tuple[Any, Any]]) -> None:
    save(here / "plain.jsonl", bold_and_careful("en", **fields))
    assert "Nothing in the file says which is better" in evaluate("plain.jsonl").stderr
    assert open_arena(here / "plain-arena").read("queries")["subset"].null_count == 24


@pytest.mark.parametrize("measure", ["context_entropy", "difference", "Länge der Suche"])
def test_a_number_not_named_after_what_is_good_decides_nothing_unless_asked(here: Path, measure: str) -> None:
    rows = bold_and_careful("en", ground_truth=("", ""))
    save(here / "plain.jsonl", [row | {measure: float(row["system"] == "bold")} for row in rows])
    done = evaluate("plain.jsonl").stderr
    assert "Nothing in the file says which is better" in done
    assert f"({measure})" in done
    assert "there are no verdicts, scores" not in done
    for words in (("rank", "plain-arena"), ("compare", "plain-arena", "bold")):
        refused = run(*words, code=2).output
        assert not [said for said in ("heuristic", "0 judges") if said in refused]
    (verdicts,) = (words for words in suggested(done) if words[1:3] == ["votes", "scores"])
    run(*verdicts[1:])
    run("rank", "plain-arena")


def test_abstention_has_no_share_where_most_answers_could_not_be_classified(here: Path) -> None:
    texts = {"long": ["Aneto ez, beste mendi bat da."] * 4, "terse": ["1898", *["Testuetan ez dago erantzunik."] * 3]}
    question = "Noiz sortu zen Bilboko {k}. kirol elkartea?"
    rows = [
        {"question": question.format(k=k), "system": system, "answer": answer, "language": "eu"}
        for system, answers in texts.items()
        for k, answer in enumerate(answers)
    ]
    save(here / "plain.jsonl", rows)
    behaviour = {row["system"]: row for row in json.loads(evaluate("plain.jsonl", "--format", "json").stdout)}
    assert {system: row["answers"] for system, row in behaviour.items()} == {"long": 4, "terse": 4}
    assert {row["abstained"] for row in behaviour.values()} == {None}, "one number among refusals that nobody reads"


def test_a_field_that_differs_between_systems_is_about_their_answers(here: Path) -> None:
    rows = [row | {"is_answerable": row["system"] == "bold"} for row in bold_and_careful("en")]
    save(here / "plain.jsonl", rows)
    assert "Nothing in the file says which is better" in evaluate("plain.jsonl").stderr


def test_labels_of_one_kind_from_references_yield_to_scores(here: Path) -> None:
    rows = bold_and_careful("en", ground_truth=("In 1802.", "In 1803."))
    save(here / "plain.jsonl", [row | {"score": 1 + (row["system"] == "careful")} for row in rows])
    evaluate("plain.jsonl")
    assert open_arena(here / "plain-arena").judge == "scores: score"
    save(here / "bare.jsonl", rows)
    assert "answerable queries only" in evaluate("bare.jsonl").stderr
