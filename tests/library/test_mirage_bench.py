"""The public data sets of MIRAGE-Bench in, from local files of exactly their shapes, in both generations of names."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from arena_writer import write_arena
from commands import mirage, refuses
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from mirage_bench_cases import (
    ANSWERS,
    HOSTILE,
    INSTRUCTION,
    add_cards,
    answers,
    judgment,
    prompt,
    published,
    query,
    save,
)
from misbehaving import Service, reply
from store_cases import snapshot

import mirage as api
from mirage import schema
from mirage.errors import BadInput, UnknownName, Unreachable
from mirage.io.imports.public import import_mirage_bench
from mirage.io.sources.mirage_bench import loading
from mirage.io.sources.mirage_bench.hub import pull_bench
from mirage.io.sources.mirage_bench.prompt import split_bench_prompt
from mirage.io.sources.mirage_bench.read import FEATURES, read_bench
from mirage.stages.features import families
from mirage.store import arena as arenas
from mirage.store.arena import open_arena


def split(text: str, *ids: str) -> tuple[str, dict[str, str]]:
    return split_bench_prompt(text, ids, query_id="7", where="file:3")


# --- the prompt, taken apart ------------------------------------------------------------------------------------------

ASKED = "Which [56#3] is it?\n\nContexts: are not yet here; Instruction: neither."


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_pitfall_18_text_like_the_frame_or_with_other_ids_stays_whole(between: str) -> None:
    query, passages = split(prompt(ASKED, HOSTILE, between=between), "34#1", "56#3", "12#0", "5#2")
    assert query == ASKED
    assert passages == HOSTILE
    assert list(passages) == list(HOSTILE), "in the order of the prompt"


def test_pitfall_18_an_id_that_begins_a_line_is_told_by_the_blank_line() -> None:
    passages = {"1#0": "First.\n[2#0] is only quoted here.", "2#0": "Second.", "3#0": "Third.\n[1#0] too."}
    assert split(prompt("Why?", passages, between="\n\n"), "1#0", "2#0", "3#0") == ("Why?", passages)
    apart = {"1#0": "First.\n\n[2#0] is only quoted here.", "2#0": "Second.", "3#0": "Third."}
    assert split(prompt("Why?", apart), "1#0", "2#0", "3#0") == ("Why?", apart)


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_of_two_readings_none_is_taken_in_silence(between: str) -> None:
    passages = {"1#0": f"First.{between}[2#0] is only quoted here.", "2#0": "Second.", "3#0": "Third."}
    with refuses(BadInput, "the prompt of query 7 can be split in more than one way", where="file:3"):
        split(prompt("Why?", passages, between=between), "1#0", "2#0", "3#0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("What?", "does not begin with Question:"),
        ("Question: What?\n\nContexts: [1#0] One.", "has no Instruction:"),
        (f"Question: What?\n\n{INSTRUCTION}", "has no Contexts:"),
        (f"Question: What?\n\nContexts: [8#8] Eight.\n\n{INSTRUCTION}", "does not begin with one of positive_ids"),
    ],
)
def test_another_frame_is_refused_with_the_query(text: str, message: str) -> None:
    with refuses(BadInput, f"the prompt of query 7 .*{message}", where="file:3"):
        split(text, "1#0")


words = st.text("ab [#]:\n0159QuestionContexts", max_size=40).map(str.strip)


@given(words.filter(bool), st.dictionaries(st.sampled_from(["1#0", "1#01", "22#5", "3#3"]), words, min_size=1))
@settings(deadline=None)
def test_pitfall_18_whatever_the_texts_are_nothing_is_lost_or_moved(query: str, passages: dict[str, str]) -> None:
    """As long as no line begins as a passage or the contexts do, a prompt is split into what it was made of."""
    quoted = {passage_id: re.sub(r"\n\s*\[", "\n(", text) for passage_id, text in passages.items()}
    changed = re.sub(r"\n\s*Contexts", "\nKontexts", query)
    for between in ("\n", "\n\n"):
        assert split(prompt(changed, quoted, between=between), *sorted(quoted)) == (changed, quoted)


# --- files of both generations ----------------------------------------------------------------------------------------


def valid(path: Path) -> tuple[dict[str, pa.Table], list[str]]:
    tables, notes = read_bench(path)
    for name, table in tables.items():
        schema.validate(name, table)
    return tables, notes


@pytest.mark.parametrize("ending", ["parquet", "jsonl.gz"])
def test_the_three_sets_become_five_tables(tmp_path: Path, ending: str) -> None:
    tables, notes = valid(published(tmp_path, ending))
    assert {name: len(table) for name, table in tables.items()} == {
        "queries": 4,
        "passages": 16,
        "answers": 12,
        "features": 12 * 11,
        "judgments": 6,
    }
    assert notes == []
    assert set(tables["queries"]["text"].to_pylist()) == {"Nani?"}
    sw = [p for p in tables["passages"].to_pylist() if (p["language"], p["query_id"]) == ("sw", "1")]
    assert [(p["passage_id"], p["position"], p["relevant"]) for p in sw] == [
        ("12#0", 1, True),
        ("34#1", 2, False),
        ("5#2", 3, False),
        ("56#3", 4, False),
    ]
    assert {p["passage_id"]: p["text"] for p in sw} == HOSTILE
    finnish = {
        (a["query_id"], a["system"]): (a["status"], a["text"], a["reason"])
        for a in tables["answers"].to_pylist()
        if a["language"] == "fi"
    }
    assert finnish == {
        ("1", "gpt-4"): ("ok", ANSWERS["gpt-4"], None),
        ("1", "aya/23"): ("empty", ANSWERS["aya/23"], None),
        ("1", "gone"): ("missing", None, "no answer at the source"),
        ("2", "gpt-4"): ("ok", ANSWERS["gpt-4"], None),
        ("2", "aya/23"): ("missing", None, "no answer at the source"),
        ("2", "gone"): ("missing", None, "no answer at the source"),
    }
    assert sorted(tables["judgments"]["verdict"].to_pylist()) == ["A", "A", "B", "B", "tie", "tie"]
    assert set(tables["judgments"]["rationale"].to_pylist()) == {"[[A]]"}


def test_the_older_set_gives_the_same_with_other_names_of_columns(tmp_path: Path) -> None:
    new = save(tmp_path / "new" / "sw" / "q.parquet", query("1")).parent
    save(new / "o.parquet", answers("1"))
    old = save(tmp_path / "old" / "sw" / "dev.parquet", answers("1", old=True))
    results = valid(new.parent)[0], valid(old.parent.parent)[0]
    assert results[0].keys() == results[1].keys() == {"queries", "passages", "answers", "features"}
    for name in results[0]:
        assert schema.sort(name, results[0][name]).equals(schema.sort(name, results[1][name])), name


def test_pitfall_19_a_feature_without_a_value_is_null_with_a_reason(tmp_path: Path) -> None:
    assert set(FEATURES) <= set(families.FEATURES)
    row = answers("1", reranker_score={"gpt-4": float("nan"), "aya/23": -2.5, "other": 1.0}, extra={"gpt-4": 3})
    del row["fluency_score"]
    tables, notes = valid(save(tmp_path / "sw.jsonl", row))
    values = {(f["system"], f["feature"]): (f["value"], f["reason"]) for f in tables["features"].to_pylist()}
    assert len(values) == 3 * 11
    assert {feature for _, feature in values} == set(FEATURES)
    assert values["gpt-4", "target_language"] == (0.0, None), "a zero is a value"
    assert values["gpt-4", "reranker_score"] == (None, "no value at the source")
    assert values["aya/23", "reranker_score"] == (-2.5, None)
    assert values["gone", "answer_bleu"] == (None, "no value at the source")
    assert values["gpt-4", "fluency_score"] == (None, "no column fluency_score")
    assert notes == [
        f"sw: {tmp_path / 'sw.jsonl'} has no column fluency_score",
        "sw: other has features, but no answer; they are left out",
    ]
    row = {name: row[name] for name in ("query_id", "outputs")}
    tables, notes = valid(save(tmp_path / "sw.jsonl", row))
    assert (list(tables), notes) == (["answers"], []), "answers without any feature make no features"


@pytest.mark.parametrize(*read_table("bench_verdicts"))
def test_pitfall_5_an_unknown_verdict_is_unparsed_and_counted(
    tmp_path: Path, output: str | None, verdict: str, reason: str | None
) -> None:
    tables, notes = valid(save(tmp_path / "sw.jsonl", judgment(verdict=output)))
    (row,) = tables["judgments"].to_pylist()
    assert (row["verdict"], row["reason"]) == (verdict, reason)
    assert bool(notes) == (verdict == "unparsed")


def test_a_prompt_that_was_not_published_leaves_ids_and_labels(tmp_path: Path) -> None:
    tables, _ = valid(save(tmp_path / "sw.jsonl", query("1", prompt=None)))
    assert tables["queries"].to_pylist()[0]["reason"] == "the prompt was not published"
    assert set(tables["passages"]["text"].to_pylist()) == {None}
    assert sorted(tables["passages"]["position"].to_pylist()) == [1, 2, 3, 4]


def test_a_labelled_passage_that_is_not_in_the_prompt_has_no_text_and_is_said(tmp_path: Path) -> None:
    tables, notes = valid(save(tmp_path / "sw.jsonl", query("1", positive_ids=["12#0", "77#7"])))
    last = tables["passages"].to_pylist()[-1]
    assert (last["passage_id"], last["position"], last["text"], last["relevant"]) == ("77#7", 5, None, True)
    assert notes == ["sw: a labelled passage is not in the prompt, and has no text"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query_id": "1", "text": "x"}, "none of the data sets of MIRAGE-Bench: there are query_id, text"),
        ({k: v for k, v in query().items() if k != "positive_ids"}, "the field positive_ids is missing"),
        (query(positive_ids=["12#0", "34#1"]), "34#1 of query 1 is named twice in positive_ids"),
        (query(negative_ids=["34#1", "34#1"]), "34#1 of query 1 is named twice in positive_ids"),
        (query(prompt=prompt(" ", HOSTILE)), "the prompt of query 1 asks nothing"),
        (query(""), "query_id is '', not a text"),
        (answers(outputs=["x"]), "this is 'x', not an object"),
        (answers(outputs=[{"model": "m"}]), "the field output is missing"),
        (answers(outputs=[{"model": "m", "output": 3}]), "output is 3, not a text"),
        (answers(outputs=[{"model": "m", "output": "a"}] * 2), "there are two outputs of m"),
        (answers(answer_bleu={"gpt-4": "high"}), "gpt-4 is 'high', not a number, in answer_bleu"),
        (judgment(model_B="gpt-4"), "gpt-4 is compared with itself"),
        (judgment(judge=None), "judge is None, not a text"),
    ],
)
def test_pitfall_31_what_is_not_as_published_is_named_with_file_and_line(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    path = save(tmp_path / "sw.jsonl", row)
    with pytest.raises(BadInput, match=message) as caught:
        read_bench(path)
    assert caught.value.where in (str(path), f"{path}:1")
    assert caught.value.do


def test_a_row_that_repeats_another_names_both(tmp_path: Path) -> None:
    path = save(tmp_path / "sw.jsonl", judgment(), judgment(verdict="B"))
    with refuses(BadInput, f"this repeats {path}:1: sw, 1, gpt-4o, gpt-4, aya/23", where=f"{path}:2"):
        read_bench(path)
    save(tmp_path / "old" / "fi" / "a.parquet", answers(old=True))
    save(tmp_path / "new" / "fi" / "b.parquet", query())
    path.unlink()
    with pytest.raises(BadInput, match=r"this repeats(.|\n)*or one folder"):
        read_bench(tmp_path)


def test_answers_to_a_query_that_is_not_there_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "sw" / "q.jsonl", query("12"))
    path = save(tmp_path / "sw" / "a.jsonl", answers("13"))
    with refuses(UnknownName, r"no query in sw for these answers '13'(.|\n)*did you mean: 12", where=f"{path}:1"):
        read_bench(tmp_path)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("sw.parquet", "sw"),
        ("sw-dev.jsonl", "sw"),
        ("th/dev-00000-of-00001.parquet", "th"),
        ("data/korean/dev.jsonl.gz", "ko"),
        ("de/en.jsonl", "en"),
    ],
)
def test_the_language_is_read_off_the_name_or_the_nearest_folder(tmp_path: Path, name: str, code: str) -> None:
    path = save(tmp_path / "x" / name, judgment())
    for source in (path, tmp_path / "x"):
        assert valid(source)[0]["judgments"]["language"].to_pylist() == [code]


def test_the_language_may_stand_in_the_rows_and_must_stand_somewhere(tmp_path: Path) -> None:
    path = save(tmp_path / "x" / "all.jsonl", judgment(language="sw"), judgment(language="fi"))
    assert valid(path)[0]["judgments"]["language"].to_pylist() == ["sw", "fi"]
    with pytest.raises(UnknownName, match="no language 'xx'"):
        read_bench(save(path, judgment(language="xx")))
    with pytest.raises(BadInput, match="the language is not given"):
        read_bench(save(path, judgment()))


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no .parquet or .jsonl file(.|\n)*mirage pull mirage-bench"):
        read_bench(tmp_path)
    (tmp_path / "sw.jsonl").touch()
    with pytest.raises(BadInput, match="this file is empty"):
        read_bench(tmp_path)


# --- through datasets, from copies of the data sets in a folder -------------------------------------------------------


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Copies of the sets with the cards that name their configurations; `datasets` caches into the test's folder."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True, raising=False)

    def make() -> Path:
        return add_cards(published(tmp_path / "hub"))

    return make


def test_what_datasets_loads_is_what_the_files_hold(hub: Callable[..., Path], tmp_path: Path) -> None:
    source = hub()
    reports: list[tuple[int, int | None, str]] = []
    pulled = pull_bench(
        tmp_path / "p", languages=["fi", "sw"], source=source, progress=lambda *report: reports.append(report)
    )
    assert (pulled.files, pulled.fetched, pulled.absent) == (6, 6, ())
    assert reports[0] == (0, 6, "mirage-bench/fi/dev.parquet")
    direct, fetched = valid(source)[0], valid(tmp_path / "p")[0]
    assert {name: schema.sort(name, table) for name, table in fetched.items()} == {
        name: schema.sort(name, table) for name, table in direct.items()
    }
    before = snapshot(tmp_path / "p")
    second = pull_bench(tmp_path / "p", languages=["fi", "sw"], source=source)
    assert (second.files, second.fetched) == (6, 0)
    assert snapshot(tmp_path / "p") == before


def test_languages_that_the_sets_lack_are_absent_and_none_at_all_is_an_error(
    hub: Callable[..., Path], tmp_path: Path
) -> None:
    source = hub()
    pulled = pull_bench(tmp_path / "p", what="judgments", languages=["fi", "th"], source=source)
    assert (pulled.files, pulled.absent) == (1, ("mirage-bench-pairwise-judgments/th/dev.parquet",))
    with pytest.raises(Unreachable, match="none of the 3 files is there"):
        pull_bench(tmp_path / "q", languages=["th"], source=source)
    with pytest.raises(Unreachable, match="did not come"):
        pull_bench(tmp_path / "q", languages=["th"], source=tmp_path / "nowhere")
    with pytest.raises(UnknownName, match="no data set 'answers'"):
        pull_bench(tmp_path / "q", what="answers", source=source)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="no language 'xx'"):
        pull_bench(tmp_path / "q", languages=["xx"], source=source)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        pull_bench(tmp_path / "file", languages=["fi"], source=source)


# --- the calls of the package's README, in its order ------------------------------------------------------------------

SMALL, LARGE = "meta-llama/Meta-Llama-3-8B-Instruct", "meta-llama/Meta-Llama-3-70B-Instruct"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of one language, where a download leaves them."""
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path))
    folder = tmp_path / "cache" / "mirage-bench"
    save(folder / "mirage-bench" / "en" / "dev.parquet", query("1"), query("2"))
    said = {
        "1": {
            SMALL: "##Answer: It is the one.",
            LARGE: "It is [12#0].",
            "gpt-4-azure": "##Answer: It is the one [5#2].",
        },
        "2": {SMALL: "It is not.", LARGE: "It is [12#0].", "gpt-4-azure": "It is the last."},
    }
    rows = [
        {"query_id": query_id, "outputs": [{"model": name, "output": text} for name, text in texts.items()]}
        for query_id, texts in said.items()
    ]
    save(folder / "mirage-bench-output" / "en" / "dev.parquet", *rows)
    return folder


def test_the_calls_of_the_readme_work_as_they_stand(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = {"dataset_name": "nthakur/mirage-bench", "language_code": "en", "split": "dev"}
    outputs = about | {"dataset_name": "nthakur/mirage-bench-output"}
    with Service(lambda call: reply("[[A]]" if "judge" in call.content else f"re {call.content}")) as service:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", service.url)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key")
        client = api.AzureOpenAIClient(model_name_or_path="gpt-4o-mini")
        prompts = api.load_prompts(**about)
        texts = client.batch_call(prompts=list(prompts.values()), temperature=0.1, max_new_tokens=2048)
        assert texts == [f"re {prompts[query_id]}" for query_id in ("1", "2")]
        body = service.calls[0].body
        assert (body["model"], body["temperature"], body["max_completion_tokens"]) == ("gpt-4o-mini", 0.1, 2048)

        documents, queries = api.load_documents(**about), api.load_queries(**about)
        assert documents == {"1": HOSTILE, "2": HOSTILE}
        assert [list(passages) for passages in documents.values()] == [list(HOSTILE)] * 2
        assert queries == {"1": "Nani?", "2": "Nani?"}
        predictions = api.load_predictions(**outputs, model_name=SMALL)
        reference = api.load_predictions(**outputs, model_name="gpt-4-azure")
        scores = api.RougeBleuEvaluator(language_code="en").evaluate(
            predictions=predictions, reference_predictions=reference, documents=documents
        )
        assert scores["1"] == {"answer_bleu": 1.0, "answer_rougeL": 1.0}, "citations do not count"
        assert scores["2"]["answer_rougeL"] == pytest.approx(2 * 2 / (3 + 4))

        models = [SMALL, LARGE]
        for name in models:
            predictions[name] = api.load_predictions(**outputs, model_name=name)
        evaluator = api.PairwiseLLMJudgeEvaluator(client="azure_openai", model_name_or_path="gpt-4o-mini")
        verdicts = evaluator.evaluate(
            predictions=predictions, all_model_names=models, documents=documents, queries=queries
        )
        (query_id,) = {row.pop("query_id") for row in verdicts}
        assert query_id in queries
        about_judge = {"judge": "gpt-4o-mini", "output": "[[A]]", "verdict": "A"}
        assert sorted(verdicts, key=str) == sorted(
            ({"model_A": a, "model_B": b, **about_judge} for a, b in (models, models[::-1])), key=str
        )
        assert len(evaluator.evaluate(predictions, models, documents, queries, sample_max=9)) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: api.load_prompts("nthakur/mirage-bench-output", "en"), "no data set"),
        (lambda: api.load_queries("nthakur/mirage-bench", "en", "test"), "no split 'test'"),
        (lambda: api.load_documents("nthakur/mirage-bench", "xx"), "no language 'xx'"),
        (lambda: api.load_predictions("nthakur/mirage-bench-output", "gpt-5", "en"), "no system 'gpt-5'"),
        (lambda: api.PairwiseLLMJudgeEvaluator("azure", "m"), "no client 'azure'"),
        (lambda: api.OpenAIClient("m", base_url="http://127.0.0.1:1/v1").batch_call([], n=2), "no parameter n"),
        (lambda: api.AzureOpenAIClient("m", api_key="secret"), "takes no api_key"),
    ],
)
def test_what_the_package_would_not_know_either_is_refused(
    cache: Path, call: Callable[[], object], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        call()


def test_without_a_network_the_loaders_name_the_file_that_they_take(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Unreachable("no network", do="try again")

    monkeypatch.setattr(loading, "pull_bench", refuse)
    with pytest.raises(Unreachable) as told:
        api.load_prompts("nthakur/mirage-bench", "fi")
    assert told.value.do.endswith(str(cache / "mirage-bench" / "fi" / "dev.parquet"))


# --- into an arena, by the commands -----------------------------------------------------------------------------------


def test_pull_then_import_then_rank_by_the_published_judge(hub: Callable[..., Path], tmp_path: Path) -> None:
    command = ("pull", "mirage-bench", "--into", tmp_path / "p", "--from", hub(), "--languages", "fi,sw,th")
    result = mirage(*command)
    assert "6 files in " in result.stderr
    assert "Not available, and not required: mirage-bench/th/dev.parquet" in result.stderr
    result = mirage("import", "mirage-bench", tmp_path / "p", "--into", tmp_path / "a")
    assert "4 queries, 16 passages, 12 answers, 132 features, 6 judgments read" in result.stderr
    assert arenas.check(open_arena(tmp_path / "a"))
    assert "gpt-4" in mirage("rank", tmp_path / "a", "--judge", "gpt-4o", "--draws", 5).stdout
    before = snapshot(tmp_path / "a")
    mirage("import", "mirage-bench", tmp_path / "p", "--into", tmp_path / "a")
    assert snapshot(tmp_path / "a") == before, "the same again changes nothing"


def test_an_arena_of_ones_own_keeps_its_name(tmp_path: Path) -> None:
    queries = schema.from_rows("queries", [schema.Query("sw", "1", None, "Nani?", None)])
    write_arena(tmp_path / "a", {"queries": queries}, title="Mine", label="own data")
    arena = import_mirage_bench(save(tmp_path / "sw.jsonl", judgment()), tmp_path / "a")[0]
    assert (arena.title, arena.label) == ("Mine", "own data")
