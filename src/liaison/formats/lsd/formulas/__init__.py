"""Formulas of LSD: names, units, functions, and their values."""
