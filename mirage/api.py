"""The public Python API: what `import mirage` exports.

    arena = mirage.open_arena("nomiracl")            # a bundled arena by name, or a folder
    mirage.rates(arena, languages=["sw"])            # hallucination and error rates
    ranking = mirage.rank(battles)                   # a data frame, rows, or a file of battles
    ranking.difference("a", "b"); ranking.tests      # intervals, and significant differences
    mirage.evaluate("answers.jsonl")                 # a file to a ranking: import, measure, judge, rank

Results print as ten lines of text, or as a table in a notebook; `to_pandas()` returns every row and column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import BadInput, MirageError, NotEnoughData, UnknownName
from mirage.io.sources.nomiracl.seeded import NoMIRACLDataLoader, load_data_sample
from mirage.llm.prompts.published import VanillaTemplate, load_prompt_template
from mirage.ranking import bootstrap
from mirage.ranking.board import leaderboard
from mirage.ranking.compare.records import ComparisonReport
from mirage.ranking.records import Difference
from mirage.ranking.settings import DRAWS, MOVED, SEED, CompareSettings, RankSettings
from mirage.store import Arena
from mirage.text.names import NAMES, Names, normalise_names
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from mirage.llm import ChatModel
    from mirage.llm.engines.processes import Processes
    from mirage.llm.generator import Generator
    from mirage.llm.rag_service import RagService
    from mirage.people.votes.correct import Correction
    from mirage.people.votes.kinds import Vote
    from mirage.pipeline import EvaluationReport

__all__ = [
    "Arena",
    "BadInput",
    "Difference",
    "Evaluation",
    "MirageError",
    "NoMIRACLDataLoader",
    "NotEnoughData",
    "Ranking",
    "Rows",
    "SystemComparison",
    "UnknownName",
    "VanillaTemplate",
    "agreement",
    "attribution",
    "chat_model",
    "compare",
    "correct",
    "evaluate",
    "features",
    "generate",
    "import_file",
    "judge",
    "judge_exam",
    "judge_passport",
    "levels",
    "load_data_sample",
    "load_model",
    "load_prompt_template",
    "nugget_scores",
    "open_arena",
    "rag_service",
    "rank",
    "rates",
    "retrieval_measures",
    "risk_coverage",
    "testset",
    "variance",
]

SHOWN, COLUMNS = 10, 9
"""Maximum number of rows and columns of a result to print."""

_BATTLE = ("system_a", "system_b", "verdict")
_OWN_QUERIES = "no query_id: each battle counts as its own query, so intervals assume independent battles"
_UNDETERMINED = "und"
"""BCP 47 code of an undetermined language."""


class _Printed:
    """A result that prints as ten lines of text, or as a table in a notebook."""

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        """Return the title, the table, and the columns to print; empty for the first columns."""
        raise NotImplementedError

    def _shorten(self) -> tuple[str, list[str], list[list[str]], str]:
        """Return the title, the columns to print, their first rows, and a note of what is omitted."""
        title, table, first = self._print_parts()
        names = list(first) or [name for name in table.column_names if table[name].null_count < len(table)][:COLUMNS]
        rows = [[_cell(row[name]) for name in names] for row in table.slice(0, SHOWN).to_pylist()]
        more, hidden = len(table) - len(rows), len(table.column_names) - len(names)
        rest = [f"{more:,} more rows"] * bool(more) + [f"{hidden} more columns"] * bool(hidden)
        return title, names, rows, f"... {' and '.join(rest)}: to_pandas() has all" if rest else ""

    def __repr__(self) -> str:
        title, names, rows, rest = self._shorten()
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [names, *rows]
        ]
        return "\n".join([title, *lines, *([rest] if rest else [])])

    def _repr_html_(self) -> str:
        title, names, rows, rest = self._shorten()
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td dir='auto'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        return f"<p>{escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
            f"<p>{escape(rest)}</p>" if rest else ""
        )


@dataclass(frozen=True, eq=False, repr=False)
class Rows(_Printed, Sequence[Mapping[str, Any]]):
    """A table of results: a sequence of rows, each a mapping from column to value."""

    table: pa.Table
    """All rows; the record class documents the columns."""
    title: str
    """One-line description of the rows."""
    first: tuple[str, ...] = ()
    """Columns to print; empty for the first columns."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, index: Any) -> Any:
        return self.table.to_pylist()[index]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.table.to_pylist())

    def to_pandas(self) -> pd.DataFrame:
        """Return all rows as a data frame."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        return self.title, self.table, self.first


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(_Printed, bootstrap.RankingReport):
    """Ratings of systems by language, with intervals, tests and differences."""

    remarks: tuple[str, ...] = ()
    """Caveats: what was left out, and what the data cannot determine."""

    def to_pandas(self, language: str | None = None) -> pd.DataFrame:
        """Return one row per language and system, best first: rating, interval, rank, record (`schema.Rating`).

        Args:
            language: code, or `all`; None for every language.

        Raises:
            UnknownName: if the language is not ranked.
        """
        frame: pd.DataFrame = leaderboard(self, language).to_pandas()
        return frame

    def to_latex(self, language: str | None = None) -> str:
        """Return one language as a LaTeX table (`booktabs`), with the systems tied with the best bold, and the method.

        Args:
            language: code, or `all`; None for the last, which is `all` if there are several.

        Raises:
            UnknownName: if the language is not ranked.
        """
        from mirage.publish.leaderboard import to_latex

        return to_latex(self, language, notes=self.remarks)

    def to_markdown(self, language: str | None = None) -> str:
        """Return one language as a Markdown table; arguments and errors as for `to_latex`."""
        from mirage.publish.leaderboard import to_markdown

        return to_markdown(self, language, notes=self.remarks)

    def plot(self, language: str | None = None) -> Any:
        """Plot the ratings of one language with their intervals, as a Plotly figure.

        Args:
            language: code, or `all`; None for the last, which is `all` if there are several.

        Raises:
            UnknownName: if the language is not ranked.
        """
        import plotly.graph_objects as go

        from mirage.publish.charts.leaderboard import axis_title, whiskers

        code = list(self.languages)[-1] if language is None else language
        rows = leaderboard(self, code).to_pylist()
        return go.Figure(whiskers(rows, mode="light", title=axis_title(ties=self.ties)))

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        code = list(self.languages)[-1]
        row = self.languages[code]
        where = "" if code == _UNDETERMINED else f" in {code}"
        where += f", the last of {len(self.languages)} languages" if len(self.languages) > 1 and code != "all" else ""
        title = f"{len(row.systems)} systems{where}, {count_text(row.n_queries, 'query')}: {self.method}"
        title = "\n".join([title, *self.remarks])
        columns = ["rank", "system", "rating", "low", "high", "rank_low", "rank_high", "best", "battles"]
        return title, leaderboard(self, code).select(columns), ()


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(_Printed, ComparisonReport):
    """Comparison of two systems: a row per language, `all` last if there are several."""

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per language (`mirage.ranking.compare.Comparison`)."""
        frame: pd.DataFrame = self._table().to_pandas()
        return frame

    def to_markdown(self) -> str:
        """Return the summary that `mirage compare --markdown` writes."""
        from mirage.ranking.compare.reports import to_markdown

        return to_markdown(self)

    def _table(self) -> pa.Table:
        return _table([asdict(row) for row in self.rows])

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        from mirage.ranking.compare.reports import notes

        columns = ("language", "verdict", "difference", "low", "high", "p_holm", "n_queries", "detectable", "more")
        return "\n".join(notes(self)), self._table(), columns


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Result of `evaluate`: the arena, its ranking, and the findings in sentences."""

    arena: Arena
    """The arena with everything imported and computed."""
    ranking: Ranking | None
    """The ranking; None if fewer than two systems can be compared."""
    report: EvaluationReport
    """The steps that ran, what was read, and who decided."""

    @property
    def findings(self) -> list[str]:
        """Sentences that name the best system, its lead, the pairs that are not separable, and the judge."""
        from mirage.pipeline.findings import findings

        return findings(self.report)

    @property
    def next(self) -> list[str]:
        """The commands that make sense next."""
        from mirage.pipeline.findings import next_commands

        return [command for command, _ in next_commands(self.report)]

    def to_pandas(self, language: str | None = None) -> pd.DataFrame:
        """Return the ranking, as `Ranking.to_pandas`.

        Raises:
            NotEnoughData: if there is no ranking.
            UnknownName: if the language is not ranked.
        """
        if self.ranking is None:
            raise NotEnoughData("there is no ranking", where="; ".join(self.findings), do="add another system")
        return self.ranking.to_pandas(language)

    def __repr__(self) -> str:
        commands = [f"next: {command}" for command in self.next[:3]]
        return "\n".join([*self.findings, f"arena: {self.arena.address}", *commands])

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(line)}</p>" for line in self.findings)
        ranked = "" if self.ranking is None else self.ranking._repr_html_()
        commands = "".join(f"<br><code>{escape(command)}</code>" for command in self.next)
        return f"{told}{ranked}<p>Arena: <code>{escape(self.arena.address)}</code>{commands}</p>"


def open_arena(arena: str | Path) -> Arena:
    """Open an arena: a bundled one by its name, or a folder.

    Args:
        arena: `nomiracl`, the name of another bundled arena, or the path of a folder.

    Raises:
        UnknownName: if it is neither the name of a bundled arena nor a folder.
        BadInput: if it is an address on object storage.
        ArenaError: if the folder is not an arena, or is damaged.
    """
    folders = store.bundled_arenas()
    if str(arena) in folders and not store.is_arena(Path(arena)):
        return store.open_arena(folders[str(arena)])
    folder = store.locate(arena) if isinstance(arena, str) else arena
    if not folder.is_dir():
        raise UnknownName("arena", str(arena), folders, where="the bundled arenas, nor a folder")
    return store.open_arena(folder)


def chat_model(
    model: str,
    *,
    base_url: str | None = None,
    provider: str | None = None,
    key_env: str | None = None,
    service: str | None = None,
    temperature: float | None = 0.1,
    top_p: float | None = None,
    max_tokens: int = 2048,
    model_seed: int | None = None,
    extra_body: Mapping[str, Any] | None = None,
    concurrency: int = 8,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    timeout: float = 120.0,
    retries: int = 7,
    price_in: float | None = None,
    price_out: float | None = None,
    budget: float | None = None,
    batch: bool = False,
    batch_wait: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> ChatModel:
    """Describe a chat model for `generate`, `features`, `judge` and `evaluate`; nothing is sent.

    Args:
        model: its name at the service.
        base_url: address of any OpenAI-compatible service.
        provider: openai (default), azure, nvidia, anyscale, cohere, anthropic, gemini, vllm or transformers; with
            huggingface the model is loaded in this process, by its name on the Hub or its folder.
        key_env: environment variable that holds the key; by default the provider's. A server on this machine needs
            none.
        service: name of the service in the ledger, if its address changes; by default its address.
        temperature: sampling temperature; None for the service's default.
        top_p: nucleus sampling probability; None for the prompt's or the service's default.
        max_tokens: maximum new tokens per reply.
        model_seed: sampling seed, for services that support one.
        extra_body: further fields of a request, of one provider, such as `{"reasoning_effort": "low"}`.
        concurrency: maximum concurrent calls.
        requests_per_minute: maximum rate of requests.
        tokens_per_minute: maximum rate of tokens.
        timeout: seconds for one request.
        retries: maximum retries after a transient failure.
        price_in: price per million prompt tokens.
        price_out: price per million reply tokens.
        budget: maximum spending of one function, in the currency of the prices, which it needs.
        batch: submit the calls in batches, at half the price and with results within a day.
        batch_wait: maximum hours to wait for batches; None until they end. Repeating the call collects them.
        options: with huggingface, `batch_size`, and arguments of `from_pretrained` such as `dtype`.

    Raises:
        UnknownName: if there is no such provider.
        BadInput: if the key's variable is not set, an address is invalid, or a limit is out of range.
    """
    from mirage import llm

    local = provider == "huggingface"
    endpoint = None if local else replace(llm.resolve(provider, base_url=base_url, key_env=key_env), name=service)
    settings = llm.Settings(
        model,
        temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        seed=model_seed,
        service=(service or provider) if endpoint is None else endpoint.service,
        extra_body=extra_body or None,
    )
    limits = llm.Limits(
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        timeout=timeout,
        retries=retries,
        price_in=price_in,
        price_out=price_out,
        budget=budget,
        batch=batch,
        batch_wait=batch_wait,
    )
    return llm.ChatModel(settings, limits, endpoint, dict(options or {}))


def rag_service(
    base_url: str,
    *,
    paths: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    key_env: str | None = None,
    service: str | None = None,
    concurrency: int = 8,
    requests_per_minute: float | None = None,
    timeout: float = 120.0,
    retries: int = 7,
) -> RagService:
    """Describe a live RAG service for `generate`: an address that answers a question with its contexts.

    Args:
        base_url: the address, which takes a JSON body by POST and returns JSON, or a stream of it (NDJSON, SSE).
        paths: where the parts of a response are, such as `{"answer": "result.text", "contexts": "docs[*]"}`.
            Default: answer and contexts at the top.
        body: body of a request, with `{query}` in a text, and perhaps `{language}` and `{query_id}`; default
            `{"question": "{query}"}`.
        key_env: environment variable with a key, sent as a bearer token; None for no key.
        service: name of the service in the ledger, if its address changes; by default its address.
        concurrency: maximum concurrent calls.
        requests_per_minute: maximum rate of requests.
        timeout: seconds for one request.
        retries: maximum retries after a transient failure.

    Raises:
        UnknownName: if a part of a response is unknown.
        BadInput: if the address, a path, the body or a limit is invalid, or the key's variable is not set.
    """
    from mirage import llm
    from mirage.llm import rag_service as rag

    limits = llm.Limits(
        concurrency=concurrency, requests_per_minute=requests_per_minute, timeout=timeout, retries=retries
    )
    return rag.rag_service(base_url, key_env=key_env, name=service, paths=paths, body=body, limits=limits)


def load_model(
    technique: str,
    name: str,
    *,
    weights_path: str | None = None,
    temperature: float | None = 0.95,
    top_p: float | None = 0.95,
    max_new_tokens: int = 200,
    max_length: int = 4096,
    batch_size: int = 1,
    concurrency: int = 1,
    cache_dir: str | None = None,
    base_url: str | None = None,
    key_env: str | None = None,
    **options: Any,
) -> Generator:
    """Load a model that answers prompts: `model.call(prompts)` returns texts, as in the NoMIRACL package.

    Defaults are those of the package. Nothing is cached; `generate` answers the queries of an arena, with a ledger.

    Args:
        technique: huggingface or vllm for a model on this machine; a provider, as for `chat_model`, for a service.
        name: name of the model: at the service, on the Hub, or its folder.
        weights_path: name on the Hub or folder, if `name` is another name for it.
        temperature: sampling temperature; None for the model's default.
        top_p: nucleus sampling probability; None for the model's default.
        max_new_tokens: maximum new tokens per reply.
        max_length: with huggingface, maximum tokens of a prompt with its reply.
        batch_size: with huggingface, prompts generated together.
        concurrency: with a service, maximum concurrent calls.
        cache_dir: with huggingface, folder in which models of the Hub are cached.
        base_url: address of the service.
        key_env: environment variable that holds the key; by default the provider's.
        options: with huggingface and vllm, further arguments of the library.

    Raises:
        UnknownName: if there is no such technique.
        BadInput: if the service's key or address is missing or invalid.
    """
    from mirage import llm
    from mirage.llm.generator import LOCAL, Generator

    if technique in LOCAL and base_url is None:
        if technique == "huggingface":
            options |= {"batch_size": batch_size, "max_length": max_length, "cache_dir": cache_dir}
        elif cache_dir is not None:
            raise BadInput("cache_dir is for huggingface", do="pass download_dir")
        settings = llm.Settings(weights_path or name, temperature, top_p=top_p, max_tokens=max_new_tokens)
        return Generator(technique, llm.ChatModel(settings, options=options))
    model = chat_model(
        name,
        provider=technique,
        base_url=base_url,
        key_env=key_env,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_new_tokens,
        concurrency=concurrency,
    )
    return Generator(technique, model)


def import_file(
    path: Any,
    into: str | Path,
    *,
    kind: str | None = None,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> Arena:
    """Import a file of a known format, or rows, into an arena, new or existing; all or nothing.

    Args:
        path: JSON, JSON Lines, CSV or Parquet, compressed or not, or a folder of such files; or rows: a data frame
            (pandas, polars), an Arrow table, or a list of mappings.
        into: the arena's folder.
        kind: the format: `rag`, `ragas`, `lmarena` ...; None to detect it from the content.
        names: mirage's field by the file's: `{"q": "question"}`.
        values: default of a field for records without it: `{"system": "my-model"}`.

    Raises:
        BadInput: listing every invalid record; nothing is then imported.
        ArenaError: if a query or passage that existing answers refer to would change, or the arena cannot be written.
    """
    from mirage.io.imports import formats
    from mirage.io.options import Options

    options = Options(names or {}, values or {})
    if isinstance(path, str | Path):
        return formats.import_file(Path(path), Path(into), name=kind, options=options).arena
    return formats.import_table(_frame(path), Path(into), name=kind, options=options).arena


def evaluate(
    data: Any = None,
    into: str | Path | None = None,
    *,
    judge: str | None = None,
    model: ChatModel | None = None,
    kind: str | None = None,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
    queries: int | None = None,
    pairs: int | None = None,
    languages: Iterable[str] | None = None,
    baselines: bool = False,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Evaluation:
    """Evaluate a file or rows: import, measure what needs no model, judge if a model is given, and rank.

    Repeating it continues: only what is not up to date runs, and no call is paid for twice.

    Args:
        data: a file or folder in any known format, an arena or its folder, or the name of a bundled arena; rows, as
            for `import_file`; None for the bundled sample.
        into: the arena's folder; None for an arena itself, a folder beside a file named after it, or, for a bundled
            arena, a copy in the current folder. Rows need it.
        judge: judge that ranks: one of the data, or the name of `model` as a judge, by default the model's; without
            both the judge of the data, else relevance labels, else the heuristic judge.
        model: model that judges (`chat_model`), within its budget; None for no calls.
        kind: the format, as for `import_file`.
        names: fields, as for `import_file`.
        values: default values, as for `import_file`.
        queries: queries to judge per language; None for all.
        pairs: pairs of answers to judge per language; None for all.
        languages: codes to judge; None for all.
        baselines: whether the baselines, which need no model, answer too.
        draws: bootstrap draws for the intervals.
        seed: random seed of the battles to judge and of the draws.

    Raises:
        BadInput: listing every invalid record, or if rows have no folder; nothing is then written.
        UnknownName: if there is no such judge, and no model.
        ArenaError: if the arena cannot be written.
        Unreachable: if the service rejects every call.
    """
    from mirage import pipeline
    from mirage.io.options import Options
    from mirage.stages.judge.stage import BattleSample

    settings = pipeline.EvaluateSettings(
        judge=model.settings.model if judge is None and model is not None else judge,
        kind=kind,
        options=Options(names or {}, values or {}),
        sample=BattleSample(queries, pairs, seed, _tuple(languages)),
        draws=draws,
        seed=seed,
        model=None if model is None else pipeline.RunModel(model),
        baselines=baselines,
    )
    folder = None if into is None else store.locate(str(into))
    given = data.path if isinstance(data, Arena) else data
    if given is None or isinstance(given, str | Path):
        source, folder = pipeline.locate(given, folder)
    elif folder is None:
        raise BadInput("rows need a folder for their arena", do='give one: mirage.evaluate(rows, "my-arena")')
    else:
        source = _frame(given)
    report = pipeline.evaluate(source, folder, settings, made_by="mirage.evaluate")
    ranking = None if report.ranking is None else _ranking(report.ranking, report.remarks)
    return Evaluation(report.arena, ranking, report)


def testset(
    corpus: str | Path | Sequence[str | Path],
    into: str | Path,
    model: ChatModel,
    *,
    languages: Iterable[str] | None = None,
    n: int = 200,
    unanswerable: float = 0.5,
    depth: int = 10,
    seed: int = 0,
) -> Arena:
    """Make a test set from documents: questions by a model, a share of them without an answer in the corpus.

    Repeating an interrupted call resumes it, and no call is paid for twice.

    Args:
        corpus: documents, files of passages, or folders of both.
        into: the new arena's folder; the corpus that is left is in its `source/corpus.jsonl`.
        model: the model that writes questions and checks passages (`chat_model`).
        languages: codes of the languages to ask in; None for those of the passages.
        n: questions per language.
        unanswerable: share of the questions to make unanswerable.
        depth: passages given with each query.
        seed: random seed.

    Returns:
        The arena, with queries of both subsets, passages, reference answers, nuggets, and the tables `drafts` and
        `passage_checks`.

    Raises:
        BadInput: if a file cannot be read, or needs an extra that is not installed, or an argument is out of range.
        ArenaError: if the folder has an arena already.
        NotEnoughData: if the corpus has no passage, no question is accepted, or the budget is reached.
        Unreachable: if the service rejects every call.
    """
    from mirage import llm
    from mirage.io.documents import read_documents
    from mirage.stages.testset.settings import TestsetSettings
    from mirage.stages.testset.stage import make_testset

    paths = [corpus] if isinstance(corpus, str | Path) else list(corpus)
    documents = read_documents([Path(path) for path in paths])
    settings = TestsetSettings(_tuple(languages) or documents.languages, n, unanswerable, depth, seed)
    calls = llm.ArenaCalls(model, "mirage.testset")
    result = make_testset(
        store.locate(str(into)),
        documents.passages,
        settings,
        calls=calls,
        sources=documents.files,
    )
    return result.arena


def generate(
    arena: Arena,
    model: ChatModel | None = None,
    *,
    rag: RagService | None = None,
    system: str | None = None,
    template: str = "rag",
    languages: Iterable[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    retriever: str | None = None,
    depth: int | None = None,
    relevant_only: bool = False,
    samples: int = 1,
    replace: bool = False,
) -> Arena:
    """Generate answers to the queries of an arena with a model or a RAG service; repeating it resumes, and no call is
    paid for twice.

    Args:
        arena: with queries, and for a model with passages; not a bundled one, which is never changed.
        model: the model (`chat_model`). The template sets top_p and the length of replies if the model does not.
        rag: the RAG service (`rag_service`) to ask instead of a model. It needs the name of the system, which is also
            that of its retriever in the table `retrieved`, and no template; options of retrievers are refused.
        system: name of the system; None for the model's name, with the retriever's if there is one.
        template: name of a prompt template, or a text file with placeholders.
        languages: codes; None for all.
        limit: maximum queries per language, the first by id; None for all.
        seed: seed of the passage order, for prompts that show ids.
        retriever: retriever of the passages in the prompts; None for those given with the queries.
        depth: number of the retriever's top passages; None for all.
        relevant_only: show only relevant passages, for the teacher of a training set.
        samples: answers to each query; all but the first go to the table `samples`.
        replace: generate existing answers again.

    Returns:
        The arena with the answers. A failed call is a row with its reason.

    Raises:
        TableMissing: if the arena lacks queries or passages.
        BadInput: if the arena is bundled, or an argument is invalid.
        Unreachable: if the service rejects every call, or a RAG service's responses lack answer or contexts.
    """
    from dataclasses import replace as changed

    from mirage import llm
    from mirage.llm import prompts
    from mirage.stages.generate.settings import GenerateSettings
    from mirage.stages.generate.stage import generate_answers, generate_sample, whole_system

    path = _writable(arena)
    if rag is not None and model is None:
        if system is None:
            raise BadInput("the system has no name", do="give one: system=NAME")
        if samples != 1 or retriever is not None or depth is not None or relevant_only:
            raise BadInput(
                "a RAG service retrieves by itself, and gives one answer to a query",
                do="omit samples, retriever, depth and relevant_only",
            )
        prompt, model = None, rag.model(system)
    elif model is not None and rag is None:
        if samples < 1 or (samples > 1 and replace):
            raise BadInput(
                f"{samples} samples" + (" cannot be combined with replace" if replace else ""),
                do="use 1 or more, and another name for the system instead of replace",
            )
        prompt, own = prompts.load_template(template), model.settings
        plain = own.max_tokens == llm.Settings(own.model).max_tokens
        asked = changed(
            own,
            top_p=prompt.top_p if own.top_p is None else own.top_p,
            max_tokens=prompt.max_new_tokens if plain else own.max_tokens,
        )
        model = changed(model, settings=asked)
        system = system or (own.model if retriever is None else whole_system(own.model, retriever))
    else:
        raise BadInput("answers come from a model or from a RAG service", do="give one: model=... or rag=...")
    settings = GenerateSettings(
        system,
        prompt,
        model.settings,
        seed=seed,
        languages=_tuple(languages),
        limit=limit,
        relevant_only=relevant_only,
        retriever=retriever,
        depth=depth,
        replace=replace,
    )
    calls = llm.ArenaCalls(model, "mirage.generate")
    generated, result = generate_answers(path, settings, calls)
    cost = result.cost
    for sample in range(1, samples):
        model = model.after(cost)
        calls = llm.ArenaCalls(model, "mirage.generate")
        generated, cost = generate_sample(path, settings, sample, calls)
    return generated


def features(
    arena: Arena,
    *,
    only: Sequence[str] = (),
    reference: str | None = None,
    nli: str | None = None,
    reranker: str | None = None,
    device: str | None = None,
    assigner: str | None = None,
    grader: str | None = None,
    model: ChatModel | None = None,
    executor: Processes | None = None,
) -> Arena:
    """Measure the features of an arena's answers.

    Args:
        arena: with answers; not a bundled one, which is never changed.
        only: names of features; empty for all that the arena and the arguments allow.
        reference: system whose answers are the references of the overlap features.
        nli: NLI model of the support features: a name on the Hub or a folder.
        reranker: reranker model: a name on the Hub or a folder.
        device: torch device; None for the GPU if there is one.
        assigner: assigner of nuggets; None for the one with the most assignments.
        grader: grader of support; None for the one with the most grades.
        model: chat model that grades (`chat_model`); None for no calls.
        executor: runs features without a chat model; None for this process.

    Returns:
        The arena with the table `features`. A grade whose call failed is null, and is asked for again next time.

    Raises:
        TableMissing: if the arena lacks answers, or a table that a named feature needs.
        BadInput: if the arena is bundled, or a feature lacks its model.
        UnknownName: if there is no such feature, system, assigner or grader.
        Unreachable: if the service rejects every call.
    """
    from mirage import llm
    from mirage.stages.features.measuring import Grader, measure
    from mirage.stages.features.settings import MeasureSettings

    settings = MeasureSettings(only, reference, nli, reranker, device, assigner, grader)
    grade = None
    if model is not None:
        grade = Grader(llm.ArenaCalls(model, "mirage.features"))
    measured = measure(_writable(arena), settings, made_by="mirage.features", grade=grade, executor=executor)
    if grade is not None:
        grade.need_any()
    return measured


def judge(
    arena: Arena,
    model: ChatModel | None = None,
    *,
    judge: str | None = None,
    queries: int | None = None,
    pairs: int | None = None,
    languages: Iterable[str] | None = None,
    seed: int = 0,
    known: bool = False,
    planted: bool = False,
    criterion: str | None = None,
    rubric: str | Path | None = None,
    repeats: int = 1,
    passport: bool = False,
    replace: bool = False,
    until: str | None = None,
) -> Arena:
    """Judge pairs of answers in both orders, by a model or by features; repeating it resumes.

    Args:
        arena: with queries, passages and answers; without a model, answers and features. Not a bundled one.
        model: the model (`chat_model`); None for the heuristic judge, which makes no calls.
        judge: name of the judge; None for the model's name.
        queries: queries per language; None for all.
        pairs: pairs of answers per language; None for all.
        languages: codes; None for all.
        seed: seed of the sample.
        known: judge pairs with a known winner by relevance labels, which tests the judge and ranks nothing.
        planted: as `known`, with a verdict in its own favour planted in each wrong answer: tests whether an answer can
            steer the judge.
        criterion: `overall`, `groundedness`, `citation`, `completeness` or `language-quality`. None is `overall`.
            Verdicts by another criterion are stored under `JUDGE: CRITERION`.
        rubric: YAML file with a question or a whole prompt of your own.
        repeats: verdicts of the model on each battle in each order.
        passport: judge answers beside copies with a planted fault, of 30 queries per language or `queries`, for
            `judge_passport`; returns the arena of these items.
        replace: judge again, ignoring existing verdicts and cached replies.
        until: judge random battles in rounds until this goal: `separated`, or `top:K` (the K best are separated from
            all others). Verdicts then have an inclusion probability, and `mirage.rank` weights them by its inverse.

    Returns:
        The arena with the table `judgments`; verdicts of other judges stay. A failed call has no verdict; the next run
        retries it.

    Raises:
        TableMissing: if the arena lacks a table that the judge needs.
        BadInput: if the arena is bundled, the judge has verdicts by another model or prompt, or a rubric is
            incomplete.
        UnknownName: if there is no such criterion.
        NotEnoughData: if there is nothing to judge.
        Unreachable: if the service rejects every call.
    """
    from mirage import llm
    from mirage.schema import OVERALL
    from mirage.stages.features.measuring import measure
    from mirage.stages.judge.criteria import load_criterion
    from mirage.stages.judge.faults import draw_items, item_pairs
    from mirage.stages.judge.heuristic import HEURISTIC
    from mirage.stages.judge.stage import (
        BattleSample,
        JudgeSettings,
        judge_arena_by_features,
        judge_by_model,
        refuse_choices,
    )

    sample, path = BattleSample(queries, pairs, seed, _tuple(languages), known=known), _writable(arena)
    asked = load_criterion(criterion, rubric=None if rubric is None else Path(rubric))
    chosen = {"pairs": pairs, "known": known, "planted": planted, "replace": replace}
    if passport:
        refuse_choices("passport", **chosen, until=until)
        items = draw_items(path, queries=queries, seed=seed, languages=sample.languages, made_by="mirage.judge")
        if model is None:
            items = measure(items.path, made_by="mirage.judge")
        path, sample = items.path, BattleSample(seed=seed, battles=item_pairs(items, sample.languages))
    if until is not None:
        from mirage.pipeline.adaptive import judge_adaptively
        from mirage.ranking.adaptive import AdaptiveSettings

        refuse_choices("until", queries=queries, **chosen, repeats=repeats != 1)
        if model is None:
            raise BadInput("the heuristic judge costs nothing", do="omit until")
        by = JudgeSettings(judge or model.settings.model, sample, criterion=asked)
        goal = AdaptiveSettings(until, seed=seed)
        return judge_adaptively(path, by, model, goal, calls=lambda left: llm.ArenaCalls(left, "mirage.judge")).arena
    if model is None:
        if judge not in (None, HEURISTIC) or asked.name != OVERALL or planted:
            raise BadInput(
                f"the judge {asked.judge_name(judge or HEURISTIC)} needs a model",
                do="give one: mirage.chat_model(NAME, base_url=URL)",
            )
        return judge_arena_by_features(path, sample=sample, made_by="mirage.judge")
    if repeats < 1:
        raise BadInput(f"repeats is {repeats}", do="use 1 or more")
    for repeat in range(repeats):
        settings = JudgeSettings(judge or model.settings.model, sample, replace, asked, planted, repeat)
        calls = llm.ArenaCalls(model, "mirage.judge")
        judged, result = judge_by_model(path, settings, calls)
        model = model.after(result.cost)
    return judged


def _writable(arena: Arena) -> Path:
    """Return the folder of an arena that may be changed.

    Raises:
        BadInput: if it is bundled, or only a part of its queries is selected.
    """
    if arena.tags:
        raise BadInput("only some queries of this arena are selected", do="use the whole arena: arena.whole")
    return store.refuse_bundled(arena.path)


def rates(
    arena: Arena,
    *,
    languages: Iterable[str] | None = None,
    systems: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
    url: str | None = None,
) -> Rows:
    """Compute hallucination and error rates (NoMIRACL): answering without a relevant passage, abstaining despite one.

    If people audited the labels of the queries, rates corrected for label errors are added, with intervals that
    carry the audit's uncertainty; if a program made the labels and there is no audit, `labels` says so.

    Args:
        arena: with the table `outcomes`.
        languages: codes; None for all.
        systems: names; None for all.
        parser: parser whose outcomes count.
        url: database of the votes of the audit; None for MIRAGE_VOTES_URL, else the file in the user's folder.

    Returns:
        Rows of `mirage.stages.outcomes.Rate`: a row per language, subset and system, with 95% intervals.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if it has no such language, system or parser.
        Unreachable: if a program made the labels, and the votes do not respond.
    """
    from mirage.people.votes.database import Votes
    from mirage.people.votes.labels import read_labels
    from mirage.stages import outcomes
    from mirage.stats.label_errors import NOT_AUDITED

    table = outcomes.rates(
        arena.read("outcomes"),
        samples=outcomes.sample_outcomes(arena),
        parser=parser,
        languages=_tuple(languages),
        systems=_tuple(systems),
    )
    with Votes(url) as database:
        labels = read_labels(arena, database)
    table = outcomes.correct_rates(table, labels)
    title = f"Rates of {arena.name}, with 95% intervals; the row `all` is the mean over languages"
    first = ["language", "subset", "system", "n", "rate", "rate_low", "rate_high", "undecided"]
    if labels.unaudited:
        title += f"; {NOT_AUDITED}"
    if labels.audit is not None:
        first[7:7] = ["corrected", "corrected_low", "corrected_high", "audited"]
    return Rows(table, title, tuple(first))


def levels(
    arena: Arena,
    measure: str | None = None,
    *,
    languages: Iterable[str] | None = None,
    url: str | None = None,
) -> Rows:
    """Correct levels (rates, means of features and scores) by people's labels on answers.

    Args:
        arena: with the table of the measure, and people's scores, or votes on citations or nuggets.
        measure: `rate`, `nuggets`, `feature:NAME` or `score:NAME`; None for all that people labelled.
        languages: codes; None for all.
        url: database of votes; None for the user's own.

    Returns:
        Rows of `mirage.people.levels.CorrectedLevel`: a row per measure, language, subset and system.

    Raises:
        NotEnoughData: if people labelled no answer.
        UnknownName: if there is no such measure, language or feature.
        TableMissing: if the arena lacks the table of the measure.
    """
    from mirage.people import levels as people

    measures = None if measure is None else (measure,)
    found = people.labels_of(arena, measures, people.read_log(url), languages=_tuple(languages))
    results = [people.correct_levels(of) for of in found]
    rows = [row for result in results for row in result.rows]
    title = "; ".join(dict.fromkeys(line for result in results for line in result.notes()))
    first = ("measure", "language", "system", "uncorrected", "n", "corrected", "low", "high", "labels", "status")
    return _records(rows, f"Corrected levels of {arena.name}: {title}", first)


def retrieval_measures(
    arena: Arena,
    *,
    measures: Sequence[str] | None = None,
    languages: Iterable[str] | None = None,
    relevant_from: int = 1,
) -> Rows:
    """Evaluate each retriever on the queries with human relevance labels.

    The retriever `given` is the passages supplied with the queries. Unlabelled passages count as not relevant;
    judged@k accompanies every measure at k.

    Args:
        arena: with the table `passages`, and `retrieved` if anything was retrieved.
        measures: names as in ir_measures; None for nDCG@10, R@10, R@100, RR@10, AP@100 and judged@10.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.

    Returns:
        Rows of `mirage.stages.retrieve.measures.RetrievalMean`: a row per language, retriever and measure, with 95%
            intervals over queries; the language `all` is the mean over languages.

    Raises:
        NotEnoughData: if no passage has a label.
        UnknownName: if there is no such measure or language.
    """
    from mirage.stages.retrieve.measures import MEASURES, means, measure_retrievers

    chosen = MEASURES if measures is None else measures
    table = measure_retrievers(arena, measures=chosen, languages=_tuple(languages), relevant_from=relevant_from)
    title = f"Retrievers of {arena.name}, with 95% intervals; relevant from grade {relevant_from}"
    return _records(means(table), title, ("language", "retriever", "measure", "mean", "low", "high", "n", "total"))


def variance(
    arena: Arena,
    *,
    judges: Sequence[str] | None = None,
    languages: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
) -> Rows:
    """Split the noise of a rate, or of a difference between systems, into its sources.

    Args:
        arena: with outcomes (and samples), or with judgments.
        judges: split the noise of these judges' verdicts; None for that of hallucination and error rates.
        languages: codes; None for all.
        parser: parser whose outcomes count.

    Returns:
        Rows of `mirage.ranking.variance.NoiseSource`; the title has the interval of each estimate.

    Raises:
        TableMissing: if the arena lacks the table.
        UnknownName: if there is no such judge or language.
        NotEnoughData: if there are too few queries.
    """
    from mirage.ranking import variance as noise

    reports = (
        noise.rate_variance(arena, languages=languages, parser=parser)
        if not judges
        else [noise.judge_variance(arena, judges=judges, languages=languages)]
    )
    sources = [source for report in reports for source in report.sources]
    return Rows(schema.from_rows(noise.NoiseSource, sources), " ".join(report.sentence for report in reports))


def risk_coverage(
    arena: Arena, signal: str, *, loss: str = "hallucination", languages: Iterable[str] | None = None
) -> Rows:
    """Compute the risk-coverage trade-off of abstaining by a signal.

    Args:
        arena: with outcomes, and the signal.
        signal: a feature, or a measure of `scores`.
        loss: `hallucination` or `wrong`.
        languages: codes; None for all.

    Returns:
        A row per language and system, with the fields of `mirage.stages.abstain.Curve`.

    Raises:
        TableMissing: if the arena lacks outcomes, or the table of the signal.
        UnknownName: if there is no such signal, loss or language.
    """
    from mirage.stages import abstain

    curves = abstain.risk_coverage(arena, signal, loss=loss, languages=_tuple(languages))
    title = f"{signal} of {arena.name}: area under the risk-coverage curve"
    return Rows(_table(abstain.curve_rows(curves)), title, abstain.SHOWN)


def attribution(
    arena: Arena, *, languages: Iterable[str] | None = None, relevant_from: int = 1, answers: bool = False
) -> Rows:
    """Attribute every failure to the retriever or the model, by human labels of the passages.

    Args:
        arena: with the table `outcomes`; `answers` and `passages` are used if present.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.
        answers: return a row per answer, with its evidence, instead of a row per system and cause.

    Returns:
        Rows of `mirage.stages.retrieve.attribution.CauseShare`, with 95% intervals over queries, or of `Attribution`.

    Raises:
        TableMissing: if it lacks outcomes.
        UnknownName: if it has no such language.
    """
    from mirage.stages.retrieve.attribution import attributions, cause_shares

    entries = attributions(arena, languages=_tuple(languages), relevant_from=relevant_from)
    causes = [entry.attribution for entry in entries]
    if answers:
        return _records(causes, f"Where each answer of {arena.name} went")
    return _records(cause_shares(causes), f"Where answers of {arena.name} are lost, with 95% intervals over queries")


def nugget_scores(arena: Arena, *, assigner: str | None = None, languages: Iterable[str] | None = None) -> Rows:
    """Compute the mean nugget scores of each system, with 95% intervals over queries.

    Args:
        arena: with the tables `answers`, `nuggets` and `nugget_assignments`.
        assigner: use the assignments of this assigner; None for the one with the most assignments. The word matcher
            `baseline/terms` is the default only if there is no other.
        languages: codes; None for all.

    Returns:
        A row per language, system and score (`feature`), with the mean over queries, its 95% interval (`low`, `high`),
        `n` queries with a value and `total` queries; the language `all` is the mean over languages.

    Raises:
        TableMissing: if the arena lacks one of the tables.
        UnknownName: if there is no such assigner.
    """
    from mirage.stages.features.stage import nugget_means

    chosen, means = nugget_means(arena, assigner=assigner, languages=_tuple(languages))
    title = f"Scores of {arena.name} by nuggets, assigned by {chosen}, with 95% intervals over queries"
    first = ("language", "system", "feature", "mean", "low", "high", "n", "total")
    return Rows(_table([{name: getattr(row, name) for name in first} for row in means]), title, first)


def rank(
    battles: Any,
    *,
    judge: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: schema.Ties = "half",
    penalty: schema.Penalty = "jeffreys",
    assigner: str | None = None,
    nugget_margin: float = 0.0,
) -> Ranking:
    """Rank systems by their battles: Bradley-Terry ratings with 95% intervals, tests and rank intervals.

    Args:
        battles: an arena; or rows of battles: a data frame (pandas, polars), an Arrow table, a list of mappings, or a
            file (.csv, .jsonl, .parquet). Required columns `system_a`, `system_b` and `verdict` (`A`, `B`, `tie`;
            `unparsed` is excluded and counted). Optional: `query_id` (the resampling unit; without it each battle is
            its own query), `language` (ranked separately and jointly), `judge`, and `points`, system_a's share of the
            battle's point, in [0, 1].
        judge: judge whose verdicts count, or of an arena `relevance` for its outcomes by human labels, `nuggets` for
            its nugget scores; None for that of `evaluate`, else the only one.
        draws: bootstrap draws for the intervals.
        seed: random seed; the same seed gives the same numbers.
        ties: how ties count: as `half` a win, by `davidson`'s model, or not (`drop`).
        penalty: `jeffreys`, or `none` for maximum likelihood.
        assigner: assigner of nuggets, with `nuggets`; None for the default.
        nugget_margin: largest difference of two nugget scores that ties, with `nuggets`.

    Raises:
        BadInput: if a column is missing, a value cannot be read (naming the row).
        UnknownName: if the judge has no verdict.
        NotEnoughData: if there is no battle to rate.

    Source: Bradley and Terry, Biometrika 39 (1952); Firth, Biometrika 80 (1993).
    """
    from mirage.battles.judge import NUGGETS, choose_judge
    from mirage.ranking.board import Board, rank_arena, rank_judgments

    settings = RankSettings(
        draws=draws, seed=seed, ties=ties, penalty=penalty, assigner=assigner, nugget_margin=nugget_margin
    )
    if settings.changed & {"assigner", "nugget_margin"} and not (isinstance(battles, Arena) and judge == NUGGETS):
        raise BadInput(
            "an assigner or a nugget margin applies to nugget scores", do="pass an arena and judge='nuggets'"
        )
    if isinstance(battles, Arena):
        ranked_by = settings.judge(choose_judge(battles, judge))
        board = rank_arena(battles, ranked_by, settings)
    else:
        table, notes = _judgments(battles)
        board = Board(rank_judgments(table, settings, judge=judge), notes)
    return _ranking(board.ranking, board.remarks)


def _ranking(report: bootstrap.RankingReport, remarks: tuple[str, ...]) -> Ranking:
    return Ranking(**(_values(report) | {"tested": report.tests}), remarks=remarks)


def compare(
    data: Any,
    first: str,
    second: str | None = None,
    *,
    against: Arena | None = None,
    measure: str = "rating",
    judge: str | None = None,
    margin: float = 0.0,
    languages: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
    assigner: str | None = None,
    moved: int = MOVED,
    draws: int = DRAWS,
    seed: int = SEED,
) -> SystemComparison:
    """Compare two systems by their difference over the queries that both answered.

    Args:
        data: an arena; or, for ratings, a ranking or rows of battles as for `rank`.
        first: the system under test.
        second: the baseline system; None for the system of the same name in `against`.
        against: another arena that holds the second system, on the same queries.
        measure: `rating`, `rate`, `nuggets` or `feature:NAME`.
        judge: judge of the battles, for ratings, or `relevance` or `nuggets`; None as for `rank`.
        margin: equivalence margin, in the unit of the measure.
        languages: codes; None for all. Only with an arena.
        parser: parser whose outcomes count, for `rate`.
        assigner: assigner of nuggets; None for the default.
        moved: number of queries with the largest differences to list.
        draws: bootstrap draws for the intervals of ratings.
        seed: random seed.

    Raises:
        BadInput: if both systems are the same, an option does not apply to the data, or a row cannot be read.
        UnknownName: if there is no such system, language, measure or judge.
        TableMissing: if the arena lacks a table that the measure needs.
        NotEnoughData: if the systems share no query.
    """
    from mirage.ranking.compare import compare_ratings, compare_systems

    settings = CompareSettings(
        measure=measure,
        judge=judge,
        margin=margin,
        languages=_tuple(languages),
        parser=parser,
        assigner=assigner,
        moved=moved,
        draws=draws,
        seed=seed,
    )
    if isinstance(data, Arena):
        labels = None
        if measure == "rate":
            from mirage.people.votes.database import Votes
            from mirage.people.votes.labels import read_labels

            with Votes() as database:
                labels = read_labels(data, database)
        report = compare_systems(data, first, second, settings, against=against, labels=labels)
    else:
        if against is not None or languages is not None or measure != "rating":
            raise BadInput("battles without an arena are compared by rating, in all languages", do="pass an arena")
        ranked = isinstance(data, bootstrap.RankingReport)
        ranking = data if ranked else rank(data, judge=settings.judge, draws=draws, seed=seed)
        report = compare_ratings(ranking, first, first if second is None else second, margin=margin, moved=moved)
    return SystemComparison(**_values(report))


def agreement(votes: Any, judgments: Any, *, control: bool = False) -> Rows:
    """Measure the agreement of people with each judge and with each other, with 95% intervals over queries.

    Args:
        votes: rows of votes: `query_id`, `system_a`, `system_b`, `verdict` (`A`, `B`, `tie`, `both_bad`, `skip`);
            optional `voter`, `language` and `control`, as in `mirage.people.votes.kinds.Vote`.
        judgments: rows of verdicts, as for `rank`, with `query_id` and `judge`; or an arena.
        control: count only votes whose column `control` is true: battles drawn at random.

    Returns:
        Rows of `mirage.people.votes.agreement.Agreement`.

    Raises:
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage.people.votes import agreement as comparison

    log = _votes(votes)
    table, _ = _judgments(judgments)
    return Rows(
        schema.from_rows(comparison.Agreement, comparison.agreement(log, table, control=control)),
        "Agreement of people with judges and with each other, with 95% intervals",
    )


def correct(judgments: Any, votes: Any, *, judge: str | None = None) -> Correction:
    """Correct a judge's ranking by people's votes on randomly drawn battles.

    Args:
        judgments: rows of verdicts, as for `rank`, with `query_id`; or an arena.
        votes: rows of votes, as for `agreement`; all count as drawn at random, unless a column `control` or
            `inclusion` says otherwise.
        judge: name of the judge; None if there is only one.

    Returns:
        The corrected ranking of the only language, or of all jointly. Languages with too few votes are excluded;
        `left_out` gives the reasons.

    Raises:
        NotEnoughData: if there are too few votes, saying how many are missing.
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage.battles.decision import decisions as decide_all
    from mirage.battles.verdict_rows import judges_of, only_judge
    from mirage.people.votes import correct as correction

    table, _ = _judgments(judgments)
    name = only_judge(judges_of(table), judge)
    decisions = decide_all(table)[name]
    log = _votes(votes)
    corrections, left_out = [], {}
    for code in sorted({vote.language for vote in log}):
        try:
            corrections.append(correction.correct(log, decisions, language=code, judge=name))
        except NotEnoughData as error:
            left_out[code] = error.what
    if not corrections:
        raise NotEnoughData(
            f"no ranking by {name} can be corrected",
            where="; ".join(left_out.values()) or "no vote counts",
            do="vote on more battles drawn at random",
        )
    joined = corrections[0] if len(corrections) == 1 else correction.join_corrections(corrections)
    return replace(joined, left_out=left_out)


def judge_exam(
    arena: Arena,
    votes: Any = None,
    *,
    judges: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    ratings: str | None = None,
    seed: int = SEED,
) -> Rows:
    """Evaluate every judge against people on the same battles: agreement, position bias, and the order of systems.

    Args:
        arena: with judgments; its imported human verdicts and scores count as people's.
        votes: further rows of votes, as for `agreement`.
        judges: names; None for all.
        languages: codes; None for all languages with human decisions.
        ratings: count the scores of this measure as people's; None if people scored only one measure.
        seed: seed of the draws for the intervals of the order.

    Returns:
        Rows of `mirage.people.exam.ExamMeasure`: one per judge, language and measure; agreement among people last.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if there is no such judge, language or measure.
        NotEnoughData: if people decided no battle that counts.
    """
    from mirage.people.exam import exam

    log = [] if votes is None else [replace(vote, arena=arena.name) for vote in _votes(votes)]
    result = exam(arena, votes=log, judges=judges, languages=languages, ratings=ratings, seed=seed)
    return Rows(result.table(), "A judge's exam")


def judge_passport(arena: Arena, judge: str, *, languages: Iterable[str] | None = None) -> Rows:
    """Report how often a judge prefers an answer to its copy with a planted fault.

    Args:
        arena: with verdicts of `judge(..., passport=True)`.
        judge: the judge.
        languages: codes; None for all.

    Returns:
        Rows of `mirage.stages.judge.passport.PassportRow`: by fault and language, `all` after the languages.

    Raises:
        NotEnoughData: if the arena has no planted faults, or the judge has decided none in these languages.
        UnknownName: if the judge has decided none.
    """
    from mirage.stages.judge.faults import has_items, passport_path
    from mirage.stages.judge.passport import passport

    if not has_items(arena.path):
        raise NotEnoughData(
            "no judge has verdicts on planted faults here", do="mirage.judge(arena, model, passport=True)"
        )
    rows = passport(store.open_arena(passport_path(arena.path)), judge, languages=_tuple(languages))
    return _records(rows, f"Passport of {judge}")


# --- rows in ----------------------------------------------------------------------------------------------------------


def _frame(rows: Any) -> pa.Table:
    """Convert any kind of rows to an Arrow table."""
    import pyarrow as pa

    if isinstance(rows, str | Path):
        path = Path(rows)
        if store.parquet_rows(path):
            return pa.Table.from_batches(store.scan([path], store.columns_of([path])))
        return _table([line.value for line in store.records(path)])
    if isinstance(rows, pa.Table):
        return rows
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if isinstance(rows, Mapping):
        return pa.table(dict(rows))
    if isinstance(rows, Iterable):
        return _table([dict(row) for row in rows])
    raise BadInput(
        f"cannot read rows from a {type(rows).__name__}",
        do="give a data frame, an Arrow table, a list of mappings, or the path of a .csv, .jsonl or .parquet file",
    )


def _judgments(data: Any) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the verdicts of an arena, of a file of any format, or of rows as table `judgments`, and the assumptions
    made.
    """
    import pyarrow as pa

    from mirage.battles.decision import VERDICTS
    from mirage.io.values import refuse_misspelt

    if isinstance(data, Arena):
        return data.read("judgments"), ()
    if isinstance(data, str | Path):
        return _judgments_of_file(Path(data))
    rows = _frame(data)
    notes: tuple[str, ...] = ()
    _require_columns(rows, _BATTLE)
    refuse_misspelt(dict.fromkeys(rows.column_names), "the columns", ("query_id",), ("language",), ("judge",))
    n = len(rows)
    columns = {name: _encode(rows, name) for name in _BATTLE}
    words = [schema.verdict_word(text) for text in columns["verdict"].dictionary.to_pylist()]
    for k, word in enumerate(words):
        if word not in VERDICTS:
            row = columns["verdict"].indices.index(k).as_py()
            raise BadInput(
                f"the verdict {word!r} is not one of {', '.join(VERDICTS)}",
                where=f"row {row + 1:,}",
                do="write A if system_a is better, B if system_b is, tie if neither is",
            )
    columns["verdict"] = pa.array(words, pa.string()).take(columns["verdict"].indices)
    seen = Names()
    for name in _BATTLE[:2]:
        for system in columns[name].dictionary.to_pylist():
            seen.check(system, "system", name)
    if "query_id" in rows.column_names:
        columns["query_id"] = _encode(rows, "query_id")
    else:
        columns["query_id"] = pa.array([f"{k:08}" for k in range(n)], pa.string())
        notes = (_OWN_QUERIES,)
    for name, default in (("language", _UNDETERMINED), ("judge", "judge")):
        absent = name not in rows.column_names
        columns[name] = pa.repeat(default, n).dictionary_encode() if absent else _encode(rows, name)
    for name in ("points", "inclusion"):
        if name in rows.column_names:
            columns[name] = rows[name].cast(pa.float64())
    return pa.table(columns), notes


def _judgments_of_file(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the verdicts in a file as `mirage import` reads them, and the assumptions made."""
    from mirage.io.imports.formats import read_file

    try:
        tables, summary = read_file(path)
    except BadInput as error:
        if "--" in error.do:
            error.do += f"; those are options of: mirage import {path} --into DIR"
        raise
    if "judgments" not in tables:
        what = f"{path} has no verdicts: it is read as {summary.format}"
        raise BadInput(what, do=f"run: mirage import {path} --into my-arena; then rank that")
    notes = [_OWN_QUERIES] if "query_id" in summary.guessed else []
    notes += [why for what, why in summary.guessed.items() if what not in ("query_id", "language", "judge")]
    return tables["judgments"], (*notes, *(f"{entry.what} left out: {entry.why}" for entry in summary.left_out))


def _encode(rows: pa.Table, name: str) -> pa.DictionaryArray:
    """Return a column as dictionary-encoded text, with numbers written out and names normalised.

    Raises:
        BadInput: if a value is missing, naming the row.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = rows[name].combine_chunks()
    if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
        cells = column.to_pylist()
        column = pa.array([None if cell is None or cell != cell else str(cell) for cell in cells], pa.string())
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.dictionary.cast(pa.string())
    if name in NAMES:
        values = normalise_names(values)
    missing = pc.fill_null(pc.equal(values.take(encoded.indices), ""), True)
    if (row := missing.index(True).as_py()) >= 0:
        raise BadInput(f"{name} is missing", where=f"row {row + 1:,}", do="fill it in, or remove the row")
    if name not in NAMES:
        return pa.DictionaryArray.from_arrays(encoded.indices, values)
    return values.take(encoded.indices).dictionary_encode()


def _votes(data: Any) -> list[Vote]:
    from mirage.battles.decision import READABLE
    from mirage.people.votes.kinds import UNNAMED, Vote

    rows = _frame(data)
    verdict = "vote" if "vote" in rows.column_names else "verdict"
    _require_columns(rows, ("query_id", "system_a", "system_b", verdict))
    language, voters = _texts(rows, "language", _UNDETERMINED), _texts(rows, "voter", UNNAMED)
    drawn = rows["control"].to_pylist() if "control" in rows.column_names else [True] * len(rows)
    chances = rows["inclusion"].to_pylist() if "inclusion" in rows.column_names else [None] * len(rows)
    names = ("query_id", "system_a", "system_b", verdict)
    log = []
    known = (*READABLE, "skip")
    for k, (query, a, b, told) in enumerate(zip(*(_texts(rows, name) for name in names), strict=True)):
        if (word := schema.verdict_word(told)) not in known:
            raise BadInput(
                f"the vote {told!r} is not one of {', '.join(known)}", where=f"row {k + 1:,}", do="correct it"
            )
        chance = chances[k]
        if chance is not None and not 0 < chance <= 1:
            raise BadInput(
                f"the inclusion probability {chance} is not in (0, 1]",
                where=f"row {k + 1:,}",
                do="use a probability above 0 and at most 1, or leave it empty",
            )
        log.append(
            Vote(
                vote_id=f"{k:08}",
                time="",
                arena="",
                language=language[k],
                query_id=query,
                system_a=a,
                system_b=b,
                voter=voters[k],
                vote=word,  # type: ignore[arg-type]  # it is one of the words known
                control=bool(drawn[k]),
                why="",
                inclusion=chance,
            )
        )
    return log


def _require_columns(rows: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.column_names]
    if missing:
        raise BadInput(
            f"missing columns: {', '.join(missing)}; the columns are {', '.join(rows.column_names)}",
            do=f"rename the columns to {', '.join(names)}",
        )


def _texts(rows: pa.Table, name: str, default: str = "") -> list[str]:
    """Return a column as strings, as `_encode` does; without the column, the default."""
    return _encode(rows, name).to_pylist() if name in rows.column_names else [default] * len(rows)


def _tuple(values: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


# --- results out ------------------------------------------------------------------------------------------------------


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table; a name that some rows lack is null there.

    Raises:
        BadInput: if a column mixes kinds of values, such as texts and lists.
    """
    import pyarrow as pa

    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        try:
            columns[name] = pa.array([row.get(name) for row in rows])
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            raise BadInput(
                f"column {name!r} cannot be read: {error}",
                do="give all its values one kind, such as text",
            ) from None
    return pa.table(columns)


def _records(records: Iterable[Any], title: str, first: tuple[str, ...] = ()) -> Rows:
    """Return records of a dataclass as rows."""
    return Rows(_table([asdict(record) for record in records]), title, first)


def _values(record: Any) -> dict[str, Any]:
    """Return the fields of a record, for a subclass with more fields."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
