"""Verbs that analyse a mechanism, a state of it, or a run."""
