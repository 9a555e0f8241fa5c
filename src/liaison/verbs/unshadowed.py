"""Verbs under names that hide nothing of Python's own after `from liaison import *`.

`liaison.compile` and `liaison.reduce` are the same functions.

Public names: to_kernel, reduction.
"""

from __future__ import annotations

from liaison.verbs.derive.compile import compile as to_kernel
from liaison.verbs.derive.reduce import reduce as reduction

__all__ = ["reduction", "to_kernel"]
