"""Data of the Choose page: the choice for a reader's requirements, systems with prices, languages, weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.battles.referee import Referee, referees
from mirage.errors import MirageError, NotEnoughData
from mirage.explorer.compare.data import measures as measures
from mirage.explorer.compare.data import ranking_by, systems, with_values
from mirage.explorer.kit.levels import labels_at
from mirage.io.sources.cards import cards_of
from mirage.people.levels import corrected_influences
from mirage.ranking.compare.measures import OF_FEATURE, RATING
from mirage.ranking.decide import ChoiceReport, DecideSettings, Requirements, choose_systems
from mirage.ranking.decide.reports import basis, language_records, option_records, regret_words, unit_of, weight_records
from mirage.ranking.records import JOINT
from mirage.text.languages import name_of, scope_name

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of a reader."""

    weights: tuple[tuple[str, float], ...]
    referee: Referee | None
    """None if ratings have no weight."""
    requirements: Requirements
    margin: float
    tokens: tuple[float | None, float | None]
    """Prompt and output tokens per answer, if the ledger has no calls."""


@lru_cache(maxsize=32)
def report(
    arena: Arena,
    weights: tuple[tuple[str, float], ...],
    referee: Referee | None,
    requirements: Requirements,
    margin: float,
    languages: tuple[str, ...],
    tokens: tuple[float | None, float | None],
) -> ChoiceReport:
    """Choose among the systems of an arena.

    Args:
        arena: the arena.
        weights: measures with their weights.
        referee: who decides the battles; None if ratings have no weight.
        requirements: requirements on systems.
        margin: equivalence margin.
        languages: codes to narrow to; empty for all.
        tokens: prompt tokens of an answer, and its own, where the ledger has no calls.

    Raises:
        MirageError: as `choose_systems` does.
    """
    shares = dict(weights)
    # Reuses the Leaderboard's cached ratings by language.
    ranking = None if referee is None or RATING not in shares else ranking_by(arena, referee, languages)
    settings = DecideSettings(
        weights=shares,
        judge=referee.name if referee else None,
        requirements=requirements,
        margin=margin,
        languages=languages or None,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
    )
    return choose_systems(arena, settings, ranking=ranking)


def correct_by_labels(arena: Arena, needs: Needs, languages: tuple[str, ...]) -> ChoiceReport | MirageError | None:
    """Choose by levels corrected by people's labels; return the reason if that is impossible.

    Args:
        arena: the arena.
        needs: what the reader requires.
        languages: codes to narrow to; empty for all.

    Returns:
        None if ratings have a weight, since labels on answers cannot correct them.
    """
    if any(name == RATING for name, _ in needs.weights):
        return None
    influences = {}
    for name, _ in needs.weights:
        labels = labels_at(arena, name, languages or None)
        if isinstance(labels, MirageError):
            return labels
        influences[name] = corrected_influences(labels)
        if not influences[name]:
            return NotEnoughData(f"no language has enough labels of two systems for {name}", do="label more answers")
    settings = DecideSettings(
        weights=dict(needs.weights),
        requirements=needs.requirements,
        margin=needs.margin,
        languages=languages or None,
        tokens_in=needs.tokens[0],
        tokens_out=needs.tokens[1],
    )
    try:
        return choose_systems(arena, settings, corrected=influences)
    except MirageError as error:
        return error


@lru_cache(maxsize=16)
def licences(arena: Arena) -> tuple[str, ...]:
    """Return the licences on the cards of an arena's systems."""
    named = {name: card.licence for name, card in cards_of(arena).items() if card.licence}
    if not named:
        return ()
    referee = next(map(Referee.from_name, referees(arena)), None)
    names = {
        name
        for measure in measures(arena)
        if not measure.startswith(OF_FEATURE)
        for name in systems(arena, measure, referee)
    }
    if "features" in arena.tables:
        names.update(system for system, _ in with_values(arena))
    return tuple(sorted({licence for name, licence in named.items() if name in names}))


def verdict(shown: ChoiceReport) -> str:
    """Return the choice as a headline."""
    row = shown.overall
    if row.choice is None:
        return "No system meets the requirements"
    where = "for all languages" if row.language == JOINT else f"for {name_of(row.language)}"
    return f"{row.choice} {where}"


def evidence(shown: ChoiceReport) -> str:
    """Return the evidence for the choice as sentences."""
    parts = basis(shown) or [shown.overall.reason or "no data"]
    words = regret_words(shown)
    return " ".join(_sentence(part) for part in (*parts, *([words] if words else [])))


def left_out(shown: ChoiceReport) -> tuple[str, ...]:
    """Return the excluded systems, each with the reason."""
    return tuple(f"{option.facts.system}: {option.refused}" for option in shown.options if option.refused)


def unit(shown: ChoiceReport) -> str:
    """Return the unit of the worth after a comma; empty without a unit."""
    words = unit_of(shown).strip()
    return f", {words}" if words else ", 0 worst to 1 best" if len(shown.weights) > 1 else ""


@lru_cache(maxsize=32)
def option_rows(shown: ChoiceReport) -> pa.Table:
    """Return one row per system: the fields of `SystemFacts` and `SystemOption`, and whether it is the choice for all
    languages.
    """
    import pyarrow as pa

    choice = shown.overall.choice
    records = [record | {"choice": record["system"] == choice} for record in option_records(shown)]
    return _table(records, pa, floats=("worth", "low", "high", "price", "seconds", "p_best", "p_front"))


@lru_cache(maxsize=32)
def language_rows(shown: ChoiceReport) -> pa.Table:
    """Return one row per language, `all` first: the fields of `LanguageChoice`, with the language's name in `where`."""
    import pyarrow as pa

    ordered = sorted(language_records(shown), key=lambda record: record["language"] != JOINT)
    records = [
        record
        | {"where": where(record["language"]), "contenders": ", ".join(record["contenders"])}
        | {"system": record["choice"]}
        for record in ordered
    ]
    numbers = ("p_right", "regret", "regret_low", "regret_high", "one_regret", "one_low", "one_high")
    return _table(records, pa, floats=numbers)


@lru_cache(maxsize=32)
def weight_rows(shown: ChoiceReport) -> tuple[dict[str, Any], ...]:
    """Return one row per measure, with its weight."""
    return tuple(weight_records(shown))


def where(language: str) -> str:
    """Return the display name of a row's language."""
    return scope_name(language)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _table(records: list[dict[str, Any]], pa: Any, *, floats: tuple[str, ...]) -> pa.Table:
    """Return records as a table; all-null numeric columns keep a numeric type."""
    columns = {}
    for name in records[0] if records else ():
        values = [record[name] for record in records]
        texts = all(value is None or isinstance(value, str) for value in values) and name not in floats
        columns[name] = pa.array(values, pa.float64() if name in floats else pa.string() if texts else None)
    return pa.table(columns)
