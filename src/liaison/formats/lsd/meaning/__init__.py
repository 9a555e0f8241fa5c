"""Statements of LSD to parts of a mechanism, one file a kind of statement."""
