"""The builder, which collects what records of any format hold, and the definition of a format.

Ids are derived from content if a source has none. Queries and passages are shared by the systems. The order of records
does not affect the tables: positions and languages, which depend on all records, are determined at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io.formats import shapes
from mirage.io.formats.spec import (
    GivenAnswer,
    GivenScore,
    GivenVerdict,
    Item,
    QueryKey,
    Record,
    Sample,
    ShownPassage,
    Value,
)
from mirage.io.values import MOST_REPEATS
from mirage.stages.nuggets import nugget_id as made_id
from mirage.text.content import as_json, clean_text, content_id, digest, passage_digest, whole
from mirage.text.languages import known_code
from mirage.text.languages import language as language_of
from mirage.text.names import Names, need_visible, normalise_name
from mirage.text.thoughts import store_answer

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = "?"
"""Prefix of an unknown language, which is determined after the last record."""
_CHUNK = 8192
"""Texts held as Python objects before conversion to Arrow, which takes a third of the memory."""
_FITTING = {
    "no text": ("missing", "refused", "api_error"),
    "an empty text": ("empty", "truncated"),
    "a text": ("ok", "truncated", "refused", "api_error"),
}
"""Statuses of an answer by its text; the first if the source gives none."""


Further = Literal["refused", "runs", "texts", "none"]
"""Rule for further answers of a system to a query. `refused`: a different one is an error. `runs`: each is another
sample. `texts`: another sample if its text differs, since records may repeat an answer. `none`: left out, since the
file's verdicts are on the answer next to them.
"""


class Texts:
    """Compact storage of many texts by number."""

    def __init__(self) -> None:
        self._arrays: list[Any] = []
        self._last: list[str | None] = []

    def __len__(self) -> int:
        return len(self._arrays) * _CHUNK + len(self._last)

    def add(self, text: str | None) -> int:
        """Store a text and return its number."""
        self._last.append(text)
        number = len(self) - 1
        if len(self._last) == _CHUNK:
            import pyarrow as pa

            self._arrays.append(pa.array(self._last, pa.string()))
            self._last = []
        return number

    def __getitem__(self, number: int) -> str | None:
        chunk, place = divmod(number, _CHUNK)
        if chunk == len(self._arrays):
            return self._last[place]
        text: str | None = self._arrays[chunk][place].as_py()
        return text

    def take(self, numbers: Sequence[int | None]) -> pa.ChunkedArray:
        """Return the texts of some numbers as an Arrow array; null for no number."""
        import pyarrow as pa

        every = pa.chunked_array([*self._arrays, pa.array(self._last, pa.string())], pa.string())
        if len(numbers) == len(every) and all(number == place for place, number in enumerate(numbers)):
            return every
        return every.take(pa.array(numbers, pa.int64()))


@dataclass(slots=True)
class PassageSeen:
    """A passage of a query while reading."""

    text: int | None
    """Number of its text; None if no record has it."""
    digest: bytes | None
    where: str
    title: str | None
    relevant: bool | None
    url: str | None
    metadata: str | None
    pooled: bool | None
    language: str | None = None
    """Code of its language; None if the source gives none."""


@dataclass(slots=True)
class AnswerSeen:
    """An answer while reading."""

    text: int
    """Number of its text."""
    digest: bytes | None
    where: str
    status: str
    reason: str | None
    template: str | None
    numbered: bool | None
    thoughts: int | None
    """Number of its thoughts; None for none."""
    shown: tuple[str, ...]
    """Ids of the shown passages, in order; empty if unknown."""
    run_date: str | None = None
    retriever: str | None = None
    depth: int | None = None


@dataclass(slots=True)
class QuerySeen:
    """A query while reading."""

    language: str
    query_id: str
    where: str
    text: str | None = None
    subset: str | None = None
    reference: str | None = None
    turns: tuple[tuple[str, str], ...] = ()
    tags: set[tuple[str, str]] = field(default_factory=set)
    passages: dict[str, PassageSeen] = field(default_factory=dict)
    orders: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Orders in which its passages were shown, each with the first system by name; the empty text if unknown."""
    answers: dict[str, AnswerSeen] = field(default_factory=dict)
    """By system."""
    retrieved: dict[tuple[str], tuple[Any, ...]] = field(default_factory=dict)
    """By retriever: rows of `schema.Retrieved` without their key in order, place."""
    judgments: dict[tuple[str, str, str, str | None, int | None], tuple[Any, ...]] = field(default_factory=dict)
    """By judge, the two systems in the order shown, voter and repeat: verdict, points, rationale, reason, person,
    criterion, prompt, place.
    """
    scores: dict[tuple[str, str, str], tuple[Any, ...]] = field(default_factory=dict)
    """By system, measure and rater: person, value, low, high, reason, place."""
    samples: dict[tuple[str, int], tuple[Any, ...]] = field(default_factory=dict)
    """By system and number: text, status, template, reason, place."""
    nuggets: dict[tuple[str], tuple[Any, ...]] = field(default_factory=dict)
    """By id: text, importance, passage, author, place."""
    assignments: dict[tuple[str, str, str], tuple[Any, ...]] = field(default_factory=dict)
    """By system, nugget and assigner: assignment, quote, reason, place."""


class Builder:
    """Collects the content of records by query; `finish.finish_tables` builds tables from it.

    Methods raise BadInput with the record's location; the caller collects the errors. A null language is detected from
    the query's text; a null id is derived from content: the same text gives the same id in every file. Repetitions are
    merged; contradictory values of one key are an error.
    """

    def __init__(self) -> None:
        self.queries: dict[QueryKey, QuerySeen] = {}
        self.texts = Texts()
        """Texts of the answers."""
        self.passage_texts = Texts()
        self.guesses: dict[str, str] = {}
        """What was assumed, by a word for it, and why."""
        self.omitted: dict[tuple[str, str], int] = {}
        """What has no place in an arena and why, with how often."""
        self.counts: dict[str, int] = {}
        """How often something happened that the summary counts."""
        self.seen: set[str] = set()
        """Locations of the records."""
        self.fresh: set[str] = set()
        """Those of records that added something."""
        self.unnamed: set[str] = set()
        """Those of records without an id of the query."""
        self._codes: dict[str, str] = {}
        self._names = Names()
        self._first: dict[tuple[QueryKey, str], bytes] = {}
        self._samples: dict[tuple[QueryKey, str], dict[int, bytes]] = {}
        self._rated: set[tuple[QueryKey, str, str, str]] = set()
        self._numbers: dict[str, dict[str, int]] = {}

    def number(self, name: str, value: str) -> int:
        """Return the number of a value among the different ones of a name in the file, from 1."""
        known = self._numbers.setdefault(name, {})
        return known.setdefault(value, len(known) + 1)

    def take(self, item: Item, record: Record, further: Further) -> None:
        """Add an item of a record; scores and verdicts on other than the first answers of its systems are left out.

        Args:
            item: the item.
            record: the record.
            further: rule for further answers of a system to a query.
        """
        where = record.where
        query = self.query(
            item.text,
            where=where,
            query_id=item.query_id,
            language=item.language or shapes.text(record.value.get("language"), "language", where),
            subset=item.subset,
            reference=item.reference,
            tags=item.tags,
            turns=item.turns,
        )
        shown = self.passages(query, item.passages, where=where) if item.passages else ()
        answers = [replace(answer, shown=shown) if shown else answer for answer in item.answers]
        if further == "refused":
            for answer in answers:
                self.answer(query, answer, where=where)
            firsts = [True]
        else:
            runs: dict[str, list[GivenAnswer]] = {}
            for answer in answers:
                runs.setdefault(answer.system, []).append(answer)
            firsts = [self.add_runs(query, of_system, further, where=where) for of_system in runs.values()]
        if not all(firsts):
            if item.verdicts:
                why = "they are on another answer than the one that is taken"
                self.left_out("verdicts on further answers", why, len(item.verdicts))
            return
        for score in item.scores:
            if further == "refused":
                self.score(query, score, where=where)
            else:
                self.add_score(query, score, where=where)
        for verdict in item.verdicts:
            self.judgment(query, verdict, where=where)

    def add_runs(self, query: QueryKey, runs: Sequence[GivenAnswer], further: Further, *, where: str) -> bool:
        """Add a system's answers of one record, in order; return whether the first of them is its first answer.

        A system's first answer to a query is its answer; later ones are its samples, under the number of the answer
        unless that is taken. A record that repeats the answer of an earlier record adds nothing.
        """
        name, answer = (query, runs[0].system), runs[0]
        key = digest("\0".join((answer.text or "", answer.status or "")).encode("utf-8", "surrogatepass"))
        samples = self._samples.setdefault(name, {})
        if (first := self._first.get(name)) is None:
            self._first[name] = key
            self.answer(query, replace(answer, sample=0), where=where)
            for number, run in enumerate(runs[1 : MOST_REPEATS + 1], start=1):
                samples[number] = b""
                self.answer(query, replace(run, sample=number), where=where)
            return True
        if first == key and further != "runs":
            self.answer(query, replace(answer, sample=0), where=where)
            return True
        free = answer.sample if answer.sample and answer.sample not in samples else 0
        number = free or next(n for n in range(1, len(samples) + 2) if n not in samples)
        if further == "none":
            self.left_out("further answers", "verdicts refer to a system's first answer to a query")
        elif number > MOST_REPEATS:
            self.left_out("further answers", f"a system has at most {MOST_REPEATS:,} samples of a query")
        elif further == "runs" or key not in samples.values():
            samples[number] = key
            self.answer(query, replace(answer, sample=number), where=where)
        return False

    def add_score(self, query: QueryKey, score: GivenScore, *, where: str) -> None:
        """Add a score, the first of a rater for a measure of an answer."""
        key = query, score.system, score.measure, score.rater
        if key in self._rated:
            self.left_out("further scores", "a rater has one score of an answer for a measure: the first")
            return
        self._rated.add(key)
        self.score(query, score, where=where)

    def query(
        self,
        text: str | None,
        *,
        where: str,
        query_id: str | None = None,
        language: str | None = None,
        subset: str | None = None,
        reference: str | None = None,
        tags: Mapping[str, str | Sequence[str] | None] | None = None,
        turns: Sequence[tuple[str, str]] = (),
    ) -> QueryKey:
        """Add a query, with its reference answer, tags and earlier turns (speaker, text); return its key.

        A null text with an id refers to a query of another record or of the arena.
        """
        text = clean_text(text, "the query", where)
        query_id = query_id and normalise_name(query_id)
        if not query_id:
            if text is None:
                raise BadInput("there is neither a query nor its id", where=where, do="map a field: --map THEIRS=id")
            query_id = content_id(text, *(part for turn in turns for part in turn))
            self.unnamed.add(where)
        if language and (language := language.strip()):
            code = self._codes.get(language) or self._code(language, where)
        else:
            code = UNKNOWN + (content_id(text) if text else "")
        key = code, query_id
        entry = self.queries.get(key)
        if entry is None:
            whole(query_id, "the id of the query", where)
            self._names.check(query_id, "id", where, code)
            entry = self.queries[key] = QuerySeen(code, query_id, where)
            self.fresh.add(where)
        self.seen.add(where)
        before = entry.text, entry.subset, entry.reference, entry.turns, len(entry.tags)
        if text is not None and entry.text != text:
            entry.text = _check_agreement("text", entry.text, text, entry, where)
            entry.where = where
        if subset is not None:
            if subset not in get_args(schema.Subset):
                raise UnknownName("subset", subset, get_args(schema.Subset), where=where)
            entry.subset = _check_agreement("subset", entry.subset, subset, entry, where)
        if reference := clean_text(reference, "the reference answer", where):
            entry.reference = _check_agreement("reference answer", entry.reference, reference, entry, where)
        if turns:
            entry.turns = _check_agreement("conversation", entry.turns or None, _turns(turns, where), entry, where)
        if tags:
            entry.tags |= _tags(tags)
        if before != (entry.text, entry.subset, entry.reference, entry.turns, len(entry.tags)):
            self.fresh.add(where)
        return key

    def passages(self, query: QueryKey, passages: Sequence[ShownPassage], *, where: str) -> tuple[str, ...]:
        """Add the passages shown with a query, in order; return their ids. Systems shown others add theirs."""
        entry = self.queries[query]
        order: list[str] = []
        unnamed = 0
        for passage in passages:
            text = clean_text(passage.text, "a passage", where)
            title = clean_text(passage.title, "a title", where) if passage.title else None
            key, made_id = (None, "") if text is None else passage_digest(text, title)
            passage_id = passage.passage_id and normalise_name(passage.passage_id)
            if not passage_id:
                if text is None:
                    raise BadInput("there is neither a passage nor its id", where=where)
                passage_id = made_id
                unnamed += 1
            order.append(passage_id)
            known = None, key, where, title, passage.relevant, passage.url, as_json(passage.metadata), passage.pooled
            new = PassageSeen(*known, known_code(passage.language))
            seen = entry.passages.get(passage_id)
            if text is not None and (seen is None or seen.digest is None):
                new.text = self.passage_texts.add(text)
            if seen is None:
                self.fresh.add(where)
                whole(passage_id, "the id of a passage", where)
                need_visible(passage_id, "the id of a passage", where)
                entry.passages[passage_id] = new
                continue
            before = replace(seen)
            _merge_passages(seen, new, passage_id, entry)
            if before != seen:
                self.fresh.add(where)
        if unnamed:
            self.counts["passage_id"] = self.counts.get("passage_id", 0) + unnamed
        ids = tuple(order)
        if ids and ids not in entry.orders:
            entry.orders[ids] = ""
            self.fresh.add(where)
        return ids

    def answer(self, query: QueryKey, answer: GivenAnswer, *, where: str) -> None:
        """Add one answer."""
        entry, system = self.queries[query], self._name(answer.system, "system", where)
        content = None if answer.text is None else whole(answer.text, "the answer", where)
        parted = store_answer(answer.text, answer.status, answer.reason, answer.thoughts)
        # CSV writes no text as an empty one.
        text = parted.text if parted.status not in _FITTING["no text"] or (parted.text or "").strip() else None
        reason, thoughts = parted.reason, parted.thoughts
        status = _status(parted.status, text, where)
        if answer.sample:
            row = (text, status, answer.template, reason)
            what = f"answers of {system} as sample {answer.sample}"
            self._put(entry, entry.samples, (system, answer.sample), row, what, where)
            return
        ids = tuple(answer.shown)
        if ids:
            before = entry.orders.get(ids)
            entry.orders[ids] = system if not before else min(before, system)
        key = None if content is None else digest(content)
        seen = entry.answers.get(system)
        if seen is None:
            self.fresh.add(where)
            number = self.texts.add(text)
            if thoughts is not None:
                whole(thoughts, "the thoughts", where)
            beside = None if thoughts is None else self.texts.add(thoughts)
            shown_by = None if answer.retriever is None else self._name(answer.retriever, "retriever", where)
            entry.answers[system] = AnswerSeen(
                *(number, key, where, status, reason, answer.template, answer.numbered, beside, ids),
                *(answer.run_date, shown_by, answer.depth),
            )
            return
        if (seen.digest, seen.status) != (key, status):
            raise _two(f"answers of {system}", seen.where, entry, where)
        if ids != seen.shown:
            # One row a passage: the answer repeats, and each row adds what it was shown.
            self.counts["folded"] = self.counts.get("folded", 0) + 1
            self.fresh.add(where)
            for order in (seen.shown, ids):
                if entry.orders.get(order) == system:
                    entry.orders.pop(order)
            seen.shown = tuple(dict.fromkeys((*seen.shown, *ids)))
            entry.orders[seen.shown] = min(entry.orders.get(seen.shown) or system, system)

    def retrieved(
        self, query: QueryKey, retriever: str, passages: Sequence[tuple[ShownPassage, float | None]], *, where: str
    ) -> None:
        """Add a retriever's passages for a query with their scores, in order."""
        entry, retriever = self.queries[query], self._name(retriever, "retriever", where)
        rows = tuple(
            {
                "passage_id": _passage_id(passage, where),
                "rank": rank,
                "score": score,
                "title": clean_text(passage.title, "a title", where) if passage.title else None,
                "text": clean_text(passage.text, "a passage", where),
                "passage_language": known_code(passage.language),
            }
            for rank, (passage, score) in enumerate(passages, start=1)
        )
        self._put(entry, entry.retrieved, (retriever,), (rows,), f"runs of {retriever}", where)

    def judgment(self, query: QueryKey, given: GivenVerdict, *, where: str) -> None:
        """Add one verdict."""
        entry = self.queries[query]
        judge = self._name(schema.criterion_judge(given.judge, given.criterion), "judge", where)
        system_a, system_b = (self._name(name, "system", where) for name in (given.system_a, given.system_b))
        verdict, points = given.verdict, given.points
        if system_a == system_b:
            raise BadInput(f"{system_a} is compared with itself", where=where)
        if points is not None and not 0 <= points <= 1:
            raise BadInput(f"points are {points!r}, not a number in [0, 1]", where=where)
        if verdict is None:
            verdict = "unparsed" if points is None else schema.verdict_of(points)
        verdict = schema.verdict_word(verdict)
        if verdict not in get_args(schema.Verdict):
            raise UnknownName("verdict", verdict, get_args(schema.Verdict), where=where)
        if verdict == "unparsed" and points is not None:
            raise BadInput("there are points, but the verdict is unparsed", where=where)
        if given.inclusion is not None and not 0 < given.inclusion <= 1:
            raise BadInput(f"inclusion is {given.inclusion!r}, not a number in (0, 1]", where=where)
        reason = given.reason if verdict == "unparsed" else None
        said = (verdict, points, given.rationale, reason, given.person or None)
        row = (*said, given.inclusion, given.criterion, given.prompt)
        voter = None if given.voter is None else self._name(given.voter, "voter", where)
        names = (judge, system_a, system_b, voter, given.repeat or None)
        self._put(entry, entry.judgments, names, row, f"verdicts of {judge} on {system_a} and {system_b}", where)

    def score(self, query: QueryKey, score: GivenScore, *, where: str) -> None:
        """Add one score of an answer."""
        entry = self.queries[query]
        system, measure = self._name(score.system, "system", where), self._name(score.measure, "measure", where)
        names = system, measure, self._name(score.rater, "rater", where)
        value, reason = score.value, score.reason
        if value is None and reason is None:
            reason = "the file has no number here"
        row = (score.person, value, score.low, score.high, reason if value is None else None)
        what = f"scores of {score.rater} for {score.measure} of {score.system}"
        self._put(entry, entry.scores, names, row, what, where)

    def nugget(
        self,
        query: QueryKey,
        text: str,
        importance: str,
        *,
        where: str,
        author: str,
        nugget_id: str | None = None,
        passage_id: str | None = None,
    ) -> str:
        """Add one nugget of a query; return its id, derived from the text if the file has none."""
        entry = self.queries[query]
        content = clean_text(text, "a nugget", where)
        if content is None:
            raise BadInput("a nugget has no text", where=where)
        if importance not in get_args(schema.NuggetImportance):
            raise UnknownName("importance", importance, get_args(schema.NuggetImportance), where=where)
        name = nugget_id or made_id(content)
        whole(name, "the id of a nugget", where)
        need_visible(name, "the id of a nugget", where)
        row = (content, importance, passage_id, self._name(author, "author", where))
        self._put(entry, entry.nuggets, (name,), row, f"nuggets {name}", where)
        return name

    def assignment(
        self,
        query: QueryKey,
        system: str,
        nugget_id: str,
        assigner: str,
        assignment: str | None,
        *,
        where: str,
        quote: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Add one assigner's decision on whether an answer states a nugget."""
        entry = self.queries[query]
        if assignment is not None and assignment not in get_args(schema.Assignment):
            raise UnknownName("assignment", assignment, get_args(schema.Assignment), where=where)
        if assignment is None and reason is None:
            reason = "the file has no assignment here"
        names = self._name(system, "system", where), nugget_id, self._name(assigner, "assigner", where)
        row = (assignment, quote, reason if assignment is None else None)
        what = f"assignments of nugget {nugget_id} to {system} by {assigner}"
        self._put(entry, entry.assignments, names, row, what, where)

    def note_guess(self, what: str, why: str) -> None:
        """Add an inference to the summary, once per text: `ties`, "`tie (bothbad)` is taken for a tie"."""
        self.guesses.setdefault(what, why)

    def left_out(self, what: str, why: str, n: int = 1) -> None:
        """Count ignored content of the file in the summary."""
        self.omitted[what, why] = self.omitted.get((what, why), 0) + n

    def _put(
        self, entry: QuerySeen, rows: dict[Any, tuple[Any, ...]], key: Any, row: tuple[Any, ...], what: str, where: str
    ) -> None:
        """Add a row with its location; a repeated one must be equal."""
        seen = rows.setdefault(key, (*row, where))
        if seen[:-1] != row:
            raise _two(what, seen[-1], entry, where)
        if seen[-1] == where:
            self.fresh.add(where)

    def _name(self, name: str, kind: str, where: str) -> str:
        """Return a normalised name that is not confused with another of its kind."""
        name = normalise_name(name) if isinstance(name, str) else name
        if not name or not isinstance(name, str):
            raise BadInput(f"{kind} is {name!r}, not a name", where=where, do=f"set it: --set {kind}=NAME")
        if not name.isascii():
            whole(name, kind, where)
        self._names.check(name, kind, where)
        return name

    def _code(self, name: str, where: str) -> str:
        try:
            code = language_of(name, where=where).code
        except UnknownName as error:
            error.do = f"{error.do} Or say which it is: --value language:{name}=CODE"
            raise
        self._codes[name] = code
        return code


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
    read: Callable[[Iterable[Record], Builder], None] | None = None
    """Passes the content of all records to a builder, for formats whose records are not independent."""
    records: Callable[[Path], Iterable[tuple[Value, int]]] | None = None
    """Yields records with line numbers, for files that are not JSON, JSON Lines, CSV or Parquet (TREC)."""
    lists: tuple[tuple[str, ...], ...] = ()
    """Places of the lists in its JSON documents whose elements are records, `*` for any element of a list. Files are
    then streamed, and each record gets the other members of its document as `log`.
    """
    lines: Callable[[Path], Iterable[tuple[Value, str]]] | None = None
    """Yields records with their locations, for archives and other files that `lists` does not describe."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Targets of its fields, for `--dry-run` and suggestions: `{"question": "queries.text"}`; may be empty."""
    refers: bool = False
    """Whether its records refer to queries and systems by name: names that an existing arena lacks are errors."""


def read_records(entry: Format, records: Iterable[Record], builder: Builder) -> None:
    """Pass the content of records in a format to a builder.

    Raises:
        BadInput: for the first invalid record; the next call goes on behind it.
    """
    if entry.read is not None:
        entry.read(records, builder)
        return
    for record in records:
        for item in entry.items(record, builder) if entry.items is not None else ():
            builder.take(item, record, entry.further)


def _tags(tags: Mapping[str, str | Sequence[str] | None]) -> set[tuple[str, str]]:
    pairs = ((tag, [values] if isinstance(values, str) else values or ()) for tag, values in tags.items())
    return {(tag, str(value).strip()) for tag, values in pairs for value in values if str(value).strip()}


def _turns(turns: Sequence[tuple[str, str]], where: str) -> tuple[tuple[str, str], ...]:
    for turn in turns:
        for part in turn:
            whole(part, "a turn", where)
    return tuple((str(speaker), str(text)) for speaker, text in turns)


def _passage_id(passage: ShownPassage, where: str) -> str:
    passage_id = normalise_name(passage.passage_id or "")
    if not passage_id:
        raise BadInput("a retrieved passage has no id", where=where, do="give every passage its id")
    whole(passage_id, "the id of a passage", where)
    need_visible(passage_id, "the id of a passage", where)
    return passage_id


def _status(status: str | None, text: str | None, where: str) -> str:
    """Return the status of an answer, from its text if the source gives none."""
    content = "no text" if text is None else "a text" if text.strip() else "an empty text"
    if status is None:
        return _FITTING[content][0]
    if status not in get_args(schema.Status):
        raise UnknownName("status", status, get_args(schema.Status), where=where)
    if status not in _FITTING[content]:
        raise BadInput(f"status is {status}, but there is {content}", where=where)
    return status


def _merge_passages(seen: PassageSeen, new: PassageSeen, passage_id: str, entry: QuerySeen) -> None:
    """Add facts on a passage; of several titles, addresses and metadata the alphabetically first is kept."""
    if seen.digest is None:
        seen.text, seen.digest, seen.where = new.text, new.digest, new.where
    elif new.digest not in (None, seen.digest):
        raise _two(f"texts of passage {passage_id}", seen.where, entry, new.where)
    for name, noun in (("relevant", "label"), ("language", "language")):
        if (given := getattr(new, name)) is not None:
            setattr(seen, name, _check_agreement(f"{noun} of a passage", getattr(seen, name), given, entry, new.where))
    # What one source gives as a system saw it is no pool.
    seen.pooled = seen.pooled and new.pooled
    for name in ("title", "url", "metadata"):
        setattr(seen, name, min(filter(None, (getattr(seen, name), getattr(new, name))), default=None))


def merge_queries(entry: QuerySeen, other: QuerySeen) -> QuerySeen:
    """Merge a query that records named with and without its language.

    Raises:
        BadInput: if the two contradict each other.
    """
    for name in ("text", "subset", "reference", "turns"):
        if given := getattr(other, name):
            setattr(entry, name, _check_agreement(name, getattr(entry, name) or None, given, entry, other.where))
    entry.tags |= other.tags
    for passage_id, passage in other.passages.items():
        if (seen := entry.passages.setdefault(passage_id, passage)) is not passage:
            _merge_passages(seen, passage, passage_id, entry)
    for order, system in other.orders.items():
        entry.orders[order] = min(filter(None, (entry.orders.get(order), system)), default="")
    for name, answer in other.answers.items():
        if (known := entry.answers.setdefault(name, answer)).digest != answer.digest:
            raise _two(f"answers of {name}", known.where, entry, answer.where)
    for table in ("retrieved", "samples", "judgments", "scores", "nuggets", "assignments"):
        rows = getattr(entry, table)
        for key, row in getattr(other, table).items():
            if (before := rows.setdefault(key, row))[:-1] != row[:-1]:
                raise _two(f"values for {', '.join(str(part) for part in key if part)}", before[-1], entry, row[-1])
    return entry


def _check_agreement(name: str, old: Any, new: Any, entry: QuerySeen, where: str) -> Any:
    """Return a value that records may repeat, but not contradict."""
    if old is not None and old != new:
        raise _two(f"values of {name}", entry.where, entry, where)
    return new


def _two(what: str, before: str, entry: QuerySeen, where: str) -> BadInput:
    return BadInput(
        f"query {entry.query_id} has two different {what}",
        where=f"{before} and {where}",
        do="keep one, or use separate ids for the two queries",
    )
