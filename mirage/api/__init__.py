"""The public Python API: what `import mirage` exports.

    arena = mirage.open_arena("nomiracl")            # a bundled arena by name, or a folder
    mirage.rates(arena, languages=["sw"])            # hallucination and error rates
    ranking = mirage.rank(battles)                   # a data frame, rows, or a file of battles
    ranking.difference("a", "b"); ranking.tests      # intervals, and significant differences
    mirage.evaluate("answers.jsonl")                 # a file to a ranking: import, measure, judge, rank

Results print as ten lines of text, or as a table in a notebook; `to_pandas()` returns every row and column.
"""
