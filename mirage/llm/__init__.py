"""The one door to a chat model: any OpenAI-compatible service, many calls at once, each paid for once.

    endpoint = resolve("openai")                                   # address and key, from the environment
    settings = Settings(model="gpt-4o-mini", max_tokens=2048)
    replies = complete(conversations, endpoint=endpoint, settings=settings, ledger=Ledger(path), rng=default_rng(0))

`presets.py` knows the services, `calls.py` what a call, a reply and a price are, `batch.py` what the ledger has and
what is to be asked; `client.py` makes the calls, at the rates of `pace.py`; `retry.py` decides what a failure means,
`tokens.py` counts tokens. `engine_vllm.py` makes the same calls with a model that vLLM loads on this machine.
"""

from mirage.llm.calls import (
    Cost,
    Limits,
    Messages,
    Reply,
    Settings,
    Tally,
    call_key,
    first_key,
    plan,
    request,
    spent,
    total,
)
from mirage.llm.client import complete
from mirage.llm.presets import PRESETS, Endpoint, Preset, resolve
from mirage.llm.tokens import TokenEstimate, Tokens, tokens_of

__all__ = [
    "PRESETS",
    "Cost",
    "Endpoint",
    "Limits",
    "Messages",
    "Preset",
    "Reply",
    "Settings",
    "Tally",
    "TokenEstimate",
    "Tokens",
    "call_key",
    "complete",
    "first_key",
    "plan",
    "request",
    "resolve",
    "spent",
    "tokens_of",
    "total",
]
