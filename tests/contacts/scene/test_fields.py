"""Height fields in scenes: as planes where they are flat, solid where they are not, and drawn."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.errors import LiaisonError, ModelError, SimulationError
from liaison.formats import read_lsd
from liaison.formats.lsd.write.write import write_lsd
from liaison.model.pairing import drawn, is_scene, paired
from liaison.simulation.record.resampling import rotation_of
from liaison.view.drawing import drawing

FLAT = li.HeightField(x=4, y=4, heights=np.zeros((41, 37)))
SLOPE = 0.2
ANGLE = np.arctan(SLOPE)
TILTED = li.HeightField(x=4, y=4, heights=np.tile(SLOPE * np.linspace(-2, 2, 37), (41, 1)))
ROUGH = li.HeightField(x=3, y=3, heights=np.random.default_rng(1).uniform(0, 0.3, (16, 16)))
INCLINED = [(-np.sin(ANGLE), 0, np.cos(ANGLE), 0)]
CORNERS = np.array([*product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1))])
SHAPES = {
    "ball": li.Sphere(0.1),
    "box": li.Box(0.4, 0.3, 0.2),
    "cylinder": li.Cylinder(0.1, 0.2),
    "hull": li.Hull(CORNERS.tolist()),
}
STEEP = li.HeightField(x=3, y=3, heights=np.random.default_rng(1).uniform(0, 0.3, (8, 8)))
LUMPS = {
    "box": li.Box(0.4, 0.3, 0.2),
    "hull": li.Hull((0.1 * np.random.default_rng(2).normal(size=(12, 3))).tolist()),
}


def scene(kind: str, start: dict[str, float], **options: Any) -> Any:
    body = li.body("b", mass=2, inertia=(0.01, 0.02, 0.03), shapes=SHAPES[kind])
    one = li.mechanism(li.join(li.ground, body, "free", name="F"), li.gravity((0, 0, -9.81)))
    return li.collide(one, start=start, **{"friction": 0.3, **options})


@pytest.mark.parametrize("kind", SHAPES)
def test_on_a_flat_field_all_move_as_on_a_plane(kind: str) -> None:
    """Nothing catches on inner edges; a ball at rest stays, one that slides comes to roll."""
    moving = {"F.z": 0.1, "F.vx": 1.0, "F.vy": 0.31, "F.wx": 7.0 * (kind == "ball")}
    for start in ({"F.z": 0.1}, moving):
        plane, field = (
            scene(kind, start, **x).simulate(0.6, step=1e-3) for x in ({}, {"terrain": FLAT})
        )
        assert np.abs(plane.q - field.q).max() < 1e-9
        assert np.abs(plane["planes"] - field["planes"]).max() < 1e-6
        assert [(x.name.split(":")[-1], x.t) for x in plane.events] == [
            (x.name.split(":")[-1], x.t) for x in field.events
        ]


@pytest.mark.parametrize("kind", SHAPES)
def test_on_an_inclined_field_all_move_as_on_the_plane(kind: str) -> None:
    turn = {"F.qw": np.cos(ANGLE / 2), "F.qy": -np.sin(ANGLE / 2)}
    start = {"F.x": -0.1 * np.sin(ANGLE), "F.z": 0.1 * np.cos(ANGLE), **turn}
    plane, field = (
        scene(kind, start, **x).simulate(0.6, step=1e-3)
        for x in ({"planes": INCLINED}, {"terrain": TILTED})
    )
    assert np.abs(plane.q - field.q).max() < 1e-9
    if kind == "ball":  # a = g sin α/(1 + I/(m r²)), with I = m r² about y
        way = -0.5 * 0.6**2 * 9.81 * np.sin(ANGLE) / 2
        assert field.q[-1, 0] - field.q[0, 0] == pytest.approx(way * np.cos(ANGLE), rel=1e-5)


def test_a_field_that_is_turned_is_the_field_elsewhere() -> None:
    """The flat field, inclined by its frame, is the inclined plane."""
    R = [[np.cos(ANGLE), 0, -np.sin(ANGLE)], [0, 1, 0], [np.sin(ANGLE), 0, np.cos(ANGLE)]]
    turned = li.HeightField(x=4, y=4, heights=np.zeros((5, 7)), R=R, p=(0, 0, 0.5))
    start = {"F.z": 0.7, "F.vy": 0.2}
    plane, field = (
        scene("box", start, **x).simulate(0.4, step=1e-3)
        for x in ({"planes": [(*INCLINED[0][:3], 0.5 * np.cos(ANGLE))]}, {"terrain": turned})
    )
    assert np.abs(plane.q - field.q).max() < 1e-9


def height(x: Any, y: Any) -> Any:
    """Of the rough surface, by its definition."""
    grid = ROUGH.grid
    rows, columns = grid.heights.shape
    s, t = (x / grid.x + 0.5) * (columns - 1), (y / grid.y + 0.5) * (rows - 1)
    i = np.clip(np.floor(s).astype(int), 0, columns - 2)
    j = np.clip(np.floor(t).astype(int), 0, rows - 2)
    a, b = grid.heights[j, i], grid.heights[j, i + 1]
    d, c = grid.heights[j + 1, i], grid.heights[j + 1, i + 1]
    s, t = s - i, t - j
    return np.where(s >= t, a + s * (b - a) + t * (c - b), a + t * (d - a) + s * (c - d))


def samples(kind: str) -> Any:
    draw = np.random.default_rng(5)
    p = draw.normal(size=(600, 3))
    p /= np.linalg.norm(p, axis=1)[:, None]
    if kind == "ball":
        return 0.1 * p
    if kind == "cylinder":
        rim = 0.1 * p[:, :2] / np.linalg.norm(p[:, :2], axis=1)[:, None]
        return np.column_stack([rim, np.sign(p[:, 2]) * 0.1])
    p /= np.abs(p).max(axis=1)[:, None]
    edges = np.sign(p) * np.where(np.arange(3) == draw.integers(0, 3, (600, 1)), np.abs(p), 1)
    return np.vstack([p, edges]) * [0.2, 0.15, 0.1]


@pytest.mark.parametrize(("kind", "depth"), [
    ("ball", 1e-9), ("box", 1e-4), ("hull", 1e-4), ("cylinder", 1e-4),
])  # fmt: skip
def test_what_tumbles_over_peaks_and_ridges_stays_above(kind: str, depth: float) -> None:
    """Edges and faces to what peaks and ridges under them change within a step, (ω h)² of a size.

    A cylinder also to what its rims are polygons at ridges for.
    """
    start = {"F.z": 0.7, "F.vx": 0.5, "F.wx": 3.0, "F.wy": 1.0}
    run = scene(kind, start, terrain=ROUGH).simulate(1.2, step=1e-3, every=10)
    R = rotation_of(run.q[:, 3:7])
    x = np.einsum("nij,kj->nki", R, samples(kind)) + run.q[:, None, :3]
    above = x[..., 2] - height(x[..., 0], x[..., 1])
    assert above.min() > -depth
    assert above[-1].min() < 0.02  # it is there
    energy = run["energy"].sum(axis=1)
    assert np.diff(energy).max() < 1e-6 * energy[0]


@pytest.mark.parametrize("kind", ["box", "hull"])
def test_what_tumbles_without_loss_gains_no_more_than_second_order(kind: str) -> None:
    """With e = 1 and no friction: gyroscopic moments are those of the spins that impacts lead to.

    With those of the spins before, a hull gained 5.5e-2 J of 16 in a step of 1 ms.
    """
    gains = []
    for step in (2e-3, 1e-3):
        start = {"F.z": 0.8, "F.wx": 2.0, "F.vy": 0.3}
        body = li.body("b", mass=2, inertia=(0.01, 0.02, 0.03), shapes=LUMPS[kind])
        free = li.join(li.ground, body, "free", name="F")
        laid = li.collide(
            li.mechanism(free, li.gravity((0, 0, -9.81))), friction=0.0, restitution=1.0,
            start=start, terrain=STEEP,
        )  # fmt: skip
        run = laid.simulate(0.6, step=step)
        energy = run["energy"].sum(axis=1)
        spin = np.abs(run.v[:, :3]).max()
        assert spin > 10  # it was hit
        assert np.abs(np.diff(energy)).max() < 0.3 * (spin * step) ** 2 * energy[0]
        gains.append(np.abs(energy / energy[0] - 1).max())
    assert gains[1] < 5e-4


def test_what_is_fast_is_found_within_the_step() -> None:
    """Half a radius a step, far more than the distance at which slow bodies are seen."""
    run = scene("ball", {"F.z": 2.0, "F.vz": -50.0}, terrain=FLAT).simulate(0.1, step=1e-3)
    assert run.q[:, 2].min() > 0.1 - 1e-6


def test_loops_as_plain_python_give_the_same() -> None:
    start = {"F.z": 0.45, "F.qw": np.cos(0.4), "F.qx": np.sin(0.4)}
    one = scene("box", start, terrain=ROUGH)
    both = [
        one.run(0.05, step=1e-2, is_compiled=x).finish(on_failure="raise") for x in (True, False)
    ]
    assert np.abs(both[0].q - both[1].q).max() < 1e-12


HILLS = """
name = "hills" ;
gravity = [0, 0, -9.81] m/s^2 ;
let slope = [0, 0, 1] m @ earth ;
let a = body mass = 1 kg, shape = sphere(radius = 0.1 m) end ;
let b = body mass = 1 kg, shape = box([0.2, 0.2, 0.2] m) end ;
let A = join earth and a with free end ;
let B = join earth and b with free end ;
start A = [-0.3, 0, 1.3] m ;
start B = [0.3, 0, 1.3] m ;
let rocks = collide a, b and slope with
  terrain = height_field(size = [2, 2] m, heights = [[0, 0, 0.1], [0, 0.1, 0.1]] m), friction = 0.5
end ;
"""


def test_a_statement_names_a_field_and_is_written_again() -> None:
    one = read_lsd(HILLS)
    assert is_scene(one)
    again = read_lsd(write_lsd(one))
    assert again.contacts == one.contacts
    runs = [li.simulate(x, until=0.4) for x in (one, again)]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert {x.name for x in runs[0].events} >= {"a-slope", "b-slope"}
    assert "2 bodies and 1 height field" in str(li.check(one))


def test_the_field_is_drawn_once_and_where_it_is() -> None:
    one = read_lsd(HILLS + "earth.shape = [3, 0, 0] m @ box([1, 1, 1] cm) ;")
    pieces = drawing(li.simulate(one, until=0.01), drawn(one)).pieces["ground"]
    (mesh,) = [x for x in pieces if x.kind == "mesh"]
    assert mesh.surface is not None
    assert len(mesh.surface.vertices) == 6
    assert mesh.p[2] == 1


def test_with_other_joints_each_pair_is_a_contact_of_its_own() -> None:
    text = HILLS.replace("and b with free end", "and b with prismatic end")
    text = text.replace("start B = [0.3, 0, 1.3] m", "start B = 1.3 m")
    one = read_lsd(text)
    assert not is_scene(one)
    assert {x.target.WORD for x in paired(one).contacts} == {"height field"}
    run = li.simulate(one, until=0.5, method="moreau", step=1e-3)
    assert run["B"][-1] == pytest.approx(1.155, abs=1e-9)  # 55 mm below its corner


def test_two_surfaces_at_one_frame_are_an_error() -> None:
    text = HILLS + "let c = body mass = 1 kg, shape = sphere(radius = 1 cm) end ;"
    text += "join earth and c with free end ; collide c and slope ;"
    with pytest.raises(ModelError, match="another surface"):
        li.simulate(read_lsd(text), until=0.1)


def test_a_field_without_a_frame_on_the_ground_is_an_error() -> None:
    with pytest.raises(ModelError, match="no frame on the ground"):
        read_lsd(HILLS.replace("a, b and slope", "a, b"))


def test_what_begins_below_a_field_is_named() -> None:
    one = scene("box", {"F.z": 0.05}, terrain=FLAT)
    with pytest.raises(SimulationError, match=r"'b' begins 0\.05 m below height field 1"):
        one.simulate(0.1, step=1e-3)


@pytest.mark.parametrize("kind", SHAPES)
def test_what_begins_wholly_below_a_field_is_named(kind: str) -> None:
    with pytest.raises(SimulationError, match=r"'b' begins 0\.6 m below height field 1"):
        scene(kind, {"F.z": -0.5}, terrain=FLAT).simulate(0.1, step=1e-3)


def test_what_is_no_field_is_refused() -> None:
    with pytest.raises(LiaisonError, match="must be a HeightField"):
        scene("ball", {"F.z": 1.0}, terrain=[[0, 0], [0, 0]])
