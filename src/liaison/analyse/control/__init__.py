"""Controllers: formulas for the inputs of a mechanism, and set-points for its coordinates."""
