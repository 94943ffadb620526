"""Retrieval: retrievers, their evaluation, and the attribution of failures to retriever or generator.

A system is a retriever with a generator (as in TREC). The passages that the papers give to every generator are those of
the retriever `given`.
"""
