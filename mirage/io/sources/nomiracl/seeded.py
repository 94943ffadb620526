"""The seeded sample of NoMIRACL's queries, as the published package draws it.

Sizes and draw follow `NoMIRACLDataLoader.load_data_sample` of repository project-miracl/nomiracl
(`nomiracl/dataset/data_loader.py`, Apache-2.0), by files: the same seed gives the same queries in the same order.
Departures: a label is 1 for a relevant passage in every case (its loader from the hub swaps them), and the corpus has
the passages of the sample only.
"""

from pathlib import Path
from random import Random

from mirage.errors import BadInput, UnknownName, Unreachable
from mirage.io.sources import trec
from mirage.io.sources.nomiracl.download import pull_nomiracl
from mirage.io.sources.nomiracl.origin import ORIGIN, SPLITS
from mirage.io.sources.nomiracl.queries import language_folder, passage_texts
from mirage.store.files import list_files
from mirage.store.folders import home_folder
from mirage.text.languages import miracl_language

SEED = 42
"""Seed of the published package."""
DATASET = "miracl/nomiracl"
"""Name of the published data set on the Hugging Face Hub."""
_ORDER = ("relevant", "non_relevant")
"""Subsets in the order in which they are drawn from one generator."""

Sample = tuple[dict[str, dict[str, str]], dict[str, dict[str, str]], dict[str, dict[str, dict[str, int]]]]
"""Corpus by passage id (`title`, `text`); then by subset queries by id, and labels by query and passage id."""


def sample_sizes(
    relevant: int, non_relevant: int, ratios: tuple[float, float], pool: int | None = None
) -> tuple[int, int]:
    """Return the number of relevant and non-relevant queries to draw.

    Args:
        relevant: number of relevant queries.
        non_relevant: number of non-relevant queries.
        ratios: their weights in the sample. If one is 0, its subset is left out and the other whole.
        pool: maximum of each; None for no maximum.
    """
    first, second = ratios
    if not (first and second):
        sizes = (relevant if first else 0, non_relevant if second else 0)
    else:
        by_relevant = relevant, int(relevant * (second / first))
        by_non_relevant = int(non_relevant * (first / second)), non_relevant
        kept = by_relevant if by_relevant[1] <= non_relevant else by_non_relevant
        other = by_non_relevant if by_non_relevant[0] <= relevant else by_relevant
        sizes = kept if sum(kept) > sum(other) else other
    return (sizes[0], sizes[1]) if pool is None else (min(sizes[0], pool), min(sizes[1], pool))


class NoMIRACLDataLoader:
    """The queries of one language and split, with the constructor and the method of the NoMIRACL package.

    Args:
        data_dir: folder with the files (`mirage pull nomiracl --what questions`), or with one language's; None to
            download them once, into the cache.
        split: dev or test.
        language: code or English name.
        load_from_huggingface: True to ignore `data_dir` and download `miracl/nomiracl`, as in the package.
        hf_dataset_name: `miracl/nomiracl`; no other is accepted.
    """

    def __init__(
        self,
        data_dir: str | Path | None = None,
        split: str = "test",
        language: str = "en",
        *,
        load_from_huggingface: bool = False,
        hf_dataset_name: str = DATASET,
    ) -> None:
        if hf_dataset_name != DATASET:
            raise UnknownName("data set", hf_dataset_name, [DATASET])
        self.data_dir = None if load_from_huggingface else data_dir
        self.split, self.language = split, language

    def load_data_sample(
        self,
        relevant_ratio: float = 0.5,
        non_relevant_ratio: float = 0.5,
        random_seed: int = SEED,
        max_sample_pool: int | None = None,
    ) -> Sample:
        """Return the seeded sample; arguments, result and errors as for `mirage.load_data_sample`."""
        return load_data_sample(
            self.language,
            self.split,
            relevant_ratio,
            non_relevant_ratio,
            max_sample_pool,
            random_seed=random_seed,
            data_dir=self.data_dir,
        )


def load_data_sample(
    language: str = "en",
    split: str = "test",
    relevant_ratio: float = 0.5,
    non_relevant_ratio: float = 0.5,
    max_sample_pool: int | None = None,
    *,
    random_seed: int = SEED,
    data_dir: str | Path | None = None,
) -> Sample:
    """Load the seeded sample of NoMIRACL's queries that the NoMIRACL package draws from its files.

    Args:
        language: code or English name.
        split: dev or test.
        relevant_ratio: weight of the relevant queries in the sample; 0 for none.
        non_relevant_ratio: weight of the non-relevant queries; 0 for none.
        max_sample_pool: maximum of each subset; None for no maximum.
        random_seed: random seed.
        data_dir: folder with the files (`mirage pull nomiracl --what questions`), or with one language's; None to
            download them once, into the cache.

    Returns:
        The corpus by passage id, the queries by subset and id, and the labels by subset, query id and passage id: 1 for
        a relevant passage, else 0.

    Raises:
        UnknownName: if the language or split is unknown.
        BadInput: naming file and line, if a line is malformed; or if an argument is out of range.
        Unreachable: if the files cannot be downloaded.
    """
    ratios = relevant_ratio, non_relevant_ratio
    if min(ratios) < 0 or not any(ratios):
        raise BadInput(f"the ratios are {ratios[0]:g} and {ratios[1]:g}", do="give 0 or more, and one above 0")
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    found = miracl_language(language)
    code = found.code
    if data_dir is None:
        folder = home_folder() / "cache" / "nomiracl"
        try:
            pull_nomiracl(folder, what="questions", languages=[code])
        except Unreachable as error:
            files = f"data/{found.nomiracl_name}/ with topics/*.tsv, qrels/*.tsv and corpus.jsonl.gz"
            do = f"without a network, copy {files} of {ORIGIN['questions'].url} into {folder}, or pass data_dir=FOLDER"
            if not list_files(folder, f"data/{found.nomiracl_name}/topics/{split}.*.tsv"):
                raise Unreachable(error.what, where=error.where, do=do) from error
    else:
        folder = Path(data_dir)
    own = bool(list_files(folder, f"topics/{split}.*.tsv"))
    root = folder if own else language_folder(folder, code, split)
    topics, labels = {}, {}
    for subset in _ORDER:
        topics[subset] = trec.topics(root / "topics" / f"{split}.{subset}.tsv")
        labels[subset] = trec.qrels(root / "qrels" / f"{split}.{subset}.tsv", topics[subset])
    sizes = sample_sizes(len(labels["relevant"]), len(labels["non_relevant"]), ratios, max_sample_pool)
    rng = Random(random_seed)  # noqa: S311  # the published sample, not a secret
    drawn = {subset: rng.sample(list(labels[subset]), size) for subset, size in zip(_ORDER, sizes, strict=True)}
    qrels = {
        subset: {
            query_id: {label.passage_id: int(label.relevant) for label in labels[subset][query_id]} for query_id in ids
        }
        for subset, ids in drawn.items()
    }
    needed = {passage_id for queries in qrels.values() for rows in queries.values() for passage_id in rows}
    texts = passage_texts(root, labels.values())
    corpus = {
        passage_id: {name: value.strip().replace("\n", " ") for name, value in (("text", text), ("title", title))}
        for passage_id, (title, text) in texts.items()
        if passage_id in needed
    }
    queries = {subset: {query_id: topics[subset][query_id] for query_id in ids} for subset, ids in drawn.items()}
    return corpus, queries, qrels
