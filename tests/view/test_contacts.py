"""Contacts in pictures: colors of states, the flash of an impact, arrows, and what is touched."""

import colorsys
import io

import numpy as np
import pytest

import liaison
from liaison.analyse.along.contact_points import contact_points
from liaison.analyse.along.formula_contacts import formula_contacts
from liaison.view.drawing import drawing
from liaison.view.links import joint_forces
from liaison.view.marks import (
    IMPACT,
    OPEN,
    ROLLS,
    SLIPS,
    STATE_COLORS,
    STICKS,
    Mark,
    beside,
    marks,
    without_idle,
)
from liaison.view.scene import sampled

SLIDE = """
name = "slide" ;
gravity = [0, 0, -9.81] m/s^2 ;
let block = body mass = 2 kg, inertia = 0.01 kg*m^2, {shape} end ;
let X = join earth and block with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let floor = contact block and earth with point friction = 0.5 end ;
start X.z = 5 cm ;
start X.x' = 3 m/s ;
"""
SMALL = 'shape = sphere(radius = 1 mm, color = "gray")'


@pytest.fixture(scope="module")
def slide():
    mechanism = liaison.read(SLIDE.format(shape=SMALL))
    return mechanism, liaison.simulate(mechanism, until=1.0)


def test_a_mark_has_the_color_of_its_state(slide):
    mechanism, run = slide
    seen = sampled(run, 1.0, 50.0)
    (mark,) = marks(seen, contact_points(mechanism, seen), (0.01, 0.01), {"floor": 0.02})
    colors = mark.colors()
    falls = (0.1 / 9.81) ** 0.5  # √(2 h/g)
    stops = next(e.t for e in run.events if e.what == "sticks")

    def color(t):
        return tuple(colors[np.argmin(np.abs(seen.t - t))])

    assert color(0.05) == STATE_COLORS[OPEN]
    assert color(falls + 0.02) == STATE_COLORS[IMPACT]
    assert color((falls + 0.12 + stops) / 2) == STATE_COLORS[SLIPS]
    assert color(0.98) == STATE_COLORS[STICKS]
    assert not np.any(mark.force[seen.t < falls])
    assert not np.any(mark.moment)
    weight = 0.01 * 2 * 9.81
    slipping = mark.force[np.argmin(np.abs(seen.t - (falls + stops) / 2))]
    np.testing.assert_allclose(slipping, [-0.5 * weight, 0, weight], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(mark.force[-1], [0, 0, weight], atol=1e-9)
    np.testing.assert_allclose(
        mark.point, np.column_stack([seen.q[:, 0], 0 * seen.t, seen.q[:, 1]])
    )


def test_modes_between_instants_are_modes(slide):
    _, run = slide
    fine = run.resample(np.linspace(0, 1, 4001))
    assert set(np.unique(fine["modes"])) <= {0.0, 1.0, 2.0}
    assert fine["contacts"].min() >= -0.5 * 2 * 9.81 - 1e-6


def pieces(contact: str, shape: str = "", ground: str = ""):
    text = SLIDE.format(shape=shape or "center = [0, 0, 0]")
    text = text.replace("block and earth with point friction = 0.5", contact) + ground
    mechanism = liaison.read(text)
    drawn = drawing(liaison.simulate(mechanism, until=0.05), mechanism)
    return drawn.pieces


def test_what_is_touched_is_drawn_where_there_is_no_shape():
    drawn = pieces("block and [0, 0, -1] m @ earth with ball radius = 10 cm")
    (floor,) = [x for x in drawn["ground"] if x.kind == "box" and x.opacity < 1]
    assert floor.p[2] + floor.size[2] / 2 == pytest.approx(-1)
    assert [(x.kind, x.size) for x in drawn["block"]] == [("sphere", (0.1,))]
    shaped = pieces(
        "block and earth with point", SMALL, "earth.shape = box([1, 1, 1] m, color = 'tan') ;"
        .replace("'", '"'),
    )  # fmt: skip
    assert not [x for x in shaped["ground"] if x.opacity < 1]
    assert [x.size for x in shaped["block"]] == [(0.001,)]


@pytest.mark.parametrize(
    ("contact", "kind"),
    [
        ("block and earth with ball radius = 1 cm, inside = 2 m", "sphere"),
        ("block and earth with point surface = 0.1 m*sin(x/(1 m)) - 1 m", "mesh"),
        ("block and [0, 0, -1] m @ earth with box size = [4, 4, 2] cm", "box"),
    ],
)
def test_hollow_balls_and_surfaces_are_glass(contact, kind):
    drawn = pieces(contact)
    glass = [x for x in drawn["ground"] if x.opacity < 1]
    assert [x.kind for x in glass] == [kind]
    if kind == "mesh":
        x, _, z = glass[0].surface.vertices.T
        np.testing.assert_allclose(z, 0.1 * np.sin(x) - 1, atol=1e-12)


def test_a_hollow_rod_is_drawn_with_its_round_ends():
    drawn = pieces("block and earth with ball radius = 1 cm, inside = 2 m, along = 3 m")
    (glass,) = [x for x in drawn["ground"] if x.opacity < 1]
    x, y, z = glass.surface.vertices.T
    gap = 2 - np.sqrt(x**2 + y**2 + np.maximum(np.abs(z) - 1.5, 0) ** 2)
    np.testing.assert_allclose(gap, 0, atol=0.01)
    assert z.max() == pytest.approx(3.5)


BALL = """
name = "ball" ; gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 1 kg, inertia = 0.4e-2 kg*m^2 end ;
let F = join earth and ball with free end ;
let table = contact ball and earth with ball
  radius = 10 cm, friction = 0.3, rolling = 1 mm, pivoting = 2 mm end ;
start F = [0, 0, 10] cm ++ 0 deg || [0, 0, 1] ;
start F.vx = 1 m/s ; start F.wz = 30 rad/s ;
"""


def test_a_ball_that_rolls_is_told_from_one_that_slips():
    mechanism = liaison.read(BALL)
    run = liaison.simulate(mechanism, until=0.4, every=0.02)
    places = contact_points(mechanism, run)
    (mark,) = marks(run, places, (1.0, 1.0), {"table": 0.01}, can_roll={"table"})
    rolls = next(e.t for e in run.events if e.name == "table: sliding" and e.what == "sticks")
    # v0 − f g t = 5/2 (f − r/R) g t
    assert rolls == pytest.approx(1 / (9.81 * (3.5 * 0.3 - 2.5 * 0.01)), rel=1e-6)
    assert set(mark.states[(run.t > 0) & (run.t < rolls)]) == {SLIPS}
    assert set(mark.states[run.t > rolls]) == {ROLLS}
    # the moment on the ball resists its rolling about y, and its spin about the normal
    weight = 9.81
    np.testing.assert_allclose(mark.moment[-1, 1], -1e-3 * weight, rtol=1e-3)
    np.testing.assert_allclose(mark.moment[1, 2], -2e-3 * weight, rtol=1e-6)


def test_a_formula_of_one_joint_acts_there(examples):
    mechanism = liaison.read(examples / "chaplygin_unilateral.lsd")
    run = liaison.simulate(mechanism, until=3.0, every=0.5)
    (blade,) = formula_contacts(mechanism, run)
    x, y, angle = run.q.T
    mu = run["contacts"][:, 0]  # ≤ 0, along W = (sin, −cos, 0)
    across = np.column_stack([np.sin(angle), -np.cos(angle), 0 * x])
    np.testing.assert_allclose(blade.force, mu[:, None] * across, atol=1e-12)
    np.testing.assert_allclose(blade.point, np.column_stack([x, y, 0 * x]), atol=1e-12)
    assert (blade.joint, blade.is_placed) == ("S", True)
    assert blade.is_closed.tolist() == [False] * 4 + [True] * 3
    assert np.abs(blade.moment).max() < 1e-12


def test_a_stop_of_a_hinge_is_a_moment_about_it():
    text = """
    let arm = body mass = 1 kg, center = [1, 0, 0] m, inertia = 1 g*m^2 end ;
    gravity = [0, 0, -9.81] m/s^2 ;
    let A = join earth and arm with revolute axis = [0, 1, 0] end ;
    let stop = require A <= 10 deg ;
    """
    mechanism = liaison.read(text)
    run = liaison.simulate(mechanism, until=1.0, every=0.1)
    (stop,) = formula_contacts(mechanism, run)
    turn = np.radians(10)  # z falls where the arm turns about y
    np.testing.assert_allclose(stop.moment[-1], [0, -9.81 * np.cos(turn), 0], atol=1e-9)
    np.testing.assert_allclose(stop.force, 0, atol=1e-12)


def test_formulas_of_several_joints_stand_beside_them_one_above_the_other(examples):
    mechanism = liaison.read(examples / "reference" / "woodpecker.lsd")
    run = liaison.simulate(mechanism, until=0.1, every=0.005)
    places = formula_contacts(mechanism, run)
    assert [(x.name, x.is_placed) for x in places] == [
        ("beak", False), ("low", False), ("high", False)
    ]  # fmt: skip
    assert not np.any([x.force for x in places])
    radii = dict.fromkeys(("beak", "low", "high"), 1e-3)
    found = beside(marks(run, places, (1, 1), radii), np.array([-0.01, 0, 0]), np.array([0, 0, 1]))
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert np.linalg.norm(found[a].point - found[b].point, axis=1).min() > 2e-3
    np.testing.assert_allclose([x.point[:, 0] for x in found], -0.01, atol=1e-12)


@pytest.mark.slow
def test_a_page_shows_modes_by_color(browser, tmp_path):
    # the camera goes with what slides, near enough for its shape: a ball would hide the mark in it
    rod = 'shape = line([0, 0, 0] m, [0, 0, 10 cm], color = "gray")'
    mechanism = liaison.read(SLIDE.format(shape=rod))
    run = liaison.simulate(mechanism, until=1.0)
    liaison.page(run, mechanism, tmp_path / "slide.html", fps=20, labels=False)
    context = browser.new_context(
        viewport={"width": 1000, "height": 700}, offline=True, reduced_motion="reduce"
    )
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto((tmp_path / "slide.html").as_uri())
    tab.wait_for_selector("[data-ready]")
    legend = tab.locator(".legend li").all_inner_texts()
    assert [x for x in legend if x.startswith("contact: ")] == [
        "contact: open", "contact: holds", "contact: slips", "contact: impact"
    ]  # fmt: skip
    tab.evaluate("document.styleSheets[0].insertRule('.view > :not(canvas){display:none}')")
    axes = {hue: share(tab, 0.0, hue) for hue in HUES}  # of the world, which have colors as well
    for t, hue in ((0.16, 0), (0.45, 33), (0.95, 137)):
        more = {x: share(tab, t, x) - axes[x] for x in HUES}
        assert more[hue] > 0.0005, (t, hue)
        assert all(more[x] < more[hue] / 4 for x in HUES if x != hue), (t, hue)
    # choosing an event goes there
    tab.get_by_role("listbox", name="Events").select_option(index=0)
    falls = (0.1 / 9.81) ** 0.5
    assert tab.evaluate("liaison.time") == pytest.approx(falls, abs=1e-6)
    assert tab.locator(".strip .of").all_inner_texts() == ["floor"]
    assert complaints == []
    context.close()


HUES = (0, 33, 137)  # red, orange, green


def share(tab, t: float, hue: float) -> float:
    """The share of the picture's points that have a hue [degrees] at a time."""
    from PIL import Image

    tab.evaluate(f"liaison.seek({t})")
    tab.evaluate("new Promise((x) => requestAnimationFrame(() => setTimeout(x, 50)))")
    data = tab.locator(".view > canvas").screenshot()
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    strong = np.argwhere(picture.max(axis=-1) - picture.min(axis=-1) > 40)
    hues = [360 * colorsys.rgb_to_hsv(*(picture[y, x] / 255))[0] for y, x in strong]
    near = np.abs((np.array(hues) - hue + 180) % 360 - 180) < 15
    return float(np.count_nonzero(near)) / picture[..., 0].size


@pytest.mark.parametrize(
    ("what", "body", "kinds"),
    [
        ("disc radius = 1 cm, profile = 5 cm + 1 cm*cos(angle)", "b", ["mesh"]),
        ("ball radius = 1 cm, block = [10, 10, 0] cm", "b", ["box"]),
        ("ellipsoid size = [1, 2, 0] mm", "a", ["mesh"]),
        ("ball radius = 1 cm, curve = [-s*(1 m), 0 m], span = [-1, 1]", "b", ["mesh"]),
        (
            "ball radius = 1 cm, outside = 1 cm, along = 10 cm",
            "b",
            ["cylinder", "sphere", "sphere"],
        ),
        (
            "capsule radius = 1 cm, length = 5 cm, inside = 2 m",
            "a",
            ["cylinder", "sphere", "sphere"],
        ),
    ],
)
def test_what_has_no_shape_is_drawn_by_its_contact(what, body, kinds):
    mechanism = liaison.read(f"""
    let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let A = join earth and a with planar end ;
    let B = join earth and b with revolute end ;
    contact a and b with {what} end ;
    start A.x = 1 m ; start A.y = 1 m ;
    """)
    drawn = drawing(liaison.simulate(mechanism, until=0.01), mechanism)
    found = [piece.kind for piece in drawn.pieces[body]]
    assert [x for x in found if x in kinds][: len(kinds)] == kinds
    if "profile" in what:
        (cam,) = [x for x in drawn.pieces["b"] if x.surface is not None]
        far = np.linalg.norm(cam.surface.vertices[:, :2], axis=1)
        assert far.max() == pytest.approx(0.06)
        assert far[far > 0].min() == pytest.approx(0.04)


def test_places_that_stay_open_are_left_out_where_they_are_many():
    still, t = np.zeros((2, 3)), np.zeros(2, dtype=np.int64)

    def mark(name, state):
        return Mark(name, still, still, still, t + state, t > 0, 0.1)

    few = [mark("foot", STICKS), *(mark(f"stop {k}", OPEN) for k in range(6))]
    assert without_idle(few) == few
    many = [*few, mark("corner", OPEN)]
    assert without_idle(many) == few[:1]


def test_a_free_body_has_no_force_of_its_joint():
    """Rounding of 1e-14 N had an arrow and a text."""
    b = liaison.body("b", 1, shapes=liaison.Sphere(0.1))
    arm = liaison.body("arm", 1, center=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    free = liaison.join(liaison.ground, b, "free", name="F")
    hinge = liaison.join(b.at((0, 0, 0.1)), arm, "revolute", name="A")
    both = liaison.mechanism(free, hinge, liaison.gravity())
    run = liaison.simulate(both, until=0.1, start={"A'": 3.0}, series=("poses", "reactions"))
    drawn = drawing(run, both)
    assert [*joint_forces(run, drawn, True)] == ["A"]
    assert [*joint_forces(run, drawn, ("F",))] == ["F"]


def test_planes_of_a_scene_are_drawn_where_they_are():
    text = """name = "heap" ; gravity = [0, 0, -9.81] m/s^2 ;
    let b = body mass = 1 kg, shape = sphere(radius = 5 cm) end ;
    let F = join earth and b with free end ; start F.z = 10 cm ;"""
    planes = [(0, 0, 1, 0), (3, 0, 4, -1)]
    run = liaison.collide(text, planes=planes).simulate(0.05, step=0.01)
    assert run.name == "heap"
    drawn = drawing(run, liaison.read(text))
    plates = [x for x in drawn.pieces["ground"] if x.kind == "box"]
    for plate, (*n, d) in zip(plates, planes, strict=True):
        top = plate.p + plate.R[:, 2] * plate.size[2] / 2
        assert plate.R[:, 2] == pytest.approx(np.array(n) / np.linalg.norm(n))
        assert np.dot(n, top) == pytest.approx(d)
        assert np.linalg.det(plate.R) == pytest.approx(1)
    with pytest.raises(liaison.LiaisonError, match="scene of free bodies"):
        joint_forces(run, drawn, True)
    spun = liaison.collide(text, start={"F.wx": 100}, planes=planes)
    with pytest.raises(liaison.LiaisonError, match="in steps, every=33"):
        sampled(spun.simulate(0.5, step=1e-3, every=100), 1.0, 30)


def test_what_several_bodies_touch_is_drawn_once_and_a_drum_is_hollow():
    text = """gravity = [0, 0, -9.81] m/s^2 ;
    let drum = body mass = 5 kg, inertia = [0.2, 0.2, 0.3] kg*m^2 end ;
    let D = join earth and drum with revolute axis = [0, 1, 0] end ;
    for i = 1 to 3
      let b[i] = body mass = 1 kg, shape = sphere(radius = 3 cm) end ;
      let F[i] = join earth and b[i] with free end ;
      start F[i] = [i*7 cm - 14 cm, 0, 0] ;
      let k[i] = contact b[i] and drum with ball radius = 3 cm, inside = 25 cm, along = 40 cm end ;
      let f[i] = contact b[i] and [0, 0, -1] m @ earth with ball radius = 3 cm end ;
    end ;
    """
    mechanism = liaison.read(text)
    run = liaison.simulate(mechanism, until=0.01, step=0.005, method="moreau")
    drawn = drawing(run, mechanism)
    assert [x.kind for x in drawn.pieces["drum"] if not x.joint] == ["mesh"]
    assert [x.kind for x in drawn.pieces["ground"] if x.opacity < 1 and not x.joint] == ["box"]
