"""What every number means: one entry a term, with its formula and where it comes from. Text only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pkgutil import get_data

FORMULAS, INK = "formulas.json", "INK"
"""File of the formulas as SVG by their LaTeX (`docs/site/formulas.py` writes it); what stands for a colour there."""
MB = "MIRAGE-Bench, NAACL 2025 (arXiv 2410.13716)"
NM = "NoMIRACL, EMNLP 2024 Findings (arXiv 2312.11361)"


@dataclass(frozen=True, slots=True)
class Definition:
    """One term of the product."""

    term: str
    """The term, as pages and tables use it."""
    group: str
    """Heading it stands under."""
    meaning: str
    """What it is, in a few sentences of plain text."""
    formula: str
    """LaTeX, without the dollar signs; empty where words say it all."""
    source: str
    """Paper, section or table; ours where it is ours."""
    departure: str = ""
    """What we do differently from the source, and why."""

    def matches(self, words: str) -> bool:
        """Whether every word occurs somewhere in the entry, in any case."""
        text = " ".join((self.term, self.group, self.meaning, self.source, self.departure)).casefold()
        return all(word in text for word in words.casefold().split())


DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "Outcome",
        "Outcomes and rates",
        "What one answer amounts to. answered: it says that the passages hold the answer, or gives it. abstained: "
        "it says that they do not, or declines. clarification: it only asks back what is meant. unparsed: none of "
        "these can be made out. empty: white space only. api_error: the text is an error message of the "
        "service. missing: the source has no answer. Each outcome names the rule that "
        "decided and the span of the answer it rests on.",
        "",
        f"{NM}; nomiracl/prompts/template.py, VanillaTemplate.postprocess",
        "Two parsers are kept side by side: published reproduces the printed figures, strict corrects what the "
        "published rules misread (curly apostrophes, negations, quoted instructions, API errors, abstentions in "
        "other languages). The prompt decides the rules of strict: replies to NoMIRACL's prompts are read by its "
        "formulas, any other answer clause by clause, in 18 languages; there a claim outweighs a gap named beside it, "
        "also one from the system's own knowledge.",
    ),
    Definition(
        "Relevant and non-relevant subset",
        "Outcomes and rates",
        "A query is in the relevant subset when at least one of its passages was judged by a person to answer it, "
        "in the non-relevant subset when none was. On the first the right outcome is answered, on the second "
        "abstained.",
        "",
        f"{NM}",
    ),
    Definition(
        "Hallucination rate",
        "Outcomes and rates",
        "On the non-relevant subset: the share of the decided answers by which the system answers although no passage "
        "supports it. Lower is better. A cell without any decided answer has no rate.",
        r"\text{hallucination rate} = \frac{FP}{FP + TN}",
        f"{NM}",
        "The program of NoMIRACL (nomiracl/eval/metrics.py) writes a rate only where a correct answer also occurs, so "
        "a system that always answers is printed as 0.0%; here it is 100%. Its denominator counts invalid answers too.",
    ),
    Definition(
        "Error rate",
        "Outcomes and rates",
        "On the relevant subset: the share of the decided answers by which it abstains although a passage answers the "
        "query. Lower is better.",
        r"\text{error rate} = \frac{FN}{FN + TP}",
        f"{NM}",
    ),
    Definition(
        "Rate as published",
        "Outcomes and rates",
        "What the tables of the paper print: one minus accuracy, where every undecided answer counts as wrong. It "
        "mixes what a system decides with whether it can be read, so it is never shown alone: the undecided share "
        "stands beside it.",
        r"1 - \frac{\text{right outcomes}}{\text{answers present}}",
        f"{NM}, results of the 11 systems",
        "Most printed figures were rounded twice: accuracy to two decimals of a percent, the difference to one.",
    ),
    Definition(
        "Undecided share",
        "Outcomes and rates",
        "The share of the answers present whose outcome is neither answered nor abstained: it asks back, is unparsed, "
        "empty or an API error.",
        r"\frac{\text{clarification} + \text{unparsed} + \text{empty} + \text{API error}}{n - \text{missing}}",
        "ours",
    ),
    Definition(
        "Interval of a rate",
        "Outcomes and rates",
        "Wilson's score interval at 95%: it keeps its coverage near 0 and 1, where the textbook interval fails. The "
        "row all is the mean of the languages' rates, each language counting the same; its interval is Wilson's at "
        "the effective number of answers, the number at which one rate would vary as much as this mean of several "
        "does; what several languages share by its query id counts once.",
        r"\frac{\hat p + \frac{z^2}{2n} \pm z\sqrt{\frac{\hat p(1-\hat p)}{n} + \frac{z^2}{4n^2}}}{1 + \frac{z^2}{n}}, "
        r"\quad z = 1.96",
        "E. B. Wilson, JASA 22 (1927); for the mean: Dean and Pagano, J. Survey Statistics and Methodology 3 (2015)",
        "The papers print no intervals.",
    ),
    Definition(
        "Referee",
        "Ranking",
        "Whatever decides a battle: human relevance labels, an LLM judge, people's votes, a surrogate. The relevance "
        "referee uses no model: on each query, of every two systems the one whose outcome is right beats the one "
        "whose is not; otherwise they tie. An unreadable or empty answer is not right. A missing answer or an API "
        "error fights no battle.",
        "",
        "ours, from the labels of NoMIRACL",
    ),
    Definition(
        "Skill",
        "Ranking",
        "Which queries decide. abstain: the non-relevant ones. answer: the relevant ones. both: the two subsets, "
        "weighted equally whatever their sizes.",
        "",
        "ours",
    ),
    Definition(
        "Rating",
        "Ranking",
        "Bradley-Terry strength in logits, centred on 0. A tie is half a point for each, so that a difference of 1 "
        "means 73% of the expected points of a battle, which are not the odds of winning it: with ties dropped, or "
        "modelled by Davidson, a difference of 1 is 73% of the battles that do not tie, and the same systems lie "
        "further apart. Bias-reduced by Jeffreys' prior, which weighs as much as half a battle for each system and "
        "keeps a system finite that never lost or never won. The arena scale is 1000 plus 400 for each tenfold of "
        "the odds.",
        r"E(\text{points of } i \text{ against } j) = \frac{1}{1 + e^{\theta_j - \theta_i}}, "
        r"\qquad \sum_i \theta_i = 0",
        f"Bradley and Terry, Biometrika 39 (1952); Firth, Biometrika 80 (1993); {MB}",
        "MIRAGE-Bench drops ties and draws 100 matches for each of 200 tournaments, so its intervals measure that "
        "choice.",
    ),
    Definition(
        "Interval of a rating",
        "Ranking",
        "The query is the unit: each of 1,000 draws gives every query a random weight (the Bayesian bootstrap), "
        "the prior's points too, and fits the ratings anew. The ends are percentiles of the draws, expanded for the "
        "number of queries. Where the data puts no bound on a side there is no end. "
        "Battles on one query share its passages and difficulty; treating them as independent makes "
        "intervals too narrow.",
        r"\left[\hat\theta^*_{(\alpha')},\ \hat\theta^*_{(1-\alpha')}\right], \quad "
        r"\alpha' = \Phi\!\left(\sqrt{\tfrac{n}{n-1}}\; t_{0.025,\,n-1}\right)",
        "D. Rubin, Annals of Statistics 9 (1981); Fong, Lyddon and Holmes, ICML (2019); T. Hesterberg, The American "
        "Statistician 69 (2015)",
        "The program of MIRAGE-Bench draws as many queries as the user asks for (`--matches_per_tournament` of "
        "surrogate_judge/training_and_inference.py, 50 unless told otherwise). That of Chatbot Arena (FastChat, "
        "monitor/elo_analysis.py) draws battles, one by one.",
    ),
    Definition(
        "Rank interval",
        "Ranking",
        "The same percentiles of the rank over the draws. Where it spans several ranks, the data does not tell which "
        "of them the system holds.",
        "",
        "ours",
    ),
    Definition(
        "Tier",
        "Ranking",
        "Every two systems are tested over the queries: with the two ratings held equal, what each query pulls "
        "towards one of them, summed and divided by its standard error, the query being the unit. Where all pairs "
        "meet on every query this is the paired t test of the points they take on it. Holm's correction over all "
        "pairs keeps the chance that any two equal systems are separated at 5%. A tier is a run of the ranking whose "
        "systems are all separated from all systems of every other tier. It is not a group of equals: systems of one "
        "tier may differ, and some of them are separated; the column As good as names the ranks that a system is not "
        "separated from. A system with less than a quarter of the median system's battles has no tier of its own.",
        r"t = \frac{\sum_q u_q}{\sqrt{\frac{n}{n-1}\sum_q (u_q - \bar u)^2}}, \qquad "
        r"p_{(k)} \le \frac{0.05}{m - k + 1}",
        "S. Holm, Scandinavian Journal of Statistics 6 (1979); K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986)",
        "Leaderboards that read tiers off overlapping intervals separate too little, and correct for nothing.",
    ),
    Definition(
        "Pooled judges",
        "Ranking",
        "The battles of several judges counted together. Each verdict counts the same, so a judge that gave twice as "
        "many has twice the say; how many each gave is shown. What several judges say of one query is drawn "
        "together in every interval: more judges are not more queries. All judges of one maker can be left out, "
        "and every judge's verdicts on systems of its own maker.",
        "",
        "ours",
    ),
    Definition(
        "Consistent battles",
        "Ranking",
        "Only battles that were judged in both orders and whose two verdicts agree: the same system wins, or both are "
        "ties. A tie and a win do not agree. What was judged, or could be read, in one order only cannot be checked "
        "and is left out too; both are counted.",
        "",
        "ours",
    ),
    Definition(
        "Equal style",
        "Ranking",
        "Ratings as if the answers of a battle were alike in length, citations or language: these differences enter "
        "the likelihood beside the ratings, and both are fitted together. The coefficient says what a judge gives for "
        "each doubling of the length, each citation more, or the language asked for instead of another. A battle "
        "whose values are not all known is left out and counted. Where longer answers are longer because they are "
        "better, this takes from a system what it has earned.",
        r"P(i \text{ beats } j) = \frac{1}{1 + e^{-(\theta_i - \theta_j + \sum_k \beta_k (x_{ik} - x_{jk}))}}",
        "T. Li, A. Angelopoulos and W.-L. Chiang, Does style matter? (LMSYS 2024); Dubois et al., arXiv 2404.04475",
        "Length counts by its logarithm, and the query is the unit of every interval.",
    ),
    Definition(
        "All languages",
        "Ranking",
        "The joint rating is the plain mean of the languages' ratings, so every language counts the same, however far "
        "ahead a system is in it; its interval comes from joint draws. Comparisons and choices take the same mean. "
        "Where the data of one language puts no bound on a rating, the mean is open on that side, and the system and "
        "the language are named. A system without battles in one of the languages has no joint rating and is named. "
        "Queries with one id in several languages, such as translations, are one unit: they weigh the same in every "
        "draw and count once in every test.",
        r"\theta_i = \frac{1}{L}\sum_{l=1}^{L} \theta_{i,l}",
        "ours",
    ),
    Definition(
        "Unbounded rating",
        "Ranking",
        "The comparison graph has an arrow from i to j when i took points from j. Where it is not strongly "
        "connected, the likelihood has no maximum: some ratings could be raised without end. How far out they are "
        "shown is then the word of Jeffreys' prior, and the interval has no end on that side.",
        "",
        "L. R. Ford, The American Mathematical Monthly 64 (1957)",
        "The program of MIRAGE-Bench (leaderboard/bradley_terry.py) then takes choix's `opt_pairwise`, an estimate "
        "with a "
        "penalty of 1e-6, in place of `ilsr_pairwise`, and does not say so.",
    ),
    Definition(
        "Surrogate",
        "Surrogate",
        "A rating predicted from features of the answers alone, without a battle. A system's features are means over "
        "the queries where they have a value; where a system has a feature on under 10% of the queries of a "
        "language, nobody's is used there, and nothing is filled in. default picks a regressor by nested validation: "
        "for each system the one with the least error on the others, two being left out at a time.",
        r"\hat\theta_{s,l} = f_{-s}\!\left(\bar x_{s,l}\right)",
        f"{MB}, section 4.3, with a random forest a language",
        "Pooled ridge shrinks the languages' slopes to shared ones; pairwise learns verdicts from differences of two "
        "answers; answers learns the points of single answers by randomised trees. The published one and the other "
        "four of Table 3 stand beside them.",
    ),
    Definition(
        "Held-out error of a surrogate",
        "Surrogate",
        "Each system is left out in turn, of all languages and with all its battles: the ratings of the others are "
        "fitted anew without them. Kendall's tau-b, RMSE, R2 and the slope of the ratings on the predictions "
        "(1 is calibrated) are of these predictions. R2 of fewer than two systems is refused. Two regressors are "
        "compared by swapping their predictions of a system at random.",
        r"R^2 = 1 - \frac{\sum_s (\theta_s - \hat\theta_s)^2}{\sum_s (\theta_s - \bar\theta)^2}",
        "ours",
        "The paper holds two systems out, whose battles take part in the ratings of the others.",
    ),
    Definition(
        "Prediction interval",
        "Surrogate",
        "Where 95% of new systems lie around their prediction: Student's t times the root mean square of the errors on "
        "n left-out systems. On simulated arenas of 8 to 19 systems these intervals covered 92 to 97%.",
        r"\hat\theta \pm t_{0.975,\,n-1}\sqrt{\left(1 + \tfrac1n\right)\tfrac1n \sum_s (\theta_s - \hat\theta_s)^2}",
        "ours",
        "With fewer than 39 systems a conformal interval of 95% does not exist.",
    ),
    Definition(
        "Importance of a feature",
        "Surrogate",
        "Permutation: how much the squared error of left-out systems rises when each takes the feature's values from "
        "another system; 0 or less, and the prediction does without it. Ablation: Kendall's tau-b on left-out systems "
        "of fits with some of the features.",
        "",
        f"L. Breiman, Machine Learning 45 (2001); {MB}, Table 4 and Figure 5",
        "The program of MIRAGE-Bench reads the impurities of forests off the systems they were fitted to "
        "(leaderboard/regression.py), and ranks systems that were trained on. The features that order systems most "
        "alike are chosen anew without each left-out one.",
    ),
    Definition(
        "Target language and English",
        "Measures of an answer",
        "Probability that the answer, without citations and markers, is in the query's language, and that it is in "
        "English, among the 18 languages, or for another language among all that the detector knows. Null where the "
        "text has no letters or no language reaches 0.5. An answer in "
        "the wanted form (“Yes, answer is present”) is English whatever the query's language.",
        "",
        f"{MB}; py3langid",
        "The paper names langid, its program (evaluate/language_detection.py) uses langdetect, and lingua for Yoruba. "
        "One detector covers all languages here, "
        "chosen by "
        "measured accuracy: 99.9% on whole passages, 99.5% on their first 80 characters (1,000 Wikipedia passages a "
        "language).",
    ),
    Definition(
        "Citations",
        "Measures of an answer",
        "How many different passages the answer cites: ids in square brackets, several to a bracket, or, where the "
        "prompt "
        "numbered its passages, numbers and forms such as “context 3”. A number that is not among the passages is "
        "kept as unknown.",
        "",
        "ours, after MIRAGE-Bench",
    ),
    Definition(
        "Agreement with the reference",
        "Measures of an answer",
        "A chat model's grade of the answer against the reference system's answer, from 1 to 5: 1 does not agree, is "
        "off "
        "the subject or made up, 2 says that it cannot answer, 3 relevant with notable errors, 4 acceptable, 5 fully "
        "accurate. The model sees query, passages and both answers. A grade that cannot be read is null.",
        "",
        f"{MB}, Figure 11",
        "The paper names GPT-4's answer as the reference. One script of its program "
        "(evaluation/answer_llm_judge_multigpu.py) compares with the answer of the system that stands last in the "
        "file. "
        "The section Prompts lists how the prompt departs.",
    ),
    Definition(
        "Fluency",
        "Measures of an answer",
        "A chat model's grade of how coherent an answer is, from 1 to 5: well structured, building from sentence to "
        "sentence to a coherent whole, and covering the points needed to answer the query. The model sees query, "
        "passages and the whole answer. A grade that cannot be read is null.",
        "",
        f"{MB}, Figure 12",
        "The paper's text calls it grammatical correctness and idiomatic words; its prompt, which made the numbers, "
        "asks "
        "for coherence, and so does this. The section Prompts lists how the prompt departs.",
    ),
    Definition(
        "Length",
        "Measures of an answer",
        "Number of characters (Unicode code points) of the raw answer.",
        "",
        "ours",
    ),
    Definition(
        "Published figure",
        "Published figures",
        "A number printed in a paper, kept as a fact with the place it was read from. It is labelled wherever it is "
        "shown. The ranks of MIRAGE-Bench's Figure 4 come without intervals: the ratings behind them could not be "
        "read.",
        "",
        f"{NM}; {MB}",
    ),
)
"""Every definition, in the order in which the page shows them."""


@cache
def _svgs() -> dict[str, str]:
    svgs: dict[str, str] = json.loads(get_data("mirage.explorer.kit", FORMULAS) or b"{}")
    return svgs


def formula_svg(formula: str, color: str) -> str:
    """A formula of a definition as SVG.

    Args:
        formula: its LaTeX, as the definition has it.
        color: of its signs.
    """
    return _svgs()[formula].replace(INK, color)
