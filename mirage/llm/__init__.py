"""Client for chat models: any OpenAI-compatible service, concurrent calls, cached replies.

    from numpy.random import default_rng
    from mirage.store.ledger import Ledger

    endpoint = resolve("openai")                                   # address and key, from the environment
    model = ChatModel(Settings(model="gpt-4o-mini", max_tokens=2048), endpoint=endpoint)
    replies = complete(conversations, model, ledger=Ledger(path), rng=default_rng(0))

`presets.py` lists the services, `calls.py` defines calls, replies and prices, `chat_model.py` joins a model with its
service and limits, `batch.py` looks up the ledger, `asking.py` collects replies, and `arena_calls.py` connects stages
to a model; `client.py` makes the calls, at the rates of `pace.py` and within the budget of `gate.py`; `retry.py`
interprets failures, `tokens.py` counts tokens. `batch_calls.py` makes the same calls in batches at half price, by the
protocol in `batch_protocol.py`. `engine_vllm.py` makes the same calls with
a model that vLLM loads on this machine. `rag_service.py` asks a whole RAG service instead of a model.
"""

from mirage.llm.arena_calls import ArenaCalls, Conversations, plan_calls
from mirage.llm.asking import Engine, Replies, engine_of, put, unread
from mirage.llm.batch_calls import complete_in_batches
from mirage.llm.calls import (
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
from mirage.llm.chat_model import ChatModel
from mirage.llm.client import complete
from mirage.llm.gate import Gate
from mirage.llm.presets import PRESETS, Endpoint, Preset, resolve
from mirage.llm.tokens import TokenEstimate, Tokens, tokens_of

__all__ = [
    "PRESETS",
    "ArenaCalls",
    "ChatModel",
    "Conversations",
    "Cost",
    "Endpoint",
    "Engine",
    "Gate",
    "Limits",
    "Messages",
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
