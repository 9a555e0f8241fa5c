"""Sample mechanisms for all tests: drawn at random from a seed, and parametric families."""

from .chains import chain
from .derived import Solved, solved
from .drawing import Sample, draw, sample
from .numbers import KKT_LIMIT, relative_difference, some

__all__ = [
    "KKT_LIMIT",
    "Sample",
    "Solved",
    "chain",
    "draw",
    "relative_difference",
    "sample",
    "solved",
    "some",
]
