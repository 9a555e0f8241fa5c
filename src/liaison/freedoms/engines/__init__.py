"""Polynomial systems: ideals, Gröbner bases, external engines, certified roots."""
