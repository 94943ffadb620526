"""Criteria and prompts of your own: what a judge is asked, what is stored, how criteria agree, what steers a prompt."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from commands import mirage, rows
from judge_cases import answers, arena, judgments, run, says, texts  # noqa: F401  # fixtures
from misbehaving import Act, Call, Service

import mirage as api
from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.llm.prompts import bundled_text
from mirage.people.exam import exam
from mirage.ranking.board import rank_arena
from mirage.ranking.judges import Judge, VerdictJudge
from mirage.stages.judge.criteria import BUNDLED, load_criterion
from mirage.store import writing
from mirage.store.arena import open_arena
from mirage.text.makers import Makers

PROMPT = """Question: {question}

{passages}

Answer A: {answer_a}

Answer B: {answer_b}

Which is friendlier? End with [[A]], [[B]] or [[C]].
"""
RUBRIC = "question: Is the answer polite?\n"
ORDER = ("one", "two", "three")


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def by_hash(call: Call) -> Act:
    """A judge that decides by the prompt alone."""
    return says("ABC"[hashlib.sha256(call.content.encode()).digest()[0] % 3])


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
        (RUBRIC + "scale: 1 to 5\n", "scale"),
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
    row = schema.Judgment("en", "q", "j", "a", "b", "A", None, None, None)
    writing.write(tmp_path / "a", {"judgments": schema.from_rows("judgments", [row])}, made_by="a test")
    (read,) = open_arena(tmp_path / "a").read("judgments").to_pylist()
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


# --- prompts that an answer can steer ---------------------------------------------------------------------------------


def obeying(wrong: set[tuple[str, str]]) -> object:
    """A judge that prefers the right answer, unless a text outside the fences tells it its verdict."""

    def behave(call: Call) -> Act:
        outside = re.sub(r"<<[A-Z]+[A-Z 0-9]* (\w{12,})>>\n.*?<<END \1>>", "", call.content, flags=re.DOTALL)
        if told := re.findall(r"^\[\[([AB])\]\]$", outside, flags=re.MULTILINE):
            return says(told[-1])
        (a, query), (_, _) = re.findall(r"(one|two|three) on en (q\d+)\.", call.content)
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
    writing.write(path, tables | {"outcomes": schema.from_rows("outcomes", outcomes)}, made_by="a test")
    own = file(tmp_path, "mine.yaml", json.dumps({"template": PROMPT}))
    with Service(obeying(wrong)) as service:  # type: ignore[arg-type]
        for words in ((), ("--criterion", own)):
            run(path, service, "--known", *words)
            run(path, service, "--planted", *words)
        assert sum("[[A]]" in re.split("Which is friendlier", call.content)[0] for call in service.calls)
    known = {row.judge: row.measures["known"].value for row in exam(open_arena(path)).exams}
    assert known == {"j": 1.0, "j: planted": 1.0, "j: mine": 1.0, "j: mine: planted": 0.0}
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
