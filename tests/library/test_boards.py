"""Published boards: what a site holds, what it never holds, and that whatever is forged on it is found."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
import small_arena
from board_cases import HOSTILE, PERSON, SECRET, make_arena
from commands import CliRunner

from benchmarks import forgeries
from mirage import schema, store
from mirage.battles.referee import Referee
from mirage.cli import app
from mirage.errors import ArenaError, BadInput
from mirage.explorer.leaderboard import data as leaderboard
from mirage.explorer.site.build import SiteSettings
from mirage.explorer.site.publishing import publish, read_tables
from mirage.explorer.site.verifying import verify_arena, verify_site
from mirage.publish.board_sources import text_permission
from mirage.publish.chain import FIRST, HEADS, canonical, next_head, read_heads
from mirage.publish.signing import is_signed, new_private_key, public_key, sign_head
from mirage.store.boards import board_files

AT = "2026-11-26T12:00:00+00:00"


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    return make_arena(tmp_path_factory.mktemp("arena"))


@pytest.fixture(scope="module")
def board(arena: store.Arena, tmp_path_factory: pytest.TempPathFactory) -> forgeries.ForgedBoard:
    """The arena, published twice, with texts."""
    site = tmp_path_factory.mktemp("boards") / "site"
    return forgeries.ForgedBoard.of(*forgeries.publish_twice(arena, site))


def test_a_published_board_verifies(board: forgeries.ForgedBoard) -> None:
    report = verify_site(board.site, against=board.kept, public=public_key(board.private))
    assert report.faults == []
    assert [head.number for head in report.heads] == [1, 2]
    checked = " ".join(report.checked)
    assert all(word in checked for word in ("signatures", "chain", "values", "publication 2", "files"))
    assert any("verdicts of models" in line for line in report.unchecked)


def test_the_head_is_the_hash_of_the_one_before_and_the_manifest(board: forgeries.ForgedBoard) -> None:
    before = bytes(32)
    for head in read_heads(board.files[HEADS]):
        raw = board.files[head.manifest]
        before = hashlib.sha256(before + hashlib.sha256(raw).digest()).digest()
        assert head.head == before.hex()
        assert canonical(json.loads(raw)) == raw
        assert head.signature is not None
        assert is_signed(public_key(board.private), head.head, head.signature)


def test_the_numbers_are_those_of_the_app(arena: store.Arena, board: forgeries.ForgedBoard) -> None:
    rows = read_tables(board.site)["leaderboard"].rows
    for referee in ("relevance", "judge-x"):
        languages = tuple(leaderboard.size(arena, Referee.from_name(referee)).languages)
        shown = leaderboard.board(arena, Referee.from_name(referee), languages).everything.to_pylist()
        published = {(row["language"], row["system"]): row for row in rows if row["referee"] == referee}
        assert len(published) == len(shown)
        for row in shown:
            mine = published[row["language"], row["system"]]
            assert mine["rating"] == pytest.approx(row["rating"], abs=1e-8)
            assert (mine["rank"], mine["wins"], mine["battles"]) == (row["rank"], row["wins"], row["battles"])


def test_nothing_private_leaves_and_texts_are_escaped(board: forgeries.ForgedBoard) -> None:
    for name, content in board.files.items():
        for secret in (SECRET, "private thoughts", PERSON, "/home/somebody"):
            assert secret.encode() not in content, f"{secret} in {name}"
        assert b"<script>alert" not in content or name.endswith(".parquet"), name
    for table in ("answers", "judgments"):
        rows = store.open_arena(board.site / "sources").read(table).to_pylist()
        assert not [row for row in rows if row["call"] or row.get("thoughts")]
        assert {row.get("voter") for row in rows} <= {None, "voter 1"}
    assert board.private not in b"".join(board.files.values())


def test_pages_are_whole_without_a_script_and_load_nothing_else(board: forgeries.ForgedBoard) -> None:
    pages = {name: content.decode() for name, content in board.files.items() if name.endswith(".html")}
    assert {"index.html", "hallucination.html", "compare.html", "battle.html", "answers.html", "methods.html"} <= set(
        pages
    )
    for name, page in pages.items():
        assert "Content-Security-Policy" in page
        assert "default-src 'none'" in page
        assert not re.search(r'(src|href)="(https?:)?//', page), f"{name} reaches out"
        assert not re.search(r"\sstyle=|\son\w+=", page.replace(HOSTILE, "")), f"{name} has style or script inside"
    assert "gpt-4" in pages["index.html"]
    assert "+0." in pages["index.html"]
    assert 'dir="auto"' in pages["answers/en-0001.html"]
    assert 'lang="en"' in pages["answers/en-0001.html"]


def test_machine_readable_results_are_beside_the_pages(arena: store.Arena, tmp_path: Path) -> None:
    answers = arena.read("answers", columns=["language", "query_id", "system"]).to_pylist()
    features = schema.from_rows("features", [schema.Feature(*row.values(), "made_up", 3.0, None) for row in answers])
    with_features = store.copy(arena, tmp_path / "arena").path
    store.upsert(with_features, {"features": store.by_key("features", features)}, made_by="a test")
    settings = SiteSettings(organization="A lab", dataset="lab/board", features=True)
    publish(store.open_arena(with_features), tmp_path / "site", at=AT, settings=settings)
    records = sorted((tmp_path / "site" / "records").glob("*.json"))
    assert len(records) == len(small_arena.SYSTEMS)
    record = json.loads(records[0].read_text(encoding="utf-8"))
    assert record["source_metadata"]["source_organization_name"] == "A lab"
    assert {result["metric_config"]["metric_id"] for result in record["evaluation_results"]} == {
        "mirage.hallucination_rate",
        "mirage.error_rate",
        "mirage.bradley_terry_rating",
        "mirage.made_up",
    }
    assert list((tmp_path / "site" / "records" / "eval_results").glob("*.yaml"))
    assert (tmp_path / "site" / "data" / "leaderboard.csv").read_text(encoding="utf-8").startswith("referee,language")
    assert verify_site(tmp_path / "site").faults == []


@pytest.mark.parametrize("licence", ["", "CC BY-NC 4.0", "all rights reserved; MIT", "see the source"])
def test_texts_stay_where_no_licence_lets_them_go(tmp_path: Path, licence: str) -> None:
    arena = make_arena(tmp_path / "arena", licence=licence)
    assert not text_permission(arena).allowed
    assert text_permission(arena, True).allowed
    if licence:
        return
    publish(arena, tmp_path / "site", at=AT)
    for path in (tmp_path / "site").rglob("*"):
        assert not path.is_file() or b"alert(1)" not in path.read_bytes(), path
    assert not (tmp_path / "site" / "answers").exists()
    report = verify_site(tmp_path / "site")
    assert report.faults == []
    assert any("texts are not published" in line for line in report.unchecked)


@pytest.mark.parametrize("kind", forgeries.KINDS)
@pytest.mark.parametrize("strength", forgeries.STRENGTHS)
def test_a_forgery_is_found(board: forgeries.ForgedBoard, kind: str, strength: str) -> None:
    rng = np.random.default_rng([forgeries.KINDS.index(kind), forgeries.STRENGTHS.index(strength)])
    found, report = forgeries.check(board, kind, strength, rng)
    assert found, report.checked


def test_a_changed_value_is_named_with_both_values(board: forgeries.ForgedBoard) -> None:
    page = board.files["index.html"].decode()
    rating = re.search(r'<td class="n">(\+\d\.\d\d)</td>', page)
    assert rating is not None
    with board.forged(board.files | {"index.html": page.replace(rating[0], '<td class="n">+9.99</td>').encode()}):
        report = verify_site(board.site)
    faults = [fault for fault in report.faults if fault.column == "Rating"]
    assert faults, report.faults
    assert next((fault.printed, fault.recomputed) for fault in faults) == ("+9.99", rating[1])
    assert "gpt-4" in faults[0].row


def test_a_rewritten_past_is_seen_by_a_kept_head_alone(board: forgeries.ForgedBoard) -> None:
    files = forgeries.forge(board, "source", "resigned", np.random.default_rng(1))
    with board.forged(files):
        assert any(fault.file == HEADS for fault in verify_site(board.site, against=board.kept).faults)


def test_another_key_is_not_the_boards(arena: store.Arena, board: forgeries.ForgedBoard, tmp_path: Path) -> None:
    other = new_private_key()
    assert any(fault.column == "key" for fault in verify_site(board.site, public=public_key(other)).faults)
    site = tmp_path / "site"
    shutil.copytree(board.site, site)
    for key in (other, None):
        with pytest.raises(BadInput):
            publish(arena, site, at=AT, private=key)
    assert {name: (site / name).read_bytes() for name in board_files(site)} == board.files


def test_a_damaged_chain_and_a_strange_folder_are_not_published_into(
    arena: store.Arena, board: forgeries.ForgedBoard, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    shutil.copytree(board.site, site)
    (site / "chain" / "0001.json").write_bytes(b"{}")
    with pytest.raises(ArenaError):
        publish(arena, site, at=AT, private=board.private)
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(ArenaError):
        publish(arena, tmp_path / "strange", at=AT)
    assert (tmp_path / "strange" / "thesis.tex").read_text(encoding="utf-8") == "mine"


def test_files_of_the_host_stay_and_links_are_no_files(arena: store.Arena, tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(arena, site, at=AT)
    (site / ".git").mkdir()
    (site / ".git" / "config").write_text("mine", encoding="utf-8")
    (site / "CNAME").write_text("board.example.org", encoding="utf-8")
    publish(arena, site, at=AT)
    assert (site / ".git" / "config").exists()
    assert (site / "CNAME").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site"]
    (site / "link.html").symlink_to("/etc/hostname")
    assert {fault.file for fault in verify_site(site).faults} == {"link.html"}


def test_the_feed_tells_what_moved(arena: store.Arena, tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(arena, site, at=AT)
    rows = small_arena.outcomes(n=6, seed=5)
    changed = store.write(tmp_path / "later", {"outcomes": schema.from_rows("outcomes", rows)}, made_by="a test")
    done = publish(changed, site, at=AT)
    assert any("relevance:" in line for line in done.changes)
    assert any("judge-x:" in line and "is gone" in line for line in done.changes)
    assert (site / "feed.xml").read_text(encoding="utf-8").count("<entry>") == 2


def test_an_arena_is_verified_as_well(arena: store.Arena) -> None:
    report = verify_arena(arena)
    assert any("outcomes" in line for line in report.checked)


def test_heads_chain_from_zero() -> None:
    first = next_head(FIRST, {"a": 1})
    assert next_head(first, {"a": 1}) != first
    key = new_private_key()
    assert not is_signed(public_key(key), first, sign_head(key, next_head(first, {})))


def test_the_commands(arena: store.Arena, tmp_path: Path) -> None:
    runner = CliRunner()
    site, key = tmp_path / "site", tmp_path / "keys" / "board.pem"
    done = runner.invoke(app, ["publish", str(arena.path), "--into", str(site), "--key", str(key), "--new-key"])
    assert done.exit_code == 0, done.output
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    head = read_heads((site / HEADS).read_bytes())[-1].head
    assert head in done.output
    assert key.read_text(encoding="utf-8") not in done.output
    checked = runner.invoke(app, ["verify", str(site), "--against", head])
    assert checked.exit_code == 0, checked.output
    (site / "index.html").write_text("mine", encoding="utf-8")
    tampered = runner.invoke(app, ["verify", str(site), "--format", "csv"])
    assert tampered.exit_code == 1
    assert "index.html" in tampered.output
    for arguments in (["--new-key"], ["--key", str(site / "k.pem")], ["--key", str(tmp_path / "none.pem")]):
        assert runner.invoke(app, ["publish", str(arena.path), "--into", str(site), *arguments]).exit_code == 2
    assert runner.invoke(app, ["verify", str(site), "--against", "1234"]).exit_code == 2
    assert runner.invoke(app, ["verify", str(tmp_path / "nowhere")]).exit_code == 2


def test_an_arena_without_outcomes_or_judgments_is_not_published(tmp_path: Path) -> None:
    queries = schema.from_rows("queries", [schema.Query("en", "1", None, "Why?", None)])
    arena = store.write(tmp_path / "arena", {"queries": queries}, made_by="a test")
    with pytest.raises(ArenaError):
        publish(arena, tmp_path / "site", at=AT)
    assert not (tmp_path / "site").exists()
