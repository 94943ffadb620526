"""Information retrieval files: topics, graded qrels, runs and corpora, one file or a folder of them.

A run is a retriever's result, and its tag the retriever's name; runs of one tag in several files are distinguished by
file. Scores order a run, and ranks only break ties. With topics or labels, the passages of a query are those judged or
among the top ten of a run, marked as pooled: no retriever returned them in this order. A run alone does not change
passages, unless it is named `given`, as are passages supplied with the queries. Grade and ranks are stored in the
passage's metadata. A file name like `topics.sw.tsv` gives the language of its queries.
"""

import itertools
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import first, need, number, text, wrong
from mirage.io.formats.spec import GivenRanking, Item, Record, Sample, ShownPassage, load_names
from mirage.stages.retrieve.corpus import ID_FIELDS, TEXT_FIELDS
from mirage.stages.shown import GIVEN
from mirage.store import files as store_files
from mirage.store.files import list_files
from mirage.text import languages

DEPTH = 10
"""Number of top passages per run for a query."""
RELEVANT_FROM = 1
"""Lowest grade that counts as relevant."""
Kind = Literal["topics", "qrels", "run", "corpus"]
_ORDER: tuple[Kind, ...] = ("topics", "qrels", "run", "corpus")
_NAMES = load_names("trec")
_ABOUT = _NAMES["about"]
_TOPIC = frozenset(itertools.chain(*_NAMES.values()))
_CORPUS = re.compile(r"corpus|collection|doc|passage|segment", re.IGNORECASE)
_GRADED = re.compile(r"qrel|judg|label|relevan|corpus-id", re.IGNORECASE)
"""Names of files with labels, and BEIR's header of their columns."""
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?nan|[+-]?inf(inity)?", re.IGNORECASE)
_HEADER = re.compile(r"(query|topic)?[-_ ]?(id)?|qid|query|topic", re.IGNORECASE)
"""First column of a header."""
_NAMED = re.compile(
    r"(^|[/._-])(qrels|runs?|topics|queries)([._-].*)?\.(txt|tsv|trec|run|res|jsonl?|gz|zst)$", re.IGNORECASE
)
"""File names that identify a kind."""
_ENDINGS = re.compile(r"(\.(txt|tsv|trec|run|res|json|gz|zst))+$", re.IGNORECASE)


def kind_of(name: str, lines: Iterable[str]) -> Kind | None:
    """Detect the kind of a text file from its first lines; None if unknown.

    Args:
        name: the file's name.
        lines: its first lines, of which comments and empty ones are passed over.
    """
    told = [line for each in lines if (line := each.lstrip("\ufeff")).strip() and not _is_comment(line)]
    if not told:
        return None
    if told[0].startswith("{"):
        return _json_kind(name, told[0])
    if _is_header(told[0]) and told[1:]:
        name, line = f"{name} {told[0]}", told[1]
    else:
        line = told[0]
    cells, tabs = _columns(line), line.split("\t")
    if len(cells) == 6 and re.fullmatch(r"-?\d+", cells[3]) and _NUMBER.fullmatch(cells[4]):
        return "run"
    if len(cells) == 4 and len(tabs) != 2 and _NUMBER.fullmatch(cells[3]):
        return "qrels"
    # Three columns may be a run, with the rank or the score last.
    if len(cells) == 3 and _NUMBER.fullmatch(cells[2]) and _GRADED.search(name):
        return "qrels"
    is_pair = len(tabs) == 2 and all(cell.strip() for cell in tabs) and " " not in tabs[0].strip()
    return "topics" if is_pair and not _CORPUS.search(name) else None


def _is_comment(line: str) -> bool:
    """Return whether a line is a comment; topic ids may begin likewise, but a tab follows them."""
    return line.startswith("#") and not re.match(r"#\S*\t", line)


def _is_header(line: str) -> bool:
    """Return whether a line names columns: the first is an id, and none holds a number."""
    cells = _columns(line)
    return len(cells) in (3, 4, 6) and bool(_HEADER.fullmatch(cells[0])) and not any(map(_NUMBER.fullmatch, cells))


def _json_kind(name: str, line: str) -> Kind | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if ("docid" in record or "_id" in record) and any(key in record for key in TEXT_FIELDS):
        return "corpus" if "docid" in record or "title" in record or _CORPUS.search(name) else "topics"
    return "topics" if any(key in record for key in ("qid", "query_id", "topic_id")) and set(record) <= _TOPIC else None


def recognise(sample: Sample) -> str | None:
    """Detect a file of one of the kinds, or a folder with such files."""
    if sample.path.is_dir():
        kinds = sorted({kind for _, kind in _files(sample.path) if kind}, key=_ORDER.index)
        return f"holds {', '.join(kinds)}" if {"topics", "qrels", "run"} & set(kinds) else None
    kind = kind_of(sample.path.name, sample.lines)
    return None if kind is None else f"its lines are {'of a run' if kind == 'run' else kind}"


def _files(path: Path) -> list[tuple[Path, Kind | None]]:
    """Return a file, or the files of a folder in reading order, with their kinds; None for an unknown kind."""
    ranked = []
    for file in list_files(path, "**/*") if path.is_dir() else [path]:
        try:
            with closing(store_files.lines(file)) as lines:
                kind = kind_of(file.name, [line for _, line in islice(lines, 20)])
        except BadInput:
            if file == path:
                raise
            kind = None
        ranked.append((_ORDER.index(kind) if kind else len(_ORDER), file, kind))
    return [(file, kind) for _, file, kind in sorted(ranked, key=lambda each: each[:2])]


def lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the records of a file or of a folder's files, corpora last, with their locations.

    A record has its `kind` and `file`, and the fields of its kind: `query_id` and `text`; `query_id`, `passage_id` and
    `grade`; `query_id`, `passage_id`, `rank`, `score` and `run`; `passage_id`, `title` and `text`. A file of unknown
    kind in a folder is one record of kind `unread`.

    Raises:
        BadInput: naming file and line, if a line does not match its file's kind.
    """
    files = _files(path)
    if not any(kind for _, kind in files):
        raise BadInput(
            "there are neither topics, qrels, a run nor a corpus",
            where=str(path),
            do="use files with the columns listed in docs/data.md",
        )
    for file, kind in files:
        if kind is None:
            yield {"kind": "unread", "file": str(file), "name": file.relative_to(path).as_posix()}, str(file)
            continue
        shared = {"kind": kind, "file": str(file), "language": languages.language_of_file(file.name)}
        for value, where in _READERS[kind](file):
            yield shared | value, where


_Numbered = Iterator[tuple[dict[str, Any], str]]


def _json(path: Path, **names: Sequence[str]) -> _Numbered:
    """Yield records of JSON Lines: our fields, each under the first of its names that has a value."""
    for each in store_files.jsonl(path):
        found = {ours: first(each.value, *theirs) for ours, theirs in names.items()}
        yield {ours: value for ours, value in found.items() if value is not None}, each.where


def _topics(path: Path) -> _Numbered:
    if next(_rows(path, header=False))[1].startswith("{"):
        about = {name: (name,) for name in (*_ABOUT, "language")}
        yield from _json(path, query_id=_NAMES["query_id"], text=_NAMES["text"], **about)
        return
    for where, line in _rows(path, header=False):
        query_id, _, content = line.partition("\t")
        if not (query_id.strip() and content.strip()):
            raise BadInput("this line is not an id, a tab and a query", where=where, do="write: id TAB query")
        yield {"query_id": query_id, "text": content}, where


def _columns(line: str) -> list[str]:
    """Split a line at ASCII white space, as trec_eval does; any other space is part of an id."""
    return re.findall(r"[^ \t\r\n\f\v]+", line)


def _rows(path: Path, *, header: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file without comments, blank lines and, if its kind has one, the header."""
    opening = True
    for where, line in store_files.lines(path):
        plain = line.lstrip("\ufeff")
        if plain.strip() and not _is_comment(plain):
            if not (header and opening and _is_header(plain)):
                yield where, plain
            opening = False


def _qrels(path: Path) -> _Numbered:
    for where, line in _rows(path):
        fields = _columns(line)
        try:
            query_id, *_, passage_id, grade = fields
            if len(fields) not in (3, 4) or not math.isfinite(value := float(grade)):
                raise ValueError
        except ValueError:
            do = "write: query id, Q0, document id, a whole number"
            raise BadInput("this line is no judgment", where=where, do=do) from None
        whole = int(value) if value.is_integer() else value
        yield {"query_id": query_id, "passage_id": passage_id, "grade": whole}, where


def _run(path: Path) -> _Numbered:
    for where, line in _rows(path):
        try:
            query_id, _, passage_id, rank, score, run = _columns(line)
            place, value = int(rank), float(score)
        except ValueError:
            do = "write: query id, Q0, document id, rank, score, name of the run"
            raise BadInput("this line is not of a run", where=where, do=do) from None
        yield {"query_id": query_id, "passage_id": passage_id, "rank": place, "score": value, "run": run}, where


def _corpus(path: Path) -> _Numbered:
    return _json(path, passage_id=ID_FIELDS, text=TEXT_FIELDS, title=("title",), url=("url",))


_READERS = {"topics": _topics, "qrels": _qrels, "run": _run, "corpus": _corpus}


_Key = tuple[str | None, str]
"""Language, if a file name gives it, and query_id."""
_Texts = dict[str, dict[str | None, ShownPassage]]
"""Passages of the corpus by id and language, null if not given."""


@dataclass(slots=True)
class _QueryPool:
    """Collected data on one query and its passages."""

    where: str = ""
    text: str | None = None
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
        """Return ranks by passage and run, from 1, among the top ten; in `given` all ranks.

        Ranks that do not match the order of scores are replaced.
        """
        by_passage: dict[str, dict[str, int]] = defaultdict(dict)
        for run in sorted(self.runs):
            order = self.order(run)
            ranks = [self.runs[run][passage][1] for passage in order]
            if ranks[0] < 1 or any(rank >= after for rank, after in pairwise(ranks)):
                ranks = list(range(1, len(order) + 1))
            for rank, passage in zip(ranks, order, strict=True):
                if rank <= DEPTH or run == GIVEN:
                    by_passage[passage][run] = rank
        return by_passage

    def passages(self) -> list[str]:
        """Return the ids of passages judged or ranked, by best rank.

        If there is a run `given`, only its ranks count. Grades do not affect the order, in which systems are shown the
        passages.
        """
        runs = {GIVEN} & self.runs.keys() or self.runs.keys()
        ranks = {passage: [rank for run, rank in of.items() if run in runs] for passage, of in self.ranks().items()}
        best = {passage: min(found) for passage, found in ranks.items() if found}
        return sorted({*self.grades, *best}, key=lambda each: (best.get(each, math.inf), each))


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Combine all files into queries with pooled passages; texts of other passages are counted as ignored."""
    pools: dict[_Key, _QueryPool] = {}
    texts: _Texts = {}
    wanted: set[str] | None = None
    for record in records:
        if record.value["kind"] == "unread":
            name = record.value["name"]
            if _NAMED.search(name):
                raise BadInput("its name says topics, qrels or a run, its lines do not", where=record.value["file"])
            builder.left_out(name, "this file is neither topics, qrels, a run nor a corpus")
            continue
        if record.value["kind"] != "corpus":
            _gather(record, pools, builder)
            continue
        if wanted is None:
            wanted = {passage for pool in pools.values() for passage in pool.grades}
            wanted |= {passage for pool in pools.values() for ranked in pool.lists.values() for passage in ranked}
        passage_id = need(record, "passage_id")
        if passage_id not in wanted:
            builder.left_out("passages of the corpus", "they are unjudged and in no run")
            continue
        code = text(record, "language")
        texts.setdefault(passage_id, {})[code] = ShownPassage(
            text(record, "text"), passage_id, text(record, "title"), url=text(record, "url"), language=code
        )
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


def _gather(record: Record, pools: dict[_Key, _QueryPool], builder: Builder) -> None:
    key = text(record, "language"), need(record, "query_id")
    pool = pools.setdefault(key, _QueryPool(record.where))
    kind = record.value["kind"]
    if kind == "topics":
        if pool.text is not None:
            raise BadInput(f"query {key[1]} occurs twice", where=record.where, do=f"keep one; the first: {pool.where}")
        pool.where, pool.text = record.where, need(record, "text")
        for name in _ABOUT:
            if record.value.get(name):
                builder.left_out(f"{name}s", "the title is the query")
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


def _passage(texts: _Texts, language: str | None, passage_id: str) -> ShownPassage:
    """Return a passage in the query's language, without a language, or in its id's only language."""
    known = texts.get(passage_id, {})
    only = next(iter(known.values())) if len(known) == 1 else ShownPassage(None, passage_id)
    return known.get(language) or known.get(None) or only


def _build(pools: Mapping[_Key, _QueryPool], texts: _Texts, builder: Builder) -> Iterator[Item]:
    alone = not any(pool.text or pool.grades or GIVEN in pool.runs for pool in pools.values())
    if not alone and any(pool.runs or pool.grades for pool in pools.values()):
        builder.note_guess("passages", f"those judged, and the first {DEPTH} of each run; no system was shown them")
    _tell_runs(pools, texts, builder)
    if any(grade > 1 for pool in pools.values() for grade in pool.grades.values()):
        builder.note_guess(
            "relevant", f"from grade {RELEVANT_FROM} on; grades stay in the metadata. Other: --value grade:1=0"
        )
    for (language, query_id), pool in pools.items():
        shown, all_ranks = [], pool.ranks()
        for name in pool.passages():
            grade = pool.grades.get(name)
            ranks = {run: rank for run, rank in all_ranks.get(name, {}).items() if run != GIVEN}
            metadata = ({} if grade is None else {"grade": grade}) | ({"ranks": ranks} if ranks else {})
            relevant = None if grade is None or grade == -1 else grade >= RELEVANT_FROM
            pooled = None if GIVEN in pool.runs else True
            known = _passage(texts, language, name)
            shown.append(replace(known, relevant=relevant, metadata=metadata, pooled=pooled))
        rankings = [
            GivenRanking(run, [(_passage(texts, language, name), ranked[name][0]) for name in pool.order(run)])
            for run, ranked in sorted(pool.runs.items())
            if run != GIVEN
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
    lists = [ranked for pool in pools.values() for name, ranked in pool.runs.items() if name != GIVEN]
    by_score = (sorted(ranked.values(), key=lambda value: (-value[0], value[1])) for ranked in lists)
    if any(value[1] > after[1] for order in by_score for value, after in pairwise(order)):
        builder.note_guess("rank", "by the scores, as trec_eval has it; the ranks of the file say otherwise")
    unknown = {passage for ranked in lists for passage in ranked} - texts.keys() if texts else set()
    if unknown:
        builder.left_out("texts of retrieved documents", "the corpus does not have them", len(unknown))


FORMAT = Format(*describe("trec"), recognise=recognise, read=read, lines=lines, folder=True)
