"""`make outcomes`: measure the rules for free answers on labelled answers, and write the figures."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import outcome_accuracy as accuracy
from mirage.schema import Outcome

ROOT = Path(__file__).resolve().parents[1]
LABELS = ROOT / "tests" / "golden" / "outcomes_rag"
HALVES = ("held", "dev")


def read_labels(half: str) -> dict[str, list[tuple[str, str, Outcome]]]:
    """The labelled answers of one half, by language."""
    labelled = {}
    for path in sorted((LABELS / half).glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        labelled[path.stem] = [(row["query"], row["answer"], row["right"]) for row in rows]
    return labelled


def main(arguments: list[str] | None = None) -> None:
    """Measure one half, print the figures and write them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outcomes", description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="held", help="held: kept apart from who writes rules")
    half = parser.parse_args(arguments).half
    rows = accuracy.accuracy(read_labels(half))
    for row in rows:
        print(
            f"{row.language:4} n {row.n:4}  wrong {row.wrong:6.1%} ({row.wrong_low:.1%} to {row.wrong_high:.1%})  "
            f"unparsed {row.unparsed:5.1%}  any phrase {row.phrase_wrong:6.1%}  length {row.length_wrong:6.1%}"
        )
    accuracy.FILE.write_text(accuracy.to_json(half, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
