"""The training set: what is cited is relevant and stands in the prompt."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arena_writer import make_answer, make_query, read_rows, write_arena
from commands import mirage, refuses
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from miracl_cases import hub, served

from mirage import schema
from mirage.errors import BadInput, NotEnoughData
from mirage.llm import prompts
from mirage.llm.asking import ArenaCalls
from mirage.llm.batch import Batch
from mirage.llm.calls import ChatModel, Settings
from mirage.llm.completion import Reply
from mirage.llm.tokens import TokenEstimate
from mirage.stages import sft
from mirage.stages.generate import stage as generating
from mirage.stages.generate.settings import GenerateSettings
from mirage.stats.sampling import sample
from mirage.store.arena import open_arena
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
    tables = {"queries": [], "passages": [], "answers": []}
    for query, answer in answers.items():
        key = "sw", query
        tables["queries"].append(make_query(*key, None, f"Swali {query}?"))
        tables["passages"] += [
            schema.Passage(*key, passage_id, place, None, text.format(passage_id), label)
            for place, (passage_id, label) in enumerate(labels.items(), start=1)
        ]
        row = {"text": answer, "status": "missing" if answer is None else "ok", "template": "rag"} | changed
        tables["answers"].append(schema.Answer(*key, system, reason=None, call=None, **row))
    return write_arena(folder, tables).path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def ids_shown(prompt: str) -> list[str]:
    return re.findall(r"^\[([^\]]+)\]", prompt, re.MULTILINE)


def train(folder: Path, *, seed: int = 0) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The conversations of an arena's teacher, and the number of unused answers by reason."""
    out = folder.parent / "t.jsonl"
    n, left = sft.write_training_set(folder, out, seed=seed)
    records = lines(out)
    assert n == len(records)
    return records, {reason: count for (_, reason), count in left.items()}


def shown(record: Mapping[str, Any]) -> list[str]:
    """The ids of the passages in the prompt of a conversation, in order."""
    return ids_shown(record["messages"][0]["content"])


# --- the conversations ------------------------------------------------------------------------------------------------


def test_a_conversation_is_the_prompt_with_all_passages_and_the_answer_unchanged(tmp_path: Path) -> None:
    (first, second), left = train(arena(tmp_path / "a", {"1": GOOD, "2": GOOD}))
    user, assistant = first["messages"]
    assert (user["role"], assistant["role"]) == ("user", "assistant")
    assert assistant["content"] == GOOD
    assert sorted(ids_shown(user["content"])) == sorted(LABELS)
    assert "Swali 1?" in user["content"]
    assert "in Swahili" in user["content"]
    assert (first["query_id"], second["query_id"], first["system"]) == ("1", "2", "teacher")
    assert left == {}


def test_distractors_are_mixed_in_by_the_seed(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {str(i): GOOD for i in range(40)})

    first, other = ([shown(record) for record in train(folder, seed=seed)[0]] for seed in (0, 1))
    assert first != other
    assert {order[0] for order in first} == set(LABELS), "a relevant passage stands first no more than others"


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
    good = make_answer("sw", "0", "teacher", GOOD, template="rag")
    folder = arena(tmp_path / "a", {"0": GOOD, "1": answer}, **changed)
    if changed:
        table = open_arena(folder).read("answers").slice(1)
        both = schema.from_rows("answers", [good, schema.Answer(**table.to_pylist()[0])])
        write_arena(folder, {"answers": both})
    records, left = train(folder)
    assert left == {reason: 1}
    assert [record["query_id"] for record in records] == ["0"]


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
    with refuses(NotEnoughData, "no answer of teacher is usable", where=f"1 times: {reason}"):
        train(arena(tmp_path / "a", {"1": GOOD}, labels=labels))
    assert not (tmp_path / "t.jsonl").exists()


def test_a_query_that_lacks_a_text_of_its_passages_is_left_out(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {"1": GOOD, "2": GOOD})
    passages = read_rows(folder, "passages")
    passages[0]["text"] = None
    table = schema.from_rows("passages", [schema.Passage(**row) for row in passages])
    write_arena(folder, {"passages": table})
    records, left = train(folder)
    assert left == {"its query cannot be asked with all its passages": 1}
    assert [record["query_id"] for record in records] == ["2"]


ids = st.sampled_from(["12#0", "12#1", "3#44", "7#2", "99#9"])


@given(
    st.dictionaries(ids, st.booleans(), min_size=1),
    st.lists(st.tuples(st.text("abc. \n", max_size=12), st.lists(ids, max_size=3)), min_size=1, max_size=4),
)
@settings(max_examples=150)
def test_every_cited_id_is_of_a_relevant_passage_and_stands_in_the_prompt(
    labels: dict[str, bool], sentences: list[tuple[str, list[str]]]
) -> None:
    text = " ".join(words + (f" [{', '.join(named)}]" if named else "") for words, named in sentences)
    answer = compose_answer(f"x {text}", f"y [{sentences[0][1][0]}]" if sentences[0][1] else "y")
    key = ("sw", "1")
    tables = {
        "passages": schema.from_rows(
            "passages",
            [
                schema.Passage(*key, passage_id, n, None, f"Kifungu [{passage_id}]", label)
                for n, (passage_id, label) in enumerate(labels.items(), 1)
            ],
        ),
        "answers": schema.from_rows("answers", [make_answer(*key, "t", answer, template="rag")]),
    }
    prompt = "\n\n".join(f"[{passage_id}] Kifungu" for passage_id in sorted(labels))
    records, left = sft.conversations(tables, {key: prompt}, ["t"])
    assert len(records) + left.total() == 1
    for record in records:
        spoken = record["messages"]
        named = cited_ids(citations(spoken[1]["content"], list(labels), numbered=False), unknown=True)
        assert named
        assert all(labels[passage_id] for passage_id in named)
        assert set(named) <= set(shown(record))
    named = {passage_id for _, ids in sentences for passage_id in ids}
    assert bool(records) == bool(named and named <= {passage_id for passage_id, label in labels.items() if label})


def test_prompt_and_answer_fit_the_trainers_window(tmp_path: Path) -> None:
    long = "Kifungu {} " + "maneno mengi ya kifungu " * 2000
    labels = LABELS | {f"r#{i}": False for i in range(4)}
    folder = arena(tmp_path / "a", {"1": GOOD}, text=long, labels=labels)
    (record,), _ = train(folder)
    count = TokenEstimate().count
    assert sft.MAX_LENGTH - 2048 - 50 < count(record["messages"][0]["content"]) <= sft.MAX_LENGTH - 2048
    assert sorted(shown(record)) == sorted(labels), "every passage is cut, none is cut away"
    wordy = compose_answer("maneno " * 4000 + "[q#0]", "Ndiyo.")
    _, left = train(arena(tmp_path / "b", {"1": GOOD, "2": wordy}, text=long, labels=labels))
    assert left == {"with its prompt it has more than 6,144 tokens": 1}


def test_a_model_answers_as_the_teacher_from_the_relevant_passages_alone(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {"1": None, "2": None, "3": None})
    passages = read_rows(folder, "passages")
    for row in passages:
        row["relevant"] = row["relevant"] and row["query_id"] != "3"
    table = schema.from_rows("passages", [schema.Passage(**row) for row in passages])
    write_arena(folder, {"passages": table})
    seen: list[str] = []

    def engine(batch: Batch) -> None:
        for key in batch.open:
            seen.append(batch.request(key)["messages"][0]["content"])
            batch.take(Reply(key, GOOD, "ok", None, 9, 9, "big-model", 1))

    calls = ArenaCalls(ChatModel(Settings("big-model")), "a test", engine=engine)

    request = GenerateSettings("big", prompts.load_template("rag"), Settings("big-model"), relevant_only=True)
    made, _ = generating.generate_answers(folder, request, calls)
    assert [sorted(ids_shown(prompt)) for prompt in seen] == [["q#0", "q#2"]] * 2, "the third has no relevant passage"
    assert made.manifest["made"]["answers"]["settings"]["big"]["passages"] == "relevant"
    sft.write_training_set(folder, tmp_path / "t.jsonl", systems=["big"])
    assert [sorted(shown(record)) for record in lines(tmp_path / "t.jsonl")] == [sorted(LABELS)] * 2
    with pytest.raises(BadInput, match="use another name for --system"):
        generating.generate_answers(folder, replace(request, relevant_only=False), calls)


def test_a_larger_sample_contains_the_smaller() -> None:
    names = [str(i) for i in range(30)]
    assert set(sample(names, 5, 0, "x")) < set(sample(names, 9, 0, "x"))
    assert sample(names, 30, 0, "x") == sorted(names)
    assert sample(names, 5, 0, "x") != sample(names, 5, 0, "y")


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample_arena(module_path: Path) -> Path:
    """The sample's queries, passages and reference answers."""
    from sample_source import read_sample

    folder = module_path / "arena"
    return write_arena(folder, read_sample(ROOT / "data" / "sample" / "source")).path


def test_the_sample_gives_a_training_set_in_all_18_languages(sample_arena: Path, tmp_path: Path) -> None:
    result = mirage("export", "sft", sample_arena, "--out", tmp_path / "t.jsonl")
    assert "36 answers of reference excluded" in result.stderr
    languages = [record["language"] for record in lines(tmp_path / "t.jsonl")]
    assert (set(languages), len(languages)) == (set(LANGUAGES), 144)


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


def test_several_teachers_are_named_and_all_their_good_answers_taken(tmp_path: Path) -> None:
    folder = arena(tmp_path / "a", {f"{number:02}": GOOD for number in range(40)})
    brief = compose_answer("Lina kina [q#2].", "Lina kina [q#2].")
    bad = compose_answer("Ni kubwa [q#1].", "Ndiyo.")
    answers = [
        make_answer("sw", f"{number:02}", teacher, text, template="rag")
        for teacher, text, n in (("a", GOOD, 40), ("b", brief, 30), ("c", bad, 10))
        for number in range(n)
    ]
    write_arena(folder, {"answers": answers})
    out = tmp_path / "t.jsonl"
    assert "no teacher reference" in mirage("export", "sft", folder, "--out", out, code=2).stderr.replace("'", "")
    with refuses(NotEnoughData, "no answer of c is usable", where="10 times: it cites a passage that is not relevant"):
        sft.write_training_set(folder, out, systems=["a", "c"])
    sft.write_training_set(folder, out, systems=["a", "b"])
    records = lines(out)
    assert Counter(record["system"] for record in records) == {"a": 40, "b": 30}
    assert {(record["system"], record["messages"][1]["content"]) for record in records} == {("a", GOOD), ("b", brief)}
    prompts_of = {(record["query_id"], record["messages"][0]["content"]) for record in records}
    assert len(prompts_of) == 40, "two teachers' answers to a query have one prompt"


def test_from_miracl_train_to_a_training_set(tmp_path: Path) -> None:
    """Files as the hub has them, over HTTP; every query that a teacher answered well is a training pair."""
    with served(hub("sw")) as address:
        mirage(
            *("pull", "miracl", "--split", "train", "--texts", "--languages", "sw"),
            *("--into", tmp_path / "p", "--base-url", address),
        )
    folder = tmp_path / "a"
    mirage("import", "miracl", tmp_path / "p", "--split", "train", "--into", folder)
    passages = read_rows(folder, "passages")
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
        "utf-8",
    )
    mirage("import", "--as", "answers", answers, "--into", folder)
    teachers = ("--system", "gpt-4o", "--system", "llama")
    mirage("export", "sft", folder, "--out", tmp_path / "t.jsonl", *teachers)
    records = lines(tmp_path / "t.jsonl")
    assert {record["query_id"]: set(shown(record)) for record in records} == {
        "1": {"10#0", "11#4"},
        "2": {"20#0"},
        "3": {"30#1", "30#2"},
    }
    assert "Kifungu cha 30#1." in records[-1]["messages"][0]["content"]
