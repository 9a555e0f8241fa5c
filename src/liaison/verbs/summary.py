"""Summary of a mechanism, in counts and names: the result of `check`.

Unilateral constraints of a mechanism as plain data: contacts, relations, friction, collisions.

Public names: Summary, by_label, sides, collisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liaison.errors import AssemblyError, ModelError, Place, diagnostic
from liaison.expr.graph.evaluate import evaluate
from liaison.expr.graph.node import as_expr, symbol
from liaison.expr.graph.walk import substitute, symbols_of
from liaison.lazy import Shown
from liaison.model import BearingFriction, Collision, DryFriction, Field, GapContact, Unilateral
from liaison.model.contacts.collisions import surfaces_of
from liaison.model.contacts.friction import GROUPS, Friction
from liaison.model.mechanism import Mechanism
from liaison.model.pairing import is_scene
from liaison.numeric import State
from liaison.tree.assemble import Assembly, assembly
from liaison.tree.tree import GROUND, Tree, as_float, span

from .given import units

if TYPE_CHECKING:
    from liaison.analyse.proofs.no_impact import NoImpact
    from liaison.equations.equations import Equations
    from liaison.model import Contact


def sides(checked: Summary) -> list[dict[str, Any]]:
    """Contacts, relations and friction that sticks: name, kind, law and coefficients.

    A coefficient that depends on time or on an unknown is None. What has a gap reports it at the
    start, the least of its places: below 0 it is inside.
    """
    if not checked.mechanism.contacts:
        return []
    from liaison.analyse.rest.start_gaps import start_gaps

    gaps = {} if checked.start is None else start_gaps(checked.mechanism, checked.start.state)
    rows = [_side(checked, one) for one in checked.mechanism.contacts]
    return [x | {"gap": gaps[x["name"]]} if x["name"] in gaps else x for x in rows]


def _side(checked: Summary, one: Any) -> dict[str, Any]:
    from liaison.model import Contact

    match one:
        case Collision():
            facts = {"kind": "collide", "of": _colliding(one)}
            return {"name": one.name, **facts, **_dissipation(checked, one)}
        case Contact():
            facts = {"kind": "contact", "of": one.kind, "with": one.target.WORD}
            return {"name": one.name, **facts, **_dissipation(checked, one)}
        case GapContact():
            facts = {"kind": "contact", "of": "formula", "with": ""}
            return {"name": one.name, **facts, **_dissipation(checked, one)}
        case Unilateral():
            from liaison.expr.bind import to_floats
            from liaison.expr.reading.reading import plain
            from liaison.expr.reading.text import to_unicode

            formula = to_floats([as_expr(one.formula)])[0]  # 10 deg is a number, not a part of π
            facts = {"kind": "relation", "of": f"{to_unicode(plain(formula))} ≤ 0"}
            return {"name": one.name, **facts, **_stop(checked, one), **_restitution(checked, one)}
        case DryFriction():
            bounds = {"sliding": _value(checked, one.dry), "static": _value(checked, one.static)}
            facts = {"kind": "friction", "of": one.coordinate, "law": one.law}
            return {"name": one.name, **facts, "friction": bounds}
        case BearingFriction():
            bounds = {
                "sliding": _value(checked, one.coefficient),
                "static": _value(checked, one.static),
            }
            facts = {"kind": "friction by load", "of": one.joint, "law": one.law}
            return {"name": one.name, **facts, "friction": bounds}
    raise ModelError(f"{one.name!r} is of a kind that is not known here: {type(one).__name__}.")


def _stop(checked: Summary, one: Unilateral) -> dict[str, Any]:
    """The coordinate, the side and the limit of a stop; nothing of other relations."""
    name, _, side = one.name.removesuffix(" stop").rpartition(" ")
    free = symbols_of([as_expr(one.formula)])
    if one.name.removesuffix(" stop") == one.name or side not in ("lower", "upper"):
        return {}
    label = next((x.name for x in free if x.name == name), None)
    limit = checked.value(substitute([as_expr(one.formula)], {symbol(name): 0})[0])
    if label is None or limit is None:
        return {}
    facts = {"coordinate": label, "side": side, "limit": limit if side == "lower" else -limit}
    return facts | {"unit": units(checked.mechanism).get(label, "")}


def _colliding(one: Collision) -> str:
    """ "24 bodies and 5 planes"."""
    bodies = len({x.body for x in one.markers()} - {"ground"})
    planes = len({(x.R, x.p) for x in one.markers() if x.body == "ground"})
    words = [f"{bodies} {'body' if bodies == 1 else 'bodies'}"] * (bodies > 0)
    one_surface = "plane" if one.terrain is None else "height field"
    words += [f"{planes} {one_surface}{'' if planes == 1 else 's'}"] * (planes > 0)
    return " and ".join(words)


def _value(checked: Summary, x: Any) -> float | None:
    return None if x is None else checked.value(x)


def _dissipation(checked: Summary, one: Collision | Contact | GapContact) -> dict[str, Any]:
    return _restitution(checked, one) | _friction(checked, one)


def _restitution(checked: Summary, one: Any) -> dict[str, float | None]:
    return {"restitution": checked.value(one.restitution)}


def _friction(checked: Summary, one: Collision | Contact | GapContact) -> dict[str, Any]:
    """Law and coefficients of the groups that resist."""
    friction: Friction = one.friction
    coefficients: dict[str, float | None] = {}
    for moving, rest, viscous, _ in GROUPS:
        if friction.resists(moving, viscous):
            parts = {moving: getattr(friction, moving), rest: getattr(friction, rest)}
            parts |= {viscous: getattr(friction, viscous)}
            parts |= {"across": friction.across} if moving == "sliding" else {}
            values = {k: checked.value(x) for k, x in parts.items() if x is not None}
            coefficients |= {k: x for k, x in values.items() if x != 0}
    return {"law": friction.law, "friction": coefficients} if coefficients else {}


def collisions(checked: Summary) -> dict[str, Any] | None:
    """How many pairs may touch, and how they are marched; None where nothing collides."""
    mechanism = checked.mechanism
    if not any(isinstance(x, Collision) for x in mechanism.contacts):
        return None
    facts: dict[str, Any] = {"pairs": surfaces_of(mechanism).pairs}
    try:
        return facts | {"marched": "scene" if is_scene(mechanism) else "contacts"}
    except ModelError as error:
        return facts | {"marched": None, "why": error.message, "hint": error.hint}


RANK = 1e-9
"""Rows and singular values of G under this share of the largest count as zero."""

FEW = 500
"""Boxes of positions in which freedom from impact may be proved: about a second."""

MANY_LOADS = 100
"""Loads up to which they are derived with the closures."""

TINY = 1e-300
"""Keeps a division by the length of a vanishing row defined."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Summary(Shown):
    """A mechanism with what follows from it before it moves.

    Attributes:
        mechanism: as described.
        tree: its spanning tree and closures.
        derived: the equations where relations hold, of many loads without these; None where they
            were not needed.
        start: its assembled start; None where a parameter has no value.
        rank: of G there; None without a start.
        entry: whether unilateral relations of rates are entered without impact; None without any.

    Example:
        >>> import liaison
        >>> facts = liaison.check("examples/four_bar.lsd")
        >>> facts.freedoms, facts.gruebler, round(facts.mass, 6)
        (1, -2, 1.3)
    """

    mechanism: Mechanism
    tree: Tree
    derived: Equations | None
    start: Assembly | None
    rank: int | None
    entry: NoImpact | None = None

    @classmethod
    def of(cls, mechanism: Mechanism, start: Mapping[str, float] | None = None) -> Summary:
        """Spans, derives and assembles, from the mechanism's own start or from another.

        Raises:
            AssemblyError: the loops cannot be closed from the mechanism's start.
        """
        tree = span(replace(mechanism, contacts=()) if mechanism.contacts else mechanism)
        derived = None
        if tree.closures or mechanism.constraints:  # whose rows many loads have no part in
            is_loaded = len(mechanism.forces) > MANY_LOADS
            derived = _equations(_unloaded(tree) if is_loaded else tree)
        begin = _start(tree, start or {})
        rank = None if begin is None else 0 if derived is None else _rank(derived, begin)
        return cls(mechanism, tree, derived, begin, rank, _entry(mechanism))

    @property
    def equations(self) -> Equations:
        """By recursive Newton–Euler, in the coordinates of the tree."""
        is_whole = len(self.mechanism.forces) <= MANY_LOADS
        return self.derived if self.derived and is_whole else _equations(self.tree)

    @property
    def closure_rows(self) -> int:
        """Rows of all closures, those included that hold whatever the mechanism does."""
        if self.derived is None:
            return 0
        closures = self.derived.closures
        return len(closures.gamma) + len(closures.vanished)

    @property
    def choices(self) -> tuple[str, ...]:
        """A sentence for each relation that is not linear in rates: its reaction is a choice."""
        if self.derived is None:
            return ()
        from liaison.equations.equations import chetaev_note

        return tuple(chetaev_note(name) for name in self.derived.facts.get("nonlinear_rates", ()))

    @property
    def gruebler(self) -> int:
        """Degrees of freedom of the joints, less six a loop and one for each other relation.

        The mobility of a mechanism whose geometry is nothing special; others have more.
        """
        freedoms = sum(joint.type.freedom for joint in self.mechanism.joints)
        relations = sum(constraint.ROWS for constraint in self.mechanism.constraints)
        return freedoms - 6 * self.tree.loops - relations

    @property
    def freedoms(self) -> int | None:
        """nv − rank G: independent velocities at the start, without states of loads."""
        moving = self.tree.nv - len(self.mechanism.states)
        return None if self.rank is None else moving - self.rank

    def value(self, x: Any) -> float | None:
        """A scalar of the description as a number; None where it depends on an unknown."""
        known = {
            symbol(p.name): float(as_float(p.value))
            for p in self.mechanism.parameters
            if p.value is not None
        }
        formula = as_expr(x)
        if any(name not in known for name in symbols_of([formula])):
            return None
        return float(evaluate([formula], known)[0])

    @property
    def mass(self) -> float | None:
        """Of all bodies [kg]; None where it depends on an unknown."""
        masses = [self.value(body.mass) for body in self.mechanism.bodies]
        known = [x for x in masses if x is not None]
        return sum(known) if len(known) == len(masses) else None

    @property
    def gravity(self) -> list[float | None]:
        """In ground's axes [m/s²]; zeros where there is none."""
        vectors = [force.vector for force in self.mechanism.forces if isinstance(force, Field)]
        values = [[self.value(x) for x in vector] for vector in vectors or [(0, 0, 0)]]
        return [None if None in column else sum(x for x in column if x) for column in zip(*values)]

    def carriers(self) -> list[tuple[str, str, str]]:
        """(body, carried by, joint) of every node, in the order of the tree."""
        nodes = self.tree.nodes
        return [
            (
                node.body,
                "ground" if node.parent == GROUND else nodes[node.parent].body,
                node.joint.name,
            )
            for node in nodes
        ]

    def warnings(self, file: str = "") -> list[dict[str, Any]]:
        """What is no mistake but should be known before a run, as an editor takes it."""
        places = {x.name: x.place or Place(file, 1) for x in self.mechanism.contacts}
        entries = self.entry.entries if self.entry else ()
        return [
            diagnostic(x.text, places[x.relations[-1]], severity="warning")
            for x in entries
            if x.verdict != "proved"
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; ground is not counted among the bodies.

        Example:
            >>> import liaison
            >>> liaison.check("examples/four_bar.lsd").to_dict()["gruebler"]
            -2
        """
        mechanism, start = self.mechanism, self.start
        return {
            "name": mechanism.name,
            "bodies": len(mechanism.bodies) - 1,
            "joints": len(mechanism.joints),
            "loops": self.tree.loops,
            "nq": self.tree.nq,
            "nv": self.tree.nv,
            "closure_rows": self.closure_rows,
            "rank": self.rank,
            "freedoms": self.freedoms,
            "gruebler": self.gruebler,
            "cut": self.tree.cuts,
            "constraints": [constraint.name for constraint in mechanism.constraints],
            "one_sided": [contact.name for contact in mechanism.contacts],
            "no_impact": None if self.entry is None else self.entry.to_dict(),
            "forces": [force.name for force in mechanism.forces],
            "gravity": self.gravity,
            "mass": self.mass,
            "parameters": {
                x.name: None if x.value is None else self.value(x.value)
                for x in mechanism.parameters
            },
            "unknowns": [x.name for x in mechanism.parameters if x.value is None],
            "inputs": [x.name for x in mechanism.inputs],
            "outputs": [x.name for x in mechanism.outputs],
            "events": [x.name for x in mechanism.events],
            "units": units(mechanism),
            "start": None if start is None else by_label(start.state),
            "moved": None if start is None else start.moved,
            "contacts": sides(self),
            "collisions": collisions(self),
        }


def by_label(state: State) -> dict[str, float]:
    """Positions and velocities of a state by their names."""
    names = [label.name for part in ("q", "v") for label in state.labels[part]]
    return dict(zip(names, [*state.q.tolist(), *state.v.tolist()], strict=True))


def _equations(tree: Tree) -> Equations:
    from liaison.equations.formalisms.newton_euler import newton_euler

    return newton_euler(tree)


def _unloaded(tree: Tree) -> Tree:
    return replace(tree, mechanism=replace(tree.mechanism, forces=()))


def _entry(mechanism: Mechanism) -> NoImpact | None:
    """Whether unilateral relations of rates are entered without impact; None without any."""
    if not any(isinstance(x, Unilateral) for x in mechanism.contacts):
        return None
    from liaison.analyse.proofs.no_impact import no_impact

    return no_impact(mechanism, boxes=FEW)


def _start(tree: Tree, start: Mapping[str, float]) -> Assembly | None:
    """The assembled start; None where its loops depend on an unknown."""
    try:
        return assembly(tree, None, guess=None, **start)
    except AssemblyError:
        if all(x.value is not None for x in tree.mechanism.parameters):
            raise
        return None


def _rank(equations: Equations, start: Assembly) -> int | None:
    """The rank of G at the assembled start; None where it depends on an unknown."""
    if not equations.closures.gamma:
        return 0
    from liaison.equations.start_checks import closure_matrix

    G = closure_matrix(equations, start.state)
    if not np.all(np.isfinite(G)):
        return None
    length = np.linalg.norm(G, axis=1, keepdims=True)
    rounding = length <= RANK * np.max(length, initial=0.0)
    return int(np.linalg.matrix_rank(np.where(rounding, 0.0, G / length.clip(TINY)), tol=RANK))
