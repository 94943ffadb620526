"""The page Features: its data, charts and texts."""
