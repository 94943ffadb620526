"""A reasoning model's thoughts are never read as its answer: every known form, and marks that are words of the text."""

import json
from pathlib import Path

import pytest
from commands import mirage
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st

from mirage.io.imports.formats import import_file
from mirage.llm.completion import read_completion
from mirage.stages.features.grades import parse_grade
from mirage.stages.features.support_grading import FORM
from mirage.stages.judge.verdict import parse_verdict
from mirage.stages.model_stage import read_list
from mirage.store.arena import open_arena
from mirage.text.marks import read_mark
from mirage.text.thoughts import part_thoughts, store_answer

THOUGHT = "Passage [2] is about a harbour. I don't know. [[B]]\nSo it is 1902."
ANSWER = "The lighthouse was built in 1902 [1]."


@pytest.mark.parametrize(*read_table("thought_forms"))
def test_thoughts_are_parted_from_the_text_in_every_known_form(form: str) -> None:
    whole = form.format(THOUGHT) + ANSWER
    parted = part_thoughts(whole)
    assert (parted.text, parted.closed, parted.gap) == (ANSWER, True, None)
    assert THOUGHT.partition("\n")[2] in parted.thoughts
    assert len(parted.masked) == len(whole)
    assert parted.masked.strip() == ANSWER
    assert parted.masked.index(ANSWER) == whole.index(ANSWER)
    assert part_thoughts(parted.text).text == ANSWER


@pytest.mark.parametrize(
    "whole",
    [
        f"<think>{THOUGHT}</think>\n<answer>\n{ANSWER}\n</answer>",
        f"<think>{THOUGHT}</think><response>{ANSWER}</response>",
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|><|begin_of_solution|>{ANSWER}<|end_of_solution|>",
        f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        f"<think>{THOUGHT}</think>{ANSWER}\n</think>",
        "<think>a</think>The lighthouse <think>see [2]</think>was built in 1902 [1].",
        f"<think>\n\n</think>\n\n{ANSWER}",
        f"assistantfinal{ANSWER}",
    ],
)
def test_marks_around_an_answer_and_thoughts_amid_it_are_left_out(whole: str) -> None:
    assert part_thoughts(whole).text == ANSWER


@pytest.mark.parametrize(*read_table("open_thoughts"))
def test_nothing_after_an_open_thought_is_text(whole: str, text: str) -> None:
    parted = part_thoughts(whole)
    assert parted.text == text
    assert parted.gap is not None


@pytest.mark.parametrize(
    "text",
    [
        "The tag <think> opens a thought [1]. More follows.",
        "The tags <think> and </think> mark a thought [1].\nMore follows.",
        "A thought ends with </think>.",
        'It writes "<think>" first [1], and "</think>" at the end.',
        "Models write `<think>` first.\n\n`</think>` ends it.",
        "```\n<think>\nx\n</think>\n```\nThat is how it looks [1].",
        "Das Zeichen <think> steht am Anfang [1], </think> am Ende.",
        "Analysis of the assistant final exam [1].",
        "analysis-paralysis, an assistant finalist says [1].",
        "It is unclear what they think [1]. a < b > c.",
        "Here is my thought process: I read [1].",
        "  white space stays \n",
        "",
    ],
)
def test_marks_that_are_words_of_the_text_take_nothing_away(text: str) -> None:
    parted = part_thoughts(text)
    assert (parted.text, parted.thoughts, parted.gap) == (text, None, None)


_PIECES = st.sampled_from(
    ["<think>", "</think>", "[THINK]", "`", "```", "\n", " ", "a", "word.", '"', "<|channel|>final<|message|>",
     "<|end|>", "<answer>", "</answer>", "analysis", "assistantfinal", "◁think▷", "<|im_end|>", "</s>", "[INST]",
     "<|im_start|>assistant", "<s>"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=14).map("".join))
def test_any_text_is_parted_without_an_error_and_only_once(whole: str) -> None:
    parted = part_thoughts(whole)
    assert len(parted.masked) == len(whole)
    assert "".join(parted.masked.split()) == "".join(parted.text.split())
    assert all(0 <= start <= end <= len(whole) for start, end in parted.removed)


FURTHER = "Who built it? I don't know. [2]"


@pytest.mark.parametrize(*read_table("ended_turns"))
def test_an_answer_ends_with_its_turn(form: str) -> None:
    whole = form.format(ANSWER, FURTHER)
    parted = part_thoughts(whole)
    assert (parted.text, parted.gap, parted.whole) == (ANSWER, None, whole)
    assert FURTHER in (store_answer(whole).thoughts or "")
    assert part_thoughts(parted.text).text == ANSWER


@pytest.mark.parametrize("whole", ["<|im_end|>\n<|im_start|>user\nWho built it?", "<|eot_id|>"])
def test_an_ended_turn_without_a_text_is_empty(whole: str) -> None:
    assert store_answer(whole).status == "empty"


@pytest.mark.parametrize(
    "text",
    [
        "The token <|im_end|> ends a turn [1], and </s> does too.",
        "Turns end with <|im_end|>.",
        "Turns end with `</s>`.\n\n```\n<|im_start|>user\nx<|im_end|>\n```\nThat is all [1].",
        'It writes "<|eot_id|>" at the end [1].',
        "Das Zeichen </s> beendet eine Antwort.",
        "トークン<|im_end|>は終わりを示します。「</s>」も同じです。",
        "رمز <|im_end|> ينهي الدور.",
        "<|im_end|> is the mark that ends a turn.",
        "The fare is <s>10</s> 8 euros [1].",
        "Use f <| x, or x |> f [1].",
    ],
)
def test_marks_of_turns_that_a_text_is_about_are_text(text: str) -> None:
    assert part_thoughts(text).text == text


def test_thinking_models_are_read_like_those_that_answer_at_once(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "arena"
    import_file(shared / "field" / "think-answers.jsonl", folder)
    mirage("measure", folder)
    tables = {name: open_arena(folder).read(name) for name in ("answers", "outcomes", "features")}
    answers = {row["system"]: row for row in tables["answers"].to_pylist()}
    same = ("plain", "think", "think-noopen", "thinking", "harmony")
    assert len({answers[system]["text"] for system in same}) == 1
    assert [answers[system]["thoughts"] is None for system in same] == [True, False, False, False, False]
    assert answers["think-only"]["status"] == "empty"
    assert answers["think-only"]["reason"]
    outcome = {row["system"]: row["outcome"] for row in tables["outcomes"].to_pylist() if row["parser"] == "strict"}
    assert {outcome[system] for system in same} == {"answered"}
    assert outcome["think-only"] == "empty"
    assert outcome["think-ref"] == outcome["plain-ref"] == "abstained"
    values = {(row["system"], row["feature"]): row["value"] for row in tables["features"].to_pylist()}
    for system in same:
        assert [values[system, name] for name in ("target_language", "n_citations", "length")] == [1, 1, 54]


def completion(content: str, finish: str = "stop", **more: str) -> bytes:
    message = {"role": "assistant", "content": content, **more}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()


def test_thoughts_within_a_reply_are_stored_like_those_of_a_separate_field() -> None:
    def read(body: bytes) -> tuple[str | None, str, str | None]:
        reply = read_completion("k", body, 1, messages=[{"role": "user", "content": "x"}], max_tokens=100)
        return reply.text, reply.status, reply.reasoning

    assert read(completion(f"<think>{THOUGHT}</think>\n{ANSWER}")) == (ANSWER, "ok", THOUGHT)
    assert read(completion(ANSWER, reasoning_content=THOUGHT)) == (ANSWER, "ok", THOUGHT)
    assert read(completion(f"<think>{THOUGHT}", "length")) == ("", "empty", THOUGHT)
    assert read(completion(f"{ANSWER}\n<think>\nwait")) == (ANSWER, "truncated", "wait")


@pytest.mark.parametrize(*read_table("thought_forms"))
def test_replies_of_judges_and_graders_are_read_without_thoughts(form: str) -> None:
    before = form.format("First [[B]], Score: [[2]], [[none]], [].\nHm.")
    read = parse_verdict(f"{before}[[A]]")
    assert read.verdict == "A"
    assert parse_grade(f"{before}Score: [[4]]") == 4
    assert read_mark(FORM, f"{before}[[full]]") == "full"
    assert read_list(f'{before}[{{"a": 1}}]') == [{"a": 1}]


def test_a_reply_that_ends_within_its_thoughts_decides_nothing() -> None:
    reply = "<thinking>\nIt is [[A]], Score: [[4]]"
    assert parse_verdict(reply).verdict == "unparsed"
    assert parse_grade(reply) is None
    assert read_mark(FORM, reply) is None
    assert isinstance(read_list("<think>[{}]"), str)
