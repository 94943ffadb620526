"""Result of parsing one answer, and the names of the rules."""

from __future__ import annotations

from dataclasses import dataclass

from mirage.schema import Outcome

NOMIRACL_RULES: dict[str, str] = {
    "missing": "there is no answer",
    # Both parsers.
    "i_dont_know": 'holds "I don\'t know"',
    "answer_is_present": 'holds "answer is present" without a negation',
    "answer_is_not_present": 'holds "answer is not present"',
    # The published parser alone.
    "both_phrases": 'holds both "yes, answer is present" and "I don\'t know": invalid',
    "yes_answer_is_present": 'holds "yes, answer is present"',
    "short_citation": "under 10 characters with a number in brackets, such as [4]",
    "no_rule": "none of the published rules matches: invalid",
    # The strict parser alone.
    "empty": "white space only",
    "api_error": "the whole answer is an error text of the service, or the call is recorded as failed",
    "refused": "recorded as declined by the service, without a text",
    "negated": 'a "no" stands before "answer is present", as in "No answer is present"',
    "enumeration": "goes through the contexts; at least one is said to answer",
    "conclusion": 'holds statements both ways; the last is marked as the conclusion ("therefore", "final answer:")',
    "contradiction": "holds statements both ways, and nothing marks one as the conclusion",
    "choices_listed": "lists the choices of the instruction and takes none",
    "instruction_repeated": "repeats or rewrites the instruction, and states nothing",
    "says_present": "says in other English words that the contexts answer",
    "says_absent": "says in other English words that the contexts do not answer, or that it cannot",
    "says_present_translated": "says in the language of the query that the answer is there",
    "says_absent_translated": "says in the language of the query that it does not know or that no answer is there",
    "opens_yes": "opens with yes (English or the query's language), and no statement follows that says otherwise",
    "opens_no": "is no more than a no, or opens with no and goes on about the contexts or the query",
    "citation": "only numbers in brackets, such as [4]",
    "answer_given": "direct answer",
    "question_repeated": "only repeats the query or asks another",
    "list": "a list without a statement: copied contexts and listed answers cannot be told apart",
    "about_the_task": "talks about the query or the contexts, and states nothing",
    "degenerate": "the same piece over and over, or mostly undecodable characters",
    "language_not_understood": "states nothing in English; how the language of the query abstains is not known here",
    "fragment": "too short to classify, such as a single I",
    "continues_contexts": "goes on with the text of the contexts in mid-sentence",
}
"""Meaning of each rule for NoMIRACL's replies, by its name in `outcomes.rule`."""
FREE_RULES: dict[str, str] = {
    "claim": "free answer: claims something, and names no gap",
    "claim_beside_gap": "free answer: claims something, and names a gap elsewhere; the claim outweighs it",
    "list_given": "free answer: a list with content",
    "states_gap": "free answer: says that the sources do not answer, or that it cannot, and claims nothing",
    "other_topic": "free answer: says that the sources are only about something else",
    "short_gap": "free answer: no more than a word for it, such as Not relevant, Unanswerable, NO_ANSWER, N/A",
    "declines": "free answer: will not help (a safety filter), or only apologizes",
    "asks_back": "free answer: only asks the reader what is meant",
    "reason_alone": "free answer: reasoning under its heading, and no answer follows",
    "by_model": "decided by a chat model, which the manifest names",
    "by_model_unread": "the chat model that decides gave no outcome",
    "template_answered": "holds the phrase by which its template says yes",
    "template_abstained": "holds the phrase by which its template says no",
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
