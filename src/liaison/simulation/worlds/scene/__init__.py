"""Worlds of a scene: bodies that touch, solved by the threads of a block together."""
