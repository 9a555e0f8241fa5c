"""Trees of many bodies as loops over their nodes: what unrolled code gives, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler, setting
from liaison.equations.sweeps.looped_tree import looped_tree
from liaison.errors import DerivationError
from liaison.program import lower, to_numpy
from liaison.program.many.tree_kernel import tree_kernel
from liaison.tree import span
from liaison.verbs import ready
from samples import relative_difference, sample, some

TREES = {"loops": (0, 0), "loads": False, "relations": False}
SAME = 1e-12  # relative: the same formulas in another order of sums

LOADED = """
name = "loaded tree" ;
parameter m = 2 kg ;
parameter c = 0.3 N*m*s/rad ;
input u = 0.5 N*m ;
gravity = [0, 1, -9.81] m/s^2 ;
let a = body mass = m, center = [0.5, 0, 0.1] m, inertia = [0.1, 0.2, 0.3] kg*m^2 end ;
let b = body mass = 1 kg, center = [0.3, 0.1, 0] m, inertia = [0.2, 0.2, 0.3] kg*m^2 end ;
let c1 = body mass = 1 kg, center = [0, 0.1, 0] m, inertia = [0.2, 0.1, 0.2] kg*m^2 end ;
let d = body mass = 0.5 kg, center = [0, 0, 0.2] m, inertia = [0.02, 0.01, 0.02] kg*m^2 end ;
let A = join earth and a with revolute axis = [0, -1, 0] end ;
let B = join b and [1, 0, 0] m @ a with revolute axis = [1, 1, 0] end ;
let W = join [0, 0.2, 0] m @ b and c1 with rigid end ;
let S = join c1 and d with slider axis = [1, 0, 0] end ;
apply spring stiffness = 20 N*m/rad, rest = 0.2 rad end on B ;
apply damper coefficient = c end on B ;
apply motor torque = u*cos(3 rad/s*t) end on A ;
apply potential value = 3 J * sin(A)*cos(B) end ;
apply dissipation value = 0.2 N*m*s * (A' + B')^2 end ;
apply spring stiffness = 50 N/m end on S ;
start A = 0.3 ;
start B' = 1 rad/s ;
output height = position(d).z in mm ;
output speed = S' ;
event turns when A' crossing ;
"""


def same_entries(tree, at, seed):
    looped, unrolled = tree_kernel(looped_tree(tree)), to_numpy(lower(newton_euler(tree)))
    vdot = unrolled("forward", **at)[: tree.nv]
    xi = 0.3 * np.random.default_rng(seed).normal(size=tree.nv)
    extra = {"motions": vdot, "reactions": vdot, "rate": xi, "retract": xi}
    for name, entry in looped.program.entries.items():
        assert entry.layout == unrolled.program.entry(name).layout
        x = extra.get(name, ())
        assert relative_difference(looped(name, **at, x=x), unrolled(name, **at, x=x)) < SAME, name


@pytest.mark.parametrize("seed", some(range(12), 2))
def test_loops_equal_unrolled_code_on_random_trees_of_all_joints(seed):
    drawn = sample(seed, bodies=(3, 6), **TREES)
    tree = span(drawn.mechanism)
    assert any(node.is_reversed for node in tree.nodes)
    same_entries(tree, drawn.at(tree), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_loops_equal_unrolled_code_at_forty_bodies(seed):
    drawn = sample(seed, bodies=(40, 40), **TREES)
    tree = span(drawn.mechanism)
    same_entries(tree, drawn.at(tree), seed)


def test_loads_along_coordinates_outputs_and_events_are_written_out():
    tree = span(liaison.read(LOADED))
    rng = np.random.default_rng(4)
    at = {"q": rng.normal(size=3), "v": rng.normal(size=3), "u": [0.7], "t": 0.4}
    same_entries(tree, at | {"p": [2.0, 0.3]}, 4)


ON_BODIES = """
apply force value = [1, 2*sin(t*(3 rad/s)), u/(1 m)] N end on d ;
apply force value = [1, 0, 3] N, body = b end on [0.1, 0, 0] m @ d ;
apply spring stiffness = 30 N/m, rest = 0.3 m end on [0.3, 0, 1] m @ earth and c1 ;
apply damper coefficient = 3 N*s/m end on [0, 0.3, 0] m @ a and [0.1, 0, 0] m @ d ;
"""


def test_loads_on_bodies_are_formulas_of_the_bodies_they_touch():
    tree = span(liaison.read(LOADED + ON_BODIES))
    rng = np.random.default_rng(5)
    at = {"q": rng.normal(size=3), "v": rng.normal(size=3), "u": [0.7], "t": 0.4}
    same_entries(tree, at | {"p": [2.0, 0.3]}, 5)


ROTORS = """
apply armature inertia = 50^2 * 30 g*cm^2 end on A ;
apply armature inertia = 0.2 kg*m^2 end on A ;
apply armature inertia = m/10 end on S ;
let z = apply state rate = (A' - z)/(0.1 s), unit = "rad/s" end ;
let w = apply state rate = z*cos(B)/(1 s) - w*z*S/(1 m), unit = "rad/s" end ;
apply motor torque = z*(0.3 N*m*s/rad) end on B ;
apply damper coefficient = 3 N*s/m end on cable(10 cm, B, -2, S) ;
apply spring stiffness = 40 N/m, rest = 2 cm end on cable(30 cm, A, 20 cm, B, 1 cm) ;
output memory = z*w ;
"""


@pytest.mark.parametrize("more", ["", ON_BODIES], ids=["along coordinates", "on bodies"])
def test_rotors_states_of_loads_and_tendons_of_coordinates(more):
    tree = span(liaison.read(LOADED + ROTORS + more))
    rng = np.random.default_rng(6)
    at = {"q": rng.normal(size=3), "v": rng.normal(size=5), "u": [0.7], "t": 0.4}
    same_entries(tree, at | {"p": [2.0, 0.3]}, 6)


def test_rotors_along_one_velocity_of_a_joint_of_several():
    text = """
    let a = body mass = 2 kg, center = [0.1, 0, 0.2] m, inertia = [0.1, 0.2, 0.3] kg*m^2 end ;
    let b = body mass = 1 kg, center = [0, 0.3, 0] m, inertia = [0.1, 0.1, 0.2] kg*m^2 end ;
    let J = join earth and a with cylindrical end ;
    let K = join [0, 1, 0] m @ a and b with universal end ;
    apply armature inertia = 0.4 kg end on J.slide ;
    apply armature inertia = 0.3 kg*m^2 end on K.angle_x ;
    """
    tree = span(liaison.read(text))
    same_entries(tree, {"q": [0.2, 0.4, 0.5, -0.3], "v": [1.0, -2.0, 0.5, 0.7]}, 7)


@pytest.mark.parametrize(
    "more",
    [
        "apply force value = [0, 0, A*(1 N/rad)] N end on d ;",
        "require A'*B' = 0 ;",
        "apply potential value = 1 J*s * A*B' end ;",
    ],
)
def test_what_the_loops_do_not_know_is_left_to_unrolled_code(more, monkeypatch):
    mechanism = liaison.read(LOADED + more)
    with pytest.raises(DerivationError):
        looped_tree(span(mechanism))
    monkeypatch.setattr(ready, "UNROLLED", 1)
    assert ready.looped_kernel(span(mechanism)) is None


@pytest.mark.parametrize(
    ("measure", "why"),
    [("angle(b, earth)", "an angle between bodies"), ("cable(2, distance(b, earth))", "a cable")],
)
def test_what_a_load_acts_along_is_named(measure, why):
    pair = """let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
        let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
        let A = join earth and a with revolute end ;
        let B = join [1, 0, 0] m @ a and [1, 1, 0] m @ b with revolute end ;"""
    damper = f"apply damper coefficient = 1 end on {measure} ;"
    with pytest.raises(DerivationError, match=f"acts along {why},"):
        looped_tree(span(liaison.read(pair + damper)))


def test_a_potential_is_differentiated_along_its_own_joints_alone(monkeypatch):
    n = 12
    text = "".join(
        f"let b{k} = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2 end ;\n"
        f"let J{k} = join {f'b{k - 1}' if k else 'earth'} and b{k} with revolute end ;\n"
        f"apply potential value = 1 J*cos(J{k}) end ;\n"
        for k in range(n)
    )
    tree, calls = span(liaison.read(text)), []
    plain = setting.directional
    monkeypatch.setattr(setting, "directional", lambda *x: calls.append(x) or plain(*x))
    assert len(looped_tree(tree).written.tau) == n
    assert len(calls) == n  # not n²
