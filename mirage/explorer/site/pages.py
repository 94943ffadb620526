"""Pages of the static site: every number from the published tables, with its n, interval and source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from mirage.explorer.site.markup import (
    NO_VALUE,
    Systems,
    bar,
    cell,
    downloads,
    fields_table,
    interval,
    is_joint,
    language,
    number,
    page,
    scale,
    table,
    text,
)
from mirage.explorer.site.tables import FIELDS, PublishedTable
from mirage.ranking.records import JOINT
from mirage.text.segmentation import count_text

_RATES = {
    "hallucination": "Answers without evidence: the share of decided answers to non-relevant queries (no passage "
    "answers them) that answer anyway.",
    "error": "Abstentions despite evidence: the share of decided answers to relevant queries (a passage answers them) "
    "that abstain.",
}


@dataclass(frozen=True, slots=True)
class Publication:
    """Details of one publication, for its pages."""

    title: str
    number: int
    """Number of the publication, from 1."""
    at: str
    """Time of the publication in UTC."""
    label: str
    """Kind of data."""
    about: str
    licence: str
    version: str
    """Version of the arena."""
    program: str
    """Version of mirage."""
    texts: str
    """Why texts are published or not."""
    signed: bool

    def footer(self, root: str = "") -> str:
        """Return the footer of every page as HTML."""
        signed = "signed" if self.signed else "not signed"
        return (
            f"Publication {self.number} of {escape(self.at[:10])}, {signed}; {text(self.label)}; arena version "
            f"<code>{escape(self.version)}</code>; licence {text(self.licence or 'not stated')}. "
            f"Every file and number can be checked: <code>mirage verify FOLDER</code>. "
            f'<a href="{root}chain/heads.json">Heads</a>, <a href="{root}feed.xml">changes</a>, '
            f'<a href="{root}methods.html">methods</a>. '
            f"Made with mirage {escape(self.program)}."
        )


@dataclass(frozen=True, slots=True)
class SiteBoard:
    """Input of a site's pages."""

    publication: Publication
    tables: Mapping[str, PublishedTable]
    systems: Systems
    answer_pages: Sequence[tuple[str, str, str]] = ()
    """Language, path and title of each page of texts; empty if texts are not published."""

    def rows(self, name: str) -> tuple[dict[str, Any], ...]:
        """Return the rows of a published table."""
        return self.tables[name].rows

    def referees(self, name: str) -> list[str]:
        """Return the referees of a table, in order."""
        return list(dict.fromkeys(row["referee"] for row in self.rows(name)))

    def write(self, file: str, title: str, body: Iterator[str]) -> bytes:
        """Return a top-level page of the site."""
        about = self.publication
        return page(title, body, board=about.title, footer=about.footer(), current=file)


def write_pages(board: SiteBoard) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every page, except the pages of texts."""
    pages: dict[str, tuple[str, Callable[[SiteBoard], Iterator[str]]]] = {
        "index.html": ("Leaderboard", _leaderboard),
        "hallucination.html": ("Hallucination", _hallucination),
        "compare.html": ("Compare", _compare),
        "battle.html": ("Battle", _battle),
        "answers.html": ("Answers", _answers),
        "methods.html": ("Methods", _methods),
    }
    for file, (title, body) in pages.items():
        yield file, board.write(file, title, body(board))


def _leaderboard(board: SiteBoard) -> Iterator[str]:
    if board.publication.about:
        yield f"<p>{text(board.publication.about)}</p>"
    rows = board.rows("leaderboard")
    if not rows:
        yield "<p>This board has no decided battles; see Hallucination and Answers.</p>"
    for n, referee in enumerate(board.referees("leaderboard")):
        of = [row for row in rows if row["referee"] == referee]
        first = of[0]["language"]
        joint = [row for row in of if row["language"] == first]
        yield f'<h2 id="r{n}">By {text(_who(referee))}</h2>'
        yield f"<p>{_sentence(joint, of)}</p>"
        yield _ratings(board, joint, referee)
        others = [row for row in of if row["language"] != JOINT]
        if first == JOINT:
            yield "<h3>Rank by language</h3>"
            yield _ranks(board, joint, others, referee)
            yield f"<details><summary>All ratings by language ({len(others):,} rows)</summary>"
            names = ("system", "language", "rank", "rating", "low", "high", "tier", "queries", "battles", "answers")
            yield fields_table("leaderboard", others, names, board.systems, label=f"Ratings by language, by {referee}")
            yield "</details>"
        yield from _facts(board, referee)
    yield downloads("leaderboard")


def _sentence(joint: Sequence[Mapping[str, Any]], of: Sequence[Mapping[str, Any]]) -> str:
    best = joint[0]
    tier = [row for row in joint if row["tier"] == 1]
    codes = {row["language"] for row in of} - {JOINT}
    where = f"over {len(codes)} languages" if len(codes) > 1 else f"in {language(best['language'])}"
    last = (
        ", significantly ahead of all others"
        if len(tier) == 1 and len(joint) > 1 and joint[1]["tier"] is not None
        else ""
    )
    return (
        f"{text(best['system'])} ranks first of {count_text(len(joint), 'system')} {where} "
        f"({_signed(best['rating'])}, 95% CI {escape(interval(best['low'], best['high'], 'rating'))}, "
        f"n = {best['battles']:,} battles){last}."
    )


def _ratings(board: SiteBoard, rows: Sequence[Mapping[str, Any]], referee: str) -> str:
    fields = {field.name: field for field in FIELDS["leaderboard"][1]}
    ends = scale(rows, ("low", "rating", "high"))
    heads = [
        ("System", "", False),
        ("Rank", fields["rank"].meaning, True),
        ("Rank, 95%", "Ranks compatible with the tests of all pairs, at 95% for all systems jointly.", True),
        ("Rating", fields["rating"].meaning, True),
        ("95% interval", "Bootstrap over queries.", True),
        ("Drawn", "Rating with its interval; the dashed line is the mean of the systems.", False),
        ("Tier", fields["tier"].meaning, True),
        ("Wins", "", True),
        ("Ties", "", True),
        ("Losses", "", True),
        ("Battles", "Battles of the system (n). Links to its battles with each other system.", True),
        ("Undecided", fields["undecided"].meaning, True),
    ]
    place = board.referees("battles").index(referee) if referee in board.referees("battles") else 0
    lines = [
        [
            board.systems.mark(row["system"]),
            number(row["rank"], fields["rank"]),
            _ranks_open(row),
            number(row["rating"], fields["rating"]),
            escape(interval(row["low"], row["high"], "rating")),
            bar(row["rating"], row["low"], row["high"], ends),
            number(row["tier"], fields["tier"]),
            *(number(row[name], fields[name]) for name in ("wins", "ties", "losses")),
            (
                f'<a href="battle.html#b{place}-{board.systems.anchor(row["system"])}">'
                f"{number(row['battles'], fields['battles'])}</a>"
            ),
            number(row["undecided"], fields["undecided"]),
        ]
        for row in rows
    ]
    return table(heads, lines, label=f"Ratings by {referee}")


def _ranks(
    board: SiteBoard, joint: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], referee: str
) -> str:
    codes = list(dict.fromkeys(row["language"] for row in others))
    ranks = {(row["system"], row["language"]): row for row in others}
    sizes = {row["language"]: row["queries"] for row in others}
    heads = [("System", "", False)]
    heads += [(code, f"{language(code)}: {count_text(sizes[code] or 0, 'query')}", True) for code in codes]

    def rank(system: str, code: str) -> str:
        row = ranks.get((system, code))
        return NO_VALUE if row is None else f'<span title="{escape(_ranks_open(row))}">{row["rank"]}</span>'

    lines = [[board.systems.mark(row["system"]), *(rank(row["system"], code) for code in codes)] for row in joint]
    return table(heads, lines, label=f"Rank by language, by {referee}")


def _ranks_open(row: Mapping[str, Any]) -> str:
    low, high = row["rank_best"], row["rank_worst"]
    return NO_VALUE if low is None else str(low) if low == high else f"{low} to {high}"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _facts(board: SiteBoard, referee: str) -> Iterator[str]:
    rows = [row for row in board.rows("judges") if row["referee"] == referee]
    if rows:
        lines = "".join(f"<dt>{text(row['measure'])}</dt><dd>{text(row['value'])}</dd>" for row in rows)
        yield f"<details><summary>How this is computed</summary><dl>{lines}</dl></details>"


def _hallucination(board: SiteBoard) -> Iterator[str]:
    rows = board.rows("hallucination")
    if not rows:
        yield "<p>This board has no outcomes: its queries have no relevance labels.</p>"
        return
    names = ("system", "language", "value", "low", "high", "decided", "n", "rate_as_published", "undecided")
    for metric in dict.fromkeys(row["metric"] for row in rows):
        of = [row for row in rows if row["metric"] == metric]
        joint = [row for row in of if is_joint(row)] or of
        yield f"<h2>{escape(metric.capitalize())} rate</h2><p>{escape(_RATES.get(metric, ''))} Lower is better.</p>"
        yield _rates(board, sorted(joint, key=_by_rate), metric)
        others = [row for row in of if not is_joint(row)]
        if joint is not of:
            yield f"<details><summary>By language ({len(others):,} rows)</summary>"
            yield fields_table("hallucination", others, names, board.systems, label=f"{metric} rate by language")
            yield "</details>"
    yield downloads("hallucination")


def _by_rate(row: Mapping[str, Any]) -> tuple[bool, float, str]:
    return row["value"] is None, row["value"] or 0.0, row["system"]


def _rates(board: SiteBoard, rows: Sequence[Mapping[str, Any]], metric: str) -> str:
    fields = {field.name: field for field in FIELDS["hallucination"][1]}
    heads = [("System", "", False), ("Rate", fields["value"].meaning, True), ("95% interval", "Wilson.", True)]
    heads += [("Drawn", "The rate with its interval, from 0 to 100%.", False)]
    counts = ("decided", "answered", "abstained", "undecided", "rate_as_published", "printed")
    heads += [(fields[name].label, fields[name].meaning, True) for name in counts]
    heads += [("Answers", "Answers present (n). Links to their outcomes.", True)]
    lines = []
    for row in rows:
        none = f" <span class='note'>{escape(row['reason'])}</span>" if row["value"] is None and row["reason"] else ""
        lines.append(
            [
                board.systems.mark(row["system"]) + none,
                number(row["value"], fields["value"]),
                NO_VALUE if row["value"] is None else escape(interval(row["low"], row["high"], "rate")),
                bar(row["value"], row["low"], row["high"], (0.0, 1.0)),
                *(number(row[name], fields[name]) for name in counts),
                f'<a href="answers.html#{board.systems.anchor(row["system"])}">{number(row["n"], fields["n"])}</a>',
            ]
        )
    return table(heads, lines, label=f"{metric} rate over all languages")


def _compare(board: SiteBoard) -> Iterator[str]:
    rows = board.rows("comparisons")
    if not rows:
        yield "<p>No comparisons: this board has no decided battles.</p>"
        return
    yield "<p>Difference in rating of each pair of systems, tested over queries. The higher-ranked system comes "
    yield "first.</p>"
    columns = ("first", "second", "verdict", "difference", "low", "high", "p_holm", "n_queries")
    for referee in board.referees("comparisons"):
        of = [row for row in rows if row["referee"] == referee]
        joint = [row for row in of if is_joint(row)] or of
        yield f"<h2>By {text(_who(referee))}</h2>"
        yield _pairs(board, joint, of, columns, referee)
    yield downloads("comparisons")


def _pairs(
    board: SiteBoard,
    joint: Sequence[Mapping[str, Any]],
    of: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    referee: str,
) -> str:
    by_name = {field.name: field for field in FIELDS["comparisons"][1]}
    heads = [(by_name[name].label, by_name[name].meaning, name not in columns[:3]) for name in columns]
    heads += [("Differs in", "Languages with a significant difference (Holm-corrected).", False)]
    differs: dict[tuple[str, str], list[str]] = {}
    for row in of:
        if not is_joint(row) and row["verdict"] in ("better", "worse"):
            sign = "" if row["verdict"] == "better" else " (worse)"
            differs.setdefault((row["first"], row["second"]), []).append(f"{row['language']}{sign}")
    lines = [
        [
            *(cell(row[name], by_name[name], board.systems) for name in columns),
            escape(", ".join(differs.get((row["first"], row["second"]), [])) or NO_VALUE),
        ]
        for row in joint
    ]
    return table(heads, lines, label=f"Comparisons by {referee}")


def _battle(board: SiteBoard) -> Iterator[str]:
    if not board.rows("battles"):
        yield "<p>This board has no decided battles.</p>"
        return
    yield "<p>Battles of each system with every other, over all languages. A battle is one query that both "
    yield "answered; the win share excludes battles without a winner.</p>"
    names = ("other", "share", "low", "high", "wins", "ties", "losses", "unparsed", "n")
    for n, referee in enumerate(board.referees("battles")):
        yield f"<h2>By {text(_who(referee))}</h2>"
        of = [row for row in board.rows("battles") if row["referee"] == referee]
        for system in dict.fromkeys(row["system"] for row in of):
            rows = [row for row in of if row["system"] == system]
            total = sum(row["n"] for row in rows)
            yield (
                f'<details id="b{n}-{board.systems.anchor(system)}"><summary>{board.systems.mark(system)}: '
                f"{total:,} battles with {count_text(len(rows), 'system')}</summary>"
            )
            yield fields_table("battles", rows, names, board.systems, label=f"Battles of {system} by {referee}")
            yield "</details>"
    yield downloads("battles")


def _answers(board: SiteBoard) -> Iterator[str]:
    rows = board.rows("answers")
    if board.answer_pages:
        yield f"<p>Queries with all answers and verdicts ({text(board.publication.texts)}).</p>"
        yield '<div id="search" class="filter" hidden><label>Search the queries <input type="search"></label>'
        yield '<span class="note" role="status"></span></div><ul id="found"></ul>'
        by_language: dict[str, list[tuple[str, str]]] = {}
        for code, path, title in board.answer_pages:
            by_language.setdefault(code, []).append((path, title))
        for code, pages in by_language.items():
            links = "".join(f'<li><a href="{path}">{escape(title)}</a></li>' for path, title in pages)
            yield f'<h2>{language(code)}</h2><ul class="pages">{links}</ul>'
        yield '<script src="answers/queries.js" defer></script>'
    else:
        yield f"<p>Texts are not part of this board: {text(board.publication.texts)}. Outcomes of the answers:</p>"
    if rows:
        yield "<h2>Outcomes of the answers</h2>"
        for system in dict.fromkeys(row["system"] for row in sorted(rows, key=lambda row: row["system"])):
            of = [row for row in rows if row["system"] == system]
            n = sum(row["n"] for row in of)
            yield (
                f'<details id="{board.systems.anchor(system)}"><summary>{board.systems.mark(system)}: '
                f"{n:,} answers</summary>"
            )
            names = ("language", "outcome", "n", "share", "answers")
            yield fields_table("answers", of, names, board.systems, label=f"Answers of {system}")
            yield "</details>"
        yield downloads("answers")


def _methods(board: SiteBoard) -> Iterator[str]:
    about = board.publication
    yield "<h2>About this board</h2>"
    facts = {
        "Numbers": about.label,
        "About": about.about or NO_VALUE,
        "Licence": about.licence or "not stated",
        "Texts": about.texts,
        "Arena version": about.version,
        "Published": f"publication {about.number}, {about.at}",
    }
    yield f"<dl>{''.join(f'<dt>{name}</dt><dd>{text(value)}</dd>' for name, value in facts.items())}</dl>"
    yield "<h2>How to verify it</h2>"
    yield (
        "<p>Every number is computed from <code>sources/</code>, a folder of Parquet tables in this site. "
        "<code>mirage verify FOLDER</code> recomputes them, lists every difference, and checks the hashes of all "
        'files, the <a href="chain/heads.json">chain of heads</a> and their signatures '
        '(<a href="chain/board.pub">public key</a>). Save a head outside this site to detect rewritten history: '
        "<code>mirage verify FOLDER --against HEAD</code>.</p>"
        if about.signed
        else "<p>Every number is computed from <code>sources/</code>, a folder of Parquet tables in this site. "
        "<code>mirage verify FOLDER</code> recomputes them, lists every difference, and checks the hashes of all "
        'files and the <a href="chain/heads.json">chain of heads</a>. This board is not signed.</p>'
    )
    if rows := board.rows("judges"):
        yield "<h2>Ratings</h2>"
        yield fields_table("judges", rows, _columns("judges"), board.systems, label="How ratings are computed")
        yield downloads("judges")
    yield "<h2>Sources</h2>"
    rows = board.rows("sources")
    yield fields_table("sources", rows, _columns("sources"), board.systems, label="Tables and their sources")
    yield downloads("sources")
    yield "<h2>Files</h2><ul>"
    for name in FIELDS:
        yield f'<li>{name}: <a href="data/{name}.csv">CSV</a>, <a href="data/{name}.parquet">Parquet</a></li>'
    yield '<li>Results of each system for other leaderboards: <a href="records/index.html">records</a></li></ul>'


def _columns(name: str) -> list[str]:
    return [field.name for field in FIELDS[name][1]]


def _who(referee: str) -> str:
    return {"relevance": "relevance labels", "nuggets": "nugget scores", "people": "people"}.get(referee, referee)
