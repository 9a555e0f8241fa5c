"""MJCF, MuJoCo's model format: reader."""
