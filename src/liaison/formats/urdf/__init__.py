"""URDF, the robot description format: reader and writer."""
