"""What leaves an arena for elsewhere: tables for papers, TREC's lines, a model's and a data set's card for the hub."""

from __future__ import annotations

from typing import Literal

Lines = Literal["trec_eval", "tot"]
"""Forms of the lines of TREC's programs."""
