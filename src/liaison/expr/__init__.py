"""The room `expr`."""
