"""The room `simulate`."""
