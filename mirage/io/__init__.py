"""Files in: one registry of formats, public sources, and the import of both into tables."""
