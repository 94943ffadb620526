"""The NoMIRACL queries with their human labels, from the plain files behind the hub data set miracl/nomiracl.

data/<language>/topics/<split>.<subset>.tsv   query id TAB query
data/<language>/qrels/<split>.<subset>.tsv    query id, Q0, document id, 1 if the passage is relevant else 0
data/<language>/corpus.jsonl[.gz]             {"docid": .., "title": .., "text": ..}
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mirage.errors import BadInput, UnknownName
from mirage.io.columns import Columns
from mirage.io.sources import trec
from mirage.io.sources.checks import keep_one
from mirage.io.sources.nomiracl.origin import SUBSETS, Split
from mirage.stats.sampling import sample
from mirage.store.files import list_files
from mirage.text.languages import language

if TYPE_CHECKING:
    import pyarrow as pa

_Judged = dict[str, list[trec.RelevanceLabel]]
"""The judged passages by query id."""


def read_queries(
    folder: Path,
    *,
    split: Split = "test",
    languages: Iterable[str] | None = None,
    cap: int | None = 250,
) -> dict[str, pa.Table]:
    """Read the queries and their judged passages, whole or as a sample with a fixed seed.

    The sample of a subset depends on language, split, subset and its queries, on nothing else: not on the other
    languages, the order of the lines or the number drawn (a larger sample contains the smaller one).

    Args:
        folder: a folder that holds `data/<language>/`, or the language folders themselves; languages are named by
            code or by lower-case English name.
        split: `dev` or `test`.
        languages: codes or names; all that are there by default.
        cap: most queries of each subset of a language, as the loader of the paper offers; None for all.

    Returns:
        The tables `queries` and `passages`. A passage's position is its place in the qrels. A query without
        judgments is left out, as by the paper's loader.

    Raises:
        UnknownName: if a language, a split or a folder's language is unknown.
        BadInput: naming file and line, if a line is malformed, an id unknown or given twice, or a label contradicts
            its subset; or if an argument is out of range.
    """
    if split not in get_args(Split):
        raise UnknownName("split", split, get_args(Split))
    if cap is not None and cap < 1:
        raise BadInput(f"cap is {cap}", do="give 1 or more, or none for all queries")

    codes = _languages(folder, split) if languages is None else [language(name).code for name in languages]
    columns = Columns("queries", "passages")
    for code in dict.fromkeys(codes):
        _read(columns, code, language_folder(folder, code, split), split, cap)
    return columns.tables()


def _languages(folder: Path, split: str) -> dict[str, Path]:
    """The language folders that hold queries of a split, by code."""
    names = [f"*/topics/{split}.{subset}.tsv" for subset in SUBSETS]
    topics = list_files(folder, *(f"data/{name}" for name in names)) or list_files(folder, *names)
    if not topics:
        raise BadInput(
            f"{folder} holds no {split} queries of NoMIRACL",
            do=f"give the folder above data/<language>/topics/{split}.relevant.tsv; mirage pull brings the files",
        )
    folders: dict[str, Path] = {}
    for root in dict.fromkeys(path.parents[1] for path in topics):
        code = language(root.name, where=str(root)).code
        keep_one(folders, code, root, f"folders for {code}")
    return dict(sorted(folders.items()))


def language_folder(folder: Path, code: str, split: str) -> Path:
    """Return the folder of a language, below `data/` or the folder itself.

    Raises:
        UnknownName: if there is none with queries of this split.
    """
    folders = _languages(folder, split)
    if code not in folders:
        raise UnknownName("language", code, folders, where=str(folder))
    return folders[code]


def _read(columns: Columns, code: str, root: Path, split: Split, cap: int | None) -> None:
    """Add the queries of one language with their passages."""
    topics: dict[str, dict[str, str]] = {}
    qrels: dict[str, _Judged] = {}
    seen: dict[str, str] = {}
    for subset in SUBSETS:
        if list_files(root, f"topics/{split}.{subset}.tsv"):
            topics[subset] = trec.topics(root / "topics" / f"{split}.{subset}.tsv", seen=seen)
            qrels[subset] = _check(trec.qrels(root / "qrels" / f"{split}.{subset}.tsv", topics[subset]), subset)
    texts = passage_texts(root, qrels.values())
    for subset, ids in qrels.items():
        for query_id in sample(sorted(ids), min(len(ids), cap or len(ids)), 0, f"{code}/{split}/{subset}"):
            columns.add("queries", (code, query_id), subset=subset, text=topics[subset][query_id])
            trec.add_passages(columns, (code, query_id), ids[query_id], texts)


def _check(qrels: _Judged, subset: str) -> _Judged:
    """The labels of a subset, as long as they are those of that subset."""
    for query_id, passages in qrels.items():
        for passage in passages if subset == "non_relevant" else ():
            if passage.relevant:
                raise BadInput(
                    f"document {passage.passage_id} is relevant to query {query_id}, which is in the non-relevant "
                    "subset",
                    where=passage.where,
                    do="1 marks a relevant passage, 0 any other; check whether the labels were swapped",
                )
        if subset == "relevant" and not any(passage.relevant for passage in passages):
            raise BadInput(
                f"query {query_id} is in the relevant subset, but no passage is judged relevant",
                where=passages[0].where,
                do="1 marks a relevant passage, 0 any other; check whether the labels were swapped",
            )
    return qrels


def passage_texts(root: Path, qrels: Iterable[_Judged]) -> dict[str, tuple[str, str]]:
    """Return title and text of the judged documents of a language; every one must be there."""
    paths = list_files(root, "corpus.jsonl", "corpus.jsonl.gz")
    if not paths:
        raise BadInput(f"{root} has no corpus.jsonl or corpus.jsonl.gz", do="fetch the passages too")
    labels = (label for of_subset in qrels for of_query in of_subset.values() for label in of_query)
    return trec.texts(paths[:1], labels, missing=f"not in {paths[0].name}")
