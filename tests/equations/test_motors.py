"""Motors with transmissions: the recursion with rotors, Mampey's recursion, motor coordinates."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from liaison import simulate
from liaison.equations import FORMALISMS, newton_euler
from liaison.equations.motors.motorized import mampey, motorized
from liaison.equations.setting import Setting
from liaison.equations.sweeps.recursion import mass_matrix
from liaison.equations.transform.transform import transformed
from liaison.errors import DerivationError
from liaison.exact.residues import residues
from liaison.expr import as_expr, count_operations, evaluate, substitute, symbol
from liaison.formats import read
from liaison.model import Marker, PointWrench
from liaison.spatial.plucker import act_force
from liaison.tree import merged, span
from samples import Solved, chain, relative_difference, sample
from samples.drawing import values_of
from samples.shelf import EXAMPLES, example

ARM = EXAMPLES / "geared_arm.lsd"
TREES = {"loops": (0, 0), "loads": False, "relations": False, "bodies": (3, 7)}
ROUNDING = 1e-12  # of sums and products of moderate numbers
SOLVED = 1e-9  # M of the whole has entries from 5e-5 to 2: five digits are the solver's

# A rotor on the body that it drives, one on the ground for the last joint, one turned around.
SCATTERED = """
gravity = [0, 1, -9] ;
let a = body mass = 3, center = [1/10, 1/5, 0], inertia = [1, 2, 3/2] end ;
let b = body mass = 2, center = [0, 1/5, 1/7], inertia = [1, 1, 1] end ;
let c = body mass = 1, center = [1/3, 0, 0], inertia = [1/2, 2/3, 1] end ;
let A = join earth and a with revolute axis = [0, 0, 1] end ;
let B = join [1/2, 0, 0] @ a and b with prismatic axis = [1, 0, 0] end ;
let C = join [0, 1/2, 0] @ b and c with revolute axis = [0, 3/5, 4/5] end ;
input x = 0 N*m ;
let on_driven = apply motor torque = x, ratio = 3, rotor = 1/10, transverse = 1/20,
  mass = 1/2, seat = [1/5, 0, 0] @ a, axis = [3/5, 0, 4/5] end on A ;
let far = apply motor torque = x, ratio = -7, rotor = 1/9,
  seat = earth, axis = [0, 3/5, 4/5] end on C ;
let beyond = apply motor torque = x, ratio = 5, rotor = 1/8, mass = 1,
  seat = [0, 0, 1/5] @ c, axis = [4/5, 0, 3/5], viscous = [1/10, 1/5] end on A ;
let rack = body mass = 1/2, center = [0, 0, 1/7], inertia = [1/50, 1/50, 1/30] end ;
let spin = join rack and [1/10, 0, 0] @ c with revolute axis = [0, 0, 1] end ;
couple B and spin with proportion ratio = 20, offset = 1/3 end ;
apply spring stiffness = 50, rest = 1/10 end on [0, 0, 1] @ earth and [0, 1/3, 0] @ c ;
apply force value = [1, 2, 3], body = c end on [1/2, 0, 0] @ c ;
"""


@cache
def arm(exact=False):
    tree = span(read(ARM), exact=exact)
    return tree, motorized(tree)


@cache
def scattered(exact=False):
    tree = span(read(SCATTERED), exact=exact)
    return tree, motorized(tree)


def general(tree, made):
    """The equations with rotors as bodies, and the map from joint velocities to all velocities."""
    equations = newton_euler(tree)
    names = [label.name for label in equations.labels["v"]]
    psi = {(k, column): as_expr(1) for column, k in enumerate(made.parts.kept)}
    for rotor in made.parts.rotors:
        psi[names.index(f"{rotor.coordinate}'"), rotor.driven] = as_expr(rotor.ratio)
    return equations, psi


def put(equations, made):
    """Coordinates, velocities and accelerations of rotors by those of the joints."""
    rates = dict(zip(equations.symbols.v, equations.symbols.vdot, strict=True))
    second = dict(zip(made.v, made.vdot, strict=True))
    found = dict(made.parts.put)
    for v, rate in rates.items():
        if v in made.parts.put:
            found[rate] = substitute([made.parts.put[v]], second)[0]
    return found


def numbers(formulas, values):
    return np.array([float(x) for x in evaluate(list(formulas), values)])


def drawn(made, equations, seed=0):
    symbols = (*made.q, *made.v, *made.vdot, *equations.symbols.u, *equations.symbols.p)
    rng = np.random.default_rng(seed)
    return {x: float(rng.uniform(-1, 1)) for x in symbols}


def lower(M, n, values):
    found = np.zeros((n, n))
    for (i, j), x in zip(M, numbers(M.values(), values), strict=True):
        found[i, j] = found[j, i] = x
    return found


# The recursion against rotors as bodies


@pytest.mark.parametrize("case", [arm, scattered])
def test_mass_and_forces_are_those_of_rotors_as_bodies(case):
    tree, made = case()
    equations, psi = general(tree, made)
    wanted = transformed(equations, psi, made.labels)
    n = len(made.v)
    for seed in range(3):
        values = drawn(made, equations, seed)
        M = lower(made.M, n, values)
        assert relative_difference(M, lower(wanted.M, n, values)) < ROUNDING
        force = numbers(made.applied, values) - numbers(made.bias, values)
        assert relative_difference(force, numbers(made.put(wanted.force), values)) < ROUNDING
        vdot = np.array([values[x] for x in made.vdot])
        needed = numbers(made.required, values) - numbers(made.bias, values)
        assert relative_difference(needed, M @ vdot) < ROUNDING


@pytest.mark.parametrize("case", [arm, scattered])
def test_mass_and_required_forces_are_equal_exactly(case):
    """Modulo a prime, at two random points."""
    tree, made = case(exact=True)
    equations, psi = general(tree, made)
    M = transformed(equations, psi, made.labels).M
    whole = substitute(list(needed_in_all(equations)), put(equations, made))
    told = made.referred([as_expr(x) for x in whole])
    left = [a - b for a, b in zip(told, made.required, strict=True)]
    zero = [*left, *(M[key] - made.M.get(key, as_expr(0)) for key in M)]
    for seed in (1, 2):
        assert not any(evaluate(zero, domain=residues(seed=seed)))


def needed_in_all(equations):
    """M v̇ + h along every velocity."""
    d = equations.dynamics
    return [a + b for a, b in zip(d.inverse, d.tau, strict=True)]


@pytest.mark.parametrize("formalism", FORMALISMS)
def test_every_formalism_accelerates_as_the_recursion(formalism):
    taken = example(ARM)
    made = Solved(taken, formalism)
    own = arm()[1]
    equations = Solved(taken).equations
    values = values_of(equations, taken.at(equations))
    n = len(own.v)
    force = numbers(own.applied, values) - numbers(own.bias, values)
    vdot = np.linalg.solve(lower(own.M, n, values), force)
    values |= dict(zip(own.vdot, vdot.tolist(), strict=True))
    everything = substitute(list(equations.symbols.vdot), put(equations, own))
    wanted = Solved(taken).accelerations(numbers(everything, values))
    assert relative_difference(made.accelerations(), wanted) < SOLVED


@pytest.mark.parametrize("case", [arm, scattered])
def test_reactions_are_those_of_rotors_as_bodies(case):
    tree, made = case()
    equations = newton_euler(tree)
    known = put(equations, made)
    values = drawn(made, equations)
    bearings = {rotor.coordinate: rotor for rotor in made.parts.rotors}
    setting = Setting(merged(tree))
    for name, wrench in equations.reports.reactions.items():
        wanted = numbers(substitute(list(wrench), known), values)
        found = numbers(made.reactions[name], values)
        if name in bearings:
            wanted, found = on_carrier(setting, bearings[name], wanted, found, known, values)
        assert relative_difference(found, wanted) < ROUNDING, name


def on_carrier(setting, rotor, wanted, found, known, values):
    """Both wrenches on a rotor at its carrier's origin, in the carrier's axes."""
    nodes = setting.tree.nodes
    i = next(k for k, node in enumerate(nodes) if node.joint.name == rotor.coordinate)
    told = [as_expr(x) for part in setting.kinematics.pose(i) for x in part.flat]
    pose = numbers(substitute(told, known), values)
    R, p = pose[:9].reshape(3, 3), pose[9:]
    if nodes[i].is_reversed:  # told on the carrier, at its marker, which is X_PJ
        R, p = (np.array(x, dtype=float) for x in nodes[i].X_PJ)
        wanted = -wanted
    at = np.array(rotor.point, dtype=float)
    return act_force(R, p, wanted), act_force(np.eye(3), at, found)


def test_the_transverse_inertia_of_a_rotor_acts_with_its_carrier_only():
    """−M_a is what the rotor held still would need, and α j (q̈ ε + q̇ Ω × ε)."""
    tree, made = arm(exact=True)
    text = ARM.read_text().replace("transverse = 0.6 kg*cm^2", "transverse = 0.8 kg*cm^2")
    other = motorized(span(read(text), exact=True))
    more = [a - b for a, b in zip(other.required, made.required, strict=True)]
    values = drawn(made, newton_euler(tree))
    # the column carries it and turns about z, against which its axis is inclined by acos 0.6
    extra = 0.2e-4 * (1 - 0.6**2) * values[made.vdot[0]]
    assert numbers(more, values) == pytest.approx([extra, 0, 0], abs=1e-15)


def test_motor_torques_make_the_motion_that_asks_for_them():
    tree, made = arm()
    equations = newton_euler(tree)
    values = drawn(made, equations)
    torques = dict(
        zip(made.motor_torques, numbers(made.motor_torques.values(), values), strict=True)
    )
    inputs = {"base_motor": "turn", "shoulder_motor": "lift", "elbow_motor": "bend"}
    by_name = {x.name: x for x in equations.symbols.u}
    values |= {by_name[inputs[name]]: x for name, x in torques.items()}
    left = numbers(made.applied, values) - numbers(made.required, values)
    assert np.max(np.abs(left)) < ROUNDING * np.max(np.abs(numbers(made.required, values)))


def test_the_simulation_model_moves_as_the_simulation_of_rotors_as_bodies():
    """q̈ = A⁻¹ (Q_A − S_A) of LL 3.2.3 by Runge and Kutta, without the steep dry friction."""
    text = ARM.read_text().replace(", dry = [0.002, 0.5] N*m", "")
    mechanism = read(text)
    made = motorized(span(mechanism))
    names = [x.name for x in (*made.q, *made.v)]
    run = simulate(mechanism, until=0.5, rtol=1e-10, atol=1e-12)
    x, h = np.array([run[name][0] for name in names]), 0.5 / 100

    def slope(x):
        values = dict(zip((*made.q, *made.v), x.tolist(), strict=True))
        values |= {symbol(name): 0.0 for name in ("turn", "lift", "bend")}
        force = numbers(made.applied, values) - numbers(made.bias, values)
        return np.concatenate([x[3:], np.linalg.solve(lower(made.M, 3, values), force)])

    for _ in range(100):
        a = slope(x)
        b = slope(x + h / 2 * a)
        c = slope(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + slope(x + h * c))
    moved = np.array([run[name][-1] - run[name][0] for name in names])
    assert np.max(np.abs(moved)) > 0.1
    assert np.max(np.abs(x - [run[name][-1] for name in names])) < 1e-7  # h⁴ of unit rates is 6e-10


PARAMETRIC = """
parameter n = 50 ;
parameter j = 1/1000 ;
let link = body mass = 2, inertia = [2, 2, 3] end ;
let A = join earth and link with revolute end ;
apply motor torque = 0, ratio = n, rotor = j end on A ;
"""


def test_ratios_and_inertias_may_be_parameters():
    made = motorized(span(read(PARAMETRIC), exact=True))
    n, j = symbol("n"), symbol("j")
    assert not evaluate(made.M[0, 0] - (3 + n * n * j), domain=residues(seed=1))


def test_the_page_on_motors_runs(monkeypatch):
    monkeypatch.chdir(EXAMPLES.parent)
    page = (EXAMPLES.parent / "docs" / "theory" / "motors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 5
    exec("\n".join(blocks), {})


# Mampey's recursion


def cost(M):
    return sum(count_operations(list(M.values())).values())


def composite_and_mampey(mechanism):
    kinematics = Setting(merged(span(mechanism))).kinematics
    return mass_matrix(kinematics), mampey(kinematics)


@pytest.mark.parametrize("seed", range(12))
def test_mampeys_matrix_is_that_of_composite_inertias(seed):
    taken = sample(seed, **TREES)
    equations = newton_euler(span(taken.mechanism))
    values = values_of(equations, taken.at(equations))
    composite, found = composite_and_mampey(taken.mechanism)
    assert set(found) == set(composite)
    n = len(equations.symbols.v)
    assert relative_difference(lower(found, n, values), lower(composite, n, values)) < ROUNDING
    print(f"sample {seed}: composite inertias {cost(composite)}, Mampey {cost(found)} operations")


def test_mampeys_matrix_of_the_seven_axes_arm_and_what_it_costs():
    mechanism = read(EXAMPLES / "arm7.urdf")
    composite, found = composite_and_mampey(mechanism)
    equations = newton_euler(span(mechanism))
    rng = np.random.default_rng(5)
    values = {q: float(rng.uniform(-2, 2)) for q in equations.symbols.q}
    assert relative_difference(lower(found, 7, values), lower(composite, 7, values)) < ROUNDING
    costs = [cost(M) for M in (composite, found)]
    assert abs(costs[1] - costs[0]) < 0.1 * costs[0]  # the same moments, otherwise arranged
    print(f"arm7: composite inertias {costs[0]}, Mampey {costs[1]} operations")


@pytest.mark.parametrize("joints", ["R", "RP", "PPR"])
def test_mampeys_matrix_of_chains_and_trees(joints):
    for branching in (1.0, 2.0):
        mechanism = chain(6, branching=branching, joints=joints, skew=0.7)
        composite, found = composite_and_mampey(mechanism)
        q = newton_euler(span(mechanism)).symbols.q
        values = {x: 0.3 + 0.2 * k for k, x in enumerate(q)}
        assert relative_difference(lower(found, 6, values), lower(composite, 6, values)) < ROUNDING


# Refusals


def test_a_load_on_a_rotor_leaves_reactions_open():
    mechanism = read(PARAMETRIC)
    rotor = next(body.name for body in mechanism.bodies if body.name.endswith(".rotor"))
    push = PointWrench("push", Marker(rotor), force=(1, 0, 0))
    made = motorized(span(replace(mechanism, forces=(*mechanism.forces, push))))
    with pytest.raises(DerivationError, match="acts on the rotor"):
        assert made.reactions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ((EXAMPLES / "four_bar.lsd").read_text(), "closes a loop"),
        (SCATTERED + "require A = B * 1 rad/m ;", "is no gear"),
        (SCATTERED.replace("[0, 0, 1/7]", "[1/10, 0, 1/7]"), "not balanced"),
        (
            SCATTERED + "let d = body mass = 1 kg end ; "
            "let D = join [1, 0, 0] @ rack and d with prismatic end ;",
            "a rotor carries nothing",
        ),
        (
            SCATTERED.replace("couple B and spin", "couple far.angle and spin"),
            "one degree of freedom",
        ),
    ],
)
def test_what_is_no_tree_with_rotors_is_refused(text, words):
    with pytest.raises(DerivationError, match=words):
        motorized(span(read(text)))
