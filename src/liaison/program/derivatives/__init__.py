"""Derivatives of the dynamics, as entries of a program."""
