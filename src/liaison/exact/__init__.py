"""Exact arithmetic: residues modulo a prime, series, intervals, balls; linear algebra over them."""
