"""Mobility near one position: ranks, series, obstructions."""
