"""Views computed once and read ever after; no file can give a wrong number."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import waiting
from conftest import PATIENCE, ROOT
from numpy.typing import NDArray

from mirage import open_arena
from mirage.errors import NotEnoughData
from mirage.people.votes.belonging import VoteLog
from mirage.stats.jackknife import Estimate
from mirage.store import cache_files
from mirage.store.record_files import from_bytes, to_bytes
from mirage.views import cache
from mirage.views.cache import cached_view


@dataclass(frozen=True)
class Row:
    name: str
    estimate: Estimate | None
    shares: Mapping[tuple[str, int], float]


@dataclass(frozen=True, eq=False)
class View:
    rows: tuple[Row, ...]
    table: pa.Table
    draws: NDArray[np.float64] | None
    counts: np.ndarray
    best: tuple[str, float] | None
    tables: Mapping[str, pa.Table]
    conclusion: str

    @property
    def first(self) -> str:
        return self.rows[0].name


def view_of(seed: int) -> View:
    rng = np.random.default_rng(seed)
    rows = tuple(
        Row(name, Estimate(0.1 + 0.2, None, np.inf, 3, 2, "few") if name else None, {(name, seed): np.float64(0.1)})
        for name in ("ąß日", "", "b")
    )
    table = pa.table(
        {"system": pa.array(["a", None, "a"]).dictionary_encode(), "n": pa.array([1, None, 3], pa.int32())}
    )
    return View(
        rows, table, rng.random((3, 200)), np.arange(5, dtype="int16"), ("a", 1.5), {"x": table[:1]}, "“A” leads."
    )


def same(a: View, b: View) -> bool:
    plain = [(view.rows, view.table, view.best, view.tables, view.conclusion) for view in (a, b)]
    arrays = [(np.array_equal(a.draws, b.draws), np.array_equal(a.counts, b.counts)), a.counts.dtype == b.counts.dtype]
    return plain[0] == plain[1] and arrays == [(True, True), True]


def test_a_record_is_the_same_after_it_was_stored() -> None:
    view = view_of(1)
    again = from_bytes(View, memoryview(to_bytes(View, view)))
    assert same(again, view)
    assert again.table.schema == view.table.schema
    assert again.first == "ąß日"
    for array in (
        np.empty((0, 3)),
        np.array(2.5),
        np.asfortranarray(np.eye(3)[:2]),
        np.array(["ß", "b"]),
    ):
        read = from_bytes(np.ndarray, memoryview(to_bytes(np.ndarray, array)))
        assert (read.dtype, read.shape, read.tolist()) == (array.dtype, array.shape, array.tolist())
    missing = from_bytes(View, memoryview(to_bytes(View, replace(view, draws=None, best=None))))
    assert (missing.draws, missing.best) == (None, None)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (np.ndarray, np.array([object()])),
        (object, 1),
        (list[str], ["a"]),
        (tuple[str, ...], "ab"),
        (Row | View, view_of(1)),
        (Mapping[str, float], {"a": {1}}),
    ],
)
def test_what_would_not_be_read_as_it_was_is_refused(kind: object, value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        to_bytes(kind, value)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "views"


class Counted:
    """A view that counts how often it was computed; `start` is the program started again, with nothing in memory."""

    def __init__(self) -> None:
        self.computed = 0

    def start(self) -> Callable[..., View]:
        def counted_view(seed: int, choice: str = "all") -> View:
            self.computed += 1
            return view_of(seed + len(choice))

        return cached_view(counted_view)


def test_a_view_is_computed_once_for_all_starts(home: Path) -> None:
    counted = Counted()
    view = counted.start()
    assert view(1) is view(1, "all") is view(seed=1, choice="all")
    assert same(counted.start()(1), view(1))
    assert counted.computed == 1
    assert not same(view(2), view(1))
    assert counted.computed == 2
    assert home.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(home)
    assert same(counted.start()(1), view(1))
    assert (counted.computed, len(list(home.iterdir()))) == (3, 1)


def test_the_progress_of_a_view_is_told_and_no_part_of_its_key(home: Path) -> None:
    @cached_view
    def slow_view(n: int, progress: Callable[[int], None] | None = None) -> tuple[int, ...]:
        if progress is not None:
            progress(n)
        return (n,)

    told: list[int] = []
    assert slow_view(1, told.append) == slow_view(1) == slow_view(1, progress=print) == (1,)
    assert (told, len(list(home.iterdir()))) == ([1], 1)


def test_a_damaged_cut_or_foreign_file_is_computed_anew(home: Path) -> None:
    counted = Counted()
    expected = counted.start()(1)
    file = next(home.iterdir())
    intact, rng = file.read_bytes(), random.Random(0)
    for _ in range(400):
        damaged = bytearray(intact)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        file.write_bytes(damaged)
        assert cache_files.read_cached(file.name) is None
    other = Counted()
    other.start()(5)
    foreign = next(path for path in home.iterdir() if path != file).read_bytes()
    record = memoryview(to_bytes(Row, view_of(1).rows[0]))
    cache_files.write_cached("0" * 64, bytes(record))
    for content in (intact[:-1], intact[:40], b"", foreign, intact + b"0", b"PK\3\4" * 900, bytes(len(intact))):
        file.write_bytes(content)
        counted.computed = 0
        assert same(counted.start()(1), expected)
        assert (counted.computed, file.read_bytes()) == (1, intact)
    cache_files.write_cached(file.name, bytes(record))
    assert same(counted.start()(1), expected), "a record of another class under the key, with its digest"
    file.unlink()
    file.mkdir()
    assert same(counted.start()(1), expected)


def test_another_version_of_the_program_has_its_own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted()
    counted.start()(1)
    monkeypatch.setattr(cache, "program_version", lambda: "another")
    counted.start()(1)
    assert counted.computed == 2


def test_a_program_whose_files_changed_stores_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_files, "newest_change", lambda: time.time() + 1)
    assert same(Counted().start()(1), view_of(4))
    assert list(home.iterdir()) == []


def test_errors_are_not_stored(home: Path) -> None:
    calls = []

    @cached_view
    def failing_view(n: int) -> View | None:
        calls.append(n)
        if len(calls) < 3:
            raise NotEnoughData("too few", do="add some")
        return None

    for _ in range(2):
        with pytest.raises(NotEnoughData):
            failing_view(1)
    assert failing_view(1) is failing_view(1) is None
    assert (len(calls), len(list(home.iterdir()))) == (3, 1)


def full(path: Path, data: bytes) -> float:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("case", ["read-only", "unreachable", "full", "replaced", "off"])
def test_views_work_where_nothing_can_be_stored(case: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if case == "read-only":
        home.parent.write_text("no folder", "utf-8")
    elif case == "unreachable":
        monkeypatch.setenv("MIRAGE_HOME", str(home.parent / ("x" * 300)))
    elif case == "full":
        monkeypatch.setattr(cache_files, "write_bytes", full)
    elif case == "replaced":  # by another version, while its files are looked at
        monkeypatch.setattr(cache_files, "newest_change", partial(full, home, b""))
    else:
        monkeypatch.setenv("MIRAGE_CACHE_MB", "0")
    counted = Counted()
    view = counted.start()
    assert same(view(1), view_of(4))
    assert view(1) is view(1)
    assert cache.stored_view(view, 1) is None
    assert same(counted.start()(1), view_of(4))
    assert counted.computed == 2
    assert not home.is_dir() or list(home.iterdir()) == []


def test_the_folder_is_bounded_and_the_least_recently_read_goes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_CACHE_MB", "1")
    home.mkdir(parents=True)
    (home / "left.lock").touch()
    os.utime(home / "left.lock", (0, 0))
    for k in range(6):
        cache_files.write_cached(f"{k}", bytes(300_000))
        os.utime(home / f"{k}", (k, k))
        assert cache_files.read_cached("0") is not None
        os.utime(home / "0", (k + 0.5, k + 0.5))
    assert {path.name for path in home.iterdir()} == {"0", "4", "5"}
    cache_files.write_cached("9", bytes(1_100_000))
    assert not (home / "9").exists(), "more than the bound alone"


def test_threads_compute_a_view_once() -> None:
    counted = Counted()
    views = [counted.start() for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda view: view(1), views))
    assert counted.computed == 1
    assert all(same(result, view_of(4)) for result in results)


SLOW = """
import sys, time
from mirage.views.cache import cached_view

@cached_view
def slow_view(path: str) -> str:
    with open(path, "a") as log:
        log.write("computed\\n")
    time.sleep(float(sys.argv[2]))
    return "done"

print(slow_view(sys.argv[1]))
"""


def test_processes_compute_a_view_once_and_a_killed_one_holds_up_nobody(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def start(seconds: float) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [sys.executable, "-c", SLOW, str(log), str(seconds)], stdout=subprocess.PIPE, text=True, env=environment
        )

    killed = start(PATIENCE)
    waiting.until(lambda: log.exists() and log.read_text("utf-8"), "the first computes", process=killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    others = [start(0.3), start(0.3)]
    assert [process.communicate(timeout=PATIENCE)[0] for process in others] == ["done\n"] * 2
    assert log.read_text("utf-8") == "computed\n" * 2


def test_the_key_says_all_that_a_view_depends_on(tmp_path: Path) -> None:
    arena = open_arena("people")
    arguments = [
        {"arena": arena},
        {"arena": replace(arena, version="another")},
        {"arena": replace(arena, path=arena.path.parent)},
        {"arena": replace(arena, tags=(("domain", "a"),))},
        {"arena": arena, "labels": (1, "1")},
        {"arena": arena, "labels": ((1,), "1")},
        {"arena": arena, "labels": Estimate(1.0, None, None, 1, 1, None)},
        {"arena": arena, "labels": Estimate(1.0, None, None, 1, 2, None)},
        {"arena": None},
    ]
    assert len({cache.cache_key(view_of, each) for each in arguments}) == len(arguments)
    beside = replace(arena, path=tmp_path)
    before = cache.cache_key(view_of, {"arena": beside})
    (tmp_path / "makers.csv").write_text("system,maker\n", "utf-8")
    assert cache.cache_key(view_of, {"arena": beside}) != before
    one, other = VoteLog[str]("digest", ()), VoteLog[str]("digest", ("not compared",))
    assert cache.cache_key(view_of, {"votes": one}) == cache.cache_key(view_of, {"votes": other})
    with pytest.raises(TypeError, match="list"):
        cache.cache_key(view_of, {"languages": ["en"]})
