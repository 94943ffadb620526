"""Commands run in the process of the test, and what they print."""

from __future__ import annotations

import csv
import io

from click.testing import Result
from typer.testing import CliRunner

from mirage import cli


def mirage(*args: object, code: int = 0) -> Result:
    """Run `mirage ARGS`, which must end with this exit code. What a command does not catch is raised."""
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args], prog_name="mirage")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def rows(result: Result) -> list[dict[str, str]]:
    """What a command with `--format csv` has printed."""
    return list(csv.DictReader(io.StringIO(result.stdout)))
