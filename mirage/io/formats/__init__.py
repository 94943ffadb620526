"""File formats of other programs, and their mapping to an arena's tables.

    tables, summary = run.read(Path("answers.jsonl"), name="rag")

A format is one `Format` in the registry: it detects its files, and passes the content of each record to a
`Builder`, which makes ids, shares queries and passages across systems, finds languages and gathers errors. To add a
format: write a module with a `FORMAT`, and name the module in `registry.py`.
"""
