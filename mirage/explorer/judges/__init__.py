"""The page Judges: its data, charts and texts."""
