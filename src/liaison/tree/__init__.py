"""The room `tree`."""
