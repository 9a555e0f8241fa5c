"""The room `analyse`: what can be said of a mechanism's motion with its equations at hand."""

from .reduce import Reduction, reduce

__all__ = ["Reduction", "reduce"]
