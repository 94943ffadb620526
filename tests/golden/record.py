"""The golden record: numbers of the bundled arenas and of three small ones, in full precision.

    python tests/golden/record.py                      # compute the numbers again, and list those that differ
    python tests/golden/record.py --write              # keep them
    python tests/golden/record.py --only rates people  # some parts only
    python tests/golden/record.py --diff OLD NEW       # compare two folders of records
    python tests/golden/record.py --show PREFIX        # print the recorded numbers whose key begins so

A number may change only because it was wrong; the commit that changes it says why. The folder `numbers` has a file per
part, with a row per number: key, and value as JSON. A key reads `arena/part/judge=.../language=.../system=.../field`.
Everything is computed through the Python API or from stored tables, so that a change of commands or pages cannot change
the record; the functions under "the program's names" are all that a rename touches.

To stay within a minute some parts take less than all: fewer draws (`DRAWS`), networks in two languages only
(`NETWORKS`), predictions in four (`PREDICTED`), pair tests and means of every second language of an arena with many
(`tested_languages`), the reproduction of MIRAGE-Bench on a small arena with few tournaments (`PAPER`), features
measured again of the answers to one query of a few languages.
"""

import argparse
import csv
import gzip
import io
import itertools
import json
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run as a program, from any folder
    sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

import pyarrow as pa
import pyarrow.compute as pc
from golden import small_arenas
from golden.cases import read_golden

import mirage
from mirage.battles.judge import judges
from mirage.errors import MirageError
from mirage.io.sources.nomiracl.outputs import read_outputs
from mirage.papers.printed import printed_figures
from mirage.papers.reproduction import PaperSettings, reproduce
from mirage.ranking.board import rank_arena
from mirage.ranking.judges import Judge
from mirage.ranking.pair_tests import BoardTests
from mirage.ranking.settings import RankSettings
from mirage.ranking.surrogate.data import Training
from mirage.ranking.surrogate.evaluate import compare_regressors
from mirage.ranking.surrogate.importance import importances
from mirage.ranking.surrogate.regressors import predict
from mirage.ranking.surrogate.training import training
from mirage.stages.features.means import means, over_languages
from mirage.stages.features.spec import Tools
from mirage.stages.features.table import compute
from mirage.stages.judge.stats import judge_stats
from mirage.stages.outcomes.confusion import confusion
from mirage.stages.outcomes.tables import outcomes
from mirage.stages.retrieve.bm25 import search_bm25
from mirage.stages.retrieve.corpus import arena_corpus
from mirage.text.answers import citations, is_numbered
from mirage.views.causes import decisions_view

Value = float | int | str | bool | None
Numbers = Iterator[tuple[str, Value]]
"""Keys with their values."""
Arenas = Mapping[str, mirage.Arena]

FOLDER = Path(__file__).with_name("numbers")
"""The record: a file for each part."""
OUTPUTS = Path(os.environ.get("MIRAGE_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "nomiracl"
"""The published outputs of NoMIRACL, beside the checkout; a part needs them."""
TOLERANCE = 1e-9
"""Relative difference of two floats that counts as none: the ends of intervals differ by less between processors."""
LOOSE = {
    "/regressor=svr/": 0.03,
    "/regressor=mlp/": 1e-4,
    "/bm25/": 1e-5,
    "/reproduced/": 0.05,
}
"""Tolerance where a solver stops early, a tree splits at a tie, or sums are of 32 bits, by part of the key."""
BUNDLED = ("nomiracl", "people", "published", "sample", "sample-across")
SMALL = ("votes", "nuggets", "repeats")
MADE = (*SMALL, "sample", "sample-across")
"""The arenas that have answers."""
DRAWS = 200
"""Bootstrap draws of the rankings."""
NETWORKS = ("de", "sw")
PREDICTED = ("ar", "de", "sw", "zh")
"""Languages of the bundled arenas whose ratings are predicted from features."""
PAPER = PaperSettings(languages=("de", "sw"), draws=10, forest_draws=1, splits=2)
MANY = 6
"""Number of languages from which pair tests are recorded for every second language only."""
SHOWN = 20
"""Number of differing keys that a report lists."""


# --- the program's names ----------------------------------------------------------------------------------------------


def a_judge(name: str, skill: str = "both") -> Judge:
    """Return the judge with a name."""
    return Judge.from_name(name, skill=skill)  # type: ignore[arg-type]


def ranked(arena: mirage.Arena, name: str, skill: str = "both", **settings: Any) -> Any:
    """Rank the systems of an arena by one judge."""
    settings = {"draws": DRAWS, "skill": skill} | settings
    return rank_arena(arena, a_judge(name, skill), RankSettings(**settings)).ranking


def training_data(arena: mirage.Arena, name: str, languages: Sequence[str] | None = None) -> Training:
    """Join an arena's features with the battles of a judge."""
    judge = a_judge(name)
    return training(arena.read("features"), judge.read(arena), judge, languages=languages)


# --- keys -------------------------------------------------------------------------------------------------------------


def key(*parts: str, **names: Any) -> str:
    """Join parts and names to a key: `sample/rank/judge=x/language=sw`."""
    return "/".join([*parts, *(f"{name}={value}" for name, value in names.items())])


def as_row(record: Any) -> Mapping[str, Any]:
    """Return a record or a mapping as a mapping."""
    return asdict(record) if is_dataclass(record) and not isinstance(record, type) else record


def rows(prefix: str, records: Iterable[Any], names: Sequence[str], fields: Sequence[str]) -> Numbers:
    """Yield some fields of each record under the key of its names."""
    for record in records:
        row = as_row(record)
        where = key(prefix, **{name: row[name] for name in names})
        for field in fields:
            yield f"{where}/{field}", row[field]


def tried(prefix: str, compute_part: Callable[[], Numbers]) -> Numbers:
    """Yield a part, or in its place the kind of error that says why there is none."""
    try:
        found = list(compute_part())
    except MirageError as error:
        found = [(f"{prefix}/refused", type(error).__name__)]
    yield from found


# --- rankings ---------------------------------------------------------------------------------------------------------

RATED = ("rating", "low", "high", "rank", "rank_low", "rank_high", "best", "wins", "ties", "losses", "battles")


def ratings(prefix: str, ranking: Any) -> Numbers:
    """Yield ratings with their intervals and ranks."""
    yield from rows(prefix, ranking.table().to_pylist(), ("language", "system"), RATED)


def tested_languages(codes: Collection[str]) -> tuple[str, ...]:
    """Return the languages whose pair tests are recorded."""
    known = sorted(codes)
    return tuple(known) if len(known) < MANY else tuple(dict.fromkeys([*known[::2], *[c for c in known if c == "all"]]))


def pair_tests(prefix: str, tests: Mapping[str, BoardTests]) -> Numbers:
    """Yield the test of every two systems, and the queries needed to separate neighbours."""
    for code in tested_languages(tests):
        board = tests[code]
        for first, second in itertools.combinations(sorted(board.systems), 2):
            at = board.index_of(first, second)
            where = key(prefix, language=code, systems=f"{first},{second}")
            yield f"{where}/z", float(board.z[at])
            yield f"{where}/p", float(board.p[at])
            yield f"{where}/p_adjusted", float(board.adjusted[at])
            yield f"{where}/differing", int(board.differing[at])


def rankings(arenas: Arenas) -> Numbers:
    """Yield the rankings of every judge and language, with tests; relevance labels also by skill. Of the sample, whose
    18 languages take longest, neither skills nor simulated judges.
    """
    for name, arena in arenas.items():
        for judge in judges(arena):
            if judge.startswith("simulated/"):
                continue
            skills = ("both", "abstain", "answer") if judge == "relevance" and name != "sample" else ("both",)
            for skill in skills:
                prefix = key(name, "rank", judge=judge if skill == "both" else f"{judge}:{skill}")
                yield from tried(prefix, lambda p=prefix, a=arena, j=judge, s=skill: _ranking(p, a, j, s))


def _ranking(prefix: str, arena: mirage.Arena, judge: str, skill: str) -> Numbers:
    ranking = ranked(arena, judge, skill)
    yield from ratings(prefix, ranking)
    yield from pair_tests(prefix, ranking.tests)


def other_rankings(arenas: Arenas) -> Numbers:
    """Yield rankings with other settings: ties, penalty, parser, pooled judges, nugget margin, a data frame."""
    votes, nuggets, repeats, sample = (arenas[name] for name in (*SMALL, "sample"))
    cases = {
        "votes/ties davidson": lambda: ranked(votes, "strict judge", ties="davidson"),
        "votes/ties drop": lambda: ranked(votes, "strict judge", ties="drop"),
        "votes/no penalty": lambda: ranked(votes, "strict judge", penalty="none"),
        "votes/pooled": lambda: mirage.rank(votes, judge="pooled", draws=DRAWS),
        "votes/seed 7": lambda: ranked(votes, "hasty judge", seed=7, languages=("sw",)),
        "votes/rows": lambda: mirage.rank(votes.read("judgments"), judge="hasty judge", draws=DRAWS),
        "nuggets/generous": lambda: mirage.rank(nuggets, judge="nuggets", assigner="generous", draws=DRAWS),
        "nuggets/margin": lambda: mirage.rank(nuggets, judge="nuggets", nugget_margin=0.2, draws=DRAWS),
        "repeats/published": lambda: ranked(repeats, "relevance", parser="published"),
        "sample/published": lambda: ranked(sample, "relevance", parser="published"),
        "sample/heuristic drop": lambda: ranked(sample, "heuristic", ties="drop", languages=("de", "sw")),
    }
    for name, make in cases.items():
        arena, settings = name.split("/")
        prefix = key(arena, "rank otherwise", settings=settings)
        yield from tried(prefix, lambda p=prefix, m=make: _with_difference(p, m()))


def _with_difference(prefix: str, ranking: Any) -> Numbers:
    yield from ratings(prefix, ranking)
    for code, row in ranking.languages.items():
        first, second = sorted(row.systems)[:2]
        found = ranking.difference(first, second, language=code)
        for field in ("value", "low", "high"):
            yield (
                f"{key(prefix, 'difference', language=code, systems=f'{first},{second}')}/{field}",
                getattr(found, field),
            )


def stored(arenas: Arenas) -> Numbers:
    """Yield what the bundled arenas store: ratings, predictions, importances."""
    fields = {
        "ratings": (("system",), ("rating", "low", "high", "rank")),
        "predictions": (("regressor", "system"), ("rating", "low", "high", "rank", "judged", "tau_part", "slope_part")),
        "importances": (("regressor", "kind", "features"), ("value", "low", "high", "systems")),
    }
    for name in BUNDLED:
        for table, (names, columns) in fields.items():
            if table not in arenas[name].tables:
                continue
            sums: dict[str, list[float]] = {}
            for row in arenas[name].read(table).to_pylist():
                judge = f"{row['judge']}:{row['skill']}"
                where = key(name, "stored", table, judge=judge, language=row["language"])
                if table == "importances":
                    for column in columns:
                        yield f"{key(where, **{n: row[n] for n in names})}/{column}", row[column]
                    continue
                by = row.get("regressor")
                for column in columns:
                    at = f"{key(where, **({'regressor': by} if by else {}))}/{column}"
                    sums.setdefault(at, []).append(row[column] if row[column] is not None else math.nan)
            for at, values in sums.items():
                known = [value for value in values if not math.isnan(value)]
                yield f"{at}/n", len(known)
                # Positions count, so that two systems that trade places show.
                yield f"{at}/sum", math.fsum(value * place for place, value in enumerate(values, 1) if value == value)


# --- rates and outcomes -----------------------------------------------------------------------------------------------


def rates(arenas: Arenas) -> Numbers:
    """Yield hallucination and error rates by both parsers, and confusion matrices."""
    fields = (
        *("n", "answered", "abstained", "unparsed", "missing", "rate", "rate_low", "rate_high"),
        *("rate_as_published", "unclassified"),
    )
    counts = ("true_positives", "false_negatives", "false_positives", "true_negatives", "hallucination_rate")
    for name, arena in arenas.items():
        if "outcomes" not in arena.tables:
            continue
        for parser in ("strict", "published"):
            prefix = key(name, "rates", parser=parser)
            table = mirage.rates(arena, parser=parser).table
            yield from rows(prefix, table.to_pylist(), ("language", "subset", "system"), fields)
            matrices = confusion(table.filter(pc.equal(table["language"], "all"))).to_pylist()
            yield from rows(f"{prefix}/confusion", matrices, ("language", "system"), counts)


def outcome_counts(arenas: Arenas) -> Numbers:
    """Yield the number of answers by parser, outcome and deciding rule, as stored and read anew."""
    for name, arena in arenas.items():
        if "outcomes" not in arena.tables:
            continue
        yield from _counts(key(name, "outcomes", "stored"), arena.read("outcomes"))
        if name in MADE:
            yield from _counts(key(name, "outcomes", "anew"), outcomes(arena.read("queries"), arena.read("answers")))


def _counts(prefix: str, table: pa.Table) -> Numbers:
    columns = ("parser", "language", "subset", "outcome", "rule")
    found = Counter(zip(*(table[column].to_pylist() for column in columns), strict=True))
    for names, n in found.items():
        yield key(prefix, **dict(zip(columns, names, strict=True))), n


def published_outputs(_: Arenas) -> Numbers:
    """Yield the number of answers by parser, outcome and rule, of some files of NoMIRACL's published outputs."""
    with tempfile.TemporaryDirectory() as copied:
        for file in sorted(OUTPUTS.glob("*relevant/*.gz")):
            if file.name.split(".")[0] in ("fi", "hi", "sw", "zh"):
                target = Path(copied) / file.parent.name / file.name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(file.read_bytes())
        tables = read_outputs(Path(copied))
    yield from _counts("nomiracl/outcomes/published outputs", outcomes(tables["queries"], tables["answers"]))


# --- answers ----------------------------------------------------------------------------------------------------------


def feature_means(arenas: Arenas) -> Numbers:
    """Yield the systems' means of every feature, with intervals, by language and over all."""
    for name, arena in arenas.items():
        if "features" not in arena.tables:
            continue
        table = arena.read("features")
        by_language = means(table)
        found = [*by_language, *over_languages(by_language, table)]
        codes = tested_languages({row.language for row in found})
        for row in found:
            if row.language in codes:
                fields = ("mean", "low", "high", "n", "total")
                yield from rows(key(name, "features"), [row], ("language", "system", "feature"), fields)


def features_anew(arenas: Arenas) -> Numbers:
    """Yield the features of some answers, measured again."""
    chosen = {"sample": ("ar", "sw", "zh", "de"), "sample-across": ("fr",), "votes": ("sw",), "nuggets": ("fi",)}
    for name, languages in chosen.items():
        tables: dict[str, pa.Table] = {}
        for table in ("queries", "passages", "answers", "retrieved", "nuggets", "nugget_assignments"):
            if table in arenas[name].tables:
                tables[table] = arenas[name].read(table, languages=languages)
        ids = tables["queries"].to_pylist()
        first = {code: min(row["query_id"] for row in ids if row["language"] == code) for code in languages}
        tables = {table: _of_queries(found, first) for table, found in tables.items()}
        systems = set(tables["answers"]["system"].to_pylist())
        reference = next((system for system in ("reference", "amber") if system in systems), None)
        measured = compute(
            *(tables.pop(table) for table in ("queries", "passages", "answers")),
            tools=Tools(reference=reference),
            others=tables,
        )
        names = ("language", "query_id", "system", "feature")
        yield from rows(key(name, "features anew"), measured.to_pylist(), names, ("value",))


def _of_queries(table: pa.Table, chosen: Mapping[str, str]) -> pa.Table:
    pairs = zip(table["language"].to_pylist(), table["query_id"].to_pylist(), strict=True)
    return table.filter(pa.array([chosen.get(code) == query for code, query in pairs], pa.bool_()))


def cited(arenas: Arenas) -> Numbers:
    """Yield the citations found in the answers: by system, how many, and the sums of their places and positions."""
    for name in MADE:
        arena = arenas[name]
        ids: dict[tuple[str, str], list[str]] = {}
        for row in arena.read("passages").to_pylist():
            ids.setdefault((row["language"], row["query_id"]), []).append(row["passage_id"])
        sums: dict[tuple[str, str], Counter[str]] = {}
        for row in arena.read("answers").to_pylist():
            found = citations(
                row["text"] or "",
                ids.get((row["language"], row["query_id"]), []),
                numbered=is_numbered(row["template"], row["numbered"]),
            )
            sums.setdefault((row["language"], row["system"]), Counter()).update(
                {
                    "citations": len(found),
                    "known": sum(mention.known for mention in found),
                    "starts": sum(mention.start for mention in found),
                    "ends": sum(mention.end for mention in found),
                    "labels": sum(len(mention.label) for mention in found),
                }
            )
        for (code, system), counted in sums.items():
            for field, value in counted.items():
                yield f"{key(name, 'citations', language=code, system=system)}/{field}", value


def nugget_scores(arenas: Arenas) -> Numbers:
    """Yield the systems' nugget scores by every assigner."""
    for name, arena in arenas.items():
        if "nugget_assignments" not in arena.tables:
            continue
        for assigner in sorted(set(arena.read("nugget_assignments")["assigner"].to_pylist())):
            found = mirage.nugget_scores(arena, assigner=assigner)
            codes = tested_languages({row["language"] for row in found})
            chosen = [row for row in found if row["language"] in codes]
            prefix = key(name, "nuggets", assigner=assigner)
            yield from rows(prefix, chosen, ("language", "system", "feature"), ("mean", "low", "high", "n", "total"))


def retrieval(arenas: Arenas) -> Numbers:
    """Yield retrieval measures, the causes of failures, and BM25's lists, searched again."""
    for name in MADE:
        arena = arenas[name]
        found = list(mirage.retrieval_measures(arena))
        fields = ("mean", "low", "high", "n", "total")
        yield from rows(key(name, "retrieval"), found, ("language", "retriever", "measure"), fields)
        shares = list(mirage.attribution(arena))
        codes = tested_languages({row["language"] for row in shares})
        chosen = [row for row in shares if row["language"] in codes]
        fields = ("k", "n", "share", "low", "high")
        yield from rows(key(name, "failures"), chosen, ("language", "system", "cause"), fields)
    yield from _bm25(arenas["sample"], ("de", "hi", "sw", "zh"))


def _bm25(arena: mirage.Arena, languages: Sequence[str]) -> Numbers:
    for code in languages:
        queries = arena.read("queries", languages=[code]).to_pylist()
        corpus = arena_corpus(arena.read("passages", languages=[code]), code)
        ids = corpus.passages["passage_id"].to_pylist()
        for query, hits in zip(queries, search_bm25(corpus, [q["text"] for q in queries], 5), strict=True):
            for rank, (place, score) in enumerate(hits, start=1):
                where = key("sample", "bm25", language=code, query=query["query_id"], rank=rank)
                yield f"{where}/passage", ids[place]
                yield f"{where}/score", float(score)


def across_languages(arenas: Arenas) -> Numbers:
    """Yield the shares of correct decisions by languages of query and passage."""
    names = ("system", "query_language", "passage_language")
    found = decisions_view(arenas["sample-across"])
    yield from rows("sample-across/decisions", found, names, ("k", "n", "share", "low", "high"))


def noise(arenas: Arenas) -> Numbers:
    """Yield the components of the noise of rates and verdicts."""
    found = {
        "repeats/rates": mirage.variance(arenas["repeats"]),
        "repeats/verdicts": mirage.variance(arenas["repeats"], judges=["twice"]),
        "votes/verdicts": mirage.variance(arenas["votes"], judges=["strict judge", "hasty judge"]),
        "nomiracl/rates": mirage.variance(arenas["nomiracl"]),
    }
    for name, sources in found.items():
        arena, of = name.split("/")
        yield from rows(key(arena, "noise", of), sources, ("target", "source"), ("variance", "share", "n"))


# --- comparisons ------------------------------------------------------------------------------------------------------


def comparisons(arenas: Arenas) -> Numbers:
    """Yield comparisons of two systems, by rating, rate, nuggets and a feature."""
    fields = (
        *("verdict", "difference", "low", "high", "p", "n_queries", "unpaired", "differing"),
        *("detectable", "queries_needed", "board"),
    )
    for name, first, second, options in map(dict.values, read_golden("compared")):
        said = ",".join(f"{option} {value}" for option, value in options.items())
        prefix = key(name, "compare", systems=f"{first},{second}", by=said)

        def part(
            prefix: str = prefix, arena: str = name, pair: tuple[str, str] = (first, second), options: Any = options
        ) -> Numbers:
            report = mirage.compare(arenas[arena], *pair, draws=DRAWS, **options)
            yield from rows(prefix, report.rows, ("language",), fields)
            # Not their names: queries with equal differences come in an order that depends on rounding.
            for place, moved in enumerate(report.moved[:5], start=1):
                yield f"{key(prefix, moved=place)}/difference", abs(moved.difference)

        yield from tried(prefix, part)


# --- people -----------------------------------------------------------------------------------------------------------


def people(arenas: Arenas) -> Numbers:
    """Yield agreement, judges' exams, statistics of judges, corrected rankings and corrected levels."""
    arena, log = arenas["votes"], small_arenas.votes()
    fields = [
        *("n", "queries", "voters", "skipped", "both_bad", "unread"),
        *(f"{name}{end}" for name in ("raw", "kappa", "alpha") for end in ("", "_low", "_high")),
    ]
    yield from rows("votes/agreement", mirage.agreement(log, arena), ("judge", "language"), fields)
    names, of_exam = ("judge", "language", "measure"), ("value", "low", "high", "n", "queries")
    yield from rows(key("votes", "exam"), mirage.judge_exam(arena, log), names, of_exam)
    yield from rows(key("people", "exam"), mirage.judge_exam(arenas["people"]), names, of_exam)
    rated = ("rating", "low", "high", "rank", "rank_low", "rank_high", "votes", "battles", "lam", "width")
    for judge in ("strict judge", "hasty judge"):
        corrected = mirage.correct(arena, log, judge=judge)
        yield from rows(key("votes", "corrected", judge=judge), corrected.rows(), ("language", "system"), rated)
        one = mirage.correct(arena, [row for row in log if row["language"] == "sw"], judge=judge)
        yield from rows(key("votes", "corrected alone", judge=judge), one.rows(), ("language", "system"), rated)
    of_levels = ("uncorrected", "n", "corrected", "low", "high", "labels", "lam", "width", "status")
    found = mirage.levels(arena, "score:faithfulness")
    yield from rows(key("votes", "levels"), found, ("measure", "language", "system"), of_levels)
    for name, judged in arenas.items():
        if "judgments" in judged.tables:
            ends = [f"{rate}_{part}" for rate in ("flip", "first", "tie") for part in ("rate", "low", "high", "n")]
            stats = judge_stats(judged.read("judgments"))
            yield from rows(key(name, "judges"), stats, ("judge", "language"), ("n", *ends, "unparsed_rate"))


# --- surrogate and papers ---------------------------------------------------------------------------------------------


def surrogates(arenas: Arenas) -> Numbers:
    """Yield predictions of left-out systems, and importances."""
    cases = {
        ("sample", "heuristic"): ("linear", "ridge", "svr"),
        ("nomiracl", "relevance"): ("linear", "ridge"),
        ("votes", "strict judge"): ("linear",),
    }
    for (name, judge), regressors in cases.items():
        prefix = key(name, "surrogate", judge=judge)
        seen = training_data(arenas[name], judge, None if name in SMALL else PREDICTED)
        yield from tried(prefix, lambda p=prefix, s=seen, r=regressors: _compared(p, s, r))
    seen = training_data(arenas["sample"], "relevance", NETWORKS)
    # Trees split at ties by the last bits of the ratings, which differ between processors: `papers` has them, loosely.
    prefix = key("sample", "surrogate", judge="relevance", regressor="mlp")
    for code, values in sorted(predict(seen, "mlp", out=["half", "thorough"]).items()):
        for system, value in zip(seen.languages[code].systems, values.tolist(), strict=True):
            yield f"{key(prefix, language=code, system=system)}/prediction", value


def _compared(prefix: str, seen: Training, regressors: Sequence[str]) -> Numbers:
    compared = compare_regressors(seen, regressors)
    yield f"{prefix}/default", [*compared][-1]
    fields = ("systems", "tau", "rmse", "r2", "slope", "covered")
    yield from rows(
        f"{prefix}/quality",
        itertools.chain(*(of.quality() for of in compared.values())),
        ("language", "regressor"),
        fields,
    )
    for regressor, held_out in compared.items():
        for code, of in held_out.languages.items():
            if code not in tested_languages(held_out.languages):
                continue
            for place, system in enumerate(of.systems):
                where = key(prefix, "left out", regressor=regressor, language=code, system=system)
                yield f"{where}/predicted", float(of.predicted[place])
                yield f"{where}/low", float(of.low[place])
                yield f"{where}/high", float(of.high[place])
    yield from rows(f"{prefix}/importance", importances(seen, "linear"), ("feature",), ("rise", "low", "high"))


def papers(arenas: Arenas) -> Numbers:
    """Yield the printed figures beside ours, and the reproduction of MIRAGE-Bench on a small arena."""
    printed = arenas["published"].read("published")
    names = ("source", "item", "metric", "setting", "system", "language")
    fields = ("printed", "text", "ours", "ours_low", "ours_high", "n")
    seen: Counter[str] = Counter()
    for figure in printed_figures(printed, arenas["nomiracl"]):
        row = as_row(figure)
        where = key("published", "figures", **{name: row[name] for name in names})
        seen[where] += 1
        for field in fields:
            if row[field] is not None:
                yield f"{where}{f'/{seen[where]}' * (seen[where] > 1)}/{field}", row[field]
    for figure in reproduce(arenas["votes"], a_judge("strict judge"), PAPER).figures:
        row = as_row(figure)
        where = key("votes", "reproduced", **{name: row[name] for name in names})
        for field in ("printed", "ours", "n"):
            if row[field] is not None:
                yield f"{where}/{field}", row[field]


# --- the record -------------------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Arenas], Numbers]] = {
    part.__name__: part
    for part in (
        *(rankings, other_rankings, stored, rates, outcome_counts, feature_means, features_anew, cited),
        *(nugget_scores, retrieval, across_languages, noise, comparisons, people, surrogates, papers),
        published_outputs,
    )
}
"""The parts of the record, by the name of their file."""


def small(folder: Path) -> dict[str, mirage.Arena]:
    """Write the three small arenas."""
    writers = (small_arenas.write_votes, small_arenas.write_nuggets, small_arenas.write_repeats)
    return {name: write(folder / name) for name, write in zip(SMALL, writers, strict=True)}


def all_arenas(folder: Path) -> dict[str, mirage.Arena]:
    """Open the bundled arenas, and write the small ones to a folder."""
    return {name: mirage.open_arena(name) for name in BUNDLED} | small(folder)


def record(numbers: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Collect numbers by key, sorted; NaN becomes null.

    Raises:
        ValueError: if a key occurs twice, or a value is not a number, a text or null.
    """
    found: dict[str, Value] = {}
    for name, value in numbers:
        if name in found:
            raise ValueError(f"{name} is recorded twice")
        if hasattr(value, "item"):
            value = value.item()
        if not isinstance(value, float | int | str | None):
            raise ValueError(f"{name} is {value!r}")
        found[name] = None if isinstance(value, float) and math.isnan(value) else value
    return dict(sorted(found.items()))


def equal(old: Value, new: Value, tolerance: float = TOLERANCE) -> bool:
    """Return whether two values are the same, floats up to a tolerance."""
    if type(old) is not type(new):
        return False
    if isinstance(old, float) and isinstance(new, float):
        return old == new or math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance)
    return old == new


def differences(old: Mapping[str, Value], new: Mapping[str, Value]) -> list[str]:
    """Return a line for each key that only one record has, or whose value differs."""
    lines = []
    for name in sorted({*old, *new}):
        if name not in new:
            lines.append(f"gone      {name}: {old[name]!r}")
        elif name not in old:
            lines.append(f"new       {name}: {new[name]!r}")
        elif not equal(old[name], new[name], next((LOOSE[part] for part in LOOSE if part in name), TOLERANCE)):
            lines.append(f"different {name}: {old[name]!r} -> {new[name]!r}")
    return lines


def report(lines: Sequence[str]) -> str:
    """Summarise differences: how many, and the first of each part."""
    parts: dict[str, list[str]] = {}
    for line in lines:
        parts.setdefault("/".join(line.split(maxsplit=1)[1].split("/")[:2]), []).append(line)
    each = max(1, SHOWN // max(len(parts), 1))
    shown = [line for own in parts.values() for line in own[:each]][:SHOWN]
    counts = ", ".join(f"{len(own)} of {part}" for part, own in [*parts.items()][:SHOWN])
    return "\n".join([f"{len(lines)} differ: {counts}", *shown])


def read(part: str, folder: Path = FOLDER) -> dict[str, Value]:
    """Read a part of a record; empty if there is none."""
    file = folder / f"{part}.csv.gz"
    if not file.exists():
        return {}
    with gzip.open(file, "rt", encoding="utf-8", newline="") as stream:
        return {name: json.loads(value) for name, value in csv.reader(stream)}


def write(part: str, numbers: Mapping[str, Value], folder: Path = FOLDER) -> None:
    """Write a part of a record; the same numbers give the same bytes."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerows((name, json.dumps(value, ensure_ascii=False)) for name, value in numbers.items())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode("utf-8"), compresslevel=9, mtime=0))


@contextmanager
def no_votes(folder: Path) -> Iterator[None]:
    """Keep the votes of whoever computes the record out of it."""
    before = os.environ.get("MIRAGE_VOTES_URL")
    os.environ["MIRAGE_VOTES_URL"] = f"sqlite:///{folder / 'votes.sqlite'}"
    try:
        yield
    finally:
        del os.environ["MIRAGE_VOTES_URL"]
        if before is not None:
            os.environ["MIRAGE_VOTES_URL"] = before


def main() -> int:
    """Compare, write or print the record; return 1 if numbers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the numbers of this code")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder of the record to compare or write")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART")
    parser.add_argument("--diff", nargs=2, type=Path, metavar=("OLD", "NEW"), help="compare two folders of records")
    parser.add_argument("--show", metavar="PREFIX", help="print the recorded numbers whose key begins so")
    given = parser.parse_args()
    if given.show is not None:
        whole = [item for part in given.only for item in read(part, given.folder).items()]
        sys.stdout.writelines(f"{name}: {value!r}\n" for name, value in whole if name.startswith(given.show))
        return 0
    lines: list[str] = []
    if given.diff:
        for part in given.only:
            lines += differences(*(read(part, folder) for folder in given.diff))
    else:
        with tempfile.TemporaryDirectory() as folder, no_votes(Path(folder)):
            arenas = all_arenas(Path(folder))
            for part in given.only:
                if part == published_outputs.__name__ and not OUTPUTS.is_dir():
                    sys.stderr.write(f"{part} is left out: nothing is at {OUTPUTS}\n")
                    continue
                try:
                    numbers = record(PARTS[part](arenas))
                except Exception as error:  # the other parts are still of interest
                    if given.write:
                        raise
                    lines.append(f"broken    {part}/: {type(error).__name__}: {error}")
                    continue
                lines += differences(read(part, given.folder), numbers)
                if given.write:
                    write(part, numbers, given.folder)
    sys.stdout.write(f"{report(lines) if lines else 'nothing differs'}\n")
    return int(bool(lines) and not given.write)


if __name__ == "__main__":
    raise SystemExit(main())
