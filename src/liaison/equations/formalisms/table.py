"""FORMALISMS: every formalism by name, its file loaded.

Public names: FORMALISMS.
"""

from __future__ import annotations

from liaison.equations import (
    boltzmann_hamel,
    dalembert,
    gibbs_appell,
    hamilton,
    kane,
    lagrange,
    lagrange_reduced,
    lie_group,
    maximal,
    newton_euler,
)

from .formalism import REGISTERED, Formalisms

FORMALISMS: Formalisms = REGISTERED
"""Every formalism by name: a function of a tree, with options of its own.

Example:
    >>> import liaison
    >>> list(liaison.FORMALISMS)[:3]
    ['newton_euler', 'dalembert', 'lagrange']
"""

LOADED = (
    boltzmann_hamel, dalembert, gibbs_appell, hamilton, kane, lagrange, lagrange_reduced,
    lie_group, maximal, newton_euler,
)  # fmt: skip
