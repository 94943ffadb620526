"""What the commands share: the program they are registered with, and the arguments and options they have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mirage import __version__, schema
from mirage.cli.output import Format, Rows, note
from mirage.errors import BadInput, MirageError
from mirage.languages import LANGUAGES, language


class _Commands(TyperGroup):
    """Commands whose known errors are a text and an exit code, not a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for arg in args:
            if any("\ud800" <= letter <= "\udfff" for letter in arg):
                printable = arg.encode("utf-8", "backslashreplace").decode()
                note(f"{printable} is not UTF-8\n  to do: give the file or folder another name")
                raise typer.Exit(2)
        return list(super().parse_args(ctx, args))

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


QUIET = {"no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
app = typer.Typer(cls=_Commands, **{**QUIET, "add_completion": True})  # type: ignore[arg-type]
pull = typer.Typer(help="Fetch public data over HTTPS.", **QUIET)  # type: ignore[arg-type]
import_ = typer.Typer(help="Read files into an arena.", **QUIET)  # type: ignore[arg-type]
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


ArenaDir = Annotated[Path, typer.Argument(metavar="DIR", help="The arena's folder.")]
Into = Annotated[Path, typer.Option("--into", metavar="DIR", help="The arena's folder, new or existing.")]
How = Annotated[Format, typer.Option("--format", help="How to print the table; csv is safe to open in a spreadsheet.")]
Parser = Annotated[schema.Parser, typer.Option(help="Whose rules say what a reply amounts to.")]
Languages = Annotated[
    str | None, typer.Option(metavar="AR,BN,..", help="Languages by code, with commas; all if absent.")
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="JSON Lines, CSV or Parquet by its name, .gz after it if compressed.")
]
Passages = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The passages of the questions, in a file of their own."),
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
        raise BadInput("--languages names none", do="give codes with commas between them: " + ",".join(LANGUAGES))
    return sorted(set(selection))


def rows(table: Any, columns: tuple[str, ...]) -> Rows:
    """Some columns of a table, as records to print."""
    return list(table.select(list(columns)).to_pylist())
