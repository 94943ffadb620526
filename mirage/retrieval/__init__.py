"""What systems were shown: who retrieved it, how good that was, and where an answer that is not right went wrong.

A system is a retriever with a generator (as in TREC). The passages of a query, as the papers give them to every
generator, are those of the retriever `given`.
"""

from mirage.shown import GIVEN, contexts, retrievers, shown

__all__ = ["GIVEN", "contexts", "retrievers", "shown"]
