"""What a path may turn out to be: a pipe, a device, a folder, a name that is too long or no text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from run_without_cases import tables

from mirage.store import writing
from mirage.store.upsert import upsert


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.jsonl")
    return folder / "pipe.jsonl"


def endless(folder: Path) -> Path:
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    return folder / "zero.jsonl"


def directory(folder: Path) -> Path:
    (folder / "folder.jsonl").mkdir()
    return folder / "folder.jsonl"


def long(folder: Path) -> Path:
    return folder / ("x" * 300 + ".jsonl")


def no_text(folder: Path) -> Path:
    path = os.fsencode(folder) + b"/\xff\xfe.jsonl"
    return Path(os.fsdecode(path))


ODD: dict[str, Callable[[Path], Path]] = {
    "a pipe": pipe,
    "an endless device": endless,
    "a folder": directory,
    "a long name": long,
    "no UTF-8": no_text,
}
_COMMANDS = """
import answers: import --as answers ODD --into NEW
import queries: import --as queries ODD --into NEW
check a file: check ODD --as answers
check an arena: check ODD
measure: measure ODD
rank: rank ODD --judge relevance
features: measure features ODD
judge by a rubric: judge ARENA --judge j --model m --criterion ODD
export from: export table ODD answers --out OUT
export into: export table ARENA answers --out ODD
import nomiracl: import nomiracl ODD --into NEW
import into: import --as answers FILE --into ODD
"""
COMMANDS = {name: words.split() for name, _, words in (line.partition(": ") for line in _COMMANDS.strip().splitlines())}


def everything(folder: Path) -> set[bytes]:
    return {os.fsencode(path) for path in folder.rglob("*")}


@pytest.mark.parametrize("what", ODD)
def test_every_command_refuses_it_at_once_and_writes_nothing(tmp_path: Path, what: str) -> None:
    odd = ODD[what](tmp_path)
    arena = tmp_path / "arena"
    writing.write(arena, {"answers": tables()["answers"]}, made_by="a test")
    upsert(arena, {}, made_by="a test")  # so that its lock is there
    file = tmp_path / "answers.jsonl"
    file.write_text('{"language": "en", "query_id": "q0", "system": "one", "text": "So."}\n', "utf-8")
    names = {"ODD": odd, "NEW": tmp_path / "new", "ARENA": arena, "FILE": file, "OUT": tmp_path / "out.jsonl"}
    code = (
        "import json, os, sys; from typer.testing import CliRunner; from mirage import cli\n"
        "for command in json.loads(sys.argv[1]):\n"
        "    done = CliRunner().invoke(cli.app, [os.fsdecode(bytes.fromhex(part)) for part in command])\n"
        "    error = None if isinstance(done.exception, SystemExit) else repr(done.exception)\n"
        "    print(json.dumps([done.exit_code, error, done.output]), flush=True)\n"
    )
    skipped = {"a folder": {"import nomiracl", "import into"}}.get(what, set())
    chosen = {name: parts for name, parts in COMMANDS.items() if name not in skipped}
    commands = [[os.fsencode(names.get(part, part)).hex() for part in parts] for parts in chosen.values()]
    before = everything(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(commands)], cwd=ROOT, capture_output=True, timeout=240, check=True
    )
    results = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(results) == len(chosen)
    for name, (exit_code, error, output) in zip(chosen, results, strict=True):
        assert (name, exit_code, error) == (name, 2, None), output
        assert "Traceback" not in output
        assert "to do:" in output, output
    assert everything(tmp_path) == before
