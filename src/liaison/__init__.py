"""liaison: constrained multibody dynamics, from a description to a moving picture.

The public names are listed here, each once, and load when first used; only the version is here.
Verbs are listed by their files in `verbs`. Names that hide some of Python's own (`time`, `compile`,
`reduce`) are not in `__all__`, but have others: `t`, `to_kernel`, `reduction`. `__init__.pyi`, made
by `make tree`, says the same to type checkers.
"""

from liaison.verbs.registry import verb_table

from .lazy import offer

__version__ = "0.2.0"

__all__ = offer(
    __name__,
    {
        # describe
        "model": "Mechanism Body Marker Joint JointType Fixed Revolute Prismatic Helical "
        "Cylindrical Universal SphericalPin Spherical Planar PointOnLine LineOnPlane "
        "PointOnPlane Perpendicular ParallelAxes Rod RodByAngles Free Composition Translation "
        "Rotation Screw EulerZXZ BryantXYZ Quaternion RotationMatrix Box Capsule Cone Cylinder "
        "HeightField Hull Line Mesh Sphere",
        "model.describe": "ground body join mechanism parameter signal coordinate rate "
        "time t turned gravity spring dead_zone_spring damper motor servo pid memory balanced "
        "armature law wrench potential dissipation friction bearing imposed gear holonomic "
        "nonholonomic rolling at_most stops contact touch collision output event start guess",
        "model.contacts.friction": "Friction",
        "model.contacts": "CURVE PROFILE SURFACE",
        "formats.read": "read reading",
        "formats.lsd.write.write": "write_lsd",
        "formats.urdf.write": "write_urdf",
        "formats.guard": "Reading",
        "formats.examples": "Example Examples examples",
        "formats.urdf.read": "reading_of_urdf",
        "expr": "Expr Function Table PI symbol sqrt sin cos tan asin acos atan atan2 exp log "
        "absolute sign minimum maximum select piecewise to_text to_latex to_sympy",
        # derive, compile, simulate, show
        "tree": "Tree span assemble",
        "equations": "Equations FORMALISMS newton_euler dalembert balance lagrange "
        "lagrange_reduced hamilton kane boltzmann_hamel gibbs_appell lie_group maximal "
        "stabilized",
        "program": "Program Kernel to_numpy to_llvm to_c to_ptx to_gpu to_wasm DeviceArray",
        "program.lower": "lower",
        "numeric": "State",
        "simulation": "Trajectory Run Runs RunOptions Settings Projection Stepper "
        "StepDerivatives Worlds load",
        "view": "plot save_plot",
        "studies": "Study Indices",
        "verbs.studies.optimize": "Optimum",
        # all of it at once: with the verbs, which are files of `verbs`
        "verbs.given": "with_values with_starts",
        "verbs.summary": "Summary",
        "verbs.unshadowed": "to_kernel reduction",
        "numeric.progress": "show_progress",
        "analyse.control.feedback": "computed_torque gravity_compensation",
        "analyse.along.attitude_along": "AttitudeAlong attitude_along",
        "analyse.along.joint_motion": "joint_motion",
        "analyse.proofs.linear_cases": "solve_linear",
        "equations.start_checks": "massless_motions",
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
        "analyse.proofs.no_impact": "NoImpact",
        "analyse.rest.viscous": "Convergence",
        "units": "Label",
        "errors": "LiaisonError TextError NamingError OptionError ArgumentError ModelError "
        "FrameError "
        "AssemblyError DerivationError ProgramError SimulationError Interrupted",
    },
    verb_table(),
    classes="model.JOINT_TYPES",
    further="model.kind_words",
    hidden="time compile reduce",
)
