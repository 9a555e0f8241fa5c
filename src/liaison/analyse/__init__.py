"""The room `analyse`: what can be said of a mechanism's motion with its equations at hand."""

from .reduce import Reduction, reduce
from .singularities import RankAlong, RankLoss, rank_along

__all__ = ["RankAlong", "RankLoss", "Reduction", "rank_along", "reduce"]
