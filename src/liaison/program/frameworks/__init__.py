"""Entries and time steps as functions of CasADi and JAX, which differentiate and optimise."""
