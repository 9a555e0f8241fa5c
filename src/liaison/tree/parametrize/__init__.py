"""Coordinates other than those of the spanning tree."""
