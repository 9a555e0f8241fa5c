"""Verbs of studies: many runs with values that vary, stored and understood."""
