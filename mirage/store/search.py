"""Full-text search in answers, by an index beside the arena, or by scanning.

    table = search(arena, "Suomenlinna", languages=["fi"])    # language, query_id, system
    build_index(arena)                                        # once; a search then takes milliseconds

Texts are matched literally and case-insensitively, in any script. Index and scan give the same results: both compare
after NFC and lower-casing by DuckDB.

The index is one SQLite file with an FTS5 trigram table, which needs no word segmentation and so serves every script.
Its name contains the arena's folder and the hash of the answers, so it is never stale; it is renamed into place once
complete, and can be deleted at any time. It lies under `search/` in the user's folder, not in the arena's, which the
explorer only reads; beyond `_KEPT` indexes the oldest is deleted.

Texts of one or two characters have no trigram; a second table of the same file holds their posting lists
(`postings.py`).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from mirage.errors import ArenaError
from mirage.store import home
from mirage.store.arena import Arena, chosen_queries, of_queries
from mirage.store.postings import PART, SHORT_TEXTS, number_of, pairs, postings, unpack
from mirage.store.runs import content

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Progress = Callable[[float, str], None]
"""Progress callback: share done, in [0, 1], and the current step."""

_FORMAT = 2
_KEY = ["language", "query_id", "system"]
_FOLD = "lower(nfc_normalize({}))"
_NUL = "\x1f"
"""Replacement of NUL, at which SQLite would stop reading."""
_UNSURE = frozenset("\0\x1f\ufffd\ufffe\uffff")
"""Characters that the index cannot distinguish; texts with one of them are scanned for."""
_BATCH = 1_000
_KEPT = 20
"""Maximum number of indexes."""


def search(
    arena: Arena,
    text: str,
    *,
    languages: Collection[str] | None = None,
    systems: Collection[str] | None = None,
    limit: int | None = None,
) -> pa.Table:
    """Return the keys of the answers that contain a text, sorted.

    Args:
        arena: an arena with answers.
        text: literal text, case-insensitive; every answer contains the empty text.
        languages: codes; None or empty for all.
        systems: names; None or empty for all.
        limit: maximum number of keys; None for all.

    Returns:
        Columns `language`, `query_id`, `system`.

    Raises:
        TableMissing: if the arena has no answers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    keys, hits = placed_keys(arena).select(_KEY), places(arena, text, languages=languages)
    if len(hits) < len(keys):
        keys = keys.take(pa.array(hits))
    if arena.tags:
        keys = of_queries(keys, chosen_queries(arena))
    for column, selection in (("language", languages), ("system", systems)):
        if selection:
            keys = keys.filter(pc.is_in(keys[column], value_set=pa.array(sorted(selection), pa.string())))
    return keys if limit is None else keys.slice(0, limit)


def places(arena: Arena, text: str, *, languages: Collection[str] | None = None) -> NDArray[np.int64]:
    """Return the positions of the answers that contain a text, ascending, as in `placed_keys`.

    With tags, positions of answers to other queries may be included.

    Args:
        arena: an arena with answers.
        text: as in `search`.
        languages: codes to search; positions in other languages may be included.

    Raises:
        TableMissing: if the arena has no answers.
    """
    import numpy as np

    arena.need("answers")
    if any("\ud800" <= character <= "\udfff" for character in text):
        return np.zeros(0, dtype=np.int64)  # a lone surrogate, which UTF-8 text cannot contain
    hits = _by_index(arena, text, languages or ())
    return by_reading(arena, text, languages=languages) if hits is None else hits


def by_reading(arena: Arena, text: str, *, languages: Collection[str] | None = None) -> NDArray[np.int64]:
    """Implement `places` by scanning, without the index."""
    import numpy as np

    # Pass languages as scalars, so that DuckDB can skip files by their statistics.
    parameters = {f"l{n}": code for n, code in enumerate(languages or ())}
    where = f"contains({_FOLD.format('text')}, {_FOLD.format('$text')})"
    where += f" AND language IN ({', '.join(f'${name}' for name in parameters)})" if parameters else ""
    rows = arena.sql(
        f"SELECT place FROM answers JOIN placed USING (language, query_id, system) WHERE {where} ORDER BY place",  # noqa: S608  # constants alone
        {"text": text, **parameters},
        given={"placed": placed_keys(arena)},
        languages=languages or None,
    )
    return np.asarray(rows["place"].to_numpy(), dtype=np.int64)


@lru_cache(maxsize=4)
def placed_keys(arena: Arena) -> pa.Table:
    """Return the keys of all answers in order, ignoring tags, with `place`, their position from 0."""
    import numpy as np
    import pyarrow as pa

    keys = arena.whole.read("answers", columns=_KEY)
    return keys.append_column("place", pa.array(np.arange(len(keys), dtype=np.int64)))


def has_index(arena: Arena) -> bool:
    """Return whether an arena's answers are indexed."""
    return _existing(arena) is not None


def build_index(arena: Arena, progress: Progress = lambda _share, _what: None) -> Path:
    """Build the index of an arena's answers unless it exists; a concurrent program waits for the first.

    Args:
        arena: an arena with answers.
        progress: progress callback.

    Returns:
        The file.

    Raises:
        TableMissing: if the arena has no answers.
        ArenaError: if the file cannot be written.
    """
    arena = arena.whole
    arena.need("answers")
    path = _place(arena)
    try:
        with _lock(path, progress):
            if (existing := _existing(arena)) is not None:
                return existing
            temporary = path.with_suffix(".tmp")
            try:
                temporary.unlink(missing_ok=True)
                _fill(arena, temporary, progress)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
            for old in _outdated_indexes(arena, path):
                with suppress(OSError):
                    old.unlink()
    except (OSError, sqlite3.Error) as error:
        raise ArenaError(
            f"the search index cannot be written: {error}",
            where=str(path),
            do="free space or check permissions; without it a search scans every answer",
        ) from None
    return path


def _fill(arena: Arena, path: Path, progress: Progress) -> None:
    """Write the index: row n of its table is the n-th answer of the arena, from 0."""
    folded = f"replace({_FOLD.format('text')}, chr(0), '{_NUL}')"
    total, start = arena.rows("answers"), 0

    def report(ready: int) -> None:
        progress(0.9 * ready / total, f"Indexing the answers: {ready:,} of {total:,}")

    with closing(sqlite3.connect(path)) as db:
        # The file is invisible until complete, so it needs no durability.
        db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;")
        db.execute("CREATE VIRTUAL TABLE answers USING fts5(text, content='', tokenize='trigram case_sensitive 1')")
        db.execute("CREATE TABLE parts (number INTEGER PRIMARY KEY, start INTEGER, stop INTEGER, language TEXT)")
        # Keyed in insertion order (part, text), so that pages fill sequentially.
        db.execute("CREATE TABLE short_texts (id INTEGER PRIMARY KEY, numbers BLOB)")
        for code in arena.languages("answers"):
            sql = f"SELECT {folded} AS text FROM answers WHERE language = ? ORDER BY query_id, system"  # noqa: S608
            texts = arena.sql(sql, [code], languages=[code])["text"]
            for offset in range(0, len(texts), PART):
                start = _add_part(db, code, start, texts.slice(offset, PART), report)
        progress(0.9, "Optimizing the index")
        db.execute("INSERT INTO answers (answers) VALUES ('optimize')")
        db.commit()


def _add_part(
    db: sqlite3.Connection, language: str, start: int, texts: pa.ChunkedArray, report: Callable[[int], None]
) -> int:
    """Write a part of the answers, and return the position after its last one."""
    batches = []
    # SQLite and NumPy's sort both release the GIL.
    with ThreadPoolExecutor(1) as pool:
        for offset in range(0, len(texts), _BATCH):
            batch = texts.slice(offset, _BATCH).to_pylist()
            batches.append(pool.submit(pairs, batch, offset))
            db.executemany("INSERT INTO answers (rowid, text) VALUES (?, ?)", enumerate(batch, start + offset))
            report(start + offset + len(batch))
    (number,) = db.execute("SELECT count(*) FROM parts").fetchone()
    stop = start + len(texts)
    db.execute("INSERT INTO parts VALUES (?, ?, ?, ?)", [number, start, stop, language])
    rows = ((_row(number, text), numbers) for text, numbers in postings([batch.result() for batch in batches]))
    db.executemany("INSERT INTO short_texts VALUES (?, ?)", rows)
    return stop


def _row(part: int, text: int) -> int:
    """Return the row id of an encoded short text in a part."""
    return part * SHORT_TEXTS + text


def _by_index(arena: Arena, text: str, languages: Collection[str]) -> NDArray[np.int64] | None:
    """Return the positions of the answers that contain a text by the index; None if it is missing or cannot be used."""
    path = _existing(arena)
    if path is None or not text:
        return None
    needle = arena.sql(f"SELECT {_FOLD.format('$text')} AS text", {"text": text})["text"][0].as_py()
    if _UNSURE & set(needle):
        return None
    find = _find_trigrams if len(needle) > 2 else _find_short
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as db:
            return find(db, needle, languages)
    except sqlite3.OperationalError:
        return None  # for example too many open files: fall back to a scan
    except sqlite3.DatabaseError:
        # Delete a damaged index.
        with suppress(OSError):
            path.unlink()
        return None


def _find_trigrams(db: sqlite3.Connection, needle: str, languages: Collection[str]) -> NDArray[np.int64]:
    """Return the positions of the answers that contain a text of three characters or more."""
    import numpy as np

    spans: list[tuple[int, int]] = []
    for _, start, stop in _parts(db, languages):
        first = spans.pop()[0] if spans and spans[-1][1] == start else start
        spans.append((first, stop))
    phrase = '"' + needle.replace('"', '""') + '"'
    places = [np.zeros(0, dtype=np.int64)]
    for start, stop in spans:
        # Fetch all numbers as one string: creating a Python object per row is slower than the search.
        (numbers,) = db.execute(
            "SELECT group_concat(rowid) FROM answers WHERE answers MATCH ? AND rowid >= ? AND rowid < ?",
            [phrase, start, stop],
        ).fetchone()
        places.append(np.fromstring(numbers or "", dtype=np.int64, sep=","))
    # group_concat guarantees no order; a stable sort is cheap on sorted input.
    return np.sort(np.concatenate(places), kind="stable")


def _find_short(db: sqlite3.Connection, needle: str, languages: Collection[str]) -> NDArray[np.int64]:
    """Return the positions of the answers that contain a text of one or two characters."""
    import numpy as np

    places = [np.zeros(0, dtype=np.int64)]
    for number, start, _ in _parts(db, languages):
        rows = db.execute("SELECT numbers FROM short_texts WHERE id = ?", [_row(number, number_of(needle))])
        places += [start + unpack(numbers) for (numbers,) in rows]
    return np.concatenate(places)


def _parts(db: sqlite3.Connection, languages: Collection[str]) -> list[tuple[int, int, int]]:
    """Return number, first position and end position of the parts of some languages, or of all."""
    rows = db.execute("SELECT number, start, stop, language FROM parts ORDER BY number").fetchall()
    return [(number, start, stop) for number, start, stop, language in rows if not languages or language in languages]


def _stem(arena: Arena) -> str:
    """Return the arena-specific part of an index's name."""
    return f"search-{hashlib.sha256(os.fsencode(arena.path)).hexdigest()[:12]}"


def _name(arena: Arena) -> str:
    return f"{_stem(arena)}-{content(arena, 'answers')}-{_FORMAT}.sqlite"


def _place(arena: Arena) -> Path:
    """Return the path of the arena's index, whether it exists or not."""
    return home.home_folder() / "search" / _name(arena)


def _existing(arena: Arena) -> Path | None:
    """Return the arena's index if it exists."""
    return path if "answers" in arena.tables and (path := _place(arena)).is_file() else None


def _outdated_indexes(arena: Arena, path: Path) -> set[Path]:
    """Return outdated indexes of the arena, and the oldest of all beyond the maximum."""
    indexes = sorted(path.parent.glob("search-*.sqlite"), key=lambda file: file.stat().st_mtime)
    return {*indexes[:-_KEPT], *path.parent.glob(f"{_stem(arena)}-*.sqlite")} - {path}


@contextmanager
def _lock(path: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock of an index while it is built."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_suffix(".lock"))
    while True:
        try:
            lock.acquire(timeout=1)
            break
        except Timeout:
            progress(0.0, "Another session is indexing the answers")
    try:
        yield
    finally:
        lock.release()
