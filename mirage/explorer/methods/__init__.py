"""The page Methods: its data, charts and texts."""
