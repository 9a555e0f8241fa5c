"""liaison: constrained multibody dynamics, from a description to a moving picture.

The public names are listed here, each once, and load when first used; nothing is defined here.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "corridor": "simulate check derive compile with_values with_starts",
        "formats": "read",
        "errors": "LiaisonError TextError NamingError ModelError FrameError AssemblyError "
        "DerivationError ProgramError SimulationError",
        "units": "Label",
        "model": "Mechanism Body Marker Joint ground body join mechanism",
        "tree": "Tree span assemble",
        "equations": "Equations newton_euler lagrange maximal",
        "program": "Program Kernel lower to_numpy to_llvm to_c",
        "simulate": "Trajectory stepper load",
        "view": "plot page show save_plot",
    },
)
