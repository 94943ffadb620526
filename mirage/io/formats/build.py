"""The builder, which collects what records of any format hold, and the definition of a format.

Ids are derived from content if a source has none. Queries and passages are shared by the systems. The order of records
does not affect the tables: positions and languages, which depend on all records, are determined at the end.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, get_args

from mirage import schema
from mirage.battles.decision import verdict_of_points
from mirage.battles.judge import RESERVED
from mirage.errors import BadInput, UnknownName
from mirage.io.formats import shapes
from mirage.io.formats.answerability import says_answerable
from mirage.io.formats.spec import (
    GivenAnswer,
    GivenAssignment,
    GivenNugget,
    GivenRanking,
    GivenScore,
    GivenVerdict,
    Item,
    QueryKey,
    Record,
    Sample,
    ShownPassage,
    Value,
)
from mirage.io.values import MOST_REPEATS, refuse_weights
from mirage.text.answers import citations, cites_by_number, is_numbered
from mirage.text.content import as_json, clean_text, content_id, passage_digest, whole
from mirage.text.data import load_words
from mirage.text.failures import failure
from mirage.text.languages import known_code
from mirage.text.languages import language as language_of
from mirage.text.names import Names, need_visible, normalise_name
from mirage.text.thoughts import store_answer

UNKNOWN = "?"
"""Prefix of an unknown language, which is determined after the last record."""
_FITTING = {
    "no text": ("missing", "refused", "api_error"),
    "an empty text": ("empty", "truncated"),
    "a text": ("ok", "truncated", "refused", "api_error"),
}
"""Statuses of an answer by its text; the first if the source gives none."""
_LISTS = 4096
"""Number of cached lists of passages, which systems mostly share."""
Further = Literal["refused", "runs", "texts"]
"""Rule for further answers of a system to a query. `refused`: a different one is an error. `runs`: each is another
sample. `texts`: another sample if its text differs, since records may repeat an answer.
"""
Given = GivenAnswer | GivenVerdict | GivenScore | GivenNugget | GivenAssignment | GivenRanking
"""A row of a table, without language and query_id."""
Placed = tuple[Any, str]
"""A passage or a row, and its location."""
_TABLES: dict[type[Any], tuple[str, str]] = {
    GivenAnswer: ("samples", "answers of {0.system} as sample {0.sample}"),
    GivenVerdict: ("judgments", "verdicts of {0.judge} on {0.system_a} and {0.system_b}"),
    GivenScore: ("scores", "scores of {0.rater} for {0.measure} of {0.system}"),
    GivenNugget: ("nuggets", "nuggets {0.nugget_id}"),
    GivenAssignment: ("nugget_assignments", "assignments of nugget {0.nugget_id} to {0.system} by {0.assigner}"),
    GivenRanking: ("retrieved", "runs of {0.retriever}"),
}
"""Table of the rows of a class, and what two rows of one key are called."""
_KEYS = {cls: schema.key(table)[2:] for cls, (table, _) in _TABLES.items()} | {GivenRanking: ("retriever",)}
"""Key of the rows of a class within a query."""
_KINDS = {"system_a": "system", "system_b": "system"} | {
    name: name for name in ("system", "judge", "measure", "rater", "assigner", "author", "voter", "retriever")
}
"""Kind of name by field, for errors."""
_NAMED = {cls: [name for name in _KINDS if name in cls.__annotations__] for cls in _TABLES}
_AGREED = {"text": "text", "subset": "subset", "reference": "reference answer", "turns": "conversation"}
"""Facts on a query that records may repeat, but not contradict, with their nouns."""
_OF_PASSAGE = {
    "text": "texts of passage {}",
    "relevant": "values of label of a passage",
    "language": "values of language of a passage",
} | dict.fromkeys(("title", "url", "metadata"), "")
"""Facts on a passage, with the nouns of those that records may not contradict."""


class TwoAnswers(BadInput):
    """Two records with different answers of one system to one query, or different scores of one answer.

    Args:
        error: the error.
        places: locations of the records.
    """

    def __init__(self, error: BadInput, places: tuple[str, str]) -> None:
        super().__init__(error.what, where=error.where, do=error.do)
        self.places = places


@dataclass(slots=True)
class QuerySeen:
    """A query while reading."""

    language: str
    query_id: str
    where: str
    text: str | None = None
    subset: str | None = None
    stated: set[bool] = field(default_factory=set)
    """Answerability by its fields; records that contradict each other may refer to their answers instead."""
    reference: str | None = None
    turns: tuple[tuple[str, str], ...] = ()
    tags: set[tuple[str, str]] = field(default_factory=set)
    passages: dict[str, Placed] = field(default_factory=dict)
    orders: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Orders in which its passages were shown, each with the first system by name; the empty text if unknown."""
    answers: dict[str, Placed] = field(default_factory=dict)
    """By system."""
    rows: dict[tuple[Any, ...], Placed] = field(default_factory=dict)
    """Rows of further tables, by table and the key within the query."""

    def agree(self, name: str, value: Any, where: str) -> bool:
        """Set a fact; return whether it is new.

        Raises:
            BadInput: if there is another value.
        """
        if not value or (before := getattr(self, name)) == value:
            return False
        if before:
            raise self.conflict(f"values of {_AGREED[name]}", self.where, where)
        setattr(self, name, value)
        return True

    def put(self, key: tuple[Any, ...], row: Given, where: str) -> bool:
        """Add a row, and return whether it is new; a repeated one must be equal."""
        seen, before = self.rows.setdefault(key, (row, where))
        if seen != row:
            raise self.conflict(_TABLES[type(row)][1].format(row), before, where)
        return before == where

    def put_passage(self, passage_id: str, new: ShownPassage, where: str) -> bool:
        """Add a passage, or facts on it, and return whether any is new.

        Of several titles, addresses and metadata the alphabetically first is kept.
        """
        old, before = self.passages.setdefault(passage_id, (new, where))
        if old is new or old == new:
            return old is new
        facts: dict[str, Any] = {}
        for name, both in {name: (getattr(old, name), getattr(new, name)) for name in _OF_PASSAGE}.items():
            values = {value for value in both if value is not None}
            if len(values) > 1 and (noun := _OF_PASSAGE[name]):
                raise self.conflict(noun.format(passage_id), before, where)
            facts[name] = min(values, default=None)
        # Passages that one source gives as seen by a system are not a pool.
        merged = replace(old, pooled=old.pooled and new.pooled, **facts)
        self.passages[passage_id] = merged, where if old.text is None and new.text else before
        return bool(merged != old)

    def put_answer(self, answer: GivenAnswer, where: str) -> bool:
        """Add the answer of a system; return whether it adds to what is known."""
        seen, before = self.answers.get(answer.system, (None, ""))
        ids = tuple(answer.shown)
        if seen is None:
            self.answers[answer.system] = answer, where
        elif (seen.text, seen.status, seen.thoughts) != (answer.text, answer.status, answer.thoughts):
            raise TwoAnswers(self.conflict(f"answers of {answer.system}", before, where), (before, where))
        elif ids == seen.shown:
            return False
        else:
            # One row a passage: the answer repeats, and each row adds what it was shown.
            for order in (seen.shown, ids):
                if self.orders.get(order) in ("", answer.system):
                    self.orders.pop(order)
            ids = tuple(dict.fromkeys((*seen.shown, *ids)))
            self.answers[answer.system] = replace(seen, shown=ids), before
        if ids:
            self.orders[ids] = min(self.orders.get(ids) or answer.system, answer.system)
        return True

    def merge(self, other: QuerySeen) -> None:
        """Add what records say that name the query with or without its language.

        Raises:
            BadInput: if the two contradict each other.
        """
        for name in _AGREED:
            self.agree(name, getattr(other, name), other.where)
        self.tags |= other.tags
        self.stated |= other.stated
        for passage_id, placed in other.passages.items():
            self.put_passage(passage_id, *placed)
        for order, system in other.orders.items():
            self.orders[order] = min(filter(None, (self.orders.get(order), system)), default="")
        for answer, where in other.answers.values():
            self.put_answer(answer, where)
        for key, placed in other.rows.items():
            self.put(key, *placed)

    def conflict(self, what: str, before: str, where: str) -> BadInput:
        """Return the error for two records that contradict each other."""
        return BadInput(
            f"query {self.query_id} has two different {what}",
            where=f"{before} and {where}",
            do="keep one, or use separate ids for the two queries",
        )


class Builder:
    """Collects the content of records by query; `finish.finish_tables` builds tables from it.

    `take` raises BadInput with the record's location. Repetitions are merged; contradictory values of one key are an
    error.
    """

    def __init__(self) -> None:
        self.queries: dict[QueryKey, QuerySeen] = {}
        self.errors: list[BadInput] = []
        """Errors of records, and of their parts."""
        self.guesses: dict[str, str] = {}
        """Reason of each assumption, by its name."""
        self.omitted: Counter[tuple[str, str]] = Counter()
        """Number of values left out, by kind and reason."""
        self.counts: Counter[str] = Counter()
        """Counts of the events in the summary."""
        self.seen: set[str] = set()
        """Locations of the records."""
        self.fresh: set[str] = set()
        """Locations of records that added something."""
        self.unnamed: set[str] = set()
        """Locations of records without an id of the query."""
        self.folded: dict[str, str] = {}
        """Codes of a language that is under another code in the tables, with that code."""
        self._scores: dict[tuple[str, ...], dict[int, GivenScore]] = {}
        self.texts: set[str] = set()
        """Fields with a value that is not a number."""
        self._names = Names()
        self._numbers: dict[str, dict[str, int]] = {}
        self._verdicts: Counter[tuple[str, ...]] = Counter()
        self._lists: dict[tuple[int, int], tuple[Sequence[ShownPassage], tuple[str, ...]]] = {}

    def refuse(self, error: BadInput) -> None:
        """Add an error, without its traceback, which keeps the record and all that was read with it."""
        self.errors.append(error.with_traceback(None))

    def note_guess(self, what: str, why: str) -> None:
        """Add an inference to the summary, once per text: `ties`, "`tie (bothbad)` is taken for a tie"."""
        self.guesses.setdefault(what, why)

    def left_out(self, what: str, why: str, n: int = 1) -> None:
        """Count ignored content of the file in the summary."""
        self.omitted[what, why] += n

    def count_repeats(self, key: tuple[str, ...]) -> int:
        """Return how many records before had this key of a verdict, and count a repeat."""
        before = self._verdicts[key]
        self._verdicts[key] += 1
        self.counts["repeat"] += before > 0
        return before

    def number(self, name: str, value: str) -> int:
        """Return the number of a value among the different ones of a name in the file, from 1."""
        known = self._numbers.setdefault(name, {})
        return known.setdefault(value, len(known) + 1)

    def take(self, item: Item, further: Further) -> None:
        """Add an item; scores of samples are averaged, and verdicts on other than the first answers left out.

        A null language is detected from the query's text; a null id is derived from content. A null text with an id
        refers to a query of another record or of the arena.
        """
        where = item.where
        entry = self._query(item, where)
        shown = self._passages(entry, item.passages, where) if item.passages else ()
        runs: dict[str, list[GivenAnswer]] = {}
        for given in item.answers:
            if given.numbered is None:
                given.numbered = _is_numbered(given, item.passages)
            answer = self._answer(given, shown, where)
            runs.setdefault("" if further == "refused" else answer.system, []).append(answer)
        firsts = [self._add_runs(entry, of_system, further, where) for of_system in runs.values()]
        numbers = {answer.system: answer.sample for answer in item.answers} if further == "refused" else {}
        for row in item.scores:
            self._put_score(entry, row, where, numbers.get(row.system, 0) if further == "refused" else None)
        if not all(firsts):
            if item.verdicts:
                why = "they are on another answer than the one that is taken"
                self.left_out("verdicts on further answers", why, len(item.verdicts))
            return
        for verdict in item.verdicts:
            self._put(entry, _verdict(verdict, where), where)
        for nugget in item.nuggets:
            self._put(entry, _nugget(nugget, where), where)
        for assignment in item.assignments:
            self._put(entry, _assignment(assignment, where), where)
        for ranking in item.rankings:
            passages = [(self._passage(passage, where), score) for passage, score in ranking.passages]
            self._put(entry, replace(ranking, passages=passages), where)

    def _query(self, item: Item, where: str) -> QuerySeen:
        """Add a query with its facts."""
        text = clean_text(item.text, "the query", where)
        query_id = item.query_id and normalise_name(item.query_id)
        if not query_id:
            if text is None:
                raise BadInput("there is neither a query nor its id", where=where, do="map a field: --map THEIRS=id")
            query_id = content_id(text, *(part for turn in item.turns for part in turn))
            self.unnamed.add(where)
        if item.language and (language := item.language.strip()):
            code = _code(language, where)
        else:
            code = UNKNOWN + (content_id(text) if text else "")
        entry = self.queries.get((code, query_id))
        if entry is None:
            whole(query_id, "the id of the query", where)
            self._names.check(query_id, "id", where, code)
            entry = self.queries[code, query_id] = QuerySeen(code, query_id, where)
            self.fresh.add(where)
        self.seen.add(where)
        if item.subset is not None:
            _check_choice("subset", item.subset, schema.Subset, where)
        fresh = entry.agree("text", text, where)
        if fresh:
            entry.where = where
        fresh |= entry.agree("subset", item.subset, where)
        if item.answerable is not None:
            fresh |= item.answerable not in entry.stated
            entry.stated.add(item.answerable)
        fresh |= entry.agree("reference", clean_text(item.reference, "the reference answer", where), where)
        if item.turns:
            for part in itertools.chain(*item.turns):
                whole(part, "a turn", where)
            fresh |= entry.agree("turns", tuple((str(who), str(said)) for who, said in item.turns), where)
        tags = _tags(item.tags) if item.tags else set()
        if fresh or not tags <= entry.tags:
            self.fresh.add(where)
            entry.tags |= tags
        return entry

    def _passages(self, entry: QuerySeen, passages: Sequence[ShownPassage], where: str) -> tuple[str, ...]:
        """Add the passages shown with a query, in order; return their ids. Systems shown others add theirs."""
        # A format may give one list of passages to several items.
        cached = self._lists.get((id(entry), id(passages)))
        if cached is not None:
            return cached[1]
        order: list[str] = []
        for given in passages:
            passage = self._passage(given, where)
            order.append(str(passage.passage_id))
            if entry.put_passage(order[-1], passage, where):
                self.fresh.add(where)
        if unnamed := sum(not passage.passage_id for passage in passages):
            self.counts["passage_id"] += unnamed
        ids = tuple(order)
        if ids and ids not in entry.orders:
            entry.orders[ids] = ""
            self.fresh.add(where)
        if len(self._lists) == _LISTS:
            self._lists.clear()
        self._lists[id(entry), id(passages)] = passages, ids
        return ids

    def _passage(self, given: ShownPassage, where: str) -> ShownPassage:
        """Return a passage with normalised texts, and its id derived from these if it has none."""
        text = clean_text(given.text, "a passage", where)
        title = clean_text(given.title, "a title", where) if given.title else None
        passage_id = given.passage_id and normalise_name(given.passage_id)
        if passage_id:
            whole(passage_id, "the id of a passage", where)
            need_visible(passage_id, "the id of a passage", where)
        elif text is None:
            raise BadInput("there is neither a passage nor its id", where=where)
        else:
            passage_id = passage_digest(text, title)[1]
        metadata = given.metadata if isinstance(given.metadata, str) else as_json(given.metadata)
        code = known_code(given.language)
        return ShownPassage(text, passage_id, title, given.relevant, given.url, metadata, given.pooled, code)

    def _answer(self, given: GivenAnswer, shown: tuple[str, ...], where: str) -> GivenAnswer:
        """Complete an answer: with its thoughts separated, its status, and what its system was shown."""
        if given.text is not None:
            whole(given.text, "the answer", where)
        if given.text and given.status is None and (failed := failure(given.text)):
            given.text, (given.status, given.reason) = None, failed
        parted = store_answer(given.text, given.status, given.reason, given.thoughts)
        # CSV writes no text as an empty one.
        text = parted.text if parted.status not in _FITTING["no text"] or (parted.text or "").strip() else None
        if parted.thoughts is not None:
            whole(parted.thoughts, "the thoughts", where)
        given.text, given.status, given.shown = text, _status(parted.status, text, where), shown
        given.reason, given.thoughts = parted.reason, parted.thoughts
        answer: GivenAnswer = self._normalise_names(given, where)
        return answer

    def _add_runs(self, entry: QuerySeen, runs: Sequence[GivenAnswer], further: Further, where: str) -> bool:
        """Add answers of one record, in order; return whether the first of them is its system's first answer.

        A system's first answer to a query is its answer; later ones are its samples, under the number of the answer
        unless that is taken. A record that repeats the answer of an earlier record adds nothing.
        """
        if further == "refused":
            for answer in runs:
                self._put_answer(entry, answer, answer.sample, where)
            return True
        answer = runs[0]
        first, _ = entry.answers.get(answer.system, (None, ""))
        if first is None:
            for number, run in enumerate(runs[: MOST_REPEATS + 1]):
                self._put_answer(entry, run, number, where)
            return True
        if further != "runs" and (first.text, first.status) == (answer.text, answer.status):
            self._put_answer(entry, answer, 0, where)
            return True
        samples = {key[2]: run for key, (run, _) in entry.rows.items() if key[:2] == ("samples", answer.system)}
        number = answer.sample
        if not number or number in samples:
            number = next(n for n in itertools.count(1) if n not in samples)
        if number > MOST_REPEATS:
            self.left_out("further answers", f"a system has at most {MOST_REPEATS:,} samples of a query")
        elif further == "runs" or all(run.text != answer.text for run in samples.values()):
            self._put_answer(entry, answer, number, where)
        return False

    def _put_answer(self, entry: QuerySeen, answer: GivenAnswer, number: int, where: str) -> None:
        """Add an answer of a system, or its sample of a number from 1."""
        if number:
            self._put(entry, replace(answer, sample=number), where)
        elif entry.put_answer(replace(answer, sample=0) if answer.sample else answer, where):
            self.counts["folded"] += entry.answers[answer.system][1] != where
            self.fresh.add(where)

    def _put_score(self, entry: QuerySeen, given: GivenScore, where: str, sample: int | None) -> None:
        """Add a score; an answer's score is the mean over its samples, which count without a number one by one."""
        row = self._normalise_names(given, where)
        row = replace(row, reason=None if row.value is not None else row.reason or "the file has no number here")
        key = "scores", row.system, row.measure, row.rater
        known = self._scores.setdefault((entry.language, entry.query_id, *key), {})
        number = len(known) if sample is None else sample
        if known.setdefault(number, row) is not row:
            if known[number] != row:
                before = entry.rows[key][1]
                raise TwoAnswers(entry.conflict(_TABLES[GivenScore][1].format(row), before, where), (before, where))
            return
        self.fresh.add(where)
        self.counts["averaged"] += len(known) > 1
        values = [score.value for score in known.values() if score.value is not None]
        mean = replace(row, value=fmean(values), reason=None) if values else row
        entry.rows[key] = mean, entry.rows[key][1] if key in entry.rows else where

    def _put(self, entry: QuerySeen, given: Given, where: str) -> None:
        """Add a row of a table."""
        row = self._normalise_names(given, where)
        key = _TABLES[type(row)][0], *(getattr(row, name) for name in _KEYS[type(row)])
        if entry.put(key, row, where):
            self.fresh.add(where)

    def _normalise_names(self, given: Any, where: str) -> Any:
        """Return a row with normalised names that are not confused with others of their kind."""
        changed = {}
        for field_name in _NAMED[type(given)]:
            name, kind = getattr(given, field_name), _KINDS[field_name]
            if name is None and kind in ("voter", "retriever"):
                continue
            new = normalise_name(name) if isinstance(name, str) else name
            if not new or not isinstance(new, str):
                raise BadInput(f"{kind} is {new!r}, not a name", where=where, do=f"set it: --set {kind}=NAME")
            if not new.isascii():
                whole(new, kind, where)
            if kind == "judge" and new in RESERVED:
                what = f"the judge {new!r} has the name of the arena's own"
                raise BadInput(what, where=where, do=f"name it otherwise: --value judge:{new}=NAME")
            self._names.check(new, kind, where)
            if new != name:
                changed[field_name] = new
        return replace(given, **changed) if changed else given


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    name: str
    """Name on the command line: `mirage import FILE --as NAME`."""
    title: str
    """Short description, for lists."""
    source: str
    """Definition of the format: project, file and version, or a URL."""
    gives: tuple[str, ...]
    """Names of the tables it can contain (`schema.TABLES`)."""
    recognise: Callable[[Sample], str | None]
    """Returns why a file matches, in a few words ("has model_a, model_b and winner"); None if it does not."""
    items: Callable[[Record, Builder], Iterable[Item]] | None = None
    """Returns the items of a record; the builder takes remarks for the summary."""
    further: Further = "refused"
    """Rule for further answers of a system to a query."""
    read: Callable[[Iterable[Record], Builder], Iterable[Item]] | None = None
    """Returns the items of all records, for formats whose records are not independent."""
    lists: tuple[tuple[str, ...], ...] = ()
    """Places of the lists in its JSON documents whose elements are records, `*` for any element of a list. Files are
    then streamed, and each record gets the other members of its document as `log`.
    """
    lines: Callable[[Path], Iterable[tuple[Value, str]]] | None = None
    """Yields the records of a file with their locations, for archives, lines of text, and other files that `lists` does
    not describe."""
    folder: bool = False
    """Whether `lines` takes a folder as a whole (TREC)."""
    refers: bool = False
    """Whether its records refer to queries and systems by name: names that an existing arena lacks are errors."""


def describe(name: str) -> tuple[str, str, str, tuple[str, ...]]:
    """Return name, title, source and tables of a format with a module of its own (`formats.toml`)."""
    about = load_words("formats", "mirage.io.formats")[name]
    return name, about["title"], about["source"], tuple(about["gives"].split())


def read_items(entry: Format, records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Yield the items of records in a format.

    Raises:
        BadInput: for the first invalid record, and where a value has another type than the format gives it; the next
            call goes on behind it.
    """
    last = ""

    def watch() -> Iterator[Record]:
        nonlocal last
        for record in records:
            last = record.where
            if "judgments" in entry.gives:
                refuse_weights(record.value, record.where)
            yield record

    try:
        yield from _read_items(entry, watch(), builder)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        what = f"a value of this record has another type than the format {entry.name} gives it"
        advice = "correct or remove it; mirage import --formats says what is read"
        raise BadInput(what, where=last, do=advice) from error


def _read_items(entry: Format, records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    if entry.read is not None:
        yield from entry.read(records, builder)
        return
    for record in records:
        for item in entry.items(record, builder) if entry.items is not None else ():
            item.where = item.where or record.where
            item.language = item.language or shapes.text(record.value.get("language"), "language", record.where)
            if item.answerable is None:
                item.answerable = says_answerable(record.value)
            yield item


def _code(name: str, where: str) -> str:
    try:
        return language_of(name, where=where).code
    except UnknownName as error:
        error.do = f"{error.do} Or say which it is: --value language:{name}=CODE"
        raise


def _tags(tags: Mapping[str, str | Sequence[str] | None]) -> set[tuple[str, str]]:
    pairs = ((tag, [values] if isinstance(values, str) else values or ()) for tag, values in tags.items())
    return {(tag, str(value).strip()) for tag, values in pairs for value in values if str(value).strip()}


def _is_numbered(given: GivenAnswer, passages: Sequence[ShownPassage]) -> bool | None:
    """Return whether numbers in an answer are positions: without ids always, else if it cites no id; None if unknown.

    The source does not say. Passages that were pooled were not shown in their order.
    """
    ids = [passage.passage_id for passage in passages if passage.passage_id]
    if not passages or any(passage.pooled for passage in passages):
        return None
    if not ids:
        return True
    text, known = given.text or "", is_numbered(given.template, None) is not None
    return None if known or not citations(text, ids, numbered=True) else cites_by_number(text, ids)


def _status(status: str | None, text: str | None, where: str) -> str:
    """Return the status of an answer, from its text if the source gives none."""
    content = "no text" if text is None else "a text" if text.strip() else "an empty text"
    if status is None:
        return _FITTING[content][0]
    try:
        _check_choice("status", status, schema.Status, where)
    except UnknownName as error:
        error.do = f"{error.do}; say which it is: --value status:{status}=ok"
        raise
    if status not in _FITTING[content]:
        raise BadInput(f"status is {status}, but there is {content}", where=where)
    return status


def _check_choice(name: str, value: str, choices: Any, where: str) -> None:
    if value not in get_args(choices):
        raise UnknownName(name, value, get_args(choices), where=where)


def _verdict(given: GivenVerdict, where: str) -> GivenVerdict:
    """Return a verdict as table `judgments` holds it."""
    points, verdict = given.points, given.verdict
    if points is not None and not 0 <= points <= 1:
        raise BadInput(f"points are {points!r}, not a number in [0, 1]", where=where)
    if verdict is None:
        verdict = "unparsed" if points is None else verdict_of_points(points)
    verdict = schema.verdict_word(verdict)
    _check_choice("verdict", verdict, schema.Verdict, where)
    if normalise_name(str(given.system_a)) == normalise_name(str(given.system_b)):
        raise BadInput(f"{given.system_a} is compared with itself", where=where)
    if verdict == "unparsed" and points is not None:
        raise BadInput("there are points, but the verdict is unparsed", where=where)
    return replace(
        given,
        judge=schema.criterion_judge(given.judge, given.criterion),
        verdict=verdict,
        reason=given.reason if verdict == "unparsed" else None,
        person=given.person or None,
        repeat=given.repeat or None,
    )


def _nugget(given: GivenNugget, where: str) -> GivenNugget:
    text = clean_text(given.text, "a nugget", where)
    if text is None:
        raise BadInput("a nugget has no text", where=where)
    _check_choice("importance", given.importance, schema.NuggetImportance, where)
    whole(given.nugget_id, "the id of a nugget", where)
    need_visible(given.nugget_id, "the id of a nugget", where)
    return replace(given, text=text)


def _assignment(given: GivenAssignment, where: str) -> GivenAssignment:
    if given.assignment is not None:
        _check_choice("assignment", given.assignment, schema.Assignment, where)
        return replace(given, reason=None)
    return replace(given, reason=given.reason or "the file has no assignment here")
