"""What a judge said, row by row, and which of its verdicts count.

    by_language = verdicts(judgments, judge="gpt-4o")    # {language: Verdicts}
    by_language["en"].consistent().battles()

Choosing among verdicts (both orders agree, none on the judge's own maker's systems, people's votes instead) happens
here, on coded rows; what is left is counted to `Battles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage import schema
from mirage.battles.counts import Battles, codes, count_cells
from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS, with_grades
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.makers import BASELINE, BY_NAME, OTHER, Makers

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (*schema.BATTLE, "verdict", "points")
"""Columns of table `judgments` that verdicts are read from: the rationales, which are most of it, are not."""

REPEATED = (*schema.BATTLE, "verdict")
"""Those of them whose values repeat, so that they are read fastest as dictionaries."""

OF_SCORES = "people: "
"""How the name of a judge begins whose verdicts follow from people's scores; the measure follows."""

OF_KNOWN = "known: "
"""How the name begins under which a judge's verdicts on known-answer pairs stand; the judge's own follows. These pairs
are chosen by who is right, so they examine the judge and rank nobody."""

_ANY = 1 << FIRST | 1 << SECOND | 1 << TIE
_DECISIONS = [TIE] * (_ANY + 1)
_DECISIONS[0], _DECISIONS[1 << FIRST], _DECISIONS[1 << SECOND] = UNPARSED, FIRST, SECOND
"""What a battle comes to, by the readable labels that its verdicts have."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts of one judge in one language, in the order the answers were shown in."""

    judge: str
    """Whose verdicts."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    queries: tuple[str, ...]
    """The Q queries, sorted by id."""
    query: NDArray[np.intp]
    """n: the query of each verdict, as its place in `queries`."""
    first: NDArray[np.intp]
    """n: the system shown first, as its place in `systems`."""
    second: NDArray[np.intp]
    """n: the system shown second."""
    verdict: NDArray[np.int8]
    """n: what the verdict comes to (`decision.VERDICTS`): `FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: NDArray[np.float32]
    """n: what the first system takes of the battle's point, NaN where the verdict is all there is."""
    voted: NDArray[np.bool_]
    """n: whether people's votes stand in for the judge's verdict. What people decided stays, whatever else is left out
    for what the judge is or did."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Verdicts that were left out, by the reason in words."""

    def battles(self) -> Battles:
        """Count them. Both orders of a pair are two battles on one query; unparsed verdicts are left out and counted.

        Raises:
            BadInput: if a pair meets more than 255 times on one query.
        """
        w, v, t = (self.verdict == kind for kind in (FIRST, SECOND, TIE))
        q, a, b = self.query, self.first, self.second
        shape = (len(self.queries), len(self.systems), len(self.systems))
        points = None
        if np.isfinite(self.points).any():
            hard = np.where(t, 0.5, w)
            shares = np.where(np.isfinite(self.points), self.points, hard)
            points = np.zeros(shape, dtype=np.float32)
            read = w | v | t
            np.add.at(points, (q[read], a[read], b[read]), shares[read])
            np.add.at(points, (q[read], b[read], a[read]), 1 - shares[read])
        return Battles(
            self.systems,
            self.queries,
            count_cells(shape, (q[w], a[w], b[w]), (q[v], b[v], a[v])),
            count_cells(shape, (q[t], a[t], b[t]), (q[t], b[t], a[t])),
            np.zeros(len(self.queries), dtype=np.intp),
            referee=self.judge,
            skill="both",
            unparsed=int((self.verdict == UNPARSED).sum()),
            points=points,
        )

    def decided(self) -> NDArray[np.int64]:
        """S x S x 4: how many battles of two systems, i < j, come to each decision, by the rule of `decision`: the
        system i wins, the system j wins, a tie, nothing could be read. Elsewhere 0.
        """
        s = len(self.systems)
        pair, swapped = self._pairs()
        label = with_grades(self.verdict, self.points).astype(np.uint8)
        label = np.where(swapped & (label < TIE), 1 - label, label)
        order = np.argsort(pair, kind="stable")
        starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
        # A bit for each of the readable labels that a battle's verdicts have.
        seen = np.bitwise_or.reduceat(1 << label[order], starts) & _ANY
        decision = np.array(_DECISIONS)[seen]
        return np.bincount(pair[order][starts] % s**2 * 4 + decision, minlength=s * s * 4).reshape(s, s, 4)

    def consistent(self) -> Verdicts:
        """Those whose two orders agree: the same system wins in both, or both are ties.

        A tie and a win do not agree, as for the flip rate. A battle of which only one order was judged, or could be
        read, cannot be checked; it is left out too, and counted by itself.
        """
        readable = self.verdict != UNPARSED
        pair, swapped = self._pairs()
        # Of the system that stands first by name: 1 it wins, -1 it loses, 0 a tie.
        won = np.where(self.verdict == TIE, 0, np.where((self.verdict == FIRST) != swapped, 1, -1))
        n = len(self.queries) * len(self.systems) ** 2

        def counted(rows: NDArray[np.bool_]) -> NDArray[np.intp]:
            return np.bincount(pair[rows & readable], minlength=n)

        both = (counted(swapped) > 0) & (counted(~swapped) > 0)
        all_ = counted(readable)
        same = (counted(won > 0) == all_) | (counted(won < 0) == all_) | (counted(won == 0) == all_)
        judged = readable & ~self.voted
        differ, single = judged & (both & ~same)[pair], judged & ~both[pair]
        reasons = {
            "the two orders disagree": int(differ.sum()),
            "judged or read in one order only": int(single.sum()),
        }
        return self._only(~differ & ~single, reasons)

    def without_own(self, makers: Makers = BY_NAME) -> Verdicts:
        """Those on systems of other makers than the judge's own: what is left where a judge prefers its family.

        A judge whose maker is not known keeps all its verdicts.

        Args:
            makers: who made which judge and system.
        """
        maker = makers.of(self.judge)
        if maker in (BASELINE, OTHER):
            return self
        own = np.array([makers.of(system) == maker for system in self.systems], dtype=bool)
        excluded = (own[self.first] | own[self.second]) & ~self.voted
        return self._only(~excluded, {f"{self.judge} and a system are both by {maker}": int(excluded.sum())})

    def override(self, votes: pa.Table) -> Verdicts:
        """These, with people's votes instead of the judge's verdicts on the same query and pair.

        Several people: what most of them say; where no one view has most votes, a tie. A vote counts for both orders
        of the pair, and for a verdict that could not be read. A vote on a battle that the judge has not judged changes
        nothing here.

        Args:
            votes: `language, query_id, system_a, system_b, verdict`, in the words of `schema.Judgment`; only the rows
                of this language may be given. Unparsed ones say nothing.
        """
        at_query = {name: k for k, name in enumerate(self.queries)}
        at_system = {name: k for k, name in enumerate(self.systems)}
        s = len(self.systems)
        tallies: dict[int, NDArray[np.intp]] = {}
        for row in votes.select(["query_id", "system_a", "system_b", "verdict"]).to_pylist():
            q, a, b = at_query.get(row["query_id"]), at_system.get(row["system_a"]), at_system.get(row["system_b"])
            if row["verdict"] not in VERDICTS:
                raise UnknownName("verdict", row["verdict"], VERDICTS, where=f"votes on {row['query_id']}")
            if q is None or a is None or b is None or VERDICTS[row["verdict"]] == UNPARSED:
                continue
            vote = VERDICTS[row["verdict"]]
            if a > b and vote != TIE:
                vote = SECOND if vote == FIRST else FIRST
            tallies.setdefault((q * s + min(a, b)) * s + max(a, b), np.zeros(3, np.intp))[vote] += 1
        voted = np.array(sorted(tallies), dtype=np.intp)
        tally = np.array([tallies[key] for key in voted.tolist()], dtype=np.intp).reshape(-1, 3)
        most = tally.max(axis=1, initial=0)
        majority = np.where((tally == most[:, None]).sum(axis=1) == 1, tally.argmax(axis=1), TIE)
        pair, swapped = self._pairs()
        overridden = np.isin(pair, voted)
        voted_verdict = majority[np.searchsorted(voted, pair[overridden])]
        turned = np.where(
            voted_verdict == TIE, TIE, np.where((voted_verdict == FIRST) != swapped[overridden], FIRST, SECOND)
        )
        verdict = self.verdict.copy()
        verdict[overridden] = turned
        points = np.where(overridden, np.float32(np.nan), self.points)
        return replace(self, verdict=verdict, points=points, voted=self.voted | overridden)

    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """A number for each verdict's query and pair, and whether the system that is later by name was shown first."""
        s = len(self.systems)
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return (self.query * s + low) * s + high, self.first > self.second

    def _only(self, mask: NDArray[np.bool_], reasons: Mapping[str, int]) -> Verdicts:
        """Some of the verdicts; systems without any are gone, queries stay: they were drawn and asked."""
        present, place = _present(np.concatenate([self.first[mask], self.second[mask]]), len(self.systems))
        n = int(mask.sum())
        return replace(
            self,
            systems=tuple(self.systems[k] for k in present),
            query=self.query[mask],
            first=place[:n],
            second=place[n:],
            verdict=self.verdict[mask],
            points=self.points[mask],
            voted=self.voted[mask],
            left_out=dict(self.left_out) | {reason: number for reason, number in reasons.items() if number},
        )


def verdicts(judgments: pa.Table, *, judge: str, unread: bool = False) -> dict[str, Verdicts]:
    """The verdicts of one judge by language.

    Args:
        judgments: table `judgments`, or its `COLUMNS`.
        judge: whose verdicts.
        unread: whether none of them needs to be readable.

    Raises:
        UnknownName: if the judge has no verdict here.
        BadInput: if a system battles itself.
        NotEnoughData: if none of the judge's verdicts could be read, unless `unread`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if "points" not in judgments.column_names:
        judgments = judgments.append_column("points", pa.nulls(len(judgments), pa.float64()))
    rows = judgments.select([name for name in COLUMNS if name != "judge"])
    of_judge = pc.equal(judgments["judge"], judge)
    if not pc.all(of_judge).as_py():
        rows = rows.filter(of_judge)
    if not len(rows):
        raise UnknownName("judge", judge, pc.unique(judgments["judge"]).to_pylist())
    languages, language = codes(rows["language"])
    queries, query = codes(rows["query_id"])
    systems, both = codes(rows["system_a"], rows["system_b"])
    a, b = both[: len(rows)], both[len(rows) :]
    if (a == b).any():
        row = rows.slice(int(np.argmax(a == b)), 1).to_pylist()[0]
        raise BadInput(
            f"{row['system_a']} battles itself",
            where=f"language={row['language']}, query_id={row['query_id']}, judge={judge}",
            do="remove the row",
        )
    names, name = codes(rows["verdict"])
    kind = np.array([VERDICTS[n] for n in names], dtype=np.int8)[name]
    points = shares_of_battles(rows).astype(np.float32)
    if not unread and (kind == UNPARSED).all():
        raise NotEnoughData(f"none of {judge}'s {len(rows):,} verdicts could be read", do="look at its raw replies")
    by_language = np.split(
        np.argsort(language, kind="stable"), np.cumsum(np.bincount(language, minlength=len(languages)))[:-1]
    )
    verdicts_by_language = {}
    for code, positions in zip(languages, by_language, strict=True):
        at_query, q = _present(query[positions], len(queries))
        at_system, both = _present(np.concatenate([a[positions], b[positions]]), len(systems))
        verdicts_by_language[code] = Verdicts(
            judge,
            tuple(systems[k] for k in at_system),
            tuple(queries[k] for k in at_query),
            q,
            both[: len(positions)],
            both[len(positions) :],
            kind[positions],
            points[positions],
            np.zeros(len(positions), dtype=bool),
        )
    return verdicts_by_language


def shares_of_battles(rows: pa.Table | pa.RecordBatch) -> NDArray[np.float64]:
    """The points that system_a took, NaN where the verdict says all.

    Raises:
        BadInput: if some are not between 0 and 1.
    """
    points = np.asarray(rows["points"].to_numpy(zero_copy_only=False) if rows.num_rows else [], dtype=np.float64)
    outside = (points < 0) | (points > 1)
    if outside.any():
        row = rows.slice(int(np.argmax(outside)), 1).to_pylist()[0]
        named = (f"{name}={row[name]}" for name in ("language", "query_id", "system_a", "system_b") if name in row)
        raise BadInput(
            f"{row['points']:g} points of one battle",
            where=", ".join(named),
            do="give the share that system_a took, between 0 and 1; divide grades by their largest first",
        )
    return points


def programs(judgments: pa.Table) -> pa.Table:
    """The verdicts that no person gave, also not by scores: what people's votes are compared with.

    Args:
        judgments: table `judgments` with the column `person`.
    """
    import pyarrow.compute as pc

    human = pc.or_(pc.fill_null(judgments["person"], False), pc.starts_with(judgments["judge"], OF_SCORES))
    return judgments.filter(pc.invert(human))


def with_known(judgments: pa.Table) -> pa.Table:
    """The verdicts of judges, with those that they gave on known-answer pairs as their own.

    Args:
        judgments: table `judgments`, whole or in some of its columns. Of a battle that a judge decided both ways its
            own verdict stays.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    of_known = pc.starts_with(judgments["judge"], OF_KNOWN)
    if not pc.any(of_known).as_py():
        return judgments
    name = judgments.column_names.index("judge")
    bare = pc.utf8_slice_codeunits(judgments["judge"], len(OF_KNOWN))
    owned = judgments.set_column(name, "judge", pc.if_else(of_known, bare, judgments["judge"]))
    own, known = owned.filter(pc.invert(of_known)), owned.filter(of_known)
    keys = list(schema.BATTLE)
    further = known.join(own.select(keys), keys, join_type="left anti").select(owned.column_names)
    return pa.concat_tables([own, further.cast(owned.schema)])


def judges_of(judgments: pa.Table) -> tuple[str, ...]:
    """The judges of a table that may rank, by name: not what they gave on known-answer pairs."""
    names: list[str] = judgments["judge"].unique().to_pylist()
    return tuple(sorted(name for name in names if not name.startswith(OF_KNOWN)))


def without_known(judgments: pa.Table) -> pa.Table:
    """The verdicts that may rank: those on known-answer pairs left out."""
    import pyarrow.compute as pc

    return judgments.filter(pc.invert(pc.starts_with(judgments["judge"], OF_KNOWN)))


def from_judgments(judgments: pa.Table, *, judge: str) -> dict[str, Battles]:
    """Count the verdicts of one judge (`verdicts`, `Verdicts.battles`), with what these raise.

    Args:
        judgments: table `judgments`.
        judge: whose verdicts.

    Returns:
        Battles by language.
    """
    return {code: language_verdicts.battles() for code, language_verdicts in verdicts(judgments, judge=judge).items()}


def _present(codes: NDArray[np.intp], n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of n values occur, and each row's place among these."""
    present = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.empty(n, dtype=np.intp)
    place[present] = np.arange(len(present))
    return present, place[codes]
