"""The Ask page: the desk of an arena, and its answers as HTML."""
