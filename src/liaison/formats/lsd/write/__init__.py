"""A mechanism to LSD text."""
