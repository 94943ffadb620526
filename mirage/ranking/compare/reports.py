"""Comparison reports for CI: JUnit XML, and a summary in GitHub Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from mirage.ranking.compare.measures import RATING
from mirage.ranking.compare.records import Comparison, ComparisonReport, MovedQuery
from mirage.ranking.records import JOINT
from mirage.stats.units import name_unit
from mirage.text.printing import markdown_text, single_line
from mirage.text.segmentation import count_text

_HEAD = ("Language", "Verdict", "Difference", "95% interval", "p (Holm)", "Queries", "Detectable", "More queries")
_DIGITS = 3
"""Decimals of a difference in text."""


def to_junit(report: ComparisonReport, *, require: bool = False) -> str:
    """Return JUnit XML: one suite with one test per row.

    `worse` is a failure, and so is an inconclusive overall row if a decision is required; other inconclusive rows are
    skipped. It fails exactly if `exit_code` is not 0.
    """
    cases = []
    for row in report.rows:
        case = ElementTree.Element("testcase", classname="mirage.compare", name=_plain(_subject(report, row)), time="0")
        message = single_line(_sentence(report, row))
        if row.verdict == "worse" or (require and row is report.overall and row.verdict == "inconclusive"):
            ElementTree.SubElement(case, "failure", message=_plain(message), type=row.verdict)
        elif row.verdict == "inconclusive":
            ElementTree.SubElement(case, "skipped", message=_plain(message))
        else:
            ElementTree.SubElement(case, "system-out").text = _plain(message)
        cases.append(case)
    counts = {kind: str(sum(case.find(kind) is not None for case in cases)) for kind in ("failure", "skipped")}
    sums = {"tests": str(len(cases)), "failures": counts["failure"], "errors": "0", "skipped": counts["skipped"]}
    suites = ElementTree.Element("testsuites", sums)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "mirage compare", **sums})
    suite.extend(cases)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def to_markdown(report: ComparisonReport, *, require: bool = False) -> str:
    """Return a summary in GitHub Markdown: the verdict as a sentence, a table of the rows, the queries that changed
    most.
    """
    passed = report.exit_code(require=require) == 0
    title = f"{_subject(report, report.overall)}: {report.overall.verdict}"
    lines = [f"### {'✅' if passed else '❌'} {markdown_text(title)}", ""]
    lines += [markdown_text(". ".join([_sentence(report, report.overall), *_worse_elsewhere(report), ""]).strip()), ""]
    lines += _table(_HEAD, [_cells(row) for row in report.rows])
    margin = f"; differences of at most {report.margin:g} count as none" if report.margin else ""
    lines += ["", markdown_text(f"Measure: {report.title}{margin}.")]
    if report.moved:
        head = ("Language", "Query", markdown_text(report.first), markdown_text(report.second), "Difference")
        lines += ["", f"<details><summary>{count_text(len(report.moved), 'query')} that moved most</summary>", ""]
        lines += [*_table(head, [_moved_cells(row) for row in report.moved]), "", "</details>"]
    return "\n".join(lines) + "\n"


def records(report: ComparisonReport) -> list[dict[str, Any]]:
    """Return the rows as records, each with the systems, the measure, the margin and its language's most changed
    queries (in the row `all`, those of all languages).
    """
    about = {
        "first": report.first,
        "second": report.second,
        "measure": report.measure,
        "margin": report.margin,
        "query_unit": report.query_unit,
    }
    return [
        about
        | asdict(row)
        | {"moved": [asdict(query) for query in report.moved if row.language in (JOINT, query.language)]}
        for row in report.rows
    ]


def notes(report: ComparisonReport) -> Iterator[str]:
    """Yield the remarks a reader needs besides the table, one per line."""
    unit = name_unit(report.query_unit)
    yield f"{_sentence(report, report.overall)}"
    yield f"difference: {report.first} minus {report.second}, {report.title}; 95% intervals with the {unit} as the unit"
    if report.measure == RATING:
        yield "intervals are of this pair alone, verdicts after Holm's correction over all pairs of the ranking"
    if report.overall.language != JOINT:
        return
    yield "the verdict of a language is after Holm's correction over the languages"
    yield from _worse_elsewhere(report)


def _worse_elsewhere(report: ComparisonReport) -> list[str]:
    """List the languages other than the overall row that make a gate fail."""
    codes = [code for code in report.worse if code != report.overall.language]
    return [f"worse in {', '.join(codes)}"] if codes else []


def _subject(report: ComparisonReport, row: Comparison) -> str:
    """Return the title of a row."""
    where = "all languages" if row.language == JOINT else row.language
    return f"{report.first} against {report.second}, {report.measure}, {where}"


def _sentence(report: ComparisonReport, row: Comparison) -> str:
    """Describe a row in one sentence."""
    unit = f" {report.unit}" if report.unit else ""
    text = f"{row.verdict}: {_signed(row.difference)}{unit} ({_interval(row)})"
    n = count_text(row.n_queries, "query")
    text += f" on at least {n} each" if report.measure == RATING else f" on {n}"
    if row.difference is None:
        return f"{row.verdict}: {row.reason}"
    if row.verdict == "inconclusive" and row.detectable is not None:
        text += f"; minimum detectable difference {row.detectable:.{_DIGITS}f} (80% power)"
    if row.verdict == "inconclusive" and row.more is not None:
        text += f"; {_more(row)} more queries would decide"
    elif row.verdict == "inconclusive" and row.more_low is not None:
        text += f"; deciding takes {_more(row)} more queries"
    return f"{text}; {row.reason}" if row.reason else text


def _cells(row: Comparison) -> tuple[str, ...]:
    p = "" if row.p_holm is None else f"{row.p_holm:.3g}"
    detectable = "" if row.detectable is None else f"{row.detectable:.{_DIGITS}f}"
    has_number = row.more is not None or row.more_low is not None or row.reason is None
    more = _more(row) if has_number else markdown_text(row.reason or "")
    return row.language, row.verdict, _signed(row.difference), _interval(row), p, f"{row.n_queries:,}", detectable, more


def _moved_cells(row: MovedQuery) -> tuple[str, ...]:
    values = (f"{value:.{_DIGITS}g}" for value in (row.first, row.second))
    return row.language, markdown_text(row.query_id), *values, _signed(row.difference)


def _more(row: Comparison) -> str:
    if row.more is None:
        return "" if row.more_low is None else f"at least {row.more_low:,}"
    if row.more == 0:
        return "0"
    high = "unbounded" if row.more_high is None else f"{row.more_high:,}"
    return f"{row.more:,} ({row.more_low:,} to {high})"


def _interval(row: Comparison) -> str:
    if row.difference is None:
        return ""
    low = "-∞" if row.low is None else _signed(row.low)
    return f"{low} to {'+∞' if row.high is None else _signed(row.high)}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.{_DIGITS}f}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return a Markdown table of cells that are already Markdown."""
    return [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rows)]


def _plain(text: str) -> str:
    """Remove characters that XML 1.0 does not allow."""
    return "".join(c for c in single_line(text) if c not in "\ufffe\uffff")
