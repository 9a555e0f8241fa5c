"""Verbs that derive equations of motion: for a run, for reading, for proofs."""
