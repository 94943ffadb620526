"""Client for chat models: any OpenAI-compatible service, concurrent calls, cached replies.

    from mirage.store import Ledger

    endpoint = resolve("openai")                                   # address and key, from the environment
    model = ChatModel(Settings(model="gpt-4o-mini", max_tokens=2048), endpoint=endpoint)
    replies = ask(conversations, model, Ledger(path))              # `by_number`, `cost`, `reasons` of failed calls

`presets.py` lists the services, `calls.py` defines calls and prices, and joins a model with its service and limits.
`asking.py` looks conversations up in the ledger (`batch.py`), and has an engine get the replies to the others:
`client.py` call by call, within rates and a budget; `batch_calls.py` in batches at half price; `engine_huggingface.py`
and `engine_vllm.py` with a model on this machine; `engines/cluster.py` on a cluster. `retry.py` and `faults.py`
interpret failures, `completion.py` reads replies, `tokens.py` counts tokens. `rag_service.py` describes a whole RAG
service in place of a model.
"""

from mirage.llm.asking import (
    ArenaCalls,
    Conversations,
    Engine,
    Replies,
    ask,
    engine_of,
    plan_calls,
    unread,
)
from mirage.llm.batch import Batch
from mirage.llm.calls import (
    ChatModel,
    Cost,
    Limits,
    Settings,
    cost_of,
    describe,
    first_key,
    parameters,
    plan,
    total,
)
from mirage.llm.client import complete
from mirage.llm.completion import Messages, Reply
from mirage.llm.presets import PRESETS, Endpoint, resolve
from mirage.llm.tokens import TokenEstimate, Tokens, tokens_of

__all__ = [
    "PRESETS",
    "ArenaCalls",
    "Batch",
    "ChatModel",
    "Conversations",
    "Cost",
    "Endpoint",
    "Engine",
    "Limits",
    "Messages",
    "Replies",
    "Reply",
    "Settings",
    "TokenEstimate",
    "Tokens",
    "ask",
    "complete",
    "cost_of",
    "describe",
    "engine_of",
    "first_key",
    "parameters",
    "plan",
    "plan_calls",
    "resolve",
    "tokens_of",
    "total",
    "unread",
]
