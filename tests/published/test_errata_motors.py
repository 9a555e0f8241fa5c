"""LL 3.2 as it stands in the document, number by number: what it prints wrongly, and what is right.

The two organised algorithms are written here as printed but for the slips, each of which can be put
back by its name; the recursion of the package must agree with them while no slip is in them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from liaison.equations.motors.motorized import motorized
from liaison.expr import as_expr, evaluate
from liaison.model import (
    Body,
    Gravity,
    Joint,
    Marker,
    Mechanism,
    PointWrench,
    Prismatic,
    Revolute,
    Transmission,
    drive,
)
from liaison.spatial import rotation_onto_z, tilde
from liaison.tree import span

ROUNDING = 1e-12  # relative, of some hundred operations on numbers near 1
KINDS = "RRPR"
N = len(KINDS)
GRAVITY = np.array([0.0, 0.0, -9.81])


def unit(x):
    return x / np.linalg.norm(x)


def skew(a):
    return np.array(tilde(a), dtype=float)


@cache
def chain():
    """Data of the document for four joints: index 0 is the first body."""
    rng = np.random.default_rng(20090218)
    spread = rng.normal(size=(N, 3, 3))
    return {
        "l": rng.uniform(-1, 1, (N, 3)),
        "d": rng.uniform(-1, 1, (N, 3)),
        "e": rng.uniform(-1, 1, (N, 3)),
        "u": np.array([unit(x) for x in rng.normal(size=(N, 3))]),
        "eps": np.array([unit(x) for x in rng.normal(size=(N, 3))]),
        "m": rng.uniform(1, 2, N),
        "I": np.array([np.eye(3) + 0.05 * (x + x.T) for x in spread]),  # reduced: I′
        "alpha": np.array([3.0, -5.0, 4.0, 2.0]),
        "j": rng.uniform(0.1, 0.2, N),
        "i": rng.uniform(0.1, 0.15, N),
        "F_E": rng.uniform(-1, 1, (N, 3)),
        "M_E": rng.uniform(-1, 1, (N, 3)),
    }


@cache
def state():
    return np.random.default_rng(3).uniform(-1, 1, (3, N))


def rotor_tensor(data, i):
    eps = data["eps"][i]
    return (data["j"][i] - data["i"][i]) * np.outer(eps, eps) + data["i"][i] * np.eye(3)


def geometry(data, q):
    """λ_i, S_i and the letters ρ_i."""
    lam = data["l"].copy()
    S = [np.eye(3)] * N
    for i, kind in enumerate(KINDS):
        u = skew(data["u"][i])
        if kind == "P":
            lam[i] = lam[i] + q[i] * data["u"][i]
        else:
            S[i] = np.eye(3) + np.sin(q[i]) * u + (1 - np.cos(q[i])) * u @ u
    return lam, S, np.array([kind == "R" for kind in KINDS], dtype=float)


def newton_euler_of_the_document(data, q, qd, qdd, slip=""):
    """Q_A by the organised form of LL 3.2.1."""
    lam, S, rho = geometry(data, q)
    tau = 1 - rho
    x = np.cross
    omega, domega, dW, g = np.zeros(3), np.zeros(3), np.zeros(3), GRAVITY
    Fn, Ma, Mc = np.zeros((N, 3)), np.zeros((N + 1, 3)), np.zeros((N, 3))
    for i in range(N):
        u, eps, a = data["u"][i], data["eps"][i], data["alpha"][i]
        Im = rotor_tensor(data, i)
        om = omega + a * qd[i] * eps
        dom = domega + a * (qdd[i] * eps + qd[i] * x(omega, eps))
        Ma[i] = -(Im @ dom + x(om, Im @ om))
        slide = tau[i] * (qdd[i] * u + 2 * qd[i] * x(omega, u))
        dW = S[i].T @ (dW + x(domega, lam[i]) + x(omega, x(omega, lam[i])) + slide)
        domega = S[i].T @ (domega + rho[i] * (qdd[i] * u + qd[i] * x(omega, u)))
        omega = S[i].T @ (omega + rho[i] * qd[i] * u)
        dV = dW + x(domega, data["d"][i]) + x(omega, x(omega, data["d"][i]))
        g = S[i].T @ g
        Fn[i] = data["m"][i] * (dV - g)
        if slip == "backward force":
            Fn[i] = -(data["F_E"][i] + data["m"][i] * g)
        I = data["I"][i]
        if slip == "inertia of the whole" and i + 1 < N:
            I = I + rotor_tensor(data, i + 1)
        Mc[i] = -(I @ domega + x(omega, I @ omega))
    F, M, Q = np.zeros(3), np.zeros(3), np.zeros(N)
    for i in reversed(range(N)):
        arm = x(lam[i + 1], F) if i + 1 < N else np.zeros(3)
        given = data["M_E"][i] + x(data["e"][i], data["F_E"][i])
        if slip == "given wrench at O":
            given = data["M_E"][i]
        M = S[i] @ (M + x(data["d"][i], Fn[i]) + arm - given - Mc[i] - Ma[i + 1])
        F = S[i] @ (F + Fn[i] - data["F_E"][i])
        a = data["alpha"][i]
        spun = a * Ma[i] @ data["eps"][i] * (a if slip == "ratio twice" else 1)
        Q[i] = (tau[i] * F + rho[i] * M) @ data["u"][i] - spun
    return Q


def mampey_of_the_document(data, q, slip=""):
    """A by the organised form of LL 3.2.2; I_k holds the rotor that body k carries."""
    lam, S, rho = geometry(data, q)
    tau, x, u = 1 - rho, np.cross, data["u"]
    carried = [rotor_tensor(data, k + 1) if k + 1 < N else np.zeros((3, 3)) for k in range(N)]
    M = [data["m"][k:].sum() for k in range(N)]
    d = [skew(data["d"][k]) for k in range(N)]
    C = [data["I"][k] + carried[k] - data["m"][k] * d[k] @ d[k] for k in range(N)]
    A = np.zeros((N, N))
    own = data["alpha"] ** 2 * data["j"]
    A[-1, -1] = tau[-1] * M[-1] + rho[-1] * u[-1] @ C[-1] @ u[-1]
    A[-1, -1] += 0 if slip == "last entry" else own[-1]
    p, J = -data["m"][-1] * data["d"][-1], C[-1]
    for k in reversed(range(N - 1)):
        n = k + 1
        p, J = S[n] @ p, S[n] @ J @ S[n].T
        r = tau[n] * M[n] * u[n] + rho[n] * x(p, u[n])
        h = data["alpha"][n] * data["j"][n] * data["eps"][n]
        h = h + tau[n] * x(M[n] * lam[n] - p, u[n]) + rho[n] * (J @ u[n] + x(lam[n], r))
        A[k, n] = A[n, k] = u[k] @ (tau[k] * r + rho[k] * h)
        across = skew(lam[n]) @ skew(p)
        J = J + C[k] - M[n] * skew(lam[n]) @ skew(lam[n]) + across + across.T
        A[k, k] = own[k] + tau[k] * M[k] + rho[k] * u[k] @ J @ u[k]
        p = p - data["m"][k] * data["d"][k] - M[n] * lam[n]
        for i in reversed(range(k)):
            r = S[i + 1] @ r
            sign = -1 if slip == "sign of h" else 1
            h = S[i + 1] @ h + sign * x(lam[i + 1], r)
            A[i, n] = A[n, i] = u[i] @ (tau[i] * r + rho[i] * h)
    return A


def energy_of_the_document(data, q, qd, slip=""):
    """T = Σ t_i of LL 3.2.2, with the rotor of the next joint in t_i; that of the first in t_0."""
    lam, S, rho = geometry(data, q)
    omega, W, T = np.zeros(3), np.zeros(3), 0.0
    for i in range(N):
        Im = rotor_tensor(data, max(i - 1, 0) if slip == "tensor of the rotor" else i)
        om = omega + data["alpha"][i] * qd[i] * data["eps"][i]
        T += om @ Im @ om / 2
        u = data["u"][i]
        W = S[i].T @ (W + np.cross(omega, lam[i]) + (1 - rho[i]) * qd[i] * u)
        omega = S[i].T @ (omega + rho[i] * qd[i] * u)
        V = W + np.cross(omega, data["d"][i])
        T += data["m"][i] * V @ V / 2 + omega @ data["I"][i] @ omega / 2
    return T


@cache
def package():
    """The same chain as a mechanism, and its recursion."""
    data = chain()
    bodies, joints, rest = [], [], [Gravity(tuple(GRAVITY))]
    for i, kind in enumerate(KINDS):
        name, before = f"b{i}", f"b{i - 1}" if i else "ground"
        R = np.array(rotation_onto_z(list(data["u"][i])), dtype=float).tolist()
        bodies.append(Body(name, data["m"][i], tuple(data["d"][i]), data["I"][i].tolist()))
        type_ = Revolute() if kind == "R" else Prismatic()
        on = Marker(before, R, tuple(data["l"][i]))
        joints.append(Joint(f"q{i}", type_, on, Marker(name, R)))
        made = drive(
            f"motor{i}",
            joints[-1],
            torque=0,
            transmission=Transmission(data["alpha"][i]),
            axial=data["j"][i],
            transverse=data["i"][i],
            seat=Marker(before),
            axis=tuple(data["eps"][i]),
        )
        bodies.append(made.rotor)
        joints.append(made.bearing)
        rest += [made.gear, made.torque]
        at = Marker(name, p=tuple(data["e"][i]))
        wrench = {"force": tuple(data["F_E"][i]), "moment": tuple(data["M_E"][i])}
        rest.append(PointWrench(f"given{i}", at, **wrench, axes=Marker(name)))
    gears = tuple(x for x in rest if hasattr(x, "ratio"))
    forces = tuple(x for x in rest if not hasattr(x, "ratio"))
    mechanism = Mechanism("chain", tuple(bodies), tuple(joints), constraints=gears, forces=forces)
    return motorized(span(mechanism))


def ours():
    """A and Q_A of the package, given wrenches taken off as in the document."""
    made = package()
    symbols = (*made.q, *made.v, *made.vdot)
    values = dict(zip(symbols, state().ravel().tolist(), strict=True))
    A = np.zeros((N, N))
    for (i, j), entry in made.M.items():
        A[i, j] = A[j, i] = evaluate(entry, values)
    needed = [a - b for a, b in zip(made.required, made.applied, strict=True)]
    return A, np.array(evaluate(needed, values), dtype=float)


def test_the_recursions_without_slips_are_those_of_the_package():
    A, Q = ours()
    q, qd, _ = state()
    np.testing.assert_allclose(mampey_of_the_document(chain(), q), A, rtol=0, atol=ROUNDING * 100)
    np.testing.assert_allclose(newton_euler_of_the_document(chain(), *state()), Q, atol=1e-10)
    T = energy_of_the_document(chain(), q, qd)
    assert qd @ A @ qd / 2 == pytest.approx(T, rel=ROUNDING)


@pytest.mark.parametrize(
    "slip", ["backward force", "inertia of the whole", "given wrench at O", "ratio twice"]
)
def test_ll_3_2_1_newton_and_euler_with_motors(slip):
    Q = newton_euler_of_the_document(chain(), *state(), slip)
    assert np.max(np.abs(Q - ours()[1])) > 1e-3


@pytest.mark.parametrize("slip", ["sign of h", "last entry"])
def test_ll_3_2_2_mampeys_recursion(slip):
    A = mampey_of_the_document(chain(), state()[0], slip)
    assert np.max(np.abs(A - ours()[0])) > 1e-3


def test_ll_3_2_2_the_rotor_that_a_body_carries_is_that_of_the_next_joint():
    q, qd, _ = state()
    T = energy_of_the_document(chain(), q, qd, "tensor of the rotor")
    assert abs(T - qd @ ours()[0] @ qd / 2) > 1e-3


def test_ll_3_1_1_inertia_goes_with_the_acceleration_it_is_summed_over():
    """A m̈ with m̈_j in row i, not m̈_k: what the recursion needs more for accelerations is A m̈."""
    made = package()
    values = dict(zip((*made.q, *made.v), state()[:2].ravel().tolist(), strict=True))
    A, _ = ours()
    values |= dict(zip(made.vdot, state()[2].tolist(), strict=True))
    more = [a - b for a, b in zip(made.required, made.bias, strict=True)]
    found = np.array(evaluate(more, values), dtype=float)
    np.testing.assert_allclose(found, A @ state()[2], atol=1e-10)
    for k in range(N):
        assert not np.allclose(found, A.sum(axis=1) * state()[2][k])


@pytest.mark.parametrize("ratio", [-5.0, 3.0])
def test_ll_3_2_dry_friction_referred_to_the_output(ratio):
    """The power lost on both sides is that of the friction on the joint."""
    on_motor, on_joint, speed = 0.2, 0.7, 1.3
    lost = on_motor * abs(ratio * speed) + on_joint * abs(speed)
    joint = Joint("A", Revolute(), Marker("ground"), Marker("b"))
    given = Transmission(ratio, dry=(on_motor, on_joint), smoothing=1e-9)
    made = drive("motor", joint, torque=0, transmission=given, axial=0.1)
    friction = float(evaluate(as_expr(made.friction.dry)))
    assert friction * speed == pytest.approx(lost, rel=ROUNDING)
    assert friction == pytest.approx(abs(ratio) * on_motor + on_joint, rel=ROUNDING)
    assert friction != pytest.approx(ratio**2 * on_motor + on_joint, rel=0.1)
