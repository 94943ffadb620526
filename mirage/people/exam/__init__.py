"""A judge's exam: agreement of each judge with people on the same battles.

    result = exam(arena, votes=log)                # ExamResult: one record per judge and language, people last
    result.exams[0].measures["agree"]              # value, 95% interval, n, queries, or the reason why there is none

People are voters, authors of imported verdicts, and raters of answers. The naming of the two systems is arbitrary, so
every figure counts a battle from both sides: it does not change when systems are renamed.
"""

from mirage.people.exam.measures import MEASURES
from mirage.people.exam.stage import ExamMeasure, ExamResult, JudgeExam, exam, examine
from mirage.stats.jackknife import Estimate

__all__ = [
    "MEASURES",
    "Estimate",
    "ExamMeasure",
    "ExamResult",
    "JudgeExam",
    "exam",
    "examine",
]
