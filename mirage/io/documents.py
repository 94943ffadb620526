"""Documents of a corpus, cut into passages: Markdown, text, PDF, HTML, and files of passages.

corpus = read_documents([Path("handbook"), Path("faq.jsonl")])
corpus.passages, corpus.left_out
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mirage.errors import BadInput, NotEnoughData
from mirage.stages.retrieve.corpus import read_passage
from mirage.stages.testset.settings import CorpusPassage
from mirage.store import files as store_files
from mirage.store import records
from mirage.store.extras import extra
from mirage.store.files import Line, find_files, need_file
from mirage.text.detection import detect_set
from mirage.text.languages import in_order, language_of_file
from mirage.text.languages import language as language_of
from mirage.text.segmentation import sentences, words

LENGTH = 800
"""Maximum length of a passage, in characters: about 120 English words."""
LARGEST = 100_000_000
"""Maximum bytes of a document, decompressed; files of passages have no maximum."""
_TEXTS = (".md", ".markdown", ".txt", ".text", ".rst")
_RECORDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_HTML = (".html", ".htm", ".xhtml")
_FRONT = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]")
_LINK = "it is a link, a pipe or a device"
_BLANK = re.compile(r"\n[ \t]*\n\s*")


@dataclass(frozen=True, slots=True)
class OmittedPart:
    """A file or passage that is not in the corpus."""

    where: str
    """The file, with line or passage if it is a part."""
    reason: str
    """Reason why it was left out."""


@dataclass(frozen=True, slots=True)
class DocumentCorpus:
    """The passages of some documents."""

    passages: tuple[CorpusPassage, ...]
    """The passages, in the order of the files."""
    left_out: tuple[OmittedPart, ...]
    """Files and passages that were left out, with the reason."""
    files: tuple[Mapping[str, Any], ...]
    """Name and SHA-256 of every file read."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages with at least a tenth of the passages."""
        counts = Counter(passage.language for passage in self.passages if passage.language is not None)
        return tuple(in_order(code for code, n in counts.items() if 10 * n >= counts.total()))


def read_documents(paths: Sequence[Path]) -> DocumentCorpus:
    """Read documents, and cut them into passages at paragraphs.

    A file of records (JSON Lines, JSON, CSV, Parquet) contains passages: `docid` or another common name, `title`,
    `text`, and `language`. Any other file is a document; its passages get the ids FILE#1, FILE#2 and so on. Documents
    and passages that are empty, binary, too large, unreadable or the same as an earlier one are left out.

    Args:
        paths: files, and folders, which are read with their subfolders.

    Raises:
        BadInput: if a path does not exist, or a document needs an extra that is not installed.
        NotEnoughData: if no passage is left.
    """
    reader = _Reader()
    for path in paths:
        if path.is_dir():
            files, others = find_files(path, "**/*")
            reader.left_out += [OmittedPart(other.relative_to(path).as_posix(), _LINK) for other in others]
            for file in files:
                if not any(part.startswith(".") for part in file.relative_to(path).parts):
                    reader.read(file, file.relative_to(path).as_posix(), named=False)
        else:
            reader.read(path, path.name, named=True)
    if not reader.passages:
        why = "; ".join(f"{one.where}: {one.reason}" for one in reader.left_out[:5])
        raise NotEnoughData("the corpus has no passage", where=why, do="give text, Markdown or files of passages")
    return DocumentCorpus(tuple(_with_languages(reader.passages)), tuple(reader.left_out), tuple(reader.files))


class _Reader:
    """Passages so far, and what was left out."""

    def __init__(self) -> None:
        self.passages: list[CorpusPassage] = []
        self.left_out: list[OmittedPart] = []
        self.files: list[dict[str, Any]] = []
        self._texts: dict[bytes, str] = {}
        self._ids: set[str] = set()

    def read(self, path: Path, name: str, *, named: bool) -> None:
        """Read a file.

        Args:
            path: the file.
            name: its name in ids and messages.
            named: whether the path itself was given; a file with an unknown extension is then read as text.
        """
        kind = _kind(path)
        if kind not in (*_TEXTS, *_RECORDS, *_HTML, ".pdf") and not named:
            self.left_out.append(OmittedPart(name, f"the extension {kind or 'none'} is not a document type"))
            return
        need_file(path)
        if kind in _RECORDS:
            self._read_records(path, name)
            return
        try:
            text = _text_of(path, kind)
        except _OmitError as error:
            self.left_out.append(OmittedPart(name, str(error)))
            return
        self._note_file(path, name)
        if not words(text):
            self.left_out.append(OmittedPart(name, "it is empty"))
            return
        code = language_of_file(path.name)
        parts = split_text(text, title=path.stem, markdown=kind in (".md", ".markdown"))
        for number, (title, part) in enumerate(parts, 1):
            self._add(CorpusPassage(f"{name}#{number}", title, part, code, name), f"{name}#{number}")

    def _note_file(self, path: Path, name: str) -> None:
        self.files.append({"name": name, "sha256": store_files.fingerprint(path)})

    def _read_records(self, path: Path, name: str) -> None:
        """Add the passages of a file, or none if one of its records cannot be read."""
        try:
            lines = list(records.records(path))
        except BadInput as error:
            self.left_out.append(OmittedPart(error.where or name, f"{name} cannot be read: {error.what}"))
            return
        for line in lines:
            self._add_record(line, name)
        self._note_file(path, name)

    def _add_record(self, line: Line, name: str) -> None:
        code = line.value.get("language")
        try:
            passage = read_passage(line)
            given = language_of(str(code), where=line.where).code if code else language_of_file(Path(name).name)
        except BadInput as error:
            self.left_out.append(OmittedPart(line.where, error.what))
            return
        text = passage.pop("text").strip()
        self._add(CorpusPassage(**passage, text=text, language=given, file=name), line.where)

    def _add(self, passage: CorpusPassage, where: str) -> None:
        text = " ".join(passage.text.split()).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16).digest()
        if not words(passage.text):
            self.left_out.append(OmittedPart(where, "it is empty"))
        elif passage.passage_id in self._ids:
            self.left_out.append(OmittedPart(where, f"the corpus has another passage {passage.passage_id}"))
        elif digest in self._texts:
            self.left_out.append(OmittedPart(where, f"it has the same text as {self._texts[digest]}"))
        else:
            self._texts[digest] = passage.passage_id
            self._ids.add(passage.passage_id)
            self.passages.append(passage)


def _kind(path: Path) -> str:
    """Return the lower-case extension of a file, ignoring a compression suffix."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst", ".lz4"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


class _OmitError(Exception):
    """A document to leave out, with the reason."""


def _text_of(path: Path, kind: str) -> str:
    """Return the text of a document: of a PDF file by pypdf, of an HTML page the main text by trafilatura.

    Raises:
        _OmitError: if it is too large, binary or unreadable.
        BadInput: if a library is not installed.
    """
    if records.is_longer(path, LARGEST):
        raise _OmitError(f"it has more than {LARGEST // 1_000_000} MB")
    if kind == ".pdf":
        with extra("documents", "the text of a PDF file"):
            import pypdf
        try:
            return "\n\n".join(page.extract_text() or "" for page in pypdf.PdfReader(path).pages)
        except Exception as error:  # damaged files raise many kinds of error
            raise _OmitError(f"its text cannot be extracted: {type(error).__name__}") from None
    if kind in _HTML:
        with extra("documents", "the text of an HTML file"):
            import trafilatura
        return str(trafilatura.extract(_plain_text(path)) or "")
    return _plain_text(path)


def _plain_text(path: Path) -> str:
    try:
        text = "\n".join(line for _, line in store_files.lines(path)).removeprefix("\ufeff")
    except BadInput as error:
        raise _OmitError("it is binary, or not UTF-8" if "UTF-8" in error.what else error.what) from None
    if "\0" in text:
        raise _OmitError("it is binary")
    return text.replace("\r", "\n")


def split_text(
    text: str, *, title: str | None = None, length: int = LENGTH, markdown: bool = False
) -> list[tuple[str | None, str]]:
    """Cut a text into passages of whole paragraphs; a longer paragraph is cut at sentences, a longer sentence at words.

    Args:
        text: the text.
        title: title of passages before the first heading.
        length: maximum characters of a passage.
        markdown: whether lines with `#` are headings. A heading starts a new passage and becomes its title, after the
            document's first heading.

    Returns:
        Title and text of each passage.
    """
    passages: list[tuple[str | None, str]] = []
    open_: list[str] = []
    top: str | None = None

    def close() -> None:
        if open_:
            passages.append((title, "\n\n".join(open_)))
            open_.clear()

    if markdown:
        text = _without_comments(_FRONT.sub("", text))
        text = re.sub(r"(?m)^(#{1,6}[ \t]+.*)$", r"\n\n\1\n\n", text)
    for paragraph in filter(str.strip, _BLANK.split(text)):
        if markdown and (name := _heading(paragraph.strip())):
            close()
            title = name if top is None else f"{top}: {name}"
            top = top or name
            continue
        for piece in _pieces(paragraph.strip(), length):
            if open_ and sum(map(len, open_)) + 2 * len(open_) + len(piece) > length:
                close()
            open_.append(piece)
    close()
    return passages


def _heading(paragraph: str) -> str:
    """Return the text of a Markdown heading; empty if the paragraph is none."""
    if not _HEADING.match(paragraph):
        return ""
    name = paragraph.lstrip("#").strip()
    bare = name.rstrip("#")
    return bare.strip() if not bare or bare[-1].isspace() else name


def _without_comments(text: str) -> str:
    """Return a text without its HTML comments; one that does not end is text."""
    parts, end = [], 0
    while (start := text.find("<!--", end)) >= 0 and (stop := text.find("-->", start + 4)) >= 0:
        parts.append(text[end:start])
        end = stop + 3
    return "".join([*parts, text[end:]])


def _pieces(paragraph: str, length: int) -> Iterator[str]:
    """Yield a paragraph whole, or in pieces of whole sentences of at most `length` characters."""
    if len(paragraph) <= length:
        yield paragraph
        return
    start = end = 0
    for first, last in _cut_sentences(paragraph, length):
        if last - start > length and end > start:
            yield paragraph[start:end].strip()
            start = first
        end = last
    yield paragraph[start:].strip()


def _cut_sentences(paragraph: str, length: int) -> Iterable[tuple[int, int]]:
    """Yield the spans of the sentences, cutting longer ones at a space if possible."""
    for first, last in sentences(paragraph, "en"):
        while last - first > length:
            space = paragraph.rfind(" ", first + 1, first + length)
            cut = space if space > first else first + length
            yield first, cut
            first = cut
        yield first, last


def _with_languages(passages: Sequence[CorpusPassage]) -> Iterator[CorpusPassage]:
    """Yield the passages, detecting missing languages."""
    unknown = [passage for passage in passages if passage.language is None]
    detected = (found.code for found in detect_set([passage.searched for passage in unknown]))
    for passage in passages:
        yield passage if passage.language is not None else replace(passage, language=next(detected))
