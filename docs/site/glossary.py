"""The glossary: one noun an idea, each with the first sentences of the docstring of what it is in the program.

`make docs` writes docs/glossary.md anew; a test compares them. To add a word, add its object here.
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
        "vote": "mirage.votes.rows.Vote",
        "upsert": "mirage.store.upsert.upsert",
        "snapshot": "mirage.store.upsert.Snapshot",
        "ledger": "mirage.store.ledger.Ledger",
        "stage": "mirage.stage.Stage",
        "simulated arena": "mirage.sources.simulated.SimulatedArena",
    },
    "Battles": {
        "battle": "mirage.battles.decision.Battle",
        "decision": "mirage.battles.decision.Decision",
        "referee": "mirage.battles.referee.Referee",
        "battles (counts)": "mirage.battles.counts.Battles",
        "verdicts": "mirage.battles.verdict_rows.Verdicts",
        "ordered pair": "mirage.judge.pairs.OrderedPair",
        "candidate pool": "mirage.placement.sequential.choice.CandidatePool",
    },
    "Ranking": {
        "ranking": "mirage.rank.bootstrap.Ranking",
        "Bradley-Terry fit": "mirage.rank.fit.Fit",
        "difference": "mirage.rank.records.Difference",
        "tiers": "mirage.rank.tiers.Tiers",
        "sample size": "mirage.rank.sample_size.SampleSize",
        "rank options": "mirage.rank.whatif.RankOptions",
        "rank change": "mirage.rank.whatif.RankChange",
        "style control": "mirage.rank.control.StyleControl",
        "language effect": "mirage.rank.languages.LanguageEffect",
        "sandwich interval": "mirage.rank.sandwich.Sandwich",
        "placement": "mirage.placement.records.Placement",
    },
    "Outcomes and rates": {
        "parsed answer": "mirage.outcomes.parsed.Parsed",
        "rate": "mirage.outcomes.rates.Rate",
        "parser difference": "mirage.outcomes.tables.ParserDifference",
        "confusion": "mirage.outcomes.confusion.Confusion",
    },
    "Judges and people": {
        "judge statistics": "mirage.judge.stats.JudgeStats",
        "family preference": "mirage.judge.family.FamilyPreference",
        "agreement": "mirage.votes.agreement.Agreement",
        "correction": "mirage.votes.correct.Correction",
        "vote item": "mirage.votes.queue.VoteItem",
        "vote session": "mirage.ui.vote_session.VoteSession",
    },
    "Surrogate": {
        "training": "mirage.surrogate.data.Training",
        "regressor": "mirage.surrogate.regressors.Regressor",
        "held-out prediction": "mirage.surrogate.evaluate.HeldOut",
        "quality": "mirage.surrogate.quality.Quality",
        "distance": "mirage.surrogate.range.Distance",
        "feature family": "mirage.features.spec.FeatureFamily",
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
