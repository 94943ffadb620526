"""Answer generation from queries and passages, by a model or by baselines without one.

`settings.py` has the settings, `prepare.py` builds the prompts, `baselines.py` defines the baselines, `stage.py`
answers the queries of an arena by a model or a RAG service, whose passages it stores.
"""
