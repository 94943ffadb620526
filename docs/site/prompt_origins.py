"""Sources of the prompts, and our departures from them.

Sources: [NM] NoMIRACL, arXiv 2312.11361, with `nomiracl/prompts/template.py` of project-miracl/nomiracl; [MB]
MIRAGE-Bench, arXiv 2410.13716, whose Figures 10 to 13 show its prompts, with `mirage_bench/` and `evaluation/` of
vectara/mirage-bench; [NG] nuggetizer, of TREC RAG 2024 (arXiv 2411.09607), with
`src/nuggetizer/prompts/prompt_templates/` of castorini/nuggetizer at b861b19; [TR] the support evaluation of TREC RAG
2024, arXiv 2504.15205.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptDeparture:
    """One departure of our prompt from its source."""

    what: str
    """The difference."""
    why: str
    """Reason for the difference."""


@dataclass(frozen=True, slots=True)
class PromptOrigin:
    """Source of a prompt."""

    name: str
    """Name of the prompt and its file."""
    use: str
    """Purpose of the prompt."""
    source: str
    """The paper, its figure or section, and the file of the published program."""
    departures: tuple[PromptDeparture, ...]
    """Every departure from the source."""


_COUNT = PromptDeparture(
    "As many passages as a query has; the published program refuses any other number than 10.",
    "Queries of other sources have more or fewer.",
)
_WORDS = PromptDeparture(
    "In words of our own, with the same criteria.",
    "The published texts leave open where a text ends, and what follows adds to them; a prompt of ours can say it all.",
)
_FENCED = PromptDeparture(
    "Each text stands between two marks with a code that occurs in none of them, and the prompt says that what stands "
    "there is material, addressed to nobody.",
    "An answer or a passage that says “give this a 5” or “[[A]]” must not decide. The published prompts put the texts "
    "under headings that a text can repeat.",
)
_GRADE_LAST = "The reply explains first and ends with `Score: [[3]]` on a line of its own"
_CUT = PromptDeparture(
    "Each passage is cut to its first 800 tokens, by an estimate.",
    "The systems were shown at most that much; the estimate makes the prompt the same on every machine.",
)
_ALONE = PromptDeparture(
    "It says that nothing but the criterion counts.",
    "Otherwise every criterion would measure overall quality.",
)

ORIGINS: tuple[PromptOrigin, ...] = (
    *(
        PromptOrigin(name, use, f"[NM], {where}; {kind} in nomiracl/prompts/template.py", departures)
        for name, use, where, kind, departures in (
            (
                "vanilla",
                "Does a passage answer the query? The prompt of the published outputs.",
                "appendix",
                "VanillaTemplate",
                (_COUNT,),
            ),
            ("role", "The same, with a role and without further output.", "Table 3", "RoleTemplate", (_COUNT,)),
            (
                "repeat",
                "The same, with query and instruction again at the end.",
                "Table 3",
                "RepeatTemplate",
                (_COUNT,),
            ),
            ("explanation", "The same, with steps before the answer.", "Table 3", "ExplanationTemplate", (_COUNT,)),
        )
    ),
    PromptOrigin(
        "rag",
        "Answer a query from passages, with reasoning and citations.",
        "[MB], section 5 and Figure 10, after ChatQA",
        (
            PromptDeparture(
                "In words of our own: in the query's language, step by step, passages cited by id in the manner of "
                "IEEE, `##Reason:` and `##Answer:`.",
                "Figure 10 is a picture; its caption, section 5 and the published data set give the parts and their "
                "order, which ours keeps.",
            ),
            PromptDeparture(
                "It says that some or all contexts may have nothing to do with the query, and that the assistant "
                "says so when the answer cannot be found.",
                "Arenas here hold queries without a relevant passage, as NoMIRACL's do.",
            ),
        ),
    ),
    PromptOrigin(
        "outcome",
        "Does an answer answer, abstain or ask back?",
        "[NM], section 3, for answered and abstained; the text is written for `mirage measure outcomes`",
        (
            PromptDeparture(
                "A third outcome for answers that ask back; a claim counts as answered whatever else is said.",
                "Free answers mix claims and gaps; NoMIRACL's prompts ask for one of two sentences.",
            ),
        ),
    ),
    PromptOrigin(
        "overlap",
        "Grade an answer against the reference system's answer, from 1 to 5.",
        "[MB], Figure 11; evaluation/answer_llm_judge_multigpu.py, mirage_bench/evaluate/automatic_answer_overlap.py",
        (
            _WORDS,
            _FENCED,
            PromptDeparture(
                "It shows the passages, as the figure's caption says; the prompts in both files of the program leave "
                "them out.",
                "The paper decides where it and its program differ.",
            ),
            _CUT,
            PromptDeparture(
                "The reference's answer part and the answer's, both without citations; the program also cuts them at "
                "the first blank line.",
                "An answer can have paragraphs.",
            ),
            PromptDeparture(
                f"{_GRADE_LAST}; one file of the program asks for the grade before its justification, the other for "
                "the grade after it.",
                "A grade after its reasons rests on them.",
            ),
            PromptDeparture(
                "It says that other words for the same are no fault, nor is the length.",
                "BLEU and ROUGE-L measure the words already.",
            ),
        ),
    ),
    PromptOrigin(
        "fluency",
        "Grade how coherent an answer is, from 1 to 5.",
        "[MB], Figure 12; evaluation/fluency_llm_judge_multigpu.py, mirage_bench/evaluate/automatic_fluency.py",
        (
            _WORDS,
            _FENCED,
            _CUT,
            PromptDeparture(
                "The answer is called a text; the paper calls it a summary.",
                "A RAG system's answer is no summary, and a model could mark it down for that.",
            ),
            PromptDeparture(
                "The whole answer as it is, with its headings; the program takes `##` from them, and one of its files "
                "cuts the answer at the first blank line.",
                "Nothing of an answer is lost or changed.",
            ),
            PromptDeparture(
                f"{_GRADE_LAST}; the paper asks for `##Rating: ... ##Explanation: ...`.",
                "The form of all grades here; it cannot be taken for a `##` in the answer.",
            ),
        ),
    ),
    PromptOrigin(
        "judge",
        "Which of two answers is better?",
        "[MB], Figure 13, after RAGElo; mirage_bench/evaluate/pairwise_llm_judge.py",
        (
            _WORDS,
            _FENCED,
            _CUT,
            PromptDeparture(
                "It says that where the passages do not hold the answer it is right to say so and wrong to make one "
                "up, and that an answer without any text gives nothing.",
                "Arenas here hold queries without a relevant passage, as NoMIRACL's do, and answers without text.",
            ),
            PromptDeparture(
                "It adds that an answer should be borne out by the passages.",
                "Correctness is asked for in both; the passages are what the judge can check it by.",
            ),
            PromptDeparture(
                "The verdict ends the reply, on a line of its own; the figure asks for it after the explanation.",
                "A mark on a line of its own can be told from one that the judge quotes.",
            ),
            PromptDeparture(
                "Both orders of every pair are judged; the program draws one at random.",
                "A judge's preference for a place then shows, and cancels out.",
            ),
            PromptDeparture(
                "The answers are shown whole; the program cuts each at its first blank line.",
                "The answer often stands after it.",
            ),
        ),
    ),
    PromptOrigin(
        "criterion",
        "Which of two answers is better by one criterion?",
        "[MB], Figure 13, as the prompt `judge`, with one question in place of its list of qualities",
        (_FENCED, _CUT, _ALONE),
    ),
    PromptOrigin(
        "points",
        "How many points does one answer get by one criterion?",
        "[MB], Figure 13, as `criterion`, for one answer",
        (_FENCED, _CUT, _ALONE),
    ),
    PromptOrigin(
        "nugget_create",
        "Write the nuggets of a query from its passages, vital and okay.",
        "[NG], creator_template.yaml and scorer_template.yaml",
        (
            _WORDS,
            _FENCED,
            _CUT,
            PromptDeparture(
                "One request a query writes the nuggets and says which are vital; the program adds to a list, window "
                "by window of passages, and asks for the importance afterwards.",
                "Queries here have few passages, and one reply is one thing to keep and to resume.",
            ),
            PromptDeparture(
                "The nuggets are in the query's language and name their passage.",
                "People who read the answers edit the bank, and check a fact in its passage.",
            ),
        ),
    ),
    PromptOrigin(
        "nugget_assign",
        "Which nuggets does an answer state: support, partial_support or not_support?",
        "[NG], assigner_template.yaml",
        (
            _WORDS,
            _FENCED,
            PromptDeparture(
                "Each entry of the reply names its nugget and quotes the answer; the program asks for a bare list of "
                "labels.",
                "A label that is left out must not move the others, and a page shows the words that decided.",
            ),
        ),
    ),
    PromptOrigin(
        "support",
        "How far does a passage bear out the sentence that cites it: full, partial, none or contradicted?",
        "[TR], the three levels of support",
        (
            _WORDS,
            _FENCED,
            _CUT,
            PromptDeparture(
                "The reply explains first and ends with `Grade: [[full]]` on a line of its own.",
                "A grade after its reasons rests on them, and can be told from one in the sentence.",
            ),
            PromptDeparture(
                "A fourth grade: the passage says the contrary.",
                "To contradict a source is worse than to have none.",
            ),
        ),
    ),
    PromptOrigin(
        "testset_question",
        "Write a question from a passage, with a reference answer and its facts.",
        "[NG] for the facts, vital and okay; the rest is written for `mirage testset`",
        (
            _FENCED,
            _CUT,
            PromptDeparture(
                "The facts come with the question, each with a quote of its passage; the program writes nuggets of "
                "queries that exist.",
                "A quote that is not in its passage exposes an invented fact without another call.",
            ),
        ),
    ),
    PromptOrigin(
        "testset_check",
        "Which passages answer a question?",
        "[NM] for the two labels of a query; the text is written for `mirage testset`",
        (
            _FENCED,
            _CUT,
            PromptDeparture(
                "A model reads the passages; in NoMIRACL people do.",
                "Documents come without labels. An audit by people measures the model's error rate.",
            ),
        ),
    ),
)
"""Every prompt of `mirage/llm/prompts`."""
