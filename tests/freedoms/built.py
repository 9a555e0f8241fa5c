"""Mechanisms of bodies and joints from screws: bodies are found from who follows whom in loops."""

from fractions import Fraction
from typing import Any

from liaison.model import Mechanism, Prismatic, Revolute
from liaison.model.describe import body, ground, join, mechanism


def bodies_of(case: dict[str, Any]) -> dict[tuple[int, int], str]:
    """(joint, end) -> body; end 0 is the predecessor's, 1 the successor's."""
    owner = {(k, end): (k, end) for k in range(len(case["joints"])) for end in (0, 1)}

    def root(end: Any) -> Any:
        while owner[end] != end:
            end = owner[end]
        return end

    for loop in case["loops"]:
        for (j, s), (k, t) in zip(loop, [*loop[1:], loop[0]], strict=True):
            owner[root((j, 1 if s > 0 else 0))] = root((k, 0 if t > 0 else 1))
    roots = list(dict.fromkeys(root(end) for end in owner))
    return {end: f"b{roots.index(root(end))}" for end in owner}


def mechanism_of(case: dict[str, Any]) -> Mechanism:
    """The case as a mechanism in its home position: all body frames are ground's."""
    names = bodies_of(case)
    bodies = {name: body(name, mass=1) for name in set(names.values())}
    bodies["b0"] = ground
    joints = []
    for k, joint in enumerate(case["joints"]):
        place = [Fraction(x) for x in joint.get("point") or (0, 0, 0)]
        axis = [Fraction(x) for x in joint["direction"]]
        a, b = (bodies[names[k, end]].at(place) for end in (0, 1))
        kind = Revolute if joint["type"] == "revolute" else Prismatic
        joints.append(join(a, b, kind, name=f"j{k}", axis=axis))
    return mechanism(*joints, name=case["id"])
