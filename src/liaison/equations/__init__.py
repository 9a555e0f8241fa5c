"""The room `equations`."""
