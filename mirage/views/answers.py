"""What the Answers page shows: which questions match, and one question with its passages and all replies.

A search keeps keys alone; texts are read for the questions that are shown. Answers are kept by arena, whose hash is
that of its manifest: a page that runs again asks nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

from mirage import schema
from mirage.answers import Citation, citations, is_numbered
from mirage.features import FEATURES
from mirage.outcomes.parsed import RULES
from mirage.store.question import of_question
from mirage.store.search import places
from mirage.views.keys import Key, Keys
from mirage.views.replies import arena_replies as replies_of
from mirage.views.replies import base

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from mirage.store import Arena

SHOWN = 20_000
"""Characters of a text that a page shows; a browser stands still over millions."""


@dataclass(frozen=True)
class Scope:
    """What an arena offers to filter by, and how much it holds."""

    languages: tuple[str, ...]
    systems: tuple[str, ...]
    subsets: tuple[str, ...]
    """Subsets that occur; none where the questions are not split."""
    parsers: tuple[str, ...]
    """Parsers whose outcomes are there; none without outcomes."""
    outcomes: tuple[str, ...]
    """Outcomes that occur by any of them."""
    queries: int
    """Questions."""
    replies: int
    """Replies that are there, by questions and systems."""
    reply_texts: bool
    """Whether the replies' texts are there."""
    question_texts: bool
    """Whether the text of any question is there."""

    @property
    def texts(self) -> bool:
        """Whether there is any text to search in."""
        return self.reply_texts or self.question_texts


@dataclass(frozen=True)
class AnswerFilter:
    """Which replies are looked for. A question matches if one of its replies does."""

    languages: tuple[str, ...] = ()
    """Codes; all if empty."""
    subset: str = ""
    """Subset of the question; any if empty."""
    systems: tuple[str, ...] = ()
    """All if empty."""
    outcomes: tuple[str, ...] = ()
    """Any if empty."""
    parser: str = "strict"
    """Whose outcomes."""
    text: str = ""
    """What the question or the reply contains, in either case; anything if empty."""

    @property
    def narrowed(self) -> bool:
        """Whether it asks for some replies of a question and not for others."""
        return bool(self.systems or self.outcomes or self.text)


@dataclass(frozen=True, eq=False)
class AnswerSelection(Keys):
    """The questions that match."""

    replies: int
    """Replies that match."""


@dataclass(frozen=True)
class QuestionItem:
    """A question in the list."""

    key: Key
    subset: str | None
    text: str | None
    """The question; null where it was not published or is not bundled."""


@dataclass(frozen=True)
class FeatureValue:
    """One feature of one reply."""

    name: str
    title: str
    meaning: str
    unit: str
    value: float | None
    reason: str | None
    """Why there is no value."""


@dataclass(frozen=True)
class AnswerView:
    """What one system replied, and what is known of it."""

    system: str
    text: str | None
    status: str | None
    """As in `schema.Answer`; null where the replies are not in the arena."""
    reason: str | None
    """What went wrong, where more is known of it than the status says."""
    outcome: str | None
    """Null where the arena has no outcomes."""
    rule: str
    """Name of the rule that decided."""
    rule_meaning: str
    """What the rule says of the reply."""
    span: tuple[int, int] | None
    """The text that decided, in characters of the reply."""
    correct: bool | None
    """Whether the outcome is right for the subset; null when undecided."""
    citations: tuple[Citation, ...]
    measures: tuple[FeatureValue, ...]


@dataclass(frozen=True, eq=False)
class QuestionView:
    """One question with all that belongs to it."""

    key: Key
    subset: str | None
    text: str | None
    reason: str
    """Why there is no text."""
    passages: tuple[schema.Passage, ...]
    """In the order of the prompt; none where the passages are not in the arena."""
    replies: tuple[AnswerView, ...]
    """By the name of the system."""

    def table(self) -> pa.Table:
        """The replies as rows, with the question, the outcome and one column for each feature."""
        import pyarrow as pa

        facts = ("system", "text", "status", "reason", "outcome", "rule", "correct")
        rows = [
            {"language": self.key[0], "query_id": self.key[1], "subset": self.subset, "question": self.text}
            | {fact: getattr(reply, fact) for fact in facts}
            | dict(zip(("span_start", "span_end"), reply.span or (None, None), strict=True))
            | dict.fromkeys(measure.name for other in self.replies for measure in other.measures)
            | {measure.name: measure.value for measure in reply.measures}
            for reply in self.replies
        ]
        return pa.Table.from_pylist(rows)


@lru_cache(maxsize=16)
def scope(arena: Arena) -> Scope:
    """What can be filtered, and how much there is.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    row = arena.sql(
        f"WITH base AS ({base(arena)}) SELECT count(DISTINCT (language, query_id)) AS queries, "  # noqa: S608  # constants
        "count(DISTINCT (language, query_id, system)) FILTER (outcome IS DISTINCT FROM 'missing') AS replies, "
        "list_sort(list(DISTINCT language)) AS languages, list_sort(list(DISTINCT system)) AS systems, "
        "list(DISTINCT subset) AS subsets, list(DISTINCT parser) AS parsers, list(DISTINCT outcome) AS outcomes "
        "FROM base"
    ).to_pylist()[0]
    texts = "queries" in arena.tables and arena.sql("SELECT count(text) AS n FROM queries")["n"][0].as_py() > 0

    def among(column: str, kind: Any) -> tuple[str, ...]:
        return tuple(value for value in get_args(kind) if value in (row[column] or ()))

    has_outcomes = "outcomes" in arena.tables
    return Scope(
        languages=tuple(row["languages"] or ()),
        systems=tuple(row["systems"] or ()),
        subsets=among("subsets", schema.Subset),
        parsers=among("parsers", schema.Parser),
        outcomes=among("outcomes", schema.Outcome) if has_outcomes else (),
        queries=row["queries"],
        replies=row["replies"],
        reply_texts="answers" in arena.tables,
        question_texts=texts,
    )


@lru_cache(maxsize=16)
def find_questions(arena: Arena, search: AnswerFilter) -> AnswerSelection:
    """The questions with a reply that matches.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    import numpy as np

    arena_replies = replies_of(arena)
    mask = np.ones(len(arena_replies.question), dtype=bool)
    for column, chosen in (
        ("parser", (search.parser,) if "outcomes" in arena.tables else ()),
        ("language", search.languages),
        ("system", search.systems),
        ("outcome", search.outcomes),
        ("subset", (search.subset,) if search.subset else ()),
    ):
        if chosen:
            mask &= arena_replies.among(column, chosen)
    if search.text:
        mask &= _holding(arena, search)
    return AnswerSelection(*arena_replies.questions_of(mask))


def _holding(arena: Arena, search: AnswerFilter) -> NDArray[np.bool_]:
    """Which replies contain the text that is looked for, or answer a question that does."""
    import numpy as np

    arena_replies = replies_of(arena)
    # One more for a reply without a place among the answers, which -1 finds.
    answers = np.zeros(arena.rows("answers") + 1, dtype=bool)
    if "answers" in arena.tables:
        answers[places(arena, search.text, languages=search.languages)] = True
    return np.asarray(answers[arena_replies.place] | _asking(arena, search.text)[arena_replies.question])


@lru_cache(maxsize=64)
def _asking(arena: Arena, text: str) -> NDArray[np.bool_]:
    """Which questions contain a text, in any language."""
    import numpy as np

    questions = replies_of(arena).questions
    mask = np.zeros(len(questions.keys), dtype=bool)
    if "queries" in arena.tables:
        holds = "contains(lower(nfc_normalize(text)), lower(nfc_normalize($text)))"
        sql = f"SELECT language, query_id FROM queries WHERE {holds}"  # noqa: S608  # constants alone
        rows = arena.sql(sql, {"text": text})
        for key in zip(rows["language"].to_pylist(), rows["query_id"].to_pylist(), strict=True):
            if (position := questions.place(key)) is not None:
                mask[position] = True
    return mask


@lru_cache(maxsize=256)
def items(arena: Arena, keys: tuple[Key, ...]) -> tuple[QuestionItem, ...]:
    """The questions of a page of the list, in the order given."""
    by_key: dict[Key, dict[str, Any]] = {}
    if "queries" in arena.tables:
        rows = arena.sql(
            "SELECT language, query_id, subset, text FROM queries "
            "WHERE list_contains($languages, language) AND list_contains($ids, query_id)",
            {"languages": sorted({key[0] for key in keys}), "ids": [key[1] for key in keys]},
        )
        by_key = {(row["language"], row["query_id"]): row for row in rows.to_pylist()}
    return tuple(
        QuestionItem(key, *((by_key[key]["subset"], by_key[key]["text"]) if key in by_key else (None, None)))
        for key in keys
    )


def question_of_link(arena: Arena, link: str, languages: Sequence[str] = ()) -> Key:
    """The question that a link means: `ar:771728#0`, or an id alone.

    Args:
        arena: the arena.
        link: what stands in the link.
        languages: where to look first for an id that several languages have.

    Raises:
        UnknownName: if there is no such question; the message names the nearest.
    """
    return find_questions(arena, AnswerFilter(parser="".join(scope(arena).parsers[:1]))).resolve(link, languages)


@lru_cache(maxsize=256)
def question_view(arena: Arena, key: Key, parser: str) -> QuestionView:
    """One question with its passages, all replies, and what is known of each."""
    queries = of_question(arena, "queries", key)
    passages = tuple(
        sorted(
            (schema.Passage(**row) for row in of_question(arena, "passages", key)), key=lambda passage: passage.position
        )
    )
    answers = {row["system"]: row for row in of_question(arena, "answers", key)}
    decided = {row["system"]: row for row in of_question(arena, "outcomes", key) if row["parser"] == parser}
    measured: dict[str, list[FeatureValue]] = {}
    order = {name: position for position, name in enumerate(FEATURES)}
    for row in sorted(of_question(arena, "features", key), key=lambda row: order.get(row["feature"], len(order))):
        measured.setdefault(row["system"], []).append(_measure(row))
    ids = [passage.passage_id for passage in passages]
    replies = []
    for system in sorted(answers.keys() | decided.keys() | measured.keys()):
        text, outcome = answers.get(system, {}).get("text"), decided.get(system, {})
        numbered = is_numbered(*(answers.get(system, {}).get(name) for name in ("template", "numbered")))
        start, end = outcome.get("span_start"), outcome.get("span_end")
        replies.append(
            AnswerView(
                system=system,
                text=text,
                status=answers.get(system, {}).get("status"),
                reason=answers.get(system, {}).get("reason"),
                outcome=outcome.get("outcome"),
                rule=outcome.get("rule", ""),
                rule_meaning=RULES.get(outcome.get("rule", ""), ""),
                span=None if start is None or end is None else (start, end),
                correct=outcome.get("correct"),
                citations=citations(text[:SHOWN], ids, numbered=numbered) if text and ids else (),
                measures=tuple(measured.get(system, ())),
            )
        )
    first = queries[0] if queries else {}
    subsets = [row["subset"] for row in decided.values()]
    return QuestionView(
        key=key,
        subset=first.get("subset") or (subsets[0] if subsets else None),
        text=first.get("text"),
        reason=first.get("reason") or "the questions are not in this arena",
        passages=passages,
        replies=tuple(replies),
    )


def matches(question: QuestionView, search: AnswerFilter) -> frozenset[str]:
    """The systems whose reply to a question is among those looked for, as `find_questions` finds them."""
    text = _fold(search.text)
    in_question = text in _fold(question.text or "")
    return frozenset(
        reply.system
        for reply in question.replies
        if (not search.systems or reply.system in search.systems)
        and (not search.outcomes or reply.outcome in search.outcomes)
        and (in_question or text in _fold(reply.text or ""))
    )


def _fold(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text).lower()


def _measure(row: dict[str, Any]) -> FeatureValue:
    spec = FEATURES.get(row["feature"])
    return FeatureValue(
        name=row["feature"],
        title=spec.title if spec else row["feature"],
        meaning=spec.meaning if spec else "",
        unit=spec.unit if spec else "",
        value=row["value"],
        reason=row["reason"],
    )
