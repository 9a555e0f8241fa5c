"""The version of the package: here alone; `pyproject.toml` and `liaison --version` read it.

Public names: __version__.
"""

__version__ = "0.2.0"
