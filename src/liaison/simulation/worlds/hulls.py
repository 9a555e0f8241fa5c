"""Contacts of hulls in a device's module: entries that are loops, which find where bodies touch.

Pairs, corners, faces and height fields are constant tables of the module. What other mechanisms
have as formulas in the entry `one_sided` is there the loop `places_from`, between two entries of
formulas: `frames`, where bodies are, and `gaps`, the rows of places by their points.

Public names: Hulls, hulls_of, check_single, ENTRIES.

Source: docs/theory/convex.md (convex-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from liaison.contacts.convex.field_layout import Fields
from liaison.contacts.convex.kernel import Touches, passes_at, places_from, touches_of
from liaison.contacts.convex.layout import Bodies
from liaison.contacts.scene.parts import ROD, ROUND, SceneModel
from liaison.errors import SimulationError
from liaison.numeric.hulls import Solid
from liaison.program.gpu.pointers import NAMES, entry_text, work_size
from liaison.program.gpu.thread import DeviceModule
from liaison.program.llvm.entries import Form
from liaison.program.loops.language import Loop
from liaison.program.loops.special import PREFIX, Special, Table
from liaison.program.program import Program
from liaison.simulation.steps.layout import Entries

ENTRIES: Mapping[str, Loop[..., None]] = {"one_sided_from": places_from, "passes": passes_at}
"""Entries that are loops."""

FIRST = 1000
"""The word, of those that stand for entries, of the first of the table of pairs."""

FORMULAS = {"frames": "frames", "gaps": "one_sided"}
"""What the loops call -> the entry of formulas."""


@final
@dataclass(frozen=True, slots=True)
class Hulls:
    """The pairs of a mechanism, for a module."""

    program: Program
    touches: Touches

    def added_to(self, special: Special) -> Special:
        """What is known of a model, and these pairs."""
        formulas = {FIRST + Touches.fields[name].slot: name for name in FORMULAS}
        loops = {Entries.slot(name): name for name in ENTRIES}
        return replace(
            special,
            names={**special.names, **formulas, **loops},
            views={**special.views, Touches: FIRST},
            tables=(Table(self.touches, {"bodies": Bodies, "terrain": Fields}),),
        )

    def words(self, form: Form) -> int:
        """Numbers of the workspace."""
        own = [work_size(self.program, entry, form) for entry in FORMULAS.values()]
        return int(self.touches.rest) + max(own)

    def text(self, device: DeviceModule) -> list[str]:
        """Entries of formulas, and those that are loops."""
        own = [
            entry_text(device, self.program, entry, f"{PREFIX}{name}")
            for name, entry in FORMULAS.items()
        ]
        kinds = [f"{device.form.kind} %t", *(f"ptr %{name}" for name in NAMES)]
        for name, one in ENTRIES.items():
            own += [
                f"define internal void @{PREFIX}{name}({', '.join(kinds)}) nounwind {{",
                f"  call void @liaison_{one.name}({', '.join(['ptr null', *kinds])})",
                "  ret void\n}",
            ]
        return own


def hulls_of(program: Program) -> Hulls | None:
    """The pairs of a mechanism with contacts of hulls; None of another."""
    pairs = program.facts.get("convex", ())
    return Hulls(program, touches_of(pairs, program)) if pairs else None


def check_single(program: Program) -> None:
    """Raises an error for contacts whose places single precision does not find.

    Of two bodies with flat or round sides, the nearest triangle of their difference is found from
    lengths that are mostly rounding where they touch: places were off by a hundredth of the size.
    """
    for name, first, second in program.facts.get("convex", ()):
        if isinstance(second, Solid) and _is_doubtful(_kind(first), _kind(second)):
            raise _refusal(f"{name!r} is a contact of")
    model: SceneModel | None = program.facts.get("scene")
    if model is None or model.bodies.corners is None or model.bodies.solid_owner is None:
        return
    shapes = {*zip(model.bodies.solid_owner.tolist(), model.bodies.corners.tolist(), strict=True)}
    for body, kind in shapes:
        if any(_is_doubtful(kind, other) for b, other in shapes if b != body):
            raise _refusal("the scene has")


def _kind(solid: Solid) -> int:
    """As scenes number shapes: corners, or ROUND of a cylinder, or ROD of balls and capsules."""
    if solid.polytope is not None:
        return len(solid.vertices)
    return ROUND if solid.core is None else ROD


def _is_doubtful(kind: int, other: int) -> bool:
    is_flat = kind != ROD and other != ROD and (kind != 0 or other != 0)
    return is_flat or {kind, other} == {ROUND, ROD}


def _refusal(begin: str) -> SimulationError:
    return SimulationError(
        f"{begin} hulls or cylinders that touch other bodies with edges, and single precision "
        "does not find where.",
        hint="Take precision='double'; balls, capsules on hulls, boxes and planes go in single.",
    )
