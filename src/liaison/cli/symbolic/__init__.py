"""Commands on formulas: elimination by cases, standard bases, rewriting."""
