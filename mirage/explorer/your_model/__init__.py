"""The page Your model: its data, charts and texts."""
