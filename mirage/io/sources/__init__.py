"""Readers of tables: one module per source, each a function from files to tables."""
