"""Unilateral rows of mechanisms of many bodies, as loops over their nodes."""
