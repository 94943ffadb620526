"""Names of the systems whose outputs NoMIRACL publishes, and of their rates among the printed figures."""

from __future__ import annotations

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
