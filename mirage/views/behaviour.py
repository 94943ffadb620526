"""View of answer behaviour, where nothing says which answer is better: abstention, citation, language and length."""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.counts import lacks_evidence
from mirage.schema import Count, Share
from mirage.stages.features.means import means, over_languages
from mirage.stages.outcomes.rates import not_understood
from mirage.stages.outcomes.tables import outcomes
from mirage.stats.rows import group, read_rows
from mirage.store.arena import Arena
from mirage.text.languages import name_of
from mirage.text.segmentation import count_text, join_first
from mirage.views.cache import cached_view

_MEASURES = ("abstained", "cites", "target_language", "length")
"""Measures of a row, in order: two of an answer, 0 or 1, and two features."""
_YES_OR_NO = dict.fromkeys(_MEASURES[:2], (0.0, 1.0))
_LEAST = 0.5
"""Share of a system's answers that must have a value for their mean to stand for the system."""
DESCRIBED = "This is what the answers do. It does not say which system is better."
_CLASSIFIED = {"abstained": 1.0, "answered": 0.0, "clarification": 0.0}


@dataclass(frozen=True, slots=True)
class AnswerBehaviour:
    """Behaviour of a system's answers: means over queries with 95% intervals, languages weighted equally; null if under
    half of the answers have a value.
    """

    key = ("system",)

    system: str
    """The system."""
    answers: Count
    """Answers with a text."""
    abstained: Share | None
    """Share of the classified answers that say that they cannot answer, in the languages where at least half are
    classified; null without such a language.
    """
    abstained_low: Share | None
    """Lower end of its interval."""
    abstained_high: Share | None
    """Upper end."""
    cites: Share | None
    """Share of the answers that cite a passage; null where no passages are known."""
    cites_low: Share | None
    """Lower end of its interval."""
    cites_high: Share | None
    """Upper end."""
    target_language: Share | None
    """Mean probability that an answer is in the language of its query."""
    target_language_low: Share | None
    """Lower end of its interval."""
    target_language_high: Share | None
    """Upper end."""
    length: float | None
    """Mean number of characters."""
    length_low: float | None
    """Lower end of its interval."""
    length_high: float | None
    """Upper end."""


@dataclass(frozen=True, eq=False)
class BehaviourView:
    """Behaviour of each system's answers, and the answers that no rule could classify."""

    rows: pa.Table
    """Rows of `AnswerBehaviour`, by name of the system."""
    remarks: tuple[str, ...]
    """Caveats, among them the languages in which no abstention is recognised."""


@cached_view
def behaviour_view(arena: Arena) -> BehaviourView:
    """Measure the behaviour of an arena's answers, without a judge.

    Args:
        arena: an arena with queries, answers and features.

    Raises:
        TableMissing: if it lacks one of them.
    """
    for table in ("queries", "answers", "features"):
        arena.need(table)
    decided = _classify(arena)
    values = _values(arena, decided)
    found = {
        (row.system, row.feature): row
        for row in over_languages(means(values, bounds=_YES_OR_NO), values, bounds=_YES_OR_NO)
        if row.coverage >= _LEAST
    }
    counts = arena.sql("SELECT system, count(*) AS n FROM answers WHERE text <> '' GROUP BY system ORDER BY system")
    records = []
    for row in counts.to_pylist():
        cells = [found.get((row["system"], name)) for name in _MEASURES]
        ends = [end for cell in cells for end in ((None,) * 3 if cell is None else (cell.mean, cell.low, cell.high))]
        records.append(AnswerBehaviour(row["system"], row["n"], *ends))
    unread = [f"{name_of(code)} ({count_text(n, 'answer')})" for code, n in not_understood(decided).items()]
    remarks = [f"Abstentions are not recognised in {join_first(unread)}."] if unread else []
    return BehaviourView(schema.from_rows(AnswerBehaviour, records), (*remarks, DESCRIBED))


def _classify(arena: Arena) -> pa.Table:
    """Return the outcomes of all answers, including those to queries without labels."""
    queries = arena.read("queries")
    # An outcome does not depend on the label, which only scores it.
    labels = pc.fill_null(queries["subset"], "relevant")
    queries = queries.set_column(queries.column_names.index("subset"), queries.schema.field("subset"), labels)
    return outcomes(queries, arena.read("answers"))


def _values(arena: Arena, decided: pa.Table) -> pa.Table:
    """Return the measures of each answer in the form of the table `features`."""
    names = ["language", "query_id", "system", "feature", "value"]
    features = arena.read("features", columns=names)
    cited = features.filter(pc.equal(features["feature"], "n_citations"))
    some = pc.cast(pc.greater(cited["value"], 0), pa.float64())
    cites = cited.set_column(3, "feature", pa.array(["cites"] * len(cited))).set_column(4, "value", some)
    read = decided.filter(pc.equal(decided["parser"], "strict"))
    abstained = read.select(names[:3]).append_column("feature", pa.array(["abstained"] * len(read)))
    rows = list(read_rows(read, "language", "system", "outcome"))
    cells = group((row[:2], row[2]) for row in rows)
    lacking = {cell for cell, decisions in cells.items() if lacks_evidence(Counter(decisions))}
    known = [None if row[:2] in lacking else _CLASSIFIED.get(row[2]) for row in rows]
    abstained = abstained.append_column("value", pa.array(known, pa.float64()))
    plain = features.filter(pc.is_in(features["feature"], pa.array(_MEASURES[2:])))
    kind = pa.schema([(name, pa.string()) for name in names[:4]] + [("value", pa.float64())])
    return pa.concat_tables([table.select(names).cast(kind) for table in (abstained, cites, plain)])
