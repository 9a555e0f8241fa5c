"""The scene as data: what a front end reads is the run, within the error that it is told."""

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.model import Free, Sphere, body, gravity, ground, join
from liaison.model.mechanism import Mechanism
from liaison.simulation.record.resampling import rotation_of
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory
from liaison.view.drawing import drawing
from liaison.view.marks import IMPACT, OPEN, SLIPS, struck
from liaison.view.pages.document import FORMAT, VERSION, Look, scene_of, unit_choices
from liaison.view.pages.html import page_html
from liaison.view.pages.packing import Pack
from liaison.view.scene import sampled

REPOSITORY = Path(__file__).parents[2]


def inflated(data: str) -> bytes:
    """The bytes of a scene."""
    return zlib.decompress(base64.b64decode(data), -15)


def unpacked(entry: dict, data: bytes) -> np.ndarray:
    """The numbers of an entry."""
    shape = entry["shape"]
    rows, count = shape[0], int(np.prod(shape))
    width = {"u16": 2, "f32": 4, "u8": 1, "u32": 4}[entry["kind"]]
    raw = np.frombuffer(data[entry["at"] : entry["at"] + width * count], np.uint8)
    words = raw.reshape(width, count).T.copy().tobytes()
    kind = {"u16": "<u2", "f32": "<f4", "u8": "u1", "u32": "<u4"}[entry["kind"]]
    columns = np.frombuffer(words, kind).reshape(-1, rows)
    if entry["kind"] == "u16":
        numbers = np.cumsum(columns.astype(np.int64), axis=1) % 65536
        columns = np.array(entry["low"])[:, None] + np.array(entry["step"])[:, None] * numbers
    return np.asarray(columns, dtype=float).T.reshape(shape)


def of(run, mechanism, **look):
    """Text and arrays of a scene."""
    scene = scene_of(sampled(run, 1.0, 30.0), run, mechanism, Look(**look))
    data = inflated(scene.data)
    return scene.text, lambda entry: unpacked(entry, data)


@pytest.fixture(scope="module")
def swing(double_pendulum):
    tip = ("lower", (0, 0, -1))
    return of(double_pendulum.run, double_pendulum.mechanism, forces=["B"], trace=(tip,))


def test_packed_numbers_are_read_back_within_their_error():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 3, 2)) * [1e-6, 1e6]
    pack = Pack()
    quantised, read = pack.quantised(x)
    floats, rough = pack.floats(x), pack.floats(x, bits=15)
    gaps = pack.floats([1.0, np.nan, -np.inf, 0.0], bits=15)
    few, many = pack.whole(np.arange(12).reshape(4, 3)), pack.whole([[1], [70_000]])
    data = inflated(pack.text())
    np.testing.assert_array_equal(unpacked(quantised, data), read)
    assert np.all(np.abs(read - x) <= np.ptp(x, axis=0) / 65535 * 0.5001)
    np.testing.assert_array_equal(unpacked(floats, data), x.astype(np.float32))
    error = np.abs(unpacked(rough, data) / x - 1).max()
    assert 2.0**-18 < error <= 2.0**-16 * 1.001
    np.testing.assert_array_equal(unpacked(gaps, data), [1, np.nan, -np.inf, 0])
    np.testing.assert_array_equal(unpacked(few, data), np.arange(12).reshape(4, 3))
    np.testing.assert_array_equal(unpacked(many, data), [[1], [70_000]])


def test_poses_are_those_of_the_run_within_the_error_given(swing, double_pendulum):
    text, read = swing
    shown = sampled(double_pendulum.run, 1.0, 30.0)
    np.testing.assert_allclose(read(text["times"]), shown.t, rtol=1e-7)
    places, turns = (read(text["poses"][x]) for x in ("places", "turns"))
    error = text["poses"]["error"]
    assert 0 < error["place"] < 3e-5
    assert 0 < error["angle"] < 1e-4
    names = [x["name"] for x in text["bodies"]]
    for k, name in enumerate(("upper", "lower")):
        X, b = shown["poses"][:, k], names.index(name)
        np.testing.assert_allclose(places[:, b], X[:, :, 3], atol=1.001 * error["place"])
        R = rotation_of(turns[:, b] / np.linalg.norm(turns[:, b], axis=1, keepdims=True))
        # the angle of the difference, from the trace of the quotient
        off = np.linalg.norm(R - X[:, :, :3], axis=(1, 2)) / np.sqrt(2)
        assert off.max() <= 1.001 * error["angle"]


def test_the_text_is_plain_and_every_entry_is_described(swing):
    text, _ = swing
    assert (text["format"], text["version"]) == (FORMAT, VERSION) == ("liaison-scene", 1)
    assert json.loads(json.dumps(text, allow_nan=False))["title"] == "double pendulum"
    typed = (REPOSITORY / "web" / "src" / "scene.ts").read_text(encoding="utf-8")
    page = (REPOSITORY / "docs" / "scene.md").read_text(encoding="utf-8")
    assert f"VERSION = {VERSION};" in typed
    for key in keys(text):
        assert re.search(rf"\b{key}\??:", typed), f"{key} is not in scene.ts"
        assert f"`{key}`" in page, f"{key} is not in docs/scene.md"


def keys(entry) -> set[str]:
    """All keys of a scene, but names of units."""
    if isinstance(entry, list | tuple):
        return set().union(*(keys(x) for x in entry)) if entry else set()
    if not isinstance(entry, dict):
        return set()
    inner = [keys(x) for key, x in entry.items() if key != "units"]
    return set(entry).union(*inner)


def test_joints_have_their_type_and_place(swing):
    text, _ = swing
    names = [x["name"] for x in text["bodies"]]
    A, B = text["joints"]
    assert (A["name"], A["type"], names[A["body"]]) == ("A", "revolute", "ground")
    assert (names[B["body"]], B["place"]) == ("upper", [0, 0, -1])
    symbols = {p["joint"] for x in text["bodies"] for p in x["pieces"] if "joint" in p}
    assert symbols == {"A", "B"}
    assert text["view"]["supports"] == [[0, 0, 0]]


def test_forces_are_in_newtons_in_the_world(swing, double_pendulum):
    text, read = swing
    (force,) = text["forces"]
    shown = sampled(double_pendulum.run, 1.0, 30.0)
    axes = np.array(double_pendulum.mechanism.joints[1].successor.R, dtype=float)
    along_x = 10 * shown["poses"][:, 1, :, :3] @ axes[:, 0]
    np.testing.assert_allclose(read(force["values"]), along_x, atol=1e-3)
    # the longest arrow is half the size of the scene
    assert 10 * text["arrows"]["force"] == pytest.approx(text["view"]["size"] / 2, rel=1e-3)


LOADED = """
gravity = [0, 0, -9.81] m/s^2 ;
let car = body mass = 1 kg, inertia = 1 g*m^2 end ;
let arm = body mass = 1 kg, inertia = 1 g*m^2, center = [0, 0, -1] m end ;
let X = join earth and car with prismatic axis = [1, 0, 0] end ;
let H = join car and arm with revolute axis = [0, 1, 0] end ;
let k = apply spring stiffness = 100 N/m, rest = 1 m end on X ;
let c = apply damper coefficient = 1 N*s/m end on X ;
let kt = apply spring stiffness = 1 N*m/rad end on H ;
let m = apply motor end on H ;
let m2 = apply motor torque = -0.1 N*m*s/rad * H' end on H ;
let far = apply damper coefficient = 1 N*s/m end on [0, 0, 1] m @ earth and [0, 0, -1] m @ arm ;
"""


def test_loads_stand_on_their_joint_or_between_their_points():
    mechanism = liaison.read(LOADED)
    run = liaison.simulate(mechanism, until=0.1)
    text, _ = of(run, mechanism)
    names = [x["name"] for x in text["bodies"]]
    by_name = {x["name"]: x for x in text["loads"]}
    assert {x: by_name[x]["symbol"] for x in by_name} == {
        "k": "coil", "c": "dashpot", "kt": "coil", "m": "motor", "far": "dashpot"
    }  # fmt: skip
    assert [names[b] for b, _ in by_name["k"]["ends"]] == ["ground", "car"]
    assert [(names[b], p) for b, p in by_name["far"]["ends"]] == [
        ("ground", [0, 0, 1]), ("arm", [0, 0, -1])
    ]  # fmt: skip
    assert (by_name["k"]["beside"], by_name["c"]["beside"], by_name["far"]["beside"]) == (0, 1, 0)
    assert names[by_name["kt"]["body"]] == "car"
    axis = np.array(by_name["m"]["axes"]).reshape(3, 3)[:, 2]
    np.testing.assert_allclose(axis, [0, 1, 0], atol=1e-12)
    # a second motor on the same axis is the same symbol
    assert by_name["m"]["beside"] == 1


def test_all_columns_are_curves_with_units_to_choose(swing, double_pendulum):
    text, read = swing
    run, series = double_pendulum.run, text["series"]
    columns = {x["name"]: x for x in series["columns"]}
    assert set(run.columns()) <= set(columns)
    assert columns["A"]["group"] == "coordinates"
    np.testing.assert_allclose(read(columns["B'"]["values"]), run.v[:, 1], rtol=series["error"])
    np.testing.assert_allclose(
        read(columns["lower.z"]["values"]), run["poses"][:, 1, 2, 3], rtol=series["error"]
    )
    assert series["recorded"] == len(run) == series["times"]["shape"][0]
    assert set(series["chosen"]) <= set(columns)
    assert unit_choices(["rad/s"])["rad/s"] == [
        ("rad/s", 1.0), ("deg/s", pytest.approx(180 / np.pi)), ("rpm", pytest.approx(30 / np.pi))
    ]  # fmt: skip
    assert dict(unit_choices(["deg"])["deg"])["rad"] == pytest.approx(np.pi / 180)


def test_contacts_have_states_and_forces():
    run, mechanism, places = slide()
    text, read = of(run, mechanism, places=places)
    (contact,) = text["contacts"]
    states, hits = read(contact["states"]), read(contact["hits"])
    t = read(text["times"])
    falls = (0.1 / 9.81) ** 0.5
    assert states[0] == OPEN
    assert hits[np.searchsorted(t, falls)]
    k = int(np.argmin(np.abs(t - 0.4)))
    assert states[k] == SLIPS
    np.testing.assert_allclose(read(contact["forces"])[k], [-9.81, 0, 19.62], rtol=1e-4)
    assert "moments" not in contact
    assert text["states"][IMPACT]["occurs"]
    assert text["strips"][0]["name"] == "floor"


def slide():
    mechanism = liaison.read("""
    gravity = [0, 0, -9.81] m/s^2 ;
    let block = body mass = 2 kg, inertia = 0.01 kg*m^2, shape = sphere(radius = 1 mm) end ;
    let X = join earth and block with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
    let floor = contact block and earth with point friction = 0.5 end ;
    start X.z = 5 cm ; start X.x' = 3 m/s ;
    """)
    from liaison.verbs.pictures import picture_options

    run = liaison.simulate(mechanism, until=1.0)
    places = picture_options("page", mechanism, {})["contacts"](sampled(run, 1.0, 30.0))
    return run, mechanism, places


def crowd(count: int, seconds: float = 1.0) -> tuple[Trajectory, Mechanism]:
    """Balls that rise, each at a place of its own."""
    rng = np.random.default_rng(3)
    bodies = [body(f"b{k}", 1, inertia=(0.01,) * 3, shapes=[Sphere(0.05)]) for k in range(count)]
    joints = [join(ground, x, Free, name=f"F{k}") for k, x in enumerate(bodies)]
    mechanism = Mechanism("crowd", tuple(bodies), tuple(joints), forces=(gravity(),))
    t = np.linspace(0, seconds, round(60 * seconds) + 1)
    poses = np.tile(np.eye(3, 4), (len(t), count, 1, 1))
    way = np.cumsum(rng.normal(size=(len(t), count, 3)), axis=0)
    poses[:, :, :, 3] = rng.normal(size=(count, 3)) + 0.01 * way
    names = tuple(x.name for x in bodies)
    empty, labels = np.zeros((len(t), 0)), {"q": (), "v": ()}
    series = {"poses": Series.of_poses(poses, names), "way": way.reshape(len(t), -1)}
    return Trajectory("crowd", t, empty, empty, labels, series), mechanism


def test_a_page_of_fifty_bodies_is_no_more_than_four_megabytes():
    run, mechanism = crowd(50, 10.0)  # random walks: nothing compresses them
    scene = scene_of(sampled(run, 1.0, 30.0), run, mechanism, Look())
    assert len(page_html(scene)) < 4_000_000


def test_bodies_flash_where_they_are_struck_and_not_faintly():
    run, mechanism = crowd(3)
    run = run.resample(np.linspace(0, 1, 11))
    none = np.zeros(0)
    hits = [("b0-b1", 0.3, 2.0), ("b1-plane 1", 0.75, 1.0), ("b2-b1", 0.5, 0.1)]
    events = tuple(EventRecord(x, t, none, none, "impact", speed=v) for x, t, v in hits)
    seen = struck(replace(run, events=events), ["b0", "b1", "b2"], speed=1.0)
    at = {name: run.t[is_hit].round(9).tolist() for name, is_hit in seen.items()}
    assert at == {"b0": [0.3], "b1": [0.3, 0.8], "b2": []}
    scene = scene_of(replace(run, events=events), replace(run, events=events), mechanism, Look())
    data = inflated(scene.data)
    flash = {x["name"]: x["struck"] for x in scene.text["bodies"] if x["struck"] is not None}
    assert unpacked(flash["b1"], data).nonzero()[0].tolist() == [3, 8]


def test_pins_of_many_joints_that_are_close_hide_nothing():
    """Their symbols follow the distance from one to the next; those of a few the picture."""
    for n, least, most in ((30, 1e-4, 0.2), (8, 0.2, 10)):
        links = [liaison.body(f"b{k}", 1, inertia=(1, 1, 1)) for k in range(n)]
        joints = [
            liaison.join(links[k - 1].at((0.1, 0, 0)) if k else liaison.ground, link, "revolute",
                         name=f"J{k}", axis="y")
            for k, link in enumerate(links)
        ]  # fmt: skip
        chain = liaison.mechanism(*joints, name="chain")
        run = liaison.simulate(chain, until=0.01, every=0.01, series=("poses",))
        drawn = drawing(run, chain)
        pins = [x for pieces in drawn.pieces.values() for x in pieces if x.joint]
        assert least < max(x.size[0] for x in pins) / 0.1 < most
