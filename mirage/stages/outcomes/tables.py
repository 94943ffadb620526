"""The `outcomes` table, and a comparison of the two parsers."""

from dataclasses import fields
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput
from mirage.schema import Outcome, Parser
from mirage.stages.outcomes.free import parse_free
from mirage.stages.outcomes.parsed import Parsed, Readings
from mirage.stages.outcomes.published import parse_published
from mirage.stages.outcomes.strict import parse_strict, parse_without_text
from mirage.stats.rows import read_rows
from mirage.store.arena import Arena
from mirage.text import languages
from mirage.text.answers import NOMIRACL_TEMPLATES
from mirage.text.thoughts import part_thoughts

PARSERS: tuple[Parser, ...] = get_args(Parser)
RIGHT: dict[str, Outcome] = {"relevant": "answered", "non_relevant": "abstained"}
"""Correct outcome by subset."""
_KEY = ["language", "query_id", "system"]


def parse_outcome(answer: str, *, language: str, template: str | None = "vanilla", query: str = "") -> Parsed:
    """Read the outcome of one answer by the strict parser (the corrected rules).

    Args:
        answer: the raw text.
        language: code of the query's language.
        template: name of the prompt template, which determines the rules: NoMIRACL's for one of `NOMIRACL_TEMPLATES`,
            those of free answers for any other (None: unknown).
        query: the query, which helps to read a free answer; empty if unknown.

    Raises:
        UnknownName: if there is no such language.
    """
    code = languages.language(language).code
    if template in NOMIRACL_TEMPLATES:
        return parse_strict(answer, code)
    # Blank instead of cutting, so that positions stay the same.
    answer = part_thoughts(answer).masked
    return parse_without_text(answer) or parse_free(answer, code, query=query)


def outcomes(
    queries: pa.Table,
    answers: pa.Table,
    *,
    decided: Readings | None = None,
) -> pa.Table:
    """Build the `outcomes` table: every answer, by both parsers.

    Args:
        queries: the `queries` table, including every answered query, with its subset.
        answers: the `answers` table, whose column `template` determines the rules.
        decided: readings that replace those of the rules for free answers, by language, text and query.

    Raises:
        BadInput: naming the first query without a subset.
    """
    parts = [schema.from_columns("outcomes", {})]
    for code in sorted(answers["language"].unique().to_pylist()):
        in_language = (table.filter(pc.equal(table["language"], code)) for table in (queries, answers))
        parts.append(_of_language(code, *in_language, decided=decided or {}))
    return pa.concat_tables(parts)


def _of_language(
    language: str,
    queries: pa.Table,
    answers: pa.Table,
    *,
    decided: Readings,
) -> pa.Table:
    """Return the outcomes of the answers in one language, sorted by key.

    Repeated texts are parsed once.
    """
    answers = answers.combine_chunks()
    places = pc.index_in(answers["query_id"], queries["query_id"].combine_chunks())
    subset = queries["subset"].take(places)
    if subset.null_count:
        row = answers.filter(pc.is_null(subset)).slice(0, 1).to_pylist()[0]
        raise BadInput(
            "an answered query has no subset, so its outcome cannot be scored",
            where=f"language={language!r}, query_id={row['query_id']!r}",
            do="add it to the queries table with subset relevant or non_relevant",
        )
    # Only free answers are read with their query.
    formulaic = pc.is_in(answers["template"], pa.array(sorted(NOMIRACL_TEMPLATES)))
    query = pc.if_else(formulaic, "", pc.fill_null(queries["text"].take(places), ""))
    answers = answers.append_column("query", query)
    states: dict[tuple[Any, ...], int] = {}
    rows = read_rows(answers, "status", "template", "text", "query")
    place = pa.array([states.setdefault(row, len(states)) for row in rows])
    right = pc.if_else(pc.equal(subset, "relevant"), RIGHT["relevant"], RIGHT["non_relevant"])
    keys = {name: answers[name] for name in _KEY} | {"subset": subset}
    parts = []
    for parser in PARSERS:
        parsed = [_parse_answer(parser, decided, language, *state) for state in states]
        found = ((field.name, [getattr(entry, field.name) for entry in parsed]) for field in fields(Parsed))
        columns = {name: pa.array(values).take(place) for name, values in found}
        scored = pc.is_in(columns["outcome"], pa.array(sorted(RIGHT.values())))
        correct = pc.if_else(scored, pc.equal(columns["outcome"], right), pa.scalar(None, pa.bool_()))
        data = {**keys, "parser": pa.repeat(parser, len(answers)), **columns, "correct": correct}
        parts.append(schema.from_columns("outcomes", data))
    return schema.sort("outcomes", pa.concat_tables(parts))


def _parse_answer(
    parser: Parser, decided: Readings, language: str, status: str, template: str | None, text: str | None, query: str
) -> Parsed:
    """Parse a text, given the recorded status of its call."""
    if status == "missing":
        return Parsed("missing", "missing")
    if parser == "published":
        # The published parser has no outcome for a failed call.
        return parse_published(text or "")
    if status == "api_error":
        parsed = parse_outcome(text or "", language=language, template=template)
        return parsed if parsed.outcome == "api_error" else Parsed("api_error", "api_error")
    if status == "refused" and text is None:
        return Parsed("unparsed", "refused")
    free = None if template in NOMIRACL_TEMPLATES else decided.get((language, text or "", query))
    return free or parse_outcome(text or "", language=language, template=template, query=query)


def sample_outcomes(arena: Arena) -> pa.Table | None:
    """Return the outcomes of the further answers in table `samples`; None if the arena has none with a label.

    Returns:
        The columns of table `outcomes`, one row for each sample and parser: the key repeats.
    """
    samples = arena.read_optional("samples")
    if samples is None or "queries" not in arena.tables:
        return None
    queries = arena.read("queries")
    queries = queries.filter(pc.is_valid(queries["subset"]))
    keys = ["language", "query_id"]
    samples = samples.join(queries.select(keys), keys, join_type="left semi")
    # One sample at a time, since the outcomes of several would share their keys.
    parts = [
        outcomes(queries, samples.filter(pc.equal(samples["sample"], number)))
        for number in sorted(samples["sample"].unique().to_pylist())
    ]
    return pa.concat_tables(parts) if parts else None
