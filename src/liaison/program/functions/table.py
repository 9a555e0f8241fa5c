"""The functions of the mathematical library by name, each as a loop.

Public names: FUNCTIONS.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from liaison.program.loops.language import Loop

from .arcs import acos, asin, atan, atan2
from .choices import fmax, fmin
from .circular import cos, sin, tan
from .exponential import exp, log, pow

FUNCTIONS: Mapping[str, Loop[..., Any]] = MappingProxyType(
    {x.name: x for x in (sin, cos, tan, asin, acos, atan, atan2, exp, log, pow, fmin, fmax)}
)
"""What loops and entries call in portable code instead of functions of the system."""
