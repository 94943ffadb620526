"""Files of information retrieval: topics, graded qrels, runs and corpora, one file or a folder of them.

A run is what a retriever brought, and its name is the retriever's. Beside topics or labels, the passages of a query are
those that are judged or that a run ranks among its first ten; a run alone changes no passages, unless it is named
`given`, as those are that came with the queries. The grade and the ranks stay in the metadata of the passage. A file
named `topics.sw.tsv` says the language of its queries.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mirage import languages, store
from mirage.errors import BadInput, UnknownName
from mirage.formats.fields import need, number, text, wrong
from mirage.formats.spec import Builder, Format, Record, Sample, ShownPassage
from mirage.formats.whole import whole_queries
from mirage.shown import GIVEN, retrievers
from mirage.sources import trec

if TYPE_CHECKING:
    from mirage.store import Arena

DEPTH = 10
"""Passages of a run that a query gets, from the first."""
RELEVANT_FROM = 1
"""The lowest grade that counts as relevant."""
Kind = Literal["topics", "qrels", "run", "corpus"]
_ORDER: tuple[Kind, ...] = ("topics", "qrels", "run", "corpus")
IDS = ("_id", "docid", "doc_id", "pid", "id")
"""Names of the id of a document in a corpus."""
TEXTS = ("text", "contents", "segment", "body")
"""Names of its text."""
_QUERIES = ("text", "query", "title", "question", "topic")
_QUERY_IDS = ("_id", "qid", "query_id", "topic_id", "id")
_CORPUS = re.compile(r"corpus|collection|doc|passage|segment", re.IGNORECASE)
_HEADER = ("query-id", "corpus-id", "score")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_TAG = re.compile(
    r"(?:topics|queries|qrels|run|corpus|collection|passages|documents|docs|segments)[^.]*"
    r"\.([a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)"
    r"(?:\.(?:tsv|txt|jsonl?|ndjson|trec|xml|sgml|gz|zst))+"
)
"""The name of a file that says its language: `topics.pt-BR.tsv`."""
_WORDS = frozenset(("new", "min"))
"""Codes of languages that a file's name rather has for another reason."""


def kind_of(name: str, lines: Iterable[str]) -> Kind | None:
    """What the lines of a text file are, by the first that is not empty; None where they are nothing of these.

    Args:
        name: the file's name: a corpus in two columns looks like topics and must be named for what it is.
        lines: its first lines.
    """
    line = next((line for line in (each.lstrip("\ufeff") for each in lines) if line.strip()), "")
    fields, tabs = line.split(), line.split("\t")
    if re.match(r"\s*<(top|topics|\?xml|xml)\b", line, re.IGNORECASE) or line.lstrip().lower().startswith("<?xml"):
        return "topics"
    if line.startswith("{"):
        return _json_kind(name, line)
    if tuple(tabs) == _HEADER or (len(fields) == 4 and len(tabs) != 2 and re.fullmatch(r"[+-]?\d+(\.0+)?", fields[3])):
        return "qrels"
    if len(fields) == 6 and fields[3].isdigit() and _NUMBER.fullmatch(fields[4]):
        return "run"
    if len(tabs) == 2 and all(cell.strip() for cell in tabs) and " " not in tabs[0].strip():
        return "corpus" if _CORPUS.search(name) else "topics"
    return None


def _json_kind(name: str, line: str) -> Kind | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, Mapping) or set(record) & {"answer", "response", "nuggets", "run_id", "passages"}:
        return None
    if ("docid" in record or "_id" in record) and any(key in record for key in TEXTS):
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
    """Whether a file is of one of the kinds, or a folder holds such files."""
    if sample.path.is_dir():
        kinds = sorted({kind for _, kind in _files(sample.path)}, key=_ORDER.index)
        return f"holds {', '.join(kinds)}" if {"topics", "qrels", "run"} & set(kinds) else None
    kind = kind_of(sample.path.name, sample.lines)
    return None if kind is None else f"its lines are {'of a run' if kind == 'run' else kind}"


def _files(folder: Path) -> Iterator[tuple[Path, Kind]]:
    """The files of a folder that are of one of the kinds, in the order in which they are needed."""
    ranked = []
    for path in store.list_files(folder, "*"):
        try:
            kind = kind_of(path.name, _beginning(path))
        except BadInput:
            continue
        if kind is not None:
            ranked.append((_ORDER.index(kind), path, kind))
    for _, path, kind in sorted(ranked, key=lambda each: (each[0], each[1])):
        yield path, kind


def _beginning(path: Path) -> list[str]:
    lines = store.lines(path)
    try:
        return [line for _, (_, line) in zip(range(20), lines, strict=False)]
    finally:
        lines.close()


def records(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """The records of a file or of a folder's files, corpora last, each with its line number.

    A record says its `kind` and its `file`, and has the fields of its kind: `query_id` and `text`; `query_id`,
    `passage_id` and `grade`; `query_id`, `passage_id`, `rank`, `score` and `run`; `passage_id`, `title` and `text`.

    Raises:
        BadInput: naming file and line, if a line is not of its file's kind.
    """
    if path.is_dir():
        files = list(_files(path))
    else:
        kind = kind_of(path.name, _beginning(path))
        files = [] if kind is None else [(path, kind)]
    if not files:
        raise BadInput(
            "there are neither topics, qrels, a run nor a corpus",
            where=str(path),
            do="give files with the columns that docs/data.md names",
        )
    for file, kind in files:
        shared = {"kind": kind, "file": str(file), "language": language_of_file(file.name)}
        for value, where in _READERS[kind](file):
            yield shared | value, int(where.rpartition(":")[2])


def language_of_file(name: str) -> str | None:
    """The language that a file's name says; None where it says none.

    The 18 of MIRACL are taken anywhere in it (`topics.miracl-v1.0-sw-dev.tsv`). Any other tag in its normal form stands
    alone between the kind and the ending (`topics.pt-BR.tsv`), and of codes with three letters only those of languages
    that `mirage.languages` has a family of: `dev`, `top` and most short words are codes too.
    """
    if (
        (match := _TAG.fullmatch(name))
        and (code := match[1].replace("_", "-")) not in _WORDS
        and languages.is_code(code)
    ):
        entry = languages.language(code)
        if len(entry.base) == 2 or entry.family is not None:
            return code
    return next((part for part in re.split(r"[._-]", name) if part in languages.LANGUAGES), None)


_Numbered = Iterator[tuple[dict[str, Any], str]]


def _topics(path: Path) -> _Numbered:
    first = next((line for line in _beginning(path) if line.strip()), "").lstrip("\ufeff \t")
    if first.startswith("<"):
        for topic, where in trec.tagged_topics(store.lines(path)):
            named = {"description": topic.get("desc"), "narrative": topic.get("narr")}
            # Tracks without titles give the query as the description.
            title = topic.get("title") or named.pop("description")
            yield {"query_id": topic["num"], "text": title} | named, where
    elif first.startswith("{"):
        for each in store.jsonl(path):
            about = {key: each.value[key] for key in ("description", "narrative", "language") if each.value.get(key)}
            yield {"query_id": _of(each.value, _QUERY_IDS), "text": _of(each.value, _QUERIES)} | about, each.where
    else:
        for where, line in store.lines(path):
            query_id, tab, content = line.lstrip("\ufeff").partition("\t")
            if line.strip() and not (query_id.strip() and tab and content.strip()):
                raise BadInput("this line is not an id, a tab and a query", where=where, do="write: id TAB query")
            if line.strip():
                yield {"query_id": query_id, "text": content}, where


def _qrels(path: Path) -> _Numbered:
    for where, line in store.lines(path):
        plain = line.lstrip("\ufeff")
        if not plain.strip() or tuple(plain.split("\t")) == _HEADER:
            continue
        cells = plain.split("\t")
        # BEIR's qrels have no second column.
        label = trec.graded(plain if len(cells) != 3 else f"{cells[0]} 0 {cells[1]} {cells[2]}", where)
        yield {"query_id": label.query_id, "passage_id": label.passage_id, "grade": label.grade}, where


def _run(path: Path) -> _Numbered:
    for where, line in store.lines(path):
        if line.strip():
            each = trec.ranked(line.lstrip("\ufeff"), where)
            yield {name: getattr(each, name) for name in ("query_id", "passage_id", "rank", "score", "run")}, where


def _corpus(path: Path) -> _Numbered:
    first = next((line for line in _beginning(path) if line.strip()), "").lstrip("\ufeff")
    if first.startswith("{"):
        for each in store.jsonl(path):
            value = each.value
            yield (
                {
                    "passage_id": _of(value, IDS),
                    "title": value.get("title"),
                    "text": _of(value, TEXTS),
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


def _of(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


_Key = tuple[str | None, str]
"""Language, where a file's name says it, and query_id."""


@dataclass(slots=True)
class _QueryPool:
    """What the files say of one query and its passages."""

    where: str = ""
    text: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    grades: dict[str, int] = field(default_factory=dict)
    ranks: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """By passage and run: its rank, among the first ten."""
    runs: dict[str, dict[str, tuple[float, int]]] = field(default_factory=lambda: defaultdict(dict))
    """By run and passage: its score and rank."""

    def passages(self) -> list[str]:
        """The ids of those judged or ranked (by the run `given` alone if there is one): by best rank, then by grade."""
        alone = GIVEN in self.runs
        best = {
            passage: min(ranks.values()) if not alone else ranks[GIVEN]
            for passage, ranks in self.ranks.items()
            if not alone or GIVEN in ranks
        }
        ids = {*self.grades, *best}
        return sorted(ids, key=lambda each: (best.get(each, math.inf), -self.grades.get(each, 0), each))


def read(records: Iterable[Record], builder: Builder) -> None:
    """Take all files together for queries with pooled passages; texts of other passages are counted and left out."""
    pools: dict[_Key, _QueryPool] = {}
    texts: dict[tuple[str | None, str], ShownPassage] = {}
    wanted: set[str] | None = None
    for each in records:
        # In a folder the line is of the record's own file.
        record = Record(each.value, f"{each.value['file']}:{each.where.rpartition(':')[2]}")
        if record.value["kind"] != "corpus":
            _gather(record, pools)
            continue
        if wanted is None:
            wanted = {passage for pool in pools.values() for passage in pool.grades}
            wanted |= {passage for pool in pools.values() for ranks in pool.runs.values() for passage in ranks}
        passage_id = need(record, "passage_id")
        if passage_id not in wanted:
            builder.left_out("passages of the corpus", "nobody judged them and no run has them")
            continue
        texts[text(record, "language"), passage_id] = ShownPassage(
            text(record, "text"), passage_id, text(record, "title"), url=text(record, "url")
        )
    _build(pools, texts, builder)


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
        grade = _whole(record, "grade")
        if pool.grades.setdefault(passage, grade) != grade:
            raise BadInput(
                f"document {passage} has two grades for query {key[1]}", where=record.where, do="keep one line"
            )
        return
    rank, name = _whole(record, "rank"), need(record, "run")
    if passage in pool.runs[name]:
        raise BadInput(
            f"{name} ranks document {passage} twice for query {key[1]}", where=record.where, do="keep one line"
        )
    pool.runs[name][passage] = number(record.value.get("score")) or 0.0, rank
    if rank <= DEPTH or name == GIVEN:
        pool.ranks[passage][name] = rank


def _whole(record: Record, name: str) -> int:
    value = number(record.value.get(name))
    if value is None or value != int(value):
        raise wrong(record, name, "a whole number", record.value.get(name))
    return int(value)


def _build(
    pools: Mapping[_Key, _QueryPool], texts: Mapping[tuple[str | None, str], ShownPassage], builder: Builder
) -> None:
    alone = not any(pool.text or pool.grades or GIVEN in pool.runs for pool in pools.values())
    if not alone and any(pool.ranks or pool.grades for pool in pools.values()):
        builder.guessed("passages", f"those judged, and the first {DEPTH} of each run; no system was shown them")
    _tell_runs(pools, texts, builder)
    if any(grade > 1 for pool in pools.values() for grade in pool.grades.values()):
        builder.guessed(
            "relevant", f"from grade {RELEVANT_FROM} on; grades stay in the metadata. Other: --value grade:1=0"
        )
    for (language, query_id), pool in pools.items():
        if pool.tags:
            builder.left_out("descriptions and narratives", "the title is the query", len(pool.tags))
        query = builder.query(pool.text, where=pool.where, query_id=query_id, language=language)
        shown = []
        for passage in pool.passages():
            known = texts.get((language, passage)) or texts.get((None, passage)) or ShownPassage(None, passage)
            grade = pool.grades.get(passage)
            metadata: dict[str, Any] = {} if grade is None else {"grade": grade}
            ranks = {name: rank for name, rank in sorted(pool.ranks.get(passage, {}).items()) if name != GIVEN}
            metadata |= {"ranks": ranks} if ranks else {}
            relevant = None if grade is None or grade == -1 else grade >= RELEVANT_FROM
            shown.append(ShownPassage(known.text, passage, known.title, relevant, known.url, metadata))
        if shown and not alone:
            builder.passages(query, shown, where=pool.where)
        for name, ranked in sorted(pool.runs.items()):
            if name != GIVEN:
                # As trec_eval has it, the score decides; the rank does between equals.
                order = sorted(ranked, key=lambda each: (-ranked[each][0], ranked[each][1], each))
                rows = [
                    (known or ShownPassage(None, passage), ranked[passage][0])
                    for passage in order
                    for known in [texts.get((language, passage)) or texts.get((None, passage))]
                ]
                builder.retrieved(query, name, rows, where=pool.where)


def _tell_runs(
    pools: Mapping[_Key, _QueryPool], texts: Mapping[tuple[str | None, str], ShownPassage], builder: Builder
) -> None:
    """Say where scores and ranks differ, and how many documents have no text although there is a corpus."""
    lists = [ranked for pool in pools.values() for name, ranked in pool.runs.items() if name != GIVEN]
    by_score = (sorted(ranked.values(), key=lambda value: (-value[0], value[1])) for ranked in lists)
    if any(value[1] > after[1] for order in by_score for value, after in pairwise(order)):
        builder.guessed("rank", "by the scores, as trec_eval has it; the ranks of the file say otherwise")
    known = {passage for _, passage in texts}
    unknown = {passage for ranked in lists for passage in ranked} - known if texts else set()
    if unknown:
        builder.left_out("texts of retrieved documents", "the corpus does not have them", len(unknown))


def write(arena: Arena, path: Path) -> None:
    """Write a folder: for each language LL `topics.LL.tsv`, `qrels.LL.txt`, `run.LL.txt` and `corpus.LL.jsonl`.

    Grades come from the metadata, else 1 and 0. The run `given` has the passages in the order of the arena, and each
    retriever's is `run.N.LL.txt`, numbered in the order of their names.

    Raises:
        TableMissing: if the arena has no queries.
        BadInput: if an id has white space, which these files cannot hold.
    """
    by_language: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    seen: set[tuple[str, str | None]] = set()
    for query in whole_queries(arena).values():
        files = by_language[query.language]
        query_id = _bare(query.query_id)
        if query.text is not None:
            files["topics.{}.tsv"].append(f"{query_id}\t{' '.join(query.text.split())}")
        for rank, passage in enumerate(query.passages, start=1):
            passage_id = _bare(passage.passage_id or "")
            grade = (passage.metadata or {}).get("grade")
            if grade is None and passage.relevant is not None:
                grade = int(passage.relevant)
            if grade is not None:
                files["qrels.{}.txt"].append(f"{query_id} 0 {passage_id} {grade}")
            files["run.{}.txt"].append(f"{query_id} Q0 {passage_id} {rank} {1 / rank:.6g} {GIVEN}")
            if passage.text is not None and (query.language, passage_id) not in seen:
                seen.add((query.language, passage_id))
                document = {"_id": passage_id, "title": passage.title or "", "text": passage.text}
                files["corpus.{}.jsonl"].append(json.dumps(document, ensure_ascii=False))
    for language, files in by_language.items():
        for name, lines in files.items():
            store.write_text(path / name.format(language), "".join(f"{line}\n" for line in lines))
    for number_of, name in enumerate(retrievers(arena), start=1):
        write_run(arena, name, path, file=f"run.{number_of}.{{}}.txt")


def write_run(
    arena: Arena,
    retriever: str,
    path: Path,
    *,
    languages: Iterable[str] | None = None,
    file: str = "run.{}.txt",
) -> int:
    """Write what a retriever brought as a run.

    A score that is not known is written as one over the rank. The run can be imported again.

    Args:
        arena: the arena.
        retriever: the retriever, whose name becomes that of the run.
        path: the folder, of one file a language; where there is one language and no such folder, the file.
        languages: codes; None for all.
        file: how a language's file is named in the folder; `{}` is its code.

    Returns:
        How many lines were written.

    Raises:
        TableMissing: if nothing was retrieved.
        UnknownName: if there is no such retriever.
        BadInput: if an id has white space, which a run cannot hold.
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
        raise BadInput(f"the id {name!r} has white space, which TREC files cannot hold", do="export another format")
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
    write=write,
)
