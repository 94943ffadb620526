"""Shared parts of the commands: the application object, and common arguments and options."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option, Typer, echo
from typer.core import TyperCommand, TyperGroup

from mirage import __version__, schema
from mirage.cli.completion import complete_arenas
from mirage.cli.output import Format, escape_unencodable, note
from mirage.errors import BadInput, MirageError
from mirage.store import arena as arenas
from mirage.store import folders
from mirage.store import tags as store_tags
from mirage.store.arena import Arena, open_arena
from mirage.store.home import home_arenas
from mirage.store.tags import count_queries, parse_tag
from mirage.store.writing import claim_arena
from mirage.text.data import load_words
from mirage.text.languages import in_order, language
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    from mirage.people.votes.belonging import VoteLog
    from mirage.people.votes.kinds import AnyRow
    from mirage.stats.label_errors import QueryLabels


SECTIONS: dict[str, tuple[str, ...]] = {
    "Data": ("pull", "import", "testset", "check", "show", "export", "arena"),
    "Run": ("evaluate", "generate", "measure", "judge"),
    "Results": ("rank", "compare", "report"),
    "People": ("votes",),
    "Explorer": ("app",),
}
"""Commands by section of `mirage --help`."""
DEFAULT = "default"
"""Name of the command that a group runs if the first argument is none of its commands."""


class Command(TyperCommand):
    """Command whose help leaves the options of the model service to `--help-service`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; while the shell completes the value of an option, without that option."""
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]
        return list(super().parse_args(ctx, args))

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line; the default command of a group has the group's name."""
        formatter.write_usage(ctx.command_path.strip(), " ".join(self.collect_usage_pieces(ctx)))

    def format_options(self, ctx: Any, formatter: Any, *, of_service: bool = False) -> None:
        """Write the arguments and options, or those of a model's service."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and of_service == is_service_option(self, parameter):
                sections["Arguments" if parameter.param_type_name == "argument" else "Options"].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section("Model service" if of_service else title):
                    formatter.write_dl(records)


def is_service_option(command: Any, parameter: Any) -> bool:
    """Return whether a parameter of a command is one of its options of the model service (`Connection`)."""
    from mirage.cli.connection import ABOUT_SERVICE, Connection

    names = {field.name for field in fields(Connection)}
    of_model = names <= {each.name for each in command.params}
    return of_model and parameter.name in names - set(ABOUT_SERVICE)


class PlainGroup(TyperGroup):
    """Command group that refuses the name of a former command, with what to type today."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command named by the first argument."""
        if args[0] not in self.commands:
            refuse_former(ctx, args[0])
        return super().resolve_command(ctx, args)


def refuse_former(ctx: Any, name: str) -> None:
    """Refuse the name of a command of an earlier version, unless a file or folder has it.

    Raises:
        BadInput: with the command to type today.
    """
    named = " ".join(f"{ctx.command_path} {name}".split()[1:])
    today = load_words("former_commands", "mirage.cli")["commands"].get(named)
    if today is not None and not ctx.resilient_parsing and not Path(name).exists():
        raise BadInput(f"mirage {named} was a command of an earlier version", do=f"type {today}")


class _Commands(PlainGroup):
    """Command group that prints known errors as text with an exit code, instead of a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        escape_unencodable()
        for arg in args:
            if any("\ud800" <= letter <= "\udfff" for letter in arg):
                printable = arg.encode("utf-8", "backslashreplace").decode()
                note(f"{printable} is not UTF-8\n  to do: rename the file or folder")
                raise Exit(2)
        return list(super().parse_args(ctx, [compose_argument(arg) for arg in args]))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by section."""
        for title, names in SECTIONS.items():
            width = formatter.width - 6 - max(map(len, names))
            records = [
                (name, command.get_short_help_str(width)) for name in names if (command := self.get_command(ctx, name))
            ]
            with formatter.section(title):
                formatter.write_dl(records)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            note(f"{error.filename or 'a file'} cannot be used: {error.strerror or error}\n  to do: check the path")
            raise Exit(2) from None
        except MirageError as error:
            note(str(error))
            raise Exit(2) from None
        except KeyboardInterrupt:
            note("Stopped; the arena is unchanged and fetched data is cached. Rerun the command to resume.")
            raise Exit(130) from None


class Group(PlainGroup):
    """Command group with a default command: `mirage rank DIR` beside `mirage rank surrogate DIR`."""

    def get_help_option(self, ctx: Any) -> None:
        """Leave `--help` to the default command, which lists the others."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; none means help, or the default command if it needs none."""
        if ctx.resilient_parsing:
            return list(super().parse_args(ctx, args))
        needed = any(parameter.required for parameter in self.commands[DEFAULT].params)
        return list(super().parse_args(ctx, args or ["--help" if needed else DEFAULT]))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command named by the first argument, else the default command."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        refuse_former(ctx, args[0])
        default = copy.copy(self.commands[DEFAULT])
        others = [name for name in self.commands if name != DEFAULT]
        default.epilog = f"Further commands: {', '.join(f'{ctx.command_path} {name}' for name in others)}."
        return None, default, args

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the commands, and what the first argument of the default command may be."""
        default = self.commands[DEFAULT]
        argument = next(each for each in default.params if each.param_type_name == "argument")
        with default.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True) as of_default:
            return [*super().shell_complete(ctx, incomplete), *argument.shell_complete(of_default, incomplete)]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands beside the default one."""
        return [name for name in super().list_commands(ctx) if name != DEFAULT]


def compose_argument(arg: str) -> str:
    """Return an argument in Unicode's form NFC, as names are stored, unless it is a path that exists."""
    try:
        return arg if Path(arg.rpartition("=")[2]).exists() else unicodedata.normalize("NFC", arg)
    except (OSError, ValueError):
        return arg


QUIET = {"no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
app = Typer(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    **{**QUIET, "add_completion": True},  # type: ignore[arg-type]
)


def command_group(name: str, help_: str, *, default: bool = False) -> Typer:
    """Return a new group of commands of `mirage`.

    Args:
        name: its name.
        help_: one line on what it does.
        default: whether its command `DEFAULT` runs if the first argument is none of its commands.
    """
    group = Typer(
        cls=Group if default else PlainGroup,
        help=help_,
        context_settings={"ignore_unknown_options": default},
        **{**QUIET, "no_args_is_help": not default},  # type: ignore[arg-type]
    )
    app.add_typer(group, name=name)
    return group


def _version(requested: bool) -> None:
    if requested:
        echo(f"mirage {__version__}")
        raise Exit


@app.callback()
def _options(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A leaderboard and arena for multilingual RAG."""


def existing_arena(text: str) -> Path:
    """Return the path of an arena that there is, as `folders.locate` does, or that of a bundled arena, or of one in the
    user's folder, by its name.

    Not for a new arena, which may have the name of a bundled one.
    """
    path = folders.locate(str(text))
    return path if path.exists() else {**home_arenas(), **arenas.bundled_arenas()}.get(str(text), path)


def own_arena(text: str) -> Path:
    """Return the path of an arena that there is, to be written into; bundled arenas are refused."""
    return claim_arena(existing_arena(text))


def local_path(text: str | Path) -> Path:
    """Return a path on this machine, for files that are not arenas; a default is already a path.

    Raises:
        BadInput: if it is an address on object storage.
    """
    if "://" in (given := str(text)):
        raise BadInput(
            "these files can only be written on this machine",
            where=given.partition("://")[0] + "://",
            do="give a local folder or file, then copy it; for an arena: mirage arena copy DIR ADDRESS",
        )
    return Path(text)


def codes(text: str, option: str = "--languages") -> Sequence[str]:
    """Return the language codes in `--languages` or another option.

    Raises:
        BadInput: if no code is given, or a code is unknown.
    """
    if text.strip().lower() == "all":
        raise BadInput(f"{option} names languages, not all", do=f"omit {option} for all")
    selection = [language(part.strip(), where=option).code for part in text.split(",") if part.strip()]
    if not selection:
        raise BadInput(f"{option} is empty", do="give comma-separated codes: en,pt-BR,vi")
    return tuple(in_order(selection))


def open_existing(text: str) -> Arena:
    """Open an arena, or a bundled arena by its name."""
    return open_arena(existing_arena(text))


ArenaDir = Annotated[
    Path,
    Argument(
        metavar="DIR",
        parser=existing_arena,
        autocompletion=complete_arenas,
        help="The arena's folder, or a bundled arena's name.",
    ),
]
OwnDir = Annotated[
    Path,
    Argument(metavar="DIR", parser=own_arena, autocompletion=complete_arenas, help="The arena's folder."),
]
"""Arena of a command that writes into it."""
OpenArena = Annotated[
    Arena,
    Argument(
        metavar="DIR",
        parser=open_existing,
        autocompletion=complete_arenas,
        help="The arena's folder, or a bundled arena's name.",
    ),
]
"""Arena of a command that only reads it."""
Into = Annotated[
    Path,
    Option("--into", metavar="DIR", parser=folders.locate, help="The arena's folder, new or existing."),
]
How = Annotated[
    Format,
    Option(
        "--format",
        metavar="FORMAT",
        help="table, csv (safe to open in a spreadsheet), csv-exact, json, latex or markdown.",
    ),
]
Parser = Annotated[schema.Parser, Option(help="Parser that classifies answers.")]
Languages = Annotated[
    Sequence[str] | None,
    Option(metavar="AR,BN,..", parser=codes, help="Comma-separated language codes; default all."),
]
Tags = Annotated[
    list[str] | None,
    Option(
        "--tag",
        metavar="TAG=VALUE",
        help="Only queries with this tag. Repeatable.",
    ),
]
FileFormat = Annotated[str | None, Option("--as", metavar="FORMAT", help="Format of the file; recognised by default.")]
Names = Annotated[
    list[str] | None,
    Option("--map", metavar="THEIRS=OURS", help="Rename a column of the file: answer=text. Repeatable."),
]
Values = Annotated[
    list[str] | None,
    Option("--set", metavar="COLUMN=VALUE", help="Default value of a column: language=sw. Repeatable."),
]
Meanings = Annotated[
    list[str] | None,
    Option(
        "--value", metavar="FIELD:THEIRS=OURS", help="Translate a value of the file: verdict:model_a=A. Repeatable."
    ),
]
Share = Annotated[
    str | None,
    Option(
        "--shard",
        metavar="I/N",
        help="Process only shard I of N of the queries, into the arena DIR.part-I-of-N; `mirage arena merge` joins the"
        " parts.",
    ),
]
Seed = Annotated[int, Option(min=0, help="Random seed.")]


def select_tagged(arena: Arena, tags: list[str] | None) -> Arena:
    """Return the part of an arena whose queries have the given tags, and note its size.

    Raises:
        BadInput: if a tag is not written TAG=VALUE, or no query has all of them.
        TableMissing: if the arena has no tags.
        UnknownName: if no query has a tag or its value.
    """
    if not tags:
        return arena
    part = store_tags.select_tagged(arena, map(parse_tag, tags))
    n, total = count_queries(part), count_queries(arena)
    if not n:
        raise BadInput(f"no query has all of these tags: {', '.join(tags)}", do="omit a --tag")
    note(f"{n:,} of {count_text(total, 'query')}: {', '.join(tags)}")
    return part


def note_default_judge(arena: Arena, judge: str) -> None:
    """Name the default judge if the arena has others."""
    from mirage.battles.judge import judges

    if others := [name for name in judges(arena) if name != judge]:
        note(f"By {judge}, the arena's default judge; also there (--judge): {', '.join(others)}")


def arena_log(arena: Arena, kind: type[AnyRow]) -> VoteLog[AnyRow]:
    """Read the votes of one kind that count for an arena, and note those that do not.

    Args:
        arena: the arena.
        kind: kind of votes.
    """
    from mirage.people.votes.belonging import log_on
    from mirage.people.votes.database import Votes

    with Votes() as database:
        log = log_on(arena, database.rows(kind))
    note(*log.notes)
    return log


def arena_labels(arena: Arena) -> QueryLabels:
    """Read the origin and the audit of an arena's labels."""
    from mirage.people.votes.database import Votes
    from mirage.people.votes.labels import read_labels

    with Votes() as database:
        return read_labels(arena, database)
