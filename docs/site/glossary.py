"""The glossary: one noun per idea, each with the first sentences of the docstring of what it is in the program.

`make docs` writes docs/glossary.md; a test compares them. To add a word, add its object here.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

FILE = Path(__file__).parents[1] / "glossary.md"
HEAD = """# Glossary

One noun for an idea, the same in the code, in columns, on pages and in this guide. Each entry is the docstring of the
class or function that the word stands for; `make docs` writes this page from them.
"""
GROUPS: dict[str, dict[str, str]] = {
    "Data": {
        "arena": "mirage.store.arena.Arena",
        "query": "mirage.schema.Query",
        "passage": "mirage.schema.Passage",
        "answer": "mirage.schema.Answer",
        "outcome": "mirage.schema.OutcomeRow",
        "feature": "mirage.schema.Feature",
        "judgment": "mirage.schema.Judgment",
        "rating": "mirage.schema.Rating",
        "prediction": "mirage.schema.Prediction",
        "vote": "mirage.people.votes.kinds.Vote",
        "note": "mirage.people.votes.kinds.Note",
        "upsert": "mirage.store.upsert.upsert",
        "ledger": "mirage.store.ledger.Ledger",
        "stage": "mirage.stages.stage.Stage",
    },
    "Battles": {
        "battle": "mirage.battles.decision.Battle",
        "decision": "mirage.battles.decision.Decision",
        "judge": "mirage.ranking.judges.Judge",
        "battles (counts)": "mirage.battles.counts.Battles",
        "verdicts": "mirage.battles.verdict_rows.Verdicts",
        "ordered pair": "mirage.stages.judge.pairs.OrderedPair",
    },
    "Ranking": {
        "ranking": "mirage.ranking.bootstrap.RankingReport",
        "Bradley-Terry fit": "mirage.ranking.by_query.Layout",
        "difference": "mirage.ranking.records.Difference",
        "pair tests": "mirage.ranking.pair_tests.BoardTests",
        "rank settings": "mirage.ranking.settings.RankSettings",
        "style control": "mirage.ranking.control.StyleControl",
    },
    "Outcomes and rates": {
        "parsed answer": "mirage.stages.outcomes.parsed.Parsed",
        "rate": "mirage.stages.outcomes.rates.Rate",
        "confusion": "mirage.stages.outcomes.confusion.Confusion",
    },
    "Retrieval and languages": {
        "cause": "mirage.stages.retrieve.attribution.CauseShare",
        "retrieval mean": "mirage.stages.retrieve.measures.RetrievalMean",
    },
    "Judges and people": {
        "judge statistics": "mirage.stages.judge.stats.JudgeStats",
        "family preference": "mirage.stages.judge.family.FamilyPreference",
        "agreement": "mirage.people.votes.agreement.Agreement",
        "correction": "mirage.people.votes.correct.Correction",
        "vote item": "mirage.people.votes.queue.VoteItem",
        "vote session": "mirage.explorer.kit.vote_session.VoteSession",
    },
    "Surrogate": {
        "training": "mirage.ranking.surrogate.data.Training",
        "regressor": "mirage.ranking.surrogate.regressors.Regressor",
        "held-out prediction": "mirage.ranking.surrogate.quality.HeldOut",
        "quality": "mirage.ranking.surrogate.quality.Quality",
        "distance": "mirage.ranking.surrogate.range.Distance",
        "feature family": "mirage.stages.features.spec.FeatureFamily",
    },
}
"""By heading, each word and the object that it names."""


def meaning(dotted: str) -> str:
    """The first paragraph of an object's docstring, on one line."""
    module, _, name = dotted.rpartition(".")
    text = inspect.getdoc(getattr(import_module(module), name)) or ""
    return " ".join(text.split("\n\n")[0].split())


def glossary() -> str:
    """The page's text."""
    parts = [HEAD]
    for heading, words in GROUPS.items():
        parts.append(f"\n## {heading}\n\n| word | meaning | in the code |\n|---|---|---|\n")
        for word, dotted in sorted(words.items(), key=lambda item: item[0].lower()):
            parts.append(f"| {word} | {meaning(dotted).replace('|', chr(92) + '|')} | `{dotted}` |\n")
    return "".join(parts)


if __name__ == "__main__":
    FILE.write_text(glossary(), encoding="utf-8")
