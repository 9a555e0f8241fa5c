"""Distance of convex bodies: `python benchmarks/bench_convex.py [poses of a pair] [pairs]`.

Random polytopes at random poses, touching ones and such with parallel axes among them: the largest
error beside the size against features of both (exact), a quadratic program (every fiftieth pose),
and coal where it is installed, whose growing polytopes end early at a few poses, where the features
agree with ours; then cylinders against prisms inside and outside of them. Prints how many are not
numbers, and CPU time of a question. Ends with 1 where a bound is not met.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from liaison.contacts.convex.distance import separate  # noqa: E402
from liaison.contacts.convex.layout import Question, bodies_of  # noqa: E402
from liaison.numeric.hulls import Solid  # noqa: E402
from liaison.program.loops.compile import compile_loops  # noqa: E402
from samples.polytopes import (  # noqa: E402
    features,
    quadratic_program,
    random_polytope,
    random_pose,
    signed_distance,
)

BOUNDS = {"features": 1e-12, "program": 1e-9, "coal": 1e-10, "cylinders": 1e-6}
"""Largest errors beside the size."""
DISAGREED = 1e-3
"""Share of poses at which coal may differ by more: the features decide who is right."""
CORNERS = 1440  # of a prism that stands for a cylinder


def coal_shape(polytope: Any) -> Any:
    """The same body of coal, or None where coal is not installed."""
    try:
        import coal
    except ImportError:
        return None
    points = coal.StdVec_Vec3s()
    for x in polytope.vertices:
        points.append(x)
    return coal.ConvexBase.convexHull(points, True, "Qt")


def coal_distance(one: Any, other: Any, pose: Any) -> float:
    """The signed distance by coal, as exactly as it can."""
    import coal

    request, result = coal.DistanceRequest(True), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-14
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    here = coal.Transform3s(pose.R, pose.p)
    return float(coal.distance(one, here, other, coal.Transform3s.Identity(), request, result))


def polytopes(pairs: int, poses: int) -> dict[str, Any]:
    """Errors by witness, times and counts."""
    draw, call, ask = np.random.default_rng(0), compile_loops([separate])[separate], Question.new()
    errors: dict[str, list[float]] = {"features": [], "program": [], "coal": []}
    spent, bad = 0.0, 0
    for _ in range(pairs):
        a, b = random_polytope(draw), random_polytope(draw)
        size, bodies, far = a.size + b.size, bodies_of([Solid(a), Solid(b)]), features(b)
        one, other = coal_shape(a), coal_shape(b)
        for k in range(poses):
            pose = random_pose(draw, k, a, b)
            ask.R[:], ask.p[:] = pose
            begin = time.process_time()
            distance = call(0, 1, bodies, ask)
            spent += time.process_time() - begin
            answer = ask.floats[ask.slots("distance", "normal", "on_first", "on_second")]
            bad += not np.all(np.isfinite(answer))
            errors["features"].append(
                abs(distance - signed_distance(features(a, pose), far)) / size
            )
            if k % 50 == 0 and distance > 0:
                truth = quadratic_program(a.vertices @ pose.R.T + pose.p, b.vertices)
                errors["program"].append(abs(distance - truth) / size)
            if one is not None:
                errors["coal"].append(abs(distance - coal_distance(one, other, pose)) / size)
    return {"errors": errors, "bad": bad, "microseconds": 1e6 * spent / (pairs * poses)}


def cylinders(count: int) -> tuple[float, int]:
    """How far a cylinder is outside of what prisms in and about it allow; how many are bad."""
    draw, call, ask = np.random.default_rng(1), compile_loops([separate])[separate], Question.new()
    turn = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    rim = np.column_stack([np.cos(turn), np.sin(turn), 0 * turn + 1])
    inside = Solid(core=np.concatenate([rim, rim * [1, 1, -1]]))
    wide = [1 / np.cos(np.pi / CORNERS)] * 2 + [1]
    outside = Solid(core=np.concatenate([rim, rim * [1, 1, -1]]) * wide)
    worst, bad = 0.0, 0
    for k in range(count):
        other = random_polytope(draw)
        pose = random_pose(draw, 4 * (k // 4) + 1, other, other)
        values = []
        for x in (outside, Solid(disc=1, half=1), inside):
            ask.R[:], ask.p[:] = pose
            values.append(call(0, 1, bodies_of([x, Solid(other)]), ask))
        bad += not np.all(np.isfinite(values))
        size = other.size + 2**0.5
        worst = max(worst, (values[0] - values[1]) / size, (values[1] - values[2]) / size)
    return worst, bad


def main() -> int:
    """Prints the table; 1 where a bound is not met."""
    poses = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    result = polytopes(pairs, poses)
    worst = {name: max(x) for name, x in result["errors"].items() if x}
    beyond = sum(x > BOUNDS["coal"] for x in result["errors"]["coal"])
    worst.pop("coal", None)
    worst["cylinders"], bad = cylinders(max(100, pairs * poses // 20))
    print(f"{pairs * poses} poses of {pairs} pairs, {result['microseconds']:.1f} µs a question")
    for name, value in worst.items():
        print(f"{name:10} largest error beside the size {value:.2e}, at most {BOUNDS[name]:.0e}")
    if result["errors"]["coal"]:
        within = np.median(result["errors"]["coal"])
        print(
            f"coal       median error {within:.2e}; beyond {BOUNDS['coal']:.0e} in {beyond} poses"
        )
    print(f"not numbers: {result['bad'] + bad}")
    few = beyond <= DISAGREED * pairs * poses
    return int(
        result["bad"] + bad > 0 or not few or any(x > BOUNDS[name] for name, x in worst.items())
    )


if __name__ == "__main__":
    sys.exit(main())
