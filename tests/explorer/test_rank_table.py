"""The table of ranks by language: every rank in its place, shaded, with what it rests on and a way to its answers."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

from mirage.explorer.kit.heat_tables import rank_table, win_table
from mirage.publish.charts.palette import Mode
from mirage.views.win_matrix import Cell, Matrix

SYSTEMS = ["b", "a", '<i>"x" & y</i>']


def row(system: str, language: str, rank: int) -> dict[str, object]:
    numbers = {"rank_low": 1, "rank_high": 3, "rating": 0.25, "low": None, "high": 0.5, "battles": 1234}
    return {"system": system, "language": language, "rank": rank, **numbers}


CELLS = [row("b", "en", 1), row("b", "fi", 2), row("a", "en", 2), row("a", "fi", 1), row(SYSTEMS[2], "en", 3)]


def drawn() -> str:
    return rank_table([*CELLS, row("b", "all", 1)], SYSTEMS, arena="own & other")


def test_every_rank_is_in_its_place_and_a_missing_one_is_a_dash() -> None:
    lines = re.findall(r"<tr>(.*?)</tr>", drawn())[1:]
    ranks = [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", line)] for line in lines]
    assert ranks == [["1", "2"], ["2", "1"], ["3", "–"]]
    assert drawn().count('<th scope="row">') == drawn().count("leaderboard?") == len(SYSTEMS)
    table = rank_table(CELLS, SYSTEMS, arena="own", unlinked={"a"})
    assert table.count("leaderboard?") == len(SYSTEMS) - 1, "what has no rank over all languages has no page"


def test_hovering_tells_interval_and_n() -> None:
    titles = [unescape(title) for title in re.findall(r'title="(.*?)"', drawn())]
    assert len(titles) == len(CELLS)
    for title, cell in zip(titles, CELLS, strict=True):
        assert str(cell["system"]) in title
        assert "1 to 3" in title
        assert "no lower bound" in title
        assert "1,234" in title


def test_ranks_in_print_have_no_links_and_no_interval() -> None:
    cells = [{"language": "en", "system": "b", "judge": None}, {"language": "fi", "system": "b", "judge": 1}]
    printed = rank_table(cells, ["b"], arena="", value="judge")
    assert "<a" not in printed
    assert "rank 1 by the judge" in printed
    assert ">–<" in printed


def test_wins_are_in_the_order_of_the_systems_and_link_to_their_battles(mode: Mode) -> None:
    matrix = Matrix(("a", "b"), {("b", "a"): Cell("b", "a", 3, 1, 1, 0), ("a", "b"): Cell("a", "b", 0, 5, 0, 0)})
    table = win_table(matrix, tuple(SYSTEMS), mode, arena="own", judge="j")
    lines = re.findall(r"<tr>(.*?)</tr>", table)[1:]
    shares = [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", line)] for line in lines]
    assert shares == [["–", "75", "–"], ["–", "–", "–"], ["–", "–", "–"]]
    (link,) = [urlsplit(unescape(link)) for link in re.findall(r'<td[^>]*><a href="(.*?)"', table)]
    assert (link.path, parse_qs(link.query)["a"], parse_qs(link.query)["b"]) == ("battle", ["b"], ["a"])
    assert "n = 5 queries" in table
    assert "<i>" not in table
