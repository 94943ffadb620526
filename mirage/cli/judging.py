"""Commands that judge pairs of answers: `mirage judge` and `mirage judge passport`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from mirage.cli.arenas import part_of
from mirage.cli.common import DEFAULT, How, Languages, OwnDir, Seed, Share, command_group
from mirage.cli.completion import complete_judges
from mirage.cli.connection import Connection, tell, tell_result
from mirage.cli.output import note, show
from mirage.cli.reporting import print_passport, show_judges
from mirage.cli.settings import expand_settings
from mirage.cli.voting import SCORES
from mirage.errors import BadInput
from mirage.store.arena import open_arena
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    from mirage.stages.judge.criteria import Criterion as JudgeCriterion
    from mirage.stages.judge.stage import JudgeSettings
    from mirage.store.arena import Arena

judging = command_group("judge", "Judge pairs of answers.", default=True)

JudgeName = Annotated[
    str,
    Option("--judge", metavar="NAME", autocompletion=complete_judges, help="Name of the judge, or `heuristic`."),
]
Criterion = Annotated[
    str | None,
    Option(
        metavar="NAME|FILE",
        help="What to judge by: overall, groundedness, citation, completeness or language-quality; or a YAML file with"
        " a question or a template, and `scale: points` to judge each answer alone.  [default: overall]",
        show_default=False,
    ),
]
Replace = Annotated[bool, Option("--replace", help="Judge again, ignoring existing verdicts and the ledger.")]


@judging.command(DEFAULT)
@expand_settings
def judge(
    dir_: OwnDir,
    name: JudgeName,
    connection: Connection,
    queries: Annotated[int | None, Option(min=1, help="Random queries per language; default all.")] = None,
    pairs: Annotated[int | None, Option(min=1, help="Random pairs of answers per language; default all.")] = None,
    seed: Seed = 0,
    languages: Languages = None,
    known: Annotated[
        bool,
        Option("--known", help="Judge only pairs with a known winner by relevance labels, as an exam."),
    ] = False,
    planted: Annotated[
        bool,
        Option("--planted", help="As --known, with a verdict in its own favour planted in each wrong answer."),
    ] = False,
    criterion: Criterion = None,
    repeats: Annotated[int, Option(min=1, max=100, help="Verdicts of the judge on each battle in each order.")] = 1,
    replace: Replace = False,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Judge pairs of answers, each in both orders, by a model or the heuristic judge.

    Reads the tables queries, passages and answers; `--judge heuristic` needs no model and costs nothing. Writes the
    table judgments, keeping other judges, and caches every reply in the arena's ledger: rerun the command to resume; no
    call is paid for twice. Ratings made from older verdicts are removed. Prints the judge's rates; with points mean
    scores (table scores). The verdicts of --known are stored under `known: NAME` and by another criterion under
    `NAME: CRITERION`.
    """
    from mirage.battles.judge import HEURISTIC
    from mirage.people.votes.raters import ScoreMean
    from mirage.stages.judge import stage
    from mirage.stages.judge.stage import BattleSample, JudgeSettings
    from mirage.views.votes import scores_view

    asked = _load_criterion(criterion)
    sample = BattleSample(queries, pairs, seed, languages, None, known or planted)
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
            do="omit --criterion, --planted and --repeats",
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
    if settings.scored and "scores" in arena.tables:
        rows = [row for row in scores_view(arena).rows.to_pylist() if row["measure"] == asked.name]
        show(rows, SCORES, output_format, of=ScoreMean, value="mean")
        unread = "SELECT count(*) AS n, any_value(reason) AS reason FROM scores WHERE rater = ? AND value IS NULL"
        (row,) = arena.sql(unread, [settings.owner]).to_pylist()
        if row["n"]:
            note(f"{count_text(row['n'], 'answer')} without points: {row['reason']}")
        return
    stats = stage.judge_statistics(dir_, limits=connection.limits()) if "judgments" in arena.tables else []
    show_judges([row for row in stats if row.judge == settings.owner], output_format)


@judging.command("passport")
@expand_settings
def judge_passport(
    dir_: OwnDir,
    name: JudgeName,
    connection: Connection,
    queries: Annotated[int | None, Option("--queries", min=1, help="Random queries per language; default 30.")] = None,
    languages: Languages = None,
    criterion: Criterion = None,
    replace: Replace = False,
    output_format: How = "table",
) -> None:
    """Judge answers against copies with a planted fault: which faults does a judge see?

    Reads the tables queries, passages and answers. Writes DIR/passport, an arena of its own with the verdicts and the
    ledger; rankings of DIR do not change. Rerun it to resume. Prints the share of items in which the original wins, by
    fault; `mirage report judges DIR --passport` prints it again.
    """
    from mirage.battles.judge import HEURISTIC
    from mirage.stages.features.measuring import measure
    from mirage.stages.judge.faults import draw_items, item_pairs
    from mirage.stages.judge.stage import BattleSample, JudgeSettings

    only, asked = languages, _load_criterion(criterion)
    items = draw_items(dir_, queries=queries, languages=only, made_by="mirage judge passport")
    settings = JudgeSettings(name, BattleSample(battles=item_pairs(items, only)), replace, asked)
    if name == HEURISTIC and connection.model is None:
        if settings.owner != HEURISTIC or replace:
            raise BadInput(
                "the heuristic judge reads no prompt and never changes its mind",
                do="omit --criterion and --replace",
            )
        measure(items.path, made_by="mirage judge passport")
    judged = _judge_battles(items.path, settings, connection, 1)
    if judged is not None and "judgments" in judged.tables:
        print_passport(open_arena(dir_), settings.owner, tuple(only or ()), output_format)


def _load_criterion(criterion: str | None) -> JudgeCriterion:
    """Return the criterion of the options: by its name, or from a rubric's file."""
    from mirage.stages.judge.criteria import load_criterion

    if criterion is not None and criterion.endswith((".yaml", ".yml")):
        return load_criterion(rubric=Path(criterion))
    return load_criterion(criterion)


def _judge_battles(path: Path, settings: JudgeSettings, connection: Connection, repeats: int) -> Arena | None:
    """Judge the battles of the settings and return the arena; None if only the cost was asked for."""
    from mirage.battles.judge import HEURISTIC
    from mirage.llm.calls import total
    from mirage.stages.judge.stage import judge_arena_by_features, judge_by_model, plan_judging

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
        with connection.calls(model, "Judging", "mirage judge") as calls:
            arena, result = judge_by_model(path, one, calls)
        lack = "battles have no verdict" if settings.criterion.points is None else "answers have no points"
        tell_result(result.cost, result.failed, result.unasked, lack)
        model = model.minus_cost(result.cost)
    return arena
