"""A judge's verdicts, row by row, and the filters that select which of them count.

    by_language = verdicts(judgments, judge="gpt-4o")    # {language: Verdicts}
    by_language["en"].keep_consistent().battles()

The filters (both orders agree, no systems of the judge's own maker, people's votes instead) work on integer-coded rows;
the remaining verdicts are counted into `Battles`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage import schema
from mirage.battles.counts import Battles, PeoplesVotes, codes, count_cells
from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS, decide_verdicts, orient_verdicts
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.stats.arrays import Flags, Integers, Places
from mirage.stats.encoding import place_names
from mirage.text.makers import BASELINE, BY_NAME, OTHER, Makers

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (*schema.BATTLE, "verdict", "points", "voter")
"""Columns of table `judgments` needed to read verdicts: all but the rationales, which are most of its size."""

REPEATED = (*schema.BATTLE, "verdict")
"""Low-cardinality columns, read dictionary-encoded."""

OF_PROGRAMS = "scores: "
"""Prefix of the names of judges whose verdicts are derived from scores by programs."""
OF_SCORES = "people: "
"""Prefix of the judge name for verdicts derived from people's scores; the measure follows."""

OF_KNOWN = "known: "
"""Prefix of the judge name for verdicts on known-answer pairs; the judge's own name follows. These pairs are selected
by correctness, so they test the judge and cannot rank systems.
"""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts of one judge in one language, in the order the answers were shown."""

    judge: str
    """Name of the judge."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    queries: tuple[str, ...]
    """The Q queries, sorted by id."""
    query: Places
    """n: index of each verdict's query in `queries`."""
    first: Places
    """n: index in `systems` of the system shown first."""
    second: Places
    """n: index of the system shown second."""
    verdict: NDArray[np.int8]
    """n: label of the verdict (`decision.VERDICTS`): `FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: NDArray[np.float32]
    """n: points of the first system, NaN where the verdict has no grade."""
    voter: Places
    """n: number of the person who gave the verdict; -1 for programs and unnamed people."""
    voted: Flags
    """n: whether people's votes replace the judge's verdict. Filters on the judge never remove these rows."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Number of excluded verdicts, by reason."""

    def battles(self) -> Battles:
        """Count the verdicts into battles. Both orders of a pair are two battles on one query; unparsed verdicts are
        excluded and counted.

        Raises:
            BadInput: if a pair meets more than 255 times on one query.
        """
        w, v, t = (self.verdict == kind for kind in (FIRST, SECOND, TIE))
        q, a, b = self.query, self.first, self.second
        shape = (len(self.queries), len(self.systems), len(self.systems))
        read = w | v | t
        points = None
        if np.isfinite(self.points).any():
            hard = np.where(t, 0.5, w)
            shares = np.where(np.isfinite(self.points), self.points, hard)
            points = np.zeros(shape, dtype=np.float32)
            np.add.at(points, (q[read], a[read], b[read]), shares[read])
            np.add.at(points, (q[read], b[read], a[read]), (1 - shares)[read])
        return Battles(
            self.systems,
            self.queries,
            count_cells(shape, (q[w], a[w], b[w]), (q[v], b[v], a[v])),
            count_cells(shape, (q[t], a[t], b[t]), (q[t], b[t], a[t])),
            np.zeros(len(self.queries), dtype=np.intp),
            judge=self.judge,
            skill="both",
            unparsed=int((self.verdict == UNPARSED).sum()),
            points=points,
            ballots=self._ballots(read & (self.voter >= 0)),
        )

    def _ballots(self, rows: Flags) -> PeoplesVotes | None:
        """Return the single votes of named people; None without any."""
        if not rows.any():
            return None
        hard = np.where(self.verdict == TIE, np.float32(0.5), (self.verdict == FIRST).astype(np.float32))
        points = np.where(np.isfinite(self.points), self.points, hard)
        return PeoplesVotes(self.voter[rows], self.query[rows], self.first[rows], self.second[rows], points[rows])

    def decision_counts(self) -> Integers:
        """Count the battles of each two systems by decision (S x S x 4).

        For i < j the last axis is: system i wins, system j wins, a tie, no parsed verdict, by the rule of `decision`.
        Elsewhere 0.
        """
        s = len(self.systems)
        pair, swapped = self._pairs()
        label, points = orient_verdicts(self.verdict, swapped, self.points)
        decided = decide_verdicts(pair, label, points, swapped)
        return np.bincount(decided.battle % s**2 * 4 + decided.label, minlength=s * s * 4).reshape(s, s, 4)

    def keep_consistent(self) -> Verdicts:
        """Return the verdicts whose two orders agree: the same system wins in both, or both are ties.

        A tie and a win do not agree, as for the flip rate. A battle that was judged or parsed in only one order cannot
        be checked; it is excluded too, and counted separately.
        """
        pair, swapped = self._pairs()
        decided = decide_verdicts(pair, *orient_verdicts(self.verdict, swapped), swapped)
        both = (decided.n_read > 0) & (np.abs(decided.order) < 1)
        judged = (self.verdict != UNPARSED) & ~self.voted
        differ, single = judged & (both & ~decided.consistent)[decided.of], judged & ~both[decided.of]
        reasons = {
            "the two orders disagree": int(differ.sum()),
            "judged or read in one order only": int(single.sum()),
        }
        return self._select(~differ & ~single, reasons)

    def without_own(self, makers: Makers = BY_NAME) -> Verdicts:
        """Return the verdicts on systems of other makers than the judge's own, to exclude self-preference.

        A judge of unknown maker keeps all its verdicts.

        Args:
            makers: maker of each judge and system.
        """
        maker = makers.of(self.judge)
        if maker in (BASELINE, OTHER):
            return self
        own = np.array([makers.of(system) == maker for system in self.systems], dtype=bool)
        excluded = (own[self.first] | own[self.second]) & ~self.voted
        return self._select(~excluded, {f"{self.judge} and a system are both by {maker}": int(excluded.sum())})

    def override(self, votes: pa.Table) -> Verdicts:
        """Return the verdicts with people's votes in place of the judge's verdicts on the same query and pair.

        Several votes count by majority; without a majority, as a tie. A vote applies to both orders of the pair, and to
        unparsed verdicts. Votes on battles the judge has not judged are ignored.

        Args:
            votes: `language, query_id, system_a, system_b, verdict`, with the values of `schema.Judgment`; rows of this
                language only. Unparsed votes are ignored.
        """
        names, words = votes["query_id"].to_pylist(), votes["verdict"].to_pylist()
        for query_id, word in zip(names, words, strict=True):
            if word not in VERDICTS:
                raise UnknownName("verdict", word, VERDICTS, where=f"votes on {query_id}")
        q = place_names(names, self.queries)
        a, b = (place_names(votes[side].to_pylist(), self.systems) for side in ("system_a", "system_b"))
        label = np.array([VERDICTS[word] for word in words], dtype=np.intp)
        known = np.flatnonzero((q >= 0) & (a >= 0) & (b >= 0) & (label != UNPARSED))
        on, turned = replace(self, query=q[known], first=a[known], second=b[known])._pairs()
        voted, of = np.unique(on, return_inverse=True)
        tally = np.zeros((len(voted), 3), dtype=np.intp)
        np.add.at(tally, (of, orient_verdicts(label[known], turned)[0]), 1)
        single = (tally == tally.max(axis=1, initial=0)[:, None]).sum(axis=1) == 1
        majority = np.where(single, tally.argmax(axis=1), TIE)
        pair, swapped = self._pairs()
        overridden = np.isin(pair, voted)
        verdict = self.verdict.copy()
        of_pair = majority[np.searchsorted(voted, pair[overridden])]
        verdict[overridden] = orient_verdicts(of_pair, swapped[overridden])[0]
        points = np.where(overridden, np.float32(np.nan), self.points)
        voter = np.where(overridden, -1, self.voter)
        return replace(self, verdict=verdict, points=points, voter=voter, voted=self.voted | overridden)

    def _pairs(self) -> tuple[Places, Flags]:
        """Return an integer key for each verdict's query and pair, and whether the system that sorts later was shown
        first.
        """
        s = len(self.systems)
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return (self.query * s + low) * s + high, self.first > self.second

    def _select(self, mask: Flags, reasons: Mapping[str, int]) -> Verdicts:
        """Select verdicts. Systems without any are dropped; queries are not, since they were part of the sample."""
        present, place = _occurring_values(np.concatenate([self.first[mask], self.second[mask]]), len(self.systems))
        n = int(mask.sum())
        return replace(
            self,
            systems=tuple(self.systems[k] for k in present),
            query=self.query[mask],
            first=place[:n],
            second=place[n:],
            verdict=self.verdict[mask],
            points=self.points[mask],
            voter=self.voter[mask],
            voted=self.voted[mask],
            left_out=dict(self.left_out) | {reason: number for reason, number in reasons.items() if number},
        )


VerdictsByJudge = Mapping[str, Mapping[str, Verdicts]]
"""By judge and language."""


def verdicts(judgments: pa.Table, *, judge: str, unread: bool = False) -> dict[str, Verdicts]:
    """Return the verdicts of one judge by language.

    Args:
        judgments: table `judgments`, or its `COLUMNS`.
        judge: name of the judge.
        unread: whether to accept that every verdict is unparsed.

    Raises:
        UnknownName: if the judge has no verdict here, or a verdict has an unknown value.
        BadInput: if a system battles itself.
        NotEnoughData: if all of the judge's verdicts are unparsed, unless `unread`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for column, kind in (("points", pa.float64()), ("voter", pa.string())):
        if column not in judgments.column_names:
            judgments = judgments.append_column(column, pa.nulls(len(judgments), kind))
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
    for word in names:
        if word not in VERDICTS:
            raise UnknownName("verdict", word, VERDICTS)
    kind = np.array([VERDICTS[n] for n in names], dtype=np.int8)[name]
    voter = _number_voters(rows["voter"])
    points = _points(rows)
    if (denied := ((kind == FIRST) & (points < 0.5)) | ((kind == SECOND) & (points > 0.5))).any():
        row = rows.slice(int(np.argmax(denied)), 1).to_pylist()[0]
        raise BadInput(
            f"the verdict {row['verdict']} contradicts the points of system_a, {row['points']:g}",
            where=f"language={row['language']}, query_id={row['query_id']}, judge={judge}",
            do="omit one of the two, or correct them; points are the share of system_a, from 0 to 1",
        )
    if not unread and (kind == UNPARSED).all():
        raise NotEnoughData(f"all {len(rows):,} verdicts of {judge} are unparsed", do="check its raw replies")
    by_language = np.split(
        np.argsort(language, kind="stable"), np.cumsum(np.bincount(language, minlength=len(languages)))[:-1]
    )
    verdicts_by_language = {}
    for code, positions in zip(languages, by_language, strict=True):
        at_query, q = _occurring_values(query[positions], len(queries))
        at_system, both = _occurring_values(np.concatenate([a[positions], b[positions]]), len(systems))
        verdicts_by_language[code] = Verdicts(
            judge,
            tuple(systems[k] for k in at_system),
            tuple(queries[k] for k in at_query),
            q,
            both[: len(positions)],
            both[len(positions) :],
            kind[positions],
            points[positions],
            voter[positions],
            np.zeros(len(positions), dtype=bool),
        )
    return verdicts_by_language


def _number_voters(column: pa.ChunkedArray) -> Places:
    """Return a number for each person, -1 without a name; `~2` after a name marks a further vote of the same person."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count == len(column):
        return np.full(len(column), -1, dtype=np.intp)
    names = pc.replace_substring_regex(column.cast(pa.string()), r"~\d+$", "")
    numbers = names.combine_chunks().dictionary_encode()
    unnamed = pc.fill_null(pc.equal(names, ""), True).to_numpy(zero_copy_only=False)
    return np.where(unnamed, -1, numbers.indices.fill_null(-1).to_numpy(zero_copy_only=False)).astype(np.intp)


def _points(rows: pa.Table) -> NDArray[np.float32]:
    """Return the points of system_a, NaN where missing.

    Raises:
        BadInput: if a value is not between 0 and 1.
    """
    values = np.asarray(rows["points"].to_numpy(zero_copy_only=False), dtype=np.float64)
    outside = (values < 0) | (values > 1)
    if outside.any():
        row = rows.slice(int(np.argmax(outside)), 1).to_pylist()[0]
        keys = ("language", "query_id", "system_a", "system_b")
        raise BadInput(
            f"points must be between 0 and 1, not {row['points']:g}",
            where=", ".join(f"{key}={row[key]}" for key in keys),
            do="give the share of the point that system_a won; divide grades by their maximum first",
        )
    return values.astype(np.float32)


def programs(judgments: pa.Table) -> pa.Table:
    """Return the verdicts given by programs: neither votes nor verdicts derived from people's scores.

    Args:
        judgments: table `judgments` with the column `person`.
    """
    import pyarrow.compute as pc

    human = pc.or_(pc.fill_null(judgments["person"], False), pc.starts_with(judgments["judge"], OF_SCORES))
    return judgments.filter(pc.invert(human))


def with_known(judgments: pa.Table) -> pa.Table:
    """Return the verdicts with those on known-answer pairs attributed to the judge itself.

    Args:
        judgments: table `judgments`, all columns or some. Where a judge decided the same battle in both ways, its
            regular verdict is kept.
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
    """Return the judges of a table that can rank, by name; names of verdicts on known-answer pairs are excluded."""
    names: list[str] = judgments["judge"].unique().to_pylist()
    return tuple(sorted(name for name in names if not name.startswith(OF_KNOWN)))


def without_known(judgments: pa.Table) -> pa.Table:
    """Return the verdicts that can rank: all but those on known-answer pairs."""
    import pyarrow.compute as pc

    return judgments.filter(pc.invert(pc.starts_with(judgments["judge"], OF_KNOWN)))


def only_judge(names: Iterable[str], wanted: str | None = None) -> str:
    """Return the requested judge, or the only one available.

    Raises:
        UnknownName: if the requested judge is not available.
        BadInput: if no judge is requested and there is not exactly one.
    """
    there = sorted(names)
    if wanted is not None and wanted not in there:
        raise UnknownName("judge", wanted, there)
    if wanted is None and not there:
        raise BadInput("there is no judge", do="see what is there, and the command that adds one: mirage show DIR")
    if wanted is None and len(there) != 1:
        raise BadInput(
            f"there are {len(there)} judges: {', '.join(there)}",
            do="name the judge: --judge NAME; in Python, judge=NAME",
        )
    return wanted or there[0]


def from_judgments(judgments: pa.Table, *, judge: str | None = None) -> dict[str, Battles]:
    """Count the verdicts of one judge. Raises as `only_judge`, `verdicts` and `Verdicts.battles` do.

    Args:
        judgments: table `judgments`.
        judge: name of the judge; None if there is only one.

    Returns:
        Battles by language.
    """
    name = only_judge(judges_of(judgments), judge)
    return {code: language_verdicts.battles() for code, language_verdicts in verdicts(judgments, judge=name).items()}


def _occurring_values(codes: Places, n: int) -> tuple[Places, Places]:
    """Return the values among 0 to n - 1 that occur, and each row's index among these."""
    present = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.empty(n, dtype=np.intp)
    place[present] = np.arange(len(present))
    return present, place[codes]
