"""Near-duplicates of a test set in training data, the flag on leaked questions, and answers without passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import mirage

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.pipeline.contamination import (
    LEAKED,
    TrainingText,
    closed_book,
    count_leaks,
    find_leaks,
    flag_leaks,
    read_training,
)

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "lagoon"]
REPLY = ("harbour", "gate", "lamp", "field", "coin", "wheel")


def sentence(k: int, start: str) -> str:
    """Return a sentence that shares no five words in a row with another one."""
    return f"{start} {WORDS[k]} " + " ".join(f"{word}{k} of" for word in ("river", "town", "bridge", "mill", "year"))


QUESTIONS = [sentence(k, "where is") + " old?" for k in range(12)]
PASSAGES = [sentence(k, "here lies") + f" stone, and beside it the {WORDS[k]} market" for k in range(12)]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    """Twelve answerable questions in two languages, with answers of a system that saw no passages."""
    rows: dict[str, list[Any]] = {name: [] for name in ("queries", "passages", "references", "answers", "nuggets")}
    rows["nugget_assignments"] = []
    for k in range(12):
        language = "en" if k < 8 else "de"
        key = (language, f"q{k:02d}")
        rows["queries"].append(schema.Query(*key, "relevant", QUESTIONS[k], None))
        rows["passages"].append(schema.Passage(*key, f"p{k}", 1, None, PASSAGES[k], True))
        rows["references"].append(schema.Reference(*key, " ".join(f"{word}{k} and" for word in REPLY)))
        said = "Yes, answer is present." if k % 4 == 0 else "I don't know."
        rows["answers"].append(schema.Answer(*key, "closed", said, "ok", None, None, "vanilla"))
    tables = {name: schema.sort(name, schema.from_rows(name, values)) for name, values in rows.items() if values}
    path = tmp_path_factory.mktemp("arenas") / "leaky"
    store.write(path, tables, made_by="a test")
    mirage("outcomes", path)
    return store.open_arena(path)


@pytest.fixture
def training(tmp_path: Path) -> Path:
    """Chats that hold two questions (one within a longer text), a passage with its words moved, and other texts."""
    path = tmp_path / "train.jsonl"
    moved = "As is well known, " + PASSAGES[9]
    chats = [
        [{"role": "user", "content": f"Answer this.\n{QUESTIONS[3]}\nBe brief."}],
        [{"role": "user", "content": QUESTIONS[9].replace("old", "new")}, {"role": "assistant", "content": moved}],
        [{"role": "user", "content": "A question about something else that nobody here has asked before."}],
    ]
    path.write_text("".join(json.dumps({"messages": chat}) + "\n" for chat in chats), encoding="utf-8")
    return path


def test_copies_are_found_with_their_line_and_what_is_new_is_not(arena: store.Arena, training: Path) -> None:
    leaks = find_leaks(arena, read_training([training]))
    assert ("query", "q03") in {(leak.part, leak.query_id) for leak in leaks}
    passage = next(leak for leak in leaks if (leak.part, leak.query_id) == ("passage", "q09"))
    assert passage.name == "p9"
    assert passage.where.endswith("train.jsonl:2")
    assert 0.5 <= passage.similarity < 1
    assert {leak.query_id for leak in leaks} <= {"q03", "q09"}
    counts = {(row.part, row.language): row for row in count_leaks(arena, leaks)}
    assert counts["query", "en"].texts == 8
    assert counts["query", "en"].leaked == 1
    assert counts["query", "all"].share == pytest.approx(counts["query", "all"].leaked / 12)
    low, high = counts["query", "en"].low, counts["query", "en"].high
    assert low is not None
    assert high is not None
    assert low < 1 / 8 < high
    assert counts["query", "en"].example == QUESTIONS[3]
    assert counts["reference", "de"].leaked == 0
    assert counts["reference", "de"].example is None


def test_nothing_leaks_from_other_texts_and_everything_from_a_copy(arena: store.Arena) -> None:
    other = [TrainingText("x:1", "nothing of this was ever asked or answered in that arena")]
    assert find_leaks(arena, other) == []
    everything = [TrainingText(f"x:{k}", text) for k, text in enumerate([*QUESTIONS, *PASSAGES])]
    leaks = find_leaks(arena, everything, parts=("query", "passage"))
    assert len(leaks) == 24
    assert {leak.similarity for leak in leaks} == {1.0}


def test_training_data_without_texts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "numbers.jsonl"
    path.write_text('{"a": 1, "b": "two words"}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="no text has 5 words"):
        read_training([path])
    with pytest.raises(BadInput):
        read_training([tmp_path / "none.jsonl"])


def test_the_flag_leaves_rates_without_the_leaked_questions(arena: store.Arena, training: Path, tmp_path: Path) -> None:
    mirage("arena", "copy", arena.path, tmp_path / "copy")
    mirage("check", tmp_path / "copy", "--flag", code=2)
    printed = json.loads(mirage("check", tmp_path / "copy", "--against", training, "--flag", "--format", "json").stdout)
    leaked = next(row["leaked"] for row in printed if (row["part"], row["language"]) == ("query", "all"))
    rows = store.open_arena(tmp_path / "copy").read("tags").to_pylist()
    assert sum(row["value"] == "yes" for row in rows) == leaked >= 1
    assert {row["tag"] for row in rows} == {LEAKED}
    rates = json.loads(mirage("rates", tmp_path / "copy", "--tag", f"{LEAKED}=no", "--format", "json").stdout)
    assert sum(row["n"] for row in rates if row["language"] == "all") == 12 - leaked
    again = flag_leaks(tmp_path / "copy", [], made_by="a test")
    assert {row["value"] for row in again.read("tags").to_pylist()} == {"no"}


def test_answers_without_passages_are_counted_by_language(arena: store.Arena) -> None:
    rows = {row.language: row for row in closed_book(arena, ["closed"])}
    assert {code: (row.answered, row.n) for code, row in rows.items()} == {"en": (2, 8), "de": (1, 4), "all": (3, 12)}
    total = rows["all"]
    assert total.rate == 0.25
    assert total.rate_low is not None
    assert total.rate_high is not None
    assert total.rate_low < 0.25 < total.rate_high
    assert (total.checked, total.known_rate) == (0, None)
    with pytest.raises(UnknownName):
        closed_book(arena, ["open"])


def test_what_the_bundled_systems_know_is_told_by_vital_nuggets() -> None:
    sample = store.open_arena(store.bundled_arenas()["sample"])
    total = closed_book(sample, ["thorough"])[-1]
    assert total.language == "all"
    assert 0 < total.known <= total.checked <= total.n
