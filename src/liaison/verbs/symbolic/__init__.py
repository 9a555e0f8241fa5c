"""Verbs on formulas: elimination by cases, standard bases, Ψ of a mechanism, rewriting."""
