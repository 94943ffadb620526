"""Files in and out: lines with their numbers, JSON Lines, CSV, whole-file writes, resumable downloads."""

from __future__ import annotations

import csv
import errno
import gzip
import hashlib
import itertools
import json
import os
import stat
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from mirage.errors import BadInput
from mirage.store.sheets import unquoted

LONGEST = 16_000_000
"""Bytes that a line may have where a file is not to be trusted."""
_NAME = 255
"""Bytes that a name in a folder may have."""
_LINE = 100
"""Bytes that a line counts there beside its own, since empty ones take time too."""


@dataclass(frozen=True, slots=True)
class Line:
    """One record of a text file and where it stands."""

    where: str
    """`file:line`, for error messages."""
    value: Any
    """The parsed record."""


def list_files(folder: Path, *patterns: str) -> list[Path]:
    """The files under a folder that match any glob pattern, sorted by name.

    Raises:
        BadInput: if the folder does not exist.
    """
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}", do="check the path")
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def need_file(path: Path) -> None:
    """Refuse what cannot be read as a file to its end: a folder, a pipe, a device, a name that is none.

    Raises:
        BadInput: if it is absent or none.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", do="check the path") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{path} cannot be read: {reason}", do="give a file that can be read") from None
    if not stat.S_ISREG(mode):
        kind = "folder" if stat.S_ISDIR(mode) else "pipe or a device"
        raise BadInput(f"{path} is a {kind}, not a file", do="give a file; write what a pipe gives into one first")


def lines(path: Path, *, most: int | None = None) -> Generator[tuple[str, str]]:
    """Yield `(file:line, text)` of a UTF-8 text file, gzip-compressed if its name ends in `.gz`.

    Args:
        path: the file.
        most: most bytes that are taken, unpacked, in lines of `LONGEST` bytes at most; None for any number.

    Raises:
        BadInput: if the file is absent or unreadable, is not UTF-8, is larger than that, or its gzip stream is damaged
            or cut off.
    """
    number = 0
    left = most or 0
    longest = -1 if most is None else LONGEST + 1
    need_file(path)
    try:
        if path.suffix == ".gz" and path.stat().st_size == 0:
            raise EOFError("it has 0 bytes")
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            for number, raw in enumerate(iter(lambda: stream.readline(longest), b""), start=1):
                if most is not None and ((left := left - len(raw) - _LINE) < 0 or len(raw) == longest):
                    raise too_large(path, most) if left < 0 else _too_long(path, number)
                yield f"{path}:{number}", raw.decode("utf-8").rstrip("\r\n")
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", do="check the path") from None
    except UnicodeDecodeError as error:
        raise BadInput(
            f"this line is not UTF-8: {error.reason}", where=f"{path}:{number}", do="save the file as UTF-8"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(
            f"the gzip file is damaged or cut off: {error}",
            where=f"{path}:{number + 1}",
            do="fetch or copy the file again",
        ) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}", do="give a file that can be read") from None


def _too_long(path: Path, number: int) -> BadInput:
    return BadInput(
        f"this line is longer than {LONGEST // 1_000_000:,} MB", where=f"{path}:{number}", do="give one record a line"
    )


def too_large(path: Path, most: int) -> BadInput:
    """The error of a file that holds more than it may."""
    return BadInput(
        f"this file holds more than {most // 1_000_000:,} MB, unpacked",
        where=str(path),
        do="use the command line, which takes more",
    )


def jsonl(path: Path, *, most: int | None = None) -> Iterator[Line]:
    """Yield the objects of a JSON Lines file; blank lines are skipped. `most`: as for `lines`.

    Raises:
        BadInput: naming file and line, if a line is not a JSON object.
    """
    for where, text in lines(path, most=most):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"this line is not JSON: {error}", where=where, do="write one JSON object a line") from None
        if not isinstance(value, dict):
            raise BadInput(
                f"this line is a JSON {type(value).__name__}, not an object",
                where=where,
                do="write one JSON object a line",
            )
        yield Line(where, value)


def csv_rows(path: Path, *, most: int | None = None) -> Iterator[Line]:
    """Yield the rows of a CSV file as texts by the names of its header; blank rows are skipped. `most`: as for `lines`.
    Quotes that an export put before texts, as a spreadsheet would compute them, are taken away (`sheets.py`).

    Raises:
        BadInput: naming file and line, if the header is absent or names a column twice, or a row is malformed.
    """
    # An error keeps the frames it came through, and they would keep the file open as long as anybody has the error.
    with closing(lines(path, most=most)) as source:
        yield from _csv_rows(path, (text + "\n" for _, text in source))


def _csv_rows(path: Path, texts: Iterator[str]) -> Iterator[Line]:
    reader = csv.reader(itertools.chain([next(texts, "").removeprefix("\ufeff")], texts), strict=True)
    header: list[str] = []
    while True:
        where = f"{path}:{reader.line_num + 1}"
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            do = "close every quote it opens; a longer field needs JSON Lines"
            raise BadInput(f"this row is not CSV: {error}", where=where, do=do) from None
        if not header:
            header = row
            duplicates = sorted({name for name in header if header.count(name) > 1})
            if duplicates:
                raise BadInput(f"the header names {duplicates[0]!r} twice", where=where, do="name every column once")
        elif row and len(row) != len(header):
            raise BadInput(
                f"this row has {len(row)} fields, the header {len(header)}",
                where=where,
                do="give one field a column, in quotes if it holds a comma",
            )
        elif row:
            yield Line(where, unquoted(dict(zip(header, row, strict=True))))
    if not header:
        raise BadInput("this file has no header", where=str(path), do="name the columns in its first line")


def fingerprint(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal digits.

    Raises:
        BadInput: if the file cannot be read.
    """
    need_file(path)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}", do="give a file that can be read") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole: a reader sees the old file or the new one, also after a crash.

    Raises:
        OSError: if it cannot be written, or something that is no file has its name.
    """
    path = path.absolute()
    if any(len(os.fsencode(part)) > _NAME for part in path.parts):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "there is a folder, a pipe or a device of this name", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file whole."""
    write_bytes(path, text.encode("utf-8"))


class Sink:
    """Where a download goes: bytes are kept in `NAME.part` and become `NAME` only when complete, so a broken
    download goes on where it stopped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.part = self.path.with_name(self.path.name + ".part")
        self._stream: BinaryIO | None = None

    @property
    def done(self) -> bool:
        """Whether the whole file is there."""
        return self.path.exists()

    @property
    def offset(self) -> int:
        """How many bytes of an unfinished download are there."""
        return self.part.stat().st_size if self.part.exists() else 0

    def restart(self) -> None:
        """Forget an unfinished download (the server does not go on from the middle, or the bytes are wrong)."""
        self._close()
        self.part.unlink(missing_ok=True)

    def append(self, chunk: bytes) -> None:
        """Add bytes."""
        if self._stream is None:
            self.part.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.part.open("ab")
        self._stream.write(chunk)

    def pause(self) -> None:
        """Put what has come to disk and keep it for the next attempt."""
        self._close()

    def intact(self) -> bool:
        """Whether what has come is whole as far as its format can tell: a `.gz` must unpack to its end."""
        self._close()
        if self.path.suffix != ".gz":
            return True
        try:
            with gzip.open(self.part, "rb") as stream:
                while stream.read(1 << 20):
                    pass
        except (EOFError, OSError, zlib.error):
            return False
        return self.offset > 0

    def finish(self) -> None:
        """The file is complete: give it its name."""
        self._close()
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self.part.touch()
        self.part.replace(self.path)

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
            self._stream = None
