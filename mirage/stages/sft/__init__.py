"""Training sets for answers with citations (MIRAGE-Bench, section 3.2).

A teacher has answered each query from only its relevant passages. The student's prompt also contains the non-relevant
ones, and the student learns to give the teacher's answer all the same, citing only the passages that support it.
Several teachers can be mixed in one set. A judge's verdicts give preference pairs.
"""

from typing import Literal

Mix = Literal["all", "one", "first"]
"""How several teachers are mixed. `all`: every usable answer is a conversation. `one`: one random usable answer per
query. `first`: the answer of the first teacher that has one.
"""
