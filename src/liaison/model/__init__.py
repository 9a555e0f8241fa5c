"""The room `model`: the author's wish as frozen records, whole or refused.

`mechanism(...)`, `body(...)`, `join(...)` in describe.py are the pleasant way to make them.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "collisions": "Collision",
        "constraints": "Constraint Coupling Holonomic Nonholonomic PrescribedMotion Rolling",
        "contact_geometry": "CONTACT_KINDS",
        "contacts": "CURVE Contact GapContact OneSided PROFILE SURFACE Unilateral",
        "describe": "at_most bearing body collision contact coordinate damper dissipation event "
        "friction gear gravity ground holonomic imposed join law motor nonholonomic output "
        "parameter potential rate rolling signal spring start time touch turned wrench",
        "drives": "Drive Transmission drive",
        "forces": "Actuator Damper Dissipation Force Gravity JointFriction Law PointWrench "
        "Potential Spring",
        "friction": "Friction",
        "joint_friction": "BearingFriction DryFriction",
        "joints": "Attitude BryantXYZ Composition Cylindrical EulerZXZ Fixed Free Helical "
        "JOINT_TYPES JointType LineOnPlane ParallelAxes Perpendicular Planar PointOnLine "
        "PointOnPlane Prismatic Quaternion Revolute Rod Rotation RotationMatrix Screw "
        "Spherical SphericalPin Translation Universal",
        "markers": "Angle Coordinate Distance Marker Measure",
        "mechanism": "Body Event GROUND Input Joint Mechanism Output Parameter Start",
        "shapes": "Box Cone Cylinder Line Mesh Shape Sphere",
    },
)
