"""Result of parsing one answer, and the names of the rules."""

from __future__ import annotations

from dataclasses import dataclass

from mirage.schema import Outcome

NOMIRACL_RULES: dict[str, str] = {
    "missing": "there is no answer",
    # Both parsers.
    "i_dont_know": 'contains "I don\'t know"',
    "answer_is_present": 'contains "answer is present" without a negation',
    "answer_is_not_present": 'contains "answer is not present"',
    # The published parser alone.
    "both_phrases": 'contains both "yes, answer is present" and "I don\'t know": invalid',
    "yes_answer_is_present": 'contains "yes, answer is present"',
    "short_citation": "under 10 characters with a number in brackets, such as [4]",
    "no_rule": "matches none of the published rules: invalid",
    # The strict parser alone.
    "empty": "only white space",
    "api_error": "the whole answer is an error message of the service, or the call was recorded as failed",
    "refused": "recorded as declined by the service, without text",
    "negated": 'has a "no" before "answer is present", as in "No answer is present"',
    "enumeration": "goes through the contexts and says that at least one answers",
    "conclusion": 'contradicts itself; the last statement is marked as the conclusion ("therefore", "final answer:")',
    "contradiction": "contradicts itself, and no statement is marked as the conclusion",
    "choices_listed": "lists the choices of the instruction without choosing one",
    "instruction_repeated": "repeats or rewrites the instruction without answering",
    "says_present": "says in other English words that the contexts answer",
    "says_absent": "says in other English words that the contexts do not answer, or that it cannot",
    "says_present_translated": "says in the language of the query that there is an answer",
    "says_absent_translated": "says in the language of the query that it does not know or that there is no answer",
    "opens_yes": "opens with yes (in English or the query's language), and nothing after it says otherwise",
    "opens_no": "only says no, or opens with no and goes on about the contexts or the query",
    "citation": "only numbers in brackets, such as [4]",
    "answer_given": "direct answer",
    "question_repeated": "only repeats the query or asks another question",
    "list": "a list without a statement: either copied contexts or answers",
    "about_the_task": "talks about the query or the contexts without answering",
    "degenerate": "repeats the same text over and over, or is mostly undecodable characters",
    "language_not_understood": "says nothing in English; no rules for abstentions in the language of the query",
    "fragment": "too short to classify, such as a single I",
    "continues_contexts": "continues the text of the contexts mid-sentence",
}
"""Meaning of each rule for NoMIRACL's replies, by its name in `outcomes.rule`."""
FREE_RULES: dict[str, str] = {
    "claim": "makes a claim, mentions nothing missing",
    "claim_beside_gap": "makes a claim that outweighs what it says is missing",
    "list_given": "a list with content",
    "states_gap": "says that it cannot answer",
    "other_topic": "says that the sources are about something else",
    "short_gap": "only a word for no answer, such as Not relevant, Unanswerable, NO_ANSWER, N/A",
    "declines": "declines to help (a safety filter), or only apologizes",
    "asks_back": "only asks what is meant",
    "reason_alone": "gives reasons under a heading, but no answer",
    "by_model": "classified by a chat model, which the manifest names",
    "second_opinion": "classified by embeddings, in a language without rules: not validated in this language",
    "second_opinion_differs": "the rules and the second opinion differ",
    "by_model_unread": "the classifying chat model gave no outcome",
}
"""Meaning of each rule for free answers. `citation`, `fragment`, `degenerate`, `language_not_understood`, `empty` and
`api_error` apply to both.
"""
RULES = {**NOMIRACL_RULES, **FREE_RULES}
"""Meaning of every rule."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Outcome of one answer, with the deciding rule and text."""

    outcome: Outcome
    """See `schema.OutcomeRow.outcome`."""
    rule: str
    """Name of the deciding rule, one of `RULES`."""
    span_start: int | None = None
    """Start of the deciding text, in characters of the raw answer; None if no text decided."""
    span_end: int | None = None
    """End of the deciding text (exclusive)."""


DIFFERS = Parsed("unparsed", "second_opinion_differs")
"""Reading of an answer on which the rules and the second opinion differ."""
