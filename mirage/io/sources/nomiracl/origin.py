"""Public locations, file names, licences and systems of NoMIRACL's files. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mirage.text.languages import Language

What = Literal["outputs", "questions"]
Split = Literal["dev", "test"]

SUBSETS = ("non_relevant", "relevant")
"""The two subsets, as the folders and files are named."""
SPLITS: tuple[Split, ...] = ("dev", "test")
"""The two splits of the queries; outputs were published for `test` alone."""
PASSAGES = 10
"""Passages in every published prompt."""


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """One published set of files."""

    name: str
    """Displayed name."""
    url: str
    """Base address of the files."""
    licence: str
    """Licence."""


ORIGIN: dict[What, FileOrigin] = {
    "outputs": FileOrigin(
        name="NoMIRACL baselines: raw outputs of 11 systems (project-miracl/nomiracl, results/baselines, 9c787da)",
        url="https://github.com/project-miracl/nomiracl/raw/9c787da/results/baselines",
        licence="Apache-2.0; the passages are Wikipedia (CC BY-SA)",
    ),
    "questions": FileOrigin(
        name="NoMIRACL queries with relevance labels (Hugging Face data set miracl/nomiracl)",
        url="https://huggingface.co/datasets/miracl/nomiracl/resolve/main",
        licence="Apache-2.0; the passages are Wikipedia (CC BY-SA)",
    ),
}
"""Provenance of either set; `pull` starts from `url`, manifests keep all three."""

SYSTEM_NAMES: dict[str, str] = {
    "GPT-4": "gpt-4-azure",
    "GPT-3.5": "gpt-3.5-turbo-azure",
    "Mixtral-7x8B": "Mixtral-8x7B-Instruct-v0.1",
    "Mistral-7B": "Mistral-7B-Instruct-v0.2",
    "Orca-2-13B": "Orca-2-13b",
    "Orca-2-7B": "Orca-2-7b",
    "aya-101": "aya-101",
    "LLAMA-2-70B": "llama-2-70b-chat",
    "LLAMA-2-13B": "llama-2-13b-chat",
    "LLAMA-2-7B": "llama-2-7b-chat",
    "flan-t5-xxl": "flan-t5-xxl",
}
"""The name under which NoMIRACL prints the rates of a system -> its name in the published outputs."""

BASELINES = "Baselines"
"""Item of the rates of the 11 systems whose outputs are published: `hallucination rate` and `error rate` as printed,
which is 100 - accuracy."""


def file_names(what: What, language: Language) -> list[str]:
    """Return the published names of one language's files under `FileOrigin.url`."""
    if what == "outputs":
        return [f"{subset}/{language.code}.test.vanilla_prompt.jsonl" for subset in SUBSETS]
    root = f"data/{language.nomiracl_name}"
    lists = [
        f"{root}/{kind}/{split}.{subset}.tsv" for kind in ("topics", "qrels") for split in SPLITS for subset in SUBSETS
    ]
    return [*lists, f"{root}/corpus.jsonl.gz"]
