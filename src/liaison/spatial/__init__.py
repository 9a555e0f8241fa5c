"""The room `spatial`."""
