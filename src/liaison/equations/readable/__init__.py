"""Equations of motion for people: short, named, as text, LaTeX, pages."""
