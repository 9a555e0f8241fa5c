"""Closed forms of dry friction and of relations of rates on one side, against runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from one_sided import G, first, moved, times
from scipy.optimize import brentq
from special import MODELS, Found, compared

import liaison


def cylinder_on_incline(problem: dict[str, Any]) -> Found:
    """The instant t* at which sliding ends, and what follows: rolling, or sliding the other way."""
    alpha, tol = math.radians(20), problem["tol"]
    found = []
    for f, s0 in ((0.2, 2.0), (0.2, -2.0), (0.1, 2.0), (0.1, -2.0)):
        what = f"f = {f}, s0 = {s0:+g}: "
        run = moved(problem, 2.0, parameters={"f": f}, start={"J.x'": s0}, series=("outputs",))
        push, hold = math.sin(alpha), 3 * f * math.cos(alpha)
        rolls = math.tan(alpha) < 3 * f
        ends = times(run, "sticks" if rolls else "slips", "floor: sliding")
        want = [abs(s0) / (G * (hold + math.copysign(push, s0)))] if rolls or s0 > 0 else []
        if len(ends) != len(want):
            found.append((f"{what}events", math.inf, f"{len(ends)} ends of sliding", tol))
        elif want:
            found.append(compared(f"{what}t*", ends, want, "s ", tol))
        slip = 0.0 if rolls else slip_after(s0, push, hold, 2.0)
        found.append(compared(f"{what}slip at 2 s", run["slip"][-1:], [slip], "m/s ", tol))
    return found


def slip_after(s0: float, push: float, hold: float, t: float) -> float:
    """Slip on a slope too steep to roll: ṡ = −g (sin α + 3 f cos α sign s)."""
    end = s0 / (G * (push + hold)) if s0 > 0 else 0.0
    return -G * (push - hold) * (t - end) + min(s0, 0.0)


def block_on_incline(problem: dict[str, Any]) -> Found:
    """A block on its corners, and a point, that stay: the drift over 10⁵ steps, by two methods."""
    found = []
    for model in (problem["model"], problem["point"]):
        for method in ("rk4", "moreau"):
            options = {"method": method, "step": 1e-3, "every": [0, 100], "series": ()}
            run = liaison.simulate(MODELS / model, until=100, **options)
            drift = float(np.max(np.abs(run.q[-1] - run.q[0])))
            name = f"{model.split('_')[0]}, {method}, {run.counts['steps']} steps"
            found.append((name, drift, "drift", problem["tol"]))
    return found


def ball_on_table(problem: dict[str, Any]) -> Found:
    """Struck without spin; rolling against resistance; spinning on the spot."""
    return [*struck(problem), *resisted(problem), *spinning(problem)]


def struck(problem: dict[str, Any]) -> Found:
    """Slides for 2 v/(7 f g), then rolls on with 5/7 of its speed."""
    run = moved(problem, 1.0, rtol=1e-10, atol=1e-12)
    end = first(run, "sticks", "table: sliding").t
    speed = np.linalg.norm(velocity(run))
    tol = problem["tol"]
    return [
        compared("struck: end of sliding", [end], [2 * 2.5 / (7 * 0.2 * G)], "s ", tol),
        compared("struck: speed of rolling", [speed], [2.5 * 5 / 7], "m/s ", tol),
    ]


def velocity(run: Any) -> Any:
    """Of the center, at the end."""
    at = {x.name: k for k, x in enumerate(run.labels["v"])}
    return run.v[-1][[at["F.vx"], at["F.vy"], at["F.vz"]]]


def resisted(problem: dict[str, Any]) -> Found:
    """Rolls without slip, slowed by (5/7) (k/r) g, until it rests."""
    radius, k, speed = 0.03, 1e-3, 1.2
    start = {"F.vx": speed, "F.vy": 0.0, "F.wx": 0.0, "F.wy": speed / radius, "F.wz": 0.0}
    slowing = 5 / 7 * k / radius * G
    options = {"rtol": 1e-10, "atol": 1e-12, "parameters": {"k": k}}
    run = moved(problem, 6.0, start=start, **options)
    end = first(run, "sticks", "table: rolling")
    want = [speed / slowing, speed**2 / (2 * slowing)]
    name = "rolling: time and way to rest"
    return [compared(name, [end.t, end.q[0]], want, "entry ", problem["tol"])]


def spinning(problem: dict[str, Any]) -> Found:
    """ω falls by p m g/I, and ends at ω₀ I/(p m g)."""
    radius, p, rate = 0.03, 2e-4, 20.0
    start = {"F.vx": 0.0, "F.vy": 0.0, "F.wz": rate}
    options = {"rtol": 1e-10, "atol": 1e-12, "parameters": {"p": p}}
    run = moved(problem, 6.0, start=start, **options)
    slowing = p * G / (2 / 5 * radius**2)
    end = first(run, "sticks", "table: pivoting").t
    return [compared("spinning: time to rest", [end], [rate / slowing], "s ", problem["tol"])]


def driven_brake(problem: dict[str, Any]) -> Found:
    """Every instant at which it lets go and holds, over 100 periods, from the law of each slide."""
    F, R, w = 2.0, 1.4, 2 * math.pi
    begin = math.asin(R / F) / w

    def speed(t: float) -> float:
        return F / w * (math.cos(w * begin) - math.cos(w * t)) - R * (t - begin)

    end = brentq(speed, 0.5 - begin, begin + 0.5, xtol=1e-15)
    way = F / w * (math.cos(w * begin) * (end - begin))
    way -= F / w**2 * (math.sin(w * end) - math.sin(w * begin)) + R * (end - begin) ** 2 / 2
    run = moved(problem, 100.1, rtol=1e-11, every=[0, 100])
    halves = np.arange(200) / 2
    tol = problem["tol"]
    return [
        compared("lets go", times(run, "slips"), begin + halves, "slide ", tol),
        compared("holds", times(run, "sticks"), end + halves, "slide ", tol),
        compared("first slide", [first(run, "sticks", "pad").q[0]], [way], "m ", tol),
    ]


def freewheel(problem: dict[str, Any]) -> Found:
    """Left where the driver would pull, entered again where both are equally fast, no jump."""
    torque, drag, J1, J2, w = 2.0, 0.3, 0.5, 1.5, 3.0

    def driver(t: float) -> float:
        """Torque that the driver hands on, times (J1 + J2)."""
        return J2 * torque * math.sin(w * t) + J1 * drag

    leave = brentq(driver, math.pi / w, 1.5 * math.pi / w, xtol=1e-15)

    def ahead(t: float) -> float:
        """Speed of the wheel less that of the driver."""
        lost = torque / (J1 * w) * (math.cos(w * leave) - math.cos(w * t))
        return -drag / J2 * (t - leave) - lost

    enter = brentq(ahead, leave + 0.5, leave + 2.0, xtol=1e-15)
    run = moved(problem, 3.0)
    found = [times(run, what)[0] for what in ("leaves", "enters")]
    speed = 1 + (torque / w * (1 - math.cos(w * leave)) - drag * leave) / (J1 + J2)
    speed -= drag / J2 * (enter - leave)
    there = first(run, "enters", "freewheel").v
    return [
        compared("leaves, enters", found, [leave, enter], "instant ", problem["tol"]),
        compared("speeds where it enters", there, [speed] * 2, "speed ", problem["tol"]),
    ]


def ratchet(problem: dict[str, Any]) -> Found:
    """Held until the torque exceeds the drag, driven on, held again where it would turn back."""
    torque, drag, J, w = 2.0, 0.3, 0.5, 3.0
    leave = math.asin(drag / torque) / w

    def speed(t: float) -> float:
        return (torque / w * (math.cos(w * leave) - math.cos(w * t)) - drag * (t - leave)) / J

    enter = brentq(speed, math.pi / w, 2 * math.pi / w, xtol=1e-15)
    way = torque / w * (math.cos(w * leave) * (enter - leave))
    way -= torque / w**2 * (math.sin(w * enter) - math.sin(w * leave))
    way = (way - drag * (enter - leave) ** 2 / 2) / J
    run = moved(problem, 4.0)
    again = 2 * math.pi / w
    want = [leave, leave + again, enter, enter + again]
    found = [*times(run, "leaves")[:2], *times(run, "enters")[:2]]
    there = [x.q[0] for x in run.events if x.what == "enters"][:2]
    return [
        compared("leaves, enters", found, want, "instant ", problem["tol"]),
        compared("angle after each leap", there, [way, 2 * way], "leap ", problem["tol"]),
    ]


def sleigh_one_sided(problem: dict[str, Any]) -> Found:
    """Forward: straight on to (π, 0), then a circle about (π, 1). Backward: a circle at once."""
    tol, end = problem["tol"], 10.0
    run = moved(problem, end)
    enters = first(run, "enters", "blade")
    back = moved(problem, end, start={"S.x'": -1.0})
    circle = [math.pi - math.sin(end), 1 + math.cos(end)]
    held = [-math.sin(end), math.cos(end) - 1]
    there = [enters.t, *enters.q[:2]]
    return [
        compared("where the blade catches it", there, [math.pi, math.pi, 0], "entry ", tol),
        compared("no impact there", enters.v, [1, 0, 1], "speed ", tol),
        compared("on its circle at 10 s", run.q[-1, :2], circle, "entry ", tol),
        compared("started backward, at 10 s", back.q[-1, :2], held, "entry ", tol),
        compared("its other events", [len(run.events), len(back.events)], [1, 0], "run ", 0.0),
    ]
