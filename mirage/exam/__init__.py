"""A judge's exam: its verdicts beside people's on the same battles.

    result = exam(arena, votes=log)                # JudgeExam, a record a judge and language; people are the last
    result.exams[0].measures["agree"]              # value, 95% interval, n, queries, or the reason why there is none
    result.choices[0].sentence                     # which judge for which language, with the evidence

People are who voted, whose verdicts came with a file, and who scored answers. Which of two systems is called the first
says nothing, so every figure counts a battle from both sides: it does not change when systems are renamed.
"""

from mirage.exam.measures import MEASURES, Measure
from mirage.exam.records import Estimate, ExamMeasure, ExamResult, JudgeChoice, JudgeExam, PanelWorth
from mirage.exam.stage import exam, examine

__all__ = [
    "MEASURES",
    "Estimate",
    "ExamMeasure",
    "ExamResult",
    "JudgeChoice",
    "JudgeExam",
    "Measure",
    "PanelWorth",
    "exam",
    "examine",
]
