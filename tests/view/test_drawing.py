"""A mechanism is drawn from its shapes, or from its joints and its inertia."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.errors import LiaisonError, NamingError
from liaison.expr import symbol
from liaison.model import (
    JOINT_TYPES,
    Box,
    Cone,
    Cylinder,
    Free,
    Line,
    Mechanism,
    Mesh,
    Parameter,
    Prismatic,
    Revolute,
    Rod,
    Sphere,
    body,
    gravity,
    ground,
    join,
    spring,
)
from liaison.simulation.record.trajectory import Series, Trajectory
from liaison.view.camera import ASPECT, FIELD_OF_VIEW, camera
from liaison.view.drawing import drawing, inertia_box, joint_pieces, point_path, skeleton
from liaison.view.links import arrows, links, trace_points
from liaison.view.shapes import color_named, read_surface, shape_piece
from liaison.view.solids import (
    capsule,
    cone,
    corners,
    frame_along,
    plate,
    polyline,
)

GRAY = (128, 128, 128)


def still(mechanism: Mechanism, **places: tuple[float, float, float]) -> Trajectory:
    """A run of one instant with bodies at these places, upright."""
    poses = np.zeros((1, len(places), 3, 4))
    poses[..., :3] = np.eye(3)
    for k, place in enumerate(places.values()):
        poses[0, k, :, 3] = place
    none = np.zeros((1, 0))
    series = {"poses": Series.of_poses(poses, tuple(places))}
    return Trajectory(mechanism.name, [0.0], none, none, {"q": (), "v": ()}, series)


def test_a_bar_is_a_rod_between_its_joints(double_pendulum):
    drawn = drawing(double_pendulum.run, double_pendulum.mechanism)
    rod = drawn.pieces["upper"][0]
    assert rod.kind == "cylinder"
    assert rod.size[1] == pytest.approx(1)
    assert_allclose(rod.p, [0, 0, -0.5])
    assert [piece.kind for piece in drawn.pieces["lower"]] == ["cylinder", "sphere"]
    assert_allclose(drawn.pieces["lower"][1].p, [0, 0, -1])


def test_joints_stand_on_their_predecessor_along_their_axis(double_pendulum):
    drawn = drawing(double_pendulum.run, double_pendulum.mechanism)
    pin = drawn.pieces["upper"][-1]
    assert_allclose(pin.p, [0, 0, -1])
    assert_allclose(np.abs(pin.R[:, 2]), [0, 1, 0], atol=1e-15)
    assert drawn.pieces["ground"][-1].kind == "cylinder"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Revolute", ["cylinder"]), ("Prismatic", ["box"]), ("Spherical", ["sphere"]),
        ("Universal", ["cylinder", "cylinder"]), ("Free", []), ("Composition", ["sphere"]),
    ],
)  # fmt: skip
def test_every_joint_has_its_symbol(kind, expected):
    pieces = joint_pieces(JOINT_TYPES.by_name(kind).SYMBOL, np.eye(3), np.zeros(3), 1.0)
    assert [piece.kind for piece in pieces] == expected


def test_three_joints_make_a_plate_within_bars():
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    pieces = skeleton(triangle, None, 1.0, GRAY)
    assert [piece.kind for piece in pieces] == ["cylinder"] * 3 + ["mesh"]
    assert pieces[-1].opacity < 1


def test_joints_on_a_line_make_one_rod():
    points = np.array([[0.0, 0, 0], [2, 0, 0], [1, 0, 0]])
    (rod,) = skeleton(points, None, 1.0, GRAY)
    assert rod.size[1] == pytest.approx(2)


def test_a_body_with_one_place_is_the_box_of_its_inertia():
    a, b, c, m = 0.4, 0.6, 1.0, 3.0
    inertia = m / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    box = inertia_box(m, np.zeros(3), inertia, 1.0, GRAY)
    assert_allclose(sorted(box.size), [a, b, c], rtol=1e-12)
    satellite = body("satellite", m, inertia=inertia)
    mechanism = Mechanism("s", (satellite,), (join(ground, satellite, Free, name="F"),))
    drawn = drawing(still(mechanism, satellite=(0, 0, 0)), mechanism)
    assert [piece.kind for piece in drawn.pieces["satellite"]] == ["box"]
    assert drawn.size == pytest.approx(np.linalg.norm([a, b, c]) / 2)


def test_a_body_without_mass_is_a_small_cube():
    box = inertia_box(0.0, np.zeros(3), np.zeros((3, 3)), 1.0, GRAY)
    assert box.size == (0.12, 0.12, 0.12)


def test_the_rail_of_a_slider_covers_its_travel():
    slider = body("slider", 1, inertia=(1, 1, 1))
    mechanism = Mechanism("s", (slider,), (join(ground, slider, Prismatic, name="P", axis="x"),))
    drawn = drawing(still(mechanism, slider=(2, 0, 0)), mechanism)
    rail = drawn.pieces["ground"][-1]
    assert rail.size[1] == pytest.approx(2)
    assert_allclose(rail.p, [1, 0, 0], atol=1e-15)


def test_shapes_are_drawn_as_told():
    shapes = (
        Box(1, 2, 3, color="red"), Cylinder(0.1, 2), Sphere(0.5, p=(0, 0, 1)), Cone(0.2, 0.4),
        Line(((0, 0, 0), (1, 0, 0), (1, 1, 0))),
    )  # fmt: skip
    pieces = [shape_piece(shape, GRAY, {}) for shape in shapes]
    assert [piece.kind for piece in pieces] == ["box", "cylinder", "sphere", "mesh", "mesh"]
    assert pieces[0].size == (1, 2, 3)
    assert pieces[0].color == (214, 48, 49)
    assert pieces[1].color == GRAY
    assert_allclose(pieces[2].p, [0, 0, 1])
    assert_allclose(corners(pieces[3])[:, 2].max(), 0.4)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("#ff8000", ((255, 128, 0), 1.0)), ("0.5 0.5 0.5 0.25", ((128, 128, 128), 0.25)),
        ("1 0 0", ((255, 0, 0), 1.0)), ("Gold", ((212, 165, 50), 1.0)),
    ],
)  # fmt: skip
def test_colors_by_word(word, expected):
    assert color_named(word) == expected


def test_an_unknown_color_is_refused():
    with pytest.raises(LiaisonError, match="no color is named 'goldish'"):
        color_named("goldish")


TETRAHEDRON = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def test_surfaces_are_read_from_files(tmp_path):
    corner = [[TETRAHEDRON[k] for k in face] for face in FACES]
    facets = "".join(
        "facet normal 0 0 0 outer loop "
        + " ".join(f"vertex {x} {y} {z}" for x, y, z in three)
        + " endloop endfacet\n"
        for three in corner
    )
    (tmp_path / "a.stl").write_text(f"solid a\n{facets}endsolid a\n")
    binary = b"\0" * 80 + (4).to_bytes(4, "little")
    for three in corner:
        binary += np.array([(0, 0, 0), *three], dtype="<f4").tobytes() + b"\0\0"
    (tmp_path / "b.stl").write_bytes(binary)
    lines = [f"v {x} {y} {z}" for x, y, z in TETRAHEDRON]
    lines += ["f " + " ".join(f"{k + 1}/1/1" for k in face) for face in FACES]
    (tmp_path / "c.OBJ").write_text("\n".join(lines))
    for name in ("a.stl", "b.stl", "c.OBJ"):
        surface = read_surface(str(tmp_path / name))
        assert surface.faces.shape == (4, 3)
        assert volume(surface) == pytest.approx(1 / 6)


def volume(surface) -> float:
    """Volume within a closed surface whose faces look outwards."""
    a, b, c = np.moveaxis(surface.vertices[surface.faces], 1, 0)
    return float(np.sum(np.cross(a, b) * c) / 6)


def test_solids_are_closed_and_look_outwards():
    assert volume(cone(1.0, 3.0)) == pytest.approx(np.pi, rel=0.01)  # 32 sides for a circle
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert abs(volume(plate(square, 0.1, GRAY).surface)) == pytest.approx(0.1)
    bar = polyline(np.array([[0.0, 0, 0], [0, 0, 2]]), 0.1)
    assert np.ptp(bar.vertices, axis=0) == pytest.approx([0.2, 0.2, 2.0])


def test_a_tube_is_drawn_with_its_bore():
    tube = Cylinder(0.05, 0.2, inner=symbol("inner"), p=(0, 0, 1))
    piece = shape_piece(tube, GRAY, {"inner": 0.03})
    around_z = np.hypot(*piece.surface.vertices[:, :2].T)
    assert (around_z.min(), around_z.max()) == pytest.approx((0.03, 0.05))
    hollow = np.pi * (0.05**2 - 0.03**2) * 0.2
    assert volume(piece.surface) == pytest.approx(hollow, rel=0.01)
    assert_allclose(piece.p, [0, 0, 1])


def test_a_hollow_rod_has_round_ends():
    assert volume(capsule(1.0, 3.0)) == pytest.approx(np.pi * (3 + 4 / 3), rel=0.01)
    assert np.ptp(capsule(1.0, 3.0).vertices[:, 2]) == pytest.approx(5)


@pytest.mark.parametrize(("scale", "volume"), [((1, 1, 1), 1), ((1, -1, 1), 1), ((-2, -1, 1), 2)])
def test_a_mirrored_surface_still_faces_outwards(tmp_path, scale, volume):
    path = tmp_path / "corner.obj"
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    path.write_text(f"{corners}f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    surface = shape_piece(Mesh(str(path), scale=scale), (1, 1, 1), {}).surface
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() == pytest.approx(volume)


def test_a_surface_that_cannot_be_read_is_told_and_the_joints_drawn(tmp_path):
    (tmp_path / "broken.stl").write_text("nothing")
    with pytest.raises(LiaisonError, match="is damaged: its header counts 0 triangles"):
        read_surface(str(tmp_path / "broken.stl"))
    arm = body("arm", 1, center=(1, 0, 0), inertia=(1, 1, 1), shapes=Mesh("arm.dae"))
    mechanism = Mechanism("m", (arm,), (join(ground, arm, Revolute, name="A", axis="z"),))
    drawn = drawing(still(mechanism, arm=(0, 0, 0)), mechanism)
    assert drawn.missing == ("arm.dae",)
    assert [piece.kind for piece in drawn.pieces["arm"]] == ["cylinder", "sphere"]


def test_lengths_may_be_formulas_of_parameters():
    length = Parameter("l", 2)
    arm = body("arm", 1, center=(length / 2, 0, 0), inertia=(1, 1, 1))
    tip = body("tip", 1, center=(1, 0, 0), inertia=(1, 1, 1))
    joints = (
        join(ground, arm, Revolute, name="A", axis="z"),
        join(arm.at((length, 0, 0)), tip, Revolute, name="B", axis="z"),
    )
    mechanism = Mechanism("m", (arm, tip), joints, parameters=(length,))
    run = still(mechanism, arm=(0, 0, 0), tip=(3, 0, 0))
    assert drawing(run, mechanism).pieces["arm"][0].size[1] == pytest.approx(2)
    changed = replace(run, meta={"parameters": {"l": 3.0}})
    assert drawing(changed, mechanism).pieces["arm"][0].size[1] == pytest.approx(3)


def test_up_is_against_gravity(double_pendulum):
    mechanism = replace(double_pendulum.mechanism, forces=(gravity((0, -9.81, 0)),))
    assert_allclose(drawing(double_pendulum.run, mechanism).up, [0, 1, 0])
    mechanism = replace(double_pendulum.mechanism, forces=())
    assert_allclose(drawing(double_pendulum.run, mechanism).up, [0, 0, 1])


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 1, 0), (0.6, 0, 0.8)])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 0, 1), (1, 1, 0), (3, 0.1, 0.1), (0, 0, 0)])
def test_the_camera_sees_every_point(up, shape):
    up = np.array(up, dtype=float)
    points = np.array(list(itertools.product((-1, 1), repeat=3))) * shape + [5, 6, 7]
    eye = camera(points, up)
    forward = (eye.target - eye.position) / np.linalg.norm(eye.target - eye.position)
    right = np.cross(forward, up) / np.linalg.norm(np.cross(forward, up))
    top = np.cross(right, forward)
    seen = points - eye.position
    depth = seen @ forward
    assert np.all(depth > 0)
    limit = np.tan(FIELD_OF_VIEW / 2) * depth
    assert np.all(np.abs(seen @ top) < limit)
    assert np.all(np.abs(seen @ right) < limit * ASPECT)
    assert forward @ up < 0  # from above


def test_springs_and_rods_are_links_between_their_markers():
    a, b = (body(x, 1, inertia=(1, 1, 1)) for x in "ab")
    joints = (join(ground, a, Free, name="A"), join(a, b, Rod(1), name="R"))
    force = spring(ground.at((0, 0, 5)), a.at((0, 0, 1)), stiffness=1, name="s")
    mechanism = Mechanism("m", (a, b), joints, forces=(force,))
    drawn = drawing(still(mechanism, a=(0, 0, 0), b=(1, 0, 0)), mechanism)
    coil, strut = links(drawn, mechanism)
    assert coil.is_coil
    assert not strut.is_coil
    assert_allclose(coil.a, [[0, 0, 5]])
    assert_allclose(coil.b, [[0, 0, 1]])
    assert_allclose(strut.b, [[1, 0, 0]])
    assert drawn.reached[:, 2].max() == 5  # the spring's far end is in the picture


def test_arrows_point_along_the_force_in_the_world(double_pendulum):
    drawn = drawing(double_pendulum.run, double_pendulum.mechanism)
    (arrow,) = arrows(double_pendulum.run, drawn, ["B"])
    body_name, R, p = drawn.markers["B"]
    x_axis = drawn.poses[body_name][..., :3] @ R[:, 0]
    assert_allclose(arrow.vector, 0.5 * drawn.size * x_axis, atol=1e-12)
    assert_allclose(arrow.start, point_path(drawn.poses, body_name, p))
    assert len(arrows(double_pendulum.run, drawn, True)) == 2
    assert arrows(double_pendulum.run, drawn, False) == []
    with pytest.raises(NamingError, match="no joint is named 'Q'"):
        arrows(double_pendulum.run, drawn, ["Q"])


def test_points_to_trace_are_told_in_four_ways(double_pendulum):
    drawn = drawing(double_pendulum.run, double_pendulum.mechanism)
    marker = double_pendulum.mechanism.joints[1].predecessor
    found = trace_points(drawn, ["lower", "B", marker, ("lower", (0, 0, -1))])
    assert [body for _, body, _ in found] == ["lower", "lower", "upper", "lower"]
    assert_allclose(found[2][2], [0, 0, -1])
    with pytest.raises(NamingError, match="no body or joint is named 'lowr'; did you mean 'lower'"):
        trace_points(drawn, ["lowr"])


def test_frames_take_z_along_any_direction():
    for direction in np.array([[0, 0, 1.0], [0, 0, -2], [1, 2, 3], [0, -1, 0]]):
        frame = frame_along(direction)
        assert_allclose(frame[:, 2], direction / np.linalg.norm(direction), atol=1e-12)
        assert np.linalg.det(frame) == pytest.approx(1)


def test_a_run_without_poses_or_of_other_bodies_is_refused(double_pendulum):
    run = replace(double_pendulum.run, series={})
    with pytest.raises(LiaisonError, match="has no poses to draw"):
        drawing(run, double_pendulum.mechanism)
    poses = double_pendulum.run.series["poses"].values
    run = replace(run, series={"poses": Series.of_poses(poses, ("upper", "middle"))})
    with pytest.raises(NamingError, match="'lower'"):
        drawing(run, double_pendulum.mechanism)


def test_the_camera_goes_with_what_travels(examples):
    """A bicycle leaves the picture; a pendulum, and a mechanism that comes back, do not."""
    for name, is_far in (("bicycle", True), ("pendulum", False), ("four_bar", False)):
        mechanism = liaison.read(examples / f"{name}.lsd")
        run = liaison.simulate(mechanism, until=4.0, every=0.2, series=("poses",))
        drawn = drawing(run, mechanism)
        assert (drawn.travel is not None) == is_far
        if drawn.travel is not None:
            assert np.ptp(drawn.travel.begin, axis=0).max() < 0.2 * np.ptp(drawn.reached[:, 0])
            assert drawn.size < 0.5 * np.ptp(drawn.reached[:, 0])
