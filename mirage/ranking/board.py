"""The board: the ranking of systems by a judge, the battles that count, and the remarks to show with the table.

    board = rank_arena(arena, judge, settings)
    leaderboard(board.ranking, reference="gpt-4"), board.method, board.remarks

The page, `mirage rank`, the API, the HTML report, the exports and `evaluate` all render it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from mirage.battles import verdict_rows
from mirage.battles.blocks import count_blocks
from mirage.battles.counts import ABSENT, QUERIES, SUBSETS, Battles, pool_battles, unranked_notes
from mirage.battles.failures import count_failures, failure_lines, find_answering, missing_lines
from mirage.battles.judge import POOLED
from mirage.battles.verdict_rows import Verdicts, VerdictsByJudge, judges_of, only_judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.blocks import rate_blocks
from mirage.ranking.bootstrap import RankingReport, rank_battles, rate
from mirage.ranking.control import COVARIATES, Covariates, StyleControl, control_style, covariates
from mirage.ranking.graph import NO_BOUND
from mirage.ranking.judges import Judge, PanelJudge, VerdictJudge, battles_of
from mirage.ranking.pair_tests import BoardTests, rank_ranges
from mirage.ranking.people import people_lines
from mirage.ranking.records import JOINT
from mirage.ranking.scale import Scale, on_scale, win_rate
from mirage.ranking.settings import RankSettings
from mirage.schema import Count, Penalty, Rating
from mirage.stats.encoding import place_names
from mirage.stats.units import shared_ids
from mirage.text.languages import UNDETERMINED, in_language, known_code, name_of
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import count_text, join_first

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena

DENSE = 60_000_000
"""Number of cells (query x system x system, about 30 bytes each) above which only the pairs that met are counted."""
DIFFERENCES = ("difference", "difference_low", "difference_high")
"""Columns added with a reference system."""
NAMED = 3
"""Number of systems tied for best that a sentence names; more are counted."""
FEW_LANGUAGES = 4
"""Number of languages that a sentence names; more are counted."""
_NO_BATTLE = "in no battle"
"""Reason why a judge of other pairs or queries does not rank a system with answers."""


@dataclass(frozen=True, slots=True)
class Ranked(Rating):
    """A row of a leaderboard: a rating with its n."""

    n: Count
    """Number of queries with battles of the system, the n of its interval; a query shared by languages counts once."""
    failed: Count
    """Number of its failed answers: empty, an error, or missing although the system was asked."""


@dataclass(frozen=True, eq=False)
class Board:
    """A ranking with the battles that it counts and excludes."""

    ranking: RankingReport
    """The ranking; its judge is the one judge, or `pooled`."""
    notes: Sequence[str] = ()
    """Remarks on the battles it was computed from."""
    failures: Sequence[str] = ()
    """Lines on answers that failed or have no row, and how they count."""
    n_verdicts: Mapping[str, int] = field(default_factory=dict)
    """Number of parsed verdicts that count, by judge, equally weighted; empty if all verdicts of one judge count."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Number of excluded verdicts, by reason."""
    voted: int = 0
    """Number of verdicts replaced by people's votes."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Languages with nothing left to rate, with the reason."""
    controlled: StyleControl | None = None
    """The style control, with its coefficients; None without one."""

    @property
    def method(self) -> str:
        """The method in one line."""
        return self.controlled.method if self.controlled else self.ranking.method

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """Lines on the verdicts that the ranking counts and excludes."""
        lines = []
        if len(self.n_verdicts) > 1:
            counts = ", ".join(f"{judge} {n:,}" for judge, n in self.n_verdicts.items())
            lines.append(
                f"verdicts of {len(self.n_verdicts)} judges pooled, with equal weight for each verdict: {counts}"
            )
        lines += [f"{count_text(n, 'verdict')} left out: {reason}" for reason, n in self.left_out.items()]
        if self.voted:
            lines.append(f"{count_text(self.voted, 'verdict')} replaced by people's votes")
        if self.lacking:
            lines.append("not ranked: " + ", ".join(f"{code} ({reason})" for code, reason in self.lacking.items()))
        return (*lines, *(() if self.controlled is None else _style_lines(self.controlled)))

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """Lines on failed answers, and on what the data cannot determine."""
        dense = self.ranking.battles or self.controlled
        blocks = () if dense else ("counted by pairs that met: too many queries for a table of all pairs",)
        return (*self.failures, *remarks(self.ranking), *blocks)

    @property
    def remarks(self) -> tuple[str, ...]:
        """All remarks to show with the table."""
        return (*self.notes, *self.counted, *self.caveats)


def rank_arena(
    arena: Arena, judge: Judge, settings: RankSettings = RankSettings(), *, votes: pa.Table | None = None
) -> Board:
    """Rank the systems of an arena by one judge, with the verdicts that the settings select.

    Args:
        arena: the arena.
        judge: the judge; with the skill and the parser that it was made with.
        settings: the settings.
        votes: people's verdicts that replace the judges' (`Verdicts.override`), with a column `language`.

    Raises:
        TableMissing: if the arena lacks the judge's table.
        UnknownName: if a language, judge, maker or covariate is not known here.
        NotEnoughData: if there is no battle to rate.
        BadInput: if a setting does not apply to the judge, or style control is combined with a model of ties.
    """
    if settings.languages:
        judge.check_languages(arena, settings.languages)
    return make_board(arena, judge, settings, votes=votes)


def make_board(
    arena: Arena, judge: Judge, settings: RankSettings = RankSettings(), *, votes: pa.Table | None = None
) -> Board:
    """Rank as `rank_arena` does, over the chosen languages that have battles; the board names the others."""
    judge.refuse_options(settings.changed | (set() if votes is None else {"votes"}))
    verdicts, notes = judge.verdicts(arena, settings), judge.notes(arena, settings)
    if verdicts is None:
        unranked = judge.unranked_systems(arena, settings.languages or ())
        board = Board(rank_battles(battles_of(arena, judge), settings, unranked=unranked))
    else:
        style = style_of(arena, settings.control) if settings.control else None
        board = _rank_selected(verdicts, settings, style=style, votes=votes, notes=notes)
    ranking = replace(_name_absent(board.ranking, arena), failed=count_failures(arena))
    return replace(board, ranking=ranking, failures=lines_on_failures(ranking, settings))


def rank_table(
    judgments: pa.Table,
    settings: RankSettings = RankSettings(),
    *,
    judges: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Board:
    """Rank the systems of a table of verdicts, as `rank_arena` does for an arena.

    Args:
        judgments: table `judgments`, or the columns of it that decide battles.
        settings: the settings.
        judges: names of the judges, several or `pooled` to pool them; none if there is only one.
        notes: remarks on the table.

    Raises:
        BadInput: if a value cannot be read, or a setting cannot apply to verdicts without their answers.
        UnknownName: if a judge or a language has no verdicts.
        NotEnoughData: if there is no battle to rate.
    """
    there = judges_of(judgments)
    chosen = there if POOLED in judges else tuple(only_judge(there, name) for name in judges or (None,))
    judge = VerdictJudge(chosen[0]) if len(chosen) == 1 else PanelJudge(judges=chosen)
    judge.refuse_options(settings.changed)
    if settings.control:
        raise BadInput(
            "style control needs the features of the answers, which verdicts alone do not have",
            do="import the file with its answers, and measure their features",
        )
    verdicts = {name: verdict_rows.verdicts(judgments, judge=name) for name in chosen}
    judge.need_languages(settings.languages or (), {code for name in chosen for code in verdicts[name]})
    return _rank_selected(verdicts, settings, notes=notes)


def _rank_selected(
    verdicts: VerdictsByJudge,
    settings: RankSettings,
    *,
    style: Mapping[str, Covariates] | None = None,
    votes: pa.Table | None = None,
    notes: Sequence[str] = (),
) -> Board:
    """Rank by the verdicts that the settings select, given those of all languages by judge."""
    there = {code for by_language in verdicts.values() for code in by_language}
    if settings.languages is not None:
        settings = replace(settings, languages=tuple(code for code in settings.languages if code in there))
    if len(verdicts) > 1 or votes is not None or settings.selects_verdicts:
        return replace(rank_verdicts(verdicts, settings, style=style, votes=votes), notes=notes)
    ((judge, by_language),) = verdicts.items()
    if sum(len(of.queries) * len(of.systems) ** 2 for of in by_language.values()) <= DENSE:
        return Board(rank_battles({code: of.battles() for code, of in by_language.items()}, settings), notes)
    chosen = by_language if settings.languages is None else settings.languages
    counted = {code: count_blocks(by_language[code], drop_ties=settings.ties == "drop") for code in chosen}
    options = {name: getattr(settings, name) for name in ("draws", "seed", "ties", "penalty")}
    return Board(rate_blocks(counted, judge=judge, **options), notes)


def rank_verdicts(
    verdicts_by_judge: VerdictsByJudge,
    settings: RankSettings = RankSettings(),
    *,
    style: Mapping[str, Covariates] | None = None,
    votes: pa.Table | None = None,
) -> Board:
    """Rank the systems by the verdicts that the settings select.

    The steps are in this order: votes replace verdicts and always count; verdicts on systems of the judge's own maker
    are excluded; battles whose two orders disagree are excluded; several judges are pooled (`battles.pool_battles`).

    Args:
        verdicts_by_judge: verdicts by judge and language.
        settings: the settings.
        style: covariates by language, those in `settings.control`.
        votes: people's verdicts (`Verdicts.override`), with a column `language`; they replace those of judges.

    Raises:
        UnknownName: if no judge is of the maker to exclude, or no judge judged a language.
        NotEnoughData: if no battle is left.
        BadInput: if covariates to control for are missing, or are combined with a model of ties.
    """
    if settings.control and style is None:
        raise BadInput("the covariates to hold equal are missing", do="read them with covariates()")
    judges = _judges(tuple(verdicts_by_judge), settings)
    there = {code for judge in judges for code in verdicts_by_judge[judge]}
    counts, left_out, voted = dict.fromkeys(judges, 0), Counter[str](), 0
    battles, lacking = dict[str, Battles](), dict[str, str]()
    wanted = there if settings.languages is None else set(settings.languages)
    for code in sorted(wanted - there):
        raise UnknownName("language", code, sorted(there), where=f"battles by {', '.join(judges)}")
    # Those of the other languages too: a query id that languages share is one sampling unit.
    for code in sorted(there):
        parts: list[Battles] = []
        for judge in judges:
            if code in verdicts_by_judge[judge]:
                selected = _select_verdicts(verdicts_by_judge[judge][code], settings, code, votes)
                parts.append(selected.battles())
                if code not in wanted:
                    continue
                left_out.update(selected.left_out)
                counts[judge] += parts[-1].n
                voted += int(selected.voted.sum())
        whole = parts[0] if len(verdicts_by_judge) == 1 else pool_battles(parts, judge=POOLED)
        if whole.wins.any() or (settings.ties != "drop" and whole.ties.any()):
            battles[code] = whole
        elif code in wanted:
            lacking[code] = "no battle is left"
    if wanted.isdisjoint(battles):
        raise NotEnoughData(
            "no battle is left to rate: " + "; ".join(f"{n:,} left out, {reason}" for reason, n in left_out.items()),
            do="exclude fewer verdicts" + (", or judge both orders of each pair" if settings.consistent else ""),
        )
    draws, seed, controlled = settings.draws, settings.seed, None
    if style is None:
        ranking = rate(battles, languages=wanted, draws=draws, seed=seed, ties=settings.ties, penalty=settings.penalty)
    else:
        unknown = f"no {' or '.join(settings.control)} of its answers is known"
        lacking |= dict.fromkeys((code for code in battles if code in wanted and code not in style), unknown)
        battles = {code: row for code, row in battles.items() if code in style}
        ties = cast(Literal["half", "drop"], settings.ties)
        controlled = control_style(battles, style, languages=wanted, ties=ties, draws=draws, seed=seed)
        ranking = controlled.ranking
    return Board(ranking, n_verdicts=counts, left_out=left_out, voted=voted, lacking=lacking, controlled=controlled)


def _judges(judges: tuple[str, ...], settings: RankSettings) -> tuple[str, ...]:
    """Return the judges that are not of the excluded maker."""
    without = settings.without
    if without is None:
        return judges
    makers = sorted({settings.makers.of(judge) for judge in judges})
    if without not in makers:
        raise UnknownName("maker of a judge", without, makers)
    left = tuple(judge for judge in judges if settings.makers.of(judge) != without)
    if not left:
        raise NotEnoughData(f"every judge is by {without}", do="add judges of other makers, or include this maker")
    return left


def _select_verdicts(verdicts: Verdicts, settings: RankSettings, code: str, votes: pa.Table | None) -> Verdicts:
    """Return the verdicts of one judge in one language that count."""
    import pyarrow.compute as pc

    if votes is not None:
        verdicts = verdicts.override(votes.filter(pc.equal(votes["language"], code)))
    if settings.exclude_own:
        verdicts = verdicts.without_own(settings.makers)
    return verdicts.keep_consistent() if settings.consistent else verdicts


# The battles of an arena


@lru_cache(maxsize=16)
def style_of(arena: Arena, names: tuple[str, ...]) -> dict[str, Covariates]:
    """Return the covariates of the answers, by language.

    Raises:
        TableMissing: if the arena has no features.
        UnknownName: if there is no such covariate.
        NotEnoughData: if a feature was not measured for any answer.
    """
    arena.need("features")
    features = [COVARIATES[name].feature for name in names if name in COVARIATES]
    rows = arena.sql(
        "SELECT language, query_id, system, feature, value FROM features "
        "WHERE list_contains($wanted, feature) AND value IS NOT NULL",
        {"wanted": features},
    )
    return covariates(rows, names)


def _name_absent(ranking: RankingReport, arena: Arena) -> RankingReport:
    """Return a ranking that also names the systems with answers in a ranked language, but without a battle there."""
    if "answers" not in arena.tables:
        return ranking
    without = {code: dict(systems) for code, systems in ranking.unranked.items()}
    for (language, system), answered in find_answering(arena).items():
        ranked = ranking.languages.get(language)
        if ranked is not None and system not in ranked.systems:
            of_language = without.setdefault(language, {})
            of_language[system] = of_language.get(system, _NO_BATTLE) if answered else ABSENT
    return replace(ranking, unranked=without)


# The table


def leaderboard(
    ranking: RankingReport, language: str | None = None, *, reference: str | None = None, scale: Scale = "logit"
) -> pa.Table:
    """Return the rows of a leaderboard in reading order: by language, `all` last, the best system first.

    Args:
        ranking: the ranking.
        language: code, or `all`; None for every language.
        reference: adds `difference`, each rating minus that of this system, with its 95% interval `difference_low` and
            `difference_high`; null if unbounded; all three are null if that system is not ranked in the language.
        scale: scale of `rating`, `low`, `high` and the differences.

    Returns:
        The columns of `Ranked`, and those of the differences.

    Raises:
        UnknownName: if the language is not ranked.
    """
    import pyarrow as pa

    if language is not None and language not in ranking.languages:
        raise UnknownName("language", language, ranking.languages)
    table = ranking.table(language)
    added = [(name, pa.int64()) for name in ("n", "failed")]
    added += [(name, pa.float64()) for name in DIFFERENCES if reference is not None]
    by_place: dict[tuple[str, str], dict[str, Any]] = {}
    for of in ranking.rows_of(language):
        codes = ranking.languages.keys() - {JOINT} if of.language == JOINT else {of.language}
        gaps = np.full((len(of.systems), 3), math.nan)
        if reference is not None and reference in of.systems:
            gaps = ranking.differences(reference, of.language).T
        for system, n, cells in zip(of.systems, of.queries_by_system.tolist(), gaps.tolist(), strict=True):
            failed = sum(ranking.failed.get(code, {}).get(system, (0, 0, 0))[0] for code in codes)
            values = {name: v if math.isfinite(v) else None for name, v in zip(DIFFERENCES, cells, strict=True)}
            by_place[of.language, system] = {"n": n, "failed": failed} | values
    rows = [row | by_place[row["language"], row["system"]] for row in table.to_pylist()]
    for row in rows:
        for name in ("rating", "low", "high", *DIFFERENCES):
            row[name] = on_scale(row[name], scale, difference=name in DIFFERENCES)
    order = [*ranking.languages]
    rows.sort(key=lambda row: (order.index(row["language"]), row["rank"], row["system"]))
    return pa.Table.from_pylist(rows, schema=pa.schema([*table.schema, *(pa.field(*column) for column in added)]))


def change_lines(base: RankingReport, other: RankingReport, *, language: str) -> list[str]:
    """Return lines on the changes from one ranking to another in a language or `all`: ranks of the systems in both, the
    largest change first, missing systems, and a comparison graph that is no longer connected.
    """
    row, new = base.languages.get(language), other.languages[language]
    if row is None:
        return ["no rank moved"]
    both = [system for system in row.systems if system in new.systems]
    ranks, new_ranks = (of.among(both).ranks().tolist() for of in (row, new))
    tests = base.tests[language]
    place = place_names(both, tests.systems)
    ends = rank_ranges(tests.better[np.ix_(place, place)]).T.tolist()
    entries = zip(both, ranks, new_ranks, ends, strict=True)
    moves = sorted((-abs(b - a), a, system, b, low <= b <= high) for system, a, b, (low, high) in entries if a != b)
    moved = [
        f"{system} {a} to {b}" + ("" if within else " (outside its interval)") for _, a, system, b, within in moves
    ]
    lines = [f"{count_text(len(moved), 'rank')} moved: {', '.join(moved)}" if moved else "no rank moved"]
    if gone := [system for system in row.systems if system not in new.systems]:
        lines.append("no battle left: " + ", ".join(gone))
    if len(new.groups) > len([group for group in row.groups if set(group) & set(both)]):
        parts = " | ".join(", ".join(group) for group in new.groups)
        lines.append(f"the comparison graph fell apart into {len(new.groups)} groups: {parts}")
    return lines


# Remarks and phrases


def _style_lines(controlled: StyleControl) -> list[str]:
    """Return lines on the coefficients of a style control."""
    lines = []
    missing = sum(controlled.n_missing.values())
    if missing:
        lines.append(f"{count_text(missing, 'battle')} left out: a covariate of one of the answers is not known")
    last = list(controlled.coefficients)[-1]
    for coefficient in controlled.coefficients[last]:
        worth = (
            coefficient.reason
            if coefficient.value is None
            else f"{coefficient.value:+.2f} logits ({coefficient.low:+.2f} to {coefficient.high:+.2f})"
        )
        lines.append(f"{coefficient.covariate}, {last}: {worth} for {coefficient.per}")
    return lines


_PRIOR: dict[Penalty, str] = {"jeffreys": "Jeffreys' prior", "none": "a tiny ridge penalty"}
"""Prior of a rating that the data does not bound, in words."""


def _joint_remarks(ranking: RankingReport) -> list[str]:
    """Return remarks on the row of all languages."""
    joint = ranking.languages.get(JOINT)
    if joint is None:
        return []
    lines = []
    if joint.unbounded:
        ways = {"above": "upwards", "below": "downwards", "both": "both ways"}
        of_system = {
            system: [code for code, row in ranking.languages.items() if code != JOINT and system in row.unbounded]
            for system in joint.unbounded
        }
        listed = join_first([f"{s} {ways[joint.unbounded[s]]} ({', '.join(of_system[s])})" for s in joint.unbounded])
        lines.append(f"the mean over languages is unbounded where one language is: {listed}")
    if ranking.unit != "query" and ranking.battles:
        shared = len(shared_ids({code: battles.queries for code, battles in ranking.battles.items()}))
        lines.append(
            f"{count_text(shared, 'query id')} {'occurs' if shared == 1 else 'occur'} in several languages: each is "
            "one unit, resampled and tested jointly"
        )
    return lines


def unranked_remarks(ranking: RankingReport) -> list[str]:
    """Return remarks on the systems without evidence, with remedies, and on languages with only one kind of query."""
    lines = unranked_notes(ranking.unranked)
    if not Judge.from_name(ranking.judge).rests_on_labels or ranking.skill != "both":
        return lines
    kinds = {code: set(np.unique(battles.strata).tolist()) for code, battles in ranking.battles.items()}
    words = [f"{QUERIES[subset]} queries" for subset in SUBSETS["both"]]
    return lines + [
        f"ranked by {words[kind]} only, since there are no others: {join_first(codes)}"
        for kind in range(2)
        if (codes := [code for code, there in kinds.items() if there == {kind}])
    ]


def lines_on_failures(ranking: RankingReport, settings: RankSettings) -> list[str]:
    """Return lines on the ranked systems' answers that failed or have no row, and how they count."""
    ranked = {code: row.systems for code, row in ranking.languages.items()}
    failed = failure_lines(ranking.failed, ranked, drop=settings.failures == "drop")
    return [*failed, *missing_lines(ranking.failed, ranked)]


def remarks(ranking: RankingReport) -> list[str]:
    """Return the remarks to show with the table of a ranking."""
    lines = unranked_remarks(ranking)
    single = [row for code, row in ranking.languages.items() if code != JOINT]
    if ranking.left_out:
        lines.append("not in the joint row, without battles in some language: " + join_first(ranking.left_out))
    unparsed = sum(row.unparsed for row in single)
    if unparsed:
        lines.append(f"{count_text(unparsed, 'battle')} excluded: unparsed verdict")
    loose = [f"{s} ({row.language}: {NO_BOUND[side]})" for row in single for s, side in row.unbounded.items()]
    if loose:
        lines.append(
            "never beaten, or never winning, against the rest, or not joined to it: the data puts no bound on that end "
            f"of the interval, and the rating depends on {_PRIOR[ranking.penalty]}: " + join_first(loose)
        )
    lines += _joint_remarks(ranking)
    lines += people_lines(ranking.battles)
    lines += ranking.apart
    alike = [] if not ranking.battles else [code for code, test in ranking.tests.items() if test.few and test.n_pairs]
    if alike:
        lines.append("too few queries to separate any two systems, so all are tied with the best: " + join_first(alike))
    return lines


def languages_text(languages: Sequence[str]) -> str:
    """Return the scope of a ranking in words: `in Hindi and Swahili`, or `over 16 languages`."""
    if len(languages) == 1 and known_code(languages[0]):
        return in_language(languages[0])
    names = [name_of(code) if known_code(code) else code for code in languages]
    if len(names) > FEW_LANGUAGES:
        return f"over {len(names)} languages"
    return f"in {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}"


def best_systems(tests: BoardTests, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the system that is significantly ahead of all others, else those that are tied for best, in the order of
    the rows of a leaderboard.
    """
    first, names = rows[0]["system"], [row["system"] for row in rows]
    alike = tests.tied_with(first)
    tied = {row["system"] for row in rows if row["rank_low"] == 1} | {first} if alike else {first}
    # Tests may be intransitive: a system is alike to the highest, and behind another that is behind it.
    return [name for name in names if name in (tied if len(tied) > 1 else {first, *alike})]


def best_text(best: Sequence[str], systems: int) -> str:
    """Return the best of several systems in words: `gpt-4 ranks first of 11 systems`, or those tied for best."""
    if len(best) == 1:
        return f"{best[0]} ranks first of {systems} systems"
    if len(best) > NAMED:
        who = f"All {systems}" if len(best) == systems else f"{len(best)} of {systems}"
        return f"{who} systems are tied for best"
    return f"{', '.join(best[:-1])} and {best[-1]} are tied for best of {systems} systems"


def conclude(ranking: RankingReport, by: str) -> str:
    """Name the best system, with win rate, interval and n, or those tied for best; empty for fewer than two systems.

    Args:
        ranking: the ranking; the conclusion is about its last row.
        by: the judge in a sentence.
    """
    scope, languages = list(ranking.languages)[-1], [code for code in ranking.languages if code != JOINT]
    rows = leaderboard(ranking, scope).to_pylist()
    if len(rows) < 2:
        return ""
    if not any(row["wins"] or row["losses"] for row in rows):
        return f"Every battle of the {len(rows)} systems is a tie{by}: no difference between them shows."
    best = best_systems(ranking.tests[scope], rows)
    where = "" if languages == [UNDETERMINED] else f" {languages_text(languages)}"
    said, n = f"{best_text(best, len(rows))}{by}{where}", count_text(rows[0]["n"], "query")
    if len(best) > 1:
        return f"{said} (n = {n})."
    ends, against = [rows[0][name] for name in ("rating", "low", "high")], "the average system"
    rates = [win_rate(end) for end in ends]
    if len(rows) == 2:
        against, rates = rows[1]["system"], _rates_of_two(ranking, rows[0]["system"], rows[1]["system"], scope)
    value, low, high = ("unbounded" if end is None else FORMATS["rate"].write(end) for end in rates)
    rate = f"win rate against {against} {value}, 95% CI {low} to {high}"
    behind = rows[1]["system"] if len(rows) == 2 else "all others"
    return f"{said} ({rate}, n = {n}), significantly ahead of {behind}."


def _rates_of_two(ranking: RankingReport, first: str, second: str, scope: str) -> list[float | None]:
    """Return the win rate of the only two systems of a row, with its interval: that of their comparison, else by their
    ratings.
    """
    if (two := ranking.compare_two(scope)) is None:
        gap = ranking.difference(first, second, language=scope)
        return [win_rate(end) for end in (gap.value, gap.low, gap.high)]
    sign = 1 if ranking.languages[scope].systems[0] == first else -1
    low, high = sorted(sign * end for end in (two.low or 0.0, two.high or 0.0))
    return [(1 + end) / 2 for end in (sign * two.value, low, high)]
