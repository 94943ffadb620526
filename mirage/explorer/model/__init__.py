"""The page Model: its data."""
