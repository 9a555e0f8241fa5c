"""Formulas for reading: simplification, and printers of text, LaTeX, MathML and SymPy."""
