"""LSD text to syntax tree: tokens, grammar, included files."""
