"""The room `equations`: one function a formalism, all filling one contract."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "balance": "Balance balance",
        "boltzmann_hamel": "BoltzmannHamel boltzmann_hamel",
        "dalembert": "dalembert",
        "equations": "Chart Closures Dynamics Entries Equations EventFormula Kinematic Reports "
        "Side Sides Symbols",
        "formalism": "Formalisms formalism",
        "formalisms": "FORMALISMS",
        "gibbs_appell": "GibbsAppell gibbs_appell",
        "hamilton": "Hamilton hamilton",
        "kane": "Kane kane",
        "lagrange": "lagrange",
        "lagrange_reduced": "lagrange_reduced",
        "lie_group": "LieGroup lie_group",
        "maximal": "maximal",
        "newton_euler": "newton_euler",
        "stabilized": "stabilized",
        "statement": "Line statement",
        "sweep_recursions": "Recursion Sweep",
        "sweeps": "Blocks Sweeps blocks_of sweeps",
        "transform": "Reduced reduced transformed",
    },
)
