"""Every formalism by its name.

Public names: FORMALISMS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .boltzmann_hamel import boltzmann_hamel
from .dalembert import dalembert
from .equations import Equations
from .gibbs_appell import gibbs_appell
from .hamilton import hamilton
from .kane import kane
from .lagrange import lagrange
from .lagrange_reduced import lagrange_reduced
from .lie_group import lie_group
from .maximal import maximal
from .newton_euler import newton_euler

FORMALISMS: Mapping[str, Callable[..., Equations]] = MappingProxyType(
    {
        "newton_euler": newton_euler,
        "dalembert": dalembert,
        "lagrange": lagrange,
        "lagrange_reduced": lagrange_reduced,
        "hamilton": hamilton,
        "kane": kane,
        "boltzmann_hamel": boltzmann_hamel,
        "gibbs_appell": gibbs_appell,
        "lie_group": lie_group,
        "maximal": maximal,
    }
)
"""Every formalism by name: a function of a tree, with options of its own."""
