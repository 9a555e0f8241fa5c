"""Find all assembly modes of a mechanism.

Public names: assembly_modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from liaison.arguments import checked
from liaison.errors import OptionError
from liaison.expr.graph.node import collector_paused
from liaison.freedoms.global_.assembly import AssemblyModes
from liaison.freedoms.global_.assembly import assembly_modes as find_modes
from liaison.freedoms.keywords import SearchKeywords
from liaison.numeric.progress import working
from liaison.tree.tree import Tree
from liaison.verbs.given import Given, exact_in_si, mechanism_or_tree
from liaison.verbs.one_sided import with_note


@checked
def assembly_modes(
    given: Given | Tree,
    *,
    at: Mapping[str, Any] | None = None,
    **options: Unpack[SearchKeywords],
) -> AssemblyModes:
    """All assembly modes of a mechanism, with some of its coordinates held.

    Args:
        given: a mechanism, the path of its text, or a tree.
        at: held coordinates by label [m, rad], exact where they can be; as many as its mobility.
        **options: seed, time_limit [s], memory_limit [bytes].

    Example:
        >>> import liaison
        >>> len(liaison.assembly_modes("examples/four_bar.lsd", at={"A": 1.2}).modes)
        2
    """
    OptionError.check("assembly_modes", options, SearchKeywords.__annotations__)
    mechanism = mechanism_or_tree(given)
    with collector_paused(), working("freedoms", f"assembly modes of {mechanism.name}"):
        return with_note(
            find_modes(mechanism, at=exact_in_si(mechanism, at, "at"), **options), mechanism
        )
