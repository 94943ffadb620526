"""File formats of other programs, and their mapping to an arena's tables.

    tables, summary = run.read(Path("answers.jsonl"), name="rag")

A format is one `Format` in the registry: it detects its files, and passes the content of each record to a
`Builder`, which makes ids, shares queries and passages across systems, finds languages and gathers errors. A
format of flat records is a table in `flat.toml`; any other is a module with a `FORMAT`, named in `registry.py`.
"""
