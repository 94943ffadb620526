"""The data contract: every table and every column, with its meaning, unit and range.

A table is a dataclass: its docstring describes one row, and the text under each field its column. Arrow schemas,
validation, column help on the pages and the file-format page of the docs are derived from here.

Three rules hold everywhere. A failed measurement is a null with a reason, never 0, a tie or a dropped row.
Keys are unique and never null. Rows are sorted by key, so the same data gives the same bytes.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from mirage.errors import BadInput, UnknownName
from mirage.text.data import load_words
from mirage.text.dates import is_date
from mirage.text.languages import is_code
from mirage.text.names import NAMES, Names, need_visible, normalise_name
from mirage.text.numbers import Format as Format

if TYPE_CHECKING:
    import pyarrow as pa

REFERENCE = "reference"
"""System whose answers are the reference answers of a data set."""
PEOPLE = "people"
"""Name for people in columns that name a judge or a grader."""
TEXTS_ABSENT = "texts are not bundled; run: mirage pull nomiracl --into answers && mirage evaluate answers"
"""Reason for the null texts of a bundled arena."""


@dataclass(frozen=True, slots=True)
class Range:
    """Closed range of a numeric column; an absent end is unbounded."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """Head of a column in a table for people, if it is not the column's name in words."""

    text: str


LARGEST = 1e15
"""Largest absolute measured value; sums of squares of larger values overflow or lose precision."""


@dataclass(frozen=True, slots=True)
class _LanguageCode:
    """Annotation of a column of language codes (`languages.py`)."""

    also: tuple[str, ...] = ()


Code = Annotated[str, _LanguageCode()]
CodeOrAll = Annotated[str, _LanguageCode(also=("all",))]
Share = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(0, None)]
Rank = Annotated[int, Range(1, None)]
Date = Annotated[str, is_date]

_TABLES = load_words("tables", "mirage")

Subset = Literal["relevant", "non_relevant"]
Status = Literal["ok", "empty", "truncated", "refused", "api_error", "missing"]
Parser = Literal["strict", "published"]
Outcome = Literal["answered", "abstained", "clarification", "unparsed", "empty", "api_error", "missing"]
FAILED: tuple[Outcome, ...] = ("empty", "api_error", "missing")
"""Outcomes of failed answers."""
UNDECIDED: tuple[Outcome, ...] = ("clarification", "unparsed", "empty", "api_error")
"""Outcomes of existing answers that neither answer nor abstain."""
Verdict = Literal["A", "B", "tie", "both_bad", "unparsed"]
VERDICT_WORDS: dict[str, str] = load_words("verdict_words", "mirage")
"""Verdicts by their synonyms, in lower case; the verdicts themselves are not listed."""
Skill = Literal["both", "abstain", "answer"]
NuggetImportance = Literal["vital", "okay"]
Assignment = Literal["support", "partial_support", "not_support"]
Support = Literal["full", "partial", "none", "contradicted"]
QuestionType = Literal["fact", "list", "comparison", "several", "follow_up"]
Check = Literal["source", "copy", "vector", "facts", "model"]
Finding = Literal["answers", "partly", "nothing"]
Kind = Literal["text", "number", "count", "flag"]
Maker = Literal["people", "model", "written", "unknown"]
"""Maker of labels or verdicts: people, a model or another program, the author of the data, or unknown."""
LabelSource = Literal["field", "reference"]
"""Source of a query's label: a field of the file that says whether it is answerable, or its reference answer, which
claims something or abstains."""
Ties = Literal["half", "davidson", "drop"]
"""Treatment of ties in a ranking: half a win for each system, an outcome of its own (Davidson 1970), or not at all."""
Best = Literal["best", "tied"]
"""`best`: significantly better than all others; `tied`: no other system is significantly better."""
Failures = Literal["count", "drop"]
"""Treatment of failed answers: counted as wrong, or left out."""
Penalty = Literal["jeffreys", "none"]
"""Factor of the likelihood of a ranking: Jeffreys' prior, which removes the first-order bias, or none."""


QueryKey = tuple[str, str]
"""Language and id of a query."""
AnswerKey = tuple[str, str, str]
"""Language and id of a query, and the system that answered."""
Tables = Mapping[str, "pa.Table"]
"""Tables by name."""
BATTLE = ("language", "query_id", "judge", "system_a", "system_b")
"""Columns of table `judgments` that identify a battle and its judge."""
OVERALL = "overall"
"""The default criterion of a judge."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question that systems answer."""

    key = ("language", "query_id")
    reason_of = "text"
    left_out = ("labelled_by", "labelled_from")

    language: Code
    """Language of the query."""
    query_id: str
    """The source's own id, unique within the language."""
    subset: Subset | None
    """NoMIRACL subset: `relevant` if at least one passage answers the query, `non_relevant` if none does; null if the
    source makes no such split.
    """
    text: str | None
    """Text of the query; null if the source did not publish it."""
    reason: str | None
    """Why `text` is null; null otherwise."""
    labelled_by: str | None = None
    """The program or model that set `subset`. Rates on such queries are marked `labels not audited` until people have
    checked some. Null if people decided, or if unknown."""
    labelled_from: LabelSource | None = None
    """Origin of `subset`; null if the source gives it, or it follows from the labels of the passages."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage given with a query, with its relevance label if there is one."""

    key = ("language", "query_id", "passage_id")
    left_out = ("pooled", "passage_language")

    language: Code
    """Language of the query."""
    query_id: str
    """The query it was shown with."""
    passage_id: str
    """The source's document id, such as `462221#4`."""
    position: Annotated[int, Range(1, None)]
    """Place in the prompt, from 1."""
    title: str | None
    """Title of the document; null if the source did not publish it."""
    text: str | None
    """Text as shown in the prompt; null if the source did not publish it."""
    relevant: bool | None
    """Label: does the passage help answer the query? Null if the source does not label this passage (NoMIRACL's
    published outputs label the query, so in the relevant subset the labels of single passages are unknown).
    """
    pooled: bool | None = None
    """Whether the passage was pooled from labels and runs: no single retriever then ranked the query's passages, and
    `given` is not evaluated on them. Null if unknown.
    """
    passage_language: Code | None = None
    """Language of the passage, which may differ from the query's; null if unknown."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One passage that a retriever returned for a query."""

    key = ("language", "query_id", "retriever", "passage_id")
    left_out = ("passage_language",)

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    retriever: str
    """The retriever: `bm25`, an embedding model, or the name of a run. `given` is reserved for the passages supplied
    with the query, which are in table `passages`.
    """
    passage_id: str
    """The passage."""
    rank: Rank
    """Rank in the retriever's list, from 1."""
    score: float | None
    """The retriever's score, in its own unit, higher is better; null if the source has none."""
    title: str | None
    """Title of the document; null if table `passages` has this passage of the query, or if unknown."""
    text: str | None
    """Text of the passage; null if table `passages` has this passage of the query, or if unknown."""
    passage_language: Code | None = None
    """Language of the passage, as in `passages`; null if unknown, or if table `passages` has it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One system's answer to one query."""

    key = ("language", "query_id", "system")
    left_out = ("retriever", "depth", "thoughts", "run_date")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """Name of the system: a model, or `baseline/...`."""
    text: str | None
    """The raw answer, without a reasoning model's thoughts; null if there is none."""
    status: Status
    """`ok`: there is an answer; `empty`: only whitespace; `truncated`: cut off by the token limit; `refused`: the
    service declined; `api_error`: the call failed; `missing`: the source has no answer to this query.
    """
    template: str | None
    """Name of the prompt template; null if unknown."""
    reason: str | None
    """Details where `status` is not `ok` and more is known."""
    call: str | None
    """Key of the call in the arena's ledger, which holds the raw request and reply; null for imported answers."""
    numbered: bool | None = None
    """Whether the prompt numbered its passages from 1, so that `[3]` cites the third, instead of showing their ids.
    Null if unknown: NoMIRACL's templates number them, MIRAGE-Bench's shows ids, others number unless an id is cited.
    """
    retriever: str | None = None
    """Retriever of the passages shown to the system, as in table `retrieved`; null: the passages given with the query.
    """
    depth: Rank | None = None
    """Number of the retriever's top passages shown to the system; null: all."""
    thoughts: str | None = None
    """A reasoning model's thoughts, and text after the end of its turn (`mirage.text.turns`): not part of the answer;
    null if there is neither.
    """
    run_date: Date | None = None
    """Day on which the answer was made, in UTC, `2026-11-20`; null if unknown."""


@dataclass(frozen=True, slots=True)
class SampledAnswer:
    """A further answer of a system to a query asked again; the first is in `answers`."""

    key = ("language", "query_id", "system", "sample")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    sample: Rank
    """Number of the answer, from 1; the answer in table `answers` is number 0."""
    text: str | None
    """The raw answer, without a reasoning model's thoughts; null if there is none."""
    status: Status
    """As in `answers`."""
    template: str | None
    """Name of the prompt template; null if unknown."""
    reason: str | None
    """Details where `status` is not `ok` and more is known."""


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One parser's classification of one answer: answered, abstained, or why neither."""

    key = ("language", "query_id", "system", "parser")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    parser: Parser
    """`strict`: the corrected parser and the default, with separate rules for replies to NoMIRACL's prompt and for free
    answers (`outcomes.free`); `published`: the rules of the NoMIRACL program, which reproduce the published figures.
    """
    subset: Subset
    """Subset of the query; decides which outcome is correct."""
    outcome: Outcome
    """`answered`: says that an answer is present, or gives one; `abstained`: says that none is, or declines;
    `clarification`: only asks what is meant (free answers only); `unparsed`: none of these can be read; `empty`:
    whitespace only; `api_error`: an error text of the service; `missing`: no answer. The published parser calls `empty`
    and `api_error` `unparsed`.
    """
    rule: str
    """Name of the rule that matched."""
    span_start: Count | None
    """Start of the deciding text, in characters of the raw answer; null if no text decided."""
    span_end: Count | None
    """End of the deciding text (exclusive)."""
    correct: bool | None
    """Whether the outcome is the correct decision for the subset: to answer if a passage answers the query, to abstain
    if none does. It does not say whether the answer is true. Null if undecided (neither answered nor abstained)."""


@dataclass(frozen=True, slots=True)
class Feature:
    """The value of one feature of one answer, or the reason why it is missing."""

    key = ("language", "query_id", "system", "feature")
    reason_of = "value"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    feature: str
    """Name of the feature, as declared in `mirage.stages.features`."""
    value: Annotated[float, Range(-LARGEST, LARGEST)] | None
    """Measured value, in the feature's own unit and range; null if it could not be measured."""
    reason: str | None
    """Why `value` is null; null otherwise."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """One verdict of one judge on one battle, in the order shown."""

    key = (*BATTLE, "voter", "repeat")
    left_out = ("criterion", "prompt", "repeat")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    judge: str
    """Name of the judge: a model, or a person's session; with a criterion other than `overall`, `NAME: CRITERION`."""
    system_a: str
    """The system shown first."""
    system_b: str
    """The system shown second."""
    verdict: Verdict
    """`A`: the first is better; `B`: the second; `tie`: equally good; `both_bad`: equally bad, which counts as a tie;
    `unparsed`: no verdict could be read.
    """
    rationale: str | None
    """The judge's text; null if not stored."""
    reason: str | None
    """Why an `unparsed` verdict could not be read, if known; null otherwise."""
    call: str | None
    """Key of the call in the arena's ledger; null for imported verdicts and judges that make no call."""
    points: Share | None = None
    """Share of the battle's one point that goes to the first system, from a judge's probability or a graded preference:
    1 all, 0 none. Null: derived from the verdict, `A` 1, `tie` 0.5, `B` 0, `unparsed` no battle.
    """
    person: bool | None = None
    """Whether people decided, so that the verdict counts as a vote; null if unknown, then counted as a program."""
    voter: str | None = None
    """The person who decided, where the judge is a group of people; null for a program or if unknown. A second verdict
    of the same judge and voter on one battle has `~2` after the name.
    """
    criterion: str | None = None
    """Name of the criterion by which a model judged: `overall`, or another that its name ends with; null if unknown."""
    prompt: str | None = None
    """Hash of the judge's prompt and scale (12 hexadecimal digits); null if unknown."""
    repeat: Count | None = None
    """Number of a further verdict of the same judge on the same battle in the same order, from 1; null for the first.
    """


@dataclass(frozen=True, slots=True)
class Rating:
    """The Bradley-Terry rating of one system in one language by one judge, with its interval and rank."""

    key = ("language", "judge", "skill", "system")

    language: CodeOrAll
    """Language of the battles; `all`: the plain mean over languages, with its interval from joint draws in which
    queries with one id in several languages have the same weight; unbounded if a language's rating is.
    """
    judge: str
    """The judge of the battles: `relevance` (relevance labels), or a judge's name."""
    skill: Skill
    """Queries that count. With the relevance judge `abstain`: non-relevant queries, `answer`: relevant queries,
    `both`: the two weighted equally. With a judge always `both`: every judged query.
    """
    system: str
    """The system rated."""
    rating: float
    """Bradley-Terry strength theta in logits, centred on 0 over the systems. A tie is half a point, so 1 / (1 +
    exp(-difference)) is the expected points of a battle, not the odds of winning it. Bias-reduced (Jeffreys' prior).
    """
    low: float | None
    """Lower end of the 95% interval of `rating`, percentiles over draws that resample queries; null if the data gives
    no lower bound.
    """
    high: float | None
    """Upper end; null if the data gives no upper bound."""
    rank: Rank
    """1 is best. Equal ratings share the best rank."""
    rank_low: Rank
    """Best end of the 95% interval of the rank: 1 + the number of significantly better systems (paired tests over
    queries, adjusted for all pairs of the board).
    """
    rank_high: Rank
    """Worst end: the number of systems minus those significantly worse."""
    best: Best | None
    """`tied`: tied with the best, the rank interval begins at 1. `best`: significantly better than all others. Null for
    all other systems.
    """
    wins: Count
    """Battles won."""
    ties: Count
    """Battles tied."""
    losses: Count
    """Battles lost."""
    battles: Count
    """Number of battles: wins + ties + losses."""
    bounded: bool
    """False if the data does not bound the rating on one side (the system, or a group with it, never lost to the rest,
    or never won); the estimate then depends on the prior. In the row over all languages: false if it is in any of them.
    """


@dataclass(frozen=True, slots=True)
class Tournament:
    """One system's rating in one of the paper's tournaments (MIRAGE-Bench 5.1: 100 drawn matches, ties dropped)."""

    key = ("language", "judge", "skill", "draw", "system")
    reason_of = "rating"

    language: Code
    """Language of the battles."""
    judge: str
    """The judge of the battles, as in `ratings`."""
    skill: Skill
    """Queries that count, as in `ratings`."""
    draw: Count
    """Number of the tournament, from 0."""
    system: str
    """The system rated."""
    rating: float | None
    """Bradley-Terry strength theta in logits, centred on 0 over the systems of the tournament; null if the likelihood
    has no maximum.
    """
    reason: str | None
    """Why `rating` is null; null otherwise."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A rating predicted from the features of a system's answers, without using the system's battles."""

    key = ("language", "judge", "skill", "regressor", "system")

    language: CodeOrAll
    """Language of the answers; `all`: the mean over languages."""
    judge: str
    """The judge whose ratings are predicted."""
    skill: Skill
    """Queries that count, as in `ratings`."""
    regressor: str
    """Name of the regressor, as declared in `mirage.ranking.surrogate`."""
    system: str
    """The predicted system; the regressor was trained on the others, in every language."""
    rating: float
    """Predicted Bradley-Terry strength in logits."""
    low: float | None
    """Lower end of the 95% prediction interval of `rating`; null if too few systems were left out, or the system lies
    outside the range of the others.
    """
    high: float | None
    """Upper end."""
    rank: Rank
    """Rank among the predictions of all systems; 1 is best. Predictions of left-out systems come from different fits,
    so only `tau_part` measures how well they are ordered.
    """
    judged: float | None
    """The judge's rating; null if the system has no battles or an unbounded rating."""
    outside: str | None
    """Comma-separated features in which the system lies at least a fifth farther from the training systems than any of
    these from the rest, so that the prediction extrapolates; null if there is none.
    """
    default: bool
    """Whether this is the regressor used for new systems."""
    tau_part: float | None = None
    """The system's contribution to Kendall's tau-b of predictions and ratings, over its pairs with each other system,
    both left out; the mean over systems is the tau. Null if no pair was left out, or too few systems remained.
    """
    slope_part: float | None = None
    """The system's contribution to the slope of the ratings on the predictions, over the same pairs; the mean over
    systems is the slope. Null if no pair was left out, or all predictions are equal.
    """


@dataclass(frozen=True, slots=True)
class Importance:
    """Importance of features to a surrogate: its quality on left-out systems with a feature permuted, or with fewer
    features.
    """

    key = ("language", "judge", "skill", "regressor", "kind", "features")
    reason_of = "value"

    language: CodeOrAll
    """Language of the answers; `all`: all languages jointly."""
    judge: str
    """The judge whose ratings are predicted."""
    skill: Skill
    """Queries that count, as in `ratings`."""
    regressor: str
    """Name of the regressor, the arena's default."""
    kind: Literal["permutation", "ablation"]
    """`permutation`: a left-out system gets another's values of a feature; `ablation`: a fit to some of the features.
    """
    features: str
    """`permutation`: the feature; `ablation`: name of the set of features."""
    value: float | None
    """`permutation`: rise of the mean squared error in squared logits; `ablation`: Kendall's tau-b in [-1, 1]."""
    low: float | None
    """Lower end of the 95% interval of a rise (Student's t over systems); null for an ablation."""
    high: float | None
    """Upper end."""
    systems: Count
    """n: systems left out, one at a time."""
    reason: str | None
    """Why `value` is null; null otherwise."""


@dataclass(frozen=True, slots=True)
class Published:
    """One figure printed in a paper, with its source."""

    key = ("source", "item", "metric", "setting", "system", "language")

    source: str
    """The paper: `NoMIRACL` or `MIRAGE-Bench`."""
    item: str
    """The table or figure: `Table 3`, `Figure 4`."""
    metric: str
    """The measured quantity."""
    setting: str
    """Condition of the measurement (subset, split, prompt, regressor, judge ...); empty if there is only one."""
    system: str
    """The system's name as printed; empty if the figure is not about one system."""
    language: Annotated[str, _LanguageCode(also=("all", ""))]
    """Language code; `all` for a printed average or total; empty if the figure is not about one language."""
    value: float | None
    """The figure; null if a dash or text is printed."""
    text: str | None
    """The printed text if it is not a number."""
    unit: str
    """`%`, `rank`, `count`, `tau`, `R2`, or empty."""
    reference: str
    """Citation of the page it was read from."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of a conversation that ends with a query."""

    key = ("language", "query_id", "position")

    language: Code
    """Language of the query."""
    query_id: str
    """The query at the end of the conversation."""
    position: Annotated[int, Range(1, None)]
    """Position in the conversation, from 1; the query itself is not a turn."""
    speaker: str
    """The speaker, as named by the source: `user`, `agent`."""
    text: str
    """Text of the turn."""


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
    """Value of the property: `finance`, `comparative`, `2`."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference answer to one query, from people or a source."""

    key = ("language", "query_id")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    text: str
    """The reference answer."""


@dataclass(frozen=True, slots=True)
class Document:
    """The source document of one passage."""

    key = ("language", "query_id", "passage_id")

    language: Code
    """Language of the query."""
    query_id: str
    """The query that the passage was given with."""
    passage_id: str
    """The passage."""
    url: str | None
    """URL of the document; null if the source gives none."""
    metadata: str | None
    """Further facts from the source about the passage, as a JSON object; null if there are none."""


@dataclass(frozen=True, slots=True)
class Nugget:
    """One atomic fact that a good answer to a query states. The nuggets of a query are its bank."""

    key = ("language", "query_id", "nugget_id")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    nugget_id: str
    """The source's own id, or one derived from the text; unique within the query."""
    text: str
    """The fact, in the language of the query."""
    importance: NuggetImportance
    """`vital`: required in a good answer; `okay`: good to have."""
    passage_id: str | None
    """Passage with the fact; null if unknown."""
    author: str
    """Author of the nugget: a model, a person or a program."""


@dataclass(frozen=True, slots=True)
class NuggetAssignment:
    """One assigner's decision on whether one answer states one nugget."""

    key = ("language", "query_id", "system", "nugget_id", "assigner")
    reason_of = "assignment"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    nugget_id: str
    """The nugget."""
    assigner: str
    """Name of the assigner, a model or a program; `baseline/terms`: shared words, a lower bound."""
    assignment: Assignment | None
    """`support`: the answer states all of the nugget; `partial_support`: part of it; `not_support`: none of it; null if
    undecided.
    """
    quote: str | None
    """Words of the answer that state the nugget; null if there are none, or the assigner does not quote."""
    reason: str | None
    """Why `assignment` is null; null otherwise."""
    call: str | None
    """Key of the call in the arena's ledger; null if no call was made."""


@dataclass(frozen=True, slots=True)
class SupportGrade:
    """One grader's decision on how far one cited passage supports the sentence that cites it."""

    key = ("language", "query_id", "system", "sentence", "passage_id", "grader")
    reason_of = "grade"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    sentence: Count
    """Index of the sentence, from 0, in the answer's reason, or in its answer if no reason is marked
    (`mirage.stages.features.support.cited_places`).
    """
    passage_id: str
    """The cited passage."""
    grader: str
    """Name of the grader: a model, or `people` for their votes."""
    grade: Support | None
    """`full`: the passage supports everything the sentence says; `partial`: part of it; `none`: nothing;
    `contradicted`: it says the contrary, which people's votes count as `none`; null if undecided.
    """
    reason: str | None
    """Why `grade` is null; null otherwise."""
    call: str | None
    """Key of the call in the arena's ledger; null if no call was made."""


@dataclass(frozen=True, slots=True)
class Score:
    """One rater's score, a person's or a program's, of one answer on one scale; imported, or points by a judge."""

    key = ("language", "query_id", "system", "measure", "rater")
    reason_of = "value"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    measure: str
    """Name of the scale: `faithfulness`, `completeness`."""
    rater: str
    """The rater: an annotator's id, or the name of a program."""
    person: bool
    """Whether the rater is a person."""
    value: Annotated[float, Range(-LARGEST, LARGEST)] | None
    """The score, in the scale's own unit; null if it could not be read."""
    low: float | None
    """Worst value of the scale; null if the source does not say."""
    high: float | None
    """Best value of the scale; null if the source does not say."""
    reason: str | None
    """Why `value` is null; null otherwise."""


@dataclass(frozen=True, slots=True)
class SystemCard:
    """Facts about one system, from a file that names their source. Unknown facts are null."""

    key = ("system",)

    system: str
    """The system, as `answers` and `judgments` name it."""
    licence: str | None
    """Licence of the model, as an SPDX identifier if there is one: `Apache-2.0`."""
    open_weights: bool | None
    """Whether the weights can be downloaded."""
    parameters: Annotated[float, Range(0, None)] | None
    """Size of the model, in billions of parameters."""
    released: Date | None
    """Release date, `2024-05-13`, `2024-05` or `2024`."""
    price_in: Annotated[float, Range(0, None)] | None
    """US dollars per million prompt tokens."""
    price_out: Annotated[float, Range(0, None)] | None
    """US dollars per million output tokens."""
    context_length: Count | None
    """Maximum number of tokens in prompt and answer together."""
    url: str | None
    """URL of the model's page."""
    retriever: str | None
    """The system's retriever; null if its passages are given."""
    source: str | None
    """Source of these facts, with the date."""
    about: str | None = None
    """Description of the system in a few words: `answers from memory`."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One question that a model wrote for a test set, with the query it became or the reason it was dropped."""

    key = ("language", "draft_id")
    reason_of = "query_id"

    language: Code
    """Language requested for the question."""
    draft_id: str
    """Hash of the language, the type and the passages shown."""
    type: QuestionType
    """Requested type of question. `fact`: one fact; `list`: several facts of one passage; `comparison`: of two
    things, from two passages; `several`: facts of several passages; `follow_up`: the last question of a conversation.
    """
    passages: str
    """Ids of the passages shown to the model, one per line."""
    query_id: str | None
    """The query that the question became; null if it was dropped."""
    text: str | None
    """The question; null if the reply has none."""
    answer: str | None
    """The reference answer; null if the reply has none. For answerable queries it is also in table `references`."""
    facts: str | None
    """Facts of the answer, as a JSON list of objects with `fact`, `importance`, `passage_id` and `quote`; null if the
    reply has none. For answerable queries they are also in table `nuggets`.
    """
    reason: str | None
    """Why the question was dropped; null otherwise."""
    call: str | None
    """Key of the call in the arena's ledger; null if no call was made."""


@dataclass(frozen=True, slots=True)
class PassageCheck:
    """One check of whether one passage of a test set's corpus answers one query."""

    key = ("language", "query_id", "passage_id", "check")
    reason_of = "finding"

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    passage_id: str
    """The passage."""
    check: Check
    """`source`: the question was written from the passage; `copy`: Jaccard similarity of word 5-grams with a passage
    that answers; `vector`: cosine similarity with one; `facts`: vital facts of the answer, matched by shared words;
    `model`: a model's decision.
    """
    finding: Finding | None
    """`answers`: the passage answers the query or a part of it; `partly`: it may (half of a fact's words); `nothing`:
    it does not; null if undecided.
    """
    value: Share | None
    """`copy` and `vector`: the similarity; `facts`: share of the vital facts that the passage states; else null."""
    evidence: str | None
    """`copy` and `vector`: the passage it is similar to; `facts` and `model`: the words that state a fact; else null.
    """
    removed: bool
    """Whether the passage was removed from the corpus, for this query or another."""
    reason: str | None
    """Why `finding` is null; null otherwise."""
    call: str | None
    """Key of the call in the arena's ledger; null if no call was made."""


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
    "answers": Answer,
    "samples": SampledAnswer,
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
    "drafts": Draft,
    "passage_checks": PassageCheck,
    "published": Published,
}
"""Every table by name, in pipeline order."""

OPTIONAL = frozenset(_TABLES["optional"])
"""Tables that only add detail, by import or on request; an arena is complete without them."""

COMMANDS: dict[str, str] = _TABLES["commands"]
"""Command that creates a table, by table."""

ADDS: dict[str, str] = _TABLES["adds"]
"""Benefit of a table for a reader, by table; shown if it is missing."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column, derived from a dataclass field."""

    name: str
    meaning: str
    kind: Kind
    nullable: bool
    choices: tuple[str, ...] | None
    range: Range | None
    languages: _LanguageCode | None
    date: bool
    head: str
    """Head of the column in the tables of commands: its `ColumnHead`, or its name in words."""

    @property
    def label(self) -> str:
        """Head of the column on pages: as in commands, capitalised unless it is a letter."""
        return self.head[0].upper() + self.head[1:] if len(self.head) > 1 else self.head

    @property
    def format(self) -> Format | Literal["text"]:
        """Format of its values: shares of 0 to 1 in percent, ranks and counts as such."""
        if self.kind == "number":
            return "rate" if self.range == Range(0, 1) else "value"
        if self.kind == "count":
            return "rank" if self.range == Range(1, None) else "count"
        return "text"

    @property
    def has_rule(self) -> bool:
        """Return whether some values of its type are invalid."""
        return self.kind == "number" or self.date or any((self.choices, self.range, self.languages))

    @property
    def arrow(self) -> pa.DataType:
        """Arrow type of the column."""
        import pyarrow as pa

        return {"text": pa.string(), "number": pa.float64(), "count": pa.int32(), "flag": pa.bool_()}[self.kind]


def table_class(name: str | type) -> type:
    """Return the dataclass of a table; a dataclass is returned as it is.

    Raises:
        UnknownName: if no such table is defined.
    """
    if isinstance(name, type):
        return name
    if name not in TABLES:
        raise UnknownName("table", name, TABLES)
    return TABLES[name]


def verdict_word(word: str) -> str:
    """Map a verdict in any case, or one of its synonyms, to the verdict; return an unknown word unchanged."""
    plain = word.strip().lower()
    return {known.lower(): known for known in get_args(Verdict)}.get(plain) or VERDICT_WORDS.get(plain, word)


def criterion_judge(judge: str, criterion: str | None) -> str:
    """Return the name of a judge by a criterion: `JUDGE: CRITERION`; its own name for `overall` or none.

    A name that already ends with the criterion stays as it is.
    """
    if criterion in (None, OVERALL) or judge.endswith(f": {criterion}"):
        return judge
    return f"{judge}: {criterion}"


def key(table: str) -> tuple[str, ...]:
    """Return the names of a table's key columns, in sort order."""
    return tuple(table_class(table).key)  # type: ignore[attr-defined]  # every table class declares it


def left_out(table: str) -> tuple[str, ...]:
    """Return the nullable columns that a table's files omit if no row has a value."""
    return tuple(getattr(table_class(table), "left_out", ()))


@cache
def columns(table: str | type) -> tuple[Column, ...]:
    """Return the columns of a table, or of a result's dataclass, with their meaning, in order."""
    cls = table_class(table)
    meanings = field_docs(cls)
    hints = get_type_hints(cls, include_extras=True)
    return tuple(_column(f.name, hints[f.name], meanings[f.name]) for f in fields(cls))


@cache
def column(table: str | type, name: str) -> Column:
    """Return one column of a table, or of a result's dataclass.

    Raises:
        UnknownName: if it has no such column.
    """
    known = {entry.name: entry for entry in columns(table)}
    if name not in known:
        raise UnknownName("column", name, known)
    return known[name]


@cache
def arrow_schema(table: str | type) -> pa.Schema:
    """Return the Arrow schema of a table: names, types, nullability."""
    import pyarrow as pa

    return pa.schema([pa.field(column.name, column.arrow, nullable=column.nullable) for column in columns(table)])


def from_columns(table: str | type, data: Mapping[str, Any]) -> pa.Table:
    """Build a table from columns (lists, NumPy or Arrow arrays); nullable columns may be omitted.

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
                # With the type given, Arrow would truncate 1.5 to 1; a cast fails.
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
    """Reject a table that breaks the contract: columns, types, nulls, reasons, choices, ranges, languages, unique keys.

    Raises:
        BadInput: naming the column and the first offending key; nothing is repaired.
    """
    import pyarrow.compute as pc

    schema = arrow_schema(table)
    if data.schema.names != schema.names or data.schema.types != schema.types:
        raise BadInput(
            f"{table} has columns {data.schema.names}; the contract requires {schema.names}",
            where=where,
            do="build it with mirage.schema.from_columns",
        )

    def place(row: Mapping[str, Any]) -> str:
        location = ", ".join(f"{k}={row[k]!r}" for k in key(table))
        return f"{where}: {location}" if where else location

    def refuse(bad_column: Column, bad: Any, breach: str) -> None:
        count = pc.sum(bad).as_py() or 0
        if count:
            row = data.filter(bad).slice(0, 1).to_pylist()[0]
            raise BadInput(
                f"{table}.{bad_column.name} {breach} in {count:,} rows; the first holds {row[bad_column.name]!r}",
                where=place(row),
                do=f"{bad_column.name}: {bad_column.meaning}",
            )

    for each in columns(table):
        for bad, breach in breaches(each, data[each.name]):
            refuse(each, bad, breach)

    if "status" in data.column_names and "text" in data.column_names:
        said = pc.equal(data["status"], "ok")
        refuse(column(table, "text"), pc.and_(said, pc.is_null(data["text"])), "is null although the status is ok")
    _check_names(table, data, where)

    measured = getattr(table_class(table), "reason_of", None)
    if measured:
        reason = column(table, "reason")
        null, unexplained = pc.is_null(data[measured]), pc.is_null(data["reason"])
        refuse(reason, pc.and_(null, unexplained), f"is null where {measured} is null")
        refuse(reason, pc.invert(pc.or_(null, unexplained)), f"is set although {measured} is not null")

    groups = data.group_by(list(key(table))).aggregate([([], "count_all")])
    duplicates = groups.filter(pc.greater(groups["count_all"], 1))
    if len(duplicates):
        row = duplicates.slice(0, 1).to_pylist()[0]
        raise BadInput(
            f"{table} has {len(duplicates):,} duplicate keys",
            where=f"{place(row)} ({row['count_all']} times)",
            do="keep one row per " + ", ".join(key(table)),
        )


def _check_names(table: str, data: pa.Table, where: str) -> None:
    """Reject names that are not normalised, hide a character, or look like another name of the table."""
    import pyarrow.compute as pc

    place, seen = f"{where}: {table}" if where else table, Names()
    for column in sorted(NAMES.intersection(data.column_names)):
        for name in filter(None, pc.unique(data[column]).to_pylist()):
            if normalise_name(name) != name:
                raise BadInput(
                    f"{column} {name!r} has spaces at its ends, or another spelling in Unicode's form NFC",
                    where=place,
                    do=f"write {normalise_name(name)!r}",
                )
            if column.endswith("_id") or table == "published":  # as printed: papers differ in case
                need_visible(name, column, place)
            else:
                seen.check(name, "system" if column.startswith("system") else column, place)
    if table == "queries":
        for language, name in zip(data["language"].to_pylist(), data["query_id"].to_pylist(), strict=True):
            seen.check(name, "query_id", place, language)


def breaches(column: Column, values: Any) -> Iterator[tuple[Any, str]]:
    """Yield, for each rule of a column, a mask of the values that break it and a description."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not column.nullable:
        yield pc.is_null(values), "is null"
    if column.choices is not None:
        other = pc.invert(pc.is_in(values, value_set=pa.array(column.choices)))
        yield pc.and_(other, pc.is_valid(values)), "is not one of " + ", ".join(column.choices)
    if column.languages is not None:
        known = [code for code in pc.unique(values).to_pylist() if code in column.languages.also or is_code(code or "")]
        other = pc.invert(pc.is_in(values, value_set=pa.array(known, pa.string())))
        yield pc.and_(other, pc.is_valid(values)), "is not a known language"
    if column.date:
        wrong = [text for text in pc.unique(values).to_pylist() if text is not None and not is_date(text)]
        yield pc.is_in(values, value_set=pa.array(wrong, pa.string())), "is not a date"
    if column.kind == "number":
        yield pc.invert(pc.fill_null(pc.is_finite(values), True)), "is not a finite number"
    if column.range is not None and column.range.low is not None:
        yield pc.fill_null(pc.less(values, column.range.low), False), f"is under {column.range.low:g}"
    if column.range is not None and column.range.high is not None:
        yield pc.fill_null(pc.greater(values, column.range.high), False), f"is over {column.range.high:g}"


def sort(table: str, data: pa.Table) -> pa.Table:
    """Sort rows by the table's key columns, as far as they were read."""
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
    head = next((n.text for n in notes if isinstance(n, ColumnHead)), name.replace("_", " "))
    kind = kinds[str if choices else hint]
    return Column(name, meaning, kind, nullable, choices, limits, codes, is_date in notes, head)


_PARSING = Lock()  # Python 3.11 raises `SystemError` when two threads parse source at once.


@cache
def _class_bodies(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of every class in a module, parsed once: `inspect` would parse the module for each."""
    with _PARSING:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}


def field_docs(cls: type) -> dict[str, str]:
    """Return the docstring under each field of a dataclass and its bases, joined to one line."""
    docs: dict[str, str] = {}
    for owner in filter(is_dataclass, reversed(cls.__mro__)):
        for pair in pairwise(_class_bodies(owner.__module__)[owner.__qualname__]):
            match pair:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    docs[name] = " ".join(text.split())
    return docs
