"""The two papers: their printed figures beside an arena's (`printed.py`), and MIRAGE-Bench's results on any arena
(`reproduction.py`).
"""
