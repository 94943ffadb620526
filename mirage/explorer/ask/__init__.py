"""The Ask page: data, and answers as HTML."""
