"""Verbs that evaluate one quantity of a mechanism at one state."""
