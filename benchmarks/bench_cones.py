"""Contact forces by each method alone and together: `python benchmarks/bench_cones.py [problems]`.

For every set of random problems: the share that is solved to 1e-12 and to 1e-9, and CPU time of the
median problem and of all, from no forces. Sweeps alone are 2000; Newton's method alone begins at no
forces, once with modes (ε = 0), once from inside the bounds (ε falls).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from liaison.program.loops.compile import compile_loops  # noqa: E402
from liaison.program.loops.language import f64, i64, loop, ptr  # noqa: E402
from liaison.program.loops.records import Rows  # noqa: E402
from liaison.solvers.cones.cones import (  # noqa: E402  # noqa: E402
    Cone,
    Limit,
    cone_area,
    solve_cones,
    spread,
    sweep,
)
from liaison.solvers.cones.newton import newton, newton_from_inside, rounding  # noqa: E402
from liaison.solvers.cones.table import (  # noqa: E402
    Area,
    natural_residual,
    prepare,
    project,
    refresh,
)
from samples.contact_scenes import (  # noqa: E402
    SIGNS,
    UP,
    Builder,
    Scene,
    box,
    contact_rows,
    planar_scene,
    random_scene,
    stack,
)

SWEEPS, NEWTON, INSIDE, BOTH = range(4)
METHODS = {
    "sweeps": SWEEPS,
    "newton": NEWTON,
    "inside": INSIDE,
    "sweeps, newton": BOTH,
}


@loop
def by_sweeps(m: i64, nb: i64, count: i64, blocks: Rows[Cone], work: Area) -> f64:
    """The residual after so many sweeps, or when nothing but rounding is left."""
    refresh(m, work)
    for _ in range(count):
        sweep(m, nb, blocks, work)
        if natural_residual(m, nb, blocks, work) <= rounding(m, work.force):
            break
    refresh(m, work)
    return natural_residual(m, nb, blocks, work)


@loop
def one_method(
    m: i64,
    nb: i64,
    method: i64,
    A: ptr,
    b: ptr,
    blocks: Rows[Cone],
    limits: Rows[Limit],
    f: ptr,
    area: ptr,
) -> f64:
    """As `solve_cones`, by one method or a pair of them."""
    work = Area(area, m, nb)
    beta = prepare(m, nb, A, b, blocks, limits, f, work)
    project(m, nb, blocks, work)
    if method == SWEEPS:
        residual = by_sweeps(m, nb, 2000, blocks, work)
    elif method == INSIDE:
        spread(m, nb, 0, blocks, work)
        residual = newton_from_inside(m, nb, blocks, work, 1.0, 0.3, 0.1)
    else:
        if method == BOTH:
            by_sweeps(m, nb, 8, blocks, work)
        residual = newton(m, nb, blocks, work, 0.1)
    for i in range(m):
        f[i] = beta * work.scale[i] * work.force[i]
    return residual


def tower(rng: np.random.Generator, most: int = 20) -> Scene:
    """One to `most` boxes on each other, on all corners, that begin to fall: nothing is known."""
    boxes, half = int(rng.integers(1, most + 1)), np.array([0.5, 0.4, 0.3])
    ratio, mu, build, weight = rng.choice([1, 10, 100]), rng.choice([0.1, 0.3, 0.8]), Builder(), []
    for k in range(boxes):
        weight.append(box(ratio ** rng.uniform(-0.5, 0.5), half))
        for sign in SIGNS:
            p = sign * half
            under = (k - 1, p * [1, 1, -1]) if k > 0 else (None, None)
            build.contact(contact_rows(boxes, k, p, UP, *under), mu=mu)
    v = np.tile([0, 0, -9.81e-3, 0, 0, 0], boxes) + 0.01 * rng.normal(size=6 * boxes)
    return build.scene(np.concatenate(weight), v)


SETS: dict[str, tuple[int, Callable[[np.random.Generator], Scene]]] = {
    "few": (1, lambda rng: random_scene(rng, 5, 0.05)),
    "planar": (1, planar_scene),
    "random": (1, lambda rng: random_scene(rng, 20)),
    "bilateral": (1, lambda rng: random_scene(rng, 20, 0.05)),
    "stacks": (1, stack),
    "towers": (10, tower),
}
"""Of every set how many times fewer problems there are, and one of them."""


def measured(run: Callable[..., float], scenes: list[Scene]) -> str:
    """Shares and times of one method on one set, as text."""
    residual, spent = np.zeros(len(scenes)), np.zeros(len(scenes))
    for k, scene in enumerate(scenes):
        m, nb = len(scene.D), len(scene.blocks)
        problem = scene.A.ravel(), scene.b, *scene.tables, np.zeros(m), np.zeros(cone_area(m, nb))
        clock = time.thread_time()
        residual[k] = run(m, nb, *problem)
        spent[k] = time.thread_time() - clock
    shares = [100 * np.mean(residual <= x) for x in (1e-12, 1e-9)]
    return (
        f"{shares[0]:8.2f} {shares[1]:8.2f} {np.median(spent) * 1e6:9.0f} {spent.sum() * 1e3:9.0f}"
    )


def main() -> None:
    """The table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    compiled = compile_loops([one_method, solve_cones])
    alone, all_of_it = compiled[one_method], compiled[solve_cones]
    runs: dict[str, Callable[..., float]] = {
        name: lambda m, nb, *rest, method=method: alone(m, nb, method, *rest)
        for name, method in METHODS.items()
    }
    print(f"{'':10} {'method':15} {'≤ 1e-12':>8} {'≤ 1e-9':>8} {'median µs':>9} {'all ms':>9}")
    for name, (fewer, make) in SETS.items():
        rng = np.random.default_rng(11)
        scenes = [make(rng) for _ in range(count // fewer)]
        for method, run in {**runs, "solve_cones": all_of_it}.items():
            print(f"{name:10} {method:15} {measured(run, scenes)}", flush=True)


if __name__ == "__main__":
    main()
