"""Analyses along a run."""
