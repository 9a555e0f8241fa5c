"""Equations of motion for reading: short, named, as text, LaTeX, pages."""
