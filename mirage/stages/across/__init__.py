"""Cross-lingual measures: passages in other languages than their query, and queries asked in several languages.

A query asked in several languages has one id and is one sampling unit.
"""
