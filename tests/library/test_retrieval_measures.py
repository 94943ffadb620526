"""Measures of retrieval: ir_measures and pytrec_eval as oracles, null where the labels say nothing."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage import schema
from mirage.errors import BadInput
from mirage.stages.retrieve import measures
from mirage.stages.retrieve.measures import grades

ir_measures = pytest.importorskip("ir_measures", reason="needs the package ir_measures")

Run = dict[str, list[str]]
Qrels = dict[str, dict[str, int]]
NAMES = ("nDCG@3", "nDCG@10", "R@2", "R@100", "RR@10", "AP@100", "judged@5")


def retrieved(run: Run, retriever: str = "bm25", language: str = "en") -> pa.Table:
    rows = [
        {"language": language, "query_id": query, "retriever": retriever, "passage_id": passage, "rank": rank}
        for query, passages in run.items()
        for rank, passage in enumerate(passages, start=1)
    ]
    fields = [("language", pa.string()), ("query_id", pa.string()), ("retriever", pa.string())]
    return pa.Table.from_pylist(rows, pa.schema([*fields, ("passage_id", pa.string()), ("rank", pa.int64())]))


def labels(qrels: Qrels, language: str = "en") -> pa.Table:
    rows = [
        {"language": language, "query_id": query, "passage_id": passage, "grade": grade}
        for query, passages in qrels.items()
        for passage, grade in passages.items()
    ]
    text = [(name, pa.string()) for name in ("language", "query_id", "passage_id")]
    return pa.Table.from_pylist(rows, pa.schema([*text, ("grade", pa.int64())]))


def oracle(run: Run, qrels: Qrels, relevant_from: int) -> dict[tuple[str, str], float]:
    """By query and measure. Queries without a relevant passage, or a row in the run, are the caller's."""
    spelled = {
        name: ir_measures.parse_measure(
            name.replace("judged", "Judged").replace("@", f"(rel={relevant_from})@")
            if name[:2] in ("R@", "RR", "AP")
            else name.replace("judged", "Judged")
        )
        for name in NAMES
    }
    scores = [
        ir_measures.ScoredDoc(query, passage, float(1000 - rank))
        for query, passages in run.items()
        for rank, passage in enumerate(passages)
    ]
    judged = [
        ir_measures.Qrel(query, passage, grade)
        for query, passages in qrels.items()
        for passage, grade in passages.items()
    ]
    by_measure = {str(value): name for name, value in spelled.items()}
    return {
        (metric.query_id, by_measure[str(metric.measure)]): metric.value
        for metric in ir_measures.iter_calc(list(spelled.values()), judged, scores)
    }


passages = st.lists(st.sampled_from([f"p{k}" for k in range(12)]), min_size=1, max_size=12, unique=True)
runs = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), passages, min_size=1)
qrels_of_all = st.fixed_dictionaries(
    {
        query: st.dictionaries(st.sampled_from([f"p{k}" for k in range(15)]), st.integers(0, 3), min_size=1)
        for query in ("q1", "q2", "q3")
    }
)


@given(runs, qrels_of_all, st.sampled_from([1, 2]))
def test_every_measure_is_that_of_ir_measures(run: Run, qrels: Qrels, relevant_from: int) -> None:
    table = measures.by_query(retrieved(run), labels(qrels), measures=NAMES, relevant_from=relevant_from)
    expected = oracle(run, qrels, relevant_from)
    rows = table.to_pylist()
    assert len(rows) == len(NAMES) * len(qrels)
    for row in rows:
        query, name = row["query_id"], row["measure"]
        has_relevant = any(grade >= relevant_from for grade in qrels[query].values())
        if name.startswith("judged"):
            assert row["value"] == (pytest.approx(expected[query, name]) if query in run else None)
        elif not has_relevant:
            assert (row["value"], row["reason"]) == (None, measures.NO_RELEVANT)
        else:
            assert row["value"] == pytest.approx(expected.get((query, name), 0.0), abs=1e-12)
            assert row["reason"] is None


def test_a_query_for_which_a_retriever_brought_nothing_counts_as_nothing() -> None:
    run = pa.concat_tables([retrieved({"q1": ["p1"]}, "a"), retrieved({"q1": ["p2"], "q2": ["p1"]}, "b")])
    table = measures.by_query(run, labels({"q1": {"p1": 1}, "q2": {"p1": 2}}), measures=("R@10", "judged@10"))
    values = {(row["retriever"], row["query_id"], row["measure"]): row["value"] for row in table.to_pylist()}
    assert values["a", "q2", "R@10"] == 0
    assert values["a", "q2", "judged@10"] is None
    assert values["b", "q2", "R@10"] == 1
    by_retriever = {row.retriever: row for row in measures.means(table) if row.measure == "R@10"}
    assert by_retriever["a"].mean == 0.5
    assert by_retriever["a"].n == 2


def test_a_retriever_counts_in_the_languages_it_worked_in_and_each_language_alike() -> None:
    run = pa.concat_tables(
        [retrieved({"q1": ["p1"], "q2": ["p9"]}, "a"), retrieved({"q1": ["p1"], "q2": ["p1"]}, "a", "sw")]
    )
    both = pa.concat_tables([labels({"q1": {"p1": 1}, "q2": {"p1": 1}}, code) for code in ("en", "fi", "sw")])
    rows = measures.means(measures.by_query(run, both, measures=("RR@10",)))
    assert {row.language: row.mean for row in rows} == {"en": 0.5, "sw": 1.0, "all": 0.75}
    assert all(row.low is None or 0 <= row.low <= row.high <= 1 for row in rows if row.high is not None)


def test_labels_are_grades_where_the_source_grades() -> None:
    passages_ = schema.from_rows(
        "passages",
        [
            schema.Passage("en", "q", name, k + 1, None, "text", label)
            for k, (name, label) in enumerate([("a", True), ("b", False), ("c", None), ("d", True), ("e", True)])
        ],
    )
    documents = schema.from_rows(
        "documents",
        [
            schema.Document("en", "q", "d", None, '{"grade": 3}'),
            schema.Document("en", "q", "e", None, '{"grade": -1}'),
            schema.Document("en", "q", "a", "https://example.org", None),
        ],
    )
    table = grades(passages_, documents)
    assert {row["passage_id"]: row["grade"] for row in table.to_pylist()} == {"a": 1, "b": 0, "d": 3}


def test_a_passage_retrieved_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="p1 twice"):
        measures.by_query(retrieved({"q1": ["p1", "p1"]}), labels({"q1": {"p1": 1}}))
