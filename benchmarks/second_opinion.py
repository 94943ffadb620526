"""Fit the second opinion on outcomes, and say what it adds to the rules on answers it was not fitted on.

`python -m benchmarks.second_opinion` writes `mirage/stages/outcomes/second_opinion.toml`. It is fitted on answers that
were written for this project: `tests/golden/outcomes_rag` without its held half, and the examples of the vocabularies.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.outcomes import ROOT, read_domains, read_labels, read_public
from mirage.schema import Outcome
from mirage.stages.outcomes.free import parse_free
from mirage.stages.outcomes.second_opinion import evidence, load_vectors
from mirage.stages.outcomes.vocabulary import LANGUAGES, examples

FILE = ROOT / "mirage" / "stages" / "outcomes" / "second_opinion.toml"
PENALTY = 100.0
"""Weight of the squared coefficients, of standardized columns."""
Row = tuple[str, str, str, Outcome]
"""Language, query, answer and the correct outcome."""


def fit(columns: np.ndarray, abstains: np.ndarray) -> np.ndarray:
    """Return the constant and coefficients of a ridge logistic regression, by Newton's method."""
    mean, spread = columns.mean(axis=0), columns.std(axis=0)
    standard = np.column_stack([np.ones(len(columns)), (columns - mean) / spread])
    penalty = np.diag([0.0, *[PENALTY] * columns.shape[1]])
    beta = np.zeros(standard.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-(standard @ beta)))
        slope = standard.T @ (chance - abstains) + penalty @ beta
        beta -= np.linalg.solve((standard.T * (chance * (1 - chance))) @ standard + penalty, slope)
    slopes = beta[1:] / spread
    return np.array([beta[0] - slopes @ mean, *slopes])


def measure(rows: list[Row], beta: np.ndarray, columns: np.ndarray) -> str:
    """Say how often the rules, the second opinion, and both where they agree are wrong."""
    rules = [parse_free(answer, language, query=query).outcome for language, query, answer, _ in rows]
    second = ["abstained" if score > 0 else "answered" for score in columns @ beta[1:] + beta[0]]
    decided = [
        (one, two, right)
        for one, two, (*_, right) in zip(rules, second, rows, strict=True)
        if one in ("answered", "abstained")
    ]
    agreed = [(one, right) for one, two, right in decided if one == two]
    wrong = [sum(one != right for one, _, right in decided), sum(two != right for _, two, right in decided)]
    beyond = sum(one != right for one, right in agreed)
    return (
        f"{len(decided)} decided by the rules: wrong {wrong[0]}, second opinion wrong {wrong[1]};"
        f" they differ on {len(decided) - len(agreed)}, and of {len(agreed)} on which they agree {beyond} are wrong"
    )


def main(arguments: list[str] | None = None) -> None:
    """Fit, write and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second_opinion", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the public files")
    parser.add_argument("--each", type=int, default=1_000, help="most answers of a source and language")
    options = parser.parse_args(arguments)
    vectors = load_vectors()
    sources = {"dev": [read_labels("dev")], "held": [read_labels("held")]}
    sources["dev"] += [*read_domains().values()]
    sources["dev"] += [{code: [(each.query, each.answer, each.right) for each in examples(code)] for code in LANGUAGES}]
    sources |= {source: [labelled] for source, labelled in read_public(options.data) if source != "passages"}
    beta = np.zeros(0)
    for source, parts in sources.items():
        rows: list[Row] = [
            (code, query, answer, right)
            for part in parts
            for code, labelled in part.items()
            for query, answer, right in labelled[: options.each]
            if right in ("answered", "abstained")
        ]
        columns = evidence([(code, answer) for code, _, answer, _ in rows], vectors)
        if source == "dev":
            beta = fit(columns, np.array([right == "abstained" for *_, right in rows]))
            FILE.write_text(f"coefficients = {[float(f'{each:.4g}') for each in beta]}\n", encoding="utf-8")
        print(source, measure(rows, beta, columns), flush=True)


if __name__ == "__main__":
    main()
