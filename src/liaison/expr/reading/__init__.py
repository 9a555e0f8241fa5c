"""Formulas for people: simplification, and printers of text, LaTeX, MathML and SymPy."""
