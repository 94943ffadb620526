"""The page Compare: its data, charts and texts."""
