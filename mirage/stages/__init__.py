"""One folder a stage of the pipeline, each from tables to tables; `stage.py` declares what a stage is."""
