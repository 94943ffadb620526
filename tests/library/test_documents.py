"""Documents of a corpus: what becomes a passage, and what is left out with which reason."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mirage.errors import BadInput, NotEnoughData
from mirage.io.documents import read_documents, split_text

TEXT = "The lighthouse was built in 1898 and has been a museum since 1998."


def test_markdown_is_cut_at_headings_and_text_at_paragraphs(tmp_path: Path) -> None:
    page = (
        "---\ntitle: x\n---\n# Harbour\n\nOne.\n\nTwo.\n## Light\nThree.\n<!-- hidden -->\n\n### Keeper ##\n\nFour.\n"
    )
    (tmp_path / "harbour.md").write_text(page, encoding="utf-8")
    (tmp_path / "plain.txt").write_text("# not a heading\r\n\r\nSecond paragraph.\r\n", encoding="utf-8")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "notes.rst").write_text(TEXT, encoding="utf-8")
    corpus = read_documents([tmp_path])
    assert [(p.passage_id, p.title, p.text) for p in corpus.passages] == [
        ("deep/er/notes.rst#1", "notes", TEXT),
        ("harbour.md#1", "Harbour", "One.\n\nTwo."),
        ("harbour.md#2", "Harbour: Light", "Three."),
        ("harbour.md#3", "Harbour: Keeper", "Four."),
        ("plain.txt#1", "plain", "# not a heading\n\nSecond paragraph."),
    ]
    assert not corpus.left_out
    assert corpus.passages[0].language == "en"


@pytest.mark.parametrize(
    "text", ["word " * 1_000, "A sentence here. " * 300, "字" * 3_000, "句子在这里。" * 500, "x" * 2_500]
)
def test_no_passage_is_longer_than_asked_for_and_nothing_is_lost(text: str) -> None:
    parts = [part for _, part in split_text(text, length=300)]
    assert all(len(part) <= 300 for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_what_is_no_text_is_left_out_with_its_reason(tmp_path: Path) -> None:
    files = {
        "a.txt": TEXT.encode(),
        "b.txt": b"",
        "c.txt": b" \n\n \n",
        "d.txt": b"\x00\x01\x02" + TEXT.encode(),
        "e.txt": b"\xff\xfe\x00caf\xe9",
        "f.md": f"  {TEXT}\n".encode(),
        "g.png": b"\x89PNG",
        "h": b"no extension",
        ".hidden.txt": b"A hidden file.",
        "z.txt": f"{TEXT}\n\nAnother paragraph about the harbour and its old crane.".encode(),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    corpus = read_documents([tmp_path])
    reasons = {one.where: one.reason for one in corpus.left_out}
    assert set(reasons) == {"b.txt", "c.txt", "d.txt", "e.txt", "f.md", "g.png", "h"}
    assert reasons["b.txt"] == reasons["c.txt"] == "it is empty"
    assert "binary" in reasons["d.txt"]
    assert "UTF-8" in reasons["e.txt"]
    assert "a.txt" in reasons["f.md"]
    assert {p.passage_id for p in corpus.passages} == {"a.txt#1", "z.txt#1"}
    (one,) = read_documents([tmp_path / "h"]).passages  # named by itself
    assert one.text == "no extension"


def test_a_huge_document_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mirage.io import documents

    monkeypatch.setattr(documents, "LARGEST", 1_000)
    (tmp_path / "big.txt").write_text("word " * 1_000, encoding="utf-8")
    (tmp_path / "small.txt").write_text(TEXT, encoding="utf-8")
    with gzip.open(tmp_path / "bomb.txt.gz", "wt", encoding="utf-8") as stream:
        stream.write("word " * 100_000)
    corpus = read_documents([tmp_path])
    assert [p.passage_id for p in corpus.passages] == ["small.txt#1"]
    assert {one.where for one in corpus.left_out} == {"big.txt", "bomb.txt.gz"}


def test_files_of_passages_keep_their_ids_and_languages(tmp_path: Path) -> None:
    lines = [
        {"docid": "1#0", "title": "Light", "text": TEXT, "language": "sw"},
        {"docid": "1#0", "text": "Another text with the same id."},
        {"docid": "1#1", "text": TEXT},
        {"docid": "1#2", "text": "  "},
        {"docid": "1#3"},
        {"docid": "1#4", "text": "Der Leuchtturm wurde 1898 gebaut und ist seit 1998 ein Museum."},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    corpus = read_documents([tmp_path / "corpus.jsonl"])
    assert [(p.passage_id, p.title, p.language) for p in corpus.passages] == [
        ("1#0", "Light", "sw"),
        ("1#4", None, "de"),
    ]
    assert [one.where.rpartition(":")[2] for one in corpus.left_out] == ["2", "3", "4", "5"]


def test_a_pdf_or_html_file_needs_the_extra_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in (("a.pdf", "pypdf"), ("a.html", "trafilatura")):
        monkeypatch.setitem(sys.modules, module, None)
        (tmp_path / name).write_bytes(b"%PDF")
        with pytest.raises(BadInput, match=module) as caught:
            read_documents([tmp_path / name])
        assert "mirage-rag[documents]" in caught.value.do


def test_with_the_extra_pdf_and_html_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [SimpleNamespace(extract_text=lambda: TEXT), SimpleNamespace(extract_text=lambda: None)]

    def reader(path: Path) -> SimpleNamespace:
        if "damaged" in path.name:
            raise OSError("EOF marker not found")
        return SimpleNamespace(pages=pages)

    extract = SimpleNamespace(extract=lambda html: html.replace("<p>", "").replace("</p>", "") or None)
    monkeypatch.setitem(sys.modules, "pypdf", SimpleNamespace(PdfReader=reader))
    monkeypatch.setitem(sys.modules, "trafilatura", extract)
    for name, content in {"a.pdf": "%PDF", "damaged.pdf": "%PDF", "b.html": "<p>A page on the harbour.</p>"}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    corpus = read_documents([tmp_path])
    assert [p.text for p in corpus.passages] == [TEXT, "A page on the harbour."]
    assert [one.where for one in corpus.left_out] == ["damaged.pdf"]


def test_a_corpus_that_is_missing_or_has_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("", encoding="utf-8")
    with pytest.raises(BadInput):
        read_documents([tmp_path / "nowhere.txt"])
    with pytest.raises(NotEnoughData, match="no passage"):
        read_documents([tmp_path])
