"""The room `spatial`: frames, poses, twists, wrenches and inertias, on numbers or formulas.

Objects carry their frames and reject what does not compose; `plucker` holds the same arithmetic
on bare arrays for the sweeps.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "arrays": "Array Entries array cross3 dot identity is_formula is_zero minus norm number "
        "plus product tilde times unit vector zeros",
        "inertia": "Inertia box_tensor capsule_tensor cone_tensor cylinder_tensor "
        "inertia_violation product_tensor sphere_tensor",
        "plucker": "act_force act_force_inverse act_motion act_motion_inverse act_point "
        "apply_inertia compose cross_motion inverse move_inertia",
        "rotations": "Angles axis_angle_of bryant_xyz_of euler_zxz_of quaternion_about "
        "quaternion_of quaternion_product rotation_about rotation_bryant_xyz rotation_defect "
        "rotation_euler_zxz rotation_onto_z rotation_quaternion rotation_x rotation_y "
        "rotation_z",
        "vectors": "Acceleration Frame Momentum Pose Torsor Twist WORLD Wrench cross cross_force "
        "power",
    },
    {"liaison.expr": "Scalar"},
)
