"""Virtual powers of parts in fields: they vanish together, and give the equations of motion."""

import pytest

import liaison
from liaison.analyse.proofs.exact_motion import random_point
from liaison.equations.formalisms.virtual_power import (
    compatible,
    real_velocities,
    rotation,
    translation,
    twists,
    virtual_power,
)
from liaison.errors import NamingError
from liaison.exact.residues import DEFAULT_PRIME, Residues
from liaison.expr import ZERO, as_expr, directional, evaluate, symbol
from liaison.expr.reading.simplify import vanishes_exactly

TREES = [
    "double_pendulum",
    "elliptic_pendulum",
    "gimbals",
    "spinning_top",
    "satellite",
    "quarter_car",
]
LOOPS = ["four_bar", "slider_crank", "chaplygin", "rolling_disc"]


def zero(equations, f):
    """Whether a formula vanishes modulo a prime, quaternions being of unit length."""
    domain = Residues(DEFAULT_PRIME, 7)
    return evaluate(as_expr(f), random_point(equations, domain), domain) == 0


def derived(examples, name, formalism="lagrange"):
    return liaison.derive(examples / f"{name}.lsd", formalism, exact=True)


def bodies_of(equations):
    return [node.body for node in equations.reports.setting.tree.nodes]


FIELDS = {
    "translation": translation([1, 2, -1]),
    "rotation": rotation([0, 1, 3], [1, 0, 2]),
    "real": real_velocities(),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", [*TREES[:4], *LOOPS[:3]])
def test_all_powers_together_vanish_for_every_part(examples, name, field):
    equations = derived(examples, name)
    bodies = bodies_of(equations)
    for part in ([bodies[0]], bodies[-1:], bodies):
        assert zero(equations, virtual_power(equations, part, FIELDS[field]).total), part


@pytest.mark.parametrize("name", [*TREES, *LOOPS[:2]])
def test_fields_that_joints_allow_give_the_equations_of_motion(examples, name):
    """In the field of a unit of v_j: inertia and gravity give −(M v̇ + h)_j, by Lagrange."""
    equations = derived(examples, name)
    dynamics, symbols = equations.dynamics, equations.symbols
    for j, label in enumerate(equations.labels["v"]):
        found = virtual_power(equations, bodies_of(equations), compatible({label.name: 1}))
        row = as_expr(dynamics.inverse[j] + dynamics.tau[j])  # M v̇ + h
        assert zero(equations, found.inertia + found.gravity + row), label.name
    assert len(symbols.v) == len(dynamics.h)


def test_loads_between_bodies_give_their_generalized_forces(examples):
    equations = derived(examples, "quarter_car")
    for j, label in enumerate(equations.labels["v"]):
        found = virtual_power(equations, bodies_of(equations), compatible({label.name: 1}))
        pushed = [x for x in equations.reports.setting.loads if x.pushes]
        wanted = sum((x.tau.get(j, ZERO) for x in pushed), ZERO)
        assert vanishes_exactly(as_expr(sum(found.loads.values(), ZERO) - wanted))


def test_the_real_motion_gives_the_theorem_of_power(examples):
    """Inertia gives −Ṫ (LL 1.3)."""
    equations = derived(examples, "elliptic_pendulum")
    symbols = equations.symbols
    found = virtual_power(equations, bodies_of(equations), real_velocities())
    ways = dict(zip(symbols.q, symbols.v, strict=True)) | dict(
        zip(symbols.v, symbols.vdot, strict=True)
    )
    T, U = equations.reports.energy
    assert vanishes_exactly(as_expr(found.inertia + directional([T], ways)[0]))
    assert vanishes_exactly(as_expr(found.gravity + directional([U], ways)[0]))


def test_a_translation_gives_the_resultant(examples):
    """Along y only the rail's guide could push the elliptic pendulum, and it does not."""
    equations = derived(examples, "elliptic_pendulum")
    found = virtual_power(equations, ["cart", "thread"], translation([0, 1, 0]))
    P = equations.reports.momentum[4]
    symbols = equations.symbols
    ways = dict(zip(symbols.q, symbols.v, strict=True)) | dict(
        zip(symbols.v, symbols.vdot, strict=True)
    )
    assert vanishes_exactly(as_expr(found.inertia + directional([P], ways)[0]))
    assert set(found.joints) == {"y", "theta"}
    assert vanishes_exactly(found.joints["theta"])  # inside the part, which moves as one solid


def test_a_part_feels_the_joint_at_its_border(examples):
    """The thread alone, moved along itself: the thread's pull, without any equation of motion."""
    equations = derived(examples, "elliptic_pendulum")
    found = virtual_power(equations, ["thread"], translation([0, 0, 1]))
    assert not vanishes_exactly(found.joints["theta"])
    assert vanishes_exactly(found.total)
    assert symbol("y''") is equations.symbols.vdot[0]


def test_a_twist_for_each_body(examples):
    equations = derived(examples, "double_pendulum")
    one = virtual_power(equations, ["upper", "lower"], twists({"upper": [0, 0, 0, 1, 0, 0]}))
    alone = virtual_power(equations, ["upper"], translation([1, 0, 0]))
    assert vanishes_exactly(as_expr(one.inertia - alone.inertia))


def test_wrong_names_are_told(examples):
    equations = derived(examples, "double_pendulum")
    with pytest.raises(NamingError, match="no body is named 'uper'"):
        virtual_power(equations, ["uper"], real_velocities())
    with pytest.raises(NamingError, match="no velocity is named"):
        virtual_power(equations, ["upper"], compatible({"A": 1}))


def test_maximal_coordinates_tell_it_too(examples):
    """There every joint is a closure, and pushes by its multipliers."""
    equations = derived(examples, "pendulum", "maximal")
    found = virtual_power(equations, ["bar"], rotation([0, 1, 3], [1, 0, 2]))
    assert set(found.joints) == {"A", "free bar"}
    for j, label in enumerate(equations.labels["v"]):
        row = virtual_power(equations, ["bar"], compatible({label.name: 1}))
        wanted = equations.dynamics.inverse[j] + equations.dynamics.tau[j]
        assert zero(equations, row.inertia + row.gravity + wanted), label.name
