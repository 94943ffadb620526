"""The page Hallucination: its data, charts and texts."""
