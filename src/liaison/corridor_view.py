"""Pictures by one call: a run with its mechanism, or with the path of its text.

Public names: page, show, drawable.
"""

from __future__ import annotations

import os
from typing import Any

from liaison.analyse.along.contact_points import ContactAlong, contact_points
from liaison.analyse.along.formula_contacts import FormulaAlong, formula_contacts
from liaison.model.pairing import drawn
from liaison.view.shapes import check_colors

from .corridor import Given, mechanism_of
from .errors import SimulationError
from .model import Mechanism
from .simulation import Trajectory
from .view import LiveView
from .view import page as written_page
from .view import show as shown


def page(
    trajectory: Trajectory, given: Given, path: str | os.PathLike[str], **options: Any
) -> None:
    """One HTML file with the motion, its slider and its player, that needs no network.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        path: the file, written whole or not at all; its folder must exist.
        **options: speed (1), fps (30), trace (names of bodies or joints, markers, (body, (x, y,
            z))), forces (True or names of joints), frames, labels, contacts (True: places of
            contact in the color of their mode, with their forces): see `view.page`.
    """
    mechanism = drawn(mechanism_of(given))
    written_page(trajectory, mechanism, path, **_with_contacts(mechanism, options))


def show(trajectory: Trajectory, given: Given, **options: Any) -> LiveView:
    """A live view on this machine, with time, speed and what to see under the hand.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        **options: of `page`; port (8080), browser (True), block (False): see `view.show`.
    """
    mechanism = drawn(mechanism_of(given))
    return shown(trajectory, mechanism, **_with_contacts(mechanism, options))


def drawable(mechanism: Mechanism) -> list[str]:
    """Names of bodies and joints; refuses colors that nobody knows, before a run is made."""
    check_colors(mechanism)
    return [*(x.name for x in mechanism.bodies), *(x.name for x in mechanism.joints)]


def _with_contacts(mechanism: Mechanism, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a picture; places of contact are drawn where the run tells them."""
    options = dict(options)
    if not (options.pop("contacts", True) and mechanism.contacts):
        return options
    return options | {"contacts": lambda run: _places(mechanism, run)}


def _places(mechanism: Mechanism, run: Trajectory) -> tuple[ContactAlong | FormulaAlong, ...]:
    """Where a run touches, and what formulas tell; nothing of a run in other coordinates."""
    if run.meta.get("scene"):
        return ()
    try:
        return contact_points(mechanism, run) + formula_contacts(mechanism, run)
    except SimulationError:
        return ()
