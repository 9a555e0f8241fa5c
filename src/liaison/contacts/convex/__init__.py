"""Convex bodies that touch: distance, penetration, and the points at which they touch."""
