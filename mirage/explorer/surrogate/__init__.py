"""The page Surrogate: its data, charts and texts."""
