"""Rewriting rules of formal expressions, and the normal forms they lead to."""
