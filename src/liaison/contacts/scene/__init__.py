"""Scenes: many free bodies that touch, stepped together in a compiled loop."""

from liaison.lazy import offer

__all__ = offer(__name__, {"parts": "ROD ROUND Bodies Laws SceneModel Terrain"})
