"""Who made a system, read off its name. Data only."""

from __future__ import annotations

import re
from functools import cache

BASELINE, OTHER = "baseline", "other"

_PATTERNS = (
    (r"^baseline/", BASELINE),
    (r"gpt-|^o[1-9]\b|chatgpt|davinci", "OpenAI"),
    (r"mistral|mixtral", "Mistral"),
    # Orca is built on Llama, but made by Microsoft: the maker decides.
    (r"orca|\bphi\b|phi-", "Microsoft"),
    (r"aya|command", "Cohere"),
    (r"llama", "Meta"),
    (r"gemma|gemini|flan|\bt5\b|mt5|palm", "Google"),
    (r"qwen|qwq", "Alibaba"),
)

MAKERS = tuple(dict.fromkeys((*(name for _, name in _PATTERNS), OTHER)))
"""Every maker by name; `baseline` for the built-in systems, `other` for those not known."""


@cache
def maker(system: str) -> str:
    """The maker of a system or judge, by patterns in its name; `other` where none fits."""
    low = system.lower()
    return next((found for pattern, found in _PATTERNS if re.search(pattern, low)), OTHER)
