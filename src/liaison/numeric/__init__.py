"""The room `numeric`."""
