"""An arena of the size of the published one, to time the explorer with: `python -m benchmarks.full_size DIR`.

11,195 queries in 18 languages, 10 passages each, 212,705 answers of 19 systems with all eleven features, and 307,800
judgments with rationales (100 queries a language, all 171 pairs). Numbers and verdicts are simulated. Texts are the
sample arena's, cut into pieces of two words and put together anew: they say nothing, but each is in its own script, of
the length that answers have, and no easier to compress or to search than these.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.simulated import simulate_arena
from mirage import schema, store
from mirage.io.sources.miracl import SIZES
from mirage.text.answers import compose_answer
from mirage.text.languages import LANGUAGES

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "build" / "full-size"
"""Where `make bench` keeps the arena."""
PASSAGES, JUDGED, SENTENCES, SEED = 10, 100, 20_000, 2024
"""Passages of a query, judged queries of a language, different sentences of a language, seed of everything."""
WHY = (
    "Both assistants address the query, but they differ in how well they use the passages.",
    "The claim is supported by the cited passage and nothing in the other passages speaks against it.",
    "One statement cites a passage that is about something else, which weakens the whole answer.",
    "The answer is complete and stays with what the passages say, without irrelevant detail.",
    "The reasoning is sound, yet the conclusion leaves out a fact that the first passage gives.",
    "The language is fluent and in the language of the query throughout.",
    "Order and length of the answers were not taken into account.",
    "The depth of the explanation is similar, so accuracy decides.",
)


def build(folder: Path, *, seed: int = SEED) -> store.Arena:
    """Write the arena into a folder; the same seed gives the same bytes."""
    written = store.open_arena(ROOT / "data" / "sample")
    sample = {name: written.read(name) for name in ("queries", "passages", "answers")}
    sample["answers"] = sample["answers"].filter(pc.equal(sample["answers"]["system"], schema.REFERENCE))
    tables: dict[str, list[pa.Table]] = {n: [] for n in ("queries", "passages", "answers", "features", "judgments")}
    for number, (code, sizes) in enumerate(SIZES.items()):
        rng = np.random.default_rng([seed, number])
        simulated = simulate_arena(queries=sizes.evaluation, languages=[code], seed=seed).tables
        ids = simulated["queries"]["query_id"].to_pylist()
        systems = pc.unique(simulated["features"]["system"]).to_pylist()
        pool = _Pool(sample, code, rng)
        tables["queries"].append(pool.queries(rng, ids))
        tables["passages"].append(pool.passages(rng, ids))
        tables["answers"].append(pool.answers(rng, ids, systems))
        tables["features"].append(simulated["features"])
        judgments = simulated["judgments"].filter(
            pc.is_in(simulated["judgments"]["query_id"], value_set=pa.array(ids[:JUDGED]))
        )
        rationales = pa.array(pool.rationales(rng, judgments["verdict"].to_pylist()), pa.string())
        index = judgments.schema.get_field_index("rationale")
        tables["judgments"].append(judgments.set_column(index, judgments.schema.field(index), rationales))
    return store.write(
        folder,
        {name: pa.concat_tables(parts) for name, parts in tables.items()},
        title="Full size: a simulated arena of 11,195 queries and 19 systems",
        label="simulated",
        about="Texts put together from the sample arena's; features and verdicts drawn from a known truth.",
        licence="CC0-1.0",
        made_by=store.Provenance(
            "python -m benchmarks.full_size",
            sources=[{"name": "data/sample/source"}, {"name": "benchmarks.simulated", "seed": seed}],
        ),
    )


def full_size() -> store.Arena:
    """The arena that the timings use, built when it is not there yet."""
    return store.open_arena(HERE) if store.is_arena(HERE) else build(HERE)


class _Pool:
    """The sentences of one language, and what is put together from them."""

    def __init__(self, sample: dict[str, pa.Table], code: str, rng: np.random.Generator) -> None:
        def texts(table: str, column: str) -> list[str]:
            rows = sample[table]
            return rows.filter(pc.equal(rows["language"], code))[column].to_pylist()

        self.code = code
        self.query_texts, self.titles = texts("queries", "text"), texts("passages", "title")
        space = " " if LANGUAGES[code].spaced else ""
        bodies: list[Sequence[str]] = [body.split() if space else body for body in texts("passages", "text")]
        size = 2 if space else 4
        pieces = [space.join(body[start : start + size]) for body in bodies for start in range(0, len(body), size)]
        ends = np.cumsum(rng.integers(5, 12, size=SENTENCES))
        picked = rng.integers(len(pieces), size=ends[-1]).tolist()
        self.sentences = [
            space.join([pieces[p] for p in picked[a:b]]) for a, b in zip([0, *ends[:-1]], ends, strict=True)
        ]

    def queries(self, rng: np.random.Generator, ids: list[str]) -> pa.Table:
        """Queries, each about a title of its own."""
        title, query = (rng.integers(len(texts), size=len(ids)) for texts in (self.titles, self.query_texts))
        text = [f"{self.titles[t]}: {self.query_texts[q]}" for t, q in zip(title, query, strict=True)]
        return self._table("queries", query_id=ids, text=text)

    def passages(self, rng: np.random.Generator, ids: list[str]) -> pa.Table:
        """Five sentences each; the first one to three passages of a query are relevant."""
        n = len(ids) * PASSAGES
        title, sentences = rng.integers(len(self.titles), size=n), rng.integers(SENTENCES, size=(n, 5)).tolist()
        ranks = np.tile(np.arange(PASSAGES), len(ids))
        return self._table(
            "passages",
            query_id=np.repeat(np.array(ids, object), PASSAGES),
            passage_id=[f"{query}#{k}" for query in ids for k in range(PASSAGES)],
            position=ranks + 1,
            title=[self.titles[t] for t in title],
            text=[". ".join([self.sentences[s] for s in w]) for w in sentences],
            relevant=ranks < np.repeat(rng.integers(1, 4, size=len(ids)), PASSAGES),
        )

    def answers(self, rng: np.random.Generator, ids: list[str], systems: list[str]) -> pa.Table:
        """A reason of two to five sentences and an answer of one or two, each citing a passage."""
        n = len(ids) * len(systems)
        sentences, cited = rng.integers(SENTENCES, size=(n, 7)), rng.integers(PASSAGES, size=(n, 7))
        reason_lengths, answer_lengths = rng.integers(2, 6, size=n).tolist(), rng.integers(1, 3, size=n).tolist()
        query = np.repeat(np.array(ids, object), len(systems))
        text = []
        for name, w, c, k, m in zip(
            query, sentences.tolist(), cited.tolist(), reason_lengths, answer_lengths, strict=True
        ):
            parts = [f"{self.sentences[s]} [{name}#{p}]" for s, p in zip(w, c, strict=True)]
            text.append(compose_answer(" ".join(parts[:k]), " ".join(parts[5 : 5 + m])))
        return self._table(
            "answers",
            query_id=query,
            system=np.tile(np.array(systems, object), len(ids)),
            text=text,
            status=["ok"] * n,
            template=["rag"] * n,
        )

    def rationales(self, rng: np.random.Generator, verdicts: list[str]) -> list[str]:
        """Two sentences of a judge, one quoted from an answer, and the verdict."""
        mark = {"A": "[[A]]", "B": "[[B]]", "tie": "[[C]]"}
        phrases = rng.integers(len(WHY), size=(len(verdicts), 2)).tolist()
        quoted = rng.integers(SENTENCES, size=len(verdicts)).tolist()
        return [
            f"{WHY[a]} It says “{self.sentences[q]}”. {WHY[b]} Final verdict: {mark[verdict]}"
            for (a, b), q, verdict in zip(phrases, quoted, verdicts, strict=True)
        ]

    def _table(self, name: str, **columns: Any) -> pa.Table:
        return schema.from_columns(name, {"language": [self.code] * len(columns["query_id"]), **columns})


def main(folder: Path) -> None:
    """Build the arena and say how long it took."""
    start = time.perf_counter()
    arena = build(folder)
    rows = ", ".join(f"{arena.rows(table):,} {table}" for table in arena.tables)
    print(f"{folder}: {rows}; {arena.size / 1e6:.0f} MB in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.full_size DIR")
    main(Path(sys.argv[1]))
