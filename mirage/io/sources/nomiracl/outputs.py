"""Read the published outputs: `<subset>/<language>.test.vanilla_prompt.jsonl[.gz]`, one query per line.

    {"query_id": .., "docids": [10 ids], "prompt": text or null, "template": "vanilla", "results": {system: answer}}

Irregularities of the files become named values. A system of the folder without an answer in a row is `missing` there;
an answer of white space is `empty`, its text kept; if the prompt was not published, query and passage texts are null.
Error texts of an API are kept as the text of an answer, and classified by the outcome.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput
from mirage.io.columns import Columns
from mirage.io.sources.checks import TEXT, TEXT_OR_NULL, Fields, check_fields, keep_one
from mirage.io.sources.nomiracl.origin import PASSAGES, SUBSETS
from mirage.io.sources.nomiracl.prompt import TEMPLATES, split_prompt, split_title
from mirage.store import files as store_files
from mirage.store.cores import Map
from mirage.store.files import list_files
from mirage.text.languages import language

if TYPE_CHECKING:
    import pyarrow as pa

Derive = Callable[[Mapping[str, "pa.Table"]], "dict[str, pa.Table]"]
"""Function that derives tables from tables, both by name."""
NO_PROMPT = "the prompt was not published"
"""Reason for the text of a query whose row has `prompt: null`."""

_NAME = ".test.vanilla_prompt.jsonl"
_FIELDS: Fields = {
    "query_id": TEXT,
    "docids": ((list,), f"a list of {PASSAGES} document ids"),
    "prompt": TEXT_OR_NULL,
    "template": TEXT,
    "results": ((dict,), "an object of answers by system"),
}


@dataclass(frozen=True, slots=True)
class ReadCount:
    """Counts of one language or of all."""

    language: str
    """Language code, or `all`."""
    files: int
    """Files read: one for each subset."""
    queries: int
    """Questions."""
    answers: int
    """Existing answers, including empty answers."""
    missing: int
    """Missing answers of systems that answered elsewhere in the folder."""
    empty: int
    """Answers of white space only."""
    prompts_absent: int
    """Queries without a published prompt, and therefore without text."""


def read_outputs(
    folder: Path,
    *,
    progress: Callable[[int, int], None] | None = None,
    batches: Map = map,
    derive: Derive | None = None,
) -> dict[str, pa.Table]:
    """Read the published outputs.

    Args:
        folder: a folder with `relevant/` and `non_relevant/` (or one of them), or a checkout of the repository. A file
            is named by the code of its language or by its lower-case English name.
        progress: called with the number of files read and the total.
        batches: applies a function to each file (`cores.on_cores`).
        derive: derives tables from the tables `queries` and `answers` of some rows; rows of answers must be
            independent. It is applied to each file in the process that reads it, and must be picklable if `batches`
            requires it.

    Returns:
        The tables `queries`, `passages` and `answers`, and the results of `derive`. There is one answer for each query
        and each system that answered anywhere in the folder. `relevant` is false for every passage of the non-relevant
        subset and null in the relevant one, as the files do not label its single passages.

    Raises:
        UnknownName: if a file is named after no known language.
        BadInput: naming file and line, for any other difference from the published form: nothing is repaired.
    """
    import pyarrow as pa

    files = _files(folder)
    parts: defaultdict[str, list[pa.Table]] = defaultdict(list)
    answered: list[_Answered] = []
    seen: dict[tuple[str, str], str] = {}
    if progress:
        progress(0, len(files))
    results = batches(partial(_read_and_derive, derive), files.values(), *zip(*files, strict=True))
    for number, (tables, of_file) in enumerate(results, start=1):
        _refuse_repeated(of_file, seen)
        if progress:
            progress(number, len(files))
        answered += of_file
        for name, table in tables.items():
            parts[name].append(table)
    missing = _missing(answered)
    parts["answers"].append(missing)
    for name, table in (
        derive({"queries": pa.concat_tables(parts["queries"]), "answers": missing}) if derive else {}
    ).items():
        parts[name].append(table)
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def output_files(folder: Path) -> list[Path]:
    """Return the files of a folder that `read_outputs` reads.

    Raises:
        UnknownName: if a file is named after no known language.
        BadInput: if there is none, or two for a language and subset.
    """
    return list(_files(folder).values())


def summarise(tables: Mapping[str, pa.Table]) -> list[ReadCount]:
    """Count the content of `read_outputs`, or of an arena built from it: by language, and of all."""

    def count(table: str, column: str) -> defaultdict[str, Counter[Any]]:
        by_language: defaultdict[str, Counter[Any]] = defaultdict(Counter)
        for row in tables[table].group_by(["language", column]).aggregate([([], "count_all")]).to_pylist():
            by_language[row["language"]][row[column]] = row["count_all"]
        return by_language

    subsets, reasons, statuses = count("queries", "subset"), count("queries", "reason"), count("answers", "status")

    def count_of(name: str, codes: Iterable[str]) -> ReadCount:
        queries, answers = (sum((counts[code] for code in codes), Counter()) for counts in (reasons, statuses))
        return ReadCount(
            language=name,
            files=sum(len(subsets[code]) for code in codes),
            queries=queries.total(),
            answers=answers.total() - answers["missing"],
            missing=answers["missing"],
            empty=answers["empty"],
            prompts_absent=queries.total() - queries[None],
        )

    codes = sorted(subsets)
    return [*(count_of(code, [code]) for code in codes), count_of("all", codes)]


_Answered = tuple[tuple[str, str], str, frozenset[str], str]
"""Language and id of a query, template of its row, the systems that answered, and the place of the row."""


def _files(folder: Path) -> dict[tuple[str, str], Path]:
    """Return the files of a folder by language and subset."""
    names = [f"{subset}/*{_NAME}{end}" for subset in SUBSETS for end in ("", ".gz")]
    paths = list_files(folder, *names) or list_files(folder, *(f"results/baselines/{n}" for n in names))
    if not paths:
        raise BadInput(
            f"{folder} holds no published outputs",
            do="give the folder above relevant/ and non_relevant/, in which files are named like "
            "en.test.vanilla_prompt.jsonl or .jsonl.gz; mirage pull nomiracl brings them",
        )
    files: dict[tuple[str, str], Path] = {}
    for path in paths:
        key = (language(path.name.split(_NAME)[0], where=str(path)).code, path.parent.name)
        keep_one(files, key, path, f"files for {', '.join(key)}")
    return files


def _refuse_repeated(answered: list[_Answered], seen: dict[tuple[str, str], str]) -> None:
    """Reject a query with two rows in its language."""
    for key, _, _, where in answered:
        if (before := seen.setdefault(key, where)) != where:
            raise BadInput(
                f"query {key[1]} of {key[0]} occurs twice",
                where=f"{where}, first at {before}",
                do="keep one of the rows",
            )


def _read_and_derive(
    derive: Derive | None, path: Path, code: str, subset: str
) -> tuple[dict[str, pa.Table], list[_Answered]]:
    """Return the tables of one file with those derived from them."""
    tables, answered = _read(path, code, subset)
    return tables | (derive(tables) if derive else {}), answered


def _read(path: Path, code: str, subset: str) -> tuple[dict[str, pa.Table], list[_Answered]]:
    """Read the tables of one file, without the missing answers."""
    columns = Columns("answers")
    answered: list[_Answered] = []
    label = False if subset == "non_relevant" else None
    for where, row in _rows(path):
        key = code, row["query_id"]
        text: str | None = None
        passages: list[tuple[str | None, str | None]] = [(None, None)] * PASSAGES
        if row["prompt"] is not None:
            text, shown = split_prompt(row["prompt"], query_id=key[1], where=where)
            passages = [split_title(passage) for passage in shown]
        columns.add("queries", key, subset=subset, text=text, reason=NO_PROMPT if text is None else None)
        for position, (docid, (title, passage)) in enumerate(zip(row["docids"], passages, strict=True), start=1):
            about = {"passage_id": docid, "position": position, "relevant": label}
            columns.add("passages", key, **about, title=title, text=passage)
        answers = {system: answer for system, answer in row["results"].items() if answer is not None}
        for system, answer in answers.items():
            status = "ok" if answer.strip() else "empty"
            columns.add("answers", key, system=system, text=answer, status=status, template=row["template"])
        answered.append((key, row["template"], frozenset(answers), where))
    if not answered:
        raise BadInput("this file is empty", where=str(path), do="fetch or copy the file again")
    try:
        return columns.tables(), answered
    except BadInput as error:
        raise BadInput(error.what, where=str(path), do=error.do) from None


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a file with their location, after a check of all fields and types."""
    for line in store_files.jsonl(path):
        where, row = line.where, line.value
        check_fields(row, _FIELDS, where)
        query_id, docids = row["query_id"], row["docids"]
        if len(docids) != PASSAGES:
            raise BadInput(
                f"query {query_id} has {len(docids)} docids, not {PASSAGES}",
                where=where,
                do="give one document id for each passage of the prompt",
            )
        ids = {f"docid {place} of query {query_id}": docid for place, docid in enumerate(docids, start=1)}
        check_fields(ids, dict.fromkeys(ids, TEXT), where)
        if len(set(docids)) != PASSAGES:
            raise BadInput(f"query {query_id} has a docid twice", where=where, do="name every passage once")
        if row["prompt"] is not None and row["template"] not in TEMPLATES:
            raise BadInput(
                f"query {query_id} has the template {row['template']!r}, whose prompts cannot be taken apart here",
                where=where,
                do=f"give rows of the templates {', '.join(TEMPLATES)}",
            )
        check_fields(row["results"], dict.fromkeys(row["results"], TEXT_OR_NULL), where)
        yield where, row


def _missing(answered: list[_Answered]) -> pa.Table:
    """Return a missing answer for each system of the folder that a row lacks."""
    every = frozenset[str]().union(*(systems for _, _, systems, _ in answered))
    columns = Columns("answers")
    for key, template, systems, _ in answered:
        for system in sorted(every - systems):
            columns.add("answers", key, system=system, status="missing", template=template)
    return columns.tables()["answers"]
