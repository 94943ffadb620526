"""Options of every command that calls a model: model, service, sampling parameters, rate limits and budget."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage.cli.output import note, progress
from mirage.errors import BadInput, UnknownName
from mirage.ranking.settings import OPTION, Option
from mirage.schema import Range

if TYPE_CHECKING:
    from mirage.llm.asking import ArenaCalls, Engine
    from mirage.llm.calls import ChatModel, Cost, Limits
    from mirage.llm.engines.processes import Processes

_LEAST_0, _LEAST_1 = Range(0), Range(1)
EngineName = Literal["local", "processes", "ray", "vllm"]
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
            metavar="FILE", is_eager=True, callback=_read_settings, help="TOML file with options of the model service."
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

    model: Annotated[str | None, Option(metavar="M")] = None
    """Model name at the service."""
    provider: Annotated[str | None, Option(metavar="NAME")] = None
    """Sets the address and key variable: openai (default), azure, nvidia, anyscale, cohere, anthropic, gemini, vllm or
    transformers; huggingface loads the model here; rag is a RAG service, for `mirage generate`.
    """
    base_url: Annotated[str | None, Option(metavar="URL")] = None
    """Address of any OpenAI-compatible service."""
    key_env: Annotated[str | None, Option(metavar="NAME")] = None
    """Environment variable that holds the key."""
    service: Annotated[str | None, Option(metavar="NAME")] = None
    """Name of the service in the ledger, if its address changes; by default its address."""
    temperature: Annotated[float, _LEAST_0, OPTION] = 0.1
    """Sampling temperature."""
    top_p: Annotated[float | None, Range(0, 1), OPTION] = None
    """Nucleus sampling probability."""
    plain: Annotated[bool, Option("--plain")] = False
    """Send neither temperature nor top-p; some models reject them."""
    max_tokens: Annotated[int | None, _LEAST_1, OPTION] = None
    """Maximum new tokens per reply; default 2,048 unless the prompt says otherwise."""
    model_seed: Annotated[int | None, OPTION] = None
    """Sampling seed, for services that support one."""
    extra_body: Annotated[str | None, Option(metavar="JSON")] = None
    """Further fields of a request, for one provider: {"reasoning_effort": "low"}."""
    concurrency: Annotated[int, _LEAST_1, OPTION] = 8
    """Maximum concurrent calls."""
    requests_per_minute: Annotated[
        float | None, typer.Option("--rpm", "--requests-per-minute", help="Maximum requests per minute.")
    ] = None
    tokens_per_minute: Annotated[
        float | None, typer.Option("--tpm", "--tokens-per-minute", help="Maximum tokens per minute.")
    ] = None
    timeout: Annotated[float, OPTION] = 120.0
    """Timeout of a request, in seconds."""
    grace: Annotated[float, _LEAST_0, OPTION] = 30.0
    """Seconds to wait for pending calls after Ctrl-C or another stop."""
    retries: Annotated[int, _LEAST_0, OPTION] = 7
    """Maximum retries after a transient failure."""
    price_in: Annotated[float | None, _LEAST_0, OPTION] = None
    """Price per million prompt tokens."""
    price_out: Annotated[float | None, _LEAST_0, OPTION] = None
    """Price per million reply tokens."""
    budget: Annotated[float | None, _LEAST_0, OPTION] = None
    """Maximum spending; needs the prices."""
    batch: Annotated[bool, Option("--batch")] = False
    """Submit the calls in batches, at half the price and with results within a day."""
    batch_wait: Annotated[float | None, _LEAST_0, Option(metavar="HOURS")] = None
    """Stop waiting for batches after this time; rerun to collect them. Default: wait until they end."""
    dry_run: Annotated[bool, Option("--dry-run")] = False
    """Print the planned calls, tokens and cost; send nothing."""
    engine: Annotated[EngineName, OPTION] = "local"
    """Where to run: this process; several processes, for work without a model; a Ray cluster, for calls; or vLLM, which
    loads the model in this process.
    """
    workers: Annotated[int | None, _LEAST_1, OPTION] = None
    """Workers of `processes` and `ray`; by default one per core of this machine."""
    address: Annotated[str | None, Option(metavar="HOST:PORT")] = None
    """Address of the Ray cluster; by default RAY_ADDRESS, else this machine."""
    engine_args: Annotated[str, Option(metavar="JSON")] = "{}"
    """Further arguments of vllm.LLM, or of from_pretrained in transformers: {"tensor_parallel_size": 2} or
    {"dtype": "float16", "batch_size": 4}.
    """
    paths: Annotated[str | None, Option(metavar="PART=PATH,..")] = None
    """With --provider rag: paths of answer and contexts in the response; default answer=answer,contexts=contexts."""
    body: Annotated[str | None, Option(metavar="JSON")] = None
    """With --provider rag: body of a request, with {query}, {language} and {query_id}; default {"question":
    "{query}"}.
    """

    @property
    def is_loaded_here(self) -> bool:
        """True if transformers loads the model in this process."""
        return self.provider == "huggingface"

    def chat_model(self, *, top_p: float | None = None, max_tokens: int = 2048) -> ChatModel:
        """Return the model with its sampling parameters, limits and service.

        Args:
            top_p: nucleus sampling probability unless an option sets it.
            max_tokens: maximum new tokens per reply unless an option sets it.

        Raises:
            BadInput: if no model is named, the service's address or key is unknown, or a limit is out of range.
        """
        from mirage.llm import presets
        from mirage.llm.calls import ChatModel, Settings

        if self.model is None:
            raise BadInput("no model is named", do="add --model with the model's name at the service")
        endpoint = None
        if not (self.engine == "vllm" or self.is_loaded_here):
            endpoint = presets.resolve(self.provider, base_url=self.base_url, key_env=self.key_env)
            endpoint = replace(endpoint, name=self.service)
        extra_body = read_object("--extra-body", self.extra_body or "{}", '{"reasoning_effort": "low"}')
        if extra_body and endpoint is None:
            raise BadInput("a model on this machine has no request body", do="omit --extra-body; see --engine-args")
        settings = Settings(
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
        return ChatModel(settings, self.limits(), endpoint, options)

    def limits(self) -> Limits:
        """Return concurrency, rates, retries, prices and budget.

        Raises:
            BadInput: if one is out of range, or a budget is given without prices.
        """
        from mirage.llm.calls import Limits

        names = {field.name for field in fields(Limits)}
        return Limits(**{name: value for name, value in vars(self).items() if name in names})

    def make_engine(self, model: ChatModel) -> Engine:
        """Return the engine that gets a model's replies.

        Raises:
            BadInput: if workers or an address are given to an engine without them.
        """
        from mirage.llm.asking import engine_of

        if self.batch and (self.engine != "local" or self.is_loaded_here):
            raise BadInput("batches are processed by a service", do="omit --batch, or --engine and the local provider")
        if self.is_loaded_here and self.engine != "local":
            raise BadInput(
                f"transformers loads the model in this process, not by --engine {self.engine}", do="omit --engine"
            )
        self.executor()
        if self.engine == "vllm":
            from mirage.llm import engine_vllm
            from mirage.llm.batch import complete_loaded

            return partial(complete_loaded, model=model, load=engine_vllm.load)
        if self.engine == "ray":
            from mirage.llm.engines.cluster import Cluster, complete_on
            from mirage.store.cores import available

            return partial(complete_on, model=model, cluster=Cluster(self.workers or available(), self.address))
        return engine_of(model)

    def only_caller(self, model: ChatModel) -> Engine:
        """Return the engine that gets a model's replies, for a command that does nothing else.

        Raises:
            BadInput: if the engine cannot speed up calls, or lacks an option given.
        """
        if self.engine == "processes":
            raise BadInput(
                "more processes do not speed up calls to a service",
                do="omit --engine, and set the number of concurrent calls with --concurrency",
            )
        return self.make_engine(model)

    @contextmanager
    def calls(self, model: ChatModel, title: str, made_by: str) -> Iterator[ArenaCalls]:
        """Connect a command that does nothing else to a model, with a progress bar of this title; as `only_caller`."""
        from mirage.llm.asking import ArenaCalls

        with progress(title) as update:
            yield ArenaCalls(model, made_by, update, engine=self.only_caller(model))

    def executor(self) -> Processes | None:
        """Return the processes that run the work without a model; None for this process.

        Raises:
            BadInput: if workers or an address are given to an engine without them, or no model is named for a cluster.
        """
        given = {"--address": (self.address, ("ray",)), "--workers": (self.workers, ("processes", "ray"))}
        for option, (value, engines) in given.items():
            if value and self.engine not in engines:
                raise BadInput(f"{option} needs --engine {' or '.join(engines)}", do=f"add it, or omit {option}")
        if self.engine == "ray" and self.model is None:
            raise BadInput(
                "a cluster makes the calls to a model, and none is named",
                do="add --model, or use --engine processes here, or --shard on several machines",
            )
        if self.engine != "processes":
            return None
        from mirage.llm.engines.processes import Processes
        from mirage.store.cores import available

        return Processes(self.workers or available())


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


def tell_money(cost: Cost) -> str:
    """Return the end of a sentence on a cost: what it is in money, if the prices are known."""
    return "" if cost.money is None else f", {cost.money:,.2f} in the currency of the prices"


def tell(cost: Cost, *, planned: bool = False) -> None:
    """Report the cost of calls, or its upper bound if they are only planned."""
    verb = "would be made, at most" if planned else "made"
    note(
        f"{cost.calls:,} calls {verb}, {cost.kept:,} cached replies, {cost.tokens_in:,} prompt tokens and"
        f" {cost.tokens_out:,} reply tokens{tell_money(cost)}."
    )
    if cost.estimated:
        note(f"Token counts of {cost.estimated:,} calls are estimates: the service reported no credible number.")


def tell_result(cost: Cost, failed: Mapping[str, int], unasked: int, what: str) -> None:
    """Report the cost of calls, the failed ones by reason, and those not made; `what` are units and what they lack."""
    tell(cost)
    for reason, n in failed.items():
        note(f"{n:,} {what}; rerun the command to retry failed calls: {reason}")
    if unasked:
        note(f"{unasked:,} {what}: the budget was reached; rerun the command to resume.")
