"""THE contract: every table, every column, with meaning, unit and range.

A table is a dataclass; its docstring says what one row is, the text under each field what the column means. Arrow
schemas, validation, column help on the pages and the file-format page of the docs are all derived from here.

Three rules hold everywhere. A failed measurement is a null with a reason beside it, never 0, a tie or a dropped row.
Keys are unique and never null. Rows are sorted by key, so the same data gives the same bytes.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from mirage.errors import BadInput, UnknownName
from mirage.languages import is_code

if TYPE_CHECKING:
    import pyarrow as pa

PEOPLE = "people"
"""Stands for people where a judge, a grader or a referee is named."""
TEXTS_ABSENT = "texts are not bundled; run: mirage pull nomiracl --into REPLIES, then mirage import nomiracl REPLIES"
"""Reason beside the null texts of a bundled arena."""


@dataclass(frozen=True, slots=True)
class Range:
    """Closed range of a numeric column; an absent end is unbounded."""

    low: float | None = None
    high: float | None = None


LARGEST = 1e15
"""Largest size of a measured value: sums of squares of larger ones leave what a number can hold."""


@dataclass(frozen=True, slots=True)
class _LanguageCode:
    """Marks a column whose values are the codes of `languages.py`."""

    also: tuple[str, ...] = ()


Code = Annotated[str, _LanguageCode()]
CodeOrAll = Annotated[str, _LanguageCode(also=("all",))]
Share = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(0, None)]
Rank = Annotated[int, Range(1, None)]

Subset = Literal["relevant", "non_relevant"]
Status = Literal["ok", "empty", "truncated", "refused", "api_error", "missing"]
Parser = Literal["strict", "published"]
Outcome = Literal["answered", "abstained", "clarification", "unparsed", "empty", "api_error", "missing"]
UNDECIDED: tuple[Outcome, ...] = ("clarification", "unparsed", "empty", "api_error")
"""Outcomes of answers that are there and neither answered nor abstained."""
Verdict = Literal["A", "B", "tie", "both_bad", "unparsed"]
VERDICT_WORDS: dict[str, str] = {
    "model_a": "A",
    "model_b": "B",
    "both_good": "tie",
    "bothgood": "tie",
    "tie (bothgood)": "tie",
    "tie (both good)": "tie",
    "tie (bothbad)": "both_bad",
    "tie (both bad)": "both_bad",
    "bothbad": "both_bad",
}
"""Our verdict by other words for it, in small letters; a word that is a verdict itself is none of these."""
Skill = Literal["both", "abstain", "answer"]
NuggetImportance = Literal["vital", "okay"]
Assignment = Literal["support", "partial_support", "not_support"]
Support = Literal["full", "partial", "none"]
Kind = Literal["text", "number", "count", "flag"]
Ties = Literal["half", "davidson", "drop"]
"""What a tie is in a ranking: half a win for each, an outcome of its own (Davidson 1970), or nothing."""


BATTLE = ("language", "query_id", "judge", "system_a", "system_b")
"""The columns of table `judgments` that say which battle was decided, and by which judge."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question that systems answer."""

    key = ("language", "query_id")
    reason_of = "text"

    language: Code
    """Language of the query."""
    query_id: str
    """The source's own id, unique within the language."""
    subset: Subset | None
    """NoMIRACL subset: `relevant` if at least one passage answers the query, `non_relevant` if none does; null
    where a source makes no such split."""
    text: str | None
    """Its text; null where the source did not publish it."""
    reason: str | None
    """Why `text` is null; null where it is not."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One text that systems get with a query, with its relevance label where there is one."""

    key = ("language", "query_id", "passage_id")
    left_out = ("pooled",)

    language: Code
    """Language of the query."""
    query_id: str
    """The query it was shown with."""
    passage_id: str
    """The source's document id, such as `462221#4`."""
    position: Annotated[int, Range(1, None)]
    """Place in the prompt, from 1."""
    title: str | None
    """Title of the document; null where the source did not publish it."""
    text: str | None
    """Text as it stood in the prompt; null where the source did not publish it."""
    relevant: bool | None
    """Human label: does the passage help answer the query? Null where the source carries no label for this one
    passage (NoMIRACL's published outputs label the query, so in the relevant subset single labels are unknown)."""
    pooled: bool | None = None
    """Whether the passage was pooled from labels and runs, so that no retriever brought the passages of the query in
    their order, and `given` is not measured on them; null where that is not known."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One passage that a retriever brought for a query."""

    key = ("language", "query_id", "retriever", "passage_id")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    retriever: str
    """What brought it: `bm25`, a model of embeddings, or the name of a run. `given` is none: so are called the passages
    that came with the query, which stand in table `passages`."""
    passage_id: str
    """The passage."""
    rank: Rank
    """Its place in what the retriever brought, from 1."""
    score: float | None
    """What the retriever gave it, in the retriever's own unit, the more the better; null where the source has none."""
    title: str | None
    """Title of the document; null where table `passages` has this passage of the query, or nobody gave it."""
    text: str | None
    """Its text; null where table `passages` has this passage of the query, or nobody gave it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The text that one system gave to one query."""

    key = ("language", "query_id", "system")
    left_out = ("retriever", "depth", "thoughts")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer: the name of a model, or `baseline/...`."""
    text: str | None
    """The raw answer, unchanged but for a reasoning model's thoughts; null when there is none."""
    status: Status
    """`ok`: there is an answer; `empty`: only white space; `truncated`: cut off by the token limit; `refused`: the
    service declined; `api_error`: the call failed; `missing`: the source has no answer for this query."""
    template: str | None
    """Name of the prompt template the answer was given to; null where unknown."""
    reason: str | None
    """What went wrong, where `status` is not `ok` and more is known than it says."""
    call: str | None
    """Key of the call in the arena's ledger, which leads to the raw request and reply; null for imported answers."""
    numbered: bool | None = None
    """Whether the prompt numbered its passages from 1, so that `[3]` cites the third, instead of showing their ids;
    null where not known: then the templates of NoMIRACL number them, and others show ids."""
    retriever: str | None = None
    """Whose passages the system was shown, as table `retrieved` names them; null: those given with the query."""
    depth: Rank | None = None
    """How many of the retriever's first passages it was shown; null: all."""
    thoughts: str | None = None
    """A reasoning model's thoughts, which are no part of the answer (`mirage.thoughts`); null where there are none."""


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """What one answer says, by one parser: that an answer is present, or that none is."""

    key = ("language", "query_id", "system", "parser")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer."""
    parser: Parser
    """`strict`: the corrected parser, the default, whose rules follow from the prompt: NoMIRACL's replies have theirs,
    free answers have theirs (`outcomes.free`); `published`: the rules of the NoMIRACL program, which reproduce
    the published figures."""
    subset: Subset
    """Subset of the query; decides which outcome is right."""
    outcome: Outcome
    """`answered`: says that an answer is present, or gives one; `abstained`: says that none is, or declines;
    `clarification`: only asks back what is meant (free answers alone); `unparsed`: none of these can be made out;
    `empty`: white space only; `api_error`: an error text of the service; `missing`: no answer. The published parser
    knows no `empty` and no `api_error`: it calls both `unparsed`."""
    rule: str
    """Name of the rule that decided."""
    span_start: Count | None
    """Where the text that decided begins, in characters of the raw answer; null where no text did."""
    span_end: Count | None
    """Where it ends (exclusive)."""
    correct: bool | None
    """Whether the outcome is the right one for the subset; null when undecided (not answered and not abstained)."""


@dataclass(frozen=True, slots=True)
class Feature:
    """The value of one feature of one answer, or why there is none."""

    key = ("language", "query_id", "system", "feature")
    reason_of = "value"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer."""
    feature: str
    """Name of the measure, as declared in `mirage.features`."""
    value: Annotated[float, Range(-LARGEST, LARGEST)] | None
    """The measured value, in the feature's own unit and range; null when it could not be measured."""
    reason: str | None
    """Why `value` is null; null where it is not."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """One verdict of one judge on one battle, in the order shown."""

    key = (*BATTLE, "voter")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    judge: str
    """Who decided: the name of a model or of a person's session."""
    system_a: str
    """The system shown first."""
    system_b: str
    """The system shown second."""
    verdict: Verdict
    """`A`: the first is better; `B`: the second; `tie`: equally good; `both_bad`: equally bad, which counts as a tie;
    `unparsed`: no verdict could be read."""
    rationale: str | None
    """What the judge wrote; null where not kept."""
    reason: str | None
    """Why there is no verdict, where it is `unparsed` and more is known; else null."""
    call: str | None
    """Key of the call in the arena's ledger; null for imported verdicts and judges that make no call."""
    points: Share | None = None
    """What the first system takes of the one point of a battle, as a judge's probability or a graded preference gives
    it: 1 all, 0 none. Null where the verdict is all there is: `A` is then 1, `tie` 0.5, `B` 0, `unparsed` no battle."""
    person: bool | None = None
    """Whether people decided, so that the verdict counts as a vote; null where it is not known: then a program."""
    voter: str | None = None
    """Who of the people decided, where the judge stands for many; null for a program and where it is not known. A
    second verdict of the same judge and voter on one battle has `~2` after the name."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The Bradley-Terry rating of one system in one language by one referee, with its interval, rank and tier."""

    key = ("language", "referee", "skill", "system")

    language: CodeOrAll
    """Language of the battles; `all`: the plain mean over languages, its interval from joint draws, in which queries
    with one id in several languages weigh the same; open where the data of a language puts no bound."""
    referee: str
    """What decided the battles: `relevance` (human relevance labels), or a judge's name."""
    skill: Skill
    """Which queries count. With the relevance referee `abstain`: the non-relevant ones, `answer`: the relevant ones,
    `both`: the two weighted equally. With a judge always `both`: every judged query."""
    system: str
    """The system rated."""
    rating: float
    """Bradley-Terry strength theta in logits, centred on 0 over the systems: half a point a tie, so that 1 / (1 +
    exp(-difference)) is the expected points of a battle, which are not the odds of winning it. Bias-reduced (Jeffreys'
    prior)."""
    low: float | None
    """Lower end of the 95% interval of `rating`, percentiles over draws with the query as the unit; null where the data
    puts no lower bound on it."""
    high: float | None
    """Upper end; null where the data puts no upper bound on the rating."""
    rank: Rank
    """1 is best. Equal ratings share the best rank."""
    rank_low: Rank
    """Best end of the 95% interval of the rank."""
    rank_high: Rank
    """Worst end."""
    tier: Rank | None
    """1 is best. Every two systems of different tiers are separated: by a paired test over queries, with Holm's
    correction over all pairs, at 5%. Systems of one tier may be equal, which is not to say that they are. Null for a
    system with hardly any battles or whose rating nothing bounds amid the others, and where style is controlled for."""
    wins: Count
    """Battles won."""
    ties: Count
    """Battles tied."""
    losses: Count
    """Battles lost."""
    battles: Count
    """Battles fought: wins + ties + losses."""
    bounded: bool
    """False when the data puts no bound on the rating on one side (the system, or a group with it, never lost or never
    won to the rest); how far out the value then lies is the prior's word. In the row over all languages: in any of
    them."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """What one system was rated in one of the paper's tournaments (MIRAGE-Bench 5.1: 100 drawn matches, ties
    dropped).
    """

    key = ("language", "referee", "skill", "draw", "system")
    reason_of = "rating"

    language: Code
    """Language of the battles."""
    referee: str
    """What decided the battles, as in `ratings`."""
    skill: Skill
    """Which queries count, as in `ratings`."""
    draw: Count
    """Number of the tournament, from 0."""
    system: str
    """The system rated."""
    rating: float | None
    """Bradley-Terry strength theta in logits, centred on 0 over the systems of the tournament; null where the
    likelihood of the tournament has no maximum."""
    reason: str | None
    """Why `rating` is null; null where it is not."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The rating that a regressor predicts from the features of a system's answers, without having seen its battles."""

    key = ("language", "referee", "skill", "regressor", "system")

    language: CodeOrAll
    """Language of the answers; `all`: the mean over languages."""
    referee: str
    """The referee whose ratings are predicted."""
    skill: Skill
    """Which queries count, as in `ratings`."""
    regressor: str
    """Name of the regressor, as declared in `mirage.surrogate`; `default`: the one that nested validation chose for
    each system anew, without having seen it."""
    system: str
    """The system predicted; the regressor was trained on the others, in every language."""
    rating: float
    """Predicted Bradley-Terry strength in logits."""
    low: float | None
    """Lower end of the 95% prediction interval of `rating`; null where too few systems were left out to tell, or the
    system lies outside the range of the others."""
    high: float | None
    """Upper end."""
    rank: Rank
    """Rank of the prediction among the predictions of all systems; 1 is best. The predictions of left-out systems come
    from different fits: how well they are in order is told by `tau_part` alone."""
    judged: float | None
    """The rating by the referee; null where the system has no battle, or the data puts no bound on it."""
    outside: str | None
    """Features in which the system lies farther from the systems trained on than any of these from the rest, by a fifth
    and more, so that the prediction extrapolates, with commas between them; null where there is none."""
    default: bool
    """Whether this is the regressor with the least error over left-out systems, the one for new systems."""
    tau_part: float | None = None
    """The system's part in Kendall's tau-b of predictions and ratings, over its pairs with each other system, both left
    out together; the mean over systems is the tau. Null where no pair was left out, or too few were left over."""
    slope_part: float | None = None
    """The system's part in the slope of the ratings on the predictions, over the same pairs; the mean over systems is
    the slope. Null where no pair was left out, or all predictions are equal."""


@dataclass(frozen=True, slots=True)
class Importance:
    """What a surrogate rests on: its measures on left-out systems with a feature permuted, or with some features."""

    key = ("language", "referee", "skill", "regressor", "kind", "features")
    reason_of = "value"

    language: CodeOrAll
    """Language of the answers; `all`: all together."""
    referee: str
    """The referee whose ratings are predicted."""
    skill: Skill
    """Which queries count, as in `ratings`."""
    regressor: str
    """Name of the regressor, the arena's default."""
    kind: Literal["permutation", "ablation"]
    """`permutation`: a left-out system has a feature of another; `ablation`: a fit with some of the features."""
    features: str
    """`permutation`: the feature; `ablation`: name of the set of features fitted to."""
    value: float | None
    """`permutation`: rise of the mean squared error in squared logits; `ablation`: Kendall's tau-b in [-1, 1]."""
    low: float | None
    """Lower end of the 95% interval of a rise (Student's t over systems); null for an ablation."""
    high: float | None
    """Upper end."""
    systems: Count
    """n: systems left out, one at a time."""
    reason: str | None
    """Why `value` is null; null where it is not."""


@dataclass(frozen=True, slots=True)
class Published:
    """One figure printed in a paper, as a fact with its source."""

    key = ("source", "item", "metric", "setting", "system", "language")

    source: str
    """The paper: `NoMIRACL` or `MIRAGE-Bench`."""
    item: str
    """The table or figure: `Table 3`, `Figure 4`."""
    metric: str
    """What was measured."""
    setting: str
    """Condition of the measurement (subset, split, prompt, regressor, referee ...); empty where there is only one."""
    system: str
    """The system's name as printed; empty where the figure is not about one."""
    language: Annotated[str, _LanguageCode(also=("all", ""))]
    """Language code; `all` for a printed average or total; empty where the figure is about none."""
    value: float | None
    """The figure; null where the print has a dash or text."""
    text: str | None
    """The printed text where it is not a number."""
    unit: str
    """`%`, `rank`, `count`, `tau`, `R2`, or empty."""
    reference: str
    """Citation of the page it was read from."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of the conversation that a query ends."""

    key = ("language", "query_id", "position")

    language: Code
    """Language of the query."""
    query_id: str
    """The query that the conversation ends with."""
    position: Annotated[int, Range(1, None)]
    """Place in the conversation, from 1; the query itself is not among the turns."""
    speaker: str
    """Who speaks, as the source names it: `user`, `agent`."""
    text: str
    """What was said."""


@dataclass(frozen=True, slots=True)
class Tag:
    """One property of a query, such as its domain or its type. A query may have several values of a tag."""

    key = ("language", "query_id", "tag", "value")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    tag: str
    """Name of the property: `domain`, `type`, `turn`."""
    value: str
    """What the query has of it: `finance`, `comparative`, `2`."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference answer of one query: what people, or a source, hold to be right."""

    key = ("language", "query_id")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    text: str
    """The reference answer."""


@dataclass(frozen=True, slots=True)
class Document:
    """Where a passage comes from."""

    key = ("language", "query_id", "passage_id")

    language: Code
    """Language of the query."""
    query_id: str
    """The query that the passage was shown with."""
    passage_id: str
    """The passage."""
    url: str | None
    """Address of the document; null where the source gives none."""
    metadata: str | None
    """What else the source says of the passage, as a JSON object; null where it says nothing."""


@dataclass(frozen=True, slots=True)
class Nugget:
    """One atomic fact that a good answer to a query states. The nuggets of a query are its bank."""

    key = ("language", "query_id", "nugget_id")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    nugget_id: str
    """The source's own id, or one made from the text; unique within the query."""
    text: str
    """The fact, in the language of the query."""
    importance: NuggetImportance
    """`vital`: an answer without it is not good; `okay`: good to have."""
    passage_id: str | None
    """The passage that it is from; null where that is not known."""
    author: str
    """Who wrote it: the name of a model, of a person or of a program."""


@dataclass(frozen=True, slots=True)
class NuggetEdit:
    """One change that a person made to the bank of a query. Rows are only ever added."""

    key = ("edit_id",)

    edit_id: str
    """Made from the content of the change."""
    time: str
    """When it was made, UTC, as `2026-11-21T05:13:28.250000Z`."""
    author: str
    """Who made it: a name or a pseudonym."""
    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    change: Literal["reword", "importance", "split", "merge", "drop", "add"]
    """What was done."""
    before: str
    """The nuggets that it was done to, as a JSON list of objects with the columns of `nuggets`; `[]` for `add`."""
    after: str
    """The nuggets that took their place, likewise; `[]` for `drop`."""


@dataclass(frozen=True, slots=True)
class NuggetAssignment:
    """Whether one answer states one nugget, by one assigner."""

    key = ("language", "query_id", "system", "nugget_id", "assigner")
    reason_of = "assignment"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer."""
    nugget_id: str
    """The nugget."""
    assigner: str
    """Who decided: the name of a model or of a program; `baseline/terms`: shared words, which is a floor."""
    assignment: Assignment | None
    """`support`: the answer states all of it; `partial_support`: a part; `not_support`: nothing; null where it could
    not be decided."""
    quote: str | None
    """The words of the answer that state it; null where none do, or the assigner names none."""
    reason: str | None
    """Why `assignment` is null; null where it is not."""
    call: str | None
    """Key of the call in the arena's ledger; null where no call was made."""


@dataclass(frozen=True, slots=True)
class SupportGrade:
    """How far one cited passage bears out the sentence that cites it, by one grader."""

    key = ("language", "query_id", "system", "sentence", "passage_id", "grader")
    reason_of = "grade"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer."""
    sentence: Count
    """Number of the sentence, from 0, in the answer's reason, or its answer where no reason is marked
    (`mirage.features.support.cited_places`)."""
    passage_id: str
    """The passage that it cites."""
    grader: str
    """Who decided: the name of a model, or `people` for their votes."""
    grade: Support | None
    """`full`: the passage says all that the sentence says; `partial`: a part; `none`: nothing; null where it could not
    be decided."""
    reason: str | None
    """Why `grade` is null; null where it is not."""
    call: str | None
    """Key of the call in the arena's ledger; null where no call was made."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one rater, a person or a program, gave one answer on one scale. It came with a file, mirage did not measure
    it.
    """

    key = ("language", "query_id", "system", "measure", "rater")
    reason_of = "value"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer."""
    measure: str
    """Name of the scale: `faithfulness`, `completeness`."""
    rater: str
    """Who gave it: an annotator's id, or the name of a program."""
    person: bool
    """Whether the rater is a person."""
    value: Annotated[float, Range(-LARGEST, LARGEST)] | None
    """The score, in the scale's own unit; null where it could not be read."""
    low: float | None
    """The worst value of the scale; null where the source does not say."""
    high: float | None
    """The best value of the scale; null where the source does not say."""
    reason: str | None
    """Why `value` is null; null where it is not."""


@dataclass(frozen=True, slots=True)
class SystemCard:
    """Facts about one system, from a file with its source. A fact that is not known is null."""

    key = ("system",)

    system: str
    """The system, as `answers` and `judgments` name it."""
    licence: str | None
    """Licence of the model, as an SPDX identifier where there is one: `Apache-2.0`."""
    open_weights: bool | None
    """Whether the weights can be downloaded."""
    parameters: Annotated[float, Range(0, None)] | None
    """Size of the model, in billions of parameters."""
    released: str | None
    """Release date, `2024-05-13`, `2024-05` or `2024`."""
    price_in: Annotated[float, Range(0, None)] | None
    """Price of a million prompt tokens, in US dollars."""
    price_out: Annotated[float, Range(0, None)] | None
    """Price of a million tokens of an answer, in US dollars."""
    context_length: Count | None
    """Tokens that prompt and answer may have together."""
    url: str | None
    """Address of the model's page."""
    retriever: str | None
    """What found the passages; null where they were given."""
    source: str | None
    """Where these facts were read, with the date."""


TABLES: dict[str, type] = {
    "systems": SystemCard,
    "queries": Query,
    "turns": Turn,
    "tags": Tag,
    "references": Reference,
    "passages": Passage,
    "documents": Document,
    "retrieved": Retrieved,
    "nuggets": Nugget,
    "nugget_edits": NuggetEdit,
    "answers": Answer,
    "nugget_assignments": NuggetAssignment,
    "support_grades": SupportGrade,
    "scores": Score,
    "outcomes": OutcomeRow,
    "features": Feature,
    "judgments": Judgment,
    "ratings": Rating,
    "tournaments": Tournament,
    "predictions": Prediction,
    "importances": Importance,
    "published": Published,
}
"""Every table by its name, in the order in which the pipeline fills them."""

OPTIONAL = frozenset(
    {"systems", "turns", "tags", "references", "documents", "retrieved", "scores"}
    | {"nuggets", "nugget_edits", "nugget_assignments", "support_grades"}
)
"""Tables that say more of what others hold: they come with a file that has them, or on request, and an arena without
them is whole."""

COMMANDS: dict[str, str] = {
    "systems": "mirage import systems FILE --into DIR",
    "turns": "mirage import FILE --into DIR",
    "tags": "mirage import FILE --into DIR",
    "references": "mirage import FILE --into DIR",
    "documents": "mirage import FILE --into DIR",
    "retrieved": "mirage retrieve DIR --retriever bm25",
    "scores": "mirage import FILE --into DIR",
    "nuggets": "mirage nuggets create DIR --model M",
    "nugget_edits": "mirage app DIR",
    "nugget_assignments": "mirage nuggets assign DIR",
    "support_grades": "mirage support DIR --model M",
    "queries": "mirage import queries FILE --into DIR",
    "passages": "mirage import queries FILE --passages FILE --into DIR",
    "answers": "mirage import answers FILE --into DIR",
    "outcomes": "mirage outcomes DIR",
    "features": "mirage features DIR",
    "judgments": "mirage judge DIR --judge heuristic",
    "ratings": "mirage rank DIR --referee relevance --store",
    "tournaments": "mirage rank DIR --referee relevance --paper --store",
    "predictions": "mirage surrogate DIR --referee relevance --store",
    "importances": "mirage surrogate DIR --referee relevance --store",
    "published": "make data",
}
"""The command that brings a table that an arena lacks."""

MADE_FROM: dict[str, str] = {
    "retrieved": "queries",
    "outcomes": "answers",
    "features": "answers",
    "nugget_assignments": "nuggets",
    "support_grades": "answers",
    "predictions": "features",
}
"""The table without which the command that makes a table has nothing to begin with."""

ADDS: dict[str, str] = {
    "systems": "licence, size, price and more of each system, and the choice of systems by them",
    "queries": "the texts of the queries, and with their subsets hallucination and error rates",
    "turns": "the conversation above each query",
    "tags": "the choice of queries by domain or type, and ratings by them",
    "references": "the reference answer beside the answers",
    "passages": "the passages beside the answers, citations, and a judge that reads them",
    "documents": "where each passage comes from",
    "retrieved": "what each retriever brought, how good that was, and whole systems: a retriever with a model",
    "nuggets": "the facts that a good answer states",
    "nugget_edits": "who changed the nuggets of a query, when and how",
    "answers": "what each system said, its features, and votes on it",
    "nugget_assignments": "which facts each answer states, and scores by them",
    "support_grades": "how far each cited passage bears out the sentence that cites it",
    "scores": "what people or other programs gave each answer",
    "outcomes": "who answers and who abstains, hallucination and error rates, and a ranking by relevance labels",
    "features": "length, language, citations and overlap of every answer",
    "judgments": "a ranking by a judge, battles with their reasons, and how far the judge can be trusted",
    "ratings": "ratings that are kept, for the surrogate",
    "tournaments": "ratings as the paper computes them",
    "predictions": "ratings predicted from features, without a judge",
    "importances": "what the predicted ratings rest on",
    "published": "the figures that the papers print",
}
"""What a reader has of a table, in a clause: said where it is missing."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column, read off the dataclass field it comes from."""

    name: str
    meaning: str
    kind: Kind
    nullable: bool
    choices: tuple[str, ...] | None
    range: Range | None
    languages: _LanguageCode | None

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type of the column."""
        import pyarrow as pa

        return {"text": pa.string(), "number": pa.float64(), "count": pa.int32(), "flag": pa.bool_()}[self.kind]


def table_class(name: str | type) -> type:
    """The dataclass of a table; a dataclass written like one stands for itself.

    Raises:
        UnknownName: if no such table is defined.
    """
    if isinstance(name, type):
        return name
    if name not in TABLES:
        raise UnknownName("table", name, TABLES)
    return TABLES[name]


def verdict_word(word: str) -> str:
    """The verdict that a word stands for, whoever decided; a word that stands for none stays."""
    plain = word.strip()
    return plain if plain in get_args(Verdict) else VERDICT_WORDS.get(plain.lower(), word)


def key(table: str) -> tuple[str, ...]:
    """Names of the key columns of a table, in sorting order."""
    return tuple(table_class(table).key)  # type: ignore[attr-defined]  # every table class declares it


def left_out(table: str) -> tuple[str, ...]:
    """Nullable columns of a table that its files are without where no row has a value."""
    return tuple(getattr(table_class(table), "left_out", ()))


@cache
def columns(table: str | type) -> tuple[Column, ...]:
    """The columns of a table, or of a result's dataclass, with their meaning, in order."""
    cls = table_class(table)
    meanings = _field_docs(cls)
    hints = get_type_hints(cls, include_extras=True)
    return tuple(_column(f.name, hints[f.name], meanings[f.name]) for f in fields(cls))


@cache
def arrow_schema(table: str | type) -> pa.Schema:
    """The Arrow schema of a table: names, types, nullability."""
    import pyarrow as pa

    return pa.schema([pa.field(column.name, column.arrow, nullable=column.nullable) for column in columns(table)])


def from_columns(table: str | type, data: Mapping[str, Any]) -> pa.Table:
    """Build a table from columns (lists, NumPy or Arrow arrays); columns of a nullable field may be left out.

    Raises:
        BadInput: if a value does not have the column's type.
    """
    import pyarrow as pa

    schema = arrow_schema(table)
    unknown = set(data) - set(schema.names)
    if unknown:
        raise UnknownName(f"{table} column", sorted(unknown)[0], schema.names)
    n = len(next(iter(data.values()))) if data else 0
    arrays = []
    for field in schema:
        values = data.get(field.name)
        try:
            if values is None:
                arrays.append(pa.nulls(n, field.type))
            elif isinstance(values, pa.Array | pa.ChunkedArray):
                arrays.append(values.cast(field.type))
            elif pa.types.is_integer(field.type):
                # Given the type, Arrow would cut 1.5 to 1; a cast refuses.
                arrays.append(pa.array(values, from_pandas=True).cast(field.type))
            else:
                arrays.append(pa.array(values, field.type, from_pandas=True))
        except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
            raise BadInput(
                f"{table}.{field.name} has a value of the wrong type: {error}",
                do=f"every value must be {field.type}",
            ) from None
    return pa.table(arrays, schema=schema)


def from_rows(table: str | type, rows: Iterable[Any]) -> pa.Table:
    """Build a table from instances of its dataclass."""
    rows = list(rows)
    return from_columns(table, {column.name: [getattr(row, column.name) for row in rows] for column in columns(table)})


def validate(table: str, data: pa.Table, *, where: str = "") -> None:
    """Refuse a table that breaks the contract: columns, types, nulls, reasons, choices, ranges, languages, unique keys.

    Raises:
        BadInput: naming the column and the first offending key; nothing is repaired.
    """
    import pyarrow.compute as pc

    schema = arrow_schema(table)
    if data.schema.names != schema.names or data.schema.types != schema.types:
        raise BadInput(
            f"{table} has columns {data.schema.names}, the contract says {schema.names}",
            where=where,
            do="build it with mirage.schema.from_columns",
        )

    def refuse(column: Column, bad: Any, breach: str) -> None:
        count = pc.sum(bad).as_py() or 0
        if count:
            row = data.filter(bad).slice(0, 1).to_pylist()[0]
            location = ", ".join(f"{k}={row[k]!r}" for k in key(table))
            raise BadInput(
                f"{table}.{column.name} {breach} in {count:,} rows; the first holds {row[column.name]!r}",
                where=f"{where + ': ' if where else ''}{location}",
                do=f"{column.name}: {column.meaning}",
            )

    for column in columns(table):
        for bad, breach in _breaches(column, data[column.name]):
            refuse(column, bad, breach)

    measured = getattr(table_class(table), "reason_of", None)
    if measured:
        (reason,) = (column for column in columns(table) if column.name == "reason")
        null, unexplained = pc.is_null(data[measured]), pc.is_null(data["reason"])
        refuse(reason, pc.and_(null, unexplained), f"is null where {measured} is")
        refuse(reason, pc.invert(pc.or_(null, unexplained)), f"stands beside a {measured}")

    groups = data.group_by(list(key(table))).aggregate([([], "count_all")])
    duplicates = groups.filter(pc.greater(groups["count_all"], 1))
    if len(duplicates):
        row = duplicates.slice(0, 1).to_pylist()[0]
        location = ", ".join(f"{k}={row[k]!r}" for k in key(table))
        raise BadInput(
            f"{table} has {len(duplicates):,} keys that occur more than once",
            where=f"{where + ': ' if where else ''}{location} ({row['count_all']} times)",
            do="keep one row for each " + ", ".join(key(table)),
        )


def _breaches(column: Column, values: Any) -> Iterator[tuple[Any, str]]:
    """For each rule of a column: which values break it, and how."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not column.nullable:
        yield pc.is_null(values), "is null"
    if column.choices is not None:
        other = pc.invert(pc.is_in(values, value_set=pa.array(column.choices)))
        yield pc.and_(other, pc.is_valid(values)), "is not one of " + ", ".join(column.choices)
    if column.languages is not None:
        known = [code for code in pc.unique(values).to_pylist() if code in column.languages.also or is_code(code or "")]
        yield pc.invert(pc.is_in(values, value_set=pa.array(known, pa.string()))), "is not a known language"
    if column.kind == "number":
        yield pc.invert(pc.fill_null(pc.is_finite(values), True)), "is not a finite number"
    if column.range is not None and column.range.low is not None:
        yield pc.fill_null(pc.less(values, column.range.low), False), f"is under {column.range.low:g}"
    if column.range is not None and column.range.high is not None:
        yield pc.fill_null(pc.greater(values, column.range.high), False), f"is over {column.range.high:g}"


def sort(table: str, data: pa.Table) -> pa.Table:
    """Return the rows in the order of their key, or of the key columns that were read."""
    return data.sort_by([(k, "ascending") for k in key(table) if k in data.column_names])


def _column(name: str, hint: Any, meaning: str) -> Column:
    nullable = False
    if get_origin(hint) in (types.UnionType, Union):
        inner = [argument for argument in get_args(hint) if argument is not type(None)]
        nullable = len(inner) < len(get_args(hint))
        (hint,) = inner
    notes: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        notes = tuple(rest)
    choices = get_args(hint) if get_origin(hint) is Literal else None
    kinds: dict[Any, Kind] = {str: "text", float: "number", int: "count", bool: "flag"}
    limits = next((n for n in notes if isinstance(n, Range)), None)
    codes = next((n for n in notes if isinstance(n, _LanguageCode)), None)
    return Column(name, meaning, kinds[str if choices else hint], nullable, choices, limits, codes)


_PARSING = Lock()  # Python 3.11 fails (`SystemError`) where two threads turn source into an `ast` at once.


@cache
def _class_bodies(module: str) -> dict[str, list[ast.stmt]]:
    """The statements of every class of a module, which is read once: `inspect` would read all of it for each class."""
    with _PARSING:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}


def _field_docs(cls: type) -> dict[str, str]:
    """The string under each field of a dataclass, joined to one line."""
    body = _class_bodies(cls.__module__)[cls.__qualname__]
    docs: dict[str, str] = {}
    for pair in pairwise(body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                docs[name] = " ".join(text.split())
    return docs
