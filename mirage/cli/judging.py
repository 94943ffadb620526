"""Commands for judges: `mirage judge`, `mirage judges`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, Share, app, arena_log, codes
from mirage.cli.connection import Connection, tell
from mirage.cli.merging import part_of
from mirage.cli.output import Format, note, progress, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput, NotEnoughData, UnknownName

if TYPE_CHECKING:
    from mirage.llm import ChatModel, Limits
    from mirage.people.exam import JudgeExam
    from mirage.people.exam.passport import Passport
    from mirage.pipeline.adaptive import RoundReport
    from mirage.ranking.adaptive import AdaptiveSettings
    from mirage.stages.judge import JudgeStats
    from mirage.stages.judge.stage import JudgeSettings
    from mirage.store import Arena

RATES = ("flip", "first", "tie", "unparsed")
COLUMNS = (
    *("judge", "language", "n", "flip_rate", "flip_low", "flip_high", "flip_n"),
    *("first_rate", "first_low", "first_high", "first_n", "tie_rate", "tie_low", "tie_high", "tie_n"),
    *("unparsed_rate", "unparsed_low", "unparsed_high", "calls", "tokens_in", "tokens_out", "money"),
)
"""Columns of `mirage judges`."""
SHOWN = ("judge", "language", "n", *RATES, "calls", "tokens_in", "tokens_out", "money")
"""Columns of the human-readable table, with each rate and its interval in one."""


@app.command()
@expand_settings
def judge(
    dir_: ArenaDir,
    name: Annotated[str, typer.Option("--judge", metavar="NAME", help="Name of the judge, or `heuristic`.")],
    connection: Connection,
    queries: Annotated[int | None, typer.Option(min=1, help="Random queries per language; default all.")] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Random pairs of answers per language; default all.")] = None,
    seed: Seed = 0,
    languages: Languages = None,
    battles: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Judge only the battles of this file from `mirage place --next FILE`."),
    ] = None,
    known: Annotated[
        bool,
        typer.Option("--known", help="Judge only pairs with a known winner by relevance labels, as an exam."),
    ] = False,
    planted: Annotated[
        bool,
        typer.Option("--planted", help="As --known, with a verdict in its own favour planted in each wrong answer."),
    ] = False,
    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What to judge by: overall, groundedness, citation, completeness or language-quality; with --prompt, "
            "a name for it.  [default: overall]",
            show_default=False,
        ),
    ] = None,
    rubric: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML file with a criterion of your own: question, and optionally scale."),
    ] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Text file with a prompt of your own: {question}, {passages}, {answer_a}, {answer_b}. It must ask for "
            "[[A]], [[B]], or [[C]] for a tie.",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="Verdicts of the judge on each battle in each order.")
    ] = 1,
    passport: Annotated[
        bool,
        typer.Option(
            "--passport",
            help="Judge answers against copies with a planted fault, 30 queries per language or --queries, for "
            "`mirage judges --passport`.",
        ),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Judge again, ignoring existing verdicts and the ledger.")
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="GOAL",
            help="Judge in rounds, each chosen by the verdicts so far, until systems are separated (`separated`), the K"
            " best are (`top:K`), or intervals are at most W logits wide (`width:W`).",
        ),
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Planned rounds of --until; default 8.")] = None,
    random: Annotated[
        float | None,
        typer.Option(
            "--random",
            metavar="SHARE",
            min=0,
            max=1,
            help="Share of each round of --until drawn at random; default 0.2.",
        ),
    ] = None,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Judge pairs of answers.

    Every pair is shown in both orders. Reads the tables queries, passages and answers, and with `--judge heuristic`,
    which needs no model and costs nothing, answers and features. Writes the table judgments, where those of other
    judges stay, and caches every reply in the arena's ledger: rerun the command to resume; no call is paid for twice.
    The same model at another service counts as another judge. With `--replace` every battle is judged and paid for
    again. Ratings made from older judgments are removed. Prints the judge's rates. With `--known` the battles are pairs
    of a correct and a wrong decision by the relevance labels (table outcomes), half of them on queries without a
    relevant passage. Their judge is `known: NAME`: `mirage judges --against-people` counts them as the judge's own;
    rankings do not count them. Verdicts by another criterion than overall are stored under the
    judge name `NAME: CRITERION`; use that name in other commands. With `--passport` the battles are answers against
    copies with a fault planted by rule, in a separate arena, DIR/passport, with its verdicts and ledger; rankings of
    DIR do not change. With `--repeats N` each battle has N verdicts in each order (`mirage variance` tells what they
    are worth). Points for single answers are stored in the table scores, and decide battles. With `--until`, rounds
    share the `--budget`, or without one all battles; every verdict stores its inclusion probability, and `mirage rank`
    weights it by the inverse.
    """
    from mirage.io.sources.files import read_battle_list
    from mirage.stages.judge import HEURISTIC, load_criterion, stage
    from mirage.stages.judge.choice import BattleChoice
    from mirage.stages.judge.stage import BattleSample, JudgeSettings

    given = BattleChoice(queries, pairs, battles, known, planted, repeats, replace, share, until)
    asked = load_criterion(criterion, rubric=rubric, prompt=prompt)
    if until is not None:
        given.refuse("until", spell=_spell)
        goal = _adaptive(until, rounds, random, seed)
        by = JudgeSettings(name, BattleSample(languages=codes(languages)), criterion=asked)
        _judge_until(dir_, by, connection, goal, output_format)
        return
    if passport:
        given.refuse("passport", spell=_spell)
        drawn = BattleSample(queries, seed=seed, languages=codes(languages))
        _judge_passport(dir_, JudgeSettings(name, drawn, replace, asked), connection, repeats, output_format)
        return
    if rounds is not None or random is not None:
        raise BadInput("--rounds and --random belong to --until", do="add --until separated, top:K or width:W")
    if battles is not None and (queries, pairs, languages, known or planted) != (None, None, None, False):
        raise BadInput("--battles already selects the battles", do="omit --queries, --pairs, --languages and --known")
    selection = None if battles is None else read_battle_list(battles)
    sample = BattleSample(queries, pairs, seed, codes(languages), selection, known or planted)
    if replace and share is not None:
        raise BadInput(
            "--replace cannot be combined with --shard: a merge could not tell which verdicts are newer",
            do="use another name for --judge",
        )
    settings = JudgeSettings(name, sample, replace, asked, planted)
    by_features = name == HEURISTIC and connection.model is None
    if by_features and (settings.owner != sample.owner(name) or repeats > 1):
        raise BadInput(
            "the heuristic judge reads no prompt and never changes its mind",
            do="omit --criterion, --rubric, --prompt, --planted and --repeats",
        )
    dir_, shard = part_of(whole := dir_, share, dry=connection.dry_run)
    if shard is not None:
        sample = stage.of_shard(whole, sample, shard, by_features=name == HEURISTIC)
        settings = dataclasses.replace(settings, sample=sample)
        if not sample.battles:
            note("This shard has no battles.")
            return
    arena = _judge_battles(dir_, settings, connection, repeats)
    if arena is None:
        return
    stats = stage.judge_statistics(dir_, limits=connection.limits()) if "judgments" in arena.tables else []
    _show([row for row in stats if row.judge == settings.owner], output_format)


def _judge_passport(
    path: Path, asked: JudgeSettings, connection: Connection, repeats: int, output_format: Format
) -> None:
    """Plant faults in answers where none are, judge them, and print the passport."""
    from mirage.stages.features.measuring import measure
    from mirage.stages.judge import HEURISTIC
    from mirage.stages.judge.faults import draw_items, item_pairs
    from mirage.stages.judge.stage import BattleSample

    draw = asked.sample
    items = draw_items(path, queries=draw.queries, seed=draw.seed, languages=draw.languages, made_by="mirage judge")
    if asked.judge == HEURISTIC and connection.model is None:
        if asked.owner != HEURISTIC or repeats > 1 or asked.replace:
            raise BadInput(
                "the heuristic judge reads no prompt and never changes its mind",
                do="omit --criterion, --rubric, --prompt, --repeats and --replace",
            )
        items = measure(items.path, made_by="mirage judge")
    settings = dataclasses.replace(asked, sample=BattleSample(battles=item_pairs(items, draw.languages)))
    judged = _judge_battles(items.path, settings, connection, repeats)
    if judged is not None and "judgments" in judged.tables:
        _passport(path, settings.owner, draw.languages, output_format)


def _judge_battles(path: Path, settings: JudgeSettings, connection: Connection, repeats: int) -> Arena | None:
    """Judge the battles of the settings and return the arena; None if only the cost was asked for."""
    from mirage.llm import total
    from mirage.stages.judge import HEURISTIC
    from mirage.stages.judge.stage import judge_arena_by_features, plan_judging

    if settings.judge == HEURISTIC and connection.model is None:
        if connection.dry_run:
            note("No calls: this judge uses no model.")
            return None
        return judge_arena_by_features(path, sample=settings.sample, made_by="mirage judge")
    model = connection.chat_model()
    connection.only_caller(model)  # rejects an engine that cannot call
    every = [dataclasses.replace(settings, repeat=repeat) for repeat in range(repeats)]
    if connection.dry_run:
        tell(total(plan_judging(path, one, model) for one in every), planned=True)
        return None
    for one in every:
        arena, model = _judge_by_model(path, one, connection, model)
    return arena


def _adaptive(until: str, rounds: int | None, random: float | None, seed: int) -> AdaptiveSettings:
    """Return the settings of adaptive judging."""
    from mirage.ranking.adaptive import AdaptiveSettings

    plain = AdaptiveSettings(until, seed=seed)
    return dataclasses.replace(
        plain,
        rounds=plain.rounds if rounds is None else rounds,
        random=plain.random if random is None else random,
    )


def _spell(option: str) -> str:
    """Return an option as it is typed."""
    return f"--{option}"


def _judge_until(
    path: Path, asked: JudgeSettings, connection: Connection, goal: AdaptiveSettings, output_format: Format
) -> None:
    """Judge in rounds until a goal is reached, and print the ranking of the judged battles."""
    from mirage.pipeline.adaptive import Judge, judge_adaptively, rating_rows
    from mirage.stages.judge import HEURISTIC
    from mirage.stages.judge.stage import plan_judging

    name, languages = asked.judge, asked.sample.languages
    if name == HEURISTIC and connection.model is None:
        if asked.owner != name:
            raise BadInput("the heuristic judge reads no prompt", do="omit --criterion, --rubric and --prompt")
        if connection.budget is not None:
            raise BadInput("the heuristic judge costs nothing", do="omit --budget")
        if connection.dry_run:
            note("No calls: this judge uses no model.")
            return
        result = judge_adaptively(path, Judge(name, "mirage judge"), goal, languages=languages, watch=_tell_round)
    else:
        model = connection.chat_model()
        if connection.dry_run:
            note("All battles, of which rounds judge a part:")
            tell(plan_judging(path, asked, model), planned=True)
            return
        connection.only_caller(model)
        with progress("Judging") as update:
            by = Judge(name, "mirage judge", model, asked.criterion, connection.only_caller, update)
            result = judge_adaptively(path, by, goal, languages=languages, watch=_tell_round)
    show(rating_rows(result.state), RATED, output_format)
    if result.left_out:
        note(f"Not judged, without answers in every language: {', '.join(result.left_out)}")
    note(f"Stopped: {result.reason}.")
    ranks = f"mirage rank {path} --judge '{asked.owner}'"
    note(f"{ranks} ranks by these verdicts, weighted by their inclusion probabilities.")


RATED = ("rank", "system", "rating", "low", "high", "tier", "n_battles")
"""Columns of `mirage judge --until`."""


def _tell_round(report: RoundReport) -> None:
    """Print one line on a finished round."""
    money = "" if report.money is None else f", cost {report.money:,.2f}"
    note(
        f"Round {report.number} of {report.rounds}: {report.battles:,} of {report.possible:,} battles judged"
        f" ({report.battles / report.possible:.1%}){money}; {report.separated:,} of {report.pairs:,} pairs separated,"
        f" {report.open:,} still open, widest interval {report.widest:.2f}"
    )


def _judge_by_model(
    path: Path, settings: JudgeSettings, connection: Connection, model: ChatModel
) -> tuple[Arena, ChatModel]:
    """Judge battles by a model, with progress, and report cost, failures, and calls not made.

    Returns:
        The arena, and the model with what is left of its budget.
    """
    from mirage.llm import ArenaCalls
    from mirage.stages.judge.stage import judge_by_model

    with progress("Judging") as update:
        calls = ArenaCalls(connection.only_caller(model), model, "mirage judge", update)
        arena, result = judge_by_model(path, settings, calls)
    tell(result.cost)
    for reason, n in result.failed.items():
        note(f"{n:,} battles failed and have no verdict; rerun the command to retry: {reason}")
    if result.unasked:
        note(f"{result.unasked:,} battles not judged: the budget was reached; rerun the command to resume.")
    return arena, model.after(result.cost)


EXAM = ("judge", "language", "measure", "value", "low", "high", "n", "queries", "reason")
"""Columns of `mirage judges --against-people`, one row per measure."""


@app.command()
def judges(
    dir_: ArenaDir,
    judge_names: Annotated[
        list[str] | None, typer.Option("--judge", metavar="NAME", help="A judge. Repeatable; default all.")
    ] = None,
    against_people: Annotated[
        bool, typer.Option("--against-people", help="Print each judge's agreement with people instead.")
    ] = False,
    passport: Annotated[
        bool,
        typer.Option("--passport", help="Print how often a judge detects each planted fault instead."),
    ] = False,
    minimum: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="With --passport: exit with 1 if the interval of some fault over all languages begins below this.",
        ),
    ] = None,
    languages: Languages = None,
    ratings: Annotated[
        str | None,
        typer.Option(metavar="MEASURE", help="With --against-people: measure whose scores count as people's verdicts."),
    ] = None,
    price_in: Annotated[float | None, typer.Option(min=0, help="Price per million prompt tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0, help="Price per million reply tokens.")] = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Print the reliability and cost of each judge, or its agreement with people.

    Flip, first-position, tie and unparsed rates with 95% intervals and n, calls and tokens, by judge and language. With
    --against-people: agreement, kappa, sensitivity and specificity of “better” and of “tie”, the judge's biases, and
    the order of systems, with 95% intervals over queries; agreement among people last. Reads the table judgments, the
    arena's ledger, and for --against-people the votes on the arena, scores and lengths if present. With --passport: the
    share of items in which the original wins over its copy with a planted fault, by fault and language (`mirage judge
    --passport` judges them), beside people's votes on the same items. Exit codes: 0; 1 if the lower end of a fault's
    interval over all languages is below --minimum, or there is none. Writes nothing. Costs need the prices.
    """
    from mirage.llm import Limits
    from mirage.stages.judge import stage

    limits = Limits(price_in=price_in, price_out=price_out)
    only = codes(languages)
    if against_people and passport:
        raise BadInput("--against-people and --passport print different tables", do="choose one of them")
    if passport:
        raise typer.Exit(_print_passport(dir_, judge_names, only, minimum, output_format))
    if minimum is not None:
        raise BadInput("--minimum needs --passport", do="add --passport --judge NAME")
    if against_people:
        _against_people(dir_, judge_names, only, ratings, limits, seed=seed, output_format=output_format)
        return
    if ratings is not None:
        raise BadInput("--ratings needs --against-people", do="add --against-people")
    rows = stage.judge_statistics(dir_, limits=limits)
    known = {row.judge for row in rows}
    for name in judge_names or ():
        if name not in known:
            raise UnknownName("judge", name, known)
    _show(
        [
            row
            for row in rows
            if (not judge_names or row.judge in judge_names) and (only is None or row.language in only)
        ],
        output_format,
    )


PASSPORT = (
    *("judge", "fault", "language", "detected", "low", "high", "n", "queries"),
    *("split", "split_low", "split_high", "unread", "unmade", "reason"),
)
"""Columns of `mirage judges --passport`."""


def _print_passport(
    path: Path,
    judge_names: Sequence[str] | None,
    languages: Sequence[str] | None,
    minimum: float | None,
    output_format: Format,
) -> int:
    """Print the passport of a judge, and return the exit code of the minimum."""
    from mirage.stages.judge.faults import FAMILIES

    if len(judge_names or ()) != 1:
        raise BadInput("--passport is of one judge", do="name it with --judge")
    result = _passport(path, (judge_names or [""])[0], languages, output_format)
    if minimum is None:
        return 0
    below = result.below(minimum)
    for row in below:
        shown = "no interval" if row.low is None else f"the interval begins at {row.low:.1%}"
        note(f"below the minimum of {minimum:.0%}: {FAMILIES[row.fault].title} ({shown}, n = {row.n:,})")
    return 1 if below else 0


def _passport(path: Path, judge_name: str, languages: Sequence[str] | None, output_format: Format) -> Passport:
    """Print the passport of a judge: for people all languages together, or those that were named."""
    from mirage import store
    from mirage.people.exam.passport import passport
    from mirage.people.votes import Vote
    from mirage.stages.judge.faults import has_items, passport_path

    if not has_items(path):
        raise NotEnoughData(
            "no judge has verdicts on planted faults here", do=f"mirage judge {path} --judge {judge_name} --passport"
        )
    items = store.open_arena(passport_path(path))
    result = passport(items, judge_name, votes=arena_log(items, Vote), languages=languages)
    rows = [dataclasses.asdict(row) for row in result.rows]
    if output_format != "table":
        show(rows, PASSPORT, output_format)
        return result
    shown = [row for row in rows if languages is not None or row["language"] == "all"]
    for row in shown:
        row |= {"detected_low": row["low"], "detected_high": row["high"]}
        row["detected"] = _with_interval(row, "detected")
        row["split"] = _with_interval(row, "split")
    columns = ("judge", "fault", "language", "detected", "n", "queries", "split", "unread", "unmade", "reason")
    show(shown, columns, output_format)
    note("detected: the original wins in both orders, a half for a split or a tie; chance level is 0.50")
    return result


def _against_people(
    path: Path,
    judge_names: Sequence[str] | None,
    languages: Sequence[str] | None,
    ratings: str | None,
    limits: Limits,
    *,
    seed: int,
    output_format: Format,
) -> None:
    """Print the agreement of judges with people on the same battles."""
    from mirage import store
    from mirage.people.exam import MEASURES
    from mirage.people.exam import exam as examine
    from mirage.people.votes import Vote

    arena = store.open_arena(path)
    log = arena_log(arena, Vote)
    result = examine(
        arena, votes=log, judges=judge_names, languages=languages, ratings=ratings, limits=limits, seed=seed
    )
    if output_format == "table":
        columns = ("judge", "language", "battles", *MEASURES, "tokens", "money")
        show([dataclasses.asdict(row) | _marks(row) for row in result.exams], columns, output_format)
    else:
        show(result.table().to_pylist(), EXAM, output_format)
    for panel in result.panels:
        if panel.effective.value is not None:
            n = f"{panel.effective.value:.1f}"
            if panel.effective.low is not None:
                n = f"at least {panel.effective.low:.1f} (estimate {n})"
            note(f"{panel.language}: {len(panel.judges)} judges are equivalent to {n} independent ones")
    for choice in result.choices:
        note(choice.sentence)


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    """Format a value with its interval for people."""
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "-"
    return f"{value:.2f}" + ("" if low is None else f" ({low:.2f} to {high:.2f})")


def _marks(row: JudgeExam) -> dict[str, str]:
    """Format the measures of one judge for people."""
    return {
        name: "-"
        if mark.value is None
        else f"{mark.value:.2f}" + ("" if mark.low is None else f" ({mark.low:.2f} to {mark.high:.2f})")
        for name, mark in row.measures.items()
    }


def _show(stats: Sequence[JudgeStats], output_format: Format) -> None:
    rows = [dataclasses.asdict(row) for row in stats]
    if output_format != "table":
        show(rows, COLUMNS, output_format)
        return
    for row in rows:
        row |= {name: _share(row, name) for name in RATES}
    show(rows, SHOWN, output_format)


def _share(row: Mapping[str, Any], name: str) -> str:
    """Format a rate with its interval and n for people."""
    rate, low, high = (row[f"{name}_{part}"] for part in ("rate", "low", "high"))
    of = row["n" if name == "unparsed" else f"{name}_n"]
    return "-" if rate is None else f"{rate:.1%} ({low:.1%} to {high:.1%}) of {of:,}"
