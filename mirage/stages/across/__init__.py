"""Cross-lingual measures: passages in other languages than their query.

    recall_by_pair(arena)       # retrieval measures by language of the query and of the passage
    retriever_preference(arena) # share of a language among the first k, minus its share among the relevant passages
    system_preference(arena)    # share of a language among the cited passages, minus its share among the shown ones
    judge_consistency(arena)    # agreement of verdicts on the same battle in two languages
    system_consistency(arena)   # agreement of decisions and vital nuggets over parallel queries

A query that is asked in several languages has one id, and is one unit of every interval.
"""
