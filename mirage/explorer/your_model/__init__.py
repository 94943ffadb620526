"""The page Your system: its data, charts and texts."""
