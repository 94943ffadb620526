"""Client for chat models: any OpenAI-compatible service, concurrent calls, cached replies.

    from mirage.llm.asking import ask
    from mirage.llm.calls import ChatModel, Settings
    from mirage.llm.presets import resolve
    from mirage.store.ledger import Ledger

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
