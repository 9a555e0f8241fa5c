"""Recursions over a tree: accelerations, wrenches, articulated bodies."""
