"""Comparison reports for CI: JUnit XML, and a summary in GitHub Markdown."""

from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from mirage.ranking.compare.records import Comparison, MovedQuery
from mirage.ranking.records import JOINT
from mirage.text.printing import markdown_frame, markdown_text, single_line
from mirage.text.segmentation import count_text
from mirage.views.comparison import ComparisonView, needed_text

_HEAD = ("Language", "Verdict", "Difference", "95% interval")
_DIGITS = 3
"""Decimals of a difference in text."""


def to_junit(view: ComparisonView, *, require: bool = False) -> str:
    """Return JUnit XML: one suite with one test per row.

    `worse` is a failure, and so is an inconclusive overall row if a decision is required; other inconclusive rows are
    skipped. It fails exactly if `exit_code` is not 0.
    """
    cases = []
    for row in view.rows:
        case = ElementTree.Element("testcase", classname="mirage.compare", name=_as_xml(_subject(view, row)), time="0")
        message = single_line(f"{row.verdict}: {view.row_sentence(row)}")
        if row.verdict == "worse" or (require and row is view.overall and row.verdict == "inconclusive"):
            ElementTree.SubElement(case, "failure", message=_as_xml(message), type=row.verdict)
        elif row.verdict == "inconclusive":
            ElementTree.SubElement(case, "skipped", message=_as_xml(message))
        else:
            ElementTree.SubElement(case, "system-out").text = _as_xml(message)
        cases.append(case)
    counts = {kind: str(sum(case.find(kind) is not None for case in cases)) for kind in ("failure", "skipped")}
    sums = {"tests": str(len(cases)), "failures": counts["failure"], "errors": "0", "skipped": counts["skipped"]}
    suites = ElementTree.Element("testsuites", sums)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "mirage compare", **sums})
    suite.extend(cases)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def to_markdown(view: ComparisonView, *, require: bool = False) -> str:
    """Return a summary in GitHub Markdown: the verdict as a sentence, a table of the rows, the queries that changed
    most.
    """
    passed = view.exit_code(require=require) == 0
    title = f"{_subject(view, view.overall)}: {view.overall.verdict}"
    lines = [f"### {'✅' if passed else '❌'} {markdown_text(title)}", ""]
    lines += [markdown_text(" ".join([view.conclusion, view.evidence])), ""]
    heads = (*_HEAD, view.p_head, "Queries", "Detectable", "Queries needed")
    lines.append(markdown_frame(heads, [_cells(row) for row in view.rows]))
    margin = f"; differences of at most {view.margin:g} count as none" if view.margin else ""
    lines.append(markdown_text(f"Measure: {view.title}{margin}."))
    if view.moved:
        head = ("Language", "Query", markdown_text(view.first), markdown_text(view.second), "Difference")
        lines += ["", f"<details><summary>{count_text(len(view.moved), 'query')} that moved most</summary>", ""]
        lines += [markdown_frame(head, [_moved_cells(row) for row in view.moved]), "</details>"]
    return "\n".join(lines) + "\n"


def records(view: ComparisonView) -> list[dict[str, Any]]:
    """Return the rows as records, each with the systems, the measure, the margin and its language's most changed
    queries (in the row `all`, those of all languages).
    """
    about = {
        "first": view.first,
        "second": view.second,
        "measure": view.measure,
        "margin": view.margin,
        "query_unit": view.query_unit,
    }
    return [
        about
        | asdict(row)
        | {"moved": [asdict(query) for query in view.moved if row.language in (JOINT, query.language)]}
        for row in view.rows
    ]


def _subject(view: ComparisonView, row: Comparison) -> str:
    """Return the title of a row."""
    where = "all languages" if row.language == JOINT else row.language
    return f"{view.first} against {view.second}, {view.measure}, {where}"


def _cells(row: Comparison) -> tuple[str, ...]:
    p = "" if row.p is None else f"{row.p:.3g}"
    detectable = "" if row.detectable is None else f"{row.detectable:.{_DIGITS}f}"
    needed = needed_text(row) or markdown_text(row.reason or "")
    return (
        row.language,
        row.verdict,
        _signed(row.difference),
        _interval(row),
        p,
        f"{row.n_queries:,}",
        detectable,
        needed,
    )


def _moved_cells(row: MovedQuery) -> tuple[str, ...]:
    values = (f"{value:.{_DIGITS}g}" for value in (row.first, row.second))
    return row.language, markdown_text(row.query_id), *values, _signed(row.difference)


def _interval(row: Comparison) -> str:
    if row.difference is None:
        return ""
    low = "-∞" if row.low is None else _signed(row.low)
    return f"{low} to {'+∞' if row.high is None else _signed(row.high)}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.{_DIGITS}f}"


def _as_xml(text: str) -> str:
    """Remove characters that XML 1.0 does not allow."""
    return "".join(c for c in single_line(text) if c not in "\ufffe\uffff")
