"""The figures that the two papers print, from one CSV file a table, as rows with their source.

`FIGURES` says of each file which columns name the thing measured and which hold the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from mirage import schema
from mirage.io.sources.nomiracl.origin import BASELINES
from mirage.store.files import csv_rows
from mirage.text.languages import is_code

MIRAGE = "Thakur et al., MIRAGE-Bench, NAACL 2025 long 14 (arXiv 2410.13716)"
NOMIRACL = "Thakur et al., NoMIRACL, EMNLP 2024 Findings (arXiv 2312.11361v3)"


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file: a printed table or figure. Texts in braces are filled from the row."""

    file: str
    """Name of the file without `.csv`."""
    source: str
    """The paper."""
    item: str
    """The table or figure."""
    metric: str
    """What was measured."""
    unit: str
    """Unit of the figures."""
    reference: str
    """Citation of the page it was read from."""
    setting: str = ""
    """Condition of the measurement."""
    system: str = ""
    """The system; `{column}` where the columns of figures are systems."""
    language: str = ""
    """The language; empty where the columns of figures are languages."""
    values: tuple[str, ...] = ()
    """The columns of figures; empty: all that are languages or an average or total over them."""


FIGURES: tuple[PublishedFile, ...] = (
    PublishedFile(
        "nomiracl_rates_as_published_11models",
        "NoMIRACL",
        BASELINES,
        "{metric} rate",
        "%",
        f"{NOMIRACL}; outputs: project-miracl/nomiracl, results/baselines, commit 9c787da",
        system="{model}",
    ),
    PublishedFile(
        "nomiracl_table1_dataset_stats",
        "NoMIRACL",
        "Table 1",
        "questions",
        "count",
        f"{NOMIRACL}, Table 1",
        setting="{subset}, {split}",
    ),
    PublishedFile(
        "nomiracl_table2_english_patterns",
        "NoMIRACL",
        "Table 2",
        "share of replies: {pattern}",
        "%",
        f"{NOMIRACL}, Table 2",
        setting="{subset}",
        system="{column}",
        language="en",
        values=(
            "GPT-4",
            "GPT-3.5",
            "Mixtral-8x7B",
            "Mistral-7B",
            "Orca-2-13B",
            "Orca-2-7B",
            "Aya-101",
            "LLAMA-2-70B",
            "LLAMA-2-13B",
            "LLAMA-2-7B",
        ),
    ),
    PublishedFile(
        "nomiracl_table3_mistral_prompts",
        "NoMIRACL",
        "Table 3",
        "{metric} rate",
        "%",
        f"{NOMIRACL}, Table 3",
        setting="prompt {setting}",
        system="Mistral-7B v0.3",
    ),
    PublishedFile(
        "nomiracl_table7_sft",
        "NoMIRACL",
        "Table 7",
        "{metric} rate",
        "%",
        f"{NOMIRACL}, Table 7",
        system="{setting}",
    ),
    PublishedFile(
        "mirage_fig4_ranks",
        "MIRAGE-Bench",
        "Figure 4",
        "rank",
        "rank",
        f"{MIRAGE}, Figure 4, read off the project's page",
        setting="{panel}",
        system="{model}",
    ),
    PublishedFile(
        "mirage_table1_dataset_stats",
        "MIRAGE-Bench",
        "Table 1",
        "{stat}",
        "",
        f"{MIRAGE}, Table 1",
        setting="{split}",
    ),
    PublishedFile(
        "mirage_table2_kendall_tau",
        "MIRAGE-Bench",
        "Table 2",
        "Kendall's tau of the surrogate ranking against the judge's",
        "tau",
        f"{MIRAGE}, Table 2",
        language="{lang}",
        values=("kendall_tau",),
    ),
    PublishedFile(
        "mirage_table3_r2_models",
        "MIRAGE-Bench",
        "Table 3",
        "R2",
        "R2",
        f"{MIRAGE}, Table 3",
        setting="{part}, {model}",
    ),
    PublishedFile(
        "mirage_table4_feature_ablation_tau",
        "MIRAGE-Bench",
        "Table 4",
        "Kendall's tau of the surrogate ranking against the judge's",
        "tau",
        f"{MIRAGE}, Table 4",
        setting="{features} ({n_features})",
    ),
    PublishedFile(
        "mirage_table5_r2_ci",
        "MIRAGE-Bench",
        "Table 5",
        "R2 over bootstraps: {column}",
        "R2",
        f"{MIRAGE}, Table 5",
        language="{lang}",
        values=("mean_r2", "ci95_minus", "ci95_plus"),
    ),
    PublishedFile(
        "mirage_table6_sft_hyperparams",
        "MIRAGE-Bench",
        "Table 6",
        "{hyperparameter}",
        "",
        f"{MIRAGE}, Table 6",
        setting="fine-tuning",
        language="none",
        values=("value",),
    ),
)
"""Every file, in the order of the papers."""

_OVER_ALL = ("avg", "avg_printed", "avg_published", "total_printed")
"""Columns and rows that speak of all languages together."""
_SETTINGS = {"gpt4o_pairwise_BT": "judge: GPT-4o, pairwise", "surrogate_random_forest": "surrogate: random forest"}
"""The panels of Figure 4 in words."""
_UNITS = {"n_queries": "count"}
"""The one unit in a table whose other figures have none."""


def read_published(folder: Path) -> pa.Table:
    """Return the table `published` from the folder with the files of `FIGURES`.

    A figure printed as a dash or a word is null with that text; one printed with an exponent keeps its text beside the
    value.
    """
    rows = [row for figure in FIGURES for row in _rows(figure, folder / f"{figure.file}.csv")]
    return schema.from_rows("published", rows)


def _rows(figure: PublishedFile, path: Path) -> Iterator[schema.Published]:
    for line in csv_rows(path):
        row = line.value
        columns = figure.values or tuple(name for name in row if is_code(name) or name in _OVER_ALL)
        for column in columns:
            text = row[column].strip()
            filled = {
                field: getattr(figure, field).format(column=column, **row)
                for field in ("metric", "setting", "system", "language")
            }
            language = filled["language"] if figure.values else column
            yield schema.Published(
                source=figure.source,
                item=figure.item,
                metric=filled["metric"],
                setting=_SETTINGS.get(filled["setting"], filled["setting"]),
                system=filled["system"],
                language={"none": "", **dict.fromkeys(_OVER_ALL, "all")}.get(language, language),
                value=_number(text),
                text=None if re.fullmatch(r"-?\d+(\.\d+)?", text) else text,
                unit=_UNITS.get(filled["metric"], figure.unit),
                reference=figure.reference,
            )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
