"""Verbs that let a mechanism move: runs, batches, scenes, and pictures of a run."""
