"""The page Methods: its sections."""
