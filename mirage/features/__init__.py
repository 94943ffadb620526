"""Cheap measures of an answer, one file a family."""
