"""Formulas as an interned graph: nodes, operations, rewriting rules, derivatives, evaluation."""
