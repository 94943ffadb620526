"""Data of the Answers page: the matching queries, and one query with its passages and all answers.

A search keeps only keys; texts are read for the queries on display. Results are cached by arena, which is hashed by its
manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

from mirage import schema
from mirage.battles.decision import decisions
from mirage.battles.judge import verdict_judges
from mirage.stages.features.families import FEATURES
from mirage.stages.outcomes.parsed import RULES
from mirage.stages.outcomes.tables import outcomes
from mirage.stages.retrieve.attribution import Attribution
from mirage.stages.shown import merge_passages, shown_passages, shown_with
from mirage.store.query_rows import of_query
from mirage.store.search import answer_values, find_answers
from mirage.text.answers import Citation, citations, is_numbered
from mirage.text.segmentation import SHOWN
from mirage.views import causes
from mirage.views.query_keys import Key, Keys

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

OF_LANGUAGE = ("target_language", "english_language")
"""Features of the language of an answer, not of its content."""
_FORMULAS = ("i_dont_know", "answer_is_present", "answer_is_not_present", "negated")
"""Rules of the parser for answers that repeat a fixed English formula of their prompt."""
AnswerKey = tuple[str, str, str]
"""Language, query and system of an answer."""


@dataclass(frozen=True)
class Scope:
    """Filters that an arena offers, and its size."""

    languages: tuple[str, ...]
    systems: tuple[str, ...]
    subsets: tuple[str, ...]
    """Existing subsets; empty if the queries have none."""
    parsers: tuple[str, ...]
    """Parsers with outcomes; empty without outcomes."""
    outcomes: tuple[str, ...]
    """Outcomes by any of these parsers."""
    queries: int
    """Questions."""
    answers: int
    """Number of answers, by query and system."""
    answer_texts: bool
    """Whether the arena has the answers' texts."""
    query_texts: bool
    """Whether the arena has the text of any query."""

    @property
    def texts(self) -> bool:
        """True if there is text to search."""
        return self.answer_texts or self.query_texts


@dataclass(frozen=True)
class AnswerFilter:
    """Filter of answers. A query matches if one of its answers does."""

    languages: tuple[str, ...] = ()
    """Codes; empty for all."""
    subset: str = ""
    """Subset of the query; empty for any."""
    systems: tuple[str, ...] = ()
    """Systems; empty for all."""
    outcomes: tuple[str, ...] = ()
    """Outcome; empty for any."""
    parser: str = "strict"
    """Parser of the outcomes."""
    cause: str = ""
    """Cause of the answer (`retrieval.Cause`), or `unclassified`; empty for any."""
    passage_language: str = ""
    """Language of a passage shown to the system; empty for any."""
    text: str = ""
    """Text to search for in queries and answers, ignoring case; empty for any."""
    noted: frozenset[AnswerKey] | None = None
    """Language, query and system of the answers whose notes match; None for all."""

    @property
    def narrowed(self) -> bool:
        """True if the filter can select some answers of a query and not others."""
        return bool(
            self.systems or self.outcomes or self.cause or self.text or self.passage_language or self.noted is not None
        )


@dataclass(frozen=True, eq=False)
class AnswerSelection(Keys):
    """Matching queries."""

    answers: int
    """Number of matching answers."""


@dataclass(frozen=True)
class QueryItem:
    """A query in the list."""

    key: Key
    subset: str | None
    text: str | None
    """Text of the query; null if it was not published or is not bundled."""


@dataclass(frozen=True)
class FeatureValue:
    """One feature of one answer."""

    name: str
    title: str
    meaning: str
    unit: str
    value: float | None
    reason: str | None
    """Reason why there is no value."""


@dataclass(frozen=True)
class MeasureScores:
    """Imported scores of one answer by one measure, from people or from programs."""

    measure: str
    """The scale."""
    person: bool
    """Whether the raters are people."""
    scores: tuple[schema.Score, ...]
    """Scores by rater."""

    @property
    def mean(self) -> float | None:
        """Mean over the raters with a parsed score; null if there is none."""
        values = [score.value for score in self.scores if score.value is not None]
        return sum(values) / len(values) if values else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The worst and the best value of the scale; null if unknown."""
        low, high = self.scores[0].low, self.scores[0].high
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class AnswerView:
    """Answer of one system, with its measurements."""

    system: str
    text: str | None
    status: str | None
    """As in `schema.Answer`; null if the arena lacks the answers."""
    reason: str | None
    """Details of the failure, if more is known than the status."""
    outcome: str | None
    """Outcome; null if the arena has no outcomes."""
    rule: str
    """Name of the parser rule that matched."""
    rule_meaning: str
    """Meaning of the rule."""
    span: tuple[int, int] | None
    """Span of the text that determined the outcome, in characters of the answer."""
    correct: bool | None
    """Whether the decision is correct for the subset; null if undecided."""
    citations: tuple[Citation, ...]
    measures: tuple[FeatureValue, ...]
    scores: tuple[MeasureScores, ...] = ()
    """Scores: people's first, then by measure."""
    retriever: str | None = None
    """Retriever of the passages shown to the system; null for passages given with the query."""
    shown: tuple[str, ...] = ()
    """Ids of the passages shown to the system, in order."""
    cause: Attribution | None = None
    """Cause of the error, if any; null if the arena has no outcomes."""


@dataclass(frozen=True, eq=False)
class QueryView:
    """One query with its passages, answers and labels."""

    key: Key
    subset: str | None
    text: str | None
    reason: str
    """Reason why there is no text."""
    passages: tuple[schema.Passage, ...]
    """Passages given with the query, in order, then further retrieved passages shown to systems; empty if the arena
    lacks passages."""
    answers: tuple[AnswerView, ...]
    """Answers by system name."""
    turns: tuple[schema.Turn, ...] = ()
    """Earlier turns of the conversation, in order; empty if there are none or they are unknown."""
    tags: tuple[schema.Tag, ...] = ()
    """Tags of the query, sorted by name and value."""
    reference: str | None = None
    """The reference answer; null if there is none."""
    documents: Mapping[str, schema.Document] = field(default_factory=dict)
    """Sources of the passages, by passage id."""

    def table(self) -> pa.Table:
        """Return the answers as rows: query, outcome, a column per feature, and the mean score by each measure."""
        import pyarrow as pa

        facts = ("system", "text", "status", "reason", "outcome", "rule", "correct")
        rows = [
            {"language": self.key[0], "query_id": self.key[1], "subset": self.subset, "query": self.text}
            | {fact: getattr(answer, fact) for fact in facts}
            | dict(zip(("span_start", "span_end"), answer.span or (None, None), strict=True))
            | dict.fromkeys(measure.name for other in self.answers for measure in other.measures)
            | {measure.name: measure.value for measure in answer.measures}
            | {f"score:{given.measure}": None for other in self.answers for given in other.scores}
            | {f"score:{given.measure}": given.mean for given in answer.scores}
            for answer in self.answers
        ]
        return pa.Table.from_pylist(rows)


@lru_cache(maxsize=16)
def scope(arena: Arena) -> Scope:
    """Return the filters that an arena offers, and its size.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    known = answer_values(arena)
    sql = "SELECT 1 FROM queries WHERE text IS NOT NULL LIMIT 1"

    def among(column: str, kind: Any) -> tuple[str, ...]:
        return tuple(value for value in get_args(kind) if value in known[column])

    return Scope(
        languages=tuple(sorted(known["language"])),
        systems=tuple(sorted(known["system"])),
        subsets=among("subset", schema.Subset),
        parsers=among("parser", schema.Parser),
        outcomes=among("outcome", schema.Outcome) if "outcomes" in arena.tables else (),
        queries=known["queries"],
        answers=known["answers"],
        answer_texts="answers" in arena.tables,
        query_texts="queries" in arena.tables and len(arena.sql(sql)) > 0,
    )


@lru_cache(maxsize=16)
def find_queries(arena: Arena, search: AnswerFilter) -> AnswerSelection:
    """Return the queries with a matching answer.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    chosen = {"system": search.systems, "outcome": search.outcomes}
    chosen["subset"] = (search.subset,) if search.subset else ()
    chosen["parser"] = (search.parser,) if "outcomes" in arena.tables else ()
    among: list[Collection[AnswerKey]] = []
    if search.cause:
        by_answer = causes.by_answer(arena, search.parser).items()
        among.append([key for key, entry in by_answer if (entry.cause or causes.UNDECIDED) == search.cause])
    if search.passage_language:
        among.append(_shown_in(arena, search.passage_language))
    if search.noted is not None:
        among.append(search.noted)
    found = find_answers(
        arena,
        chosen=chosen,
        languages=search.languages,
        text=search.text,
        among=[_key_table(keys) for keys in among],
    )
    keys = zip(found["language"].to_pylist(), found["query_id"].to_pylist(), strict=True)
    return AnswerSelection(tuple(keys), sum(found["answers"].to_pylist()))


def _key_table(keys: Collection[AnswerKey]) -> pa.Table:
    """Return keys of answers as a table."""
    import pyarrow as pa

    columns = list(zip(*keys, strict=True)) or [(), (), ()]
    names = ("language", "query_id", "system")
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)})


@lru_cache(maxsize=16)
def _shown_in(arena: Arena, code: str) -> frozenset[AnswerKey]:
    """Return the answers whose system was shown a passage in a language."""
    import pyarrow.compute as pc

    if "answers" not in arena.tables:
        return frozenset()
    names = ("answers", "passages", "retrieved")
    rows = shown_passages({name: arena.read(name) for name in names if name in arena.tables})
    rows = rows.filter(pc.equal(rows["passage_language"], code))
    return frozenset(zip(*(rows[name].to_pylist() for name in ("language", "query_id", "system")), strict=True))


@lru_cache(maxsize=256)
def items(arena: Arena, keys: tuple[Key, ...]) -> tuple[QueryItem, ...]:
    """Return the queries of one page of the list, in the given order."""
    by_key: dict[Key, dict[str, Any]] = {}
    if "queries" in arena.tables:
        rows = arena.sql(
            "SELECT language, query_id, subset, text FROM queries "
            "WHERE list_contains($languages, language) AND list_contains($ids, query_id)",
            {"languages": sorted({key[0] for key in keys}), "ids": [key[1] for key in keys]},
        )
        by_key = {(row["language"], row["query_id"]): row for row in rows.to_pylist()}
    return tuple(
        QueryItem(key, *((by_key[key]["subset"], by_key[key]["text"]) if key in by_key else (None, None)))
        for key in keys
    )


def query_of_link(arena: Arena, link: str, languages: Sequence[str] = ()) -> Key:
    """Return the query that a link names: `ar:771728#0`, or an id alone.

    Args:
        arena: the arena.
        link: value of the query parameter.
        languages: languages to search first for an id that occurs in several.

    Raises:
        UnknownName: if there is no such query; the message names the nearest.
    """
    return find_queries(arena, AnswerFilter(parser="".join(scope(arena).parsers[:1]))).resolve(link, languages)


@lru_cache(maxsize=64)
def has_formulas(arena: Arena) -> bool:
    """Return whether most answers of an arena repeat an English formula of their prompt, in whatever language the query
    is: the language of such an answer says nothing.
    """
    if "outcomes" not in arena.tables:
        return False
    sql = "SELECT avg(list_contains($rules, rule)::INT) AS share FROM outcomes WHERE parser = 'strict'"
    return (arena.sql(sql, {"rules": list(_FORMULAS)})["share"][0].as_py() or 0.0) > 0.5


@lru_cache(maxsize=256)
def query_view(arena: Arena, key: Key, parser: str) -> QueryView:
    """Read one query with its passages, all answers, and their outcomes, features and scores."""
    queries = of_query(arena, "queries", key)
    contexts = shown_with(arena, key)
    rows = {row["system"]: row for row in of_query(arena, "answers", key)}
    seen = {system: contexts.of(key, row.get("retriever"), row.get("depth")) for system, row in rows.items()}
    passages = merge_passages(key, [contexts.of(key, None, None), *seen.values()])
    decided = {row["system"]: row for row in of_query(arena, "outcomes", key) if row["parser"] == parser}
    caused = causes.of_query(arena, key, parser) if decided else {}
    measured: dict[str, list[FeatureValue]] = {}
    order = {name: position for position, name in enumerate(FEATURES)}
    # English is the target language of an English query, where the share of English has no worse end.
    left_out = OF_LANGUAGE if has_formulas(arena) else OF_LANGUAGE[1:] if key[0] == "en" else ()
    for row in sorted(of_query(arena, "features", key), key=lambda row: order.get(row["feature"], len(order))):
        if row["feature"] not in left_out:
            measured.setdefault(row["system"], []).append(_measure(row))
    given = _scores_by_system(of_query(arena, "scores", key))
    answers = [
        _answer_view(
            system,
            rows.get(system, {}),
            decided.get(system, {}),
            shown=tuple(passage_id for passage_id, *_ in seen.get(system, ())),
            measures=tuple(measured.get(system, ())),
            scores=given.get(system, ()),
            cause=caused.get(system),
        )
        for system in sorted(rows.keys() | decided.keys() | measured.keys() | given.keys())
    ]
    first = queries[0] if queries else {}
    subsets = [row["subset"] for row in decided.values()]
    return QueryView(
        key=key,
        subset=first.get("subset") or (subsets[0] if subsets else None),
        text=first.get("text"),
        reason=first.get("reason") or "the queries are not in this arena",
        passages=passages,
        turns=tuple(schema.Turn(**row) for row in of_query(arena, "turns", key)),
        tags=tuple(schema.Tag(**row) for row in of_query(arena, "tags", key)),
        reference=next((row["text"] for row in of_query(arena, "references", key)), None),
        documents={row["passage_id"]: schema.Document(**row) for row in of_query(arena, "documents", key)},
        answers=tuple(answers),
    )


def sample_view(arena: Arena, shown: QueryView, number: int, parser: str) -> QueryView:
    """Return a query with each system's answer replaced by one of its samples, where it exists.

    Samples have no features, scores or causes; their outcomes are computed here.

    Args:
        arena: the arena.
        shown: the query with the first answers, sample 0.
        number: number of the sample.
        parser: parser whose outcomes to show.
    """
    if number == 0:
        return shown
    import pyarrow as pa

    rows = [row for row in of_query(arena, "samples", shown.key) if row["sample"] == number]
    decided: dict[str, dict[str, Any]] = {}
    if rows and shown.subset and any(answer.outcome for answer in shown.answers):
        queries, samples = (
            pa.Table.from_pylist(part, schema.arrow_schema(name))
            for name, part in (("queries", of_query(arena, "queries", shown.key)), ("samples", rows))
        )
        found = outcomes(queries, samples).to_pylist()
        decided = {row["system"]: row for row in found if row["parser"] == parser}
    by_system = {row["system"]: row for row in rows}
    absent = {"status": "missing", "reason": f"no sample {number}"}
    answers = []
    for first in shown.answers:
        row, outcome = by_system.get(first.system, absent), decided.get(first.system, {})
        answers.append(_answer_view(first.system, row | {"retriever": first.retriever}, outcome, shown=first.shown))
    return replace(shown, answers=tuple(answers))


def _answer_view(
    system: str,
    row: Mapping[str, Any],
    outcome: Mapping[str, Any],
    *,
    shown: tuple[str, ...],
    measures: tuple[FeatureValue, ...] = (),
    scores: tuple[MeasureScores, ...] = (),
    cause: Attribution | None = None,
) -> AnswerView:
    """Return a system's answer from its row of `answers` or `samples` and its outcome, each empty if there is none."""
    text, rule = row.get("text"), outcome.get("rule", "")
    start, end = outcome.get("span_start"), outcome.get("span_end")
    numbered = is_numbered(row.get("template"), row.get("numbered"))
    return AnswerView(
        system=system,
        text=text,
        status=row.get("status"),
        reason=row.get("reason"),
        outcome=outcome.get("outcome"),
        rule=rule,
        rule_meaning=RULES.get(rule, ""),
        span=None if start is None or end is None else (start, end),
        correct=outcome.get("correct"),
        citations=citations(text[:SHOWN], shown, numbered=numbered) if text and shown else (),
        measures=measures,
        scores=scores,
        retriever=row.get("retriever"),
        shown=shown,
        cause=cause,
    )


def best_first(arena: Arena, query: QueryView) -> list[str]:
    """Return the systems that answered a query, best first: correct decisions before others, then by their mean points
    in the query's battles by the arena's first judge, then by name.
    """
    won: dict[str, list[float]] = {}
    for name in verdict_judges(arena)[:1]:
        rows = [row for row in judgments_on(arena, query.key) if row.judge == name]
        for battle, decision in decisions(schema.from_rows("judgments", rows)).get(name, {}).items():
            won.setdefault(battle.first, []).append(decision.points)
            won.setdefault(battle.second, []).append(1 - decision.points)
    share = {system: sum(points) / len(points) for system, points in won.items()}
    order = sorted(
        query.answers,
        key=lambda answer: (
            {True: 0, None: 1, False: 2}[answer.correct],
            -share.get(answer.system, 0.0),
            answer.system,
        ),
    )
    return [answer.system for answer in order]


def order_text(arena: Arena, query: QueryView) -> str:
    """Return what the answers to a query are ordered by (`best_first`), in a sentence."""
    by = ["correct decisions"] if any(answer.correct is not None for answer in query.answers) else []
    by += [f"wins by {judge}" for judge in verdict_judges(arena)[:1]]
    return f"Order: {', then '.join([*by, 'name'])}."


def of_systems(query: QueryView, systems: Collection[str]) -> QueryView:
    """Return a query with only the passages these systems were shown, if any of them had a retriever."""
    chosen = [answer for answer in query.answers if answer.system in systems]
    if not any(answer.retriever for answer in chosen):
        return query
    ids = {passage_id for answer in chosen for passage_id in answer.shown}
    return replace(query, passages=tuple(passage for passage in query.passages if passage.passage_id in ids))


def _scores_by_system(rows: Iterable[dict[str, Any]]) -> dict[str, tuple[MeasureScores, ...]]:
    """Group the scores of a query, sorted by key, by system and measure."""
    by_measure: dict[tuple[str, bool, str], list[schema.Score]] = {}
    for score in (schema.Score(**row) for row in rows):
        by_measure.setdefault((score.system, not score.person, score.measure), []).append(score)
    by_system: dict[str, list[MeasureScores]] = {}
    for (system, program, measure), scores in sorted(by_measure.items()):
        by_system.setdefault(system, []).append(MeasureScores(measure, not program, tuple(scores)))
    return {system: tuple(scores) for system, scores in by_system.items()}


def matches(query: QueryView, search: AnswerFilter) -> frozenset[str]:
    """Return the systems whose answer to a query matches, as in `find_queries`."""
    text = _fold(search.text)
    in_query = text in _fold(query.text or "")
    return frozenset(
        answer.system
        for answer in query.answers
        if (not search.systems or answer.system in search.systems)
        and (not search.outcomes or answer.outcome in search.outcomes)
        and (search.noted is None or (*query.key, answer.system) in search.noted)
        and (
            not search.passage_language
            or any(
                p.passage_language == search.passage_language for p in query.passages if p.passage_id in answer.shown
            )
        )
        and (in_query or text in _fold(answer.text or ""))
    )


def _fold(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text).lower()


def _in_present_words(reason: str | None) -> str | None:
    """Return the reason stored with a feature, worded for the page."""
    return reason and reason.replace("no reply (", "no answer (").replace("empty reply", "empty answer")


def _measure(row: dict[str, Any]) -> FeatureValue:
    spec = FEATURES.get(row["feature"])
    return FeatureValue(
        name=row["feature"],
        title=spec.title if spec else row["feature"],
        meaning=spec.meaning if spec else "",
        unit=spec.unit if spec else "",
        value=row["value"],
        reason=_in_present_words(row["reason"]),
    )


@lru_cache(maxsize=256)
def judgments_on(arena: Arena, key: tuple[str, str]) -> tuple[schema.Judgment, ...]:
    """Return all verdicts on the answers to a query, by judge, with the two orders of a pair adjacent.

    Args:
        arena: the arena.
        key: language and id of the query.

    Raises:
        TableMissing: if the arena has no judgments.
    """
    arena.need("judgments")
    rows = [schema.Judgment(**row) for row in of_query(arena, "judgments", key)]
    return tuple(
        sorted(
            rows,
            key=lambda judgment: (judgment.judge, *sorted((judgment.system_a, judgment.system_b)), judgment.system_a),
        )
    )
