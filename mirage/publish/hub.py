"""Exports for the Hugging Face Hub: the results of a model card, and an arena as a dataset.

A model's results are a `model-index` (huggingface/hub-docs `modelcard.md`), written by `huggingface_hub` itself. An
arena is already a dataset: a folder of Parquet files by table and language, to which a card is added that makes each
table a configuration (huggingface/hub-docs `datasetcard.md`). The same folder remains an arena.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from mirage import schema, store
from mirage.errors import ArenaError, NotEnoughData, UnknownName
from mirage.people.votes import Votes
from mirage.people.votes.labels import read_labels
from mirage.ranking.records import JOINT
from mirage.stages.features import FEATURES
from mirage.stages.features.means import FeatureMean, means, over_languages
from mirage.stages.outcomes.rates import rates
from mirage.stats.label_errors import NOT_AUDITED
from mirage.store import Arena
from mirage.store.extras import extra
from mirage.store.labels import has_automatic_labels
from mirage.store.systems import system_names
from mirage.text.printing import markdown_text, single_line
from mirage.text.segmentation import count_text

CARD = "README.md"
SPLIT = "test"
"""Name of the only split of every table: systems are tested on it."""
_LICENCES = (
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-4.0"),
    *("cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "odc-by", "odbl", "pddl", "bsd-2-clause", "bsd-3-clause"),
    *("gpl-3.0", "lgpl-3.0", "agpl-3.0", "mpl-2.0", "unlicense", "unknown"),
)
"""Licences known to the Hub, including those of data."""
_RATES = {"non_relevant": ("hallucination_rate", "Hallucination rate"), "relevant": ("error_rate", "Error rate")}
_RATED = ("low", "high", "rank", "rank_low", "rank_high", "best", "judge", "skill")
_SOURCES = 60
"""Maximum number of sources listed in a card."""


def model_index(
    arena: Arena, system: str, *, dataset: str | None = None, languages: Sequence[str] | None = None
) -> str:
    """Return the results of one system as the `model-index` of a model card: YAML, to paste between its `---` lines.

    One result per language, with the language as the dataset's configuration, and one over all. Every metric has its
    95% interval and n in its name and in `args`. Rates are by the strict parser; ratings are the stored ratings.

    Args:
        arena: with at least one of the tables outcomes, features, ratings.
        system: the system.
        dataset: the dataset's name on the Hub; by default the arena's name.
        languages: codes, and `all`; None for every one.

    Raises:
        UnknownName: if there is no such system.
        NotEnoughData: if it has no measurements.
        BadInput: if `huggingface_hub` is not installed.
    """
    metrics = system_metrics(arena, system, languages)
    with extra("hub", "a model's card"):
        from huggingface_hub import EvalResult, ModelCardData
    results = [
        EvalResult(
            task_type="text-generation",
            task_name="Retrieval-augmented generation",
            dataset_type=dataset or arena.name,
            dataset_name=arena.title + (", mean over languages" if metric["language"] == JOINT else ""),
            dataset_config=None if metric["language"] == JOINT else metric["language"],
            dataset_split=SPLIT,
            dataset_args={"arena_version": arena.version},
            metric_type=metric["type"],
            metric_name=metric["name"],
            metric_value=metric["value"],
            metric_args=metric["args"],
        )
        for metric in metrics
    ]
    return str(ModelCardData(model_name=system, eval_results=results).to_yaml()) + "\n"


def system_metrics(arena: Arena, system: str, languages: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return the rates, means of features and stored ratings of a system: over all languages first, then by language.

    Each has `language`, `type`, `name`, `value`, and `args` with `low`, `high`, `n` and `confidence`.

    Raises:
        UnknownName: if there is no such system.
        NotEnoughData: if it has no measurements.
    """
    known = system_names(arena, ("outcomes", "features", "ratings"))
    if system not in known:
        raise UnknownName("system", system, known, where=arena.address)
    metrics = [*_rate_metrics(arena, system), *_feature_metrics(arena, system), *_rating_metrics(arena, system)]
    metrics = [metric for metric in metrics if languages is None or metric["language"] in languages]
    if not metrics:
        raise NotEnoughData(
            f"{system} has no measurements", where=arena.address, do=f"run: {arena.command('features')}"
        )
    return sorted(metrics, key=lambda metric: (metric["language"] != JOINT, metric["language"]))


def export_dataset(arena: Arena, into: Path) -> Path:
    """Copy an arena into a folder with a dataset card, ready for `hf upload NAME FOLDER --repo-type dataset`.

    `datasets.load_dataset(FOLDER, "answers")` reads a table of it, and `mirage` opens it as an arena. The ledger and
    other files next to the tables are not copied.

    Args:
        arena: the arena.
        into: a new or empty folder, or one with the same arena, whose card is then rewritten.

    Returns:
        The card.

    Raises:
        ArenaError: if the folder has something else, or cannot be written.
        BadInput: if `huggingface_hub` is not installed.
    """
    card = dataset_card(arena)
    if store.is_arena(into) and store.open_arena(into).version != arena.version:
        raise ArenaError(f"{into} has another arena, or another version", do="use a new or empty folder")
    store.copy(arena, into)
    store.write_whole(into / CARD, card.encode("utf-8"))
    return into / CARD


def dataset_card(arena: Arena) -> str:
    """Return the dataset card of an arena: YAML for the Hub, then contents, sources and how to load it.

    Raises:
        BadInput: if `huggingface_hub` is not installed.
    """
    with extra("hub", "a data set's card"):
        from huggingface_hub import DatasetCardData

    tables = [table for table in arena.tables if arena.rows(table)]
    codes = sorted({code for table in tables for code in arena.languages(table)})
    licence = arena.manifest["licence"].strip() or "unknown"
    known = licence.lower() in _LICENCES
    bases = list(dict.fromkeys(code.partition("-")[0] for code in codes))
    data = DatasetCardData(
        pretty_name=single_line(arena.title),
        language=bases or None,
        language_details=codes if bases != codes else None,
        license=licence.lower() if known else "other",
        license_name=None if known else re.sub(r"[^a-z0-9.]+", "-", licence.lower()).strip("-")[:60] or "other",
        task_categories=["question-answering", "text-generation"],
        tags=["retrieval-augmented-generation", "evaluation"],
        configs=[
            {"config_name": table, "data_files": [{"split": SPLIT, "path": f"{table}/*.parquet"}]} for table in tables
        ],
    )
    body = "\n".join(_body(arena, tables, codes, licence))
    return f"---\n{data.to_yaml()}\n---\n\n{body}"


def _body(arena: Arena, tables: Sequence[str], codes: Sequence[str], licence: str) -> Iterator[str]:
    manifest = arena.manifest
    yield f"# {markdown_text(arena.title)}\n"
    if manifest["about"]:
        yield f"{markdown_text(manifest['about'])}\n"
    spoken = f" {count_text(len(codes), 'language')}: {', '.join(codes)}." if codes else ""
    yield f"Numbers: {markdown_text(arena.label)}. Licence: {markdown_text(licence)}.{spoken}\n"
    yield "## Tables\n"
    yield "| configuration | rows | one row is |\n| --- | ---: | --- |"
    for table in tables:
        meaning = (schema.table_class(table).__doc__ or "").strip().split("\n\n")[0]
        yield f"| `{table}` | {arena.rows(table):,} | {markdown_text(meaning)} |"
    first = "answers" if "answers" in tables else next(iter(tables), "answers")
    yield "\n```python\nfrom datasets import load_dataset\n"
    yield f'{first} = load_dataset("NAME", "{first}", split="{SPLIT}")\n```\n'
    yield "A clone of this folder opens as it is with `mirage app FOLDER`, and from Python with `mirage.open_arena`.\n"
    for table in tables:
        yield f"### {table}\n"
        for column in schema.columns(table):
            yield f"- `{column.name}`: {markdown_text(column.meaning)}"
        yield f"\nMade by: {markdown_text(manifest['made'][table]['by'])}\n"
        for note in manifest["made"][table]["notes"]:
            yield f"- {markdown_text(note)}"
        yield ""
    yield "## Sources\n"
    sources = _sources(arena)
    yield from sources[:_SOURCES]
    if len(sources) > _SOURCES:
        yield f"- and {len(sources) - _SOURCES:,} more, in `manifest.json`"
    yield ""


def _sources(arena: Arena) -> list[str]:
    """Return the distinct sources of the tables: name, address, licence."""
    lines: dict[str, None] = {}
    for origin in arena.manifest["made"].values():
        for source in origin["from"]:
            parts = [str(source[name]) for name in ("name", "url", "licence") if source.get(name)]
            lines["- " + ", ".join(markdown_text(part) for part in parts)] = None
    return list(lines)


def _metric(language: str, kind: str, name: str, value: float, **args: Any) -> dict[str, Any]:
    """Build a metric whose name includes its 95% interval and n."""
    low, high = ("no bound" if args[end] is None else f"{args[end]:.3f}" for end in ("low", "high"))
    name = f"{name} (95% interval {low} to {high}, n = {args['n']:,})"
    return {"language": language, "type": kind, "name": name, "value": value, "args": {"confidence": 0.95, **args}}


def _rate_metrics(arena: Arena, system: str) -> Iterator[dict[str, Any]]:
    if "outcomes" not in arena.tables:
        return
    note = ""
    if has_automatic_labels(arena):
        with Votes() as database:
            note = f", {NOT_AUDITED}" if read_labels(arena, database).unaudited else ""
    for row in _rates(arena):
        if row["system"] == system and row["rate"] is not None:
            kind, title = _RATES[row["subset"]]
            name = title + note
            ends = {"low": row["rate_low"], "high": row["rate_high"]}
            yield _metric(row["language"], kind, name, row["rate"], **ends, n=row["n"])


@lru_cache(maxsize=4)
def _rates(arena: Arena) -> tuple[dict[str, Any], ...]:
    return tuple(rates(arena.read("outcomes")).to_pylist())


def _feature_metrics(arena: Arena, system: str) -> Iterator[dict[str, Any]]:
    if "features" not in arena.tables:
        return
    import pyarrow.compute as pc

    table = arena.read("features")
    table = table.filter(pc.equal(table["system"], system))
    rows: list[FeatureMean] = means(table)
    if len({row.language for row in rows}) > 1:
        rows += over_languages(rows, table)
    for row in rows:
        if row.mean is not None:
            spec = FEATURES.get(row.feature)
            facts = {} if spec is None else {"better": spec.direction, "unit": spec.unit or "number"}
            title = row.feature if spec is None else spec.title
            args = {"low": row.low, "high": row.high, "n": row.n, **facts}
            yield _metric(row.language, row.feature, title, row.mean, **args)


def _rating_metrics(arena: Arena, system: str) -> Iterator[dict[str, Any]]:
    if "ratings" not in arena.tables:
        return
    rows = arena.read("ratings").to_pylist()
    sizes = Counter(_board(row) for row in rows)
    for row in rows:
        if row["system"] == system:
            of = sizes[_board(row)]
            ranked = f"rank {row['rank']} of {of}" + (", tied with the best" if row["best"] == "tied" else "")
            title = f"Bradley-Terry rating in logits by {row['judge']}, {row['skill']}: {ranked}"
            facts = {name: row[name] for name in _RATED} | {"n": row["battles"], "systems": of}
            yield _metric(row["language"], "bradley_terry_rating", title, row["rating"], **facts)


def _board(row: dict[str, Any]) -> tuple[str, ...]:
    return row["language"], row["judge"], row["skill"]
