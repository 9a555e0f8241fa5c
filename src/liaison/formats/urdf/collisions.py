"""Links of a robot that touch each other: pairs of collision shapes, without neighbours.

Two links may touch unless they are one body, a joint connects their bodies (those that fixed joints
hold together count as one), or the SRDF file says <disable_collisions>. Friction is the smaller
coefficient of both.

Public names: Solid, solids_of, self_contacts, MOST.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import liaison.model as model
from liaison.errors import ModelError
from liaison.formats.decompose import Decomposition
from liaison.formats.ground import GRIP
from liaison.formats.poses import rows_of
from liaison.model.contacts.between import contact_between
from liaison.numeric.meshes import MeshFile, read_mesh

from .equipment import Equipment, form_of, touching_form
from .xml import Element, numbers_in

MOST = 200
"""Pairs of shapes above which a mechanism would be too large."""


class Solid(NamedTuple):
    """A collision shape of a link: its frame on its body, kind and sizes."""

    link: str
    frame: model.Marker
    kind: str
    sizes: Mapping[str, Any]
    element: Element


def solids_of(
    links: Mapping[str, Element],
    *,
    place: Callable[[Element], tuple[Any, Any]],
    body: Callable[[str], str],
    file: Callable[[Element], Path | str],
    notes: list[str],
    apart: Decomposition | None = None,
) -> list[Solid]:
    """The collision shapes of links; what cannot touch is named in the notes.

    Args:
        links: by name.
        place: pose of a shape in its link.
        body: the name of a link's body.
        file: of a <mesh>, or why there is none that may be opened.
        notes: what has no shape that touches, and what was repaired of meshes.
        apart: takes meshes apart; None: they touch by their hulls.
    """
    solids: list[Solid] = []
    for name, link in links.items():
        for shape in link.all("collision"):
            form = form_of(shape)
            known = touching_form(form, name, file, notes)
            if known is None:
                word = form.tag if form else "nothing"
                notes.append(f"collision geometry <{word}> of link {name!r} touches no other link")
                continue
            R, p = place(shape)
            frame = model.Marker(body(name), rows_of(R), tuple(p), place=shape.place)
            sizes = {**known[1], **dict(known[1].get("more", ()))}
            sizes.pop("more", None)
            listed = [sizes]
            if form is not None and known[0] == "hull" and apart is not None:
                listed = [{"points": x} for x in _parts(form, sizes["points"], file, apart, notes)]
            solids += (Solid(name, frame, known[0], x, shape) for x in listed)
    return solids


def _parts(
    form: Element, whole: model.Hull, file: Callable[[Element], Path | str],
    apart: Decomposition, notes: list[str],
) -> tuple[model.Hull, ...]:  # fmt: skip
    """Hulls of the convex parts of a mesh."""
    path = file(form)
    assert isinstance(path, Path), path
    scale = tuple(numbers_in(form, "scale", 3, "1 1 1"))
    mesh = read_mesh(path)
    scaled = MeshFile(mesh.vertices * np.array(scale, dtype=float), mesh.triangles)
    return apart.hulls((path, scale), scaled, whole, f"the mesh {path.name!r}", notes)


def self_contacts(
    solids: Iterable[Solid],
    joints: Iterable[model.Joint],
    apart: Iterable[frozenset[str]],
    *,
    body: Callable[[str], str],
    frictions: Mapping[str, Fraction],
    equipment: Equipment,
) -> list[model.Contact]:
    """A contact for every two shapes of links that may touch.

    Args:
        solids: collision shapes.
        joints: of the mechanism.
        apart: pairs of links that the SRDF file keeps from touching.
        body: the name of a link's body.
        frictions: coefficients by link.
        equipment: friction of links that say none, and restitution.

    Raises:
        ModelError: there are too many pairs.
    """
    joints = list(joints)
    piece = _pieces(joints)
    neighbours = {frozenset((piece(x.predecessor.body), piece(x.successor.body))) for x in joints}
    by_link: dict[str, list[Solid]] = {}
    for solid in solids:
        by_link.setdefault(solid.link, []).append(solid)
    never = set(apart)
    pairs = [
        pair for one, other in combinations(by_link, 2)
        if _may_touch(frozenset((piece(body(one)), piece(body(other)))), neighbours)
        and frozenset((one, other)) not in never
        for pair in product(by_link[one], by_link[other])
    ]  # fmt: skip
    if len(pairs) > MOST:
        raise ModelError(
            f"there are {len(pairs)} pairs of collision shapes that may touch; {MOST} are the "
            "limit.",
            place=pairs[0][0].element.place,
            hint="Name links that never meet in the SRDF file: <disable_collisions link1=… "
            "link2=…/>.",
        )
    own = GRIP if equipment.friction is None else equipment.friction
    contacts = []
    seen: Counter[str] = Counter()
    for a, b in pairs:
        word = f"{a.link} on {b.link}"
        seen[word] += 1
        name = word if seen[word] == 1 else f"{word} {seen[word]}"
        mu = min(frictions.get(x.link, own) for x in (a, b))
        contacts.append(_contact(name, a, b, mu, equipment.restitution))
    return contacts


def _may_touch(pair: frozenset[str], neighbours: set[frozenset[str]]) -> bool:
    """Whether two pieces are two, and no joint connects them."""
    return len(pair) == 2 and pair not in neighbours


def _pieces(joints: Iterable[model.Joint]) -> Callable[[str], str]:
    """Body -> the first of those that fixed joints hold together with it."""
    group: dict[str, str] = {}

    def first(body: str) -> str:
        while group.get(body, body) != body:
            body = group[body]
        return body

    for joint in joints:
        if not joint.type.nv:
            one, other = (first(x.body) for x in (joint.predecessor, joint.successor))
            group[other] = one
    return first


def _contact(name: str, a: Solid, b: Solid, friction: Any, restitution: Any) -> model.Contact:
    law = {"friction": friction, "restitution": restitution, "place": a.element.place}
    ends = [(x.frame, x.kind, x.sizes) for x in (a, b)]
    return contact_between(name, ends[0], ends[1], **law)
