"""The labelled free RAG answers: none stands twice, and the halves share no long run of words."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT

LABELS = ROOT / "tests" / "golden" / "outcomes_rag"
HALVES = ("dev", "held")
LANGUAGES = ["ar", "bn", "de", "en", "es", "fa", "fi", "fr", "hi", "id", "ja", "ko", "ru", "sw", "te", "th", "yo", "zh"]
# In texts without spaces between words a shared run is counted in characters.
UNSPACED = {"ja", "th", "zh"}
SHARED_WORDS = 8
SHARED_CHARACTERS = 20


def read_labels(half: str, language: str) -> list[dict[str, str]]:
    text = Path(LABELS / half / f"{language}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def runs_of(text: str, language: str) -> set[str]:
    text = re.sub(r"\[[^\]]*\]", "", text.casefold())
    if language in UNSPACED:
        parts, length, joint = list("".join(text.split())), SHARED_CHARACTERS, ""
    else:
        parts, length, joint = [w.strip(".,;:!?।؟،؛«»\"'()*-") for w in text.split()], SHARED_WORDS, " "
    return {joint.join(parts[n : n + length]) for n in range(len(parts) - length + 1)}


def test_no_answer_and_no_query_stands_twice() -> None:
    rows = [r for half in HALVES for language in LANGUAGES for r in read_labels(half, language)]
    for field in ("answer", "query"):
        seen = Counter((r["id"][:2], " ".join(r[field].casefold().split())) for r in rows)
        assert [text for text, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("field", ["answer", "query"])
def test_the_halves_share_no_long_run(language: str, field: str) -> None:
    known, held = (
        {run for row in read_labels(half, language) for run in runs_of(row[field], language)} for half in HALVES
    )
    assert known & held == set()
