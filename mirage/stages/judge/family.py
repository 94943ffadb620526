"""Self-preference of a judge: its verdicts on its own maker's systems against those of other judges on the same
battles.

A judge's own family may simply be better. Judges of other makers on the same battles separate the two: the preference
is the difference in how often the family wins by this judge and by the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from mirage.battles.decision import READABLE, VERDICTS, points
from mirage.schema import CodeOrAll, Count, Range, Share
from mirage.text.makers import BASELINE, BY_NAME, OTHER, Makers

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LEVEL = 0.95
"""Nominal coverage of the intervals."""


@dataclass(frozen=True, slots=True)
class FamilyPreference:
    """Self-preference of a judge: the excess of wins it gives its own maker's systems over judges of other makers."""

    key = ("judge", "language")
    reason_of = "difference"

    judge: str
    """The judge."""
    language: CodeOrAll
    """Language of the queries; `all`: all queries together."""
    maker: str
    """The judge's maker; `other` if unknown."""
    share: Share | None
    """Share of these battles won by the judge's own family according to the judge; a tie is half a win."""
    others: Share | None
    """The same share according to judges of other makers, with equal weights of battles."""
    difference: Annotated[float, Range(-1, 1)] | None
    """`share` - `others`; above 0 the judge prefers its family more than others do. Null if there is nothing to
    compare.
    """
    low: float | None
    """Lower end of the 95% interval of `difference`, with the query as the cluster; null with fewer than two
    queries."""
    high: float | None
    """Upper end."""
    battles: Count
    """Battles compared; both orders of a pair are one."""
    queries: Count
    """Number of queries."""
    reason: str | None
    """Reason why there is no difference; null where there is one."""


def family_preferences(judgments: pa.Table, makers: Makers = BY_NAME) -> list[FamilyPreference]:
    """Compare each judge's preference for its own maker's systems with that of judges of other makers.

    Args:
        judgments: `schema.Judgment` rows; text columns may be dictionary-encoded.
        makers: maker of each judge and system.

    Returns:
        One row per judge and language, and `all`, sorted by judge and language.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = ["language", "query_id", "judge", "system_a", "system_b", "verdict"]
    judged = judgments.group_by(["judge", "language"]).aggregate([]).to_pylist()
    judges = sorted({row["judge"] for row in judged})
    of_judges = {judge: makers.of(judge) for judge in judges}
    both_sides = {*judgments["system_a"].unique().to_pylist(), *judgments["system_b"].unique().to_pylist()}
    systems = {name: makers.of(name) for name in both_sides}
    known = set(of_judges.values()) - {BASELINE, OTHER}
    # Only battles between a system of the judge's maker and another maker's are informative.
    family_systems = pa.array([name for name, maker in sorted(systems.items()) if maker in known], pa.string())
    has_family = pc.or_(*(pc.is_in(judgments[side], value_set=family_systems) for side in ("system_a", "system_b")))
    readable = pc.is_in(judgments["verdict"], value_set=pa.array(READABLE, pa.string()))
    text = pa.schema([(name, pa.string()) for name in names])
    rows = judgments.select(names).filter(pc.and_(has_family, readable)).cast(text).to_pandas()
    rows = rows[rows["system_a"].map(systems) != rows["system_b"].map(systems)].copy()
    swapped = rows["system_a"] > rows["system_b"]
    rows["one"] = rows["system_a"].where(~swapped, rows["system_b"])
    rows["other"] = rows["system_b"].where(~swapped, rows["system_a"])
    won = rows["verdict"].map({name: points(VERDICTS[name]) for name in READABLE}).astype(float)
    rows["won"] = won.where(~swapped, 1 - won)
    battle = ["language", "query_id", "one", "other"]
    outcomes = rows.groupby([*battle, "judge"], sort=True, observed=True)["won"].mean().reset_index()
    outcomes["of_one"], outcomes["of_other"] = outcomes["one"].map(systems), outcomes["other"].map(systems)
    preferences: list[FamilyPreference] = []
    for judge in judges:
        maker = of_judges[judge]
        languages = sorted(row["language"] for row in judged if row["judge"] == judge)
        languages += ["all"] if len(languages) > 1 else []
        if maker in (BASELINE, OTHER):
            preferences += _none(judge, languages, maker, "the judge's maker is not known")
            continue
        between = outcomes[(outcomes["of_one"] == maker) != (outcomes["of_other"] == maker)].copy()
        if between.empty:
            preferences += _none(judge, languages, maker, f"no system by {maker} battles another maker's")
            continue
        between.loc[between["of_one"] != maker, "won"] = 1 - between["won"]
        own = between[between["judge"] == judge]
        foreign = between[between["judge"].map(of_judges) != maker]
        rest = foreign.groupby(battle, sort=True, observed=True)["won"].mean().rename("others").reset_index()
        both = own.merge(rest, on=battle)
        for language in languages:
            part = both if language == "all" else both[both["language"] == language]
            if part.empty:
                preferences += _none(judge, [language], maker, "no judge of another maker has judged these battles")
            else:
                preferences.append(_preference(judge, language, maker, part))
    return preferences


def _none(judge: str, languages: list[str], maker: str, reason: str) -> list[FamilyPreference]:
    return [FamilyPreference(judge, code, maker, None, None, None, None, None, 0, 0, reason) for code in languages]


def _preference(judge: str, language: str, maker: str, part: pd.DataFrame) -> FamilyPreference:
    """Return the difference over some battles; its interval from the sums by query (Liang and Zeger 1986, with the
    factor G / (G
    - 1) and a t quantile for G queries).
    """
    from scipy.special import stdtrit

    apart = part["won"] - part["others"]
    difference, n = float(apart.mean()), len(part)
    sums = (apart - difference).groupby([part["language"], part["query_id"]], observed=True).sum()
    clusters = len(sums)
    ends: dict[str, Any] = {"low": None, "high": None}
    if clusters > 1:
        error = float((sums**2).sum() * clusters / (clusters - 1)) ** 0.5 / n
        reach = float(stdtrit(clusters - 1, (1 + LEVEL) / 2)) * error
        ends = {"low": difference - reach, "high": difference + reach}
    return FamilyPreference(
        judge,
        language,
        maker,
        share=float(part["won"].mean()),
        others=float(part["others"].mean()),
        difference=difference,
        **ends,
        battles=n,
        queries=clusters,
        reason=None,
    )
