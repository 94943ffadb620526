"""Options of a command that are fields of a record of settings."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from mirage.cli.common import codes
from mirage.cli.completion import complete_judges
from mirage.ranking.settings import Option
from mirage.schema import Code, Range, field_docs


def expand_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its records of settings.

    A parameter whose type is a dataclass becomes one option for each of its fields with an `Option` of the library or
    of typer, and the command receives the record made from them. The other fields keep their defaults.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    records: dict[str, Any] = {
        name: each.annotation for name, each in parameters.items() if is_dataclass(each.annotation)
    }
    options = {name: _options(record) for name, record in records.items()}
    expanded: list[inspect.Parameter] = []
    for name, each in parameters.items():
        # Typer calls by keyword, and parameters without a default may then follow others.
        expanded += options.get(name) or [each.replace(kind=inspect.Parameter.KEYWORD_ONLY)]

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, own in options.items():
            values = {option.name: given.pop(option.name) for option in own}
            given[name] = records[name](**{field: value for field, value in values.items() if value is not None})
        command(**given)

    call.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]  # read by `inspect.signature`
    call.__annotations__ = {each.name: each.annotation for each in expanded}
    return call


def _split(text: str) -> tuple[str, ...]:
    """Return the items of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


@functools.cache
def _options(record: Any) -> list[inspect.Parameter]:
    """Return the fields of a record that are options, as parameters of a command; a list's default is None."""
    options = []
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        hint, *notes = get_args(hints[field.name]) if get_origin(hints[field.name]) is Annotated else (None,)
        limits = next((note for note in notes if isinstance(note, Range)), Range())
        note = next((note for note in notes if isinstance(note, Option | OptionInfo)), None)
        default = field.default
        if isinstance(note, Option):
            items = next((get_args(kind)[0] for kind in (hint, *get_args(hint)) if get_origin(kind) is tuple), None)
            if items is not None:
                hint, default = Sequence[str] | None, None
            note = typer.Option(
                note.name or f"--{field.name.replace('_', '-')}",
                metavar=note.metavar,
                min=limits.low,
                max=limits.high,
                autocompletion=complete_judges if field.name == "judge" else None,
                parser=None if items is None else codes if items == Code else _split,
                help=field_docs(record)[field.name].replace("`", "") + " Comma-separated." * (items is not None),
            )
        if note is not None:
            hint = Annotated[hint, note]
            kind = inspect.Parameter.KEYWORD_ONLY
            options.append(inspect.Parameter(field.name, kind, default=default, annotation=hint))
    return options
