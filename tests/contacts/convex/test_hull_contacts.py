"""Hulls in mechanisms, by Moreau's steps: as the shapes they are hulls of, at rest, refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.errors import LiaisonError, SimulationError
from samples.polytopes import Pose, features, signed_distance

BRICK = [*product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1))]
TABLE = li.Hull([*product((-3, 3), (-3, 3), (-0.5, 0))])
TETRAHEDRON = li.Hull([(0, 0, 0.3), (0.3, 0, 0), (-0.15, 0.26, 0), (-0.15, -0.26, 0)])
SLIDE = {"F.z": 0.1, "F.vx": 1.0, "F.vy": 0.3}
WEIGHT = 2 * 9.81


def mechanism(kind: str, body: Any = None, **options: Any) -> Any:
    body = body or li.body("b", mass=2, inertia=(0.01, 0.02, 0.03))
    free = li.join(li.ground, body, "free", name="F")
    floor = li.contact(body, li.ground, kind, **{"friction": 0.3, "name": "floor", **options})
    return li.mechanism(free, floor, li.gravity((0, 0, -9.81)))


def run(one: Any, start: dict[str, float], until: float = 1, **options: Any) -> Any:
    return li.simulate(one, until=until, start=start, method="moreau", step=1e-3, **options)


def force(result: Any) -> float:
    """Of all contacts along their normals, at the end."""
    (names,) = result.series["contacts"].axes.values()
    rows = [k for k, x in enumerate(names) if "sliding" not in x]
    return float(result["contacts"][-1][rows].sum())


def test_a_box_as_a_hull_slides_as_the_box() -> None:
    spin = {**SLIDE, "F.wz": 2.0}
    box, hull = (
        run(mechanism("box", size=(0.4, 0.3, 0.2)), spin),
        run(mechanism("hull", points=BRICK), spin),
    )
    assert np.abs(box.q - hull.q).max() < 1e-12
    # on a face of another hull as on the plane
    straight = run(mechanism("box", size=(0.4, 0.3, 0.2)), SLIDE)
    table = run(mechanism("hull", points=BRICK, hull=TABLE), SLIDE)
    assert np.abs(straight.q - table.q).max() < 1e-9
    assert table.meta["penetration"] < 1e-12
    way = (1 + 0.3**2) / (2 * 0.3 * 9.81)  # v²/(2 f g)
    assert np.hypot(*table.q[-1, :2]) == pytest.approx(way, rel=2e-3)


@pytest.mark.parametrize(
    ("kind", "sizes"), [("ball", {"radius": 0.1}), ("capsule", {"radius": 0.1, "length": 0.2}),
                        ("box", {"size": (0.4, 0.3, 0.2)})],
)  # fmt: skip
def test_shapes_move_on_a_hull_as_on_a_plane(kind: str, sizes: dict[str, Any]) -> None:
    start = {"F.z": 0.1 if kind != "capsule" else 0.2, "F.vx": 1.0}
    plane, hull = (run(mechanism(kind, **sizes, **x), start, 0.3) for x in ({}, {"hull": TABLE}))
    assert np.abs(plane.q - hull.q).max() < 1e-9


def test_a_cylinder_stands_and_rolls_on_a_hull() -> None:
    can = mechanism("cylinder", radius=0.1, length=0.2, hull=TABLE)
    stands = run(can, {"F.z": 0.1}, 0.2)
    assert np.abs(stands.q[-1, :3] - [0, 0, 0.1]).max() < 1e-12
    half = np.sqrt(0.5)
    lies = {"F.z": 0.1, "F.qw": half, "F.qx": half, "F.vx": 1.0, "F.wz": 10.0}
    rolls = run(can, lies, 0.3)
    # ω = 10 rad/s about the axis with 1 m/s and 0.1 m: no slip, whichever way it turns
    assert rolls.q[-1, 2] == pytest.approx(0.1, abs=1e-9)
    assert rolls.meta["penetration"] < 1e-9


def test_many_corners_of_a_prism_on_a_plane() -> None:
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    points = [(0.2 * np.cos(x), 0.2 * np.sin(x), z) for x in turn for z in (-0.1, 0.1)]
    result = run(mechanism("hull", points=points), {"F.z": 0.15, "F.vx": 0.3})
    assert result.q[-1, 2] == pytest.approx(0.1, abs=1e-12)
    assert np.abs(result.v[-1]).max() < 1e-9
    assert force(result) == pytest.approx(WEIGHT, rel=1e-6)


@pytest.mark.parametrize("target", [{}, {"hull": TABLE}])
def test_a_tetrahedron_comes_to_rest(target: dict[str, Any]) -> None:
    body = li.body("b", shapes=TETRAHEDRON, density=500)
    one = mechanism("hull", body, points=TETRAHEDRON, **target)
    result = run(one, {"F.z": 0.5, "F.wx": 3.0, "F.wy": 1.0}, 2)
    assert np.abs(result.v[-1]).max() < 1e-9
    assert abs(result.q[-1, 2]) < 1e-12
    assert result.meta["penetration"] < 1e-12
    assert force(result) == pytest.approx(float(body.mass) * 9.81, rel=1e-9)
    energy = result["energy"].sum(axis=1)
    assert energy.max() < energy[0] * (1 + 1e-5)  # error of the steps in flight


def test_a_hull_of_many_faces_never_enters_the_table() -> None:
    """The face that looks most against the table need not have the deepest corner."""
    draw = np.random.default_rng(7)
    table = features(TABLE.polytope())
    for _ in range(3):
        points = draw.normal(size=(40, 3))
        points *= [0.2, 0.14, 0.1] / np.linalg.norm(points, axis=1)[:, None]
        hull = li.Hull(points)
        one = mechanism("hull", li.body("b", shapes=hull, density=500), points=hull, hull=TABLE)
        spin = dict(zip(("F.wx", "F.wy", "F.wz"), draw.uniform(-5, 5, 3), strict=True))
        result = run(one, {"F.z": 0.3, **spin}, 0.6, every=0.01)
        for q in result.q:
            w, x, y, z = q[3:]
            turn = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            pose = Pose(np.eye(3) + 2 * w * turn + 2 * turn @ turn, q[:3])
            assert signed_distance(features(hull.polytope(), pose), table) > -1e-9


def test_hulls_on_joints_collide_without_neighbours() -> None:
    """A chain of hulls folds onto the floor; what a joint connects passes through each other."""
    link = li.Hull([*product((-0.05, 0.05), (-0.05, 0.05), (-0.5, 0))])
    one, two, three = (li.body(f"b{k}", shapes=link, density=200) for k in range(3))
    joints = [
        li.join(li.ground.at((0, 0, 1)), one, "revolute", name="A", axis=(0, 1, 0)),
        li.join(one.at((0, 0, -0.5)), two, "revolute", name="B", axis=(0, 1, 0)),
        li.join(two.at((0, 0, -0.5)), three, "revolute", name="C", axis=(0, 1, 0)),
    ]
    chain = li.mechanism(
        *joints, li.collision(one, two, three, li.ground, friction=0.2), li.gravity((0, 0, -9.81))
    )
    from liaison.model.pairing import paired

    names = [x.name for x in paired(chain).contacts]
    assert names == ["b0-b2", "b0-earth", "b1-earth", "b2-earth"]
    result = run(chain, {"A": 0.3, "B": 1.8, "C": 1.9}, 0.5)
    assert result.status == "done"
    assert result.meta["penetration"] < 1e-9


def test_event_driven_methods_refuse_hull_pairs_by_name() -> None:
    with pytest.raises(SimulationError, match=r"'floor' is a contact of convex bodies") as caught:
        li.simulate(mechanism("hull", points=BRICK, hull=TABLE), until=0.1, start={"F.z": 0.1})
    assert "moreau" in str(caught.value)
    # corners on a plane are formulas, and go from event to event
    smooth = li.simulate(mechanism("hull", points=BRICK), until=0.1, start={"F.z": 0.11})
    assert smooth.status == "done"


def test_kernels_batches_and_pages_know_hulls(tmp_path: Path) -> None:
    one, start = mechanism("hull", points=BRICK, hull=TABLE), {"F.z": 0.1, "F.vx": 1.0}
    alone = run(one, start, 0.05)
    kernel = li.simulate(li.compile(one), until=0.05, start=start, method="moreau", step=1e-3)
    batch = li.simulate_batch(
        one, until=0.05, start={"F.z": [0.1, 0.12], "F.vx": 1.0}, method="moreau", step=1e-3
    )
    assert np.array_equal(alone.q, kernel.q)
    assert np.array_equal(alone.q[-1], batch[0].q[-1])
    li.page(alone, one, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 0


def test_theorems_hold_of_runs_with_hulls() -> None:
    """Also that of the power of friction, over time: modes and forces are those of the steps."""
    one = mechanism("hull", points=BRICK, hull=TABLE)
    result = run(one, {"F.z": 0.1, "F.vx": 1.0}, 0.2)
    verification = li.verify(one, result)
    assert verification.holds
    lost = sum(x for name, x in verification.work.items() if "sliding" in name)
    assert lost == pytest.approx((1 - 0.3 * 9.81 * 0.2) ** 2 - 1, rel=3e-3)  # ½ m (v² − v₀²)
    assert {"momentum over time", "kinetic energy over time"} <= {
        x.name for x in verification.theorems
    }


def test_reactions_of_a_joint_beside_a_hull() -> None:
    """A bar on a hinge, its foot on a table: each carries what the lever says."""
    foot = li.Hull([*product((0.9, 1.1), (-0.1, 0.1), (-0.1, 0.1))])
    bar = li.body("bar", mass=2, center=(0.4, 0, 0), inertia=(0.01, 0.2, 0.2))
    hinge = li.join(li.ground.at((0, 0, 0.1)), bar, "revolute", name="J", axis=(0, 1, 0))
    on = li.contact(bar, li.ground, "hull", points=foot, hull=TABLE, name="c")
    one = li.mechanism(hinge, on, li.gravity((0, 0, -9.81)))
    result = run(one, {}, 0.05, series=["reactions"])
    points = [x for x in li.contact_points(one, result) if x.is_closed[-1]]
    place = sum(x.point[-1, 0] * x.force[-1, 2] for x in points) / sum(
        x.force[-1, 2] for x in points
    )
    lift = WEIGHT * 0.4 / place
    assert sum(x.force[-1, 2] for x in points) == pytest.approx(lift)
    wrench = result["reactions"][-1, 0]
    assert np.linalg.norm(wrench[3:]) == pytest.approx(WEIGHT - lift)
    assert np.abs(wrench[:3]).max() < 1e-6  # a hinge without friction, and all forces in a plane
    assert li.verify(one, result).holds


def test_points_of_contact_carry_the_weight() -> None:
    """Four corners of a brick at rest, and no other place of the eight; the points in a page."""
    one = mechanism("hull", points=BRICK, hull=TABLE)
    result = run(one, {"F.z": 0.1}, 0.02)
    points = li.contact_points(one, result)
    assert len(points) == 8
    closed = [x for x in points if x.is_closed[-1]]
    assert {tuple(np.round(x.point[-1], 9)) for x in closed} == {
        (x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.15, 0.15)
    }
    assert sum(x.force[-1] for x in closed) == pytest.approx([0, 0, WEIGHT], abs=1e-9)
    assert all(not x.force[-1].any() for x in points if not x.is_closed[-1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"points": 3}, "must be a hull, or points"),
        ({"points": li.Sphere(1)}, "must be a hull, or points"),
        ({"points": [(0, 0, 0), (1, 0, 0), (0, 1, 0)]}, "four or more"),
        ({"points": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]}, "lie in a plane"),
        ({"points": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, float("nan"))]}, "finite"),
        ({"points": BRICK, "inside": 1}, "is not known"),
        ({}, "give its points"),
    ],
)
def test_wrong_hulls_are_errors(options: dict[str, Any], words: str) -> None:
    with pytest.raises(LiaisonError, match=words):
        mechanism("hull", **options)


@pytest.mark.parametrize(
    ("kind", "sizes", "target", "height"),
    [
        ("cylinder", {"radius": 0.1, "length": 0.2}, {"drum": 0.3, "height": 0.4}, 0.3),
        ("capsule", {"radius": 0.1, "length": 0.2}, {"block": (1, 1, 0.4)}, 0.4),
        ("box", {"size": (0.4, 0.3, 0.2)}, {"outside": 0.2, "along": 0.4}, 0.5),
        ("hull", {"points": BRICK}, {"outside": 0.2}, 0.3),
        ("hull", {"points": BRICK}, {"drum": 0.5, "height": 0.4}, 0.3),
    ],
)
def test_convex_bodies_rest_on_each_other(
    kind: str, sizes: dict[str, Any], target: dict[str, Any], height: float
) -> None:
    """At the height of both, carried by their points, which are where both are."""
    one = mechanism(kind, **sizes, **target)
    result = run(one, {"F.z": height + 0.002}, 0.05)
    assert result.q[-1, 2] == pytest.approx(height, abs=1e-12)
    closed = [x for x in li.contact_points(one, result) if x.is_closed[-1]]
    assert sum(x.force[-1, 2] for x in closed) == pytest.approx(WEIGHT)
    below = height - 0.1 if kind != "capsule" else height - 0.2
    assert all(x.point[-1, 2] == pytest.approx(below, abs=1e-9) for x in closed)
