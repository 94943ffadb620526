"""Definitions of all terms, with formulas and sources."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pkgutil import get_data

FORMULAS, INK = "formulas.json", "INK"
"""File of the formulas as SVG by their LaTeX (written by `docs/site/formulas.py`), and its colour placeholder."""
MB = "MIRAGE-Bench, NAACL 2025 (arXiv 2410.13716)"
NM = "NoMIRACL, EMNLP 2024 Findings (arXiv 2312.11361)"


@dataclass(frozen=True, slots=True)
class Definition:
    """One term of the product."""

    term: str
    """The term, as pages and tables use it."""
    group: str
    """Heading of its group."""
    meaning: str
    """Definition in a few sentences of plain text."""
    formula: str
    """LaTeX without dollar signs; empty without a formula."""
    source: str
    """Paper, section or table; `ours` for our own."""
    departure: str = ""
    """Departures from the source, with reasons."""

    def matches(self, words: str) -> bool:
        """Return whether every word occurs in the entry, ignoring case."""
        text = " ".join((self.term, self.group, self.meaning, self.source, self.departure)).casefold()
        return all(word in text for word in words.casefold().split())


DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "Outcome",
        "Outcomes and rates",
        "What one answer does. answered: it says that the passages hold the answer, or gives it. abstained: it says "
        "that they do not, or declines. clarification: it asks what is meant. unparsed: none of these. empty: white "
        "space only. api_error: a service error message. missing: no answer in the source. Each outcome names the "
        "rule and the text span that decided it.",
        "",
        f"{NM}; nomiracl/prompts/template.py, VanillaTemplate.postprocess",
        "Two parsers are available. published reproduces the printed figures. strict corrects its misreadings: curly "
        "apostrophes, negations, quoted instructions, API errors, abstentions in other languages. strict reads "
        "answers to NoMIRACL's prompts by their formulas, and other answers clause by clause in 18 languages. A "
        "claim outweighs an admitted gap, even if it comes from the system's own knowledge.",
    ),
    Definition(
        "Relevant and non-relevant subset",
        "Outcomes and rates",
        "A query is relevant if people labelled at least one of its passages as answering it, else non-relevant. The "
        "correct decision is to answer relevant queries and to abstain on non-relevant queries.",
        "",
        f"{NM}",
    ),
    Definition(
        "Hallucination rate",
        "Outcomes and rates",
        "Share of decided answers to non-relevant queries in which the system answers although no passage does. "
        "Lower is better. Undefined without decided answers.",
        r"\text{hallucination rate} = \frac{FP}{FP + TN}",
        f"{NM}",
        "NoMIRACL's program (nomiracl/eval/metrics.py) prints 0.0% for a system that always answers, because it "
        "needs a correct answer to compute a rate; here it is 100%. Its denominator includes invalid answers.",
    ),
    Definition(
        "Error rate",
        "Outcomes and rates",
        "Share of decided answers to relevant queries in which the system abstains although a passage answers the "
        "query. Lower is better.",
        r"\text{error rate} = \frac{FN}{FN + TP}",
        f"{NM}",
    ),
    Definition(
        "Rate as published",
        "Outcomes and rates",
        "The rate in the paper's tables: one minus accuracy, with every undecided answer counted as a wrong decision. "
        "It mixes decisions with readability, so the undecided share is always shown with it.",
        r"1 - \frac{\text{correct decisions}}{\text{answers present}}",
        f"{NM}, results of the 11 systems",
        "Most printed figures were rounded twice: accuracy to two decimals, then the difference to one.",
    ),
    Definition(
        "Undecided share",
        "Outcomes and rates",
        "Share of answers that neither answer nor abstain: clarification questions, unparsed, empty or API errors.",
        r"\frac{\text{clarification} + \text{unparsed} + \text{empty} + \text{API error}}{n - \text{missing}}",
        "ours",
    ),
    Definition(
        "Interval of a rate",
        "Outcomes and rates",
        "Wilson's score interval at 95%, which keeps its coverage near 0 and 1. The row all is the unweighted mean "
        "over languages; its interval is Wilson's at the effective number of answers. Queries shared by several "
        "languages count once.",
        r"\frac{\hat p + \frac{z^2}{2n} \pm z\sqrt{\frac{\hat p(1-\hat p)}{n} + \frac{z^2}{4n^2}}}{1 + \frac{z^2}{n}}, "
        r"\quad z = 1.96",
        "E. B. Wilson, JASA 22 (1927); for the mean: Dean and Pagano, J. Survey Statistics and Methodology 3 (2015)",
        "The papers print no intervals.",
    ),
    Definition(
        "Judge",
        "Ranking",
        "Decides battles: relevance labels, nugget scores, an LLM judge, people's votes or a surrogate. With relevance "
        "labels no model is used: a correct decision to answer or abstain beats a wrong one; otherwise the battle is a "
        "tie. Unparsed and empty answers are not correct decisions. Missing answers and API errors are excluded. With "
        "nuggets the answer that states the greater share of the vital nuggets in full wins, and equal shares tie; a "
        "query without vital nuggets, or an answer with an unassigned one, has no battle.",
        "",
        "ours, from the labels of NoMIRACL",
    ),
    Definition(
        "Skill",
        "Ranking",
        "Which queries count. abstain: non-relevant queries. answer: relevant queries. both: both subsets, weighted "
        "equally.",
        "",
        "ours",
    ),
    Definition(
        "Rating",
        "Ranking",
        "Bradley-Terry strength in logits, centred on 0. A tie counts half a win, so a difference of 1 logit means "
        "73% of the expected points of a battle. With ties dropped or modelled (Davidson), it means 73% of decided "
        "battles. Jeffreys' prior reduces bias and keeps ratings finite for systems that never lose or never win; it "
        "weighs half a battle per system. Arena scale: 1000 plus 400 per tenfold odds.",
        r"E(\text{points of } i \text{ against } j) = \frac{1}{1 + e^{\theta_j - \theta_i}}, "
        r"\qquad \sum_i \theta_i = 0",
        f"Bradley and Terry, Biometrika 39 (1952); Firth, Biometrika 80 (1993); {MB}",
        "MIRAGE-Bench drops ties and samples 100 matches for each of 200 tournaments, so its intervals depend on "
        "that number.",
    ),
    Definition(
        "Interval of a rating",
        "Ranking",
        "Bayesian bootstrap over queries: 1,000 draws of random query weights, each with a new fit. The interval is "
        "the percentile interval, expanded for the number of queries. A side without a bound in the data is open. "
        "Battles on one query share passages and difficulty, so treating them as independent makes intervals too "
        "narrow.",
        r"\left[\hat\theta^*_{(\alpha')},\ \hat\theta^*_{(1-\alpha')}\right], \quad "
        r"\alpha' = \Phi\!\left(\sqrt{\tfrac{n}{n-1}}\; t_{0.025,\,n-1}\right)",
        "D. Rubin, Annals of Statistics 9 (1981); Fong, Lyddon and Holmes, ICML (2019); T. Hesterberg, The American "
        "Statistician 69 (2015)",
        "MIRAGE-Bench draws a user-defined number of queries (`--matches_per_tournament` of "
        "surrogate_judge/training_and_inference.py, default 50). Chatbot Arena (FastChat, monitor/elo_analysis.py) "
        "resamples single battles.",
    ),
    Definition(
        "Rank interval",
        "Ranking",
        "On the Leaderboard, the ranks compatible with the tests between systems (see Tier): from one plus the "
        "number of significantly better systems to the number of systems that are not significantly worse. Intervals "
        "are jointly valid for all systems at 95%. Files and `mirage rank` also have `rank_low` and `rank_high`, "
        "percentiles of the rank over "
        "the draws of the ratings, for one system at a time.",
        "",
        "M. Mogstad, J. Romano, A. Shaikh and D. Wilhelm, Review of Economic Studies 91 (2024)",
    ),
    Definition(
        "Tier",
        "Ranking",
        "Every pair of systems is tested over queries by a score test, clustered by query; with complete data this "
        "is the paired t test. Holm's correction over all pairs bounds the family-wise error at 5%. A tier is a run "
        "of the ranking whose systems are all significantly different from all systems of other tiers. Systems of "
        "one tier may differ; the column As good as lists the ranks not significantly different. A system with less "
        "than a quarter of the median number of battles gets no tier.",
        r"t = \frac{\sum_q u_q}{\sqrt{\frac{n}{n-1}\sum_q (u_q - \bar u)^2}}, \qquad "
        r"p_{(k)} \le \frac{0.05}{m - k + 1}",
        "S. Holm, Scandinavian Journal of Statistics 6 (1979); K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986)",
        "Leaderboards that derive tiers from overlapping intervals separate too few systems and do not correct for "
        "multiple tests.",
    ),
    Definition(
        "Pooled judges",
        "Ranking",
        "Battles of several judges counted together, each verdict equally; the number per judge is shown. Verdicts "
        "on one query are resampled together: more judges are not more queries. One maker's judges, or verdicts on a "
        "judge's own family, can be excluded.",
        "",
        "ours",
    ),
    Definition(
        "Consistent battles",
        "Ranking",
        "Battles judged in both orders with the same result: the same winner, or two ties. Battles judged or parsed "
        "in one order only are excluded and counted.",
        "",
        "ours",
    ),
    Definition(
        "Equal style",
        "Ranking",
        "Ratings adjusted for length, citations or language of the answers: the differences enter the likelihood and "
        "are fitted with the ratings. Each coefficient is a judge's preference for a doubled length, one more "
        "citation, or the requested language. Battles with missing values are excluded and counted. If longer "
        "answers are better because they are longer, this removes part of a system's merit.",
        r"P(i \text{ beats } j) = \frac{1}{1 + e^{-(\theta_i - \theta_j + \sum_k \beta_k (x_{ik} - x_{jk}))}}",
        "T. Li, A. Angelopoulos and W.-L. Chiang, Does style matter? (LMSYS 2024); Dubois et al., arXiv 2404.04475",
        "Length enters as its logarithm; intervals are clustered by query.",
    ),
    Definition(
        "All languages",
        "Ranking",
        "The joint rating is the unweighted mean over languages, with intervals from joint draws. Comparisons and "
        "choices use the same mean. If a rating is unbounded in one language, the mean is open on that side. A "
        "system without battles in one of the languages has no joint rating. Queries with one id in several "
        "languages, such as translations, are one unit in draws and tests.",
        r"\theta_i = \frac{1}{L}\sum_{l=1}^{L} \theta_{i,l}",
        "ours",
    ),
    Definition(
        "Unbounded rating",
        "Ranking",
        "The comparison graph has an edge from i to j if i took points from j. Unless it is strongly connected, the "
        "likelihood has no maximum and some ratings can grow without bound. The estimate then depends on Jeffreys' "
        "prior, and the interval is open on that side.",
        "",
        "L. R. Ford, The American Mathematical Monthly 64 (1957)",
        "MIRAGE-Bench (leaderboard/bradley_terry.py) then silently uses choix's `opt_pairwise` with a penalty of "
        "1e-6 in place of `ilsr_pairwise`.",
    ),
    Definition(
        "Surrogate",
        "Surrogate",
        "A rating predicted from features of the answers, without battles. System features are means over queries "
        "with a value; a feature with values on under 10% of a system's queries is dropped for that language; "
        "nothing is imputed. default selects a regressor by nested leave-two-out validation.",
        r"\hat\theta_{s,l} = f_{-s}\!\left(\bar x_{s,l}\right)",
        f"{MB}, section 4.3, with a random forest per language",
        "Pooled ridge shrinks the languages' slopes to shared slopes; pairwise learns verdicts from feature "
        "differences; answers learns single-answer scores with randomised trees. The published regressor and the "
        "other four of Table 3 are included.",
    ),
    Definition(
        "Held-out error of a surrogate",
        "Surrogate",
        "Each system is left out in turn, in all languages and with all its battles, and the other ratings are "
        "refitted. Kendall's tau-b, RMSE, R2 and the calibration slope are computed on these predictions. R2 needs "
        "two systems. Regressors are compared by randomly swapping their predictions.",
        r"R^2 = 1 - \frac{\sum_s (\theta_s - \hat\theta_s)^2}{\sum_s (\theta_s - \bar\theta)^2}",
        "ours",
        "The paper holds out two systems, but their battles still influence the ratings of the others.",
    ),
    Definition(
        "Prediction interval",
        "Surrogate",
        "Range that contains 95% of new systems around their prediction: Student's t times the RMSE on n left-out "
        "systems. Coverage on simulated arenas of 8 to 19 systems: 92 to 97%.",
        r"\hat\theta \pm t_{0.975,\,n-1}\sqrt{\left(1 + \tfrac1n\right)\tfrac1n \sum_s (\theta_s - \hat\theta_s)^2}",
        "ours",
        "A 95% conformal interval needs at least 39 systems.",
    ),
    Definition(
        "Importance of a feature",
        "Surrogate",
        "Permutation: increase of the squared error of left-out systems when a feature's values come from another "
        "system; 0 or less: not needed. Ablation: Kendall's tau-b on left-out systems with subsets of features.",
        "",
        f"L. Breiman, Machine Learning 45 (2001); {MB}, Table 4 and Figure 5",
        "MIRAGE-Bench reads forest impurities from systems seen in training (leaderboard/regression.py) and ranks "
        "them too. Here, feature selection is repeated for each left-out system.",
    ),
    Definition(
        "Target language and English",
        "Measures of an answer",
        "Probability that the answer, without citations and markers, is in the query's language, and that it is in "
        "English. Null for texts without letters or if no language reaches 0.5. The prescribed form (“Yes, answer is "
        "present”) is English in every language.",
        "",
        f"{MB}; py3langid",
        "The paper names langid; its program (evaluate/language_detection.py) uses langdetect, and lingua for "
        "Yoruba. Here one detector covers all languages: 99.9% accuracy on whole passages, 99.5% on their first 80 "
        "characters (1,000 Wikipedia passages per language).",
    ),
    Definition(
        "Citations",
        "Measures of an answer",
        "Number of different passages cited: ids in square brackets or, with numbered passages, numbers and forms "
        "such as “context 3”. A number not in the list is kept as unknown.",
        "",
        "ours, after MIRAGE-Bench",
    ),
    Definition(
        "Agreement with the reference",
        "Measures of an answer",
        "Grade from 1 to 5 by a chat model for agreement with the reference system's answer: 1 disagrees, off-topic "
        "or made up; 2 says that it cannot answer; 3 relevant with notable errors; 4 acceptable; 5 fully accurate. "
        "The model sees the query, passages and both answers. Unreadable grades are null.",
        "",
        f"{MB}, Figure 11",
        "The paper names GPT-4's answer as reference. One of its scripts (evaluation/answer_llm_judge_multigpu.py) "
        "compares with the last system in the file. Differences between the prompts are listed under Prompts.",
    ),
    Definition(
        "Fluency",
        "Measures of an answer",
        "Grade from 1 to 5 by a chat model for coherence: well structured, coherent from sentence to sentence, and "
        "covering the points needed. The model sees the query, passages and whole answer. Unreadable grades are null.",
        "",
        f"{MB}, Figure 12",
        "The paper's text describes grammatical correctness and idiomatic words; its prompt asks for coherence, and "
        "so does ours. Differences between the prompts are listed under Prompts.",
    ),
    Definition(
        "Length",
        "Measures of an answer",
        "Number of Unicode code points of the raw answer.",
        "",
        "ours",
    ),
    Definition(
        "Corrected level",
        "People's labels",
        "Estimated mean of people's labels on all answers, from labels y on a random sample and programs' predictions "
        "f on every answer. Valid for any predictions; their quality affects only the width. A language with fewer "
        "than 10 labels of a system borrows the error of the others if a test with enough power finds no difference "
        "between labelled languages. Otherwise it is not checked.",
        r"\lambda\,\overline{f} + \overline{(y - \lambda f)}",
        "Angelopoulos, Duchi and Zrnic, arXiv 2311.01453 (PPI++); interval: ours",
        "f is fitted on other queries than those it is applied to. The interval is Wilson's at the number of labels "
        "at which a proportion would vary as much, with the query as the unit.",
    ),
    Definition(
        "Language preference",
        "Languages of passages",
        "How much a retriever or a system favours passages in a language. Retriever: the language's share of its "
        "first k passages, minus its share of the relevant passages of the same query. System: its share of the cited "
        "passages, minus its share of those shown, within relevance classes. Mean over queries, "
        "then over their languages; a query with one id in several languages is one unit. Significant at 5% over all "
        "languages of one retriever or system.",
        r"\operatorname{pref}_k(l) = \frac{1}{|Q|} \sum_{q \in Q} \left( \frac{n_k(q, l)}{n_k(q)} - "
        r"\frac{r(q, l)}{r(q)} \right)",
        "ours; interval: Wilson at the variance over units, with a t quantile; significance: Holm",
    ),
    Definition(
        "Published figure",
        "Published figures",
        "A number printed in a paper, with its source; labelled wherever it is shown. The ranks of MIRAGE-Bench's "
        "Figure 4 have no intervals, because the underlying ratings are not printed.",
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
    """Return a formula of a definition as SVG.

    Args:
        formula: its LaTeX, as the definition has it.
        color: text colour.
    """
    return _svgs()[formula].replace(INK, color)
