"""What a path may turn out to be: a pipe, a device, a folder, a name that is too long or no text."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from arena_writer import write_arena
from conftest import ROOT
from run_without_cases import tables

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


RUN = """
import json, os, sys
from typer.testing import CliRunner
from mirage import cli
for command in json.loads(sys.argv[1]):
    done = CliRunner().invoke(cli.app, [os.fsdecode(bytes.fromhex(part)) for part in command])
    error = None if isinstance(done.exception, SystemExit) else repr(done.exception)
    print(json.dumps([done.exit_code, error, done.output]), flush=True)
"""


def test_every_command_refuses_it_at_once_and_writes_nothing(tmp_path: Path) -> None:
    """In a process of its own, which ends where a command would wait for a pipe or read a device for ever."""
    named, commands = [], []
    for what, make in ODD.items():
        folder = tmp_path / what
        folder.mkdir()
        arena, file = folder / "arena", folder / "answers.jsonl"
        write_arena(arena, {"answers": tables()["answers"]})
        upsert(arena, {}, made_by="a test")  # so that its lock is there
        file.write_text('{"language": "en", "query_id": "q0", "system": "one", "text": "So."}\n', "utf-8")
        names = {"ODD": make(folder), "NEW": folder / "new", "ARENA": arena, "FILE": file, "OUT": folder / "out.jsonl"}
        for name, parts in COMMANDS.items():
            if (what, name) not in (("a folder", "import nomiracl"), ("a folder", "import into")):
                named.append(f"{what}: {name}")
                commands.append([os.fsencode(names.get(part, part)).hex() for part in parts])
    before = everything(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)], cwd=ROOT, capture_output=True, timeout=240, check=True
    )
    results = [json.loads(line) for line in done.stdout.decode().splitlines()]
    for name, (exit_code, error, output) in zip(named, results, strict=True):
        assert (name, exit_code, error) == (name, 2, None), output
        assert "Traceback" not in output
        assert "to do:" in output, (name, output)
    assert everything(tmp_path) == before
