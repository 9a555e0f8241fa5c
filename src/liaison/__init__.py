"""liaison: constrained multibody dynamics, from a description to a moving picture.

The public names are listed here, each once, and load when first used; nothing is defined here.
`__init__.pyi` says the same to type checkers.
"""

from .lazy import offer

__all__ = offer(
    __name__,
    {
        # describe
        "model": "Mechanism Body Marker Joint JointType Fixed Revolute Prismatic Helical "
        "Cylindrical Universal SphericalPin Spherical Planar PointOnLine LineOnPlane PointOnPlane "
        "Perpendicular ParallelAxes Rod Free Composition Translation Rotation Screw EulerZXZ "
        "BryantXYZ Quaternion RotationMatrix Box Cone Cylinder Line Mesh Sphere",
        "model.describe.describe": "ground body join mechanism parameter signal coordinate rate time turned "
        "gravity spring damper motor law wrench potential dissipation friction bearing imposed "
        "gear holonomic nonholonomic rolling at_most contact touch collision output event start",
        "model.friction": "Friction",
        "model.contacts": "CURVE PROFILE SURFACE",
        "formats.read": "read reading",
        "formats.lsd.write.write": "write_lsd",
        "formats.urdf.write": "write_urdf",
        "formats.notes": "Reading",
        "formats.urdf.read": "reading_of_urdf",
        "expr": "Expr Function Table PI symbol sqrt sin cos tan asin acos atan atan2 exp log "
        "absolute sign minimum maximum select piecewise to_text to_latex to_sympy",
        # derive, compile, simulate, show
        "tree": "Tree span assemble",
        "equations": "Equations FORMALISMS newton_euler dalembert balance lagrange "
        "lagrange_reduced hamilton kane boltzmann_hamel gibbs_appell lie_group maximal stabilized",
        "program": "Program Kernel to_numpy to_llvm to_c to_ptx to_gpu to_jax DeviceArray",
        "program.lower": "lower",
        "numeric": "State",
        "simulation": "Trajectory Run Runs Settings Projection Stepper load",
        "view": "plot save_plot",
        "corridor_view": "page show",
        # all of it at once
        "corridor": "simulate stepper check derive reduce compile mobility with_values with_starts "
        "assembly_modes inverse_kinematics singularities",
        "corridor_batch": "simulate_batch",
        "corridor_collide": "collide",
        "corridor_compare": "compare parametrizations",
        "corridor_levels": "vector_equations",
        "corridor_reading": "readable",
        "corridor_integrals": "first_integrals integrability",
        "analyse.along.attitude_along": "AttitudeAlong attitude_along",
        "analyse.along.joint_motion": "joint_motion",
        "analyse.proofs.linear_cases": "solve_linear",
        "analyse.proofs.massless": "massless_motions",
        "analyse.along.maximal_run": "maximal_run",
        "equations.formalisms.virtual_power": "virtual_power",
        "equations.transform.generation": "generation",
        "equations.motors.motorized": "motorized",
        "program.ggl": "ggl",
        "equations.motors.motor_coordinates": "motor_form",
        "freedoms": "Singularities AssemblyModes Mobility",
        "analyse.proofs.syzygies": "PolynomialPsi polynomial_psi",
        "analyse": "Reduction",
        "analyse.compare.compare": "Comparison",
        "analyse.along.contact_points": "ContactAlong contact_points",
        "analyse.proofs.deflate": "deflate",
        "corridor_analyse": "equilibrium linearize solutions verify sensitivities kinematic_run "
        "inverse_dynamics no_impact viscous convergence",
        "analyse.proofs.no_impact": "NoImpact",
        "analyse.rest.viscous": "Convergence",
        "summary": "Summary",
        "units": "Label",
        "errors": "LiaisonError TextError NamingError ModelError FrameError AssemblyError "
        "DerivationError ProgramError SimulationError",
    },
)
