"""Relations in mechanisms of many bodies as loops: what unrolled code gives, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from test_closed_kernel import ladder, same_entries

import liaison
from liaison.equations import newton_euler
from liaison.equations.sweeps.looped_tree import looped_tree
from liaison.errors import DerivationError
from liaison.program import lower, to_numpy
from liaison.program.many.closed_kernel import closed_kernel
from liaison.tree import span

SAME = 1e-10  # relative


def chain(n, more=""):
    text = "gravity = [0.3, 0.2, -9.81] m/s^2 ;\n"
    for i in range(n):
        on = f"[0.3, 0, 0] m @ b{i - 1}" if i else "earth"
        pair = f"b{i} and {on}" if i % 3 == 2 else f"{on} and b{i}"
        axis = "[0, 1, 0]" if i % 2 else "[0, 0.6, 0.8]"
        text += (
            f"let b{i} = body mass = {1 + i % 4} kg, center = [0.15, 0.02, 0] m, "
            "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;\n"
            f"let J{i} = join {pair} with revolute axis = {axis} end ;\n"
        )
    return text + more


MIXED = """
gravity = [0.3, -9.81, 0.2] m/s^2 ;
parameter r = 2 ;
parameter w = 0.3 rad/s ;
let b = body mass = 1 kg, center = [0.1, 0, 0.2] m, inertia = [1, 2, 2.5] kg*m^2 end ;
let c = body mass = 0.5 kg, center = [0.2, 0.1, 0] m, inertia = [0.1, 0.2, 0.15] kg*m^2 end ;
let d = body mass = 0.7 kg, center = [0.2, 0.1, 0] m, inertia = [0.1, 0.2, 0.15] kg*m^2 end ;
let e = body mass = 0.6 kg, inertia = [0.1, 0.2, 0.15] kg*m^2 end ;
let F = join earth and b with free end ;
let S = join [0.3, 0, 0] m @ b and c with screw axis = [0, 0, 1], pitch = 0.1 m/rad end ;
let B = join [-0.3, 0, 0] m @ b and d with ball end ;
let Y = join d and e with cylindrical axis = [1, 0, 0] end ;
require F.vx*cos(S) - r*F.vy*sin(S) + 0.3 m*S' = 0 ;
require S + B.qx = 0.1 ;
require F.x + 0.1 m*B.qw = 0.2 m ;
require B.wy + F.wx - w = 0 ;
couple Y.angle and Y.slide with proportion ratio = 0.2 m/rad end ;
"""

ROLLS = """
gravity = [0.3, 0.2, -9.81] m/s^2 ;
parameter r = 0.3 m ;
let table = body mass = 5 kg, center = [0.1, 0, 0] m, inertia = [1, 1, 2] kg*m^2 end ;
let T = join earth and table with revolute axis = [0, 0.1, 1] end ;
let disc = body mass = 2 kg, center = [0.01, 0.02, 0] m, inertia = [0.05, 0.06, 0.09] kg*m^2 end ;
let D = join earth and disc with free end ;
let small = body mass = 0.4 kg, inertia = [0.02, 0.02, 0.03] kg*m^2 end ;
let S = join [0.2, 0, 0.1] m @ disc and small with ball end ;
let ball = body mass = 0.5 kg, center = [0, 0, 0.01] m, inertia = [0.1, 0.1, 0.1] kg*m^2 end ;
let B = join earth and ball with free end ;
let rod = body mass = 1 kg, center = [0.2, 0, 0] m, inertia = [0.01, 0.1, 0.1] kg*m^2 end ;
let A = join earth and rod with revolute axis = [0, 1, 0] end ;
require T' = 0.2*A' + 1 rad/s ;
let one = couple disc and [0, 0, 0.05] m @ table with rolling_disc radius = r end ;
require A + 0.3*T = 0.1 ;
let two = couple small and earth with rolling_disc radius = 0.5*r end ;
let three = couple ball and 20 deg || [1, 0, 0] @ earth with rolling_ball radius = 0.2 m end ;
"""

RELATED = {
    "gear": chain(6, "require J1 + 2*J4 = 0 ;"),
    "drive": chain(6, "require J2 = 3 rad/s*t + sin(5 rad/s*t) ;\nrequire J1 - 2*J5 = 0.1 ;"),
    "rates": chain(5, "require J1' + 2*J3' - J4'*cos(J2) = 0 ;\nrequire J0 = J4 ;"),
    "curved": chain(6, "require sin(J1)*cos(J3) + J5^2 = 0.3 ;\nrequire J2'*cos(J1) = 1 rad/s ;"),
    "mixed": MIXED,
    "rolls": ROLLS,
    "wheel in loops": ladder(2)
    + "let hub = body mass = 1 kg, inertia = [0.02, 0.02, 0.03] kg*m^2 end ;\n"
    "let H = join s2 and hub with ball end ;\nrequire L1 + 2*R2 = 0.1 ;\n"
    "let roll = couple hub and [0, 0, -0.4] m @ earth with rolling_disc radius = 0.5 m end ;\n",
    "ladder": ladder(2) + "require L1 + 2*R2 = 0.1 ;\nrequire B.wy = 0.3*T2' + 1 rad/s ;",
    "kept": ladder(2)
    + "start R1 = 0.3 ;\nstart T1 = -0.3 ;\nstart C1 = 0 ;\nrequire T1 + L1 = 0.4*R2 ;\n"
    "require T1*R1 + T1 = 0.2*sin(2 rad/s*t) ;\nrequire T1'*cos(T2) + T1*B.wy = 1 rad/s ;",
}


def drawn(tree, seed):
    """A random state at some time, its closures of positions met."""
    rng = np.random.default_rng(seed)
    neutral = np.array([float(x) for node in tree.nodes for x in node.joint.type.neutral()])
    kernel = to_numpy(lower(newton_euler(tree)))
    q, v = kernel("retract", q=neutral, x=0.4 * rng.normal(size=tree.nv)), np.zeros(tree.nv)
    for _ in range(30):
        q = kernel("retract", q=q, x=kernel.call("correct_q", t=0.37, q=q, v=v)["delta"])
    assert kernel.call("correct_q", t=0.37, q=q, v=v)["worst"][0] < 1e-10
    return {"t": 0.37, "q": q, "v": rng.normal(size=tree.nv)}


@pytest.mark.parametrize("name", RELATED)
def test_loops_equal_unrolled_code(name):
    tree = span(liaison.read(RELATED[name]))
    model = looped_tree(tree)
    if name == "kept":
        assert model.kept == 1
        assert all(tree.nv - 1 in x.G for x in model.cuts.relations)
    same_entries(tree, drawn(tree, 1), 1, SAME)


@pytest.mark.parametrize("name", ["drive", "rates", "mixed", "kept"])
def test_closing_takes_the_shortest_step_on_what_is_free(name):
    """The numbers that unrolled code has for these: G and what is left over."""
    tree = span(liaison.read(RELATED[name]))
    at = drawn(tree, 2)
    looped = closed_kernel(looped_tree(tree))
    at["q"] = looped("retract", **at, x=np.linspace(0.1, 0.2, tree.nv))  # off its closures
    terms, left = looped.call("terms", **at), looped.call("closure", **at)
    nphi = looped.program.sizes["nphi"]
    assert nphi < looped.program.sizes["nc"] or name == "drive"
    free = np.ones(tree.nv)
    free[0] = 0
    for entry, level, count in (("close_q", "phi", nphi), ("close_v", "rate", None)):
        G = terms["G"].reshape(-1, tree.nv)[:count, 1:]
        step = looped.call(entry, **at, x=free)
        shortest = np.linalg.lstsq(G, -left[level], rcond=None)[0]
        assert step["delta"][0] == 0.0
        np.testing.assert_allclose(step["delta"][1:], shortest, atol=1e-9)
        assert step["worst"][0] == pytest.approx(np.max(np.abs(left[level])))


def test_relations_between_frames_share_code_whatever_their_numbers():
    cuts = looped_tree(span(liaison.read(ROLLS))).cuts
    assert cuts.frames == ("one", "two", "three")
    assert [len(cuts.classes), len(cuts.labels)] == [2, 9]  # discs, and a ball
    labels = [*(x.name for x in cuts.labels), *(x.label.name for x in cuts.relations)]
    contacts = [f"{name}: contact" for name in cuts.frames]
    assert [labels[k] for k in cuts.order][:4] == [contacts[0], labels[9], *contacts[1:]]


def test_wheels_that_cannot_lift_or_leave_their_track_have_no_such_rows():
    text = """
    let wagon = body mass = 10 kg, inertia = [1, 1, 1] kg*m^2 end ;
    let T = join [0, 0, 0.5] m @ earth and wagon with prismatic axis = [1, 0, 0] end ;
    let wheel = body mass = 1 kg, inertia = [0.1, 0.1, 0.2] kg*m^2 end ;
    let A = join 90 deg || [1, 0, 0] @ wagon and wheel with revolute end ;
    let R = couple wheel and earth with rolling_disc radius = 0.5 m end ;
    """
    tree = span(liaison.read(text))
    looped = closed_kernel(looped_tree(tree))
    assert looped.program.facts["vanished"] == ("R: contact", "R: slip along y")
    same_entries(tree, {"q": np.array([0.3, 0.2]), "v": np.array([1.0, 2.0])}, 1)
    too_high = text.replace("radius = 0.5 m", "radius = 0.4 m")
    with pytest.raises(DerivationError, match=r"R: contact.*off by 0\.1"):
        closed_kernel(looped_tree(span(liaison.read(too_high))))


def test_relations_that_are_there_twice_ask_nothing():
    tree = span(liaison.read(chain(6, "require J1 = J3 ;\nrequire 2*J1 = 2*J3 ;")))
    looped, unrolled = closed_kernel(looped_tree(tree)), to_numpy(lower(newton_euler(tree)))
    at = drawn(tree, 3)
    mine, theirs = looped.call("forward", **at), unrolled.call("forward", **at)
    np.testing.assert_allclose(mine["vdot"], theirs["vdot"], rtol=SAME)
    assert looped.call("close_q", **at, x=np.ones(tree.nv))["weakest"][0] < 1e-10
    push = np.array([1, 2]) @ (mine["lam"] - theirs["lam"])
    assert abs(push) < 1e-9 * np.max(np.abs(theirs["lam"]))


@pytest.mark.parametrize(
    ("relation", "why"),
    [("require J1'*J2' = 0.1 rad^2/s^2 ;", "not linear"), ("require J1 - J1 = 0 ;", "nothing")],
)
def test_what_loops_do_not_know_is_left_to_unrolled_code(relation, why):
    with pytest.raises(DerivationError, match=why):
        looped_tree(span(liaison.read(chain(3, relation))))
