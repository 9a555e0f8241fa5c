"""Optimal control with CasADi: torques of least effort from rest to rest, solved with IPOPT.

A four-bar linkage turns its crank by 180° in 0.5 s, through its closed loop; an arm of two axes
swings up in 1 s under limits of torque that are too small to hold it stretched out. Both are
transcribed by multiple shooting: states at N + 1 instants, torques that are constant between
them, and one step of `liaison.to_casadi(…, "step")` for each interval.

    python examples/studies/optimal_control.py [FIGURE.png]
"""

import sys
from dataclasses import dataclass
from math import pi
from pathlib import Path

import casadi
import numpy as np

import liaison

HERE = Path(__file__).parents[1]

FOUR_BAR = (
    (HERE / "four_bar.lsd").read_text(encoding="utf-8")
    + """
input drive = 0 N*m ;
apply motor torque = drive end on A ;
"""
)
ARM = (
    (HERE / "double_pendulum.lsd").read_text(encoding="utf-8")
    + """
input shoulder = 0 N*m ;
input elbow = 0 N*m ;
apply motor torque = shoulder end on A ;
apply motor torque = elbow end on B ;
"""
)


@dataclass(frozen=True)
class Task:
    """From rest to rest: where it starts, where given coordinates end, when, and limits [N m]."""

    text: str
    start: dict[str, float]
    end: dict[str, float]
    duration: float
    limits: tuple[float, ...] = ()


@dataclass(frozen=True)
class Solution:
    """Instants [s], states in rows, torques of each interval in rows [N m], and ∫ τ² dt."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    effort: float


CRANK = Task(FOUR_BAR, {"A": pi / 2, "A'": 0.0}, {"A": 3 * pi / 2}, 0.5)
SWING = Task(ARM, {"A": 0.0, "B": 0.0}, {"A": pi, "B": 0.0}, 1.0, (4.5, 2.0))


def solved(task: Task, intervals: int, method: str = "rk4") -> Solution:
    """The torques of least ∫ τ² dt among those that are constant in each interval."""
    kernel = liaison.to_kernel(task.text)
    first = liaison.simulate(kernel, until=1e-9, start=task.start).state(0)
    step = liaison.to_casadi(kernel, "step", method=method)
    labels = [x.name for x in kernel.program.labels["q"]]
    nq, nv, nu = len(first.q), len(first.v), kernel.program.sizes["nu"]
    h = task.duration / intervals
    problem = casadi.Opti()
    q, v = problem.variable(nq, intervals + 1), problem.variable(nv, intervals + 1)
    u = problem.variable(nu, intervals)
    problem.minimize(h * casadi.sumsqr(u))
    problem.subject_to(q[:, 0] == first.q)
    problem.subject_to(v[:, 0] == first.v)
    for k in range(intervals):
        after = step(t=k * h, q=q[:, k], v=v[:, k], u=u[:, k], h=h)
        problem.subject_to(q[:, k + 1] == after["q_next"])
        problem.subject_to(v[:, k + 1] == after["v_next"])
    for label, value in task.end.items():
        i = labels.index(label)
        problem.subject_to(q[i, -1] == value)
        problem.subject_to(v[i, -1] == 0)
    for i, limit in enumerate(task.limits):
        problem.subject_to(problem.bounded(-limit, u[i, :], limit))
    guess = smooth(task, h)
    problem.set_initial(q, guess.q.T)
    problem.set_initial(v, guess.v.T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    values = problem.solve()
    rows = [np.array(values.value(x)).reshape(x.shape).T for x in (q, v, u)]
    return Solution(np.linspace(0, task.duration, intervals + 1), *rows, values.value(problem.f))


def smooth(task: Task, every: float):
    """A motion from rest to rest by kinematics alone, in which loops are closed: a first guess."""
    s = liaison.t / task.duration
    shape = s**3 * (10 - 15 * s + 6 * s**2)
    motion = {x: task.start[x] + (end - task.start[x]) * shape for x, end in task.end.items()}
    return liaison.kinematic_run(task.text, motion, until=task.duration, every=every)


def simulated(task: Task, solution: Solution, **options):
    """The run under the torques that were solved for, each held for its interval."""
    h = solution.t[1]
    kernel = liaison.to_kernel(task.text)

    def held(i):
        return lambda t, state: solution.u[min(round(t / h), len(solution.u) - 1), i]

    names = [x.name for x in kernel.program.labels["u"]]
    inputs = {name: (h, held(i)) for i, name in enumerate(names)}
    until = task.duration
    return liaison.simulate(
        kernel, until=until, start=task.start, inputs=inputs, every=h, **options
    )


def drawn(solutions: dict[str, tuple[Task, Solution]], path: str) -> None:
    """Angles and torques of each task beside each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.2), layout="constrained")
    axes = figure.subplots(2, len(solutions), sharex="col")
    for k, (title, (task, solution)) in enumerate(solutions.items()):
        program = liaison.to_kernel(task.text).program
        above, below = axes[:, k]
        for i, label in enumerate(program.labels["q"]):
            above.plot(solution.t, np.degrees(solution.q[:, i]), label=label.name)
        for i, label in enumerate(program.labels["u"]):
            below.stairs(solution.u[:, i], solution.t, baseline=None, label=label.name)
        for i, limit in enumerate(task.limits):
            for side in (-limit, limit):
                below.axhline(side, color=f"C{i}", linestyle=":", linewidth=1)
        above.set(title=f"{title}: ∫τ²dt = {solution.effort:.4g} N²m²s", ylabel="angle [°]")
        below.set(xlabel="t [s]", ylabel="torque [N m]")
        above.legend(frameon=False)
        below.legend(frameon=False)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Solves both, checks them by runs, and draws them if a path is named."""
    tasks = {"Four-bar linkage": (CRANK, 50), "Arm of two axes": (SWING, 80)}
    solutions = {}
    for title, (task, intervals) in tasks.items():
        solution = solved(task, intervals)
        same = simulated(task, solution, method="rk4", step=solution.t[1])
        exact = simulated(task, solution, rtol=1e-11, atol=1e-12)
        other = solved(task, 2 * intervals, "midpoint")
        print(f"{title}: effort {solution.effort:.6g} N²m²s")
        print(f"  same steps in liaison.simulate: {abs(same.q - solution.q).max():.1e} rad away")
        print(f"  the run of small error:         {abs(exact.q - solution.q).max():.1e} rad away")
        print(f"  implicit midpoint, half steps:  effort {other.effort:.6g} N²m²s")
        solutions[title] = (task, solution)
    if len(sys.argv) > 1:
        drawn(solutions, sys.argv[1])


if __name__ == "__main__":
    main()
