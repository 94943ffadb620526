"""Exports of an arena: tables for papers, TREC files, a dataset for the Hugging Face Hub, one HTML report, charts."""
