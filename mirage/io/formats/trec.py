"""Information retrieval files: topics, graded qrels, runs and corpora, one file or a folder of them.

A run is a retriever's result, and its tag the retriever's name; runs of one tag in several files are distinguished by
file. Scores order a run, and ranks only break ties. With topics or labels, the passages of a query are those judged or
among the top ten of a run, marked as pooled: no retriever returned them in this order. A run alone does not change
passages, unless it is named `given`, as are passages supplied with the queries. Grade and ranks are stored in the
passage's metadata. A file name like `topics.sw.tsv` gives the language of its queries.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mirage import store
from mirage.errors import BadInput, UnknownName
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import first, need, number, text, wrong
from mirage.io.formats.spec import GivenRanking, Item, Record, Sample, ShownPassage
from mirage.stages.retrieve.corpus import ID_FIELDS, TEXT_FIELDS
from mirage.stages.shown import GIVEN
from mirage.text import languages

if TYPE_CHECKING:
    from mirage.store import Arena

DEPTH = 10
"""Number of top passages per run for a query."""
RELEVANT_FROM = 1
"""Lowest grade that counts as relevant."""
POOLED = "pooled"
"""Name of the run with pooled passages in the arena's order."""
_WHOLE = (GIVEN, POOLED)
"""Runs without a retriever: all passages of the query in order."""
Kind = Literal["topics", "qrels", "run", "corpus"]
_ORDER: tuple[Kind, ...] = ("topics", "qrels", "run", "corpus")
_QUERIES = ("text", "query", "title", "question", "topic")
_QUERY_IDS = ("_id", "qid", "query_id", "topic_id", "id")
_CORPUS = re.compile(r"corpus|collection|doc|passage|segment", re.IGNORECASE)
_GRADED = re.compile(r"qrel|judg|label|relevan", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?nan|[+-]?inf(inity)?", re.IGNORECASE)
_ID_NAMES = frozenset(("queryid", "qid", "query", "topic", "topicid"))
_VALUE_NAMES = frozenset(("score", "rank", "grade", "label", "relevance", "rel", "relevant", "judgment", "qrel"))
"""Column names that identify a header, reduced to letters."""
_NAMED = re.compile(
    r"(^|[/._-])(qrels|runs?|topics|queries)([._-].*)?\.(txt|tsv|trec|run|res|jsonl?|gz|zst)$", re.IGNORECASE
)
"""File names that identify a kind."""
_ENDINGS = re.compile(r"(\.(txt|tsv|trec|run|res|json|gz|zst))+$", re.IGNORECASE)
_KEY = r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:'
_NESTED = re.compile(_KEY * 2 + r"\s*-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*[,}\r\n]")
"""Beginning of a JSON object of objects of numbers, the format of labels and runs in pytrec_eval and ranx."""


def kind_of(name: str, lines: Iterable[str]) -> Kind | None:
    """Detect the kind of a text file from its first non-empty line; None if unknown.

    Args:
        name: the file's name: a corpus in two columns looks like topics and must be named as a corpus.
        lines: its first lines.
    """
    told = [line for each in lines if (line := each.lstrip("\ufeff")).strip()]
    line = next((each for each in told if not _is_comment(each)), "")
    if re.match(r"\s*<(top|topics|\?xml|xml)\b", line, re.IGNORECASE) or line.lstrip().lower().startswith("<?xml"):
        return "topics"
    if line.startswith("{"):
        if _NESTED.match("\n".join(told)):
            return "qrels" if _GRADED.search(name) else "run"
        return _json_kind(name, line)
    if _is_header(line):
        # Its columns are told by the next line; BEIR's header says that they are labels.
        tells = "qrels" if "corpus-id" in line else name
        return _columns_kind(tells, next((each for each in told[told.index(line) + 1 :] if not _is_comment(each)), ""))
    return _columns_kind(name, line) or _two_columns_kind(name, line)


def _is_comment(line: str) -> bool:
    """Return whether a line is a comment; topic ids may begin likewise, but a tab follows them."""
    return line.startswith("#") and not re.match(r"#\S*\t", line)


def _is_header(line: str) -> bool:
    """Return whether a line is a header of qrels or a run, without numbers."""
    cells = _columns(line)
    if len(cells) not in (3, 4, 6) or any(_NUMBER.fullmatch(cell) for cell in cells):
        return False
    names = {re.sub(r"[^a-z]", "", cell.lower()) for cell in cells}
    return bool(names & _ID_NAMES) and bool(names & _VALUE_NAMES)


def _columns_kind(name: str, line: str) -> Kind | None:
    """Return the kind by a line's columns: qrels or run."""
    cells = _columns(line)
    if len(cells) == 6 and re.fullmatch(r"-?\d+", cells[3]) and _NUMBER.fullmatch(cells[4]):
        return "run"
    if len(cells) == 4 and line.count("\t") != 1 and _NUMBER.fullmatch(cells[3]):
        return "qrels"
    # Three columns may be a run, with the rank or the score last.
    return "qrels" if len(cells) == 3 and _NUMBER.fullmatch(cells[2]) and _GRADED.search(name) else None


def _two_columns_kind(name: str, line: str) -> Kind | None:
    tabs = line.split("\t")
    if len(tabs) == 2 and all(cell.strip() for cell in tabs) and " " not in tabs[0].strip():
        return "corpus" if _CORPUS.search(name) else "topics"
    return None


def _json_kind(name: str, line: str) -> Kind | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, Mapping) or set(record) & {"answer", "response", "nuggets", "run_id", "passages"}:
        return None
    if ("docid" in record or "_id" in record) and any(key in record for key in TEXT_FIELDS):
        return "corpus" if "docid" in record or "title" in record or _CORPUS.search(name) else "topics"
    known = any(key in record for key in ("qid", "query_id", "topic_id")) and set(record) <= {
        *_QUERY_IDS,
        *_QUERIES,
        "description",
        "narrative",
        "language",
        "metadata",
    }
    return "topics" if known else None


def recognise(sample: Sample) -> str | None:
    """Detect a file of one of the kinds, or a folder with such files."""
    if sample.path.is_dir():
        kinds = sorted({kind for _, kind in _files(sample.path) if kind}, key=_ORDER.index)
        return f"holds {', '.join(kinds)}" if {"topics", "qrels", "run"} & set(kinds) else None
    kind = kind_of(sample.path.name, sample.lines)
    return None if kind is None else f"its lines are {'of a run' if kind == 'run' else kind}"


def _files(folder: Path) -> list[tuple[Path, Kind | None]]:
    """Return the files of a folder in reading order, with their kinds; None for an unknown kind."""
    ranked = []
    for path in store.list_files(folder, "**/*"):
        try:
            kind = kind_of(path.name, _beginning(path))
        except BadInput:
            kind = None
        ranked.append((_ORDER.index(kind) if kind else len(_ORDER), path, kind))
    return [(path, kind) for _, path, kind in sorted(ranked, key=lambda each: each[:2])]


def _beginning(path: Path) -> list[str]:
    lines = store.lines(path)
    try:
        return [line for _, (_, line) in zip(range(20), lines, strict=False)]
    finally:
        lines.close()


def records(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the records of a file or of a folder's files, corpora last, with line numbers.

    A record has its `kind` and `file`, and the fields of its kind: `query_id` and `text`; `query_id`, `passage_id` and
    `grade`; `query_id`, `passage_id`, `rank`, `score` and `run`; `passage_id`, `title` and `text`. A file of unknown
    kind in a folder is one record of kind `unread`.

    Raises:
        BadInput: naming file and line, if a line does not match its file's kind.
    """
    files = _files(path) if path.is_dir() else [(path, kind_of(path.name, _beginning(path)))]
    if not any(kind for _, kind in files):
        raise BadInput(
            "there are neither topics, qrels, a run nor a corpus",
            where=str(path),
            do="use files with the columns listed in docs/data.md",
        )
    for file, kind in files:
        if kind is None:
            yield {"kind": "unread", "file": str(file), "name": file.relative_to(path).as_posix()}, 1
            continue
        shared = {"kind": kind, "file": str(file), "language": languages.language_of_file(file.name)}
        for value, where in _READERS[kind](file):
            yield shared | value, int(where.rpartition(":")[2])


_Numbered = Iterator[tuple[dict[str, Any], str]]


def _topics(path: Path) -> _Numbered:
    head = next((line for line in _beginning(path) if line.strip()), "").lstrip("\ufeff \t")
    if head.startswith("<"):
        for topic, where in _tagged_topics(store.lines(path)):
            named = {"description": topic.get("desc"), "narrative": topic.get("narr")}
            # Tracks without titles give the query as the description.
            title = topic.get("title") or named.pop("description")
            yield {"query_id": topic["num"], "text": title} | named, where
    elif head.startswith("{"):
        for each in store.jsonl(path):
            about = {key: each.value[key] for key in ("description", "narrative", "language") if each.value.get(key)}
            yield {"query_id": first(each.value, *_QUERY_IDS), "text": first(each.value, *_QUERIES)} | about, each.where
    else:
        for where, line in store.lines(path):
            query_id, tab, content = line.lstrip("\ufeff").partition("\t")
            if _is_comment(line.lstrip("\ufeff")):
                continue
            if line.strip() and not (query_id.strip() and tab and content.strip()):
                raise BadInput("this line is not an id, a tab and a query", where=where, do="write: id TAB query")
            if line.strip():
                yield {"query_id": query_id, "text": content}, where


_TAG = re.compile(r"<\s*(/?)\s*(top|topic|num|number|title|query|desc|description|narr|narrative)\b([^>]*)>", re.I)
_TOPIC_ID = re.compile(r"(?:number|id)\s*=\s*[\"']?([^\"'\s>]+)", re.I)
_LABELS = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.I)
_SHORT = {"number": "num", "query": "title", "description": "desc", "narrative": "narr", "topic": "top"}


def _tagged_topics(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[dict[str, str], str]]:
    """Yield topics between `<top>` tags, closed or not, or in XML, by field (`num`, `title`, `desc`, `narr`), and their
    locations.

    Raises:
        BadInput: if a topic has no number.

    Source: the forms that ir_datasets reads (allenai/ir_datasets, ir_datasets/formats/trec.py at 04dd8ca).
    """
    from html import unescape

    topic: dict[str, str] | None = None
    field, begin = "", ""
    for where, line in lines:
        place = 0
        for tag in (*_TAG.finditer(line), None):
            if topic is not None and field:
                topic[field] += line[place : tag.start() if tag else None] + ("" if tag else "\n")
            if tag is None:
                break
            place = tag.end()
            name = _SHORT.get(tag[2].lower(), tag[2].lower())
            if name == "top" and not tag[1]:
                number = _TOPIC_ID.search(tag[3])
                topic, begin = {"num": number[1]} if number else {}, where
            elif name == "top" and topic is not None:
                yield {key: _clean(unescape(text)) for key, text in _require_number(topic, begin).items()}, begin
                topic = None
            if topic is not None and name != "top" and not tag[1]:
                topic.setdefault(name, "")
            field = "" if tag[1] or name == "top" else name


def _require_number(topic: dict[str, str], where: str) -> dict[str, str]:
    if not _clean(topic.get("num", "")):
        raise BadInput("this topic has no number", where=where, do="write <num> and its id, or an attribute number")
    return topic


def _clean(text: str) -> str:
    return " ".join(_LABELS.sub("", text).split())


def _columns(line: str) -> list[str]:
    """Split a line at ASCII white space, as trec_eval does; any other space is part of an id."""
    return re.findall(r"[^ \t\r\n\f\v]+", line)


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines of qrels or a run, without comments, blank lines and header."""
    opening = True
    for where, line in store.lines(path):
        plain = line.lstrip("\ufeff")
        if plain.strip() and not _is_comment(plain):
            if not (opening and _is_header(plain)):
                yield where, plain
            opening = False


def _nested(path: Path, value: str) -> _Numbered:
    """Yield the entries of a JSON object of objects, `{"q1": {"d1": 1}}`, as records with location and `value`."""
    for line in store.records(path):
        for query_id, scores in line.value.items():
            if not isinstance(scores, Mapping):
                do = 'write: {"q1": {"d1": 1}}'
                raise BadInput(f"query {query_id} has no object of documents", where=line.where, do=do)
            best = sorted(scores.items(), key=lambda entry: -(number(entry[1]) or 0.0))
            for rank, (passage_id, score) in enumerate(best, start=1):
                yield {"query_id": query_id, "passage_id": passage_id, "rank": rank, value: score}, line.where


def _is_nested(path: Path) -> bool:
    return bool(_NESTED.match("\n".join(_beginning(path)).lstrip("\ufeff")))


def _qrels(path: Path) -> _Numbered:
    if _is_nested(path):
        yield from _nested(path, "grade")
        return
    for where, line in _rows(path):
        fields = _columns(line)
        try:
            query_id, *_, passage_id, grade = fields
            if len(fields) not in (3, 4) or not math.isfinite(value := float(grade)):
                raise ValueError
        except ValueError:
            do = "write: query id, Q0, document id, a whole number"
            raise BadInput("this line is no judgment", where=where, do=do) from None
        yield (
            {"query_id": query_id, "passage_id": passage_id, "grade": int(value) if value.is_integer() else value},
            where,
        )


def _run(path: Path) -> _Numbered:
    if _is_nested(path):
        tag = _stem(str(path), languages.language_of_file(path.name))
        yield from ((value | {"run": tag}, where) for value, where in _nested(path, "score"))
        return
    for where, line in _rows(path):
        try:
            query_id, _, passage_id, rank, score, run = _columns(line)
            place, value = int(rank), float(score)
        except ValueError:
            do = "write: query id, Q0, document id, rank, score, name of the run"
            raise BadInput("this line is not of a run", where=where, do=do) from None
        yield {"query_id": query_id, "passage_id": passage_id, "rank": place, "score": value, "run": run}, where


def _corpus(path: Path) -> _Numbered:
    head = next((line for line in _beginning(path) if line.strip()), "").lstrip("\ufeff")
    if head.startswith("{"):
        for each in store.jsonl(path):
            value = each.value
            yield (
                {
                    "passage_id": first(value, *ID_FIELDS),
                    "title": value.get("title"),
                    "text": first(value, *TEXT_FIELDS),
                    "url": value.get("url"),
                },
                each.where,
            )
    else:
        for where, line in store.lines(path):
            passage_id, tab, content = line.lstrip("\ufeff").partition("\t")
            if line.strip() and not tab:
                raise BadInput("this line is not an id, a tab and a text", where=where, do="write: id TAB text")
            if line.strip():
                yield {"passage_id": passage_id, "text": content}, where


_READERS = {"topics": _topics, "qrels": _qrels, "run": _run, "corpus": _corpus}


_Key = tuple[str | None, str]
_ANY = "*"
"""Key for passages whose id occurs in one language only."""
_Texts = dict[tuple[str | None, str], ShownPassage | None]
"""Passages of the corpus by language (null if not given) and id; under `_ANY`, null if the id occurs in several
languages."""
"""Language, if a file name gives it, and query_id."""


@dataclass(slots=True)
class _QueryPool:
    """Collected data on one query and its passages."""

    where: str = ""
    text: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    grades: dict[str, int] = field(default_factory=dict)
    lists: dict[tuple[str, str], dict[str, tuple[float, int]]] = field(default_factory=lambda: defaultdict(dict))
    """Score and rank, by the tag and file of a run, and passage."""
    runs: dict[str, dict[str, tuple[float, int]]] = field(default_factory=dict)
    """The same by the name of the run, determined once all files are read."""

    def order(self, run: str) -> list[str]:
        """Return the passages of a run, ordered by score and then rank, as in trec_eval."""
        ranked = self.runs[run]
        return sorted(ranked, key=lambda each: (-ranked[each][0], ranked[each][1], each))

    def ranks(self) -> dict[str, dict[str, int]]:
        """Return ranks by passage and run, from 1, among the top ten; in `given` and `pooled` all ranks.

        Ranks that do not match the order of scores are replaced.
        """
        by_passage: dict[str, dict[str, int]] = defaultdict(dict)
        for run in sorted(self.runs):
            order = self.order(run)
            ranks = [self.runs[run][passage][1] for passage in order]
            if ranks[0] < 1 or any(rank >= after for rank, after in pairwise(ranks)):
                ranks = list(range(1, len(order) + 1))
            for rank, passage in zip(ranks, order, strict=True):
                if rank <= DEPTH or run in _WHOLE:
                    by_passage[passage][run] = rank
        return by_passage

    def passages(self) -> list[str]:
        """Return the ids of passages judged or ranked, by best rank.

        If there is a run `given` or `pooled`, only its ranks count. Grades do not affect the order, in
        which systems are shown the passages.
        """
        alone = next((run for run in _WHOLE if run in self.runs), None)
        best = {
            passage: min(ranks.values()) if alone is None else ranks[alone]
            for passage, ranks in self.ranks().items()
            if alone is None or alone in ranks
        }
        return sorted({*self.grades, *best}, key=lambda each: (best.get(each, math.inf), each))


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Combine all files into queries with pooled passages; texts of other passages are counted as ignored."""
    pools: dict[_Key, _QueryPool] = {}
    texts: _Texts = {}
    wanted: set[str] | None = None
    for each in records:
        # In a folder the line is of the record's own file.
        record = Record(each.value, f"{each.value['file']}:{each.where.rpartition(':')[2]}")
        if record.value["kind"] == "unread":
            name = record.value["name"]
            if _NAMED.search(name):
                raise BadInput("its name says topics, qrels or a run, its lines do not", where=record.value["file"])
            builder.left_out(name, "this file is neither topics, qrels, a run nor a corpus")
            continue
        if record.value["kind"] != "corpus":
            _gather(record, pools)
            continue
        if wanted is None:
            wanted = {passage for pool in pools.values() for passage in pool.grades}
            wanted |= {passage for pool in pools.values() for ranked in pool.lists.values() for passage in ranked}
        passage_id = need(record, "passage_id")
        if passage_id not in wanted:
            builder.left_out("passages of the corpus", "they are unjudged and in no run")
            continue
        code = text(record, "language")
        texts[code, passage_id] = ShownPassage(
            text(record, "text"),
            passage_id,
            text(record, "title"),
            url=text(record, "url"),
            language=code,
        )
        several = texts.get((_ANY, passage_id), texts[code, passage_id]) is not texts[code, passage_id]
        texts[_ANY, passage_id] = None if several else texts[code, passage_id]
    _name_runs(pools, builder)
    yield from _build(pools, texts, builder)


def _name_runs(pools: Mapping[_Key, _QueryPool], builder: Builder) -> None:
    """Name each run by its tag; if several files have lists of one tag for a query, by tag and file."""
    counts = (Counter(tag for tag, _ in pool.lists) for pool in pools.values())
    several = {tag for count in counts for tag, n in count.items() if n > 1}
    for (language, query_id), pool in pools.items():
        for (tag, file), ranked in pool.lists.items():
            name = f"{tag}:{_stem(file, language)}" if tag in several else tag
            if name in pool.runs:
                raise BadInput(
                    f"two files of the run {tag} rank for query {query_id}, and their names do not tell them apart",
                    where=file,
                    do="use a different tag for each run",
                )
            pool.runs[name] = ranked
    for tag in sorted(several):
        builder.note_guess(f"run {tag}", "several files have a run of this tag: each is called by tag and file")


def _stem(file: str, language: str | None) -> str:
    """Return the name of a file without extensions and language."""
    stem = _ENDINGS.sub("", Path(file).name)
    bare = re.sub(rf"(^|[._-]){re.escape(language)}(?=[._-]|$)", "", stem) if language else stem
    return "_".join((bare or stem).split())


def _gather(record: Record, pools: dict[_Key, _QueryPool]) -> None:
    key = text(record, "language"), need(record, "query_id")
    pool = pools.setdefault(key, _QueryPool(record.where))
    kind = record.value["kind"]
    if kind == "topics":
        if pool.text is not None:
            raise BadInput(f"query {key[1]} occurs twice", where=record.where, do=f"keep one; the first: {pool.where}")
        pool.where, pool.text = record.where, need(record, "text")
        pool.tags = {name: about for name in ("description", "narrative") if (about := text(record, name))}
        return
    passage = need(record, "passage_id")
    if kind == "qrels":
        grade = _whole(record, "grade", f"say which grade it is: --value grade:{record.value['grade']}=1")
        if pool.grades.setdefault(passage, grade) != grade:
            raise BadInput(
                f"document {passage} has two grades for query {key[1]}", where=record.where, do="keep one line"
            )
        return
    rank, name = _whole(record, "rank", "give the rank from 1 on"), need(record, "run")
    ranked, score = pool.lists[name, record.value["file"]], number(record.value.get("score"))
    if passage in ranked:
        raise BadInput(
            f"{name} ranks document {passage} twice for query {key[1]}", where=record.where, do="keep one line"
        )
    if score is None:
        raise wrong(record, "score", "a number", record.value.get("score"))
    ranked[passage] = score, rank


def _whole(record: Record, name: str, do: str) -> int:
    value = number(record.value.get(name))
    if value is None or value != int(value):
        shown = record.value.get(name)
        raise BadInput(f"{name} must be a whole number, not {shown!r}", where=record.where, do=do)
    return int(value)


def _corpus_passage(texts: _Texts, language: str | None, passage_id: str) -> ShownPassage | None:
    """Return a passage of the corpus: in the query's language, without a language, or in its id's only language."""
    return texts.get((language, passage_id)) or texts.get((None, passage_id)) or texts.get((_ANY, passage_id))


def _build(pools: Mapping[_Key, _QueryPool], texts: _Texts, builder: Builder) -> Iterator[Item]:
    alone = not any(pool.text or pool.grades or not pool.runs.keys().isdisjoint(_WHOLE) for pool in pools.values())
    if not alone and any(pool.runs or pool.grades for pool in pools.values()):
        builder.note_guess("passages", f"those judged, and the first {DEPTH} of each run; no system was shown them")
    _tell_runs(pools, texts, builder)
    if any(grade > 1 for pool in pools.values() for grade in pool.grades.values()):
        builder.note_guess(
            "relevant", f"from grade {RELEVANT_FROM} on; grades stay in the metadata. Other: --value grade:1=0"
        )
    for (language, query_id), pool in pools.items():
        if pool.tags:
            builder.left_out("descriptions and narratives", "the title is the query", len(pool.tags))
        shown, all_ranks = [], pool.ranks()
        for passage in pool.passages():
            known = _corpus_passage(texts, language, passage) or ShownPassage(None, passage)
            grade = pool.grades.get(passage)
            metadata: dict[str, Any] = {} if grade is None else {"grade": grade}
            ranks = {name: rank for name, rank in all_ranks.get(passage, {}).items() if name not in _WHOLE}
            metadata |= {"ranks": ranks} if ranks else {}
            relevant = None if grade is None or grade == -1 else grade >= RELEVANT_FROM
            pooled = None if GIVEN in pool.runs else True
            shown.append(
                ShownPassage(known.text, passage, known.title, relevant, known.url, metadata, pooled, known.language)
            )
        rankings = [
            GivenRanking(
                name,
                [
                    (_corpus_passage(texts, language, passage) or ShownPassage(None, passage), ranked[passage][0])
                    for passage in pool.order(name)
                ],
            )
            for name, ranked in sorted(pool.runs.items())
            if name not in _WHOLE
        ]
        yield Item(
            pool.text,
            query_id=query_id,
            language=language,
            passages=() if alone else shown,
            rankings=rankings,
            where=pool.where,
        )


def _tell_runs(pools: Mapping[_Key, _QueryPool], texts: _Texts, builder: Builder) -> None:
    """Report differing scores and ranks, and documents missing in the corpus."""
    lists = [ranked for pool in pools.values() for name, ranked in pool.runs.items() if name not in _WHOLE]
    by_score = (sorted(ranked.values(), key=lambda value: (-value[0], value[1])) for ranked in lists)
    if any(value[1] > after[1] for order in by_score for value, after in pairwise(order)):
        builder.note_guess("rank", "by the scores, as trec_eval has it; the ranks of the file say otherwise")
    known = {passage for _, passage in texts}
    unknown = {passage for ranked in lists for passage in ranked} - known if texts else set()
    if unknown:
        builder.left_out("texts of retrieved documents", "the corpus does not have them", len(unknown))


def write_run(
    arena: Arena,
    retriever: str,
    path: Path,
    *,
    languages: Iterable[str] | None = None,
    file: str = "run.{}.txt",
) -> int:
    """Write a retriever's lists as a run, which can be imported again.

    An unknown score is written as 1 over the rank.

    Args:
        arena: the arena.
        retriever: the retriever, also the name of the run.
        path: the folder, with one file per language; for one language without such a folder, the file.
        languages: codes; None for all.
        file: name of a language's file in the folder; `{}` is its code.

    Returns:
        Number of lines written.

    Raises:
        TableMissing: if nothing was retrieved.
        UnknownName: if there is no such retriever.
        BadInput: if an id has whitespace, which a run cannot represent.
    """
    rows = arena.read("retrieved", languages=languages).to_pylist()
    if retriever not in (names := {row["retriever"] for row in rows}):
        raise UnknownName("retriever", retriever, names, where=arena.address)
    lines: dict[str, list[str]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["language"], row["query_id"], row["rank"])):
        if row["retriever"] == retriever:
            score = 1 / row["rank"] if row["score"] is None else row["score"]
            ids = f"{_bare(row['query_id'])} Q0 {_bare(row['passage_id'])}"
            lines[row["language"]].append(f"{ids} {row['rank']} {score!r} {_bare(retriever)}\n")
    if len(lines) == 1 and file == "run.{}.txt" and path.suffix:
        store.write_text(path, "".join(*lines.values()))
    else:
        for language, part in lines.items():
            store.write_text(path / file.format(language), "".join(part))
    return sum(map(len, lines.values()))


def _bare(name: str) -> str:
    if not name or re.search(r"\s", name):
        raise BadInput(f"the id {name!r} has whitespace, which TREC files cannot represent", do="export another format")
    return name


FORMAT = Format(
    name="trec",
    title="TREC and BEIR files: topics, graded qrels, runs, corpora; one file or a folder",
    source="usnistgov/trec_eval at 8bef1e9 (qrels, runs; -1 is not judged); allenai/ir_datasets, "
    "ir_datasets/formats/trec.py at 04dd8ca (topics with tags and in XML); BEIR's corpus.jsonl, queries.jsonl and "
    "qrels/*.tsv by the cards of its data sets on the Hugging Face hub",
    gives=("queries", "passages", "documents", "retrieved"),
    recognise=recognise,
    read=read,
    records=records,
)
