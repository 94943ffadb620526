"""The page Your system."""
