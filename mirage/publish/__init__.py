"""Exports of an arena: tables for papers, TREC files, model and dataset cards for the Hugging Face Hub."""

from __future__ import annotations

from typing import Literal

Lines = Literal["trec_eval", "tot"]
"""TREC line formats."""
