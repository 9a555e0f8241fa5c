"""Commands that derive equations: derive, reduce, parametrizations, motors."""
