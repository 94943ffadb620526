"""A team's path, from the traces of last month to a gate: spans, rubric, rounds, runs, gate."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import mirage, rows
from judge_cases import says
from misbehaving import Act, Call, Service

from mirage.store.arena import open_arena

QUERIES = 32
STRENGTH = ("plain", "former", "latest")
"""Words that answers begin with, the worst first."""
RUBRIC = "name: tone\nquestion: Is the answer polite, and does it address the person who asked?\n"


def trace(system: str, word: str, query: int) -> dict[str, Any]:
    """One trace of OpenTelemetry with a question, a retrieved passage and an answer."""

    def span(number: int, parent: str | None, operation: str, **values: str) -> dict[str, Any]:
        attributes = {"gen_ai.operation.name": operation, **values}
        return {
            "traceId": f"{system}-{word}-{query}",
            "spanId": f"s{number}",
            **({} if parent is None else {"parentSpanId": parent}),
            "name": operation,
            "startTimeUnixNano": str(number),
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        }

    question, passage = f"How tall is tower number {query}?", f"Tower number {query} is {query + 30} metres tall."
    said = [
        {"role": "assistant", "parts": [{"type": "text", "content": f"{word} on tower {query}: {query + 30} m [1]."}]}
    ]
    documents = json.dumps([{"id": f"d{query}", "content": passage}])
    return {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            span(1, None, "invoke_agent"),
                            span(
                                2,
                                "s1",
                                "retrieval",
                                **{"gen_ai.retrieval.query.text": question, "gen_ai.retrieval.documents": documents},
                            ),
                            span(
                                3,
                                "s1",
                                "chat",
                                **{"gen_ai.request.model": system, "gen_ai.output.messages": json.dumps(said)},
                            ),
                        ]
                    }
                ]
            }
        ]
    }


def traces(path: Path, words: dict[str, str]) -> Path:
    lines = (json.dumps(trace(system, word, query)) for query in range(QUERIES) for system, word in words.items())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def by_word(call: Call) -> Act:
    """The later answer is the more polite, but for one question of eight."""
    first, second = (STRENGTH.index(word) for word in re.findall(rf"({'|'.join(STRENGTH)}) on tower", call.content)[:2])
    upset = any(f"number {query}?" in call.content for query in range(0, QUERIES, 8))
    return says("A" if (first > second) != upset else "B")


@pytest.mark.usefixtures("home")
def test_from_traces_to_a_gate(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    october = traces(tmp_path / "october.jsonl", {"mine@2026-10-01": "former", "other": "plain"})
    mirage("import", october, "--into", arena, "--set", "run_date=2026-10-01")
    november = traces(tmp_path / "november.jsonl", {"mine": "latest"})
    mirage("import", november, "--into", arena, "--set", "run_date=2026-11-02")
    assert {"2026-10-01", "2026-11-02"} <= set(open_arena(arena).read("answers")["run_date"].to_pylist())

    rubric = tmp_path / "tone.yaml"
    rubric.write_text(RUBRIC, encoding="utf-8")
    whole = 3 * QUERIES * 2
    with Service(by_word) as service:
        price = (100 * 10 + 20 * 50) / 1e6
        options = ("--price-in", 10, "--price-out", 50, "--max-tokens", 50, "--budget", 0.8 * whole * price)
        judged = ("--judge", "j", "--model", "m", "--base-url", service.url, "--criterion", rubric)
        mirage("judge", arena, *judged, *options)
        assert 0 < sum(service.requests.values()) <= 0.8 * whole
    assert set(open_arena(arena).read("judgments")["criterion"].to_pylist()) == {"tone"}

    board = rows(mirage("rank", arena, "--judge", "j: tone", "--format", "csv"))
    assert [row["system"] for row in board] == ["mine", "mine@2026-10-01", "other"]
    mirage("compare", arena, "mine", "mine@2026-10-01", "--judge", "j: tone", "--require")

    mirage("compare", arena, "other", "mine", "--judge", "j: tone", code=1)
