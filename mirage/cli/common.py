"""Shared parts of the commands: the application object, and common arguments and options."""

from __future__ import annotations

import copy
import re
import unicodedata
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from mirage import __version__, schema
from mirage.cli.output import Format, Rows, escape_unencodable, note
from mirage.errors import BadInput, MirageError, UnknownName
from mirage.text.languages import in_order, language

if TYPE_CHECKING:
    from mirage.people.votes import AnyRow
    from mirage.stats.label_errors import QueryLabels
    from mirage.store import Arena


SECTIONS: dict[str, tuple[str, ...]] = {
    "Data": ("pull", "import", "testset", "check", "show", "export", "arena"),
    "Run": ("evaluate", "run", "retrieve", "generate", "outcomes", "features", "nuggets", "judge", "surrogate"),
    "Results": (
        "rank",
        "compare",
        "decide",
        "place",
        "rates",
        "retrievers",
        "languages",
        "failures",
        "abstain",
        "variance",
    ),
    "People": ("judges", "votes", "plan", "notes"),
    "Papers": ("paper",),
    "Explorer": ("app", "doctor"),
}
"""Commands by section of `mirage --help`."""
FORMER: dict[str, tuple[str, ...]] = {
    "retrieval": ("retrievers",),
    "attribution": ("failures",),
    "exam": ("judges", "--against-people"),
    "published": ("paper", "figures"),
    "reproduce": ("paper", "reproduce"),
    "copy": ("arena", "copy"),
    "merge": ("arena", "merge"),
    "remove": ("arena", "remove"),
    "sft": ("export", "sft"),
    "scores": ("votes", "scores"),
    "support": ("nuggets", "support"),
}
"""Former names of commands, by what to type now. They work in this version, with a warning."""


class Command(TyperCommand):
    """Command whose help lists the options of a model's service in a separate section."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options, and those of a model's service."""
        from mirage.cli.connection import Connection

        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Model service": []}
        parameters = self.get_params(ctx)
        of_service = (
            {field.name for field in fields(Connection)} if "base_url" in {p.name for p in parameters} else set()
        )
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None:
                option = "Model service" if parameter.name in of_service else "Options"
                sections["Arguments" if parameter.param_type_name == "argument" else option].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class _Commands(TyperGroup):
    """Command group that prints known errors as text with an exit code, instead of a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        escape_unencodable()
        for arg in args:
            if any("\ud800" <= letter <= "\udfff" for letter in arg):
                printable = arg.encode("utf-8", "backslashreplace").decode()
                note(f"{printable} is not UTF-8\n  to do: rename the file or folder")
                raise typer.Exit(2)
        return list(super().parse_args(ctx, _present([compose_argument(arg) for arg in args])))

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
            raise typer.Exit(2) from None
        except MirageError as error:
            note(str(error))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            note("Stopped; the arena is unchanged and fetched data is cached. Rerun the command to resume.")
            raise typer.Exit(130) from None


def _present(args: list[str]) -> list[str]:
    """Return arguments with former names of commands and options replaced by today's, with a warning for each."""
    if args and args[0] in FORMER:
        now = FORMER[args[0]]
        note(f"mirage {args[0]} is now mirage {' '.join(now)}; the former name goes with the next version.")
        args = [now[0], *now[1:], *args[1:]] if not now[-1].startswith("-") else [now[0], *args[1:], *now[1:]]
    if any(arg.partition("=")[0] == "--referee" for arg in args):
        note("--referee is now --judge; the former name goes with the next version.")
        args = [re.sub(r"^--referee(?==|$)", "--judge", arg) for arg in args]
    return args


def compose_argument(arg: str) -> str:
    """Return an argument in Unicode's form NFC, as names are stored, unless it is a path that exists.

    Whitespace is kept: the prefix of an embedding model ends with it.
    """
    try:
        return arg if Path(arg.rpartition("=")[2]).exists() else unicodedata.normalize("NFC", arg)
    except (OSError, ValueError):
        return arg


class _Imports(TyperGroup):
    """Command group of `mirage import`: defined commands, one per format, and format detection for a bare file."""

    def list_commands(self, ctx: Any) -> list[str]:
        from mirage.io.formats.registry import formats

        return list(dict.fromkeys([*super().list_commands(ctx), *formats()]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from mirage.io.formats.registry import formats

        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in formats():
            entry = formats()[cmd_name]
            command = copy.copy(self.commands[FILE_COMMAND])
            command.name = cmd_name
            command.help = f"Read {entry.title}, into an arena.\n\nSource of the format: {entry.source}."
            command.short_help = entry.title
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        # A file or folder may have the name of a format, such as `ragelo`; without a second argument it is the file.
        itself = (
            args[0] not in self.commands
            and Path(args[0]).exists()
            and (len(args) == 1 or (args[1].startswith("-") and args[1] != "--help"))
        )
        if itself or args[0].startswith("-") or self.get_command(ctx, args[0]) is None:
            if not args[0].startswith("-") and len(args) > 1 and not Path(args[0]).exists():
                # Two arguments, the first not a file: report it as an unknown format.
                note(str(UnknownName("kind of import", args[0], self.list_commands(ctx))))
                raise typer.Exit(2)
            return FILE_COMMAND, self.get_command(ctx, FILE_COMMAND), args
        return super().resolve_command(ctx, args)


FILE_COMMAND = "file"
"""Command that reads a file in any format."""
QUIET = {"no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
app = typer.Typer(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    **{**QUIET, "add_completion": True},  # type: ignore[arg-type]
)
pull = typer.Typer(help="Download public data over HTTPS.", **QUIET)  # type: ignore[arg-type]
import_ = typer.Typer(
    cls=_Imports,
    help="Import files into an arena. `mirage import FILE` detects the format.",
    context_settings={"ignore_unknown_options": True},
    **QUIET,  # type: ignore[arg-type]
)
paper = typer.Typer(help="Print and reproduce the two papers' figures.", **QUIET)  # type: ignore[arg-type]
arenas = typer.Typer(help="Copy an arena, merge its parts, remove a system, or keep its runs.", **QUIET)  # type: ignore[arg-type]
app.add_typer(arenas, name="arena")
app.add_typer(paper, name="paper")
app.add_typer(pull, name="pull")
app.add_typer(import_, name="import")


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"mirage {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A leaderboard and arena for multilingual RAG."""


_PAYING = ("generate", "retrieve", "features", "judge", "run", "evaluate", "create", "assign", "support")
"""Commands that cache replies in a ledger."""


def locate(text: str) -> Path:
    """Return the path of an arena's folder, or of an address on object storage."""
    from mirage import store

    return store.locate(str(text))


def existing_arena(text: str) -> Path:
    """Return the path of an arena that there is, as `locate` does, or that of a bundled arena by its name.

    Not for an arena to be written into: its folder may be new, and have the name of a bundled one.
    """
    from mirage import store

    path = locate(text)
    return store.bundled_arenas().get(str(text), path) if not store.is_remote(path) and not path.exists() else path


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


def _tell_ledger(context: typer.Context, path: Path) -> Path:
    """Print the location of the ledger of an arena on object storage."""
    from mirage import store

    if context.info_name in _PAYING and store.is_remote(path):
        note(f"Model replies are cached on this machine, in {store.ledger_path(path)}.")
    return path


ArenaDir = Annotated[
    Path,
    typer.Argument(metavar="DIR", parser=existing_arena, callback=_tell_ledger, help="The arena's folder or address."),
]
Into = Annotated[
    Path,
    typer.Option("--into", metavar="DIR", parser=locate, help="The arena's folder or address, new or existing."),
]
IntoArena = Annotated[
    Path, typer.Option("--into", metavar="DIR", parser=existing_arena, help="The arena's folder or address.")
]
Corrected = Annotated[
    bool, typer.Option("--corrected", help="Correct the values by people's labels on answers (mirage votes label).")
]
BorrowMargin = Annotated[
    float,
    typer.Option(
        "--borrow-margin",
        help="Difference in error between languages that the test must detect, as a share of the range.",
    ),
]
How = Annotated[Format, typer.Option("--format", help="Output format; csv is safe to open in a spreadsheet.")]
Parser = Annotated[schema.Parser, typer.Option(help="Parser that classifies answers.")]
Languages = Annotated[str | None, typer.Option(metavar="AR,BN,..", help="Comma-separated language codes; default all.")]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="TAG=VALUE",
        help="Only queries with this tag; repeat to allow several values of a tag or require several tags.",
    ),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines, CSV or Parquet, by extension; may end in .gz.")]
Passages = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File with the passages of the queries."),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="THEIRS=OURS", help="Rename a column of the file: answer=text. Repeatable."),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="COLUMN=VALUE", help="Default value of a column: language=sw. Repeatable."),
]
Meanings = Annotated[
    list[str] | None,
    typer.Option(
        "--value", metavar="FIELD:THEIRS=OURS", help="Translate a value of the file: verdict:model_a=A. Repeatable."
    ),
]
Share = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Process only shard I of N of the queries, into the arena DIR.part-I-of-N; `mirage arena merge` joins the"
        " parts.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]


def codes(text: str | None, *, option: str = "--languages") -> tuple[str, ...] | None:
    """Return the language codes in `--languages` or another option; None for all.

    Raises:
        BadInput: if no code is given, or a code is unknown.
    """
    if text is None:
        return None
    selection = [language(part.strip(), where=option).code for part in text.split(",") if part.strip()]
    if not selection:
        raise BadInput(f"{option} is empty", do="give comma-separated codes: en,pt-BR,vi")
    return tuple(in_order(selection))


def rows(table: Any, columns: tuple[str, ...]) -> Rows:
    """Return some columns of a table as records to print."""
    return list(table.select(list(columns)).to_pylist())


def select_tagged(arena: Arena, tags: list[str] | None) -> Arena:
    """Return the part of an arena whose queries have the given tags, and note its size.

    Raises:
        BadInput: if a tag is not written TAG=VALUE, or no query has all of them.
        TableMissing: if the arena has no tags.
        UnknownName: if no query has a tag or its value.
    """
    from mirage import store

    if not tags:
        return arena
    part = store.select_tagged(arena, map(store.parse_tag, tags))
    n, total = store.count_queries(part), store.count_queries(arena)
    if not n:
        raise BadInput(f"no query has all of these tags: {', '.join(tags)}", do="omit a --tag")
    note(f"{n:,} of {total:,} queries: {', '.join(tags)}")
    return part


def arena_log(arena: Arena, kind: type[AnyRow], *, raw: bool = False) -> list[AnyRow]:
    """Read the votes of one kind that count for an arena, and note those that do not.

    Args:
        arena: the arena.
        kind: kind of votes.
        raw: return the whole log of the kind instead.
    """
    from mirage.people.votes import Votes, votes_on

    with Votes() as database:
        log = database.rows(kind)
    sorted_out = votes_on(arena, log)
    for line in sorted_out.notes():
        note(line)
    return log if raw else sorted_out.counting


def arena_labels(arena: Arena) -> QueryLabels:
    """Read what is known about the labels of an arena: whether a program made them, and people's audit."""
    from mirage.people.votes import Votes
    from mirage.people.votes.labels import read_labels

    with Votes() as database:
        return read_labels(arena, database)
