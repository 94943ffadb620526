"""Where tables come from: one module a source, each a function from files to tables."""
