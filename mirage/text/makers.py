"""Makers of systems and judges, from their names or named by the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from mirage.text.data import load_words

BASELINE, OTHER = "baseline", "other"

_DATA = load_words("makers")
_ORGANISATIONS: dict[str, str] = _DATA["organisations"]
_SIZE = r"(?=$|[- ]?v?\d|[- ](?:mini|small|medium|instruct|chat|base|code|vision|mamba|embed)(?![^\W\d_]))"
"""Text after an everyday word that is also a model's name: `falcon-180b` is a model, `falcon-rag` is not."""

_SUFFIX = r"(?:chat|instruct|instant|coder|math|lm|vl|long|max)?"
_VERSION = r"(?![- ]?\d[\d.]*(?!(?:[a-z]{1,2}|turbo|mini|omni|chat|instruct|vision|base|pro)(?![^\W\d_]))[^\W\d_.])"
"""No longer word after the version: `gpt4o` is GPT-4o, `gpt4all` is not."""
_LIKENESS = re.compile(r"(?<![^\W\d_])(?:like|clone|style|alternative|replica|inspired)(?![^\W\d_])")
_PATTERNS = (
    *(
        (re.compile(rf"(?<![^\W\d_])(?:{word.replace('<size>', _SIZE)}){_SUFFIX}(?![^\W\d_]){_VERSION}"), str(name))
        for word, name in _DATA["words"].items()
    ),
    # Match the whole name, as these words are too short within a longer one.
    (re.compile(r"^o[1-9](?![^\W\d_])(?=$|[- ](?:mini|pro|preview|high|low|medium|deep|\d))"), "OpenAI"),
    (re.compile(r"^yi$"), "01.AI"),
)
_BASELINE = "baseline/"

MAKERS = tuple(dict.fromkeys((BASELINE, *(name for _, name in _PATTERNS), *sorted(_ORGANISATIONS.values()), OTHER)))
"""Every known maker by name; `baseline` for the built-in systems, `other` for unknown makers."""


@cache
def maker(system: str) -> str:
    """Return the maker of a system or judge by its name; `other` if unknown.

    In `organisation/model` the organisation decides if it is known, else the words of the model's name. A word counts
    only if it is separate or next to a version: `yield` does not match Yi, nor `gpt4all` GPT-4; a likeness of a model
    is not of its maker.
    """
    low = system.lower().strip()
    if low.startswith(_BASELINE):
        return BASELINE
    *prefixes, name = low.split("/")
    for prefix in reversed(prefixes):
        if prefix in _ORGANISATIONS:
            return _ORGANISATIONS[prefix]
    if _LIKENESS.search(name):
        return OTHER
    return next((made_by for pattern, made_by in _PATTERNS if pattern.search(name)), OTHER)


@dataclass(frozen=True)
class Makers:
    """Makers of systems: as named by the user, else by their names."""

    named: tuple[tuple[str, str], ...] = ()
    """System and maker pairs named by the user."""

    @classmethod
    def of_names(cls, pairs: Iterable[tuple[str, str]]) -> Makers:
        """Build from pairs of system and maker, in any order."""
        return cls(tuple(sorted(pairs)))

    @cached_property
    def _by_system(self) -> dict[str, str]:
        return dict(self.named)

    def of(self, system: str) -> str:
        """Return the maker of a system or judge; `other` if unknown. A judge may have its criterion after its name."""
        judge = system.rpartition(": ")[0] or system
        known = self._by_system.get(system) or self._by_system.get(judge) or maker(system)
        return known if known != OTHER or judge == system else maker(judge)


BY_NAME = Makers()
"""Makers by the systems' names only."""
