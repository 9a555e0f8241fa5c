"""Reference problems with contacts and friction: events and states against published numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq, fsolve
from special import MODELS, Found, compared

import liaison
from liaison.analyse import linearize

EXACT = {"rtol": 1e-12, "atol": 1e-13}
G = 9.81


def moved(problem: dict[str, Any], until: float, **options: Any) -> Any:
    """A run of the problem's model, tight unless said otherwise."""
    return liaison.simulate(MODELS / problem["model"], until=until, **(EXACT | options))


def times(run: Any, what: str, name: str = "") -> Any:
    """Instants at which something happened, to a contact if it is named."""
    return np.array([x.t for x in run.events if x.what == what and name in ("", x.name)])


def first(run: Any, what: str, name: str) -> Any:
    return next(x for x in run.events if (x.what, x.name) == (what, name))


def bouncing_ball(problem: dict[str, Any]) -> Found:
    """t₁ = √(2h/g), then 2 t₁ eᵏ more each time; all over at t₁ (1 + e)/(1 − e)."""
    fall, e, tol = math.sqrt(2 / G), 0.9, problem["tol"]
    run = moved(problem, 10, series=("energy",))
    found = times(run, "impact", "floor")
    want = fall + np.cumsum([0, *(2 * fall * e**k for k in range(1, 40))])
    zeno = float(problem["zeno_time"])
    rest = times(run, "rests", "floor")
    after = run.t > zeno + tol
    told = [float(x) for x in problem["impact_times_1_10"]]
    return [
        compared("impact times 1 to 10", found[:10], told, "impact ", tol),
        compared("40 impacts, closed form", found[:40], want, "impact ", tol),
        compared("rest at the Zeno time", rest, [zeno], "rest ", tol),
        compared("at rest after it", np.c_[run.q, run.v][after], 0, "entry ", 1e-12),
        ("gain of energy", largest_gain(run), "J", 1e-12),
    ]


def largest_gain(run: Any) -> float:
    """The largest growth of the energy between two records."""
    total = run["energy"].sum(axis=1)
    return float(max(np.max(np.diff(total)), 0) / np.max(np.abs(total)))


def brake(problem: dict[str, Any]) -> Found:
    """Values on the way, the instant of rest, and rest after it."""
    run = moved(problem, 2, every=[0, 0.5, 1, 2])
    want = problem["values_at"]
    s, v = run.q[:, 0], run.v[:, 0]
    stop = times(run, "sticks")
    tol = problem["tol"]
    return [
        compared("s, v at 0.5 s", [s[1], v[1]], want["0.5"], "entry ", tol),
        compared("s, v at 1 s", [s[2], v[2]], want["1"], "entry ", tol),
        compared("stop time", stop, [want["stop"]], "stop ", tol),
        compared("s, v at the end", [s[3], v[3]], want["final"], "entry ", tol),
    ]


def woodpecker(problem: dict[str, Any]) -> Found:
    """Angles of contact, equilibrium, least friction that jams, free vibration, limit cycle."""
    tol, want = problem["tol"], problem["reference"]
    run = moved(problem, 6, rtol=1e-10, atol=1e-12, series=("energy",))
    low, high, beak = (first(run, "impact", x).q for x in ("low", "high", "beak"))
    hang = jammed(problem["model"])
    pairs = [
        ("sleeve contact angles", [-low[1], high[1]], [want["sleeve_contact_angle"]] * 2),
        ("beak contact angle", [beak[1] + beak[2]], [want["beak_contact_angle"]]),
        ("equilibrium", hang[:2], want["equilibrium"]),
        ("least friction that jams", hang[2:], [want["min_mu2_for_jamming"]]),
        (
            "free eigenfrequency",
            [free_frequency(problem["model"])],
            [want["free_eigenfrequency_Hz"]],
        ),
    ]
    rows = [compared(name, np.divide(x, y), 1, "entry ", tol) for name, x, y in pairs]
    return [*rows, *limit_cycle(problem, run)]


def standing(model: str, **start: float) -> tuple[Any, Any]:
    """Machine code of a model, and a state."""
    tree = liaison.span(liaison.read(MODELS / model))
    state = liaison.assemble(tree, None, **start)
    return liaison.to_llvm(liaison.lower(liaison.newton_euler(tree))), state


def jammed(model: str) -> list[float]:
    """φ_M and φ_S of the bird at rest on a jammed sleeve, and the friction that this takes."""
    kernel, state = standing(model)
    low = [name for name, *_ in kernel.program.facts["sides"]].index("low")

    def rest(x: Any) -> Any:
        """Forces and the gap, at y = 0, φ_M, φ_S − φ_M with the two forces of the contact."""
        q = np.array([0.0, *x[:2]])
        forces = kernel.call("terms", q=q, v=0 * state.v)["f"]
        sides = kernel.call("one_sided", q=q, v=0 * state.v)
        D = np.reshape(sides["D"], (-1, 3))[low : low + 2]
        return [*(forces + x[2:] @ D), sides["gap"][low]]

    found = fsolve(rest, np.zeros(4), xtol=1e-13)
    return [found[0], found[0] + found[1], found[3] / found[2]]


def free_frequency(model: str) -> float:
    """Of the bird against the sleeve, nothing touching [Hz]."""
    free = {"M": 0.0, "B": 0.0, "Y'": 0.0, "B'": 0.0}
    linear = linearize(*standing(model, **free), independent=("Y", "M", "B"))
    return float(np.max(linear.eigenvalues.imag)) / (2 * math.pi)


def limit_cycle(problem: dict[str, Any], run: Any) -> Found:
    """The last cycles repeat: their period, their phases, and no gain of energy on the way."""
    pecks = times(run, "impact", "beak")
    cycles = [
        [f"{x.name} {x.what}" for x in run.events if a <= x.t < b]
        for a, b in zip(pecks[-4:-1], pecks[-3:], strict=True)
    ]
    other = sum(cycle != problem["phases"] for cycle in cycles)
    period = np.diff(pecks)[-3:]
    return [
        compared("period of the limit cycle", period, problem["period"], "cycle ", 1e-6),
        ("phases of the limit cycle", float(other), "cycles that differ", 0.0),
        ("gain of energy", largest_gain(run), "J", 1e-9),
    ]


def slider_crank_clearance(problem: dict[str, Any]) -> Found:
    """The first impact: which corner, when, and where; angles told from the ground."""
    run = moved(problem, 0.003)
    hit = next(x for x in run.events if x.what == "impact")
    q, v = np.cumsum(hit.q), np.cumsum(hit.before)
    want = problem["reference"]
    rows = [
        compared("first impact", [hit.t], [want["t"]], "s ", problem["tol_t"]),
        compared("angles there", q / want["q"], 1, "angle ", problem["tol"]),
        compared("rates before it", v / want["qd"], 1, "rate ", problem["tol"]),
    ]
    return [*rows, ("other corner", float(hit.name != want["corner"]), hit.name, 0.0)]


def painleve_rod(problem: dict[str, Any]) -> Found:
    """p(θ) = 1 + 3 cos θ (cos θ − μ sin θ): one motion while it is positive, none or two after."""
    tol, rod = problem["tol"], Rod(problem["model"])
    leans = np.linspace(0.02, math.pi - 0.02, 79)
    p = 1 + 3 * np.cos(leans) * (np.cos(leans) - 1.33 * np.sin(leans))
    press = [rod.press(1.33, x) for x in leans]
    lean = brentq(rod.slope, 1.0, 1.2, xtol=1e-13)
    steep = math.atan(2)
    return [
        compared("mu = 1.33: every lean slides", p * press / G, 1, "lean ", tol),
        compared("least mu", [rod.limit(lean)], [4 / 3], "mu ", tol),
        compared("lean at the least mu", [lean], [problem["theta_at_mu_min"]], "rad ", tol),
        ("mu = 1.33, found motions", rod.named(1.33, steep, 0.0) != "one", "not one", 0.0),
        ("mu = 1.34, slow", rod.named(1.34, steep, 0.0) != "none", "no error", 0.0),
        ("mu = 1.34, fast", rod.named(1.34, steep, 5.0) != "several", "not reported", 0.0),
    ]


class Rod:
    """Painlevé's rod at an instant: its end slides forward, and it turns or not."""

    def __init__(self, model: str) -> None:
        self.tree = liaison.span(liaison.read(MODELS / model))
        self.kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(self.tree)))

    def run(self, mu: float, lean: float, turning: float = 0.0) -> Any:
        s, c = math.sin(lean), math.cos(lean)
        start = {"P.lean": lean, "P.z": s, "P.x": 0.0, "P.lean'": turning}
        start |= {"P.x'": -1.0 - s * turning, "P.z'": c * turning}
        state = liaison.assemble(self.tree, None, **start)
        options = {"parameters": {"mu": mu}, "series": ("contacts",)}
        return liaison.simulate(self.kernel, state, until=1e-6, **options)

    def press(self, mu: float, lean: float) -> float:
        """The force of the ground at the start, for 1 kg."""
        return float(self.run(mu, lean)["contacts.floor"][0])

    def limit(self, lean: float) -> float:
        """Where 1/force, which is linear in μ, is zero."""
        none, some = (1 / self.press(mu, lean) for mu in (0.0, 0.5))
        return 0.5 * none / (none - some)

    def slope(self, lean: float, h: float = 2e-3) -> float:
        """Of the limit, to fourth order."""
        a, b = ((self.limit(lean + k * h) - self.limit(lean - k * h)) / (2 * k * h) for k in (1, 2))
        return (4 * a - b) / 3

    def named(self, mu: float, lean: float, turning: float) -> str:
        """How many motions the run tells of."""
        try:
            run = self.run(mu, lean, turning)
        except liaison.SimulationError as error:
            return "none" if error.status == "no mode" and "Painlevé" in str(error) else str(error)
        return "several" if "several solutions" in [x.what for x in run.events] else "one"
