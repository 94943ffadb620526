"""Commands that measure answers: `mirage measure`, and `mirage measure outcomes|features|nuggets|support`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Option

from mirage.cli.arenas import part_of
from mirage.cli.common import DEFAULT, How, Languages, OwnDir, Share, arena_log, command_group
from mirage.cli.connection import Connection, tell, tell_money, tell_result
from mirage.cli.output import Format, columns_of, note, progress, show
from mirage.cli.reporting import note_unclassified
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput, NotEnoughData
from mirage.stats.units import name_unit
from mirage.store.arena import open_arena
from mirage.store.lineage import LINEAGE
from mirage.text.languages import name_of

if TYPE_CHECKING:
    from mirage.llm.calls import ChatModel
    from mirage.pipeline.steps import StepReport
    from mirage.stages.features.means import FeatureMean
    from mirage.stages.model_stage import ModelResult, RowStage
    from mirage.stages.outcomes.parsed import Parsed

measuring = command_group("measure", "Measure answers: outcomes, features, nuggets, citation support.", default=True)

STEPS = ("stage", "step", "state", "why", "seconds")
"""Columns of `measure`."""
MAX_TOKENS = 4096
"""Default maximum of new tokens per reply; enough for thirty nuggets."""


@measuring.command(DEFAULT)
def measure_all(dir_: OwnDir) -> None:
    """Measure what needs no model and is out of date: outcomes, nuggets by shared words, features.

    Reads the tables queries, passages, nuggets and answers. Writes outcomes, nugget assignments by shared words if
    there are nuggets, and features. Rerun it to resume. Prints the steps run and skipped, with reasons.
    """
    from mirage.pipeline.steps import Steps
    from mirage.stages.stage import Progress

    results: list[StepReport] = []
    with ExitStack() as bars:

        def watch(step: str) -> Progress:
            bars.close()
            return bars.enter_context(progress(step.capitalize()))

        try:
            for result in Steps(dir_, "mirage measure", watch).measure():
                bars.close()
                results.append(result)
        finally:  # also before an error
            bars.close()
            if results:
                show(results, STEPS)
                note(summarise_steps(results))


def summarise_steps(results: Sequence[StepReport]) -> str:
    """Return the steps run and skipped, their time and cost, in one sentence."""
    from mirage.llm import calls as llm_calls

    states = Counter(result.state for result in results)
    parts = ", ".join(f"{n} {state}" for state, n in states.items())
    cost = llm_calls.total(result.cost for result in results if result.cost is not None)
    return (
        f"{parts}; {sum(result.seconds for result in results):,.1f} seconds, {cost.calls:,} calls,"
        f" {cost.tokens_in:,} prompt tokens and {cost.tokens_out:,} reply tokens{tell_money(cost)}."
    )


@measuring.command()
@expand_settings
def outcomes(
    dir_: OwnDir,
    connection: Connection,
    outcomes_by: Annotated[
        str | None, Option(metavar="MODEL", help="Classify free answers by this chat model instead of by rules.")
    ] = None,
    second_opinion: Annotated[
        bool,
        Option("--second-opinion", help="Also classify free answers by embeddings; where they differ, by neither."),
    ] = False,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Classify answers as answered, abstained, clarification, unparsed, empty, api_error or missing.

    Reads the tables queries and answers. Writes the table outcomes, by both parsers. Prints the strict parser's counts.
    Answers to NoMIRACL's prompts (template vanilla, role, repeat or explanation) are parsed by their formulas, other
    answers by the rules of free answers, or with --outcomes-by by a model, whose agreement with labelled examples is
    printed; its replies are cached in the arena's ledger: rerun the command to resume. With --second-opinion (extra
    second-opinion) embeddings classify them too: where they and the rules differ the answer is unclassified, and the
    first that --outcomes-by asks; in a language without rules they decide where sure, not validated in that language.
    """
    from mirage.llm.calls import parameters
    from mirage.stages.outcomes.by_model import plan_outcomes
    from mirage.stages.outcomes.rates import Rate, not_understood
    from mirage.stages.outcomes.stage import OUTCOMES
    from mirage.stages.stage import run
    from mirage.views.rates import rate_table

    dir_, _ = part_of(dir_, share)
    settings = None
    decided = None
    if second_opinion:
        if outcomes_by is not None or connection.model is not None:
            raise BadInput("a second opinion is on the rules", do="omit --second-opinion, or --outcomes-by and --model")
        decided = _read_again(dir_)
        settings = {"second_opinion": "multilingual-e5-small"}
    elif outcomes_by is not None:
        model = replace(connection, model=outcomes_by).chat_model()
        if connection.dry_run:
            connection.only_caller(model)
            tell(plan_outcomes(dir_, model), planned=True)
            return
        decided = _classify(dir_, connection, model)
        settings = parameters(model.settings)
    elif connection.model is not None:
        raise BadInput("--model names no model for outcomes", do="use --outcomes-by MODEL")
    arena = run(OUTCOMES, dir_, made_by="mirage measure outcomes", settings=settings, decided=decided)
    table = rate_table(arena, "strict", arena.languages("outcomes"))
    show(table, columns_of(Rate)[:12], output_format, of=Rate)
    note_unclassified(table)
    for code, n in not_understood(arena.read("outcomes")).items():
        note(
            f"{name_of(code)} has no vocabulary, so {n:,} of its answers are unclassified; classify them by a model:"
            f" mirage measure outcomes {quote(str(dir_))} --outcomes-by MODEL"
        )


def _read_again(path: Path) -> Mapping[tuple[str, str, str], Parsed]:
    """Classify the answers by embeddings too, and say where they differ from the rules or decide alone."""
    from mirage.stages.outcomes.parsed import DIFFERS
    from mirage.stages.outcomes.second_opinion import load_vectors, read_again
    from mirage.stages.outcomes.stage import OUTCOMES

    arena = open_arena(path)
    decided = read_again({name: arena.read(name) for name in OUTCOMES.reads}, load_vectors())
    differing = sum(parsed == DIFFERS for parsed in decided.values())
    note(
        f"{differing:,} answers are unclassified because the rules and the second opinion differ; read them first:"
        f" mirage measure outcomes {quote(str(path))} --outcomes-by MODEL"
    )
    for code, n in sorted(Counter(key[0] for key, parsed in decided.items() if parsed != DIFFERS).items()):
        note(f"{n:,} answers in {name_of(code)} are classified by embeddings alone: not validated in this language")
    return decided


def _classify(path: Path, connection: Connection, model: ChatModel) -> Mapping[tuple[str, str, str], Parsed]:
    """Classify the answers by a model, and report its agreement with labelled examples, its cost and its failures."""
    from mirage.stages.outcomes.by_model import classify_by_model

    with connection.calls(model, "Classifying", "mirage measure outcomes") as calls:
        result = classify_by_model(path, calls)
    for each in result.agreement:
        low, high = each.interval
        agreed = f"{each.agreeing:,} of {each.n:,} labelled examples in {name_of(each.language)}"
        note(f"{model.settings.model} agrees with {agreed} ({low:.0%} to {high:.0%})")
    if not result.agreement:
        note(f"No labelled examples in these languages: how well {model.settings.model} classifies is not known.")
    tell_result(result.cost, result.failed, result.unasked, "answers have no outcome")
    return result.decided


@measuring.command()
@expand_settings
def features(
    dir_: OwnDir,
    connection: Connection,
    only: Annotated[list[str] | None, Option(metavar="NAME", help="Measure only this feature. Repeatable.")] = None,
    reference: Annotated[
        str | None,
        Option(metavar="SYSTEM", help="System whose answers are the references of the overlap features."),
    ] = None,
    nli: Annotated[
        str | None, Option(metavar="MODEL", help="NLI model of the support features: a name or a folder.")
    ] = None,
    reranker: Annotated[str | None, Option(metavar="MODEL", help="Reranker: a name or a folder.")] = None,
    device: Annotated[str | None, Option(help="torch device; by default the GPU if there is one.")] = None,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Measure language, citations, length, overlap, support, relevance and grades of answers.

    Features that need no model are always measured. The support features and the reranker score run a local model if
    one is named, or their default if `--only` names them (extra `local`). With `--model`, a chat model grades; every
    reply is cached in the arena's ledger and paid for once, and a grade whose call failed is null and retried by the
    next run. Scores by nuggets and support grades are measured if the arena has them. Reads the tables queries,
    passages, answers, nuggets, nugget_assignments and support_grades. Writes the table features, keeping other
    features. Prints means with 95% intervals.
    """
    from mirage.llm.asking import ArenaCalls
    from mirage.stages.features import means as feature_means
    from mirage.stages.features.measuring import Grader, measure, plan_grades
    from mirage.stages.features.settings import MeasureSettings

    settings = MeasureSettings(tuple(only or ()), reference, nli, reranker, device)
    executor = connection.executor()
    model = connection.chat_model() if connection.model is not None else None
    engine = connection.make_engine(model) if model is not None else None
    dir_, shard = part_of(whole := dir_, share, dry=connection.dry_run)
    if connection.dry_run:
        if model is None:
            note("No calls: no --model is given.")
        else:
            tell(plan_grades(dir_, settings, model), planned=True)
        return
    with progress("Measuring") as update:
        grader = None
        if model is not None and engine is not None:
            grader = Grader(ArenaCalls(model, "mirage measure features", update, engine=engine))
        arena = measure(
            dir_,
            settings,
            made_by="mirage measure features",
            grade=grader,
            progress=update,
            executor=executor,
            whole=whole if shard is not None else None,
        )
    if grader is not None and grader.replies is not None:
        replies = grader.replies
        tell_result(replies.cost, replies.reasons, replies.unasked, "grades have no value")
    show_means(feature_means.means(arena.read("features")), output_format)
    if grader is not None:
        grader.need_any()


@measuring.command()
@expand_settings
def nuggets(
    dir_: OwnDir,
    connection: Connection,
    create: Annotated[
        bool, Option("--create", help="First write nuggets for every query that has none, by --model.")
    ] = False,
    name: Annotated[
        str | None, Option("--assigner", metavar="NAME", help="Name for the model's rows; by default the model.")
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Decide which nuggets each answer states, by a model, or without --model by shared words.

    The word matcher `baseline/terms` is free, ignores meaning, and is a lower bound. With --create the nuggets are
    written first, in the language of the query, from the passages labelled relevant, or from all if none has a label.
    Reads the tables queries, passages, nuggets and answers. Writes nuggets, nugget_assignments and features, keeping
    what others made, and caches every reply in the arena's ledger: rerun the command to resume. A nugget whose call
    failed gets a row with the reason. Prints the scores with 95% intervals over queries.
    """
    from mirage.stages.nuggets.stage import ASSIGNMENTS, TERM_ASSIGNMENTS
    from mirage.stages.stage import run

    if connection.model is None:
        if create or (name, languages) != (None, None):
            raise BadInput("--create, --assigner and --languages need a model", do="name a model with --model")
        if connection.dry_run:
            note("No calls: the word matcher uses no model.")
            return
        executor = connection.executor()
        with progress("Matching words") as update:
            run(
                TERM_ASSIGNMENTS,
                dir_,
                made_by="mirage measure nuggets",
                part="assigner",
                executor=executor,
                progress=update,
            )
        note("Assigned by shared words (baseline/terms), a lower bound; use --model to assign with a model.")
    else:
        try:
            if create and not _create(dir_, connection, languages):
                return
        except NotEnoughData as error:
            if "nuggets" not in open_arena(dir_).tables:
                raise
            note(f"No nuggets to write: {error.where}")
        words = ("Assigning", "mirage measure nuggets", "nuggets of answers have no assignment")
        if _ask(ASSIGNMENTS, dir_, connection, words, name=name, languages=languages, max_tokens=MAX_TOKENS) is None:
            return
    show_means(_update_means(dir_, "nuggets", languages), output_format)


def _create(path: Path, connection: Connection, languages: Sequence[str] | None) -> bool:
    """Write nuggets, or report what they would cost; return whether they are there now."""
    from mirage.stages.nuggets.stage import BANKS

    words = ("Writing nuggets", "mirage measure nuggets", "queries have no nuggets")
    result = _ask(BANKS, path, connection, words, languages=languages, max_tokens=MAX_TOKENS)
    if result is None:
        note("The cost of assigning them is known once they are written.")
        return False
    for reason, n in result.left.items():
        note(f"{n:,} queries skipped: {reason}")
    note(f"{open_arena(path).address}: {len(result.rows):,} new nuggets")
    return True


@measuring.command()
@expand_settings
def support(
    dir_: OwnDir,
    connection: Connection,
    name: Annotated[
        str | None, Option("--grader", metavar="NAME", help="Name for the model's rows; by default the model.")
    ] = None,
    votes: Annotated[bool, Option("--votes", help="Use people's votes on citations instead of a model.")] = False,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Grade how far each cited passage supports the sentence that cites it: full, partial, none, or contradicted.

    Grades are from a model, or with --votes from people's votes on citations. Reads the tables answers, passages and
    queries. Writes the table support_grades, keeping those of other graders, and citation precision and recall into
    the table features. Replies are cached in the arena's ledger: rerun the command to resume. A citation whose call
    failed gets a row with the reason. Prints both features with 95% intervals over queries.
    """
    if votes:
        if (connection.model, name, languages) != (None, None, None):
            raise BadInput("--votes uses no model and all languages", do="omit --model, --grader and --languages")
        from mirage.people.votes.kinds import Evidence
        from mirage.people.votes.stage import grade_support_by_votes

        log = arena_log(open_arena(dir_), Evidence).votes
        grade_support_by_votes(dir_, log, made_by="mirage measure support")
    else:
        from mirage.stages.features.support_grading import SUPPORT

        words = ("Grading support", "mirage measure support", "citations have no grade")
        result = _ask(SUPPORT, dir_, connection, words, name=name, languages=languages)
        if result is None:
            return
        grades = Counter(filter(None, result.rows["grade"].to_pylist()))
        note("Citations: " + ", ".join(f"{n:,} {grade}" for grade, n in grades.most_common()))
    show_means(_update_means(dir_, "support_grades", languages), output_format)


def _ask(
    stage: RowStage,
    path: Path,
    connection: Connection,
    words: tuple[str, str, str],
    *,
    name: str | None = None,
    languages: Sequence[str] | None = None,
    max_tokens: int = 2048,
) -> ModelResult | None:
    """Run a stage with the model of the options, and report cost and failures; with --dry-run only the planned cost.

    Args:
        stage: the stage.
        path: the arena's folder.
        connection: the options.
        words: title of the progress bar, the command for the manifest, and what failed units lack.
        name: name for the rows; by default the model's.
        languages: codes; None for all.
        max_tokens: maximum new tokens per reply unless an option sets it.
    """
    model = connection.chat_model(max_tokens=max_tokens)
    title, made_by, lacking = words
    stage = replace(stage, owner=name or model.settings.model, languages=languages)
    if connection.dry_run:
        connection.only_caller(model)
        tell(stage.plan(path, model), planned=True)
        return None
    with connection.calls(model, title, made_by) as calls:
        _, result = stage.run(path, calls)
    tell_result(result.cost, result.failed, result.unasked, lacking)
    return result


def _update_means(path: Path, table: str, languages: Sequence[str] | None) -> list[FeatureMean]:
    """Measure and store the features computed from a table's new rows, and return their means in some languages, by
    default in all.
    """
    from mirage.stages.features.measuring import measure
    from mirage.stages.features.settings import MeasureSettings
    from mirage.stages.features.stage import shown_means

    names = LINEAGE[table].features
    arena = measure(path, MeasureSettings(names), made_by="mirage measure features")
    return [mean for mean in shown_means(arena.read("features"), names) if not languages or mean.language in languages]


def show_means(means: Sequence[FeatureMean], output_format: Format) -> None:
    """Print means of features, and what their intervals resample."""
    from mirage.stages.features.means import FeatureMean

    rows = [asdict(mean) | {"coverage": mean.coverage} for mean in means]
    columns = ("language", "system", "feature", "mean", "mean_low", "mean_high", "n", "total", "coverage")
    show(rows, columns, output_format, of=FeatureMean, value="mean")
    if unit := next((mean.unit for mean in means if mean.unit != "query"), None):
        note(f"all: intervals resample by {name_unit(unit)}")
