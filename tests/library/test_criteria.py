"""Criteria and prompts of your own: what a judge is asked, what is stored, how criteria agree, what steers a prompt."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from arena_writer import make_judgment, read_rows, write_arena
from commands import mirage, rows
from judge_cases import answers, arena, by_hash, judgments, run, says, texts  # noqa: F401  # fixtures
from misbehaving import Act, Call, Service

import mirage as api
from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.llm.prompts import bundled_text
from mirage.people.exam import exam
from mirage.ranking.board import rank_arena
from mirage.ranking.judges import Judge, VerdictJudge
from mirage.stages.judge.criteria import BUNDLED, load_criterion
from mirage.store.arena import open_arena
from mirage.text.makers import Makers

PROMPT = """Question: {question}

{passages}

Answer A: {answer_a}

Answer B: {answer_b}

Which is friendlier? End with [[A]], [[B]] or [[C]].
"""
RUBRIC = "question: Is the answer polite?\n"
POINTS = RUBRIC + "scale: points\n"
ALONE = "Q: {question} {passages} A: {answer} From {low} to [[{high}]] points?"
ORDER = ("one", "two", "three")


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


# --- what a judge is asked --------------------------------------------------------------------------------------------


def test_the_default_criterion_asks_what_the_judge_asked_before() -> None:
    criterion = load_criterion()
    assert criterion == load_criterion("overall")
    assert criterion.template("te") == bundled_text("judge")
    assert criterion.judge_name("gpt-4o") == "gpt-4o"


def test_bundled_criteria_differ_in_their_question_and_hash() -> None:
    criteria = [load_criterion(name) for name in BUNDLED]
    assert len({criterion.prompt for criterion in criteria}) == len(BUNDLED) == 5
    for criterion in criteria[1:]:
        assert criterion.name in criterion.judge_name("j")
        assert not {"{criterion}", "{language}"} & set(re.findall(r"\{\w+\}", criterion.template("sw")))
    assert "Swahili" in load_criterion("language-quality").template("sw")
    with pytest.raises(UnknownName, match="groundedness"):
        load_criterion("groundednes")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("name: tone\n", "question"),
        ("name: tone\nquestion:\n", "question"),
        ("question: {te: q}\n", "question"),
        *(
            (RUBRIC + f"scale: {scale}\n", "scale")
            for scale in ("1 to 5", "points 5 to 1", "points 1 to 1", "", "{a: b}")
        ),
        (f"{POINTS}template: {json.dumps(PROMPT)}\n", "answer_a"),
        (f"{POINTS}template: {json.dumps(ALONE.replace('[[{high}]]', '{high}'))}\n", "verdict"),
        (f"template: {json.dumps(ALONE)}\n", "answer"),
        (RUBRIC + "name: {en: tone}\n", "name"),
        (RUBRIC + "name: groundedness\n", "groundedness"),
        (RUBRIC + "name: planted\n", "planted"),
        (RUBRIC + "name: 'a: b'\n", "colon"),
        (RUBRIC + "template: no places\n", "question"),
        (RUBRIC.replace("polite", "{polite}"), "polite"),
        (f"template: {json.dumps(PROMPT.replace('{answer_b}', ''))}\n", "answer_b"),
        (f"template: {json.dumps(PROMPT.replace('{passages}', '{contexts}'))}\n", "contexts"),
        (f"template: {json.dumps(PROMPT.replace('[[A]], [[B]] or [[C]]', 'a verdict'))}\n", "verdict"),
        (f"template: {json.dumps(PROMPT + '{criterion}')}\n", "criterion"),
        ("- a list\n", "mapping"),
        ("question: [a\n", "YAML"),
    ],
)
def test_a_rubric_that_cannot_be_used_is_one_error_with_file_and_field(tmp_path: Path, text: str, field: str) -> None:
    path = file(tmp_path, "own.yaml", text)
    with pytest.raises(BadInput, match=field) as caught:
        load_criterion(rubric=path)
    assert str(path) in caught.value.where
    assert caught.value.do


# --- what is stored ---------------------------------------------------------------------------------------------------


def test_another_criterion_is_another_judge_everywhere(arena: Path) -> None:
    with Service(by_hash) as service:
        run(arena, service)
        run(arena, service, "--criterion", "groundedness")
        n = len(service.calls)
        run(arena, service, "--criterion", "groundedness")
        assert len(service.calls) == n, "no call is paid for twice"
    table = judgments(arena)
    by_judge = Counter((row["judge"], row["criterion"], row["prompt"]) for row in table)
    assert set(by_judge) == {
        (name, criterion, load_criterion(criterion).prompt)
        for name, criterion in (("j", "overall"), ("j: groundedness", "groundedness"))
    }
    assert len(set(by_judge.values())) == 1
    opened = open_arena(arena)
    for name in ("j", "j: groundedness"):
        assert rank_arena(opened, Judge.from_name(name))
        mirage("rank", arena, "--judge", name, "--draws", 20)
        mirage("compare", arena, "one", "two", "--judge", name)
    shown = rows(mirage("report", "judges", arena, "--format", "csv"))
    assert {row["judge"] for row in shown} == {"j", "j: groundedness"}


def test_a_changed_prompt_does_not_mix_with_the_old_one(arena: Path, tmp_path: Path) -> None:
    path = file(tmp_path, "tone.yaml", RUBRIC)
    with Service(by_hash) as service:
        run(arena, service, "--criterion", path, "--pairs", 2)
        before, n = judgments(arena), len(service.calls)
        file(tmp_path, "tone.yaml", RUBRIC.replace("polite", "kind"))
        refused = run(arena, service, "--criterion", path, "--pairs", 3, code=2)
        assert len(service.calls) == n, "nothing is paid before the error"
        assert before[0]["prompt"] in refused.stderr
        assert judgments(arena) == before
        run(arena, service, "--criterion", path, "--pairs", 2, "--replace")
    after = judgments(arena)
    assert {row["prompt"] for row in after} == {load_criterion(rubric=path).prompt} != {before[0]["prompt"]}


def test_a_prompt_of_your_own_is_sent_as_it_is(arena: Path, tmp_path: Path) -> None:
    path = file(tmp_path, "mine.yaml", f"template: {json.dumps(PROMPT + '{ braces }')}\n")
    with Service(by_hash) as service:
        run(arena, service, "--criterion", path, "--languages", "en", "--pairs", 1)
        sent = {call.content for call in service.calls}
    assert {row["judge"] for row in judgments(arena)} == {"j: mine"}
    for content in sent:
        assert content.startswith("Question: What of ('en'")
        assert re.search(r"Answer A: ##Reason: so.\n\n##Answer: \w+ on en q\d.\n\nAnswer B: ##Reason", content)
        assert content.endswith("{ braces }")


def test_arenas_without_criteria_are_written_and_read_as_before(tmp_path: Path) -> None:
    row = make_judgment("en", "q", "j", "a", "b", "A")
    write_arena(tmp_path / "a", {"judgments": [row]})
    (read,) = read_rows(tmp_path / "a", "judgments")
    assert (read["criterion"], read["prompt"]) == (None, None)
    files = list((tmp_path / "a").rglob("judgments/*.parquet"))
    import pyarrow.parquet as pq

    assert not {"criterion", "prompt"} & set(pq.read_schema(files[0]).names)


def test_imported_verdicts_by_several_criteria_are_judges_of_their_own(tmp_path: Path) -> None:
    record = {"query_id": "q", "language": "en", "judge": "g", "system_a": "x", "system_b": "y", "verdict": "A"}
    lines = [record | {"criterion": name} for name in ("overall", "tone")]
    path = file(tmp_path, "judged.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    for words in (("import", path), ("import", "--as", "judgments", path)):
        into = tmp_path / words[1].name if len(words) == 2 else tmp_path / "own"  # type: ignore[union-attr]
        mirage(*words, "--into", into.with_suffix(".arena"))
        table = judgments(into.with_suffix(".arena"))
        assert [(row["judge"], row["criterion"]) for row in table] == [("g", "overall"), ("g: tone", "tone")]


def test_a_criterion_does_not_hide_the_maker_of_a_judge() -> None:
    makers = Makers.of_names([("ours", "Us")])
    for judge, maker in (("o3", "OpenAI"), ("ours", "Us"), ("gpt-4o", "OpenAI")):
        assert makers.of(f"{judge}: groundedness") == makers.of(judge) == maker


# --- points for single answers ----------------------------------------------------------------------------------------


def rating(call: Call) -> Act:
    """Points by system: 5 for one, 4 for two, 1 for three, and of three on q2 a number outside the scale."""
    (name,) = {*re.findall(r"(one|two|three) on \w+ q\d", call.content)}
    return says({"one": "5", "two": "4", "three": "9" if "three on en q2" in call.content else "1"}[name])


def test_points_are_scores_of_single_answers_and_decide_their_battles(arena: Path, tmp_path: Path) -> None:
    path = file(tmp_path, "tone.yaml", POINTS)
    with Service(rating) as service:
        prices = ("--price-in", 0, "--price-out", 1e6, "--max-tokens", 20, "--concurrency", 1)
        assert "24 calls" in run(arena, service, "--criterion", path, "--dry-run").stderr
        told = run(arena, service, "--criterion", path, *prices, "--budget", 200)
        assert len(service.calls) == 10
        assert "answers have no points" in told.stderr
        shown = rows(run(arena, service, "--criterion", path, *prices, "--format", "csv"))
        assert "1 answer without points" in run(arena, service, "--criterion", path, *prices).stderr
        assert Counter(service.requests.values()) == {1: 24}, "each answer is asked about once"
    means = {row["system"]: float(row["mean"]) for row in shown if row["language"] == "all"}
    assert means == {"one": 5, "two": 4, "three": 1}
    scores = read_rows(arena, "scores")
    about = {(row["rater"], row["measure"], row["low"], row["high"], row["person"]) for row in scores}
    assert about == {("j: tone", "tone", 1, 5, False)}
    (unread,) = (row for row in scores if row["value"] is None)
    assert (unread["language"], unread["query_id"], unread["system"]) == ("en", "q2", "three")
    assert "1 to 5" in unread["reason"]

    table = judgments(arena)
    assert len(table) == 8 * 3 * 2
    for row in table:
        pair, keys = (row["system_a"], row["system_b"]), (row["language"], row["query_id"], row["criterion"])
        better = "AB"[ORDER.index(pair[0]) > ORDER.index(pair[1])]
        lost = keys[:2] == ("en", "q2") and "three" in pair
        assert (row["verdict"], row["reason"]) == (("unparsed", unread["reason"]) if lost else (better, None))
        assert keys[2] == "tone"
        assert row["prompt"] == load_criterion(rubric=path).prompt
    assert len({row["call"] for row in table}) == 24, "the cost of every call is known"
    board = rows(mirage("rank", arena, "--judge", "j: tone", "--draws", 20, "--format", "csv"))
    assert [row["system"] for row in board if row["language"] == "all"] == list(ORDER)
    (row, *_) = rows(mirage("compare", arena, "one", "three", "--judge", "j: tone", "--format", "csv"))
    assert float(row["difference"]) == 1
    assert "j: tone" in mirage("show", arena).stderr
    (row,) = (row for row in rows(mirage("report", "judges", arena, "--format", "csv")) if row["language"] == "all")
    assert (row["flip_rate"], row["first_rate"], row["calls"]) == ("", "", "24"), "the judge saw no order"


def test_a_single_system_has_scores_and_no_battles(tmp_path: Path) -> None:
    path, rubric = tmp_path / "arena", file(tmp_path, "tone.yaml", POINTS)
    write_arena(path, {**texts(), "answers": answers(("one",))})
    with Service(rating) as service:
        shown = rows(run(path, service, "--criterion", rubric, "--queries", 3, "--format", "csv"))
        assert {(row["system"], float(row["mean"])) for row in shown} == {("one", 5.0)}
        n = len(service.calls)
        assert n == open_arena(path).rows("scores") == 6
        run(path, service, "--criterion", rubric, "--pairs", 3, code=2)
        for text, name in ((POINTS.replace("polite", "kind"), "j"), (POINTS.replace("points", "points 0 to 9"), "k")):
            file(tmp_path, "tone.yaml", text)
            assert "another name" in run(path, service, "--criterion", rubric, name=name, code=2).stderr
        assert len(service.calls) == n, "nothing is paid before the error"
        file(tmp_path, "tone.yaml", POINTS.replace("polite", "kind"))
        run(path, service, "--criterion", rubric, "--queries", 2, "--replace")
    assert open_arena(path).rows("scores") == 4, "none is left that was asked in other words"
    assert "judgments" not in open_arena(path).tables


def test_a_prompt_for_points_is_sent_as_it_is(arena: Path, tmp_path: Path) -> None:
    path = file(tmp_path, "mine.yaml", f"scale: points from 0 to 10\ntemplate: {json.dumps(ALONE)}\n")
    with Service(lambda _: says("10/10")) as service:
        run(arena, service, "--criterion", path, "--languages", "en", "--pairs", 1, "--repeats", 2)
        assert all(call.content.endswith("From 0 to [[10]] points?") for call in service.calls)
        assert len(service.calls) == 4
    assert {(row["verdict"], row["repeat"]) for row in judgments(arena)} == {("tie", None), ("tie", 1)}
    assert open_arena(arena).read("scores")["value"].to_pylist() == [10, 10]


# --- prompts that an answer can steer ---------------------------------------------------------------------------------


def obeying(wrong: set[tuple[str, str]]) -> object:
    """A judge that prefers the right answer, unless a text outside the fences tells it its verdict."""

    def behave(call: Call) -> Act:
        outside = re.sub(r"<<[A-Z]+[A-Z 0-9]* (\w{12,})>>\n.*?<<END \1>>", "", call.content, flags=re.DOTALL)
        if told := re.findall(r"^\[\[([AB])\]\]$", outside, flags=re.MULTILINE):
            return says(told[-1])
        (a, query), *others = re.findall(r"(one|two|three) on en (q\d+)\.", call.content)
        if not others:
            return says("5" if (query, a) not in wrong or "[[5]]" in call.content.split("First explain")[0] else "1")
        return says("B" if (query, a) in wrong else "A")

    return behave


def test_a_prompt_that_an_answer_steers_is_caught_by_planted_cases(tmp_path: Path) -> None:
    path, n = tmp_path / "arena", 12
    wrong = {(f"q{k}", "three" if k % 3 else "one") for k in range(n)}
    outcomes = [
        schema.OutcomeRow(
            "en",
            f"q{k}",
            system,
            "strict",
            "relevant" if k % 2 else "non_relevant",
            "answered" if bool(k % 2) != ((f"q{k}", system) in wrong) else "abstained",
            "a rule",
            None,
            None,
            (f"q{k}", system) not in wrong,
        )
        for k in range(n)
        for system in ORDER
    ]
    tables = {**texts(n, ("en",)), "answers": answers(n=n, languages=("en",))}
    write_arena(path, tables | {"outcomes": outcomes})
    own = file(tmp_path, "mine.yaml", json.dumps({"template": PROMPT}))
    alone = file(tmp_path, "tone.yaml", POINTS)
    with Service(obeying(wrong)) as service:  # type: ignore[arg-type]
        for words in ((), ("--criterion", own), ("--criterion", alone)):
            run(path, service, "--known", *words)
            run(path, service, "--planted", *words)
        assert sum("[[A]]" in re.split("Which is friendlier", call.content)[0] for call in service.calls)
    known = {row.judge: row.measures["known"].value for row in exam(open_arena(path)).exams}
    assert known == {
        "j": 1,
        "j: planted": 1,
        "j: mine": 1,
        "j: mine: planted": 0,
        "j: tone": 1,
        "j: tone: planted": 0,
    }
    assert "scores" not in open_arena(path).tables, "points of an exam are no scores of the answers"
    with pytest.raises(BadInput, match="cannot rank"):
        Judge.from_name("known: j: planted")


def test_the_python_way_takes_a_criterion_or_a_rubric(arena: Path, tmp_path: Path) -> None:
    with Service(by_hash) as service:
        model = api.chat_model("m", base_url=service.url)
        opened = api.open_arena(arena)
        api.judge(opened, model, judge="j", criterion="completeness", pairs=1)
        api.judge(opened, model, judge="j", rubric=file(tmp_path, "tone.yaml", RUBRIC), pairs=1)
    assert {row["judge"] for row in judgments(arena)} == {"j: completeness", "j: tone"}
    with pytest.raises(BadInput, match="needs a model"):
        api.judge(opened, criterion="completeness")


def test_the_heuristic_judge_has_no_criterion_and_no_repeats(arena: Path) -> None:
    for options in (("--criterion", "citation"), ("--repeats", 2)):
        refused = mirage("judge", arena, "--judge", "heuristic", *options, code=2)
        assert str(options[0]) in refused.stderr


# --- several verdicts of one judge on one battle ----------------------------------------------------------------------


def test_repeats_are_verdicts_of_their_own_and_paid_for_once(arena: Path) -> None:
    def by_turns(call: Call) -> Act:
        return says("AB"[call.number % 2])

    with Service(by_turns) as service:
        planned = run(arena, service, "--languages", "en", "--repeats", 3, "--dry-run")
        assert "72 calls" in planned.stderr
        run(arena, service, "--languages", "en", "--repeats", 3)
        n = len(service.calls)
        assert n == 3 * 24
        run(arena, service, "--languages", "en", "--repeats", 3)
        run(arena, service, "--languages", "en")
        assert len(service.calls) == n, "no call is paid for twice"
        first = {(row["query_id"], row["system_a"], row["system_b"], row["repeat"]): row for row in judgments(arena)}
        assert len(first) == len(judgments(arena)) == 72
        assert Counter(row["repeat"] for row in first.values()) == {None: 24, 1: 24, 2: 24}
        verdicts = {key[3]: row["verdict"] for key, row in first.items() if key[:3] == ("q0", "one", "two")}
        assert verdicts == {None: "B", 1: "A", 2: "B"}
        run(arena, service, "--languages", "en", "--replace")
    assert Counter(row["repeat"] for row in judgments(arena)) == {None: 24}
    assert rank_arena(open_arena(arena), VerdictJudge("j"))


def test_repeats_share_one_budget(arena: Path) -> None:
    prices = ("--price-in", 0, "--price-out", 1e6, "--max-tokens", 20, "--concurrency", 1)
    with Service(lambda _: says("A")) as service:
        # Each reply costs 20: the first verdicts take 480 of 600.
        told = run(arena, service, "--languages", "en", "--repeats", 2, *prices, "--budget", 600)
        assert len(service.calls) == 30
    assert "budget" in told.stderr
    assert Counter(row["repeat"] for row in judgments(arena)) == {None: 24, 1: 6}


def test_imported_repeats_are_kept_apart(tmp_path: Path) -> None:
    record = {"query_id": "q", "language": "en", "judge": "g", "system_a": "x", "system_b": "y"}
    lines = [record | {"verdict": verdict, "repeat": k} for k, verdict in enumerate("ABA")]
    path = file(tmp_path, "judged.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    for into, words in ((tmp_path / "a", ("import", path)), (tmp_path / "b", ("import", "--as", "judgments", path))):
        for _ in range(2):
            mirage(*words, "--into", into)
            assert [(row["repeat"], row["verdict"]) for row in judgments(into)] == [(1, "B"), (2, "A"), (None, "A")]
