"""Formats that others write, by name: what a record of each means for an arena.

    tables, summary = run.read(Path("answers.jsonl"), name="rag")

A format is one `Format` in the registry: it says how a file is recognised, and it hands what each record says to a
`Builder`, which makes ids, shares queries and passages across systems, finds languages and gathers errors. To add a
format: write a module with a `FORMAT`, and name the module in `registry.py`.
"""
