"""Options of a command that are fields of a record of settings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from mirage.cli.common import codes
from mirage.ranking.settings import Option
from mirage.schema import Code, Range, field_docs


def expand_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its records of settings.

    A parameter whose type is a dataclass becomes one option for each of its fields with an `Option` of the library or
    of typer, and the command receives the record made from them. The other fields keep their defaults.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    kinds: dict[str, Any] = {
        name: each.annotation for name, each in parameters.items() if is_dataclass(each.annotation)
    }
    records = {name: _options(kind) for name, kind in kinds.items()}
    expanded: list[inspect.Parameter] = []
    for name, each in parameters.items():
        own = [option.parameter for option in records.get(name, ())]
        # Typer calls by keyword, and parameters without a default may then follow others.
        expanded += own if name in records else [each.replace(kind=inspect.Parameter.KEYWORD_ONLY)]

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, options in records.items():
            values = {option.name: option.read(given.pop(option.name)) for option in options}
            given[name] = kinds[name](**values)
        command(**given)

    call.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]  # read by `inspect.signature`
    call.__annotations__ = {each.name: each.annotation for each in expanded}
    return call


@dataclass(frozen=True, slots=True)
class _FieldOption:
    """A field of a record as an option of a command."""

    name: str
    default: Any
    hint: Any
    """Type of the field."""
    items: Any
    """Type of the items of a comma-separated list; None for a single value."""
    option: Any
    """The option, for typer."""

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter of the command."""
        default, hint = (self.default, self.hint) if self.items is None else (None, str | None)
        hint = Annotated[hint, self.option]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)

    def read(self, given: Any) -> Any:
        """Return the value of the field.

        Raises:
            BadInput: if it is a list without a code of a language, or with an unknown one.
        """
        if self.items is None:
            return given
        if given is None:
            return self.default
        return codes(given) if self.items == Code else tuple(part.strip() for part in given.split(",") if part.strip())


@functools.cache
def _options(record: Any) -> tuple[_FieldOption, ...]:
    """Return the fields of a record that are options."""
    options = []
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        hint, *notes = get_args(hints[field.name]) if get_origin(hints[field.name]) is Annotated else (None,)
        limits = next((note for note in notes if isinstance(note, Range)), Range())
        note = next((note for note in notes if isinstance(note, Option | OptionInfo)), None)
        items = None
        if isinstance(note, Option):
            items = next((get_args(kind)[0] for kind in (hint, *get_args(hint)) if get_origin(kind) is tuple), None)
            note = typer.Option(
                note.name or f"--{field.name.replace('_', '-')}",
                metavar=note.metavar,
                min=limits.low,
                max=limits.high,
                help=field_docs(record)[field.name].replace("`", "") + " Comma-separated." * (items is not None),
            )
        if note is not None:
            options.append(_FieldOption(field.name, field.default, hint, items, note))
    return tuple(options)
