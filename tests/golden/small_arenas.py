"""Three small arenas for the golden record, made from a fixed seed: with votes, with nuggets, with repeated answers.

    write_votes(folder), votes()         # three languages, five systems, two judges, people's votes and scores
    write_nuggets(folder)                # two languages that share queries, four whole systems, two assigners
    write_repeats(folder)                # three languages, four systems, further answers and further verdicts

Every text is made up here. Nothing depends on the order of sets or on the clock.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mirage import schema
from mirage.stages.features.spec import Tools
from mirage.stages.features.table import compute
from mirage.stages.outcomes.tables import outcomes
from mirage.store import writing
from mirage.store.arena import Arena

TOPICS = ("bridge", "river", "harvest", "lantern", "mountain", "library", "railway", "harbour")
SENTENCES = {
    "en": ("The {} was finished in {}.", "It stands north of the old town.", "Few people have written about it."),
    "de": ("Das Werk {} wurde {} beendet.", "Es steht nördlich der Altstadt.", "Nur wenige haben darüber geschrieben."),
    "sw": ("{} ilikamilika mwaka {}.", "Iko kaskazini mwa mji wa kale.", "Watu wachache wameandika kuihusu."),
    "fi": ("Kohde {} valmistui vuonna {}.", "Se on vanhankaupungin pohjoispuolella.", "Siitä on kirjoitettu vähän."),
    "hi": ("{} सन {} में पूरा हुआ।", "यह पुराने शहर के उत्तर में है।", "इसके बारे में कम लोगों ने लिखा है।"),
}
"""Three sentences of each language: the first is the answer, with a topic and a year."""
QUESTIONS = {
    "en": "When was the {} number {} finished?",
    "de": "Wann wurde das Werk {} Nummer {} beendet?",
    "sw": "{} namba {} ilikamilika lini?",
    "fi": "Milloin kohde {} numero {} valmistui?",
    "hi": "{} संख्या {} कब पूरा हुआ?",
}
VOTING = {"amber": 0.9, "basil": 0.75, "cedar": 0.6, "delta": 0.6, "ember": 0.3}
"""Systems of the arena with votes, and their strengths."""
REPEATING = {"first": 0.85, "second": 0.65, "third": 0.5, "fourth": 0.35}
"""Systems of the arena with repeated answers, and how often each decides correctly."""
Rows = dict[str, list[Any]]


def _question(code: str, k: int) -> str:
    return QUESTIONS[code].format(TOPICS[k % len(TOPICS)], k)


def _fact(code: str, k: int) -> str:
    return SENTENCES[code][0].format(TOPICS[k % len(TOPICS)], 1700 + 7 * k)


def _given(rows: Rows, code: str, k: int, *, passages: int = 4) -> bool:
    """Add a query with its passages, the first of them relevant; every fourth query has none. Return if any is."""
    query, answerable = f"q{k:02}", k % 4 != 3
    subset = "relevant" if answerable else "non_relevant"
    rows["queries"].append(
        schema.Query(language=code, query_id=query, subset=subset, text=_question(code, k), reason=None)
    )
    for position in range(1, passages + 1):
        relevant = answerable and position == 1
        other = SENTENCES[code][1 + (k + position) % 2]
        rows["passages"].append(
            schema.Passage(
                language=code,
                query_id=query,
                passage_id=f"d{k}#{position}",
                position=position,
                title=TOPICS[k % len(TOPICS)],
                text=f"{_fact(code, k)} {other}" if relevant else f"{_fact(code, k + 20 + position)} {other}",
                relevant=relevant,
            )
        )
    return answerable


def _answer(code: str, query: str, system: str, text: str, **more: Any) -> schema.Answer:
    fields = {"status": "ok", "template": None, "reason": None, "call": None} | more
    return schema.Answer(language=code, query_id=query, system=system, text=text, **fields)


def _write(folder: Path, rows: Rows, title: str, *, reference: str | None = None) -> Arena:
    tables = {name: schema.from_rows(name, entries) for name, entries in rows.items()}
    tables["outcomes"] = outcomes(tables["queries"], tables["answers"])
    others = {name: tables[name] for name in ("retrieved",) if name in tables}
    tables["features"] = compute(
        tables["queries"], tables["passages"], tables["answers"], tools=Tools(reference=reference), others=others
    )
    tables = {name: schema.sort(name, table) for name, table in tables.items()}
    return writing.write(folder, tables, title=title, label="simulated", made_by="the golden record")


# --- votes ------------------------------------------------------------------------------------------------------------

LANGUAGES = ("de", "en", "sw")
VOTED = 34
"""Queries of each language with votes."""


def _verdict(rng: np.random.Generator, systems: Mapping[str, float], a: str, b: str, *, lean: float) -> str:
    """Draw a verdict by the strengths of two systems; `lean` adds to the first one shown."""
    ahead = systems[a] - systems[b] + lean + 0.5 * rng.normal()
    return "tie" if abs(ahead) < 0.12 else "A" if ahead > 0 else "B"


def write_votes(folder: Path) -> Arena:
    """Write the arena that people vote on; `votes` are their votes."""
    rng = np.random.default_rng(11)
    rows: Rows = {name: [] for name in ("queries", "passages", "answers", "judgments", "scores")}
    for code, k in itertools.product(LANGUAGES, range(VOTED)):
        answerable, query = _given(rows, code, k), f"q{k:02}"
        for system, strength in VOTING.items():
            rows["answers"].append(_answer(code, query, system, _words(rng, code, k, strength, answerable=answerable)))
            rows["scores"] += _scores(rng, (code, query, system), strength)
        for a, b in itertools.combinations(VOTING, 2):
            for first, second in ((a, b), (b, a)):
                rows["judgments"] += _judgments(rng, (code, query), (first, second))
    return _write(folder, rows, "Small arena with votes", reference="amber")


def _words(rng: np.random.Generator, code: str, k: int, strength: float, *, answerable: bool) -> str:
    """Write an answer that cites passages by their ids, correct with a probability."""
    right = rng.random() < strength
    if answerable != right:
        return "I don't know." if rng.random() < 0.7 else SENTENCES[code][2]
    text = f"{_fact(code, k if right else k + 3)} [d{k}#{1 if right else 2}]"
    return f"{text} {SENTENCES[code][1]} [d{k}#3, d{k}#9]" if rng.random() < 0.5 else text


def _judgments(rng: np.random.Generator, where: tuple[str, str], pair: tuple[str, str]) -> Iterator[schema.Judgment]:
    """Return one verdict in words and one with points, the second judge leaning to the first answer shown."""
    for judge, lean in (("strict judge", 0.0), ("hasty judge", 0.25)):
        verdict = _verdict(rng, VOTING, *pair, lean=lean)
        share = {"A": 0.75, "B": 0.2, "tie": 0.5}[verdict] + 0.04 * rng.integers(5)
        if judge == "strict judge" and rng.random() < 0.02:
            verdict = "unparsed"
        yield schema.Judgment(
            language=where[0],
            query_id=where[1],
            judge=judge,
            system_a=pair[0],
            system_b=pair[1],
            verdict=verdict,  # type: ignore[arg-type]
            rationale=None,
            reason=None,
            call=None,
            points=round(float(share), 2) if judge == "hasty judge" else None,
            person=False,
        )


def _scores(rng: np.random.Generator, key: tuple[str, str, str], strength: float) -> Iterator[schema.Score]:
    """Return a program's score, and a person's for some answers."""
    value = round(float(np.clip(strength + 0.3 * rng.normal(), 0, 1)), 3)
    raters = [("checker", False, value)]
    if rng.random() < 0.55:
        raters.append(("nadia", True, round(float(np.clip(0.8 * value + 0.1 + 0.1 * rng.normal(), 0, 1)), 3)))
    for rater, person, score in raters:
        yield schema.Score(
            language=key[0],
            query_id=key[1],
            system=key[2],
            measure="faithfulness",
            rater=rater,
            person=person,
            value=score,
            low=0.0,
            high=1.0,
            reason=None,
        )


def votes() -> list[dict[str, Any]]:
    """Return people's votes on battles drawn at random: three voters, some battles with two votes."""
    rng = np.random.default_rng(12)
    rows = []
    for code, k in itertools.product(LANGUAGES, range(VOTED)):
        for a, b in itertools.combinations(VOTING, 2):
            if rng.random() < 0.45:
                continue
            said = _verdict(rng, VOTING, a, b, lean=0.0)
            for voter in ("amina", "bo", "chen"):
                if rng.random() < 0.45:
                    word = said if rng.random() < 0.8 else str(rng.choice(["A", "B", "tie", "both_bad", "skip"]))
                    names = {"system_a": a, "system_b": b, "verdict": word}
                    rows.append({"language": code, "query_id": f"q{k:02}", "voter": voter, **names})
    return rows


# --- nuggets ----------------------------------------------------------------------------------------------------------

PAIRED = ("en", "fi")
FACTED = 20
"""Queries of the arena with nuggets; both languages have the same ids."""
ASSIGNMENTS = ("support", "partial_support", "not_support")


def write_nuggets(folder: Path) -> Arena:
    """Write whole systems, two retrievers with two models each, whose answers state some of each query's nuggets."""
    rng = np.random.default_rng(13)
    names = ("queries", "passages", "retrieved", "answers", "nuggets", "nugget_assignments")
    rows: Rows = {name: [] for name in names}
    for code, k in itertools.product(PAIRED, range(FACTED)):
        answerable, query = _given(rows, code, k), f"q{k:02}"
        bank = [f"n{number}" for number in range(2 + k % 3)]
        for number, nugget in enumerate(bank):
            text = (_fact(code, k), *SENTENCES[code][1:], TOPICS[k % len(TOPICS)])[number]
            rows["nuggets"].append(
                schema.Nugget(
                    language=code,
                    query_id=query,
                    nugget_id=nugget,
                    text=text,
                    importance="vital" if number == 0 or (number == 1 and k % 2) else "okay",
                    passage_id=f"d{k}#1",
                    author="the golden record",
                )
            )
        for retriever, found in (("near", 0.8), ("far", 0.5)):
            shown = _retrieved(rng, rows, (code, query, retriever), k, hit=answerable and bool(rng.random() < found))
            for model, strength in (("large", 0.85), ("tiny", 0.5)):
                system = f"{model}+{retriever}"
                text = _words(rng, code, k, strength, answerable=f"d{k}#1" in shown)
                rows["answers"].append(_answer(code, query, system, text, retriever=retriever, depth=3, numbered=False))
                rows["nugget_assignments"] += _assignments(rng, (code, query, system), bank, strength)
    return _write(folder, rows, "Small arena with nuggets")


def _retrieved(rng: np.random.Generator, rows: Rows, key: tuple[str, str, str], k: int, *, hit: bool) -> Sequence[str]:
    """Add a retriever's list of a query, and return its top three passages."""
    ids = [f"d{k}#{position}" for position in (2, 3, 4)]
    order = [ids[place] for place in rng.permutation(3)]
    if hit:
        order.insert(int(rng.integers(3)), f"d{k}#1")
    rows["retrieved"] += [
        schema.Retrieved(
            language=key[0],
            query_id=key[1],
            retriever=key[2],
            passage_id=passage,
            rank=rank,
            score=round(10.0 / rank, 3),
            title=None,
            text=None,
        )
        for rank, passage in enumerate(order, start=1)
    ]
    return order[:3]


def _assignments(
    rng: np.random.Generator, key: tuple[str, str, str], bank: Sequence[str], strength: float
) -> Iterator[schema.NuggetAssignment]:
    for assigner, bias in (("careful", 0.0), ("generous", 0.2)):
        for nugget in bank:
            high = min(strength + bias, 0.95)
            assignment = str(rng.choice(ASSIGNMENTS, p=[high * 0.8, high * 0.2, 1 - high]))
            undecided = assigner == "generous" and rng.random() < 0.03
            yield schema.NuggetAssignment(
                language=key[0],
                query_id=key[1],
                system=key[2],
                nugget_id=nugget,
                assigner=assigner,
                assignment=None if undecided else assignment,  # type: ignore[arg-type]
                quote=None,
                reason="no decision in the reply" if undecided else None,
                call=None,
            )


# --- repeated answers -------------------------------------------------------------------------------------------------

REPEATED = ("en", "fi", "hi")
ASKED = 44
"""Queries of each language with repeated answers."""
FORMULAS = ("Yes, answer is present", "I don't know", "Yes, answer is present in context 1.", "Perhaps.")
"""Replies to the prompts of NoMIRACL; the last cannot be read."""


def write_repeats(folder: Path) -> Arena:
    """Write replies to a prompt of NoMIRACL, each asked three times, and a judge's verdicts, some of them repeated."""
    rng = np.random.default_rng(14)
    rows: Rows = {name: [] for name in ("queries", "passages", "answers", "samples", "judgments")}
    for code, k in itertools.product(REPEATED, range(ASKED)):
        answerable, query = _given(rows, code, k), f"q{k:02}"
        hard = 0.3 * rng.random()
        for system, strength in REPEATING.items():
            texts = [_reply(rng, max(strength - hard, 0.05), answerable=answerable) for _ in range(3)]
            rows["answers"].append(_answer(code, query, system, texts[0], template="vanilla"))
            rows["samples"] += [
                schema.SampledAnswer(
                    language=code,
                    query_id=query,
                    system=system,
                    sample=number,
                    text=text,
                    status="ok",
                    template="vanilla",
                    reason=None,
                )
                for number, text in enumerate(texts[1:], start=1)
            ]
        for a, b in itertools.combinations(REPEATING, 2):
            for pair, repeat in itertools.product(((a, b), (b, a)), (None, 1)):
                rows["judgments"].append(_repeated(rng, (code, query), pair, repeat))
    return _write(folder, rows, "Small arena with repeated answers")


def _reply(rng: np.random.Generator, strength: float, *, answerable: bool) -> str:
    right = rng.random() < strength
    if rng.random() < 0.04:
        return FORMULAS[3]
    return FORMULAS[2 * int(rng.random() < 0.3)] if answerable == right else FORMULAS[1]


def _repeated(
    rng: np.random.Generator, where: tuple[str, str], pair: tuple[str, str], repeat: int | None
) -> schema.Judgment:
    return schema.Judgment(
        language=where[0],
        query_id=where[1],
        judge="twice",
        system_a=pair[0],
        system_b=pair[1],
        verdict=_verdict(rng, REPEATING, *pair, lean=0.1),  # type: ignore[arg-type]
        rationale=None,
        reason=None,
        call=None,
        person=False,
        repeat=repeat,
    )
