"""Golden cases of imports: small files as other programs write them, with the summary, tables or error of each.

Each file of `imports/` is a list of cases: `files` by name, the `path` to import, `as` and `options` if given, and what
is expected. Run `python tests/golden/imports.py` to record the expectations again, and look at `git diff`.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from mirage.errors import MirageError
from mirage.io.imports.formats import import_file
from mirage.io.options import Options
from mirage.store import arena

FILES = sorted(Path(__file__).with_name("imports").glob("*.json"))


def cases(file: Path) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    return list(json.loads(file.read_text("utf-8")))


def imported(case: dict[str, Any], folder: Path) -> list[str]:
    """Import a case's file; return the lines of its summary and the rows of its tables without nulls, or its error."""
    for name, content in case["files"].items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_bytes(content.encode())
    options = Options(**case.get("options", {}))
    try:
        done = import_file(folder / "in" / case["path"], folder / "arena", name=case.get("as"), options=options)
    except MirageError as error:
        return f"{type(error).__name__}: {error}".replace(f"{folder}/in/", "").splitlines()
    arena.check(done.arena)
    again = import_file(folder / "in" / case["path"], folder / "arena", name=case.get("as"), options=options)
    assert again.arena.version == done.arena.version, "the same file again changes nothing"
    rows = [
        f"{table}: {json.dumps({name: value for name, value in row.items() if value is not None}, ensure_ascii=False)}"
        for table in done.arena.tables
        for row in done.arena.read(table).to_pylist()
    ]
    return [line.replace(f"{folder}/in/", "") for line in (*done.summary.lines(), *rows)]


def record() -> None:
    """Write what every case gives now."""
    for file in FILES:
        recorded = cases(file)
        for case in recorded:
            with tempfile.TemporaryDirectory() as folder:
                case["expected"] = imported(case, Path(folder))
        file.write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    record()
