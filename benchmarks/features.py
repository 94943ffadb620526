"""Features: answers a second, and language detection against langdetect."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.harness import DATA, Row
from mirage import schema
from mirage.io.sources.nomiracl.outputs import read_outputs
from mirage.stages.features import table as feature_table
from mirage.stages.features.spec import Tools
from mirage.text.answers import compose_answer
from mirage.text.detection import language_probabilities
from mirage.text.segmentation import sentences

OUTPUTS = DATA / "nomiracl"
ANSWERS = 10_000
TEXTS = 100
"""Passages a language for language detection."""


def run() -> list[Row]:
    """Time each on the published passages."""
    if not OUTPUTS.is_dir():
        return [Row("features", "not run", f"the files are not at {OUTPUTS}", "", "")]
    tables = read_outputs(OUTPUTS)
    passages = tables["passages"].filter(pc.is_valid(tables["passages"]["text"]))
    texts: dict[str, list[str]] = {}
    for code, text in zip(passages["language"].to_pylist(), passages["text"].to_pylist(), strict=True):
        texts.setdefault(code, []).append(text)
    return [_deterministic(*_answers(texts)), *_detection(texts)]


def _answers(texts: dict[str, list[str]]) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Answers as long as those of the papers (Table 1 of MIRAGE-Bench: 130 tokens of reason, 30 of answer): a passage
    whose every sentence cites one, then a sentence. Each query has 8 passages and 10 systems.
    """
    rows: dict[str, list[Any]] = {"queries": [], "passages": [], "answers": []}
    for index in range(ANSWERS // 10):
        code = sorted(texts)[index % len(texts)]
        pool = texts[code]
        key = code, f"q{index}"
        ids = [f"{index}#{n}" for n in range(8)]
        rows["queries"].append(schema.Query(*key, "relevant", "What is it?", None))
        rows["passages"] += [
            schema.Passage(*key, passage_id, n, None, pool[(index * 7 + n) % len(pool)], n % 3 == 1)
            for n, passage_id in enumerate(ids, 1)
        ]
        for number in range(10):
            text = pool[(index * 10 + number) % len(pool)]
            statements = [text[start:end] for start, end in sentences(text, code)]
            reason = " ".join(f"{sentence} [{ids[(n + number) % 8]}]" for n, sentence in enumerate(statements))
            answer = f"{statements[-1]} [{ids[number % 8]}]"
            text = compose_answer(reason, answer)
            rows["answers"].append(schema.Answer(*key, f"s{number}", text, "ok", "rag", None, None))
    queries, passages, answers = (schema.from_rows(name, records) for name, records in rows.items())
    return queries, passages, answers


def _timed(program: Callable[[], Any]) -> tuple[Any, float]:
    """What a program returns, and the seconds of a core that it took, however busy the machine is."""
    start = time.process_time()
    result = program()
    return result, time.process_time() - start


def _deterministic(queries: pa.Table, passages: pa.Table, answers: pa.Table) -> Row:
    """All features that need no model, overlap with a reference among them."""
    tools = Tools(reference="s0")
    feature_table.compute(queries, passages, answers.slice(0, 100), tools=tools)
    language_probabilities.cache_clear()
    table, seconds = _timed(lambda: feature_table.compute(queries, passages, answers, tools=tools))
    length = pc.mean(pc.utf8_length(answers["text"])).as_py()
    return Row(
        f"{len(feature_table.measurable_features(tools))} features that need no model, of {len(answers):,} answers"
        f" of {length:.0f} characters",
        f"{len(answers) / seconds:,.0f} answers/s a core",
        f"{len(table):,} values in {seconds:.1f} s",
        "",
        "at least 3,000 answers/s a core",
    )


def _detection(texts: dict[str, list[str]]) -> list[Row]:
    """Language detection, ours and langdetect's, speed over all languages and accuracy of each."""
    from langdetect import DetectorFactory, LangDetectException, detect

    DetectorFactory.seed = 0
    sample = {code: pool[:: max(1, len(pool) // TEXTS)][:TEXTS] for code, pool in sorted(texts.items())}

    def ours(text: str) -> str:
        shares = language_probabilities.__wrapped__(text)
        return max(shares, key=shares.__getitem__)

    def theirs(text: str) -> str:
        try:
            return str(detect(text)).split("-")[0]
        except LangDetectException:
            return ""

    def accuracy(program: Callable[[str], str]) -> dict[str, float]:
        return {code: sum(program(text) == code for text in pool) / len(pool) for code, pool in sample.items()}

    flat = [text for pool in sample.values() for text in pool]
    ours(flat[0]), theirs(flat[0])
    our_accuracy, fast = _timed(lambda: accuracy(ours))
    langdetect_accuracy, slow = _timed(lambda: accuracy(theirs))
    lower = [code for code in our_accuracy if our_accuracy[code] < langdetect_accuracy[code]]

    def shown(accuracies: dict[str, float]) -> str:
        return ", ".join(f"{code} {100 * share:.0f}" for code, share in accuracies.items())

    return [
        Row(
            f"language detection of {len(flat):,} passages in {len(sample)} languages",
            f"{len(flat) / fast:,.0f} texts/s a core",
            f"langdetect: {len(flat) / slow:,.0f} texts/s",
            f"{slow / fast:.1f} times as fast",
            "at least 5 times as fast",
        ),
        Row(
            "its accuracy, %",
            shown(our_accuracy),
            f"langdetect (which knows no Yoruba): {shown(langdetect_accuracy)}",
            f"lower in {', '.join(lower)}" if lower else "nowhere lower",
            "nowhere lower",
        ),
    ]
