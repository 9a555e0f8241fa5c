"""liaison: constrained multibody dynamics, from a description to a moving picture."""
