"""`make outcomes`: measure the rules for free answers on labelled answers, and write the figures."""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import outcome_accuracy as accuracy
from mirage.schema import Outcome

ROOT = Path(__file__).resolve().parents[1]
LABELS = ROOT / "tests" / "golden" / "outcomes_rag"
PUBLIC = ROOT / "tests" / "golden" / "outcomes_public.csv"
"""Labels of answers of public files, without their texts."""
PASSAGES = 200
"""Passages a language: real prose that refuses nothing."""
CHARACTERS = 300
"""Length at which they are cut, about that of an answer."""
_CONTEXTS = re.compile(r"QUESTION:\s*(.*?)\s*CONTEXTS:\s*(.*?)(?:\n\s*OUTPUT|\Z)", re.DOTALL)
_PASSAGE = re.compile(r"^\[\d+\] (?:[^:\n]{1,80}: )?(.{60,})$", re.MULTILINE)


def read_labels(half: str) -> dict[str, list[tuple[str, str, Outcome]]]:
    """The labelled answers of one half that were written for this, by language."""
    labelled = {}
    for path in sorted((LABELS / half).glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        labelled[path.stem] = [(row["query"], row["answer"], row["right"]) for row in rows]
    return labelled


def read_domains() -> dict[str, dict[str, list[tuple[str, str, Outcome]]]]:
    """The answers of several domains that were written while the rules were made, by domain and language."""
    labelled: dict[str, dict[str, list[tuple[str, str, Outcome]]]] = defaultdict(lambda: defaultdict(list))
    for row in map(json.loads, (LABELS / "domains.jsonl").read_text(encoding="utf-8").splitlines()):
        labelled[row["domain"]][row["language"]].append((row["query"], row["answer"], row["right"]))
    return labelled


def read_public(data: Path) -> Iterator[tuple[str, dict[str, list[tuple[str, str, Outcome]]]]]:
    """The labelled answers of public files by source and part, then passages as answers."""
    texts: dict[tuple[str, str, str], tuple[str, str]] = {}
    passages: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(data / "mtrag" / "reference_subset_with_human_evaluations.json.gz") as stream:
        content = json.load(stream)
    asked = {
        task["task_id"]: [turn["text"] for turn in task["input"] if turn["speaker"] == "user"][-1]
        for task in content["tasks"]
    }
    for row in content["evaluations"]:
        key = "mtrag", "en", f"{row['task_id']}/{row['model_id']}"
        texts[key] = asked[row["task_id"]], row["model_response"]
    for path in sorted((data / "nomiracl").glob("*/*.gz")):
        code = path.name.split(".")[0]
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for row in map(json.loads, stream):
                shown = _CONTEXTS.search(row.get("prompt") or "")
                query = shown[1] if shown else ""
                if shown:
                    passages[code] |= dict.fromkeys(_PASSAGE.findall(shown[2]), query)
                for system, text in row["results"].items():
                    texts["nomiracl", code, f"{path.parent.name}/{row['query_id']}/{system}"] = query, text or ""
    found: dict[str, dict[str, list[tuple[str, str, Outcome]]]] = defaultdict(lambda: defaultdict(list))
    with PUBLIC.open(encoding="utf-8", newline="") as stream:
        for label in csv.DictReader(stream):
            query, text = texts[label["source"], label["language"], label["id"]]
            right: Outcome = label["right"]  # type: ignore[assignment]
            found[f"{label['source']} {label['part']}"][label["language"]].append((query, text, right))
    rng = np.random.default_rng(180)
    for code, of in sorted(passages.items()):
        drawn = rng.permutation(sorted(of))[:PASSAGES]
        found["passages"][code] = [(of[text], text[:CHARACTERS], "answered") for text in map(str, drawn)]
    yield from sorted(found.items())


def main(arguments: list[str] | None = None) -> None:
    """Measure the answers kept apart and the public ones, print the figures and write them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outcomes", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the public files")
    rows = accuracy.accuracy("written held", read_labels("held"))
    for domain, of_domain in sorted(read_domains().items()):
        rows += accuracy.accuracy(f"written {domain}", of_domain)
    for source, labelled in read_public(parser.parse_args(arguments).data):
        rows += accuracy.accuracy(source, labelled)
    for row in rows:
        print(
            f"{row.source:14} {row.language:4} n {row.n:5}  wrong {row.wrong:3}  unparsed {row.unparsed:3}  "
            f"abstained {row.abstained:3}, read {row.read:3}, both {row.right:3}"
        )
    accuracy.write_accuracy(rows)


if __name__ == "__main__":
    main()
