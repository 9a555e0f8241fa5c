"""The joint models run with ADAMS: against its printed numbers, and against the exact motion.

Each pendulum starts level and at rest and swings in a plane: its angle phi from the lowest
position is known in closed form, sin(phi/2) = sn(w t + K; k)/√2 with k² = 1/2. Where ADAMS departs
from it, it loses energy (balls and universal joints: 8 mJ of 10 J in 5 s), or its accelerations do
not belong to its own positions (hinges): such numbers are held to what ADAMS is good for, said in
the data file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ellipj, ellipk
from special import MODELS, Found, index_of, ready, simulate

import liaison
from liaison.equations import maximal
from liaison.program import to_numpy
from liaison.program.lower import lower

Table: TypeAlias = dict[tuple[str, float], list[float]]

GRAVITY = np.array([0, 0, -9.80665])
ARM = 2.0
QUANTITIES = ("Pos", "Vel", "Acc", "Quat", "Avel", "Aacc", "Rforce", "Rtorque")
SLOW = ("Acc", "Aacc", "Rforce", "Rtorque")

PENDULA = {
    # joint's place, direction of the arm at the start, axis, moment about the joint
    "Revolute_Case01": ((0, 0, 0), (1, 0, 0), (0, 1, 0), 4.1),
    "Revolute_Case02": ((1, 2, 3), (1, 0, 0), (0, np.sqrt(0.5), np.sqrt(0.5)), 4.1),
    "Spherical_Case01": ((0, 0, 0), (1, 0, 0), (0, 1, 0), 4.1),
    "Universal_Case01": ((0, 0, 0), (0, 1, 0), (1, 0, 0), 4.1),
    "Universal_Case02": ((0, 0, 0), (-1, 0, 0), (0, 1, 0), 4.1),
    "Distance_Case01": ((0, 0, 0), (0, 1, 0), (1, 0, 0), 4.0),
}


def adams_joints(problem: dict[str, Any]) -> Found:
    """Positions, velocities, accelerations, attitudes and reactions of every joint model."""
    table = adams_table()
    found: Found = []
    for case, (good, poor, *own) in problem["cases"].items():
        run = adams_run(case, sorted({t for _, t in table[case]}))
        parts = (("", good, (*QUANTITIES[:2], "Quat", "Avel")), (" accelerations", poor, SLOW))
        for word, allowed, quantities in parts:
            errors = [
                (error(key[0], value(run, *key), given), f"{key[0]} at {key[1]:g} s")
                for key, given in table[case].items()
                if key[0] in quantities
            ]
            found.append((f"{case}{word}", *max(errors), allowed))
        found.append((f"{case} exact", *exact_error(case, run), problem["exact"]))
        if own:
            there, forces = at_its_own_states(case, table[case])
            found.append((f"{case} at its states", *there, own[0]))
            found.append((f"{case} own forces", *forces, problem["forces"]))
    return found


def at_its_own_states(case: str, table: Table) -> tuple[tuple[float, str], tuple[float, str]]:
    """The worst of accelerations at ADAMS's positions and velocities, and of forces at all three.

    Every body by itself: what it prints is the state, and how it got there does not matter. With
    its own accelerations, too, inverse dynamics gives the force that it must have found.
    """
    tree = liaison.span(liaison.read(MODELS / f"adams_{case.lower().replace('_case', '_')}.lsd"))
    kernel = to_numpy(lower(maximal(tree)))
    there, forces = [], []
    for t in sorted({t for quantity, t in table if quantity == "Aacc"}):
        told = {name: np.array(table[name, t]) for name in QUANTITIES if (name, t) in table}
        R = rotation(told["Quat"])
        q = np.concatenate([told["Pos"], told["Quat"] / np.linalg.norm(told["Quat"])])
        w, v = R.T @ told["Avel"], R.T @ told["Vel"]
        state = {"q": q, "v": np.concatenate([w, v])}
        rate = kernel.call("forward", **state)["vdot"]
        seen = {"Aacc": R @ rate[:3], "Acc": R @ (rate[3:] + np.cross(w, v))}
        there += [(error(name, x, told[name]), f"{name} at {t:g} s") for name, x in seen.items()]
        rate = np.concatenate([R.T @ told["Aacc"], R.T @ told["Acc"] - np.cross(w, v)])
        lam = np.zeros(len(kernel.program.labels["lam"]))
        push = kernel.call("inverse", **state, x=np.concatenate([rate, lam]))["tau"]
        forces.append((error("Rforce", -R @ push[3:], told["Rforce"]), f"Rforce at {t:g} s"))
    return max(there), max(forces)


def adams_table() -> dict[str, Table]:
    """Case -> (quantity, instant) -> components."""
    table: dict[str, Table] = {}
    path = Path(__file__).parent / "problems" / "adams_joints.csv"
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        case, t, quantity, *values = line.split(",")
        table.setdefault(case, {})[quantity, float(t)] = [float(x) for x in values if x]
    return table


def adams_run(case: str, instants: list[float]) -> Any:
    kernel, state = ready(f"adams_{case.lower().replace('_case', '_')}.lsd")
    options: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-14, "every": instants}
    series = ("poses", "motions", "reactions")
    return simulate(kernel, state, until=instants[-1], series=series, **options)


def value(run: Any, quantity: str, t: float) -> Any:
    """What the run says of a quantity as ADAMS tells it: of the body's frame, in global axes."""
    k = index_of(run, t)
    pose, motion = run.series["poses"].values[k, 0], run.series["motions"].values[k, 0]
    if quantity in ("Rforce", "Rtorque"):
        wrench = run.reaction("J", frame="ground", on="predecessor").values[k]
        return wrench[3:] if quantity == "Rforce" else wrench[:3]
    places = {"Avel": slice(0, 3), "Vel": slice(3, 6), "Aacc": slice(6, 9), "Acc": slice(9, 12)}
    if quantity in places:
        return motion[places[quantity]]
    return pose[:, 3] if quantity == "Pos" else pose[:, :3]


def error(quantity: str, found: Any, given: Any) -> float:
    """The largest |difference|/(1 + |given|); attitudes as matrices, so that signs do not count."""
    want = rotation(np.array(given)) if quantity == "Quat" else np.array(given)
    return float(np.max(np.abs(found - want) / (1 + np.abs(want))))


def exact_error(case: str, run: Any) -> tuple[float, str]:
    """The largest error against the closed form, and where it is."""
    errors = []
    for t in run.t:
        for quantity, want in exact(case, t).items():
            errors.append(
                (error(quantity, value(run, quantity, t), want), f"{quantity} at {t:g} s")
            )
    return max(errors)


def exact(case: str, t: float) -> dict[str, Any]:
    """The motion in closed form: a pendulum from level, or a fall along z from x = 2."""
    if case not in PENDULA:
        still = np.zeros(3)
        place = np.array([ARM, 0, 0]) + GRAVITY * t * t / 2
        return {
            "Pos": place, "Vel": GRAVITY * t, "Acc": GRAVITY,
            "Avel": still, "Aacc": still, "Rforce": still, "Rtorque": still,
        }  # fmt: skip
    place, level, axis, moment = (np.array(x, dtype=float) for x in PENDULA[case])
    across = GRAVITY - axis * (axis @ GRAVITY)
    pull = float(np.linalg.norm(across))
    down = across / pull
    phi, rate, second = swing(np.sqrt(ARM * pull / float(moment)), t)
    turn = -np.cross(level, down)
    arm = ARM * (np.sin(phi) * level + np.cos(phi) * down)
    omega, alpha = rate * turn, second * turn
    acc = np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
    turns = 0.0 if case.startswith("Distance") else 1.0  # a rod leaves its body's attitude alone
    own = (float(moment) - ARM**2) * alpha
    torque = own + np.cross(arm, acc) - np.cross(arm, GRAVITY)
    return {
        "Pos": place + arm,
        "Vel": np.cross(omega, arm),
        "Acc": acc,
        "Avel": turns * omega,
        "Aacc": turns * alpha,
        "Rforce": GRAVITY - acc,
        "Rtorque": -torque,
    }


def swing(w: float, t: float) -> tuple[float, float, float]:
    """phi and its rates, from phi = 90° at rest; w² sin phi is what pulls it back."""
    sn, cn, _, _ = ellipj(w * t + ellipk(0.5), 0.5)
    phi = 2 * np.arcsin(np.sqrt(0.5) * sn)
    return phi, 2 * np.sqrt(0.5) * w * cn, -(w**2) * np.sin(phi)


def rotation(quaternion: Any) -> Any:
    """The matrix of a quaternion (w, x, y, z)."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
