"""Public locations, file names, licences and systems of NoMIRACL's files."""

from dataclasses import dataclass
from typing import Literal, get_args

from mirage.text.data import load_words
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


_FACTS = load_words("origin", "mirage.io.sources.nomiracl")
ORIGIN: dict[What, FileOrigin] = {what: FileOrigin(**_FACTS[what]) for what in get_args(What)}
"""Provenance of either set; `pull` starts from `url`, manifests keep all three."""

SYSTEM_NAMES: dict[str, str] = _FACTS["systems"]
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
