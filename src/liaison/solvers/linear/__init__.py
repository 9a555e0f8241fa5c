"""Linear systems and linear complementarity problems, as compiled loops."""
