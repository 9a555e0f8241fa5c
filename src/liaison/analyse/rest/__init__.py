"""Equilibrium, linearization, and solutions of the constrained system at a state."""
