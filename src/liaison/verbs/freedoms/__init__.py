"""Verbs about degrees of freedom: mobility, assembly, inverse kinematics, singular positions."""
