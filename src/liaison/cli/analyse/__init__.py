"""Commands about one state: equilibrium, linearize, solutions."""
