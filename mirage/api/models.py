"""Models: chat clients, and the stages that call them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mirage.api.arenas import need_writable
from mirage.api.results import as_tuple
from mirage.battles.judge import HEURISTIC
from mirage.errors import BadInput
from mirage.llm import presets, prompts
from mirage.llm import rag_service as rag
from mirage.llm.asking import ArenaCalls
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.engines.processes import Processes
from mirage.llm.generator import LOCAL, Generator
from mirage.llm.rag_service import RagService
from mirage.schema import OVERALL
from mirage.stages.features.measuring import Grader, measure
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.generate.stage import generate_answers, generate_sample, whole_system
from mirage.stages.judge.criteria import load_criterion
from mirage.stages.judge.faults import draw_items, item_pairs
from mirage.stages.judge.stage import (
    BattleSample,
    JudgeSettings,
    judge_arena_by_features,
    judge_by_model,
    refuse_choices,
)
from mirage.store.arena import Arena


def chat_model(
    model: str,
    *,
    base_url: str | None = None,
    provider: str | None = None,
    key_env: str | None = None,
    service: str | None = None,
    temperature: float | None = 0.1,
    top_p: float | None = None,
    max_tokens: int = 2048,
    model_seed: int | None = None,
    extra_body: Mapping[str, Any] | None = None,
    concurrency: int = 8,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    timeout: float = 120.0,
    retries: int = 7,
    price_in: float | None = None,
    price_out: float | None = None,
    budget: float | None = None,
    batch: bool = False,
    batch_wait: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> ChatModel:
    """Describe a chat model for `generate`, `features`, `judge` and `evaluate`; nothing is sent.

    Args:
        model: its name at the service.
        base_url: address of any OpenAI-compatible service.
        provider: openai (default), azure, nvidia, anyscale, cohere, anthropic, gemini, vllm or transformers; with
            huggingface the model is loaded in this process, by its name on the Hub or its folder.
        key_env: environment variable that holds the key; by default the provider's. A server on this machine needs
            none.
        service: name of the service in the ledger, if its address changes; by default its address.
        temperature: sampling temperature; None for the service's default.
        top_p: nucleus sampling probability; None for the prompt's or the service's default.
        max_tokens: maximum new tokens per reply.
        model_seed: sampling seed, for services that support one.
        extra_body: further fields of a request, of one provider, such as `{"reasoning_effort": "low"}`.
        concurrency: maximum concurrent calls.
        requests_per_minute: maximum rate of requests.
        tokens_per_minute: maximum rate of tokens.
        timeout: seconds for one request.
        retries: maximum retries after a transient failure.
        price_in: price per million prompt tokens.
        price_out: price per million reply tokens.
        budget: maximum spending of one function, in the currency of the prices, which it needs.
        batch: submit the calls in batches, at half the price and with results within a day.
        batch_wait: maximum hours to wait for batches; None until they end. Repeating the call collects them.
        options: with huggingface, `batch_size`, and arguments of `from_pretrained` such as `dtype`.

    Raises:
        UnknownName: if there is no such provider.
        BadInput: if the key's variable is not set, an address is invalid, or a limit is out of range.
    """
    local = provider == "huggingface"
    endpoint = None if local else replace(presets.resolve(provider, base_url=base_url, key_env=key_env), name=service)
    settings = Settings(
        model,
        temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        seed=model_seed,
        service=(service or provider) if endpoint is None else endpoint.service,
        extra_body=extra_body or None,
    )
    limits = Limits(
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        timeout=timeout,
        retries=retries,
        price_in=price_in,
        price_out=price_out,
        budget=budget,
        batch=batch,
        batch_wait=batch_wait,
    )
    return ChatModel(settings, limits, endpoint, dict(options or {}))


def rag_service(
    base_url: str,
    *,
    paths: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    key_env: str | None = None,
    service: str | None = None,
    concurrency: int = 8,
    requests_per_minute: float | None = None,
    timeout: float = 120.0,
    retries: int = 7,
) -> RagService:
    """Describe a live RAG service for `generate`: an address that answers a question with its contexts.

    Args:
        base_url: the address, which takes a JSON body by POST and returns JSON, or a stream of it (NDJSON, SSE).
        paths: where the parts of a response are, such as `{"answer": "result.text", "contexts": "docs[*]"}`.
            Default: answer and contexts at the top.
        body: body of a request, with `{query}` in a text, and perhaps `{language}` and `{query_id}`; default
            `{"question": "{query}"}`.
        key_env: environment variable with a key, sent as a bearer token; None for no key.
        service: name of the service in the ledger, if its address changes; by default its address.
        concurrency: maximum concurrent calls.
        requests_per_minute: maximum rate of requests.
        timeout: seconds for one request.
        retries: maximum retries after a transient failure.

    Raises:
        UnknownName: if a part of a response is unknown.
        BadInput: if the address, a path, the body or a limit is invalid, or the key's variable is not set.
    """
    limits = Limits(concurrency=concurrency, requests_per_minute=requests_per_minute, timeout=timeout, retries=retries)
    return rag.rag_service(base_url, key_env=key_env, name=service, paths=paths, body=body, limits=limits)


def load_model(
    technique: str,
    name: str,
    *,
    weights_path: str | None = None,
    temperature: float | None = 0.95,
    top_p: float | None = 0.95,
    max_new_tokens: int = 200,
    max_length: int = 4096,
    batch_size: int = 1,
    num_gpus: int = 1,
    concurrency: int = 1,
    cache_dir: str | None = None,
    base_url: str | None = None,
    key_env: str | None = None,
    **options: Any,
) -> Generator:
    """Load a model that answers prompts: `model.call(prompts)` returns texts, as in the NoMIRACL package.

    Defaults are those of the package. Nothing is cached; `generate` answers the queries of an arena, with a ledger.

    Args:
        technique: huggingface or vllm for a model on this machine; a provider, as for `chat_model`, for a service.
        name: name of the model: at the service, on the Hub, or its folder.
        weights_path: name on the Hub or folder, if they differ from `name`.
        temperature: sampling temperature; None for the model's default.
        top_p: nucleus sampling probability; None for the model's default.
        max_new_tokens: maximum new tokens per reply.
        max_length: with huggingface, maximum tokens of a prompt with its reply.
        batch_size: with huggingface, prompts generated together; vllm batches by itself.
        num_gpus: with vllm, GPUs that share the model; huggingface takes those there are.
        concurrency: with a service, maximum concurrent calls; on this machine the model is loaded once.
        cache_dir: on this machine, folder in which models of the Hub are cached.
        base_url: address of the service.
        key_env: environment variable that holds the key; by default the provider's.
        options: with huggingface and vllm, further arguments of the library.

    Raises:
        UnknownName: if there is no such technique.
        BadInput: if the service's key or address is missing or invalid, or other arguments are given to a service.
    """
    if technique in LOCAL and base_url is None:
        if technique == "huggingface":
            options |= {"batch_size": batch_size, "max_length": max_length, "cache_dir": cache_dir}
        else:
            options = {"tensor_parallel_size": num_gpus, "download_dir": cache_dir} | options
        settings = Settings(weights_path or name, temperature, top_p=top_p, max_tokens=max_new_tokens)
        return Generator(technique, ChatModel(settings, options=options))
    if options:
        given = ", ".join(options)
        raise BadInput(f"a service takes no {given}", do="name its address by base_url, its key's variable by key_env")
    model = chat_model(
        name,
        provider=technique,
        base_url=base_url,
        key_env=key_env,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_new_tokens,
        concurrency=concurrency,
    )
    return Generator(technique, model)


def generate(
    arena: Arena,
    model: ChatModel | None = None,
    *,
    rag: RagService | None = None,
    system: str | None = None,
    template: str = "rag",
    languages: Iterable[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    retriever: str | None = None,
    depth: int | None = None,
    relevant_only: bool = False,
    samples: int = 1,
    replace: bool = False,
) -> Arena:
    """Generate answers to the queries of an arena with a model or a RAG service; running it again resumes, and no call
    is paid for twice.

    Args:
        arena: with queries, and for a model with passages; not a bundled one, which is never changed.
        model: the model (`chat_model`). The template sets top_p and the length of replies if the model does not.
        rag: the RAG service (`rag_service`) to ask instead of a model. It requires `system`, which also names its
            retriever in the table `retrieved`, and takes no template and no options of retrievers.
        system: name of the system; None for the model's name, with the retriever's if there is one.
        template: name of a prompt template, or a text file with placeholders.
        languages: codes; None for all.
        limit: maximum queries per language, the first by id; None for all.
        seed: seed of the passage order, for prompts that show ids.
        retriever: retriever of the passages in the prompts; None for those given with the queries.
        depth: number of the retriever's top passages; None for all.
        relevant_only: show only relevant passages, for the teacher of a training set.
        samples: answers to each query; all but the first go to the table `samples`.
        replace: generate existing answers again.

    Returns:
        The arena with the answers. A failed call is a row with its reason.

    Raises:
        TableMissing: if the arena lacks queries or passages.
        BadInput: if the arena is bundled, or an argument is invalid.
        Unreachable: if the service rejects every call, or a RAG service's responses lack answer or contexts.
    """
    from dataclasses import replace as changed

    path = need_writable(arena)
    if rag is not None and model is None:
        if system is None:
            raise BadInput("the system has no name", do="give one: system=NAME")
        if samples != 1 or retriever is not None or depth is not None or relevant_only:
            raise BadInput(
                "a RAG service retrieves by itself, and gives one answer to a query",
                do="omit samples, retriever, depth and relevant_only",
            )
        prompt, model = None, rag.model(system)
    elif model is not None and rag is None:
        if samples < 1 or (samples > 1 and replace):
            raise BadInput(
                f"{samples} samples" + (" cannot be combined with replace" if replace else ""),
                do="use 1 or more, and another name for the system instead of replace",
            )
        prompt, own = prompts.load_template(template), model.settings
        plain = own.max_tokens == Settings(own.model).max_tokens
        asked = changed(
            own,
            top_p=prompt.top_p if own.top_p is None else own.top_p,
            max_tokens=prompt.max_new_tokens if plain else own.max_tokens,
        )
        model = changed(model, settings=asked)
        system = system or (own.model if retriever is None else whole_system(own.model, retriever))
    else:
        raise BadInput("answers come from a model or from a RAG service", do="give one: model=... or rag=...")
    settings = GenerateSettings(
        system,
        prompt,
        model.settings,
        seed=seed,
        languages=as_tuple(languages),
        limit=limit,
        relevant_only=relevant_only,
        retriever=retriever,
        depth=depth,
        replace=replace,
    )
    calls = ArenaCalls(model, "mirage.generate")
    generated, result = generate_answers(path, settings, calls)
    cost = result.cost
    for sample in range(1, samples):
        model = model.minus_cost(cost)
        calls = ArenaCalls(model, "mirage.generate")
        generated, cost = generate_sample(path, settings, sample, calls)
    return generated


def features(
    arena: Arena,
    *,
    only: Sequence[str] = (),
    reference: str | None = None,
    nli: str | None = None,
    reranker: str | None = None,
    device: str | None = None,
    assigner: str | None = None,
    grader: str | None = None,
    model: ChatModel | None = None,
    executor: Processes | None = None,
) -> Arena:
    """Measure the features of an arena's answers.

    Args:
        arena: with answers; not a bundled one, which is never changed.
        only: names of features; empty for all that the arena and the arguments allow.
        reference: system whose answers are the references of the overlap features.
        nli: NLI model of the support features: a name on the Hub or a folder.
        reranker: reranker model: a name on the Hub or a folder.
        device: torch device; None for the GPU if there is one.
        assigner: assigner of nuggets; None for the one with the most assignments.
        grader: grader of support; None for the one with the most grades.
        model: chat model that grades (`chat_model`); None for no calls.
        executor: runs features without a chat model; None for this process.

    Returns:
        The arena with the table `features`. A grade whose call failed is null, and is asked for again next time.

    Raises:
        TableMissing: if the arena lacks answers, or a table that a named feature needs.
        BadInput: if the arena is bundled, or a feature lacks its model.
        UnknownName: if there is no such feature, system, assigner or grader.
        Unreachable: if the service rejects every call.
    """
    settings = MeasureSettings(only, reference, nli, reranker, device, assigner, grader)
    grade = None
    if model is not None:
        grade = Grader(ArenaCalls(model, "mirage.features"))
    measured = measure(need_writable(arena), settings, made_by="mirage.features", grade=grade, executor=executor)
    if grade is not None:
        grade.need_any()
    return measured


def judge(
    arena: Arena,
    model: ChatModel | None = None,
    *,
    judge: str | None = None,
    queries: int | None = None,
    pairs: int | None = None,
    languages: Iterable[str] | None = None,
    seed: int = 0,
    known: bool = False,
    planted: bool = False,
    criterion: str | None = None,
    rubric: str | Path | None = None,
    repeats: int = 1,
    passport: bool = False,
    replace: bool = False,
) -> Arena:
    """Judge pairs of answers in both orders, by a model or by features; running it again resumes.

    Args:
        arena: with queries, passages and answers; without a model, answers and features. Not a bundled one.
        model: the model (`chat_model`); None for the heuristic judge, which makes no calls.
        judge: name of the judge; None for the model's name.
        queries: queries per language; None for all.
        pairs: pairs of answers per language; None for all.
        languages: codes; None for all.
        seed: seed of the sample.
        known: judge pairs with a known winner by relevance labels, which tests the judge and ranks nothing.
        planted: as `known`, with a verdict in its own favour planted in each wrong answer: tests whether an answer can
            steer the judge.
        criterion: `overall`, `groundedness`, `citation`, `completeness` or `language-quality`. None is `overall`.
            Verdicts by another criterion are stored under `JUDGE: CRITERION`.
        rubric: YAML file with a question or a whole prompt of your own, and `scale: points` to judge each answer alone.
        repeats: verdicts of the model on each battle in each order.
        passport: judge answers beside copies with a planted fault, of 30 queries per language or `queries`, for
            `judge_passport`; returns the arena of these items.
        replace: judge again, ignoring existing verdicts and cached replies.

    Returns:
        The arena with the table `judgments`, with points also `scores`; verdicts of other judges stay. A failed call
        has no verdict; the next run retries it.

    Raises:
        TableMissing: if the arena lacks a table that the judge needs.
        BadInput: if the arena is bundled, the judge has verdicts by another model or prompt, or a rubric is
            incomplete.
        UnknownName: if there is no such criterion.
        NotEnoughData: if there is nothing to judge.
        Unreachable: if the service rejects every call.
    """
    sample, path = BattleSample(queries, pairs, seed, as_tuple(languages), known=known), need_writable(arena)
    asked = load_criterion(criterion, rubric=None if rubric is None else Path(rubric))
    if passport:
        refuse_choices("passport", pairs=pairs, known=known, planted=planted, replace=replace)
        items = draw_items(path, queries=queries, seed=seed, languages=sample.languages, made_by="mirage.judge")
        if model is None:
            items = measure(items.path, made_by="mirage.judge")
        path, sample = items.path, BattleSample(seed=seed, battles=item_pairs(items, sample.languages))
    if model is None:
        if judge not in (None, HEURISTIC) or asked.name != OVERALL or planted:
            raise BadInput(
                f"the judge {asked.judge_name(judge or HEURISTIC)} needs a model",
                do="give one: mirage.chat_model(NAME, base_url=URL)",
            )
        return judge_arena_by_features(path, sample=sample, made_by="mirage.judge")
    if repeats < 1:
        raise BadInput(f"repeats is {repeats}", do="use 1 or more")
    for repeat in range(repeats):
        settings = JudgeSettings(judge or model.settings.model, sample, replace, asked, planted, repeat)
        calls = ArenaCalls(model, "mirage.judge")
        judged, result = judge_by_model(path, settings, calls)
        model = model.minus_cost(result.cost)
    return judged
