"""The pleasant way to write mechanisms in Python."""
