"""The queries of MIRAGE-Bench, rebuilt from the topics, qrels and passages of MIRACL (Zhang et al., TACL 2023).

Evaluation set (MIRAGE-Bench, section 3.2), from MIRACL dev: a query stays if a passage was judged non-relevant to
it; Arabic, which has 2,896 of them, is cut at random to 1,501.

Training set (section 3.3), from MIRACL train, which 16 of the 18 languages have: the paper says that it reuses all of
it, so every query with a relevant passage stays. MIRACL prints 40,203 queries, MIRAGE-Bench 39,763; the paper does not
explain the other 440, and no known rule on the labels gives its numbers.

Topics and qrels hold no passage texts. These are in MIRACL's corpora; `read_miracl` takes them from the files of a
corpus where they are in the folder too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from mirage.errors import BadInput, UnknownName
from mirage.io.columns import Columns
from mirage.io.sources import trec
from mirage.io.sources.checks import keep_one
from mirage.io.sources.download import DownloadResult, Progress, fetch
from mirage.stats.sampling import sample
from mirage.store.files import list_files
from mirage.text.data import load_words
from mirage.text.languages import in_order, language

if TYPE_CHECKING:
    import pyarrow as pa

Split = Literal["dev", "train"]

NAMES: dict[Split, str] = {
    "dev": "MIRACL dev topics and qrels (castorini/anserini-tools)",
    "train": "MIRACL train topics and qrels (Hugging Face data set miracl/miracl)",
}
"""Displayed names of the splits' files."""
URLS: dict[Split, str] = {
    "dev": "https://raw.githubusercontent.com/castorini/anserini-tools/master/topics-and-qrels",
    "train": "https://huggingface.co/datasets/miracl/miracl/resolve/main",
}
"""Base addresses of the files."""
CORPUS_NAME = "MIRACL corpora (Hugging Face data set miracl/miracl-corpus)"
CORPUS_URL = "https://huggingface.co/datasets/miracl/miracl-corpus/resolve/main"
LICENCE = "Apache-2.0"
CORPUS_LICENCE = "Apache-2.0; the passages are Wikipedia (CC BY-SA)"
"""Licence of passage texts."""
NO_TEXT = "passages have ids and labels alone: their titles and texts are in MIRACL's corpora, not in topics and qrels"
"""Reason for null titles and texts of passages."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Published numbers of one language."""

    evaluation: int
    """Queries of the evaluation set: MIRAGE-Bench, Table 1."""
    shards: int
    """Files of MIRACL's corpus: `docs-0.jsonl.gz` and on, 500,000 passages each (miracl/miracl-corpus)."""
    training: int | None = None
    """Pairs of the training set: MIRAGE-Bench, Table 1; None where there is no such split."""


SIZES: Mapping[str, Sizes] = {code: Sizes(**row) for code, row in load_words("miracl", "mirage.io.sources").items()}
"""Published numbers by language; other languages have none and are not in MIRACL."""
ARABIC = SIZES["ar"].evaluation
"""Number of Arabic queries sampled from dev."""
_FILE = re.compile(
    r"(?P<kind>topics|qrels)\.(?:miracl-v1\.0-)?(?P<language>[^.-]+)(?:-(?P<split>[^.]+))?\.tsv(?:\.gz)?"
)


@dataclass(frozen=True, slots=True)
class TrainingCount:
    """Counts of one language."""

    language: str
    """Language code."""
    split: Split
    """Split of MIRACL."""
    topics: int
    """Queries of the split."""
    queries: int
    """Number of queries in the set of MIRAGE-Bench by its rule."""
    published: int | None
    """Number printed by MIRAGE-Bench; None for a language without one."""
    passages: int
    """Judged passages of the queries in the set."""
    texts: int
    """Number of these passages with a text in the folder."""
    remark: str = ""
    """Cause of a difference between numbers, or the sampling used; empty if neither applies."""


def printed_queries(split: Split) -> dict[str, int]:
    """Return the number of queries printed in Table 1 of MIRAGE-Bench, of the languages that MIRACL has a split for.

    Raises:
        UnknownName: if there is no such split.
    """
    if split not in get_args(Split):
        raise UnknownName("split", split, get_args(Split))
    of_split = {code: size.evaluation if split == "dev" else size.training for code, size in SIZES.items()}
    return {code: n for code, n in of_split.items() if n is not None}


def pull_miracl(
    into: Path,
    *,
    split: Split = "dev",
    texts: bool = False,
    languages: Iterable[str] | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
) -> DownloadResult:
    """Fetch topics and qrels of MIRACL, two files a language, into a folder that `read_miracl` then reads.

    Args:
        into: the folder; made if absent.
        split: `dev` or `train`.
        texts: whether to fetch the corpora too, which hold the passages' texts: whole Wikipedias, up to about
            100 MB a file.
        languages: codes or lower-case English names; all that have the split by default.
        base_url: another address with the same files under the same names.
        progress: as of `download.fetch`.

    Returns:
        What is in the folder: topics and qrels, and the corpora.

    Raises:
        UnknownName: if a language is unknown or lacks the split.
        Unreachable: if a file did not come, or none is there.
        BadInput: if the address is none, or the folder cannot be written.
    """
    codes = _codes(split, languages)
    parts = [(base_url or URLS[split], [name for code in codes for name in _lists(code, split)])]
    if texts:
        shards = [
            f"miracl-corpus-v1.0-{code}/docs-{number}.jsonl.gz"
            for code in codes
            for number in range(SIZES[code].shards)
        ]
        parts.append((base_url or CORPUS_URL, shards))
    downloads = [fetch(into, names, url, progress=progress) for url, names in parts]
    return DownloadResult(
        into,
        sum(part.files for part in downloads),
        sum(part.fetched for part in downloads),
        tuple(name for part in downloads for name in part.absent),
    )


def read_miracl(
    folder: Path, *, split: Split = "dev", languages: Iterable[str] | None = None, seed: int = 0
) -> tuple[dict[str, pa.Table], list[TrainingCount]]:
    """Rebuild the evaluation set (`dev`) or the queries of the training set (`train`).

    Args:
        folder: topics and qrels as `pull_miracl` leaves them, in the folders of the hub or all in one; those of dev may
            be named `topics.LL.tsv` and `qrels.LL.tsv`. Any may end in `.gz`. Corpora under `miracl-corpus-v1.0-LL/`.
        split: `dev` or `train`.
        languages: codes or names; all that are there by default.
        seed: draws the Arabic queries of dev; 0 or more.

    Returns:
        The tables `queries` and `passages` (labelled, in the order of the qrels; title and text null where no corpus
        in the folder has them), and what became of each language.

    Raises:
        UnknownName: if a language or split is unknown or not in the folder.
        BadInput: naming file and line, if a line is malformed, an id unknown or given twice, a file absent, or a
            passage not in its whole corpus.
    """
    pairs = _files(folder, split)
    codes = list(pairs) if languages is None else list(dict.fromkeys(language(name).code for name in languages))
    columns = Columns("queries", "passages")
    counts = []
    for code in codes:
        if code not in pairs:
            raise UnknownName("language", code, pairs, where=str(folder))
        topics = trec.topics(pairs[code]["topics"])
        qrels = trec.qrels(pairs[code]["qrels"], topics)
        # dev: some passage is non-relevant. train: some passage is relevant, for the teacher to answer from.
        relevance = split == "train"
        selection = sorted(
            query for query, labels in qrels.items() if any(label.relevant == relevance for label in labels)
        )
        by_rule = len(selection)
        if code == "ar" and split == "dev":
            selection = sample(selection, ARABIC, seed, "ar/miracl/dev")
        shards = _corpus(folder, code)
        labels = [label for query in selection for label in qrels[query]]
        whole = code in SIZES and len(shards) >= SIZES[code].shards
        texts = trec.texts(shards, labels, missing=f"in no file of the corpus of {code}" if whole else "")
        for query in selection:
            columns.add("queries", (code, query), text=topics[query])
            trec.add_passages(columns, (code, query), qrels[query], texts)
        count = TrainingCount(
            language=code,
            split=split,
            topics=len(topics),
            queries=len(selection),
            published=printed_queries(split).get(code),
            passages=len(labels),
            texts=sum(label.passage_id in texts for label in labels),
        )
        counts.append(replace(count, remark="; ".join(_remarks(count, by_rule, len(shards), seed))))
    return columns.tables(), counts


def miracl_files(folder: Path, *, split: Split = "dev") -> list[Path]:
    """Return the files of a folder that `read_miracl` reads.

    Raises:
        UnknownName: if a file is named after no known language.
        BadInput: if there is none, two of a kind, or topics without qrels.
    """
    pairs = _files(folder, split)
    return [path for code, pair in pairs.items() for path in (*pair.values(), *_corpus(folder, code))]


def _codes(split: Split, languages: Iterable[str] | None) -> list[str]:
    """Return the requested languages, each of which must have the split."""
    available = list(printed_queries(split))
    codes = available if languages is None else list(dict.fromkeys(language(name).code for name in languages))
    for code in codes:
        if code not in available:
            raise UnknownName(f"language with MIRACL {split} queries", code, available)
    return codes


def _lists(code: str, split: Split) -> list[str]:
    """Return the names of topics and qrels under the split's address."""
    names = {kind: f"{kind}.miracl-v1.0-{code}-{split}.tsv" for kind in ("topics", "qrels")}
    # The files of dev lie side by side at their source, those of train in folders.
    return [name if split == "dev" else f"miracl-v1.0-{code}/{kind}/{name}" for kind, name in names.items()]


def _files(folder: Path, split: Split) -> dict[str, dict[str, Path]]:
    """Return topics and qrels by language, in the order of the codes."""
    printed_queries(split)  # refuses other splits
    pairs: dict[str, dict[str, Path]] = {}
    names = [f"{kind}.*.{end}" for kind in ("topics", "qrels") for end in ("tsv", "tsv.gz")]
    for path in list_files(folder, *names, *(f"miracl-v1.0-*/*/{name}" for name in names)):
        match = _FILE.fullmatch(path.name)
        if match is None or (match["split"] or "dev") != split:
            continue  # Files of other splits stand beside those of this one in the published folders.
        code = language(match["language"], where=str(path)).code
        kind = match["kind"]
        keep_one(pairs.setdefault(code, {}), kind, path, f"files of {kind} for {code}")
    if not pairs:
        option = "" if split == "dev" else f" --split {split}"
        raise BadInput(
            f"{folder} holds no topics and qrels of MIRACL {split}",
            do=f"give the folder of topics.miracl-v1.0-ar-{split}.tsv and the like; mirage pull miracl{option} "
            "brings them",
        )
    for code, pair in pairs.items():
        for kind in ("topics", "qrels"):
            if kind not in pair:
                raise BadInput(f"there are no {kind} for {code}", where=str(folder), do="fetch both files again")
    return {code: {kind: pairs[code][kind] for kind in ("topics", "qrels")} for code in in_order(pairs)}


def _corpus(folder: Path, code: str) -> list[Path]:
    """Return the files of a language's corpus in the folder, by number."""
    paths = list_files(folder, *(f"miracl-corpus-v1.0-{code}/docs-*.jsonl{end}" for end in ("", ".gz")))
    return sorted(paths, key=lambda path: (len(path.name), path.name))


def _remarks(count: TrainingCount, by_rule: int, shards: int, seed: int) -> list[str]:
    """Describe differences of one language's counts from the published counts."""
    remarks = []
    if count.queries != by_rule:
        remarks.append(f"drawn at random from {by_rule:,}, seed {seed}; the paper's sample is not known")
    elif count.published not in (None, count.queries):
        remarks.append(f"the rule gives {count.queries:,}; the paper prints {count.published:,}")
    if shards and count.texts < count.passages:
        remarks.append(f"{count.texts:,} of {count.passages:,} passages have a text: {shards} corpus files are there")
    return remarks
