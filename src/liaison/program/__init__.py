"""The room `program`."""
