"""The options of every command that asks a model: which, where, with which parameters, how fast and for how much."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from mirage.cli.output import note
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage import llm
    from mirage.engines.tasks import Executor

EngineName = Literal["local", "processes", "ray", "vllm", "openai"]


@dataclass(frozen=True)
class Connection:
    """What the options say; each field is one option."""

    model: Annotated[str | None, typer.Option(metavar="M", help="The model's name at the service.")] = None
    provider: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Whose address and key variable to use: openai (if nothing is said), azure, nvidia, anyscale, cohere,"
            " anthropic, gemini, vllm or transformers.",
        ),
    ] = None
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Address of any OpenAI-compatible service.")] = (
        None
    )
    key_env: Annotated[str | None, typer.Option(metavar="NAME", help="Environment variable that holds the key.")] = None
    service: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the service in the ledger, if its address changes; its address, if absent."
        ),
    ] = None
    temperature: Annotated[float, typer.Option(min=0, help="Sampling temperature.")] = 0.1
    top_p: Annotated[float | None, typer.Option(min=0, max=1, help="Probability mass that is sampled from.")] = None
    plain: Annotated[
        bool, typer.Option("--plain", help="Send neither temperature nor top-p: some models refuse them.")
    ] = False
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="New tokens a reply may have; 2,048 if nothing says more.")
    ] = None
    model_seed: Annotated[int | None, typer.Option(help="Sampling seed, for services that take one.")] = None
    concurrency: Annotated[int, typer.Option(min=1, help="Calls under way at once.")] = 8
    requests_per_minute: Annotated[
        float | None, typer.Option("--rpm", "--requests-per-minute", help="Requests a minute, at most.")
    ] = None
    tokens_per_minute: Annotated[
        float | None, typer.Option("--tpm", "--tokens-per-minute", help="Tokens a minute, at most.")
    ] = None
    timeout: Annotated[float, typer.Option(help="Seconds for one request.")] = 120.0
    max_body: Annotated[int, typer.Option(min=1, help="Bytes that one answer of the service may have.")] = 16 * 1024**2
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that calls under way get to end after Ctrl-C or another stop.")
    ] = 30.0
    retries: Annotated[int, typer.Option(min=0, help="Times a call is made again after a failure that may pass.")] = 7
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million prompt tokens.")] = None
    price_out: Annotated[float | None, typer.Option(min=0, help="Price of a million reply tokens.")] = None
    budget: Annotated[float | None, typer.Option(min=0, help="Stop before spending more; needs the prices.")] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print calls, tokens and money; send nothing.")] = False
    engine: Annotated[
        EngineName,
        typer.Option(
            help="Where it is done: this process; several (`processes`, for what needs no model); a Ray"
            " cluster; or vLLM with the model loaded on this machine, with --address by each worker of a Ray cluster."
            " `openai` is `local`."
        ),
    ] = "local"
    workers: Annotated[
        int | None, typer.Option(min=1, help="Workers of `processes` and `ray`; one a core here, if absent.")
    ] = None
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Ray's; else RAY_ADDRESS, else this machine."),
    ] = None
    gpus: Annotated[
        float, typer.Option(min=0, help="GPUs of each worker of `ray`, for the local models that it loads.")
    ] = 0
    engine_args: Annotated[
        str, typer.Option(metavar="JSON", help='Further arguments of vllm.LLM: {"tensor_parallel_size": 2}.')
    ] = "{}"

    def endpoint(self) -> llm.Endpoint:
        """The service; the key is read from the environment.

        Raises:
            BadInput: if the address or the key is not known.
        """
        from mirage import llm

        endpoint = llm.resolve(self.provider, base_url=self.base_url, key_env=self.key_env)
        return replace(endpoint, name=self.service)

    def settings(self, *, top_p: float | None = None, max_tokens: int = 2048) -> llm.Settings:
        """Model and parameters.

        Args:
            top_p: the share of the probability mass where no option says one.
            max_tokens: the same for the new tokens a reply may have.

        Raises:
            BadInput: if no model is named, or the service's address or key is not known.
        """
        from mirage import llm

        if self.model is None:
            raise BadInput("no model is named", do="give --model with the model's name at the service")
        local = self.engine == "vllm"
        return llm.Settings(
            self.model,
            temperature=None if self.plain else self.temperature,
            top_p=None if self.plain else top_p if self.top_p is None else self.top_p,
            max_tokens=self.max_tokens or max_tokens,
            seed=self.model_seed,
            service=(self.service or "vllm") if local else self.endpoint().service,
        )

    def limits(self) -> llm.Limits:
        """Concurrency, rates, retries, prices and budget.

        Raises:
            BadInput: if one is out of range, or a budget is given without prices.
        """
        from mirage import llm

        return llm.Limits(
            concurrency=self.concurrency,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            timeout=self.timeout,
            max_body=self.max_body,
            grace=self.grace,
            retries=self.retries,
            budget=self.budget,
            price_in=self.price_in,
            price_out=self.price_out,
        )

    def caller(self, *, settings: llm.Settings, limits: llm.Limits) -> Callable[..., list[llm.Reply | None]]:
        """What makes the calls: `llm.complete`, or its like, given all but the conversations and where replies go.

        Args:
            settings: model and parameters.
            limits: for a service.

        Raises:
            BadInput: if the service's address or key is not known.
        """
        from mirage.engines.calls import complete_on

        options = self._vllm_options()
        if self.engine == "vllm":
            self.executor()
            from mirage.llm import engine_vllm

            if self.address is None:
                return partial(engine_vllm.complete_local, settings=settings, options=options)
            return partial(
                complete_on, executor=self._vllm_workers(options), endpoint=None, settings=settings, options=options
            )
        executor = self.executor(models=False)
        if self.engine == "ray" and executor is not None:
            return partial(complete_on, executor=executor, endpoint=self.endpoint(), settings=settings, limits=limits)
        import numpy as np

        from mirage import llm

        endpoint, rng = self.endpoint(), np.random.default_rng()
        return partial(llm.complete, endpoint=endpoint, settings=settings, limits=limits, rng=rng)

    def only_caller(self, *, settings: llm.Settings, limits: llm.Limits) -> Callable[..., list[llm.Reply | None]]:
        """What makes the calls, for a command that does nothing else.

        Args:
            settings: model and parameters.
            limits: for a service.

        Raises:
            BadInput: if the service's address or key is not known, or for an engine that makes no call faster.
        """
        if self.engine == "processes":
            raise BadInput(
                "calls wait for the service, which more processes do not make faster",
                do="leave --engine out, and say with --concurrency how many calls are under way at once",
            )
        return self.caller(settings=settings, limits=limits)

    def executor(self, *, models: bool = True) -> Executor | None:
        """What does work elsewhere; None where it is done here.

        Args:
            models: whether workers may load models, and so have GPUs; who only asks a service needs none.

        Raises:
            BadInput: if workers or an address are given to an engine that has none.
        """
        return executor_of(self.engine, self.workers, self.address, gpus=self.gpus, models=models)

    def _vllm_workers(self, options: Mapping[str, Any]) -> Executor:
        """Workers of a cluster that each load the model, on as many GPUs as vLLM is to spread it over.

        Raises:
            BadInput: if that is no number.
        """
        from mirage.engines.cluster import Cluster

        gpus = options.get("tensor_parallel_size", 1)
        if not isinstance(gpus, int) or gpus < 1:
            raise BadInput(
                f"tensor_parallel_size is {gpus!r}", where="--engine-args", do="give a number of GPUs, from 1"
            )
        return Cluster(self.workers or 1, self.address, gpus)

    def _vllm_options(self) -> dict[str, Any]:
        """What `--engine-args` says.

        Raises:
            BadInput: if it is no JSON object.
        """
        try:
            options = json.loads(self.engine_args)
        except (ValueError, RecursionError) as error:
            raise BadInput(
                f"--engine-args is not JSON: {error}", do='write it like {"tensor_parallel_size": 2}'
            ) from None
        if not isinstance(options, dict):
            raise BadInput("--engine-args is no JSON object", do='write it like {"tensor_parallel_size": 2}')
        return options


def executor_of(
    engine: EngineName, workers: int | None, address: str | None, *, gpus: float = 0, models: bool = False
) -> Executor | None:
    """What does work elsewhere; None where it is done here.

    Args:
        engine: what `--engine` says.
        workers: how many; None for one a core of this machine.
        address: Ray's.
        gpus: GPUs of each worker.
        models: whether workers may load models, and so have GPUs.

    Raises:
        BadInput: if workers, GPUs or an address are given to an engine that has none.
    """
    if address is not None and engine not in ("ray", "vllm"):
        raise BadInput("only --engine ray and vllm have an address", do="add one of them, or leave --address out")
    if gpus and engine != "ray":
        raise BadInput("only --engine ray has GPUs for its workers", do="add --engine ray, or leave --gpus out")
    if workers is not None and engine not in ("processes", "ray") and address is None:
        raise BadInput(
            "only --engine processes and --engine ray have workers", do="add one of them, or leave --workers out"
        )
    from mirage.cores import available

    count = workers or available()
    if engine == "processes":
        from mirage.engines.processes import Processes

        return Processes(count)
    if engine == "ray":
        from mirage.engines.cluster import Cluster

        return Cluster(count, address, gpus if models else 0)
    return None


def connected(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Connection`: its parameter `connection` is replaced by them."""

    @functools.wraps(command)
    def run(**options: Any) -> None:
        arguments = {name: options.pop(name) for name in list(options) if name not in names}
        command(**arguments, connection=Connection(**options))

    names = {field.name for field in fields(Connection)}
    hints = get_type_hints(Connection, include_extras=True)
    connection_parameters = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(Connection)
    ]
    annotations = get_type_hints(command, include_extras=True)
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "connection":
            parameters += connection_parameters
        else:
            parameters.append(parameter.replace(annotation=annotations[name], kind=inspect.Parameter.KEYWORD_ONLY))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def tell(cost: llm.Cost, *, planned: bool = False) -> None:
    """Say what calls cost, or would cost at most."""
    verb = "would be made, at most" if planned else "made"
    money = "" if cost.money is None else f", {cost.money:,.2f} in the currency of the prices"
    note(
        f"{cost.calls:,} calls {verb}, {cost.kept:,} replies at hand for nothing, {cost.tokens_in:,} prompt tokens and"
        f" {cost.tokens_out:,} reply tokens{money}."
    )
    if cost.estimated:
        note(f"The service gave no credible number of tokens for {cost.estimated:,} calls: theirs are estimates.")
