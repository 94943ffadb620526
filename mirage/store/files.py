"""Files in and out: numbered lines, JSON Lines, CSV, atomic writes, resumable downloads."""

import codecs
import csv
import errno
import glob
import gzip
import hashlib
import io
import itertools
import json
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from mirage.errors import BadInput
from mirage.store.folders import in_home, make_folder
from mirage.store.sheets import BOM, unquote

LONGEST = 16_000_000
"""Maximum characters of a CSV field."""
LONGEST_OF_OWN = 64_000_000
"""Maximum bytes of a line or JSON value, in any file: a small compressed file may expand to fill the memory."""
MOST_FIELDS = 10_000
"""Maximum number of fields of a record."""
_SNIFFED = 20
"""Number of lines used to detect the delimiter of a CSV file."""
_NAME = 255
"""Maximum bytes of a file name."""


@dataclass(frozen=True, slots=True)
class Line:
    """One record of a text file with its location."""

    where: str
    """`file:line`, for error messages."""
    value: Any
    """The parsed record."""


def list_files(folder: Path, *patterns: str) -> list[Path]:
    """List the files under a folder that match any glob pattern, sorted by name.

    Raises:
        BadInput: if the folder does not exist, or a match is a link, a pipe or a device.
    """
    files, others = find_files(folder, *patterns)
    if others:
        more = f" and {len(others) - 1:,} more" if others[1:] else ""
        raise BadInput(
            f"{others[0]}{more} is a link, a pipe or a device, which is not read in a folder",
            do="put the file itself there",
        )
    return files


def find_files(folder: Path, *patterns: str) -> tuple[list[Path], list[Path]]:
    """Find the files under a folder that match any glob pattern; and links, files behind links, pipes and devices,
    which must not be read: they may lead out of the folder, or never end. Both are sorted by name.

    Raises:
        BadInput: if the folder does not exist.
    """
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}", do="check the path")
    files: list[Path] = []
    others: list[Path] = []
    root = os.path.realpath(folder)
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        if os.path.realpath(path) != os.path.join(root, path.relative_to(folder)):  # noqa: PTH118  # thrice as fast
            others.append(path)
        elif not path.is_dir():
            (files if path.is_file() else others).append(path)
    return files, others


def need_file(path: Path) -> None:
    """Check that a path is a regular file.

    Raises:
        BadInput: if it does not exist, is a folder, a pipe or a device, or is not a valid name.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", do="check the path") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{path} cannot be read: {reason}", do="check the path and permissions") from None
    if not stat.S_ISREG(mode):
        kind = "folder" if stat.S_ISDIR(mode) else "pipe or a device"
        raise BadInput(f"{path} is a {kind}, not a file", do="give a file; save the output of a pipe first")


def lines(path: Path) -> Generator[tuple[str, str]]:
    """Yield `(file:line, text)` of a UTF-8 text file, decompressed if needed.

    Raises:
        BadInput: if the file is missing, unreadable, not UTF-8, or its compression is damaged or truncated, or a line
            is too long.
    """
    place, name = [0], str(path)
    with _convert_errors(path, place), decompress(path) as stream:
        for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_OF_OWN + 1), b""), start=1):
            place[0] = number
            if len(raw) > LONGEST_OF_OWN:
                raise too_long(path, number)
            text = raw.decode("utf-8").rstrip("\r\n")
            if number == 1 and "\r" in text:
                yield from _mac_lines(name, itertools.chain([raw], stream))
                return
            yield f"{name}:{number}", text


def _mac_lines(name: str, raws: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file whose lines end with a carriage return, as on old Macs."""
    texts = (text for raw in raws for text in raw.decode("utf-8").rstrip("\r\n").split("\r"))
    for number, text in enumerate(texts, start=1):
        yield f"{name}:{number}", text


def chunks(path: Path, *, size: int = 1 << 20) -> Generator[str]:
    """Yield a UTF-8 text file in pieces of some bytes, decompressed if needed, so that a text without line ends fits in
    memory.

    Raises:
        BadInput: as `lines`.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    place = [1]
    with _convert_errors(path, place), decompress(path) as stream:
        for raw in iter(lambda: stream.read(size), b""):
            yield decoder.decode(raw)
            place[0] += raw.count(b"\n")
        decoder.decode(b"", final=True)


_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
"""Magic bytes of compressed files, with the format."""


@contextmanager
def decompress(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressing gzip, zstd or lz4, detected by its first bytes; UTF-16, as Excel and PowerShell write
    it, becomes UTF-8.
    """
    with path.open("rb") as stream:
        start = stream.read(4)
        stream.seek(0)
        packer = next((name for magic, name in _PACKED.items() if start.startswith(magic)), None)
        if packer in ("zstd", "lz4"):
            import pyarrow as pa

            with pa.CompressedInputStream(stream, packer) as plain:
                yield io.BufferedReader(plain)
        elif packer == "gzip" or path.suffix == ".gz":
            if not start:
                raise EOFError("it has 0 bytes")
            # Larger buffer than the default of 8 kB.
            with gzip.open(stream, "rb") as plain, io.BufferedReader(plain, 1 << 18) as pieces:
                yield pieces
        elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and path.stat().st_size <= LONGEST_OF_OWN:
            yield io.BytesIO(stream.read().decode("utf-16").encode())
        else:
            yield stream


@contextmanager
def _convert_errors(path: Path, place: Sequence[int]) -> Iterator[None]:
    """Convert errors while reading a file to BadInput; `place` holds the number of the last line read."""
    need_file(path)
    try:
        yield
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", do="check the path") from None
    except UnicodeDecodeError as error:
        raise BadInput(
            f"this line is not UTF-8: {error.reason}", where=f"{path}:{place[0]}", do="save the file as UTF-8"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(
            f"the gzip file is damaged or truncated: {error}",
            where=f"{path}:{place[0] + 1}",
            do="download or copy the file again",
        ) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}", do="give a file that can be read") from None


def too_long(path: Path, number: int) -> BadInput:
    """Return the error for a line or JSON value that is longer than `LONGEST_OF_OWN`."""
    return BadInput(
        f"this record is longer than {LONGEST_OF_OWN // 1_000_000:,} MB",
        where=f"{path}:{number}",
        do="write one record per line",
    )


def too_large(path: Path, most: int) -> BadInput:
    """Return the error for a file that is too large."""
    return BadInput(
        f"this file has more than {most // 1_000_000:,} MB, decompressed",
        where=str(path),
        do="use the command line, which has no limit",
    )


def jsonl(path: Path) -> Iterator[Line]:
    """Yield the objects of a JSON Lines file, skipping blank lines.

    Raises:
        BadInput: naming file and line, if a line is not a JSON object.
    """
    for where, text in lines(path):
        if not (text := text.removeprefix(BOM)).strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(
                f"this line is not JSON: {error}", where=where, do="write one JSON object per line"
            ) from None
        yield Line(where, need_object(value, where))


def need_object(value: Any, where: str) -> dict[str, Any]:
    """Return a JSON value if it is an object.

    Raises:
        BadInput: if it is not.
    """
    if not isinstance(value, dict):
        raise BadInput(
            f"this is a JSON {type(value).__name__}, not an object", where=where, do="write one JSON object per record"
        )
    need_few_fields(value, where)
    return value


def need_few_fields(fields: Collection[str], where: str) -> None:
    """Check that a record has at most `MOST_FIELDS` fields.

    Raises:
        BadInput: if there are more.
    """
    if len(fields) > MOST_FIELDS:
        raise BadInput(
            f"there are {len(fields):,} fields in one record, more than {MOST_FIELDS:,}",
            where=where,
            do="write one record per row, with its fields in columns",
        )


_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
"""Delimiters of CSV files, the likelier first."""
_NAMED = re.compile(r"\"?sep=(\\t|[^\w\s\"]|\t)\"?[,;\t|]*\s*", re.IGNORECASE)
"""The first line by which Excel knows the delimiter."""


def csv_rows(path: Path) -> Iterator[Line]:
    """Yield the rows of a CSV file as texts by column name, skipping blank rows; the first lines tell the delimiter.

    Quotes added by an export to texts that look like formulas are removed (`sheets.py`).

    Raises:
        BadInput: naming file and line, if the header is missing or has a duplicate column, or a row is malformed.
    """
    csv.field_size_limit(LONGEST)
    # Close explicitly: a stored exception keeps its frames, and with them the file, open.
    with closing(lines(path)) as source:
        texts = (text + "\n" for _, text in source)
        first = list(itertools.islice(texts, _SNIFFED))
        first[:1] = [text.removeprefix(BOM) for text in first[:1]]
        if first and (named := _NAMED.fullmatch(first[0])):
            # The spreadsheet's own line counts as a line, but is not a row.
            first[0] = "\n"
        delimiter = named[1].replace("\\t", "\t") if first and named else _delimiter(first)
        yield from _csv_rows(path, itertools.chain(first, texts), delimiter)


def _delimiter(texts: Sequence[str]) -> str:
    """Detect the delimiter of a CSV file: the one that gives the most columns, consistently over the rows."""

    def columns(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in csv.reader(texts, delimiter=delimiter) if row]
        except csv.Error:
            return False, 0
        # The last row may continue after the sampled lines.
        alike = len(set(widths[:-1] if len(texts) == _SNIFFED else widths)) == 1
        return alike and widths[0] > 1, next(iter(widths), 0)

    return max(_DELIMITERS, key=columns)


def _csv_rows(path: Path, texts: Iterator[str], delimiter: str) -> Iterator[Line]:
    reader = csv.reader(texts, strict=True, delimiter=delimiter)
    header: list[str] = []
    bare = False
    while True:
        where = f"{path}:{reader.line_num + 1}"
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            do = "close every quote; longer fields need JSON Lines"
            raise BadInput(f"this row is not CSV: {error}", where=where, do=do) from None
        if not any(row):
            continue
        if not header:
            header = [name.strip(BOM + " ") for name in row]
            need_few_fields(header, where)
            bare = header.count("") > 1  # spreadsheets write empty columns
            if duplicates := sorted(name for name, n in Counter(filter(None, header)).items() if n > 1):
                raise BadInput(f"the header names {duplicates[0]!r} twice", where=where, do="name every column once")
        elif len(row) != len(header):
            raise BadInput(
                f"this row has {len(row)} fields, but the header has {len(header)}",
                where=where,
                do=f"write one field per column, quoted if it contains a {_DELIMITERS.get(delimiter, repr(delimiter))}",
            )
        elif bare and any(cell for name, cell in zip(header, row, strict=True) if not name):
            do = "name every column in the first line, or remove the lines above the header"
            raise BadInput("this row has a value in a column without a name", where=where, do=do)
        else:
            cells = {name: cell for name, cell in zip(header, row, strict=True) if name or not bare}
            yield Line(where, unquote(cells))
    if not header:
        raise BadInput("this file has no header", where=str(path), do="name the columns in its first line")


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits.

    Raises:
        BadInput: if the file cannot be read.
    """
    with _convert_errors(path, ()), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_bytes(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write a file atomically: readers see the old file or the new one, also after a crash.

    Args:
        path: the file.
        data: its content.
        mode: its permissions; in the program's own folder its owner alone has any.

    Raises:
        OSError: if it cannot be written, or the path is not a regular file.
    """
    path = path.absolute()
    if any(len(os.fsencode(part)) > _NAME for part in path.parts):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "there is a folder, a pipe or a device of this name", str(path))
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.touch(mode=0o600 if in_home(path) else mode)
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _remove_left(path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_left(path: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote this file."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        number = left.name.removesuffix(".tmp").rpartition(".")[2]
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            left.unlink(missing_ok=True)
        except (ValueError, OverflowError, OSError):  # not ours, or alive
            pass


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file atomically."""
    write_bytes(path, text.encode("utf-8"))


class Sink:
    """Target of a resumable download: bytes are appended to `NAME.part`, which is renamed to `NAME` once complete."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.part = self.path.with_name(self.path.name + ".part")
        self._stream: BinaryIO | None = None

    @property
    def done(self) -> bool:
        """True if the complete file exists."""
        return self.path.exists()

    @property
    def offset(self) -> int:
        """Number of bytes already downloaded."""
        return self.part.stat().st_size if self.part.exists() else 0

    def restart(self) -> None:
        """Discard an incomplete download (the server cannot resume, or the bytes are wrong)."""
        self.pause()
        self.part.unlink(missing_ok=True)

    def append(self, chunk: bytes) -> None:
        """Append bytes."""
        if self._stream is None:
            make_folder(self.part.parent)
            self._stream = self.part.open("ab")
        self._stream.write(chunk)

    def pause(self) -> None:
        """Flush the downloaded bytes to disk for the next attempt."""
        if self._stream is not None:
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
            self._stream = None

    def is_intact(self) -> bool:
        """Return whether the download is complete as far as its format tells: a `.gz` must decompress to its end."""
        self.pause()
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
        """Rename the complete file to its final name."""
        self.pause()
        make_folder(self.part.parent)
        self.part.touch()
        self.part.replace(self.path)
