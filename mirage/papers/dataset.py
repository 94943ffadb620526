"""Statistics of a set of queries, in the form of Table 1 of MIRAGE-Bench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirage.llm import Tokens
    from mirage.store import Arena

PAPER = "GPT-4o's tokenizer"
"""The paper's token counter."""
TEACHER = ("avg_gpt4o_context_tokens", "avg_gpt4o_answer_tokens")
"""Statistics of a training set with answers of a teacher model, from `mirage export sft`."""


@dataclass(frozen=True)
class Statistics:
    """Statistics of the queries of one arena by language."""

    split: str
    """The published set to compare with: `train` if the arena was made from MIRACL train, else `eval`."""
    tokens: str
    """Token counter: `estimate`, or the name of a tokenizer."""
    languages: Mapping[str, Mapping[str, float | None]]
    """Statistics by language code, with the names of the paper's rows: `n_queries`, `avg_query_tokens` (null if a query
    has no text), `avg_rel_passages_per_q` and `avg_nonrel_passages_per_q` (null if a passage has no label). Means are
    over the queries of the language.
    """

    def cell(self, language: str, name: str) -> tuple[float | None, int | None, str]:
        """Return one statistic, its number of queries, and the reason why it is null or a remark."""
        if name in TEACHER:
            return None, None, "tokens of a teacher's answers: mirage export sft gives them for a training set"
        stats = self.languages.get(language)
        if stats is None:
            return None, None, "the arena has no queries in this language"
        value = stats[name]
        n = int(stats["n_queries"] or 0)
        if value is None:
            lacking = "a query has no text" if "tokens" in name else "a passage has no label"
            return None, n, f"{lacking} in the arena"
        if name == "avg_query_tokens":
            return value, n, f"tokens counted by {self.tokens}; the paper counts by {PAPER}"
        return value, n, ""


def query_statistics(arena: Arena, tokens: Tokens) -> Statistics:
    """Count queries, their tokens, and their passages by label.

    Args:
        arena: an arena with queries.
        tokens: token counter.

    Raises:
        TableMissing: if there are no queries.
    """
    arena.need("queries")
    texts: dict[str, list[str | None]] = {}
    for row in arena.read("queries", columns=["language", "text"]).to_pylist():
        texts.setdefault(row["language"], []).append(row["text"])
    labels: dict[str, dict[bool | None, int]] = {}
    if "passages" in arena.tables:
        counted = arena.sql("SELECT language, relevant, count(*) AS n FROM passages GROUP BY ALL")
        for row in counted.to_pylist():
            labels.setdefault(row["language"], {})[row["relevant"]] = row["n"]
    made_by = arena.manifest["made"]["queries"]["by"]
    return Statistics(
        split="train" if made_by.endswith("--split train") else "eval",
        tokens=tokens.name,
        languages={code: _language(queries, labels.get(code), tokens) for code, queries in sorted(texts.items())},
    )


def _language(
    queries: list[str | None], labels: Mapping[bool | None, int] | None, tokens: Tokens
) -> dict[str, float | None]:
    n = len(queries)
    known = [text for text in queries if text is not None]
    labelled = labels is not None and None not in labels
    return {
        "n_queries": n,
        "avg_query_tokens": sum(map(tokens.count, known)) / n if len(known) == n else None,
        "avg_rel_passages_per_q": labels.get(True, 0) / n if labels and labelled else None,
        "avg_nonrel_passages_per_q": labels.get(False, 0) / n if labels and labelled else None,
    }
