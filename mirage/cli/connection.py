"""The options of every command that asks a model: which, where, with which parameters, how fast and for how much."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from mirage.cli.output import note
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage import llm

Engine = Annotated[
    Literal["openai", "vllm"], typer.Option(help="A service, or vLLM with the model loaded on this machine.")
]
EngineArgs = Annotated[
    str, typer.Option(metavar="JSON", help='Further arguments of vllm.LLM: {"tensor_parallel_size": 2}.')
]


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

    def endpoint(self) -> llm.Endpoint:
        """The service; the key is read from the environment.

        Raises:
            BadInput: if the address or the key is not known.
        """
        from mirage import llm

        return llm.resolve(self.provider, base_url=self.base_url, key_env=self.key_env)

    def settings(self, *, top_p: float | None = None, max_tokens: int = 2048) -> llm.Settings:
        """Model and parameters.

        Args:
            top_p: the share of the probability mass where no option says one.
            max_tokens: the same for the new tokens a reply may have.

        Raises:
            BadInput: if no model is named.
        """
        from mirage import llm

        if self.model is None:
            raise BadInput("no model is named", do="give --model with the model's name at the service")
        return llm.Settings(
            self.model,
            temperature=None if self.plain else self.temperature,
            top_p=None if self.plain else top_p if self.top_p is None else self.top_p,
            max_tokens=self.max_tokens or max_tokens,
            seed=self.model_seed,
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

    def engine(
        self, name: Engine, options: Mapping[str, Any], *, settings: llm.Settings, limits: llm.Limits
    ) -> Callable[..., list[llm.Reply | None]]:
        """What makes the calls: `llm.complete`, or its like, given all but the conversations and where replies go.

        Args:
            name: a service, or the model loaded on this machine.
            options: those of vLLM.
            settings: model and parameters.
            limits: for a service.

        Raises:
            BadInput: if the service's address or key is not known.
        """
        if name == "vllm":
            from mirage.llm import engine_vllm

            return partial(engine_vllm.complete_local, settings=settings, options=options)
        import numpy as np

        from mirage import llm

        endpoint, rng = self.endpoint(), np.random.default_rng()
        return partial(llm.complete, endpoint=endpoint, settings=settings, limits=limits, rng=rng)


def engine_options(text: str) -> dict[str, Any]:
    """What `--engine-args` says.

    Raises:
        BadInput: if it is no JSON object.
    """
    try:
        options = json.loads(text)
    except ValueError as error:
        raise BadInput(f"--engine-args is not JSON: {error}", do='write it like {"tensor_parallel_size": 2}') from None
    if not isinstance(options, dict):
        raise BadInput("--engine-args is no JSON object", do='write it like {"tensor_parallel_size": 2}')
    return options


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
