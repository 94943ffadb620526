"""What the commands share: the program they are registered with, and the arguments and options they have in common."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from mirage import __version__, schema
from mirage.cli.output import Format, Rows, escape_unencodable, note
from mirage.errors import BadInput, MirageError, UnknownName
from mirage.languages import in_order, language
from mirage.names import normalise_name

if TYPE_CHECKING:
    from mirage.store import Arena
    from mirage.votes import AnyRow


class _Commands(TyperGroup):
    """Commands whose known errors are a text and an exit code, not a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        escape_unencodable()
        for arg in args:
            if any("\ud800" <= letter <= "\udfff" for letter in arg):
                printable = arg.encode("utf-8", "backslashreplace").decode()
                note(f"{printable} is not UTF-8\n  to do: give the file or folder another name")
                raise typer.Exit(2)
        return list(super().parse_args(ctx, [_normalised(arg) for arg in args]))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            note(f"{error.filename or 'a file'} cannot be used: {error.strerror or error}\n  to do: check the path")
            raise typer.Exit(2) from None
        except MirageError as error:
            note(str(error))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            note("Stopped; the arena is as it was, and what was fetched is kept. Run the same command again to go on.")
            raise typer.Exit(130) from None


def _normalised(arg: str) -> str:
    """An argument in the spelling of names, unless it is a path that exists."""
    try:
        return arg if Path(arg.rpartition("=")[2]).exists() else normalise_name(arg)
    except (OSError, ValueError):
        return arg


class _Imports(TyperGroup):
    """The commands of `mirage import`: those that are written, one for each format, and for a file its own format."""

    def list_commands(self, ctx: Any) -> list[str]:
        from mirage.formats.registry import formats

        return list(dict.fromkeys([*super().list_commands(ctx), *formats()]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from mirage.formats.registry import formats

        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in formats():
            entry = formats()[cmd_name]
            command = copy.copy(self.commands[FILE_COMMAND])
            command.name = cmd_name
            command.help = f"Read {entry.title}, into an arena.\n\nSource of the format: {entry.source}."
            command.short_help = entry.title
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        # A file or folder may be named as a format is, `ragelo`: with no other word after it, it is meant itself.
        itself = (
            args[0] not in self.commands
            and Path(args[0]).exists()
            and (len(args) == 1 or (args[1].startswith("-") and args[1] != "--help"))
        )
        if itself or args[0].startswith("-") or self.get_command(ctx, args[0]) is None:
            if not args[0].startswith("-") and len(args) > 1 and not Path(args[0]).exists():
                # Two words, of which the first is no file: it was to be a format.
                note(str(UnknownName("kind of import", args[0], self.list_commands(ctx))))
                raise typer.Exit(2)
            return FILE_COMMAND, self.get_command(ctx, FILE_COMMAND), args
        return super().resolve_command(ctx, args)


FILE_COMMAND = "file"
"""The command that reads a file in any format."""
QUIET = {"no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
app = typer.Typer(cls=_Commands, **{**QUIET, "add_completion": True})  # type: ignore[arg-type]
pull = typer.Typer(help="Fetch public data over HTTPS.", **QUIET)  # type: ignore[arg-type]
import_ = typer.Typer(
    cls=_Imports,
    help="Read files into an arena. `mirage import FILE` looks what the file is.",
    context_settings={"ignore_unknown_options": True},
    **QUIET,  # type: ignore[arg-type]
)
app.add_typer(pull, name="pull")
app.add_typer(import_, name="import")


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"mirage {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version, and end.")
    ] = False,
) -> None:
    """A leaderboard and arena for multilingual RAG."""


_PAYING = ("generate", "retrieve", "features", "judge", "run", "create", "assign", "support")
"""Commands that keep replies in a ledger."""


def located(text: str) -> Path:
    """The folder of an arena, or the one that stands for an address on object storage."""
    from mirage import store

    return store.located(str(text))


def local_path(text: str | Path) -> Path:
    """A file or folder of this machine, for what is no arena; a default is a path already.

    Raises:
        BadInput: if it is an address on object storage.
    """
    if "://" in (given := str(text)):
        raise BadInput(
            "these files are written on this machine alone",
            where=given.partition("://")[0] + "://",
            do="give a folder or file here, then copy it; for an arena: mirage copy DIR ADDRESS",
        )
    return Path(text)


def _tell_ledger(context: typer.Context, path: Path) -> Path:
    """Say where the ledger of an arena on object storage is."""
    from mirage import store

    if context.info_name in _PAYING and store.is_remote(path):
        note(f"Replies of models are kept on this machine, in {store.ledger_path(path)}.")
    return path


ArenaDir = Annotated[
    Path,
    typer.Argument(metavar="DIR", parser=located, callback=_tell_ledger, help="The arena's folder, or its address."),
]
Into = Annotated[
    Path,
    typer.Option("--into", metavar="DIR", parser=located, help="The arena's folder or address, new or existing."),
]
How = Annotated[Format, typer.Option("--format", help="How to print the table; csv is safe to open in a spreadsheet.")]
Parser = Annotated[schema.Parser, typer.Option(help="Whose rules say what an answer amounts to.")]
Languages = Annotated[
    str | None, typer.Option(metavar="AR,BN,..", help="Languages by code, with commas; all if absent.")
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG=VALUE", help="Only queries with this tag; again: any value of it, every tag."),
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="JSON Lines, CSV or Parquet by its name, .gz after it if compressed.")
]
Passages = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The passages of the queries, in a file of their own."),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--map", metavar="THEIRS=OURS", help="A column the file calls otherwise: answer=text. May be repeated."
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="COLUMN=VALUE", help="What records without it have: language=sw; repeat for more."),
]
Meanings = Annotated[
    list[str] | None,
    typer.Option(
        "--value", metavar="FIELD:THEIRS=OURS", help="What a value of the file means: verdict:model_a=A. Repeatable."
    ),
]
Share = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Work on the I-th of N shares of the queries alone, in the part DIR.part-I-of-N; `mirage merge` brings the"
        " parts together.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")]


def codes(text: str | None) -> list[str] | None:
    """The language codes that `--languages` names; None for all.

    Raises:
        BadInput: if it names none, or one that is not known.
    """
    if text is None:
        return None
    selection = [language(part.strip(), where="--languages").code for part in text.split(",") if part.strip()]
    if not selection:
        raise BadInput("--languages names none", do="give codes with commas between them: en,pt-BR,vi")
    return in_order(selection)


def rows(table: Any, columns: tuple[str, ...]) -> Rows:
    """Some columns of a table, as records to print."""
    return list(table.select(list(columns)).to_pylist())


def narrowed(arena: Arena, tags: list[str] | None) -> Arena:
    """The part of an arena whose queries have the tags given, and a word on how many these are.

    Raises:
        BadInput: if a tag is not written TAG=VALUE, or no query has all of them.
        TableMissing: if the arena has no tags.
        UnknownName: if no query has a tag or its value.
    """
    from mirage import store

    if not tags:
        return arena
    part = store.tagged(arena, map(store.parse_tag, tags))
    n, total = store.count_queries(part), store.count_queries(arena)
    if not n:
        raise BadInput(f"no query has all of these tags: {', '.join(tags)}", do="leave out a --tag")
    note(f"{n:,} of {total:,} queries: {', '.join(tags)}")
    return part


def arena_log(arena: Arena, kind: type[AnyRow]) -> list[AnyRow]:
    """Read the votes of a kind that count for an arena, and note which do not."""
    from mirage.votes import Votes, votes_on

    with Votes() as database:
        sorted_out = votes_on(arena, database.rows(kind))
    for line in sorted_out.notes():
        note(line)
    return sorted_out.counting
