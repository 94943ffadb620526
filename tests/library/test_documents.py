"""Documents of a corpus: what becomes a passage, and what is left out with which reason."""

import gzip
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import refuses
from golden.cases import read_table

from mirage.errors import BadInput, NotEnoughData
from mirage.io.documents import read_documents, split_text

TEXT = "The lighthouse was built in 1898 and has been a museum since 1998."


def test_markdown_is_cut_at_headings_and_text_at_paragraphs(tmp_path: Path) -> None:
    page = (
        "---\ntitle: x\n---\n# Harbour\n\nOne.\n\nTwo.\n## Light\nThree.\n<!-- hidden -->\n\n### Keeper ##\n\nFour.\n"
    )
    (tmp_path / "harbour.md").write_text(page, "utf-8")
    (tmp_path / "plain.txt").write_text("# not a heading\r\n\r\nSecond paragraph.\r\n", "utf-8")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "notes.rst").write_text(TEXT, "utf-8")
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
    assert set(reasons) == {"b.txt", "c.txt", "d.txt", "e.txt", "f.md#1", "g.png", "h"}
    assert reasons["b.txt"] == reasons["c.txt"] == "it is empty"
    assert "binary" in reasons["d.txt"]
    assert "UTF-8" in reasons["e.txt"]
    assert "a.txt" in reasons["f.md#1"]
    assert {p.passage_id for p in corpus.passages} == {"a.txt#1", "z.txt#1"}
    (one,) = read_documents([tmp_path / "h"]).passages  # named by itself
    assert one.text == "no extension"


def test_files_of_passages_keep_their_ids_and_languages(tmp_path: Path) -> None:
    lines = [
        {"docid": "1#0", "title": "Light", "text": TEXT, "language": "sw"},
        {"docid": "1#0", "text": "Another text with the same id."},
        {"docid": "1#1", "text": TEXT},
        {"docid": "1#2", "text": "  "},
        {"docid": "1#3"},
        {"docid": "1#4", "text": "Der Leuchtturm wurde 1898 gebaut und ist seit 1998 ein Museum."},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
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
        with refuses(BadInput, module, do="mirage-rag[documents]"):
            read_documents([tmp_path / name])


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
        (tmp_path / name).write_text(content, "utf-8")
    corpus = read_documents([tmp_path])
    assert [p.text for p in corpus.passages] == [TEXT, "A page on the harbour."]
    assert [one.where for one in corpus.left_out] == ["damaged.pdf"]


def test_a_corpus_that_is_missing_or_has_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("", "utf-8")
    with pytest.raises(BadInput):
        read_documents([tmp_path / "nowhere.txt"])
    with pytest.raises(NotEnoughData, match="no passage"):
        read_documents([tmp_path])


def test_pitfall_191_links_and_pipes_in_a_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    folder, secret = tmp_path / "corpus", tmp_path / "id_rsa"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    secret.write_text("The private key of the harbour master.", "utf-8")
    (tmp_path / "outside" / "b.txt").write_text("A text beside the corpus.", "utf-8")
    (folder / "a.txt").write_text(TEXT, "utf-8")
    (folder / "notes.txt").symlink_to(secret)
    (folder / "deep" / "again.md").symlink_to("../a.txt")
    (folder / "deep" / "up").symlink_to(tmp_path / "outside", target_is_directory=True)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "gone.pdf").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.txt")
    corpus = read_documents([folder])
    assert [p.passage_id for p in corpus.passages] == ["a.txt#1"]
    named = {"notes.txt", "deep/again.md", "deep/up", "loop", "zero.jsonl", "gone.pdf", "pipe.txt"}
    assert {one.where for one in corpus.left_out} == named
    assert [file["name"] for file in corpus.files] == ["a.txt"]
    (tmp_path / "my corpus").symlink_to(folder, target_is_directory=True)
    assert read_documents([tmp_path / "my corpus"]).passages == corpus.passages
    for pipe in ("pipe.txt", "pipe.pdf", "pipe.jsonl"):
        if pipe != "pipe.txt":
            os.mkfifo(folder / pipe)
        with pytest.raises(BadInput, match="pipe or a device"):
            read_documents([folder / pipe])


def test_pitfall_192_markup_that_goes_on_and_on_is_cut_in_a_moment() -> None:
    for start, unit in (("", "<!--"), ("", "# a" + " " * 100_000), ("---\n", "---\n"), ("# a", "#"), ("# a", " \t")):
        split_text(start + unit * (200_000 // len(unit)) + "!", markdown=True)


@pytest.mark.parametrize(*read_table("titles"))
def test_the_text_of_a_heading_is_its_title(line: str, title: str) -> None:
    assert split_text(f"{line}\nText.", markdown=True) == [(title, "Text.")]


def test_pitfall_192_a_bad_file_is_left_out_whole_and_a_huge_one_is_not_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mirage.store import files as store_files

    good = json.dumps({"docid": "1", "text": TEXT})
    other = json.dumps({"docid": "2", "text": "Another passage, of the crane."})
    files = {
        "a.jsonl": f"{other}\n{{broken\n",
        "b.json": "[1, 2]",
        "c.csv": 'docid,text\n3,"open',
        "d.jsonl": good.replace("}", ', "language": "no such"}'),
        "e.jsonl": f"{good}\n{other}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "f.parquet").write_bytes(b"PAR1")
    (tmp_path / "g.jsonl.gz").write_bytes(gzip.compress(other.encode() * 50)[:-9])
    for name in ("sparse.txt", "sparse.jsonl", "sparse.md", "sparse.html"):
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(10_000_000_000)
    hashed: list[str] = []
    real = store_files.fingerprint
    monkeypatch.setattr(store_files, "fingerprint", lambda path: hashed.append(path.name) or real(path))
    corpus = read_documents([tmp_path])
    assert [p.passage_id for p in corpus.passages] == ["1", "2"]
    assert hashed == ["d.jsonl", "e.jsonl"]
    named = {Path(one.where.partition(":")[0]).name for one in corpus.left_out}
    assert named == {path.name for path in tmp_path.iterdir()} - {"e.jsonl"}
