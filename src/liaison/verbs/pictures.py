"""Arguments of plots and pages: mechanism, contact places, appearance.

Public names: PictureKeywords, picture_options, drawable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from liaison.analyse.along.contact_points import ContactAlong, contact_points
from liaison.analyse.along.formula_contacts import FormulaAlong, formula_contacts
from liaison.errors import OptionError, SimulationError
from liaison.model.mechanism import Mechanism
from liaison.simulation.record.trajectory import Trajectory
from liaison.view.shapes import check_colors

from .scenes import ScenePlace, scene_places

Places = tuple[ContactAlong | FormulaAlong | ScenePlace, ...]
"""Where bodies touch along a run."""


class PictureKeywords(TypedDict, total=False):
    """How a run is shown.

    Attributes:
        speed: seconds of the run shown in one second; 1.
        fps: pictures a second; 30.
        trace: points whose path is drawn: names of bodies or joints, markers, (body, (x, y, z)).
        forces: draw the force in every joint, or in the joints named.
        frames: show the axes of the bodies.
        labels: show the names of the bodies; by default if they are few.
        contacts: draw places of contact in the color of their mode, with their forces; True.
    """

    speed: float
    fps: float
    trace: Sequence[Any]
    forces: bool | Iterable[str]
    frames: bool
    labels: bool | None
    contacts: bool


def drawable(mechanism: Mechanism) -> list[str]:
    """Names of bodies and joints; raises an error for unknown colors, before a run is made."""
    check_colors(mechanism)
    return [*(x.name for x in mechanism.bodies), *(x.name for x in mechanism.joints)]


def picture_options(
    verb: str,
    mechanism: Mechanism,
    options: Mapping[str, Any],
    more: Iterable[str] = (),
    *,
    moved: Mechanism | None = None,
) -> dict[str, Any]:
    """The options of a picture; places of contact are drawn where the run has them.

    Args:
        verb: that takes them, for messages.
        mechanism: that is shown.
        options: of PictureKeywords.
        more: names of further options that the verb takes.
        moved: the mechanism of the run, where what is shown has other contacts.

    Raises:
        OptionError: an option that the verb does not take.
    """
    OptionError.check(verb, options, [*PictureKeywords.__annotations__, *more])
    chosen = dict(options)
    if not (chosen.pop("contacts", True) and mechanism.contacts):
        return chosen
    return chosen | {"contacts": _finder(mechanism, mechanism if moved is None else moved)}


def _finder(mechanism: Mechanism, moved: Mechanism) -> Callable[[Trajectory], Places]:
    return lambda run: _places(mechanism, moved, run)


def _places(mechanism: Mechanism, moved: Mechanism, run: Trajectory) -> Places:
    """Where a run touches, also by formulas; nothing of a run in other coordinates."""
    try:
        if run.meta.get("scene"):
            return scene_places(moved, run)
        return contact_points(mechanism, run) + formula_contacts(mechanism, run)
    except SimulationError:
        return ()
