"""The description of a mechanism as frozen records, complete and checked.

`mechanism(...)`, `body(...)`, `join(...)` in describe.py are the pleasant way to make them.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "contacts": "BearingFriction CONTACT_KINDS CURVE Contact DryFriction Friction "
        "GapContact OneSided PROFILE SURFACE Unilateral",
        "contacts.collisions": "Collision",
        "describe": "armature at_most balanced bearing body collision contact coordinate damper "
        "dead_zone_spring dissipation event friction gear gravity ground guess holonomic imposed "
        "join law memory motor nonholonomic output parameter pid potential rate rolling servo "
        "signal spring start stops time touch turned wrench",
        "joints": "ATTITUDES Attitude BryantXYZ Composition Cylindrical EulerZXZ Fixed Free "
        "Helical JOINT_TYPES JointType LineOnPlane ParallelAxes Perpendicular Planar "
        "PlacedJoint PointOnLine PointOnPlane Prismatic Quaternion Revolute Rod RodByAngles "
        "Rotation RotationMatrix Screw Spherical SphericalPin Translation Universal",
        "loads": "Actuator AlongMeasure Armature AtMarker Damper DeadZoneSpring Dissipation Field "
        "Force Gravity GravityCompensation JointFriction LOAD_KINDS Law Memory OfMechanism Pid "
        "PointWrench Potential Servo Spring",
        "loads.drives": "Drive Transmission drive",
        "markers": "Angle Cable Coordinate Distance Marker Measure",
        "mechanism": "Body Event GROUND Input Joint Mechanism Output Parameter Start",
        "relations": "BetweenFrames Constraint Coupling Holonomic Nonholonomic OfCoordinates "
        "PrescribedMotion RELATION_KINDS Rolling",
        "shapes": "Box Capsule Cone Cylinder HeightField Hull Line Mesh Shape Sphere",
    },
)
