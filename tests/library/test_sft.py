"""The training set: what is cited is relevant and stands in the prompt, what is held out is not trained on."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from commands import mirage, rows
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from miracl_cases import hub, served
from store_cases import snapshot

from mirage import llm, schema, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm import TokenEstimate, prompts
from mirage.stages import generate
from mirage.stages.generate import stage as generating
from mirage.stages.sft import training
from mirage.stats.sampling import sample
from mirage.text.answers import citations, cited_ids, compose_answer
from mirage.text.languages import LANGUAGES

GOOD = compose_answer("Ziwa ni kubwa [q#0], na lina kina [q#2].", "Ni kubwa [q#0].")
LABELS = {"q#0": True, "q#1": False, "q#2": True, "q#3": False}


def arena(
    folder: Path,
    answers: Mapping[str, str | None],
    *,
    labels: Mapping[str, bool | None] = LABELS,
    text: str = "Kifungu cha {}.",
    system: str = "teacher",
    **changed: Any,
) -> Path:
    """An arena of one language in which each answer is to a query of its own, all with the same passages."""
    tables: dict[str, list[Any]] = {"queries": [], "passages": [], "answers": []}
    for query, answer in answers.items():
        key = "sw", query
        tables["queries"].append(schema.Query(*key, None, f"Swali {query}?", None))
        tables["passages"] += [
            schema.Passage(*key, passage_id, place, None, text.format(passage_id), label)
            for place, (passage_id, label) in enumerate(labels.items(), start=1)
        ]
        row = {"text": answer, "status": "missing" if answer is None else "ok", "template": "rag"} | changed
        tables["answers"].append(schema.Answer(*key, system, reason=None, call=None, **row))
    arrow_tables = {name: schema.from_rows(name, records) for name, records in tables.items()}
    return store.write(folder, arrow_tables, made_by="a test").path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ids_shown(prompt: str) -> list[str]:
    return re.findall(r"^\[([^\]]+)\]", prompt, re.MULTILINE)


def reasons(written: training.TrainingResult) -> dict[str, int]:
    return {reason: n for (_, reason), n in written.training.left_out.items()}


# --- the conversations ------------------------------------------------------------------------------------------------


def test_a_conversation_is_the_prompt_with_all_passages_and_the_answer_unchanged(tmp_path: Path) -> None:
    out = tmp_path / "train.jsonl"
    written = training.write_training_set(arena(tmp_path / "a", {"1": GOOD, "2": GOOD}), out)
    train, _ = lines(out)
    user, assistant = train["messages"]
    assert (user["role"], assistant["role"]) == ("user", "assistant")
    assert assistant["content"] == GOOD
    assert sorted(ids_shown(user["content"])) == sorted(LABELS)
    assert f"Swali {train['query_id']}?" in user["content"]
    assert "in Swahili" in user["content"]
    example, other = written.training.examples
    assert (example.query_id, other.query_id) == ("1", "2")
    assert (example.cited, example.relevant, example.distractors) == (("q#0", "q#2"), 2, 2)
    assert reasons(written) == {}


def test_distractors_are_mixed_in_by_the_seed(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {str(i): GOOD for i in range(40)})

    def orders(seed: int) -> dict[str, list[str]]:
        written = training.write_training_set(folder, tmp_path / f"{seed}" / "t.jsonl", seed=seed)
        return {e.query_id: ids_shown(e.prompt) for e in written.training.examples}

    first = orders(0)
    assert first != orders(1)
    assert {order[0] for order in first.values()} == set(LABELS), "a relevant passage stands first no more than others"


@pytest.mark.parametrize(
    ("answer", "changed", "reason"),
    [
        (None, {}, "it is missing"),
        (GOOD, {"status": "truncated"}, "it is truncated"),
        (GOOD, {"template": "vanilla"}, "it cites by numbers, which other passages would change"),
        ("Ni kubwa [q#0].", {}, "it lacks a part, ##Reason or ##Answer"),
        ("##Reason: Ni kubwa [q#0].", {}, "it lacks a part, ##Reason or ##Answer"),
        (compose_answer("Ni kubwa.", "Ndiyo."), {}, "it cites nothing"),
        (compose_answer("Ni kubwa [q#0] [q#1].", "Ndiyo."), {}, "it cites a passage that is not relevant"),
        (
            compose_answer("Ni kubwa [q#0] [q#9].", "Ndiyo."),
            {},
            "it cites something that is not a passage of its query",
        ),
        (compose_answer("Ni kubwa [q#0] [1].", "Ndiyo."), {}, "it cites something that is not a passage of its query"),
    ],
)
def test_an_answer_that_would_teach_wrong_citations_is_left_out_and_counted(
    tmp_path: Path, answer: str | None, changed: dict[str, Any], reason: str
) -> None:
    good = schema.Answer("sw", "0", "teacher", GOOD, "ok", "rag", None, None)
    folder = arena(tmp_path / "a", {"0": GOOD, "1": answer}, **changed)
    if changed:
        table = store.open_arena(folder).read("answers").slice(1)
        both = schema.from_rows("answers", [good, schema.Answer(**table.to_pylist()[0])])
        store.write(folder, {"answers": both}, made_by="a test")
    written = training.write_training_set(folder, tmp_path / "t.jsonl")
    assert reasons(written) == {reason: 1}
    assert [example.query_id for example in written.training.examples] == ["0"]


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({"q#0": True, "q#2": None}, "a passage of its query has no label"),
        ({"q#0": False, "q#2": False}, "no passage of its query is relevant"),
    ],
)
def test_without_labels_or_a_relevant_passage_there_is_nothing_to_learn(
    tmp_path: Path, labels: dict[str, bool | None], reason: str
) -> None:
    with pytest.raises(NotEnoughData, match="no answer of teacher is usable") as caught:
        training.write_training_set(arena(tmp_path / "a", {"1": GOOD}, labels=labels), tmp_path / "t.jsonl")
    assert caught.value.where == f"1 times: {reason}"
    assert not (tmp_path / "t.jsonl").exists()


def test_a_query_that_lacks_a_text_of_its_passages_is_left_out(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {"1": GOOD, "2": GOOD})
    passages = store.open_arena(folder).read("passages").to_pylist()
    passages[0]["text"] = None
    table = schema.from_rows("passages", [schema.Passage(**row) for row in passages])
    store.write(folder, {"passages": table}, made_by="a test")
    written = training.write_training_set(folder, tmp_path / "t.jsonl")
    assert reasons(written) == {"its query cannot be asked with all its passages": 1}
    assert [example.query_id for example in written.training.examples] == ["2"]


ids = st.sampled_from(["12#0", "12#1", "3#44", "7#2", "99#9"])


@given(
    st.dictionaries(ids, st.booleans(), min_size=1),
    st.lists(st.tuples(st.text("abc. \n", max_size=12), st.lists(ids, max_size=3)), min_size=1, max_size=4),
    st.integers(0, 5),
)
@settings(deadline=None, max_examples=150)
def test_every_cited_id_is_of_a_relevant_passage_and_stands_in_the_prompt(
    labels: dict[str, bool], sentences: list[tuple[str, list[str]]], seed: int
) -> None:
    text = " ".join(words + (f" [{', '.join(named)}]" if named else "") for words, named in sentences)
    answer = compose_answer(f"x {text}", f"y [{sentences[0][1][0]}]" if sentences[0][1] else "y")
    key = ("sw", "1")
    tables = {
        "queries": schema.from_rows("queries", [schema.Query(*key, None, "Swali?", None)]),
        "passages": schema.from_rows(
            "passages",
            [
                schema.Passage(*key, passage_id, n, None, f"Kifungu [{passage_id}]", label)
                for n, (passage_id, label) in enumerate(labels.items(), 1)
            ],
        ),
        "answers": schema.from_rows("answers", [schema.Answer(*key, "t", answer, "ok", "rag", None, None)]),
    }
    prompt = "\n\n".join(f"[{passage_id}] Kifungu" for passage_id in sorted(labels))
    dataset = training.build_examples(tables, {key: prompt}, ["t"], count=len, seed=seed)
    assert len(dataset.examples) + sum(dataset.left_out.values()) == 1
    for example in dataset.examples:
        spoken = json.loads(example.line())["messages"]
        named = cited_ids(citations(spoken[1]["content"], list(labels), numbered=False), unknown=True)
        assert named == example.cited
        assert named
        assert all(labels[passage_id] for passage_id in named)
        assert set(named) <= set(ids_shown(spoken[0]["content"]))
    named = {passage_id for _, ids in sentences for passage_id in ids}
    assert bool(dataset.examples) == bool(
        named and named <= {passage_id for passage_id, label in labels.items() if label}
    )


def test_prompt_and_answer_fit_the_trainers_window(tmp_path: Path) -> None:
    long = "Kifungu {} " + "maneno mengi ya kifungu " * 2000
    labels = LABELS | {f"r#{i}": False for i in range(4)}
    folder = arena(tmp_path / "a", {"1": GOOD}, text=long, labels=labels)
    written = training.write_training_set(folder, tmp_path / "t.jsonl")
    (example,) = written.training.examples
    count = TokenEstimate().count
    assert training.MAX_LENGTH - 2048 - 50 < count(example.prompt) <= training.MAX_LENGTH - 2048
    assert sorted(ids_shown(example.prompt)) == sorted(labels), "every passage is cut, none is cut away"
    wordy = compose_answer("maneno " * 4000 + "[q#0]", "Ndiyo.")
    folder = arena(tmp_path / "b", {"1": GOOD, "2": wordy}, text=long, labels=labels)
    written = training.write_training_set(folder, tmp_path / "t.jsonl")
    assert reasons(written) == {"with its prompt it has more than 6,144 tokens": 1}


def test_a_model_answers_as_the_teacher_from_the_relevant_passages_alone(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {"1": None, "2": None, "3": None})
    passages = store.open_arena(folder).read("passages").to_pylist()
    for row in passages:
        row["relevant"] = row["relevant"] and row["query_id"] != "3"
    table = schema.from_rows("passages", [schema.Passage(**row) for row in passages])
    store.write(folder, {"passages": table}, made_by="a test")
    seen: list[str] = []

    def engine(batch: llm.Batch) -> None:
        for key in batch.open:
            seen.append(batch.request(key)["messages"][0]["content"])
            batch.take(llm.Reply(key, GOOD, "ok", None, 9, 9, "big-model", 1))

    calls = llm.ArenaCalls(engine, llm.ChatModel(llm.Settings("big-model")), "a test")

    request = generate.GenerateSettings(
        "big", prompts.load_template("rag"), llm.Settings("big-model"), relevant_only=True
    )
    made, _ = generating.generate_answers(folder, request, calls)
    assert [sorted(ids_shown(prompt)) for prompt in seen] == [["q#0", "q#2"]] * 2, "the third has no relevant passage"
    assert "passages relevant" in made.manifest["made"]["answers"]["notes"][0]
    written = training.write_training_set(folder, tmp_path / "t.jsonl", systems=["big"])
    assert [sorted(ids_shown(example.prompt)) for example in written.training.examples] == [sorted(LABELS)] * 2
    with pytest.raises(BadInput, match="use another name for --system"):
        generating.generate_answers(folder, replace(request, relevant_only=False), calls)


def test_a_larger_sample_contains_the_smaller() -> None:
    names = [str(i) for i in range(30)]
    assert set(sample(names, 5, 0, "x")) < set(sample(names, 9, 0, "x"))
    assert sample(names, 30, 0, "x") == sorted(names)
    assert sample(names, 5, 0, "x") != sample(names, 5, 0, "y")


# --- statistics -------------------------------------------------------------------------------------------------------


def test_the_statistics_are_those_of_table_1(tmp_path: Path, shared: Path) -> None:
    folder = arena(tmp_path / "a", {str(i): GOOD for i in range(3)})
    (row,) = training.write_training_set(folder, tmp_path / "t.jsonl").stats
    with (shared / "published" / "mirage_table1_dataset_stats.csv").open(encoding="utf-8", newline="") as stream:
        printed = [line["stat"] for line in csv.DictReader(stream) if line["split"] == "train"]
    assert [name.replace("teacher", "gpt4o") for name in asdict(row) if name not in ("teacher", "language")] == printed
    assert (row.language, row.n_queries) == ("sw", 3)
    assert (row.avg_rel_passages_per_q, row.avg_nonrel_passages_per_q) == (2.0, 2.0)
    count = TokenEstimate().count
    assert row.avg_query_tokens == count("Swali 1?")
    assert row.avg_teacher_context_tokens == count("Ziwa ni kubwa [q#0], na lina kina [q#2].")
    assert row.avg_teacher_answer_tokens == count("Ni kubwa [q#0].")


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample_arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's queries, passages and reference answers."""
    from sample_source import read_sample

    folder = tmp_path_factory.mktemp("sample") / "arena"
    return store.write(folder, read_sample(ROOT / "data" / "sample" / "source"), made_by="a test").path


def test_the_sample_gives_a_training_set_in_all_18_languages(sample_arena: Path, tmp_path: Path) -> None:
    result = mirage("export", "sft", sample_arena, "--out", tmp_path / "t.jsonl", "--format", "csv")
    assert {row["language"] for row in rows(result)} == set(LANGUAGES)
    assert {row["n_queries"] for row in rows(result)} == {"8"}
    assert "36 answers of reference excluded" in result.stderr
    assert len(lines(tmp_path / "t.jsonl")) == 144


def test_pitfalls_42_and_43_the_working_folder_needs_no_path_and_texts_are_utf_8(
    sample_arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mirage("export", "sft", sample_arena, "--out", "t.jsonl", "--languages", "th")
    raw = (tmp_path / "t.jsonl").read_bytes()
    assert "\\u" not in raw.decode()
    assert re.search(r"[\u0e00-\u0e7f]", raw.decode())
    assert [p.name for p in tmp_path.iterdir()] == ["t.jsonl"]


def test_what_cannot_be_done_is_said_before_anything_is_written(sample_arena: Path, tmp_path: Path) -> None:
    assert (
        "t.json is not named .jsonl"
        in mirage("export", "sft", sample_arena, "--out", tmp_path / "t.json", code=2).stderr
    )
    out = tmp_path / "t.jsonl"
    message = mirage("export", "sft", sample_arena, "--out", out, "--system", "referense", code=2).stderr
    assert "did you mean: reference" in message
    (tmp_path / "file").touch()
    assert (
        "cannot be written"
        in mirage("export", "sft", sample_arena, "--out", tmp_path / "file" / "t.jsonl", code=2).stderr
    )
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_teacher_is_the_only_system_or_must_be_named(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {"1": GOOD})
    assert training.write_training_set(folder, tmp_path / "t.jsonl").teachers == ("teacher",)
    both = [schema.Answer("sw", "1", name, GOOD, "ok", "rag", None, None) for name in ("one", "two")]
    store.write(folder, {"answers": schema.from_rows("answers", both)}, made_by="a test")
    with pytest.raises(UnknownName, match=r"no teacher 'reference'(.|\n)*one, two"):
        training.write_training_set(folder, tmp_path / "t.jsonl")


# --- several teachers -------------------------------------------------------------------------------------------------

BRIEF = compose_answer("Lina kina [q#2].", "Lina kina [q#2].")
BAD = compose_answer("Ni kubwa [q#1].", "Ndiyo.")


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """Forty queries that three teachers answered: `a` all, `b` the first thirty, `c` ten and those wrongly."""
    folder = arena(tmp_path / "arena", {f"{number:02}": GOOD for number in range(40)})
    answers = [
        schema.Answer("sw", f"{number:02}", teacher, text, "ok", "rag", None, None)
        for teacher, text, n in (("a", GOOD, 40), ("b", BRIEF, 30), ("c", BAD, 10))
        for number in range(n)
    ]
    store.write(folder, {"answers": schema.from_rows("answers", answers)}, made_by="a test")
    return folder


def taken(written: training.TrainingResult) -> Counter[tuple[str, str]]:
    """The queries and teachers of the set."""
    return Counter((example.query_id, example.system) for example in written.training.examples)


def test_all_answers_of_all_teachers_are_conversations(taught: Path, tmp_path: Path) -> None:
    written = training.write_training_set(taught, tmp_path / "t.jsonl", systems=["a", "b"])
    assert Counter(teacher for _, teacher in taken(written)) == {"a": 40, "b": 30}
    records = lines(tmp_path / "t.jsonl")
    assert {(record["system"], record["messages"][1]["content"]) for record in records} == {("a", GOOD), ("b", BRIEF)}
    prompts_of = {(record["query_id"], record["messages"][0]["content"]) for record in records}
    assert len(prompts_of) == 40, "two teachers' answers to a query have one prompt"


def test_one_answer_a_query_is_drawn_by_the_seed(taught: Path, tmp_path: Path) -> None:
    first, again, other = (
        training.write_training_set(taught, tmp_path / name / "t.jsonl", systems=["a", "b"], mix="one", seed=seed)
        for name, seed in (("x", 0), ("y", 0), ("z", 1))
    )
    assert taken(first) == taken(again) != taken(other)
    assert snapshot(tmp_path / "x") == snapshot(tmp_path / "y")
    assert Counter(query for query, _ in taken(first)) == dict.fromkeys((f"{n:02}" for n in range(40)), 1)
    drawn = Counter(teacher for query, teacher in taken(first) if query < "30")
    assert min(drawn.values()) >= 7, "each teacher is drawn for about half of thirty queries"
    backwards = training.write_training_set(taught, tmp_path / "w" / "t.jsonl", systems=["b", "a"], mix="one")
    assert taken(backwards) == taken(first), "the order of the teachers draws nothing"
    assert first.training.left_out[("a", "another teacher's answer was taken")] == drawn["b"]


def test_the_first_teacher_with_a_good_answer_is_taken(taught: Path, tmp_path: Path) -> None:
    written = training.write_training_set(taught, tmp_path / "t.jsonl", systems=["b", "a"], mix="first")
    assert Counter(teacher for _, teacher in taken(written)) == {"b": 30, "a": 10}
    written = training.write_training_set(taught, tmp_path / "t.jsonl", systems=["a", "b"], mix="first")
    assert Counter(teacher for _, teacher in taken(written)) == {"a": 40}


def test_statistics_are_by_teacher_and_over_all(taught: Path, tmp_path: Path) -> None:
    written = training.write_training_set(taught, tmp_path / "t.jsonl", systems=["a", "b"])
    by_teacher = {row.teacher: row for row in written.stats}
    assert {teacher: row.n_queries for teacher, row in by_teacher.items()} == {None: 70, "a": 40, "b": 30}
    count = TokenEstimate().count
    assert by_teacher["b"].avg_teacher_answer_tokens == count("Lina kina [q#2].")
    weighted = (40 * by_teacher["a"].avg_teacher_answer_tokens + 30 * by_teacher["b"].avg_teacher_answer_tokens) / 70
    assert by_teacher[None].avg_teacher_answer_tokens == pytest.approx(weighted)


def test_a_teacher_without_a_good_answer_is_named(taught: Path, tmp_path: Path) -> None:
    with pytest.raises(NotEnoughData, match="no answer of c is usable") as caught:
        training.write_training_set(taught, tmp_path / "t.jsonl", systems=["a", "c"])
    assert caught.value.where == "10 times: it cites a passage that is not relevant"
    with pytest.raises(UnknownName, match="no mix 'some'"):
        training.write_training_set(taught, tmp_path / "t.jsonl", systems=["a"], mix="some")  # type: ignore[arg-type]


def test_from_miracl_train_to_a_training_set(tmp_path: Path) -> None:
    """Files as the hub has them, over HTTP; every query that a teacher answered well is a training pair."""
    with served(hub("sw")) as address:
        mirage(
            *("pull", "miracl", "--split", "train", "--texts", "--languages", "sw"),
            *("--into", tmp_path / "p", "--base-url", address),
        )
    folder = tmp_path / "a"
    mirage("import", "miracl", tmp_path / "p", "--split", "train", "--into", folder)
    passages = store.open_arena(folder).read("passages").to_pylist()
    relevant = {row["query_id"]: row["passage_id"] for row in passages if row["relevant"]}
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(
            json.dumps(
                {"language": "sw", "query_id": query, "system": teacher, "template": "rag"}
                | {"text": compose_answer(f"Ni hivyo [{passage}].", "Ndiyo.")}
            )
            + "\n"
            for query, passage in relevant.items()
            for teacher in ("gpt-4o", "llama")
        ),
        encoding="utf-8",
    )
    mirage("import", "--as", "answers", answers, "--into", folder)
    teachers = ("--system", "gpt-4o", "--system", "llama", "--mix", "one")
    mirage("export", "sft", folder, "--out", tmp_path / "t.jsonl", *teachers)
    shown = {
        record["query_id"]: set(ids_shown(record["messages"][0]["content"])) for record in lines(tmp_path / "t.jsonl")
    }
    assert shown == {"1": {"10#0", "11#4"}, "2": {"20#0"}, "3": {"30#1", "30#2"}}
    assert "Kifungu cha 30#1." in lines(tmp_path / "t.jsonl")[2]["messages"][0]["content"]
