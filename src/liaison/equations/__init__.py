"""The room `equations`: one function a formalism, all filling one contract."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "formalisms.boltzmann_hamel": "BoltzmannHamel boltzmann_hamel",
        "formalisms.dalembert": "Balance balance dalembert",
        "equations": "Chart Closures Dynamics Entries Equations EventFormula Kinematic Reports "
        "Side Sides Symbols",
        "formalisms.formalism": "Formalisms formalism",
        "formalisms.table": "FORMALISMS",
        "formalisms.gibbs_appell": "GibbsAppell gibbs_appell",
        "formalisms.hamilton": "Hamilton hamilton",
        "formalisms.kane": "Kane kane",
        "formalisms.lagrange": "lagrange",
        "formalisms.lagrange_reduced": "lagrange_reduced",
        "formalisms.lie_group": "LieGroup lie_group",
        "formalisms.maximal": "maximal",
        "formalisms.newton_euler": "newton_euler",
        "readable.rolling": "Rolling rolling_of",
        "transform.stabilized": "stabilized",
        "statement": "Line statement",
        "sweeps.recursions": "Recursion Sweep",
        "sweeps.sweeps": "Blocks Sweeps blocks_of sweeps",
        "transform.transform": "Reduced reduced transformed",
    },
)
