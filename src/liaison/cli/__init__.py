"""The command line `liaison`: one file a command, found by its folder, loaded when it is called."""

from liaison.lazy import offer

__all__ = offer(__name__, {"entry": "app main"})
