"""What acts in MJCF models, against formulas of textbooks."""

import numpy as np
import pytest

import liaison
from liaison.errors import TextError
from liaison.expr import as_expr, substitute, symbol
from liaison.formats import read_lsd, reading_of_mjcf
from liaison.formats.lsd.write.write import write_lsd
from liaison.formats.mjcf.meshes import principal_axes
from liaison.model import Cable, DeadZoneSpring, Memory, Servo, Unilateral
from liaison.model.values import floats
from liaison.spatial import rotation_quaternion

G = 9.81
MASS, ARM = 2.0, 1.0
MOMENT = MASS * (0.1**2 + 0.1**2) / 3 + MASS * ARM**2  # about the hinge
ROD = '<geom type="box" size="0.1 0.1 0.1" pos="1 0 0" mass="2"/>'
NO_WEIGHT = '<option gravity="0 0 0"/>'


def hinge(joint: str = "", more: str = "", head: str = NO_WEIGHT, body: str = "") -> str:
    return (
        f"<mujoco>{head}<worldbody><site name='post' pos='0 0 1'/>"
        f'<body name="a" {body}><joint name="j" axis="0 1 0" {joint}/>{ROD}'
        f'<site name="tip" pos="1 0 0"/></body></worldbody>{more}</mujoco>'
    )


def slide(geom: str, head: str = NO_WEIGHT, more: str = "", joint: str = "") -> str:
    return (
        f'<mujoco>{head}<worldbody><body name="a"><joint name="j" type="slide" axis="1 0 0" '
        f"{joint}/>{geom}</body></worldbody>{more}</mujoco>"
    )


def acceleration(text: str, q: float = 0.0, v: float = 0.0, u: float = 0.0) -> float:
    mechanism = reading_of_mjcf(text).mechanism
    inputs = {x.name: u for x in mechanism.inputs}
    state = {"j": q, "j'": v} | {x.name: u for x in mechanism.forces if isinstance(x, Memory)}
    return float(liaison.forward_dynamics(mechanism, state, inputs=inputs)[0])


def actuator(kind: str, attributes: str = "", where: str = 'joint="j"') -> str:
    return hinge(more=f'<actuator><{kind} name="m" {where} {attributes}/></actuator>')


def fixed(attributes: str) -> str:
    return hinge(
        more=f'<tendon><fixed name="t" {attributes}><joint joint="j" coef="2"/></fixed></tendon>'
    )


def spatial(attributes: str, path: str = '<site site="post"/><site site="tip"/>') -> str:
    return hinge(more=f'<tendon><spatial name="t" {attributes}>{path}</spatial></tendon>')


q0 = 0.3
TIP = np.array([np.cos(q0), 0, -np.sin(q0)])  # turned about y
SPAN = np.linalg.norm(TIP - (0, 0, 1))
SLOPE = np.cos(q0) / SPAN  # d span/d q: span² = 2 + 2 sin q
DOCTORED = 'gear="3" forcerange="-5 5"'


@pytest.mark.parametrize(
    ("text", "state", "expected"),
    [
        (hinge(head="", body='gravcomp="0.25"'), {}, 0.75 * MASS * G / MOMENT),
        (hinge('springdamper="0.5 0.7"'), {"q": 0.1}, -0.1 / (0.5 * 0.7) ** 2),
        (hinge('springdamper="0.5 0.7"'), {"v": 0.1}, -2 * 0.1 / 0.5),
        (fixed('stiffness="3" springlength="0.2"'), {"q": 0.3}, -2 * 3 * (0.6 - 0.2) / MOMENT),
        (fixed('stiffness="3" springlength="-0.4 0.5"'), {"q": 0.3}, -2 * 3 * 0.1 / MOMENT),
        (fixed('stiffness="3" springlength="-0.4 0.7"'), {"q": 0.3}, 0),
        (fixed('stiffness="3" springlength="-0.4 0.7"'), {"q": -0.3}, 2 * 3 * 0.2 / MOMENT),
        (fixed('damping="3"'), {"v": 0.3}, -4 * 3 * 0.3 / MOMENT),
        (fixed('armature="3" stiffness="1" springlength="0"'), {"q": 0.3},
         -4 * 0.3 / (MOMENT + 12)),
        (spatial('stiffness="3" springlength="1"'), {"q": q0}, -3 * (SPAN - 1) * SLOPE / MOMENT),
        (spatial('stiffness="3"'), {"q": q0}, -3 * (SPAN - np.sqrt(2)) * SLOPE / MOMENT),
        (spatial('stiffness="3" springlength="1"', '<site site="post"/><site site="tip"/>'
                 '<pulley divisor="2"/><site site="tip"/><site site="post"/>'), {"q": q0},
         -3 * (1.5 * SPAN - 1) * 1.5 * SLOPE / MOMENT),
        (spatial('damping="3"'), {"q": q0, "v": 2}, -3 * 2 * SLOPE**2 / MOMENT),
        (spatial('armature="3" stiffness="1" springlength="0"'), {"q": q0},
         -SPAN * SLOPE / (MOMENT + 3 * SLOPE**2)),
        (actuator("motor", 'gear="3"'), {"u": 0.5}, 1.5 / MOMENT),
        (actuator("motor", 'ctrlrange="-0.2 0.2"'), {"u": 0.5}, 0.2 / MOMENT),
        (actuator("motor", 'ctrllimited="false" ctrlrange="-0.2 0.2"'), {"u": 0.5}, 0.5 / MOMENT),
        (actuator("position", 'kp="7" kv="2"'), {"q": 0.1, "v": 0.3, "u": 0.5},
         (7 * 0.4 - 2 * 0.3) / MOMENT),
        (actuator("position", f'kp="70" {DOCTORED}'), {"q": 0.1, "u": 0.5}, 15 / MOMENT),
        (actuator("velocity", 'kv="2"'), {"v": 0.3, "u": 0.5}, 2 * 0.2 / MOMENT),
        (actuator("damper", 'kv="2" ctrlrange="0 1"'), {"v": 0.3, "u": 0.5},
         -2 * 0.5 * 0.3 / MOMENT),
        (actuator("cylinder", 'area="4" bias="1 2 3"'), {"q": 0.1, "v": 0.2, "u": 0.5},
         (2 + 1 + 0.2 + 0.6) / MOMENT),
        (actuator("cylinder", 'diameter="2"'), {"u": 0.5}, np.pi * 0.5 / MOMENT),
        (actuator("general", 'gaintype="affine" gainprm="1 2 3" biastype="affine" '
                  'biasprm="4 -5 -6" gear="2"'), {"q": 0.1, "v": 0.2, "u": 0.5},
         2 * ((1 + 0.4 + 1.2) * 0.5 + 4 - 5 * 0.2 - 6 * 0.4) / MOMENT),
        (actuator("motor", 'gear="0 0 1"', 'site="tip"'), {"u": 0.5}, -0.5 / MOMENT),
        (actuator("motor", 'gear="0 0 0 0 1 0"', 'site="tip"'), {"u": 0.5}, 0.5 / MOMENT),
        (hinge('actuatorfrcrange="-1 1"', '<actuator><motor joint="j" gear="3"/>'
               '<motor joint="j"/></actuator>'), {"u": 0.5}, 1 / MOMENT),
        (slide('<geom size="0.1" mass="2"/>', '<option gravity="0 0 0" viscosity="3"/>'),
         {"v": 0.5}, -3 * np.pi * np.sqrt(0.4 * 0.1**2 * 6) * 3 * 0.5 / 2),
    ],
)  # fmt: skip
def test_accelerations_are_those_of_formulas(text, state, expected):
    assert acceleration(text, **state) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_a_fluid_slows_a_ball_by_the_square_of_its_speed():
    text = slide('<geom size="0.1" mass="2"/>', '<option gravity="0 0 0" density="1.2"/>')
    side = np.sqrt(0.4 * 0.1**2 * 6)  # of a cube with the inertia of the ball
    assert acceleration(text, v=3.0) == pytest.approx(-0.5 * 1.2 * side**2 * 9 / 2, rel=1e-12)
    windy = text.replace("density", 'wind="5 0 0" density')
    assert acceleration(windy, v=3.0) == pytest.approx(0.5 * 1.2 * side**2 * 4 / 2, rel=1e-12)


def test_a_ball_is_turned_back_by_its_spring():
    text = (
        f'<mujoco>{NO_WEIGHT}<worldbody><body><joint name="j" type="ball" stiffness="3"/>'
        '<geom size="0.1" mass="10"/></body></worldbody></mujoco>'
    )
    mechanism = reading_of_mjcf(text).mechanism
    axis, angle = np.array([2, -3, 6]) / 7, 1.1
    for sign in (1, -1):  # a turn has two quaternions
        e = sign * np.array([np.cos(angle / 2), *np.sin(angle / 2) * axis])
        start = dict(zip(("j.qw", "j.qx", "j.qy", "j.qz"), e, strict=True))
        expected = -3 * angle * axis / (0.4 * 10 * 0.01)
        assert liaison.forward_dynamics(mechanism, start) == pytest.approx(expected, rel=1e-9)
    still = liaison.forward_dynamics(mechanism, {"j.qw": 1.0})
    assert still == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize(
    ("compiler", "mass", "moments"),
    [
        ('settotalmass="6"', 6, (0.3, 0.6, 0.6)),
        ('boundmass="3"', 3, (0.1, 0.2, 0.2)),
        ('boundinertia="0.15"', 2, (0.15, 0.2, 0.2)),
        ('balanceinertia="true"', 2, (0.1, 0.2, 0.2)),
    ],
)
def test_masses_follow_the_compiler(compiler, mass, moments):
    inertial = '<inertial pos="0 0 0" mass="2" diaginertia="0.1 0.2 0.2"/>'
    text = slide(inertial, f"<compiler {compiler}/>")
    body = reading_of_mjcf(text).mechanism.body("a")
    assert float(floats(body.mass, {})) == pytest.approx(mass)
    assert np.diag(floats(body.inertia, {})) == pytest.approx(moments)


@pytest.mark.parametrize("compiler", ['boundmass="1"', 'boundinertia="0.1"', 'settotalmass="3"'])
def test_masses_by_density_follow_the_compiler(compiler):
    """Of a ball of 1000 · 4/3 π r³ = 4.2 g and of one of 4.2 kg, whose masses are formulas of π."""
    light, heavy = '<geom size="0.01"/>', '<geom size="0.1"/>'
    masses, moments = [], []
    for geom in (light, heavy):
        text = slide(geom, f"<compiler {compiler}/>")
        body = reading_of_mjcf(text).mechanism.body("a")
        masses.append(float(floats(body.mass, {})))
        moments.append(floats(body.inertia, {})[0, 0])
    own = [4000 / 3 * np.pi * r**3 for r in (0.01, 0.1)]
    if "boundmass" in compiler:
        own[0] = 1
    elif "total" in compiler:
        own = [3, 3]
    assert masses == pytest.approx(own)
    if "inertia" in compiler:
        assert moments == pytest.approx([0.1, 0.1])


@pytest.mark.parametrize("size", [1e6, 1.0, 1e-12])
def test_principal_axes_are_found_at_any_size(size):
    rng = np.random.default_rng(3)
    for _ in range(5):
        A = rng.normal(size=(3, 3))
        A = size * (A @ A.T + np.eye(3))
        R = principal_axes(A)
        D = R.T @ A @ R
        assert np.abs(D - np.diag(np.diag(D))).max() < 1e-14 * D[0, 0]
        assert D[0, 0] > D[1, 1] > D[2, 2]
        assert np.linalg.det(R) == pytest.approx(1)


def test_equal_moments_leave_axes_as_mujoco_does():
    """Source: MuJoCo 4.0.0, body_iquat of these by fullinertia."""
    assert principal_axes(np.diag([2.0, 2.0, 1.0])).tolist() == np.eye(3).tolist()
    half = np.sqrt(0.5)
    turned = principal_axes([[1.5, 0.5, 0], [0.5, 1.5, 0], [0, 0, 1]])
    assert turned == pytest.approx(np.array([[half, -half, 0], [half, half, 0], [0, 0, 1]]))
    swapped = principal_axes(np.diag([2.0, 1.0, 2.0]))
    assert swapped == pytest.approx(np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))


def test_impossible_moments_become_their_mean():
    inertial = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 4"/>'
    text = slide(inertial, '<compiler balanceinertia="true"/>')
    body = reading_of_mjcf(text).mechanism.body("a")
    assert np.diag(floats(body.inertia, {})) == pytest.approx((2, 2, 2))


CUBE = [(x, y, z) for x in (0, 2) for y in (0, 1) for z in (0, 3)]
FACES = "0 1 3 0 3 2 4 6 7 4 7 5 0 4 5 0 5 1 2 3 7 2 7 6 0 2 6 0 6 4 1 5 7 1 7 3"


@pytest.mark.parametrize("faces", [f'face="{FACES}"', ""], ids=["faces", "hull of corners"])
@pytest.mark.parametrize("how", ["", 'inertia="exact"', 'inertia="convex"'])
def test_a_mesh_encloses_its_mass(how, faces):
    corners = " ".join(str(x) for corner in CUBE for x in corner)
    asset = f'<asset><mesh name="m" vertex="{corners}" {faces} {how}/></asset>'
    text = slide('<geom type="mesh" mesh="m" density="2" pos="1 0 0"/>', more=asset)
    body = reading_of_mjcf(text).mechanism.body("a")
    assert float(body.mass) == pytest.approx(12)
    assert floats(body.com, {}) == pytest.approx((2, 0.5, 1.5))
    assert floats(body.inertia, {}) == pytest.approx(np.diag([10, 13, 5]))


def test_a_mesh_may_count_the_mass_of_its_hull():
    inner = [*CUBE, (1, 0.5, 1.5)]  # a dent in the top: its corner is inside
    corners = " ".join(str(x) for corner in inner for x in corner)
    dented = FACES.removesuffix("1 5 7 1 7 3") + "1 5 8 5 7 8 7 3 8 3 1 8"
    text = '<asset><mesh name="m" vertex="{}" face="{}" inertia="{}"/></asset>'
    masses = {}
    for how in ("exact", "convex"):
        asset = text.format(corners, dented, how)
        body = reading_of_mjcf(slide('<geom type="mesh" mesh="m" density="2"/>', more=asset))
        masses[how] = float(body.mechanism.body("a").mass)
    assert masses == {"exact": pytest.approx(12 - 2 * 2 * 1.5 / 3), "convex": pytest.approx(12)}


def test_a_mesh_is_read_from_each_kind_of_file(tmp_path):
    corners, faces = np.array(CUBE, float), np.array(FACES.split(), int).reshape(-1, 3)
    lines = [f"v {x} {y} {z}" for x, y, z in CUBE] + [
        f"f {a + 1} {b + 1}//1 {c + 1}" for a, b, c in faces
    ]
    (tmp_path / "m.obj").write_text("\n".join(lines))
    rows = np.zeros((12, 50), np.uint8)
    rows[:, 12:48] = corners[faces].astype("<f4").reshape(12, 9).view(np.uint8)
    (tmp_path / "m.stl").write_bytes(bytes(80) + np.array([12], "<u4").tobytes() + rows.tobytes())
    counts = np.array([8, 0, 0, 12], "<i4").tobytes()
    data = counts + corners.astype("<f4").tobytes() + faces.astype("<i4").tobytes()
    (tmp_path / "m.msh").write_bytes(data)
    for kind in ("obj", "stl", "msh"):
        asset = f'<asset><mesh file="m.{kind}" scale="0.5 1 1"/></asset>'
        text = slide('<geom type="mesh" mesh="m" density="2"/>', more=asset)
        body = reading_of_mjcf(text, folder=tmp_path).mechanism.body("a")
        assert float(body.mass) == pytest.approx(6), kind
        assert floats(body.inertia, {}) == pytest.approx(np.diag([5, 5, 1])), kind


# ---- includes, frames, repetitions


def test_includes_come_in_their_place(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "b.xml").write_text(f"<mujocoinclude><joint/>{ROD}</mujocoinclude>")
    (tmp_path / "defaults.xml").write_text(
        '<mujoco><default><joint axis="0 1 0" damping="3"/></default></mujoco>'
    )
    path = tmp_path / "model.xml"
    path.write_text(
        '<mujoco><include file="defaults.xml"/><worldbody><body name="a">'
        '<include file="parts/b.xml"/></body></worldbody></mujoco>'
    )
    mechanism = liaison.read(path)
    assert [x.name for x in mechanism.joints] == ["a joint 1"]
    assert mechanism.forces[1].viscous == 3


def test_frames_move_what_is_in_them():
    inner = (
        '<frame pos="1 0 0" euler="0 0 90"><body name="b" pos="1 0 0"><geom size="0.1"/></body>'
        '<geom type="capsule" fromto="0 0 0 1 0 0" size="0.1" mass="1"/>'
        '<frame pos="0 0 1"><site name="s" pos="0 1 0"/></frame></frame>'
    )
    text = f'<mujoco><worldbody><body name="a"><joint/>{inner}</body></worldbody></mujoco>'
    mechanism = reading_of_mjcf(text).mechanism
    assert floats(mechanism.joint("b fixed").predecessor.p, {}) == pytest.approx((1, 1, 0))
    assert floats(mechanism.body("a").com, {}) == pytest.approx((1, 0.5, 0))
    assert np.diag(floats(mechanism.body("a").inertia, {}))[1] < 0.02  # along y


def test_repetitions_turn_and_move_on():
    body = '<body name="b" pos="1 0 0"><freejoint/><geom size="0.1"/></body>'
    copies = f'<replicate count="3" offset="0 0 1" euler="0 0 90" sep="-">{body}</replicate>'
    mechanism = reading_of_mjcf(f"<mujoco><worldbody>{copies}</worldbody></mujoco>").mechanism
    assert [x.name for x in mechanism.bodies[1:]] == ["b-0", "b-1", "b-2"]
    starts = {x.label: float(x.value) for x in mechanism.starts}
    places = [[starts[f"b-{k} joint 1.{x}"] for x in "xyz"] for k in range(3)]
    assert np.allclose(places, [(1, 0, 0), (0, 1, 1), (-1, 0, 2)])


def test_repetitions_turn_by_multiples_of_all_their_angles():
    """Copy 2 by 0, 60, 180 degrees, not twice by 0, 30, 90. Source: MuJoCo 4.0, body_quat."""
    body = '<body name="b"><geom size="0.1"/></body>'
    copies = f'<replicate count="3" offset="1 0 0" euler="0 30 90">{body}</replicate>'
    mechanism = reading_of_mjcf(f"<mujoco><worldbody>{copies}</worldbody></mujoco>").mechanism
    places = [mechanism.joint(f"b{k} fixed").predecessor for k in range(3)]
    assert floats(places[1].R, {}) == pytest.approx(
        rotation_quaternion([0.683012702, 0.183012702, 0.183012702, 0.683012702]), abs=1e-9
    )
    assert floats(places[2].p, {}) == pytest.approx((1, 1, 0))
    expected = rotation_quaternion([0, 0.5, 0, np.sqrt(3) / 2])
    assert floats(places[2].R, {}) == pytest.approx(expected, abs=1e-12)


def test_a_height_field_of_a_body_has_mass():
    """Of a box, half of the surface's height and the base thick. Source: MuJoCo 4.0."""
    field = '<asset><hfield name="h" nrow="2" ncol="2" size="1 2 3 4"/></asset>'
    text = slide('<geom type="hfield" hfield="h" pos="1 0 0"/>', field)
    body = reading_of_mjcf(text).mechanism.body("a")
    assert float(floats(body.mass, {})) == pytest.approx(44000)
    assert floats(body.com, {}) == pytest.approx((1, 0, 0))
    moments = np.diag(floats(body.inertia, {}))
    assert moments == pytest.approx((169583.3333333333, 125583.3333333333, 73333.3333333333))


def test_a_polynomial_that_is_a_line_is_read():
    joint = next(
        x
        for x in reading_of_mjcf(hinge('stiffness="3 0" damping="2 0 0"')).mechanism.forces
        if x.name == "spring of j"
    )
    assert joint.stiffness == 3


def test_a_model_is_attached_under_names_of_its_own(tmp_path):
    (tmp_path / "arm.xml").write_text(
        '<mujoco><default><joint damping="3"/><motor gear="7"/></default><worldbody>'
        f'<body name="b"><joint name="j" axis="0 1 0"/>{ROD}</body></worldbody>'
        '<actuator><motor name="m" joint="j"/></actuator></mujoco>'
    )
    text = (
        '<mujoco><asset><model name="arm" file="arm.xml"/></asset><worldbody>'
        '<replicate count="2" offset="0 2 0"><attach model="arm" body="b" prefix="x"/></replicate>'
        "</worldbody></mujoco>"
    )
    mechanism = reading_of_mjcf(text, folder=tmp_path).mechanism
    assert [x.name for x in mechanism.bodies[1:]] == ["xb0", "xb1"]
    assert [x.name for x in mechanism.inputs] == ["xm0 ctrl", "xm1 ctrl"]
    inputs = {"xm0 ctrl": 0.0, "xm1 ctrl": 0.5}
    start = {"xj0": np.pi / 2, "xj0'": 1.0, "xj1": np.pi / 2, "xj1'": 0.0}
    found = liaison.forward_dynamics(mechanism, start, inputs=inputs)
    assert found == pytest.approx([-3 / MOMENT, 3.5 / MOMENT], rel=1e-12)


# ---- limits, sensors, keyframes


def test_ranges_are_stops():
    mechanism = reading_of_mjcf(hinge('range="-90 45"')).mechanism
    assert [x.name for x in mechanism.contacts] == ["j lower stop", "j upper stop"]
    assert all(isinstance(x, Unilateral) for x in mechanism.contacts)
    assert not reading_of_mjcf(hinge('range="-90 45"'), limits=False).mechanism.contacts
    off = reading_of_mjcf(hinge('range="-90 45"', head='<option><flag limit="disable"/></option>'))
    assert not off.mechanism.contacts
    assert "limits of 1 joint are kept, but not enforced" in off.notes


def test_a_joint_described_outside_its_range_starts_within():
    content = reading_of_mjcf(hinge('range="45 90"'))
    (start,) = content.mechanism.starts
    assert np.radians(45) < float(start.value) < np.radians(46)
    assert any("outside its range" in x for x in content.notes)


def test_a_tendon_has_stops_too():
    formulas = [x.formula for x in reading_of_mjcf(fixed('range="-1 0.5"')).mechanism.contacts]
    there = substitute(formulas, {symbol("j"): as_expr(0.3)})
    assert floats(there, {}) == pytest.approx([-1.6, 0.1])


SENSORS = (
    '<sensor><jointpos name="angle" joint="j"/><jointvel joint="j"/><clock name="now"/>'
    '<framepos name="tip" objtype="site" objname="tip"/><gyro name="turn" site="tip"/>'
    '<velocimeter name="speed" site="tip"/><touch site="tip"/></sensor>'
)


def test_sensors_are_outputs():
    content = reading_of_mjcf(hinge('ref="10"', SENSORS))
    run = liaison.simulate(content.mechanism, until=0.1, every=0.1, start={"j": q0, "j'": 2.0})
    first = {
        name: float(run[f"outputs.{name}"][0])
        for name in (
            "angle",
            "jointvel 2",
            "tip.x",
            "tip.y",
            "tip.z",
            "turn.y",
            "speed.x",
            "speed.z",
        )
    }
    assert first["angle"] == pytest.approx(q0 + np.radians(10))
    assert first["jointvel 2"] == 2
    assert [first[f"tip.{x}"] for x in "xyz"] == pytest.approx(TIP)
    assert first["turn.y"] == pytest.approx(2)
    assert first["speed.x"] == pytest.approx(0, abs=1e-12)
    assert first["speed.z"] == pytest.approx(-2)  # of the tip, in its own axes
    assert "<touch> in <sensor> is not used" in content.notes


KEYS = (
    '<keyframe><key name="up" qpos="0.5" qvel="2" ctrl="0.25"/></keyframe>'
    '<actuator><motor name="m" joint="j"/></actuator>'
)


def test_a_keyframe_starts_a_motion():
    content = reading_of_mjcf(hinge('ref="10"', KEYS))
    assert not content.mechanism.starts
    assert any(x.startswith("keyframes are not used: up") for x in content.notes)
    for wish in ("up",):
        mechanism = reading_of_mjcf(hinge('ref="10"', KEYS), keyframe=wish).mechanism
        starts = {x.label: float(x.value) for x in mechanism.starts}
        assert starts == {"j": pytest.approx(0.5 - np.radians(10)), "j'": 2}
        assert [float(x.default) for x in mechanism.inputs] == [0.25]


@pytest.mark.parametrize("dyntype", ["filter", "filterexact"])
def test_a_control_is_filtered_as_by_a_low_pass(dyntype):
    """z = 1 − exp(−t/τ), and the force follows z."""
    text = actuator("general", f'dyntype="{dyntype}" dynprm="0.2" gainprm="3"')
    mechanism = reading_of_mjcf(text).mechanism
    run = liaison.simulate(mechanism, until=1, inputs={"m ctrl": 1}, rtol=1e-10, atol=1e-12)
    wave = np.exp(-run.t / 0.2)
    assert np.abs(run["m act"] - (1 - wave)).max() < 1e-9
    speed = 3 / MOMENT * (run.t - 0.2 * (1 - wave))
    assert np.abs(run["j'"] - speed).max() < 1e-9


def test_an_activation_stops_at_the_end_of_its_range():
    text = actuator("intvelocity", 'kp="7" kv="20" actrange="-0.1 0.3"')
    mechanism = reading_of_mjcf(text).mechanism
    run = liaison.simulate(mechanism, until=1, inputs={"m ctrl": 1}, every=0.01)
    reached = run["m act"]
    assert np.abs(reached - np.minimum(run.t, 0.3)).max() < 1e-3
    back = liaison.simulate(
        mechanism, until=0.1, start={"m act": 0.3}, inputs={"m ctrl": -1}, every=0.01
    )
    assert np.abs(back["m act"] - (0.3 - back.t)).max() < 1e-6


def test_a_keyframe_sets_activations():
    more = (
        '<keyframe><key act="0.25 0.5" ctrl="1 2 3"/></keyframe><actuator>'
        '<cylinder name="a" joint="j" area="1"/><motor name="b" joint="j"/>'
        '<general name="c" joint="j" dyntype="integrator"/></actuator>'
    )
    mechanism = reading_of_mjcf(hinge(more=more), keyframe=0).mechanism
    assert {x.label: float(x.value) for x in mechanism.starts} == {"a act": 0.25, "c act": 0.5}
    assert [float(x.default) for x in mechanism.inputs] == [1, 2, 3]


@pytest.mark.parametrize("dyntype", ["muscle", "user"])
def test_other_activations_are_refused_by_name(dyntype):
    with pytest.raises(TextError, match=f"'dyntype' of .* is '{dyntype}', which is not read"):
        reading_of_mjcf(actuator("general", f'dyntype="{dyntype}"'))


def test_a_filter_without_a_time_is_refused():
    with pytest.raises(TextError, match="it is positive"):
        reading_of_mjcf(actuator("general", 'dyntype="filter" dynprm="0"'))


def test_keyframes_have_names_or_numbers_and_no_time():
    more = '<keyframe><key name="1" qpos="0.1"/><key qpos="0.2" time="3"/><key qpos="0.3"/>'
    text = hinge(more=more + "</keyframe>")
    for wish, q in (("1", 0.1), (1, 0.1), ("0", 0.1), (2, 0.3)):
        (start,) = reading_of_mjcf(text, keyframe=wish).mechanism.starts
        assert float(start.value) == q, wish
    assert not any("'time'" in x for x in reading_of_mjcf(text).notes)
    late = reading_of_mjcf(text.replace('name="1" ', ""), keyframe=1)
    assert "'time' of <key> is not used: a run begins at t = 0" in late.notes


def test_things_of_different_kinds_may_have_one_name():
    more = (
        '<tendon><fixed name="j" stiffness="3" damping="1" range="-1 1"><joint joint="j" coef="1"/>'
        '</fixed></tendon><equality><tendon name="j" tendon1="j"/></equality><actuator><motor '
        'name="gravity" joint="j"/><motor name="spring of j" joint="j"/></actuator>'
    )
    mechanism = reading_of_mjcf(hinge('stiffness="2" damping="1" range="-90 90"', more)).mechanism
    for records in (mechanism.forces, mechanism.contacts):
        assert len({x.name for x in records}) == len(records)
    assert {"spring of j", "spring of j_", "j lower stop", "j lower stop_"} <= {
        x.name for x in (*mechanism.forces, *mechanism.contacts)
    }


def test_a_keyframe_of_a_free_body_has_its_speeds_in_its_axes():
    text = (
        '<mujoco><worldbody><body><freejoint name="f"/><geom size="0.1"/></body></worldbody>'
        '<keyframe><key qpos="1 2 3 2 0 0 2" qvel="1 0 0 4 5 6"/></keyframe></mujoco>'
    )
    starts = {x.label: float(x.value) for x in reading_of_mjcf(text, keyframe=0).mechanism.starts}
    assert [starts[f"f.{x}"] for x in "xyz"] == [1, 2, 3]
    assert [starts[f"f.w{x}"] for x in "xyz"] == [4, 5, 6]
    assert [starts[f"f.v{x}"] for x in "xyz"] == pytest.approx([0, -1, 0])  # turned by 90 deg


# ---- the model's own words


def test_cables_servos_and_dead_zones_are_written_as_lsd():
    more = (
        '<tendon><spatial name="t" stiffness="3" springlength="0 1"><site site="post"/>'
        '<site site="tip"/><pulley divisor="2"/><site site="tip"/><site site="post"/></spatial>'
        '<fixed name="u" damping="2"><joint joint="j" coef="0.5"/></fixed></tendon>'
        '<actuator><position joint="j" kp="3" forcerange="-1 2"/></actuator>'
    )
    mechanism = reading_of_mjcf(hinge(more=more)).mechanism
    kinds = {type(x) for x in mechanism.forces}
    assert {Servo, DeadZoneSpring} <= kinds
    assert any(isinstance(x.along(), Cable) for x in mechanism.forces)
    assert read_lsd(write_lsd(mechanism)) == mechanism


def test_a_ball_falls_on_the_plane_of_its_file():
    text = (
        '<mujoco><worldbody><geom type="plane" size="1 1 1" euler="10 0 0" friction="2"/>'
        '<body pos="0 0 1"><joint name="j" type="slide" axis="0 0 1"/><geom size="0.1"/></body>'
        "</worldbody></mujoco>"
    )
    run = liaison.simulate(reading_of_mjcf(text, contacts=True).mechanism, until=2.0)
    height = 0.1 / np.cos(np.radians(10))
    assert 1 + run["j"][-1] == pytest.approx(height, abs=1e-6)
    assert "1 pair of geoms may touch" in " ".join(reading_of_mjcf(text).notes)


POSITIONS = '<position kp="40" kv="2" gear="3"/>'
DAMPED = '<general gaintype="affine" gainprm="0 0 -7"/>'


@pytest.mark.parametrize(
    ("default", "actual", "written"),
    [
        (POSITIONS, "<velocity/>", '<velocity kv="1" gear="3"/>'),
        (POSITIONS, '<intvelocity kp="9"/>', '<intvelocity kp="9" kv="0" gear="3"/>'),
        (POSITIONS, "<cylinder/>", '<cylinder area="1" bias="0 0 0" gear="3"/>'),
        (POSITIONS, '<position kv="5"/>', '<position kp="40" kv="5" gear="3"/>'),
        (POSITIONS, "<general/>", '<position kp="40" kv="2" gear="3"/>'),
        ('<velocity kv="5"/>', "<position/>", '<position kp="1" kv="0"/>'),
        ('<velocity kv="5"/>' + POSITIONS, "<velocity/>", '<velocity kv="1" gear="3"/>'),
        ('<velocity kv="5"/><general gear="3"/>', "<velocity/>", '<velocity kv="5" gear="3"/>'),
        ('<general gainprm="5"/>', "<position/>", '<position kp="5"/>'),
        (DAMPED, "<position/>", '<position kp="1"/>'),
        (DAMPED, '<damper ctrlrange="0 1"/>', '<damper kv="7" ctrlrange="0 1"/>'),
        ('<position timeconst="0.3"/>', '<cylinder area="2"/>', '<cylinder area="2"/>'),
        (f'{POSITIONS}<default class="c"><velocity kv="5"/></default>', '<position class="c"/>',
         '<position kp="40" kv="2" gear="3"/>'),
        (f'{POSITIONS}<default class="c"><motor gear="2"/></default>', '<position class="c"/>',
         '<position kp="40" kv="2" gear="2"/>'),
    ],
)  # fmt: skip
def test_a_shortcut_takes_parameters_from_defaults_of_its_own_kind(default, actual, written):
    def drive(element: str) -> str:
        return "<actuator>" + element.replace("/>", ' name="m" joint="j"/>') + "</actuator>"

    head = f"{NO_WEIGHT}<default>{default}</default>"
    found = hinge(more=drive(actual), head=head)
    meant = hinge(more=drive(written))
    for q, v, u in ((0.3, 2.0, 0.7), (-0.2, 0.5, 0.1)):
        assert acceleration(found, q, v, u) == pytest.approx(acceleration(meant, q, v, u))


def test_an_integrated_velocity_without_a_range_has_no_ends():
    text = actuator("intvelocity", 'kp="7" kv="2"')
    (state,) = [x for x in reading_of_mjcf(text).mechanism.forces if isinstance(x, Memory)]
    assert state.rate == symbol("m ctrl")


def test_no_damping_ratio_replaces_the_damping_of_the_class():
    head = f'{NO_WEIGHT}<default><position kp="4" kv="2"/></default>'
    more = '<actuator><position name="m" joint="j" dampratio="0"/></actuator>'
    assert acceleration(hinge(head=head, more=more), v=3.0) == 0
