"""Capsules in scenes: one shape, against planes, balls, each other, boxes, hulls, drums, fields.

Laws: they roll and slide without loss, lie on two points, and move as what they consist of.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.contacts.convex.distance import separate
from liaison.contacts.convex.layout import Question, bodies_of
from liaison.contacts.convex.rods import rod_points
from liaison.contacts.scene.layout import World
from liaison.errors import SimulationError
from liaison.model.values import floats
from liaison.numeric.hulls import Solid
from liaison.program.loops.compile import compile_loops
from samples.polytopes import random_rotation

G = 9.81
HALF = np.sqrt(0.5)
ROD = li.Capsule(0.1, 0.4)
ALONG_X = {"qw": HALF, "qy": HALF}  # its axis z along x of the ground
ALONG_Y = {"qw": HALF, "qx": -HALF}


def scene(*parts: Any, **options: Any) -> Any:
    """A scene of (shape, start) or (shape, start, mass)."""
    joints, start = [], {}
    for k, (shape, begin, *mass) in enumerate(parts):
        body = li.body(f"b{k}", mass=mass[0] if mass else 1, shapes=shape)
        joints.append(li.join(li.ground, body, "free", name=f"F{k}"))
        start |= {f"F{k}.{label}": x for label, x in begin.items()}
    whole = li.mechanism(*joints, li.gravity(options.pop("gravity", (0, 0, -G))))
    return li.collide(whole, start=start, **{"friction": 0.5, **options})


def forces(one: Any) -> np.ndarray:
    """Impulses along the normals in a step, divided by it, in ascending order."""
    run = one.run(0.1, step=1e-3)
    run.go(20)
    world = World(run.arrays.run.beside)
    return np.sort(world.kept_force[: int(world.touching), 0]) / 1e-3


def moved(one: Any, until: float = 0.5) -> Any:
    return one.simulate(until, step=1e-3)


def test_a_capsule_lies_on_two_points() -> None:
    lying = moved(scene((ROD, {"z": 0.1, **ALONG_X})))
    assert lying.q[-1, :3] == pytest.approx([0, 0, 0.1], abs=1e-12)
    assert np.abs(lying.v).max() < 1e-11
    assert forces(scene((ROD, {"z": 0.1, **ALONG_X}))) == pytest.approx([G / 2, G / 2], rel=1e-9)


def test_a_capsule_rolls_and_slides_without_loss() -> None:
    # v = r ω, so that it rolls from the beginning
    start = {"z": 0.1, **ALONG_X, "vy": 1.0, "wz": -10.0}
    rolls = moved(scene((ROD, start)))
    assert rolls.q[-1, :3] == pytest.approx([0, 0.5, 0.1], abs=1e-9)
    energy = rolls["energy"].sum(axis=1)
    assert np.ptp(energy) < 1e-11 * energy[0]
    slides = moved(scene((ROD, {"z": 0.1, **ALONG_X, "vz": 1.0}), friction=0.0))
    assert slides.q[-1, 0] == pytest.approx(0.5, abs=1e-9)
    # with friction it stops after v²/(2 f g)
    stops = moved(scene((ROD, {"z": 0.1, **ALONG_X, "vz": 1.0})))
    assert stops.q[-1, 0] == pytest.approx(1 / (2 * 0.5 * G), rel=1e-2)


def test_on_planes_it_is_its_two_balls() -> None:
    tumbling = {"z": 0.5, "qw": 0.8, "qx": 0.6, "wx": 3.0, "wz": 20.0, "vx": 1.0}
    balls = (li.Sphere(0.1, p=(0, 0, -0.2)), li.Sphere(0.1, p=(0, 0, 0.2)))
    inertia = np.diag(np.array(ROD.tensor(1), dtype=float)).tolist()
    runs = []
    for shape in (ROD, balls):
        body = li.body("b", mass=1, inertia=inertia, shapes=shape)
        whole = li.mechanism(li.join(li.ground, body, "free", name="F"), li.gravity((0, 0, -G)))
        start = {f"F.{label}": x for label, x in tumbling.items()}
        runs.append(moved(li.collide(whole, start=start, friction=0.4, restitution=0.5), 1.0))
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9


def hull(count: int) -> Any:
    """Points of the surface of the capsule, the lines of its side among them."""
    turn = 2 * np.pi * np.arange(count) / count
    rows = []
    for lift in np.linspace(0, np.pi / 2, count // 4 + 1)[:-1]:
        ring = 0.1 * np.column_stack([np.cos(lift) * np.cos(turn), np.cos(lift) * np.sin(turn)])
        for sign in (-1, 1):
            rows += [(x, y, sign * (0.2 + 0.1 * np.sin(lift))) for x, y in ring.tolist()]
    return li.Hull([*rows, (0, 0, 0.3), (0, 0, -0.3)])


@pytest.mark.parametrize("start", [{"qw": 0.8, "qy": 0.6}, {"x": 0.3, **ALONG_Y}])
def test_it_falls_on_a_box_as_its_hull_of_many_corners(start: dict[str, float]) -> None:
    table = (li.Box(0.6, 0.6, 0.2), {"z": 0.1}, 1000)
    ends = []
    for shape in (ROD, hull(32)):
        one = scene(table, (shape, {"z": 0.55, **start}), friction=0.3)
        ends.append(moved(one, 0.35).q[-1, 7:])
    # facets of 0.2 rad: their middle is 0.5 mm inside
    assert np.abs(ends[0][:3] - ends[1][:3]).max() < 8e-3
    assert np.abs(ends[0][3:] - ends[1][3:]).max() < 5e-2


def test_across_another_it_rests_on_one_point_along_it_on_two() -> None:
    lower = (ROD, {"z": 0.1, **ALONG_X}, 3)
    crossing = scene(lower, (ROD, {"z": 0.3, **ALONG_Y}))
    assert forces(crossing) == pytest.approx([G, 2 * G, 2 * G], rel=1e-6)
    run = moved(crossing, 0.1)
    assert run.q[-1, 9] == pytest.approx(0.3, abs=1e-9)
    # along it and half beside it: the ends of what both have in common
    beside = scene(lower, (ROD, {"x": 0.1, "z": 0.3, **ALONG_X}))
    pressed = forces(beside)
    assert pressed == pytest.approx([G / 3, 2 * G / 3, 7 * G / 4, 9 * G / 4])
    assert np.abs(moved(beside, 0.1).v).max() < 1e-8


def test_three_capsules_in_a_pyramid_rest_between_walls() -> None:
    walls = [(0, 0, 1, 0), (0, 1, 0, -0.2), (0, -1, 0, -0.2)]
    height = 0.1 + np.sqrt(0.2**2 - 0.1**2)
    places = [{"y": -0.1, "z": 0.1}, {"y": 0.1, "z": 0.1}, {"z": height}]
    pile = scene(*((ROD, {**x, **ALONG_X}) for x in places), planes=walls, friction=0.0)
    result = moved(pile, 0.3)
    assert np.abs(result.q[-1] - result.q[0]).max() < 1e-7
    floor = np.array(result["planes"][-1]).reshape(-1, 3)
    assert floor[0] == pytest.approx([0, 0, 3 * G], abs=1e-5)
    # two cylinders at 60°: the upper one presses with m g/(2 sin 60°) on each
    assert floor[1, 1] == pytest.approx(G / 2 / np.tan(np.pi / 3), rel=1e-5)


def test_a_ball_rests_on_a_capsule_and_rolls_along_it() -> None:
    lower = (ROD, {"z": 0.1, **ALONG_X}, 1000)
    ball = (li.Sphere(0.1), {"x": -0.1, "z": 0.3, "vx": 0.2, "wy": 2.0})
    result = moved(scene(lower, ball), 0.5)
    assert result.q[-1, 7:10] == pytest.approx([0, 0, 0.3], abs=1e-4)
    # over the round end it leaves the top
    far = moved(scene(lower, (li.Sphere(0.1), {"x": 0.25, "z": 0.3, "vx": 0.5})), 0.3)
    assert far.q[-1, 9] < 0.25


def test_free_impacts_keep_momentum_and_energy() -> None:
    one = scene(
        (ROD, {"vx": 1.0, "wx": 2.0, "wy": 1.0}),
        (ROD, {"x": 0.5, "z": 0.2, "qw": 0.8, "qx": 0.6, "vx": -1.0}, 2),
        friction=0.0, restitution=1.0, planes=[], gravity=(0, 0, 0),
    )  # fmt: skip
    result = moved(one, 0.5)
    mass = np.array([1.0, 2.0])
    v = result.v.reshape(-1, 2, 6)[:, :, 3:]  # of a scene in the axes of the ground
    momentum = np.einsum("b,tbi->ti", mass, v)
    assert np.abs(momentum - momentum[0]).max() < 1e-12
    energy = result["energy"].sum(axis=1)
    assert np.ptp(energy) < 1e-3 * energy[0]
    assert np.abs(result.v[-1] - result.v[0]).max() > 0.5


def test_it_lies_along_the_edges_of_a_gap() -> None:
    boxes = [(li.Box(1, 0.4, 0.4), {"y": sign * 0.27, "z": 0.2}, 100) for sign in (-1, 1)]
    sink = 0.1 - np.sqrt(0.1**2 - 0.07**2)
    one = scene(*boxes, (ROD, {"z": 0.5 - sink, **ALONG_X}), friction=0.5)
    result = moved(one, 0.2)
    assert np.abs(result.q[-1, 14:] - result.q[0, 14:]).max() < 1e-6
    assert int(result["contacts"][-1]) == 12  # four corners of each box, two points on each edge


def test_on_a_cylinder_along_it_there_are_two_points() -> None:
    lower = (li.Cylinder(0.1, 0.4), {"z": 0.1, **ALONG_X}, 3)
    for shape in (ROD, li.Cylinder(0.1, 0.4)):
        one = scene(lower, (shape, {"x": 0.1, "z": 0.3, **ALONG_X}))
        result = moved(one, 0.1)
        # an unstable equilibrium, by a normal that the search for the distance has to 1e-8
        assert np.abs(result.v).max() < 1e-4
        assert int(result["contacts"][-1]) == 4
        assert forces(one) == pytest.approx([G / 3, 2 * G / 3, 7 * G / 4, 9 * G / 4])


def test_a_flat_height_field_is_a_plane_to_it() -> None:
    flat = li.HeightField(4, 4, heights=[[0.0] * 5] * 5)
    start = {"z": 0.4, "qw": 0.8, "qx": 0.6, "wz": 5.0, "vx": 0.5}
    on_plane, on_field = (
        moved(scene((ROD, start), **more)).q[-1] for more in ({}, {"terrain": flat})
    )
    assert np.abs(on_plane - on_field).max() < 1e-6
    # across a ridge it rests on one line
    ridge = li.HeightField(2, 2, heights=[[0.0] * 3, [0.5] * 3, [0.0] * 3])
    top = moved(scene((ROD, {"z": 0.6, **ALONG_Y}), terrain=ridge), 0.1)
    assert top.q[-1, 2] == pytest.approx(0.6, abs=1e-6)


def test_below_the_ground_or_inside_another_it_is_refused() -> None:
    with pytest.raises(SimulationError, match=r"'b0' begins 0\.2 m below plane 1"):
        moved(scene((ROD, {"z": 0.1})))
    with pytest.raises(SimulationError, match=r"'b0' and 'b1' begin 0\.05 m inside each other"):
        moved(scene((ROD, {"z": 1.0}), (ROD, {"x": 0.15, "z": 1.0})))


@cache
def compiled() -> Any:
    return compile_loops([separate, rod_points])


def test_the_least_gap_of_two_rods_is_their_distance() -> None:
    draw = np.random.default_rng(7)
    for k in range(300):
        sizes = draw.uniform(0.1, 1, (2, 2))
        solids = [
            Solid(core=np.array([[0, 0, -half], [0, 0, half]]), radius=radius)
            for radius, half in sizes
        ]
        ask = Question.new()
        ask.R[:], ask.p[:] = random_rotation(draw), draw.normal(size=3)
        if k % 3 == 0:  # along each other
            ask.R[:] = np.diag([1.0, -1, -1]) if k % 2 else np.eye(3)
        bodies = bodies_of(solids)
        gap = compiled()[rod_points](0, 1, bodies, ask)
        points = ask.points
        away = [
            np.linalg.norm(ask.R @ ask.first_points[m] + ask.p - ask.second_points[m])
            for m in range(points)
        ]
        assert min(away) - sizes[:, 0].sum() == pytest.approx(gap, abs=1e-12)
        assert 1 <= points <= 5
        distance = compiled()[separate](0, 1, bodies, ask)
        if distance > -sizes[:, 0].sum() + 1e-9:
            assert gap == pytest.approx(distance, abs=1e-9)


def test_texts_and_robot_files_have_capsules(tmp_path: Any) -> None:
    text = """
    let pill = body mass = 1 kg, shape = [0, 0, 1] cm @ capsule(1 cm, length = 4 cm) end ;
    let F = join earth and pill with free end ;
    let bar = body mass = 1 kg, shape = capsule(from = 0, to = [0,3,4] cm, radius = 1 cm) end ;
    let G = join earth and bar with free end ;
    collide pill, bar, earth with friction = 0.3 end ;
    """
    one = li.read(text)
    assert one.body("bar").shapes[0].length == pytest.approx(0.05)
    assert li.read(li.write_lsd(one)).bodies == one.bodies
    assert li.simulate(one, until=0.01, start={"F.z": 1, "G.z": 2}).status == "done"
    mjcf = """<mujoco><worldbody><body pos="0 0 1"><freejoint/>
      <geom type="capsule" size="0.1 0.2" density="1000"/></body></worldbody></mujoco>"""
    (tmp_path / "rod.xml").write_text(mjcf)
    read = li.read(tmp_path / "rod.xml")
    (shape,) = read.bodies[1].shapes
    assert (float(shape.radius), float(shape.length)) == (0.1, 0.4)
    by_shape = li.body("b", shapes=li.Capsule("10 cm", "40 cm"), density=1000)
    assert np.allclose(*(floats(x.inertia, {}) for x in (by_shape, read.bodies[1])), rtol=1e-12)
    assert moved(li.collide(read, friction=0.5), 0.6).status == "done"


def test_capsules_on_joints_collide_as_contacts() -> None:
    def rail(body: Any, x: float) -> Any:
        at = li.ground.at((x, 0, 1))
        return li.join(at, body, "prismatic", axis=(0, 0, 1), name=f"P{body.name}")

    pairs = [(ROD, ROD), (ROD, li.Box(0.2, 0.2, 0.6)), (li.Cylinder(0.1, 0.6), ROD),
             (ROD, li.Sphere(0.1)), (ROD, hull(16))]  # fmt: skip
    for one, other in pairs:
        bodies = [li.body(f"b{k}", mass=1, shapes=x) for k, x in enumerate((one, other))]
        rails = [rail(body, 0.05 * k) for k, body in enumerate(bodies)]
        law = li.collision(*bodies, li.ground)
        whole = li.mechanism(*rails, law, li.gravity((0, 0, -G)))
        start = {"Pb0": -0.7, "Pb1": 0.1}
        result = li.simulate(whole, until=1.0, start=start, method="moreau", step=1e-3)
        assert result.q[-1, 0] == pytest.approx(-0.7, abs=1e-6)
        # balls 0.05 beside each other, or a flat end on one
        apart = 0.2 + (np.sqrt(0.2**2 - 0.05**2) if round_end(one) and round_end(other) else 0.1)
        reach = {li.Sphere: 0.0}.get(type(other), 0.2 if round_end(other) else 0.3)
        level = apart + reach + (0.0 if round_end(one) else 0.1)
        assert result.q[-1, 1] + 0.7 == pytest.approx(level, abs=3e-3), (one, other)


def round_end(shape: Any) -> bool:
    return not isinstance(shape, li.Box | li.Cylinder)


def test_in_a_mechanism_a_rod_lies_on_a_cylinder_by_two_points() -> None:
    for kind in ("capsule", "cylinder"):
        body = li.body("b", mass=1, inertia=(0.01, 0.02, 0.02))
        slide = li.join(li.ground, body, "planar", axis=(0, 1, 0), name="P")
        along_x = ((0, 0, 1), (0, 1, 0), (-1, 0, 0))
        drum = li.contact(
            body.at((0.18, 0, 0), along_x), li.ground.at((0, 0, -0.2), along_x), kind, radius=0.1,
            length=0.4, drum=0.1, height=0.4, friction=0.5, name="drum",
        )  # fmt: skip
        whole = li.mechanism(slide, drum, li.gravity((0, 0, -G)))
        result = li.simulate(whole, until=0.2, method="moreau", step=1e-3)
        assert np.abs(result.q[-1]).max() < 1e-6, kind
        (names,) = result.series["contacts"].axes.values()
        press = [k for k, x in enumerate(names) if "sliding" not in x]
        # 0.02 from one end of 0.22 that both have in common
        pressed = np.sort(result["contacts"][-1][press])[-2:]
        assert pressed == pytest.approx([G / 11, 10 * G / 11], rel=1e-3), kind
