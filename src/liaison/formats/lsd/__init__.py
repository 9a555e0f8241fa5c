"""LSD, the text language for mechanisms."""
