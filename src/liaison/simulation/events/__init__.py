"""Events: sign changes of formulas located inside a step."""
