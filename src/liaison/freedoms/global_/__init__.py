"""All positions of a mechanism: assembly modes, inverse kinematics."""
