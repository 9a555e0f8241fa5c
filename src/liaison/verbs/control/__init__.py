"""Verbs of control: mechanisms under controllers, regulators, paths of joints to poses."""
