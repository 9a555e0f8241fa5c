"""Joints and frames that depend on time: against own Lagrangians, and against imposed joints."""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import liaison
from liaison.errors import LiaisonError
from liaison.expr import evaluate, symbol
from liaison.formats.lsd.write.write import write_lsd

BODY = "let b = body mass = 2 kg, center = [0.3, 0, 0] m, inertia = [0.1, 0.2, 0.3] kg*m^2 end ;"
BEAD = (
    BODY
    + """
let J = join earth and b with link(x)
  dof1 = (3 rad/s*t) || [0,0,1], dof2 = [x,0,0], force = [-5 N/m*x,0,0] end ;
gravity = [0, -9.81, 0] m/s^2 ;
start J.x = 0.2 m ; start J.x' = 0.1 m/s ;
"""
)
SAME_BEAD = (
    BODY
    + """
let J = join earth and b with link(a, x) dof1 = a || [0,0,1], dof2 = [x,0,0] end ;
impose J.a = 3 rad/s*t ;
apply spring stiffness = 5 N/m end on J.x ;
gravity = [0, -9.81, 0] m/s^2 ;
start J.x = 0.2 m ; start J.x' = 0.1 m/s ;
"""
)
PIVOT = (
    BODY
    + """
let P = [0.1 m*sin(4 rad/s*t), 0.05 m*cos(7 rad/s*t), 0] @ earth ;
let J = join P and b with hinge axis = [0,0,1] end ;
gravity = [0, -9.81, 0] m/s^2 ;
start J = 0.4 rad ;
output place = position(b).x ;
"""
)
CHAIN = (
    BODY
    + """
let J = join ([0.2,0,0.1] m ++ ((2 rad/s*t) || [0,0,1]) ++ [0.3,0,0] m
              ++ ((0.5 rad*sin(3 rad/s*t)) || [0,1,0])) @ earth
  and b with hinge axis = [1,0,0] end ;
gravity = [0, 0, -9.81] m/s^2 ;
start J = 0.3 rad ; start J' = 1 rad/s ;
output x = position([0,0.1,0] m @ b).x ; output y = position([0,0.1,0] m @ b).y ;
output vx = velocity([0,0.1,0] m @ b).x ; output vy = velocity([0,0.1,0] m @ b).y ;
"""
)
t, x, u = sympy.symbols("t x u")


def own(lagrangian, start, instants):
    """Lagrange's equation of one coordinate x with rate u, integrated here."""
    p = lagrangian.diff(u)
    rate = sympy.lambdify((t, x, u), (lagrangian.diff(x) - p.diff(t) - p.diff(x) * u) / p.diff(u))
    return solve_ivp(lambda s, y: [y[1], rate(s, *y)], (0, instants[-1]), start,
                     t_eval=instants, rtol=1e-12, atol=1e-12).y  # fmt: skip


def bead():
    """T by degrees, and V, of the bead: its center at (x + 0.3, 0) of axes that turn by 3 t."""
    c = (x + sympy.Rational(3, 10)) * sympy.Matrix([sympy.cos(3 * t), sympy.sin(3 * t)])
    v = c.diff(t) + c.diff(x) * u
    T = v.dot(v) + sympy.Rational(3, 10) * 9 / 2
    V = 2 * sympy.Rational(981, 100) * c[1] + sympy.Rational(5, 2) * x**2
    return sympy.expand(sympy.simplify(T)), V


def test_a_link_that_turns_with_time_against_an_own_lagrangian():
    run = liaison.simulate(BEAD, until=1, every=0.125, rtol=1e-11, atol=1e-12)
    T, V = bead()
    truth = own(T - V, [0.2, 0.1], run.t)
    assert np.allclose(run["J.x"], truth[0], rtol=0, atol=1e-9)
    assert np.allclose(run["J.x'"], truth[1], rtol=0, atol=1e-9)
    assert np.allclose(run["J.dof1"], 3 * run.t, rtol=0, atol=1e-12)


def test_it_is_the_mechanism_with_an_imposed_joint_and_its_drive_has_power():
    series = ("lam", "energy", "reactions")
    run = liaison.simulate(BEAD, until=1, every=0.125, series=series)
    same = liaison.simulate(SAME_BEAD, until=1, every=0.125, series=series)
    assert np.allclose(run.q, same.q, rtol=0, atol=1e-9)
    assert np.allclose(run["lam"], same["lam"], rtol=0, atol=1e-7)
    mass, at = 2.0, run["J.x"] + 0.3
    moment = mass * (2 * at * run["J.x'"] * 3 + 9.81 * at * np.cos(3 * run.t))  # dH_z/dt
    assert np.allclose(run["lam"][:, 0], moment, rtol=0, atol=1e-7)
    assert liaison.verify(BEAD, run).holds  # kinetic energy with the power 3 rad/s · λ


def test_kinetic_energy_has_parts_of_degree_two_one_and_none():
    parts = liaison.energy_parts(CHAIN)
    values = dict(zip(map(symbol, ("t", "J", "J'")), (0.7, 0.4, 1.3), strict=True))
    mine = sympy.Poly(chain().subs({t: 0.7, x: 0.4}), u)
    for part, k in ((parts.T2, 2), (parts.T1, 1), (parts.T0, 0)):
        value = float(evaluate([part], values)[0])
        assert value == pytest.approx(float(mine.coeff_monomial(u**k)) * 1.3**k, rel=1e-12)
        assert abs(value) > 1e-3


def chain():
    """T of the body on a frame that turns and tilts."""
    tilt = sympy.sin(3 * t) / 2
    first, second = sympy.rot_axis3(-2 * t), sympy.rot_axis2(-tilt)
    R = first * second * sympy.rot_axis1(-x)
    c = first * sympy.Matrix([0.3, 0, 0]) + R * sympy.Matrix([0.3, 0, 0])
    v = c.diff(t) + c.diff(x) * u
    W = R.T * (R.diff(t) + R.diff(x) * u)
    w = sympy.Matrix([W[2, 1], W[0, 2], W[1, 0]])
    return v.dot(v) + (0.1 * w[0] ** 2 + 0.2 * w[1] ** 2 + 0.3 * w[2] ** 2) / 2


def test_a_pivot_that_moves_against_an_own_lagrangian():
    run = liaison.simulate(PIVOT, until=1, every=0.125, rtol=1e-11, atol=1e-12)
    pivot = sympy.Matrix([sympy.sin(4 * t) / 10, sympy.cos(7 * t) / 20])
    c = pivot + sympy.Rational(3, 10) * sympy.Matrix([sympy.cos(x), sympy.sin(x)])
    v = c.diff(t) + c.diff(x) * u
    L = v.dot(v) + sympy.Rational(3, 20) * u**2 - 2 * sympy.Rational(981, 100) * c[1]
    truth = own(L, [0.4, 0.0], run.t)
    assert np.allclose(run["J"], truth[0], rtol=0, atol=1e-9)
    assert np.allclose(run["place"], 0.1 * np.sin(4 * run.t), rtol=0, atol=1e-12)
    assert liaison.verify(PIVOT, run).holds


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return {"x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
            "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
            "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])}[axis]  # fmt: skip


def test_turns_and_shifts_of_a_frame_one_after_another():
    run = liaison.simulate(CHAIN, until=1, every=0.25, rtol=1e-10, atol=1e-11)

    def place(s, angle):
        R = turn("y", 0.5 * np.sin(3 * s)) @ turn("x", angle)
        carried = np.array([0.3, 0, 0]) + R @ np.array([0, 0.1, 0])
        return np.array([0.2, 0, 0.1]) + turn("z", 2 * s) @ carried

    for k, s in enumerate(run.t):
        angle, rate = run["J"][k], run["J'"][k]
        assert np.allclose([run["x"][k], run["y"][k]], place(s, angle)[:2], atol=1e-10)
        step = 1e-30  # the derivative by a step along the imaginary axis
        v = np.imag(place(s + 1j * step, angle + 1j * step * rate)) / step
        assert np.allclose([run["vx"][k], run["vy"][k]], v[:2], atol=1e-9)
    assert liaison.verify(CHAIN, run).holds


@pytest.mark.parametrize("text", [BEAD, PIVOT, CHAIN], ids=["bead", "pivot", "chain"])
def test_all_formalisms_agree_and_texts_are_read_back(text):
    assert liaison.compare(text, timed=False).all_proved
    mechanism = liaison.read(text)
    again = liaison.read(write_lsd(mechanism))
    assert again.joints == mechanism.joints
    assert {x.name for x in again.constraints} == {x.name for x in mechanism.constraints}


@pytest.mark.parametrize("text", [BEAD, PIVOT, CHAIN], ids=["bead", "pivot", "chain"])
def test_mobility_is_that_at_a_fixed_time(text):
    mobility = liaison.mobility(text)
    assert mobility.finite == (1, 1)
    assert mobility.is_proved


def test_energy_is_no_first_integral_and_painleves_is_where_time_drops_out():
    free = BEAD.replace("gravity = [0, -9.81, 0] m/s^2 ;", "")
    free = free.replace(", force = [-5 N/m*x,0,0]", "")
    free += "apply spring stiffness = 5 N/m end on J.x ;"
    (integral,) = liaison.first_integrals(free)
    assert integral.kind == "painleve"
    run = liaison.simulate(free, until=2, invariants=True, rtol=1e-10, atol=1e-11)
    assert run.invariants[integral.name].drift < 1e-8
    energy = np.sum(np.asarray(run["energy"]), axis=1)
    assert np.ptp(energy) > 0.1
    assert liaison.first_integrals(BEAD) == ()
    assert liaison.first_integrals(free.replace("3 rad/s*t", "3 rad/s^2*t^2")) == ()


def test_a_loop_whose_pivot_moves():
    """A four-bar with a pivot on a slide that oscillates, by a frame and by a body of its own."""
    bars = "".join(
        f"let {name} = body mass = 1 kg, center = [{h}, 0, 0] m, inertia = 0.1 kg*m^2 end ;"
        for name, h in (("c", 0.1), ("k", 0.25), ("r", 0.2))
    )
    rest = """
let A = join earth and c with hinge end ;
let B = join [0.2,0,0] m @ c and k with hinge end ;
let C = join [0.5,0,0] m @ k and [0.4,0,0] m @ r with hinge end ;
start A = 1 rad ; guess B = -0.5 rad ;
gravity = [0, -9.81, 0] m/s^2 ;
"""
    law = "0.05 m*sin(5 rad/s*t)"
    framed = bars + rest + f"let D = join [0.45 m + {law}, 0, 0] @ earth and r with hinge end ;"
    bodied = (
        bars
        + rest
        + f"""
let slide = body mass = 0 kg, inertia = 0 kg*m^2 end ;
let X = join [0.45,0,0] m @ earth and slide with prismatic axis = [1,0,0] end ;
impose X = {law} ;
let D = join slide and r with hinge end ;
"""
    )
    one, other = (liaison.simulate(x, until=0.5, every=0.1) for x in (framed, bodied))
    for label in ("A", "B", "A'"):
        assert np.allclose(one[label], other[label], rtol=0, atol=1e-7)


def test_a_sum_of_a_coordinate_and_a_law():
    text = BODY + "let J = join earth and b with link(x) dof = (x + 2 rad/s*t) || [0,0,1] end ;"
    run = liaison.simulate(text, until=1)
    assert run["J.x'"][-1] + run["J.dof'"][-1] == pytest.approx(2.0)  # it turns steadily
    assert run["J.x"][-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BODY + "let J = join earth and b with link(x) dof = x || [sin(1 rad/s*t),0,1] end ;",
         "axis"),
        (BODY + "let J = join earth and b with link(x) dof = [x*sin(1 rad/s*t),0,0] end ;",
         "direction of a slide does not move"),
        (BODY + "let J = join (1 rad || [t/(1 s),0,1]) @ earth and b with hinge end ;", "axis"),
        (BODY + "let J = join [1 m*J,0,0] @ earth and b with hinge end ;", "J"),
        (BODY.replace("0.3, 0, 0] m", "0.3 m*sin(1 rad/s*t), 0, 0]")
         + "let J = join earth and b with hinge end ;", "body 'b' depends on 't'"),
        (BODY + "let J = join earth and b with link dof = [1,0,0] m end ;", "slide"),
    ],
)  # fmt: skip
def test_what_cannot_follow_time_is_an_error(text, words):
    with pytest.raises(LiaisonError, match=words):
        liaison.read(text)


def test_a_spring_on_a_frame_that_moves_against_an_own_lagrangian():
    text = (
        BODY
        + """
let J = join earth and b with hinge axis = [0,0,1] end ;
let P = [0.1 m*sin(4 rad/s*t), 1 m, 0] @ earth ;
apply spring stiffness = 50 N/m, rest = 0.2 m end on P and [0.6,0,0] m @ b ;
apply damper coefficient = 0.1 N*s/m end on P and [0.6,0,0] m @ b ;
start J = 0.4 rad ;
"""
    )
    mechanism = liaison.read(text)
    assert [x.name for x in mechanism.bodies[1:]].count("spring_on_P_b_frame_carrier") == 1
    assert len(mechanism.bodies) == 3  # ground, b, and one carrier for both loads
    quiet = "\n".join(line for line in text.splitlines() if "damper" not in line)
    run = liaison.simulate(quiet, until=1, every=0.125, rtol=1e-11, atol=1e-12)
    tip = sympy.Matrix([sympy.cos(x), sympy.sin(x)]) * sympy.Rational(3, 5)
    away = tip - sympy.Matrix([sympy.sin(4 * t) / 10, 1])
    stretch = sympy.sqrt(away.dot(away)) - sympy.Rational(1, 5)
    L = (sympy.Rational(3, 10) + 2 * sympy.Rational(9, 100)) * u**2 / 2 - 25 * stretch**2
    truth = own(L, [0.4, 0.0], run.t)
    assert np.allclose(run["J"], truth[0], rtol=0, atol=1e-9)
    assert liaison.verify(quiet, run).holds


def test_an_angle_to_a_frame_that_turns_counts_its_turns():
    spring = (
        "apply spring stiffness = 5 N*m/rad end on angle(((9 rad/s*t) || [0,0,1]) @ earth, b) ;"
    )
    text = BODY + "let J = join earth and b with hinge axis = [0,0,1] end ;" + spring
    run = liaison.simulate(text, until=2, every=0.25, rtol=1e-11, atol=1e-12)
    inertia, stiffness = 0.3 + 2 * 0.09, 5.0
    w = np.sqrt(stiffness / inertia)  # J − 9 t swings about zero, from the rate −9
    assert np.allclose(run["J"], 9 * run.t - 9 / w * np.sin(w * run.t), rtol=0, atol=1e-8)
