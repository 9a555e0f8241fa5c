"""Equations at the level of vectors and of matrices in a basis."""
