"""Which geoms of MJCF touch, and how: pairs, filters, friction, dimensions."""

import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.formats import reading_of_mjcf

FLOOR = '<geom name="f" type="plane" size="1 1 1"/>'


def model(contact: str = "", more: str = "", geom: str = "", option: str = "") -> str:
    """A box g on a floor f, and a ball h that it carries."""
    return (
        f"<mujoco>{option}<worldbody>{FLOOR}"
        f'<body name="b" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/>'
        f'<joint name="z" type="slide" axis="0 0 1"/><geom name="g" type="box" size="0.1 0.1 0.1" '
        f'mass="1" {geom}/>{more}</body></worldbody><contact>{contact}</contact></mujoco>'
    )


BALL = '<body name="c" pos="0 0 0.2"><joint/><geom name="h" size="0.1"/></body>'


def contacts(text: str) -> dict[str, tuple[float, float, float]]:
    """Friction by contact."""
    listed = reading_of_mjcf(text, contacts=True).mechanism.contacts
    return {
        x.name.removeprefix("contact "): (
            float(x.friction.sliding),
            float(x.friction.pivoting),
            float(x.friction.rolling),
        )
        for x in listed
    }


SMOOTH, ROUGH = (0, 0, 0), (1, 0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (model(), {"f-g": ROUGH}),
        (model('<pair geom1="f" geom2="g" condim="1"/>'), {"f-g": SMOOTH}),
        (model('<pair geom1="g" geom2="f" condim="1"/>'), {"g-f": SMOOTH}),
        (model('<pair geom1="g" geom2="f" friction="0.2"/>'), {"g-f": (0.2, 0, 0)}),
        (model('<pair geom1="g" geom2="f" friction=".2 .2 .3 .4 .4" condim="6"/>'),
         {"g-f": (0.2, 0.3, 0.4)}),
        # it is as it says, not as its geoms say
        (model('<pair geom1="g" geom2="f"/>', geom='priority="1" friction="0.1" condim="6"'),
         {"g-f": ROUGH}),
        # no filter counts for a pair
        (model('<pair geom1="g" geom2="f"/><exclude body1="b" body2="world"/>'), {"g-f": ROUGH}),
        (model('<exclude body1="b" body2="world"/>'), {}),
        (model('<pair geom1="g" geom2="f"/>', geom='contype="0" conaffinity="0"'),
         {"g-f": ROUGH}),
        (model('<exclude body1="c" body2="world"/>', BALL), {"f-g": ROUGH}),
        (model('<pair geom1="g" geom2="h"/><exclude body1="c" body2="world"/>', BALL),
         {"g-h": ROUGH, "f-g": ROUGH}),
        (model('<exclude body1="c" body2="world"/>', BALL,
               option='<option><flag filterparent="disable"/></option>'),
         {"g-h": ROUGH, "f-g": ROUGH}),
        # two pairs of the same geoms are two contacts
        (model('<pair geom1="g" geom2="f"/><pair geom1="f" geom2="g" condim="1"/>'),
         {"g-f": ROUGH, "f-g": SMOOTH}),
        (model(option='<option o_friction="0.3"><flag override="enable"/></option>'),
         {"f-g": (0.3, 0, 0)}),
        (model(option='<option o_friction="0.3"/>'), {"f-g": ROUGH}),
    ],
)  # fmt: skip
def test_contacts_are_those_of_pairs_and_filters(text, expected):
    """Source: MuJoCo 4.0.0, whose contacts these are."""
    assert contacts(text) == expected


@pytest.mark.parametrize(("friction", "way"), [("condim='1'", 2.5), ("friction='.2'", 1.5)])
def test_a_box_slides_as_its_pair_says(friction, way):
    """x = (5 − μ 10) t²/2."""
    text = model(f'<pair geom1="f" geom2="g" {friction}/>', option='<option gravity="5 0 -10"/>')
    mechanism = reading_of_mjcf(text, contacts=True).mechanism
    run = liaison.simulate(mechanism, until=1.0)
    assert run["x"][-1] == pytest.approx(way, abs=1e-6)


def test_a_pair_of_one_body_and_two_directions_are_noted():
    text = model(
        '<pair geom1="g" geom2="g"/><pair geom1="g" geom2="f" friction="1 2 0.1 0.1 0.1"/>'
    )
    content = reading_of_mjcf(text, contacts=True)
    assert [x.name for x in content.mechanism.contacts] == ["contact g-f"]
    assert any("do not move against each other" in x for x in content.notes)
    assert any("has two directions" in x for x in content.notes)


@pytest.mark.parametrize("text", [
    *(model(geom=f'condim="{x}"') for x in ("0", "2", "5", "7", "3.5")),
    *(model(f'<pair geom1="f" geom2="g" condim="{x}"/>') for x in ("2", "5")),
    model().replace(FLOOR, FLOOR.replace("name", 'condim="2" name')),
])  # fmt: skip
def test_dimensions_that_mujoco_does_not_have_are_rejected(text):
    with pytest.raises(LiaisonError, match=r"'condim' of <.*it is (1, 3, 4 or 6|a whole number)"):
        reading_of_mjcf(text, file="m.xml", contacts=True)


def test_filters_are_whole_numbers():
    with pytest.raises(LiaisonError, match=r"'contype' of .* is 1\.5; it is a whole number"):
        reading_of_mjcf(model(geom='contype="1.5"'))


def standing(geom: str, z: float, more: str = "", floor: str = FLOOR):
    """A free body with a shape, at some height over a floor: its start, and what is noted."""
    text = (
        f'<mujoco><worldbody>{floor}<body name="b" pos="0 0 {z}"><freejoint name="F"/>'
        f'<geom name="g" {geom} mass="1"/>{more}</body></worldbody></mujoco>'
    )
    reading = reading_of_mjcf(text, contacts=True)
    starts = {x.label: float(x.value) for x in reading.mechanism.starts}
    return starts["F.z"], [x for x in reading.notes if "higher" in x], reading.mechanism


LEG = (
    '<body name="l" pos="0 0 -0.3"><joint name="k" axis="0 1 0"/><geom name="s" size="0.05" '
    'pos="0 0 -0.3" mass="1"/></body>'
)
SLOPE = '<geom name="f" type="plane" size="1 1 1" euler="30 0 0"/>'


@pytest.mark.parametrize(
    ("geom", "z", "more", "floor", "height"),
    [
        ('size="0.1"', 0.0995, "", FLOOR, 0.1),
        ('type="box" size="0.1 0.2 0.3"', 0.299, "", FLOOR, 0.3),
        ('type="capsule" size="0.1 0.2"', 0.298, "", FLOOR, 0.3),
        ('type="cylinder" size="0.1 0.2" euler="90 0 0"', 0.0999, "", FLOOR, 0.1),
        ('size="0.1"', 0.648, LEG, FLOOR, 0.65),
        ('size="0.1"', 0.114, "", SLOPE, 0.1 / 0.75**0.5),
    ],
)
def test_what_starts_a_little_inside_the_floor_is_lifted(geom, z, more, floor, height):
    start, notes, mechanism = standing(geom, z, more, floor)
    assert start == pytest.approx(height, abs=2e-9)
    assert start >= height - 1e-15
    assert len(notes) == 1
    assert f"{1e3 * (height - z):.3g} mm higher than in the file" in notes[0]
    if more:
        run = liaison.simulate(mechanism, until=0.002, step="1 ms", method="moreau")
        assert run["gaps"][0].min() > -1e-12


@pytest.mark.parametrize("z", [0.1, 0.15, 0.05])
def test_what_touches_is_above_or_far_inside_stays(z):
    start, notes, _ = standing('size="0.1"', z)
    assert start == z
    assert notes == []


def test_what_touches_to_rounding_stays():
    """0.3 − 0.2 − 0.1 is −2.8e-17 in floating point."""
    text = (
        f'<mujoco><worldbody>{FLOOR}<body name="b" pos="0 0 0.3"><freejoint name="F"/>'
        '<geom name="g" size="0.1" pos="0 0 -0.2" mass="1"/></body></worldbody></mujoco>'
    )
    reading = reading_of_mjcf(text, contacts=True)
    starts = {x.label: x.value for x in reading.mechanism.starts}
    assert float(starts["F.z"]) == 0.3
    assert not [x for x in reading.notes if "higher" in x]


@pytest.mark.parametrize(("holds", "lifts"), [('body2="c"', [5e-4, 5e-4]), ("", [0, 0])])
def test_what_is_welded_is_lifted_with_what_it_is_welded_to(holds, lifts):
    """Else the weld brings it back into the floor, and the note is wrong."""
    text = f"""
    <mujoco><worldbody>{FLOOR}
    <body name="b" pos="0 0 0.0995"><freejoint name="F"/><geom name="g" size="0.1" mass="1"/></body>
    <body name="c" pos="1 0 0.3"><freejoint name="G"/><geom name="h" size="0.1" mass="1"/></body>
    </worldbody><equality><weld body1="b" {holds}/></equality></mujoco>"""
    reading = reading_of_mjcf(text, contacts=True)
    starts = {x.label: float(x.value) for x in reading.mechanism.starts}
    heights = [starts["F.z"] - 0.0995, starts["G.z"] - 0.3]
    assert heights == pytest.approx(lifts, abs=2e-9)
    assert len([x for x in reading.notes if "higher" in x]) == sum(map(bool, lifts))
    if any(lifts):
        run = liaison.simulate(reading.mechanism, until=0.002, step="1 ms", method="moreau")
        assert run["F.z"][0] == pytest.approx(0.1, abs=2e-9)
