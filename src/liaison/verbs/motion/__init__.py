"""Verbs that simulate a mechanism: runs, batches, scenes, and views of a run."""
