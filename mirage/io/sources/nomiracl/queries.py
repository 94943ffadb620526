"""The NoMIRACL queries with their human labels, from the plain files behind the hub data set miracl/nomiracl.

data/<language>/topics/<split>.<subset>.tsv   query id TAB query
data/<language>/qrels/<split>.<subset>.tsv    query id, Q0, document id, 1 if the passage is relevant else 0
data/<language>/corpus.jsonl[.gz]             {"docid": .., "title": .., "text": ..}
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.io.sources import trec
from mirage.io.sources.nomiracl.origin import SUBSETS, Split
from mirage.stats.sampling import sample
from mirage.text.languages import Language, language

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
    ratio: float | None = None,
    seed: int = 0,
) -> dict[str, pa.Table]:
    """Read the queries and their judged passages, whole or as a seeded sample.

    The sample of a subset depends on `seed`, language, split, subset and its queries, on nothing else: not on the
    other languages, the order of the lines or the number drawn (a larger sample contains the smaller one).

    Args:
        folder: a folder that holds `data/<language>/`, or the language folders themselves; languages are named by
            code or by lower-case English name.
        split: `dev` or `test`.
        languages: codes or names; all that are there by default.
        cap: most queries of each subset of a language, as the loader of the paper offers; None for all.
        ratio: relevant queries for each non-relevant one, over 0; the subset that is too large is cut until it
            holds (to less than one query). None takes each subset as it comes.
        seed: picks the sample; 0 or more.

    Returns:
        The tables `queries` and `passages`. A passage's position is its place in the qrels. A query without
        judgments is left out, as by the paper's loader.

    Raises:
        UnknownName: if a language, a split or a folder's language is unknown.
        BadInput: naming file and line, if a line is malformed, an id unknown or given twice, or a label contradicts
            its subset; or if an argument is out of range.
    """
    import pyarrow as pa

    if split not in get_args(Split):
        raise UnknownName("split", split, get_args(Split))
    if cap is not None and cap < 1:
        raise BadInput(f"cap is {cap}", do="give 1 or more, or none for all queries")
    if ratio is not None and not 0 < ratio < float("inf"):
        raise BadInput(f"ratio is {ratio}", do="give relevant queries for each non-relevant one, more than 0")
    if seed < 0:
        raise BadInput(f"seed is {seed}", do="give 0 or more")

    folders = _languages(folder, split)
    selection = list(folders.values()) if languages is None else []
    for name in dict.fromkeys(language(name).code for name in languages or ()):
        if name not in folders:
            raise UnknownName("language", name, folders, where=str(folder))
        selection.append(folders[name])
    parts = [_read(lang, root, split, cap, ratio, seed) for lang, root in selection]
    return {
        name: pa.concat_tables([schema.arrow_schema(name).empty_table(), *(part[name] for part in parts)])
        for name in ("queries", "passages")
    }


def _languages(folder: Path, split: str) -> dict[str, tuple[Language, Path]]:
    """The language folders that hold queries of a split, by code."""
    names = [f"*/topics/{split}.{subset}.tsv" for subset in SUBSETS]
    topics = store.list_files(folder, *(f"data/{name}" for name in names)) or store.list_files(folder, *names)
    if not topics:
        raise BadInput(
            f"{folder} holds no {split} queries of NoMIRACL",
            do=f"give the folder above data/<language>/topics/{split}.relevant.tsv; mirage pull brings the files",
        )
    folders: dict[str, tuple[Language, Path]] = {}
    for root in dict.fromkeys(path.parents[1] for path in topics):
        lang = language(root.name, where=str(root))
        if lang.code in folders:
            raise BadInput(
                f"there are two folders for {lang.code}: {folders[lang.code][1].name} and {root.name}",
                where=str(root.parent),
                do="keep one of them",
            )
        folders[lang.code] = (lang, root)
    return dict(sorted(folders.items()))


def language_folder(folder: Path, code: str, split: str) -> Path:
    """Return the folder of a language, below `data/` or the folder itself.

    Raises:
        UnknownName: if there is none with queries of this split.
    """
    folders = _languages(folder, split)
    if code not in folders:
        raise UnknownName("language", code, folders, where=str(folder))
    return folders[code][1]


def _read(
    lang: Language, root: Path, split: Split, cap: int | None, ratio: float | None, seed: int
) -> dict[str, pa.Table]:
    """The tables of one language."""
    topics: dict[str, dict[str, str]] = {}
    qrels: dict[str, _Judged] = {}
    seen: dict[str, str] = {}
    for subset in SUBSETS:
        if store.list_files(root, f"topics/{split}.{subset}.tsv"):
            topics[subset] = trec.topics(root / "topics" / f"{split}.{subset}.tsv", seen=seen)
            qrels[subset] = _check(trec.qrels(root / "qrels" / f"{split}.{subset}.tsv", topics[subset]), subset)
    sizes = _sizes({subset: len(qrels.get(subset, ())) for subset in SUBSETS}, cap, ratio, where=str(root))
    samples = {
        subset: sample(sorted(ids), sizes[subset], seed, f"{lang.code}/{split}/{subset}")
        for subset, ids in qrels.items()
    }
    texts = passage_texts(
        root, qrels, {label.passage_id for s, ids in samples.items() for i in ids for label in qrels[s][i]}
    )

    queries: dict[str, list[Any]] = {"language": [], "query_id": [], "subset": [], "text": []}
    names = ("language", "query_id", "passage_id", "position", "title", "text", "relevant")
    passages: dict[str, list[Any]] = {name: [] for name in names}
    for subset, ids in samples.items():
        for query_id in ids:
            _add(queries, lang.code, query_id, subset, topics[subset][query_id])
            for position, label in enumerate(qrels[subset][query_id], start=1):
                _add(
                    passages, lang.code, query_id, label.passage_id, position, *texts[label.passage_id], label.relevant
                )
    return {"queries": schema.from_columns("queries", queries), "passages": schema.from_columns("passages", passages)}


def _add(columns: dict[str, list[Any]], *row: Any) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)


def _check(qrels: _Judged, subset: str) -> _Judged:
    """The labels of a subset, as long as they are those of that subset."""
    for query_id, passages in qrels.items():
        for passage in passages if subset == "non_relevant" else ():
            if passage.relevant:
                raise BadInput(
                    f"document {passage.passage_id} is relevant to query {query_id}, which stands in the non-relevant "
                    "subset",
                    where=passage.where,
                    do="1 marks a relevant passage, 0 any other; check whether the labels were swapped",
                )
        if subset == "relevant" and not any(passage.relevant for passage in passages):
            raise BadInput(
                f"query {query_id} stands in the relevant subset, but no passage is judged relevant",
                where=passages[0].where,
                do="1 marks a relevant passage, 0 any other; check whether the labels were swapped",
            )
    return qrels


def passage_texts(root: Path, qrels: dict[str, _Judged], needed: set[str]) -> dict[str, tuple[str, str]]:
    """Return title and text of the documents needed; every judged one must be there."""
    paths = store.list_files(root, "corpus.jsonl", "corpus.jsonl.gz")
    if not paths:
        raise BadInput(f"{root} has no corpus.jsonl or corpus.jsonl.gz", do="fetch the passages too")
    docids: set[str] = set()
    texts: dict[str, tuple[str, str]] = {}
    for line in store.jsonl(paths[0]):
        for name in ("docid", "title", "text"):
            if not isinstance(line.value.get(name), str):
                raise BadInput(
                    f"the field {name!r} is missing or not text", where=line.where, do="fetch the file again"
                )
        docid = line.value["docid"]
        docids.add(docid)
        if docid in needed:
            document = (line.value["title"], line.value["text"])
            # The published files repeat a document for each query it was judged for.
            if texts.setdefault(docid, document) != document:
                raise BadInput(f"document {docid} occurs with two texts", where=line.where, do="keep one of them")
    for queries in qrels.values():
        for passages in queries.values():
            for label in passages:
                if label.passage_id not in docids:
                    raise BadInput(
                        f"document {label.passage_id} is judged but not in {paths[0].name}",
                        where=label.where,
                        do="fetch both files again",
                    )
    return texts


def _sizes(counts: dict[str, int], cap: int | None, ratio: float | None, *, where: str) -> dict[str, int]:
    """Return the number of queries to sample from each subset."""
    sizes = {subset: n if cap is None else min(n, cap) for subset, n in counts.items()}
    if ratio is not None:
        relevant, non_relevant = sizes["relevant"], sizes["non_relevant"]
        # The added grain keeps a product such as 3 * (1 / 3) from falling under the whole number it stands for.
        sizes["relevant"] = min(relevant, int(non_relevant * ratio + 1e-9))
        sizes["non_relevant"] = min(non_relevant, int(relevant / ratio + 1e-9))
        if not all(sizes.values()):
            raise BadInput(
                f"{relevant:,} relevant and {non_relevant:,} non-relevant queries cannot give {ratio:g} to 1",
                where=where,
                do="give a ratio nearer to 1, a larger cap, or none",
            )
    return sizes
