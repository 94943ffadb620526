"""Options of every command that calls a model: model, service, sampling parameters, rate limits and budget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage.cli.output import note
from mirage.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from mirage import llm
    from mirage.llm.engines.tasks import Executor

EngineName = Literal["local", "processes", "ray", "vllm", "openai"]
ABOUT_SERVICE = ("settings", "help_service")
"""Options about the options of the model service, which `--help` lists."""


def _help_service(ctx: typer.Context, requested: bool) -> bool:
    if requested and not ctx.resilient_parsing:
        formatter = ctx.make_formatter()
        ctx.command.format_options(ctx, formatter, of_service=True)  # type: ignore[call-arg]  # as in `Command`
        typer.echo(formatter.getvalue().rstrip())
        raise typer.Exit
    return requested


def _read_settings(ctx: typer.Context, file: Path | None) -> Path | None:
    """Take defaults of the service options from a TOML file; what is typed precedes them.

    Raises:
        BadInput: if it is not TOML.
        UnknownName: if it names no option of the service.
    """
    if file is not None and not ctx.resilient_parsing:
        from mirage.store.settings import read_toml

        values = {
            name.replace("-", "_"): json.dumps(value) if isinstance(value, dict) else value
            for name, value in read_toml(file).items()
        }
        known = [each.name for each in fields(Connection) if each.name not in ABOUT_SERVICE]
        for name in values:
            if name not in known:
                raise UnknownName("option of the model service", name, known, where=str(file))
        ctx.default_map = values
    return file


@dataclass(frozen=True)
class Connection:
    """Options for calling a model; each field is one option."""

    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            is_eager=True,
            callback=_read_settings,
            help="TOML file with options of the model service.",
        ),
    ] = None
    help_service: Annotated[
        bool,
        typer.Option(
            "--help-service",
            is_eager=True,
            callback=_help_service,
            help="List the options of the model service and exit.",
        ),
    ] = False

    model: Annotated[str | None, typer.Option(metavar="M", help="Model name at the service.")] = None
    provider: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Sets the address and key variable: openai (default), azure, nvidia, anyscale, cohere,"
            " anthropic, gemini, vllm or transformers; huggingface loads the model here; rag is a RAG service, for"
            " `mirage generate`.",
        ),
    ] = None
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Address of any OpenAI-compatible service.")] = (
        None
    )
    key_env: Annotated[str | None, typer.Option(metavar="NAME", help="Environment variable that holds the key.")] = None
    service: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the service in the ledger, if its address changes; by default its address."
        ),
    ] = None
    temperature: Annotated[float, typer.Option(min=0, help="Sampling temperature.")] = 0.1
    top_p: Annotated[float | None, typer.Option(min=0, max=1, help="Nucleus sampling probability.")] = None
    plain: Annotated[
        bool, typer.Option("--plain", help="Send neither temperature nor top-p; some models reject them.")
    ] = False
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum new tokens per reply; default 2,048 unless the prompt says otherwise."),
    ] = None
    model_seed: Annotated[int | None, typer.Option(help="Sampling seed, for services that support one.")] = None
    extra_body: Annotated[
        str | None,
        typer.Option(metavar="JSON", help='Further fields of requests, of a provider: {"reasoning_effort": "low"}.'),
    ] = None
    concurrency: Annotated[int, typer.Option(min=1, help="Maximum concurrent calls.")] = 8
    requests_per_minute: Annotated[
        float | None, typer.Option("--rpm", "--requests-per-minute", help="Maximum requests per minute.")
    ] = None
    tokens_per_minute: Annotated[
        float | None, typer.Option("--tpm", "--tokens-per-minute", help="Maximum tokens per minute.")
    ] = None
    timeout: Annotated[float, typer.Option(help="Timeout of a request, in seconds.")] = 120.0
    max_body: Annotated[int, typer.Option(min=1, help="Maximum response size, in bytes.")] = 16 * 1024**2
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for pending calls after Ctrl-C or another stop.")
    ] = 30.0
    retries: Annotated[int, typer.Option(min=0, help="Maximum retries after a transient failure.")] = 7
    price_in: Annotated[float | None, typer.Option(min=0, help="Price per million prompt tokens.")] = None
    price_out: Annotated[float | None, typer.Option(min=0, help="Price per million reply tokens.")] = None
    budget: Annotated[float | None, typer.Option(min=0, help="Maximum spending; needs the prices.")] = None
    batch: Annotated[
        bool,
        typer.Option("--batch", help="Submit the calls in batches, at half the price and with results within a day."),
    ] = False
    batch_size: Annotated[int, typer.Option(min=1, help="Maximum requests per batch.")] = 50_000
    batch_wait: Annotated[
        float | None,
        typer.Option(
            metavar="HOURS",
            min=0,
            help="Stop waiting for batches after this time; rerun to collect them. Default: wait until they end.",
        ),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the planned calls, tokens and cost; send nothing.")
    ] = False
    engine: Annotated[
        EngineName,
        typer.Option(
            help="Where to run: this process; several (`processes`, for work without a model); a Ray"
            " cluster; or vLLM, which loads the model here, or with --address in each worker of a Ray cluster."
            " `openai` means `local`."
        ),
    ] = "local"
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Workers of `processes` and `ray`; by default one per core of this machine."),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address of Ray; by default RAY_ADDRESS, else this machine."),
    ] = None
    gpus: Annotated[float, typer.Option(min=0, help="GPUs per worker of `ray`, for local models.")] = 0
    engine_args: Annotated[
        str,
        typer.Option(
            metavar="JSON",
            help='Further arguments for vllm.LLM or a model of transformers: {"tensor_parallel_size": 2} or'
            ' {"load_in_4bit": true}.',
        ),
    ] = "{}"

    paths: Annotated[
        str | None,
        typer.Option(
            metavar="PART=PATH,..",
            help="With --provider rag: paths of answer and contexts in the response; default"
            " answer=answer,contexts=contexts.",
        ),
    ] = None
    body: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='With --provider rag: body of a request, with {query}, {language} and {query_id}; default {"question":'
            ' "{query}"}.',
        ),
    ] = None

    @property
    def is_loaded_here(self) -> bool:
        """True if transformers loads the model in this process."""
        return self.provider == "huggingface"

    def endpoint(self) -> llm.Endpoint:
        """Return the service, with the key from the environment.

        Raises:
            BadInput: if the address or the key is unknown.
        """
        from mirage import llm

        endpoint = llm.resolve(self.provider, base_url=self.base_url, key_env=self.key_env)
        return replace(endpoint, name=self.service)

    def chat_model(self, *, top_p: float | None = None, max_tokens: int = 2048) -> llm.ChatModel:
        """Return the model with its sampling parameters, limits and service.

        Args:
            top_p: nucleus sampling probability unless an option sets it.
            max_tokens: maximum new tokens per reply unless an option sets it.

        Raises:
            BadInput: if no model is named, the service's address or key is unknown, or a limit is out of range.
        """
        from mirage import llm

        if self.model is None:
            raise BadInput("no model is named", do="add --model with the model's name at the service")
        endpoint = None if self.engine == "vllm" or self.is_loaded_here else self.endpoint()
        extra_body = read_object("--extra-body", self.extra_body or "{}", '{"reasoning_effort": "low"}')
        if extra_body and endpoint is None:
            raise BadInput("a model on this machine has no request body", do="omit --extra-body; see --engine-args")
        settings = llm.Settings(
            self.model,
            temperature=None if self.plain else self.temperature,
            top_p=None if self.plain else top_p if self.top_p is None else self.top_p,
            max_tokens=self.max_tokens or max_tokens,
            seed=self.model_seed,
            service=(self.service or (self.provider if self.is_loaded_here else "vllm"))
            if endpoint is None
            else endpoint.service,
            extra_body=extra_body or None,
        )
        options = read_object("--engine-args", self.engine_args, '{"tensor_parallel_size": 2}')
        return llm.ChatModel(settings, self.limits(), endpoint, options)

    def limits(self) -> llm.Limits:
        """Return concurrency, rates, retries, prices and budget.

        Raises:
            BadInput: if one is out of range, or a budget is given without prices.
        """
        from mirage import llm

        own = {field.name for field in fields(self)}
        return llm.Limits(
            **{field.name: getattr(self, field.name) for field in fields(llm.Limits) if field.name in own}
        )

    def caller(self, model: llm.ChatModel) -> llm.Engine:
        """Return the engine that gets a model's replies.

        Raises:
            BadInput: if workers, GPUs or an address are given to an engine without them.
        """
        from mirage.llm.engines.calls import complete_on

        plain = self.engine in ("local", "openai")
        if self.batch and not (plain and not self.is_loaded_here):
            raise BadInput("batches are processed by a service", do="omit --batch, or --engine and the local provider")
        if self.is_loaded_here and not plain:
            raise BadInput(
                f"transformers loads the model in this process, not by --engine {self.engine}", do="omit --engine"
            )
        if self.engine == "vllm":
            self.executor()
            from mirage.llm import engine_vllm
            from mirage.llm.batch import complete_loaded

            if self.address is None:
                return partial(complete_loaded, model=model, load=engine_vllm.load)
            return partial(complete_on, model=model, executor=self._vllm_workers(model.options))
        executor = self.executor(models=False)
        if self.engine == "ray" and executor is not None:
            return partial(complete_on, model=model, executor=executor)
        from mirage import llm

        return llm.engine_of(model)

    def only_caller(self, model: llm.ChatModel) -> llm.Engine:
        """Return the engine that gets a model's replies, for a command that does nothing else.

        Raises:
            BadInput: if the engine cannot speed up calls, or lacks an option given.
        """
        if self.engine == "processes":
            raise BadInput(
                "more processes do not speed up calls to a service",
                do="omit --engine, and set the number of concurrent calls with --concurrency",
            )
        return self.caller(model)

    def executor(self, *, models: bool = True) -> Executor | None:
        """Return the executor that runs the work elsewhere; None for this process.

        Args:
            models: whether workers may load models and therefore get GPUs; calling a service needs none.

        Raises:
            BadInput: if workers, GPUs or an address are given to an engine without them.
        """
        if self.address is not None and self.engine not in ("ray", "vllm"):
            raise BadInput("only --engine ray and vllm have an address", do="add one of them, or omit --address")
        if self.gpus and self.engine != "ray":
            raise BadInput("only workers of --engine ray have GPUs", do="add --engine ray, or omit --gpus")
        if self.workers is not None and self.engine not in ("processes", "ray") and self.address is None:
            raise BadInput(
                "only --engine processes and --engine ray have workers", do="add one of them, or omit --workers"
            )
        from mirage.llm.engines.cluster import Cluster
        from mirage.llm.engines.processes import Processes
        from mirage.store.cores import available

        if self.engine == "processes":
            return Processes(self.workers or available())
        if self.engine == "ray":
            return Cluster(self.workers or available(), self.address, self.gpus if models else 0)
        return None

    def _vllm_workers(self, options: Mapping[str, Any]) -> Executor:
        """Return cluster workers that each load the model, on `tensor_parallel_size` GPUs.

        Raises:
            BadInput: if that is not a positive integer.
        """
        from mirage.llm.engines.cluster import Cluster

        gpus = options.get("tensor_parallel_size", 1)
        if not isinstance(gpus, int) or gpus < 1:
            raise BadInput(
                f"tensor_parallel_size is {gpus!r}", where="--engine-args", do="give a number of GPUs, at least 1"
            )
        return Cluster(self.workers or 1, self.address, gpus)


def read_object(option: str, text: str, example: str) -> dict[str, Any]:
    """Parse an option with a JSON object.

    Raises:
        BadInput: if it is not one.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{option} is not JSON: {error}", do=f"write it like {example}") from None
    if not isinstance(value, dict):
        raise BadInput(f"{option} is not a JSON object", do=f"write it like {example}")
    return value


def tell(cost: llm.Cost, *, planned: bool = False) -> None:
    """Report the cost of calls, or its upper bound if they are only planned."""
    verb = "would be made, at most" if planned else "made"
    money = "" if cost.money is None else f", {cost.money:,.2f} in the currency of the prices"
    note(
        f"{cost.calls:,} calls {verb}, {cost.kept:,} cached replies, {cost.tokens_in:,} prompt tokens and"
        f" {cost.tokens_out:,} reply tokens{money}."
    )
    if cost.estimated:
        note(f"Token counts of {cost.estimated:,} calls are estimates: the service reported no credible number.")
