"""The page Battle: its data, charts and texts."""
