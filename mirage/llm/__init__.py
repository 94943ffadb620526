"""Client for chat models: any OpenAI-compatible service, concurrent calls, cached replies.

    from numpy.random import default_rng
    from mirage.store.ledger import Ledger

    endpoint = resolve("openai")                                   # address and key, from the environment
    model = ChatModel(Settings(model="gpt-4o-mini", max_tokens=2048), endpoint=endpoint)
    replies = complete(conversations, model, ledger=Ledger(path), rng=default_rng(0))

`presets.py` lists the services, `calls.py` defines calls, replies and prices, and joins a model with its service and
limits, `batch.py` looks up the ledger, `asking.py` collects replies and connects stages to a model; `client.py` makes
the calls, within the rates and the budget of `gate.py`; `retry.py` and `faults.py` interpret failures, `completion.py`
reads replies, `tokens.py` counts tokens. `batch_calls.py` makes the same calls in batches at half price, by the
protocol in `batch_protocol.py`. `engine_vllm.py` makes the same calls with a model that vLLM loads on this machine.
`rag_service.py` asks a whole RAG service instead of a model.
"""

from mirage.llm.asking import (
    ArenaCalls,
    Asking,
    Conversations,
    Engine,
    OnCost,
    Replies,
    engine_of,
    plan_calls,
    put,
    unread,
)
from mirage.llm.batch_calls import complete_in_batches
from mirage.llm.calls import (
    ChatModel,
    Cost,
    Limits,
    Messages,
    Reply,
    Settings,
    Tally,
    call_key,
    describe,
    first_key,
    keys,
    parameters,
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
    "ArenaCalls",
    "Asking",
    "ChatModel",
    "Conversations",
    "Cost",
    "Endpoint",
    "Engine",
    "Limits",
    "Messages",
    "OnCost",
    "Preset",
    "Replies",
    "Reply",
    "Settings",
    "Tally",
    "TokenEstimate",
    "Tokens",
    "call_key",
    "complete",
    "complete_in_batches",
    "describe",
    "engine_of",
    "first_key",
    "keys",
    "parameters",
    "plan",
    "plan_calls",
    "put",
    "request",
    "resolve",
    "spent",
    "tokens_of",
    "total",
    "unread",
]
