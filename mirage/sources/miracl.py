"""The evaluation set of MIRAGE-Bench, rebuilt from the topics and qrels of MIRACL dev (Zhang et al., TACL 2023).

The rule of MIRAGE-Bench, section 3.1: a question stays if a passage was judged non-relevant to it; Arabic, which has
2,896 of them, is cut at random to 1,501. Topics and qrels hold no passage texts: passages come with id and label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.draw import sample
from mirage.errors import BadInput, UnknownName
from mirage.languages import LANGUAGES, language
from mirage.sources import trec
from mirage.sources.download import Progress, Pulled, fetch

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

NAME = "MIRACL dev topics and qrels (castorini/anserini-tools)"
URL = "https://raw.githubusercontent.com/castorini/anserini-tools/master/topics-and-qrels"
LICENCE = "Apache-2.0"
NO_TEXT = "passages have ids and labels alone: their titles and texts are in MIRACL's corpora, not in topics and qrels"
"""Why the titles and texts of the passages are null."""

PUBLISHED = dict(
    zip(
        LANGUAGES,
        (1501, 411, 304, 787, 617, 632, 1183, 343, 350, 939, 797, 213, 1247, 481, 150, 730, 119, 391),
        strict=True,
    )
)
"""Questions of each language as MIRAGE-Bench prints them (Table 1)."""
ARABIC = PUBLISHED["ar"]
"""How many Arabic questions are drawn."""


@dataclass(frozen=True, slots=True)
class Count:
    """What became of one language."""

    language: str
    """Language code."""
    dev: int
    """Questions of MIRACL dev."""
    questions: int
    """Those that are in the evaluation set."""
    published: int
    """Those that the paper prints."""
    passages: int
    """Judged passages of the questions in the set."""
    remark: str
    """Why the two numbers differ, or what was drawn; empty where there is nothing to say."""


def pull(
    into: Path,
    *,
    languages: Iterable[str] | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
    rng: np.random.Generator | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Pulled:
    """Fetch topics and qrels of MIRACL dev, two files a language, into a folder that `read` then reads.

    Args:
        into: the folder; made if absent.
        languages: codes or lower-case English names; all 18 by default.
        base_url: another address with the same files under the same names.
        progress: as of `download.fetch`, like the rest.
        timeout: seconds.
        rng: draws the jitter of pauses.
        sleep: waits a number of seconds.

    Raises:
        UnknownName: if a language is unknown.
        Unreachable: if a file did not come, or none is there.
        BadInput: if the address is none, or the folder cannot be written.
    """
    codes = list(LANGUAGES) if languages is None else dict.fromkeys(language(name).code for name in languages)
    names = [f"{kind}.miracl-v1.0-{code}-dev.tsv" for code in codes for kind in ("topics", "qrels")]
    return fetch(into, names, base_url or URL, progress=progress, timeout=timeout, rng=rng, sleep=sleep)


def read(
    folder: Path, *, languages: Iterable[str] | None = None, seed: int = 0
) -> tuple[dict[str, pa.Table], list[Count]]:
    """Rebuild the evaluation set.

    Args:
        folder: topics and qrels, as `pull` names them or `topics.LL.tsv` and `qrels.LL.tsv`, or so with `.gz`.
        languages: codes or names; all that are there by default.
        seed: draws the Arabic questions; 0 or more.

    Returns:
        The tables `queries` and `passages` (labelled, without texts, in the order of the qrels), and what became of
        each language.

    Raises:
        UnknownName: if a language is unknown or not in the folder.
        BadInput: naming file and line, if a line is malformed, an id unknown or given twice, or a file is absent.
    """
    there = _files(folder)
    codes = list(there) if languages is None else list(dict.fromkeys(language(name).code for name in languages))
    queries: dict[str, list[Any]] = {name: [] for name in ("language", "query_id", "text")}
    passages: dict[str, list[Any]] = {
        name: [] for name in ("language", "query_id", "passage_id", "position", "relevant")
    }
    counts = []
    for code in codes:
        if code not in there:
            raise UnknownName("language", code, there, where=str(folder))
        texts = trec.topics(there[code]["topics"])
        judged = trec.qrels(there[code]["qrels"], texts)
        kept = sorted(query for query, labels in judged.items() if not all(one.relevant for one in labels))
        by_rule = len(kept)
        if code == "ar":
            kept = sample(kept, ARABIC, seed, "ar/miracl/dev")
        for query in kept:
            _add(queries, code, query, texts[query])
            for position, one in enumerate(judged[query], start=1):
                _add(passages, code, query, one.passage_id, position, one.relevant)
        n = sum(len(judged[query]) for query in kept)
        counts.append(Count(code, len(texts), len(kept), PUBLISHED[code], n, _remark(code, by_rule, len(kept), seed)))
    tables = {"queries": queries, "passages": passages}
    return {name: schema.from_columns(name, columns) for name, columns in tables.items()}, counts


def files(folder: Path) -> list[Path]:
    """The files that `read` reads in a folder.

    Raises:
        UnknownName: if a file is named after no known language.
        BadInput: if there is none, two of a kind, or topics without qrels.
    """
    return [path for pair in _files(folder).values() for path in pair.values()]


def _files(folder: Path) -> dict[str, dict[str, Path]]:
    """Topics and qrels by language, in the order of the codes."""
    found: dict[str, dict[str, Path]] = {}
    for kind in ("topics", "qrels"):
        for path in store.list_files(folder, f"{kind}.*.tsv", f"{kind}.*.tsv.gz"):
            name = path.name.removeprefix(f"{kind}.").removesuffix(".gz").removesuffix(".tsv")
            if name.startswith("miracl") and not name.endswith("-dev"):
                continue  # other splits stand beside dev in the published folder
            code = language(name.removeprefix("miracl-v1.0-").removesuffix("-dev"), where=str(path)).code
            pair = found.setdefault(code, {})
            if kind in pair:
                raise BadInput(
                    f"there are two files of {kind} for {code}: {pair[kind].name} and {path.name}",
                    where=str(folder),
                    do="keep one of them",
                )
            pair[kind] = path
    if not found:
        raise BadInput(
            f"{folder} holds no topics and qrels of MIRACL",
            do="give the folder of topics.miracl-v1.0-ar-dev.tsv and the like; mirage pull miracl brings them",
        )
    for code, pair in found.items():
        for kind in ("topics", "qrels"):
            if kind not in pair:
                raise BadInput(f"there are no {kind} for {code}", where=str(folder), do="fetch both files again")
    return {code: found[code] for code in LANGUAGES if code in found}


def _add(columns: dict[str, list[Any]], *row: Any) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)


def _remark(code: str, by_rule: int, kept: int, seed: int) -> str:
    if kept != by_rule:
        return f"drawn at random from {by_rule:,}, seed {seed}; which ones the paper drew is not known"
    if kept != PUBLISHED[code]:
        return f"the rule gives {kept:,}; the paper prints {PUBLISHED[code]:,}"
    return ""
