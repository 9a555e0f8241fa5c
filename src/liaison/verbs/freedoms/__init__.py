"""Verbs about what closures leave free: mobility, assembly, reach, singular positions."""
