"""The room `scenes`: many free bodies that touch, stepped together in a compiled loop."""

from .parts import Bodies, Laws
from .scene import Scene

__all__ = ["Bodies", "Laws", "Scene"]
