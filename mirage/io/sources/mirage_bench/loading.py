"""The queries, passages and answers of MIRAGE-Bench as dictionaries by query id, by the calls of its package."""

from pathlib import Path

from mirage.errors import UnknownName, Unreachable
from mirage.io.sources.mirage_bench.hub import SETS, What, pull_bench
from mirage.io.sources.mirage_bench.read import read_bench
from mirage.store import records
from mirage.store.folders import home_folder
from mirage.text.languages import miracl_language


def load_prompts(dataset_name: str, language_code: str, split: str = "dev") -> dict[str, str]:
    """Load the prompts of MIRAGE-Bench, downloaded once into the cache; those that were not published are left out.

    Args:
        dataset_name: nthakur/mirage-bench.
        language_code: code of one of the 18 languages.
        split: dev; there is no other.

    Raises:
        UnknownName: if there is no such data set, language or split.
        BadInput: if the file is damaged, or the extra `hub` is not installed.
        Unreachable: if it cannot be downloaded, naming the file to put in its place.
    """
    rows = (line.value for line in records.records(_file("questions", dataset_name, language_code, split)))
    return {str(row["query_id"]): row["prompt"] for row in rows if row["prompt"] is not None}


def load_queries(dataset_name: str, language_code: str, split: str = "dev") -> dict[str, str]:
    """Load the texts of the queries; arguments and errors as for `load_prompts`."""
    queries = read_bench(_file("questions", dataset_name, language_code, split))[0]["queries"]
    return {row["query_id"]: row["text"] for row in queries.to_pylist() if row["text"] is not None}


def load_documents(dataset_name: str, language_code: str, split: str = "dev") -> dict[str, dict[str, str]]:
    """Load the passages of each query by id, as its prompt shows them; arguments and errors as for `load_prompts`."""
    passages = read_bench(_file("questions", dataset_name, language_code, split))[0]["passages"]
    documents: dict[str, dict[str, str]] = {}
    for row in passages.sort_by("position").to_pylist():
        if row["text"] is not None:
            documents.setdefault(row["query_id"], {})[row["passage_id"]] = row["text"]
    return documents


def load_predictions(dataset_name: str, model_name: str, language_code: str, split: str = "dev") -> dict[str, str]:
    """Load the published answers of a system; arguments and errors as for `load_prompts`.

    Args:
        dataset_name: nthakur/mirage-bench-output.
        model_name: the system.
        language_code: code of one of the 18 languages.
        split: dev; there is no other.

    Raises:
        UnknownName: also if the system has no answers in the language.
    """
    answers = read_bench(_file("outputs", dataset_name, language_code, split))[0]["answers"].to_pylist()
    predictions = {row["query_id"]: row["text"] for row in answers if row["system"] == model_name and row["text"]}
    if not predictions:
        raise UnknownName("system", model_name, sorted({row["system"] for row in answers}))
    return predictions


def _file(what: What, dataset_name: str, language_code: str, split: str) -> Path:
    """Return the file of one language of a data set in the cache; download it if it is not there."""
    if dataset_name != SETS[what]:
        raise UnknownName("data set", dataset_name, [SETS[what]])
    if split != "dev":
        raise UnknownName("split", split, ["dev"])
    folder, code = home_folder() / "cache" / "mirage-bench", miracl_language(language_code).code
    file = folder / dataset_name.split("/")[1] / code / "dev.parquet"
    try:
        pull_bench(folder, what=what, languages=[code])
    except Unreachable as error:
        do = f"without a network, save this language of {dataset_name} as {file}"
        raise Unreachable(error.what, where=error.where, do=do) from error
    return file
