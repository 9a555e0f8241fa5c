"""The user's own algebra: operators by their properties, rewriting rules, sheets of text."""
