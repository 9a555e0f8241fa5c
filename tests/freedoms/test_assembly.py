"""All assembly modes of planar linkages, against closed forms, a scan, and the joints."""

import math
from fractions import Fraction as F
from random import Random

import numpy as np
import pytest

from liaison import read
from liaison.errors import AssemblyError, DerivationError, ModelError, NamingError
from liaison.expr import PI, atan
from liaison.freedoms import assembly_modes
from liaison.freedoms.engines import engines
from liaison.model import Prismatic, Revolute
from liaison.model.describe import (
    body,
    gear,
    ground,
    imposed,
    join,
    mechanism,
    start,
    time,
)

EXAMPLES = "examples/"
Z, X = (0, 0, 1), (1, 0, 0)


def four_bar(a=2, b=6, c=7, d=9):
    crank, rod, rocker = (body(name, mass=1) for name in ("crank", "rod", "rocker"))
    return mechanism(
        join(ground, crank, Revolute, name="A", axis=Z),
        join(crank.at((a, 0, 0)), rod, Revolute, name="B", axis=Z),
        join(rod.at((b, 0, 0)), rocker.at((c, 0, 0)), Revolute, name="C", axis=Z),
        join(ground.at((d, 0, 0)), rocker, Revolute, name="D", axis=Z),
        name="four bar",
    )


def three_rpr(feet, heads):
    """A plate on three legs, each hinge, slider, hinge; sliders P1, P2, P3."""
    plate, parts = body("plate", mass=1), []
    for k, (foot, head) in enumerate(zip(feet, heads, strict=True), 1):
        lower, upper = body(f"lower{k}", mass=1), body(f"upper{k}", mass=1)
        parts += [
            join(ground.at((*foot, 0)), lower, Revolute, name=f"A{k}", axis=Z),
            join(lower, upper, Prismatic, name=f"P{k}", axis=X),
            join(upper, plate.at((*head, 0)), Revolute, name=f"B{k}", axis=Z),
        ]
    return mechanism(*parts, name="3-RPR")


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.5, -2.0])
def test_a_four_bar_closes_in_the_two_ways_of_two_circles(angle):
    a, b, c, d = 2, 6, 7, 9
    found = assembly_modes(four_bar(a, b, c, d), at={"A": angle})
    assert (found.is_complete, found.complex, len(found)) == (True, 2, 2)
    tip = np.array([a * math.cos(angle) - d, a * math.sin(angle)])
    reach = np.linalg.norm(tip)
    bend = math.acos((reach**2 + c**2 - b**2) / (2 * reach * c))
    expected = sorted(math.atan2(tip[1], tip[0]) + s * bend for s in (1, -1))
    for mode, D in zip(sorted(found.modes, key=_rocker), sorted(map(_turn, expected)), strict=True):
        assert _turn(mode.coordinates["D"]) == pytest.approx(D, abs=1e-12)
        assert mode.proof == "Krawczyk"
        assert mode.residual < 1e-14


def _turn(x):
    return math.remainder(x, 2 * math.pi)


def _rocker(mode):
    return _turn(mode.coordinates["D"])


def test_exact_data_gives_exact_answers_also_at_a_dead_point():
    """Crank and rod stretched, 5 + 13 = 18 cm: both ways coincide, and floats could not tell."""
    dead = assembly_modes(read(EXAMPLES + "slider_crank.lsd"), at={"x": F(18, 100)})
    assert [(m.multiplicity, m.proof) for m in dead.modes] == [(2, "exact")]
    assert "rationals" in dead.why


def test_out_of_reach_there_is_no_mode_and_that_is_proved():
    found = assembly_modes(read(EXAMPLES + "slider_crank.lsd"), at={"x": F(19, 100)})
    assert (len(found), found.is_complete, found.complex) == (0, True, 2)


def test_states_are_those_of_the_tree():
    linkage = read(EXAMPLES + "four_bar.lsd")
    found = assembly_modes(linkage, at={"A": PI / 2})
    assert len(found.states) == 2
    near = min(found.states, key=lambda s: abs(s["D"] - math.atan2(4, -3)))
    assert near["A"] == pytest.approx(math.pi / 2, abs=1e-15)
    assert near["B"] == pytest.approx(math.atan2(3, 4) - math.pi / 2, abs=1e-14)


def _scan(feet, heads, lengths, steps=20001):
    """Real positions of a 3-RPR, another way: for each heading, circles less circles are lines."""
    phi = np.linspace(0, 2 * math.pi, steps)
    c, s = np.cos(phi), np.sin(phi)
    x, y = (np.array([float(p[i]) for p in heads]) for i in range(2))
    X = np.array([float(p[0]) for p in feet])[:, None] - np.outer(x, c) + np.outer(y, s)
    Y = np.array([float(p[1]) for p in feet])[:, None] - np.outer(x, s) - np.outer(y, c)
    square = X**2 + Y**2 - np.array(lengths, float)[:, None] ** 2
    (a, b), (d, e) = ((2 * (X[k] - X[0]), 2 * (Y[k] - Y[0])) for k in (1, 2))
    det, f, g = a * e - b * d, square[1] - square[0], square[2] - square[0]
    across, along = f * e - g * b - det * X[0], a * g - d * f - det * Y[0]
    rest = across**2 + along**2 - (det * float(lengths[0])) ** 2  # times det²: no division
    return int(np.sum(rest[1:] * rest[:-1] < 0))


@pytest.mark.parametrize("seed", range(6))
def test_a_plate_on_three_legs_has_six_complex_modes_and_as_many_real_as_a_scan_finds(seed):
    draw = Random(seed)
    feet = [(0, 0), (F(draw.randrange(20, 40), 10), 0), (F(draw.randrange(5, 25), 10), 2)]
    heads = [(0, 0), (F(draw.randrange(8, 20), 10), 0), (F(draw.randrange(2, 12), 10), 1)]
    lengths = [F(draw.randrange(12, 20), 10) for _ in range(3)]
    at = {f"P{k}": x for k, x in enumerate(lengths, 1)}
    found = assembly_modes(three_rpr(feet, heads), at=at)
    assert (found.complex, found.is_complete) == (6, True)
    assert len(found) == _scan(feet, heads, [float(x) for x in lengths])
    assert all(mode.residual < 1e-13 and mode.proof for mode in found.modes)
    assert len(
        {round(mode.coordinates["B1"] + mode.coordinates["A1"], 6) for mode in found.modes}
    ) == len(found)


def test_six_real_modes_are_all_found():
    """Data with six: seen first by random search, each checked at the joints here."""
    feet, heads = SIX[:2]
    found = assembly_modes(
        three_rpr(feet, heads), at=dict(zip(("P1", "P2", "P3"), SIX[2], strict=True))
    )
    assert len(found) == 6 == _scan(feet, heads, [float(x) for x in SIX[2]])


SIX = (
    [(0, 0), (F(3, 2), 0), (F(3, 2), F(8, 5))],
    [(0, 0), (F(27, 10), 0), (F(1, 10), F(-23, 10))],
    (2, F(29, 10), F(27, 10)),
)


def hinge(a, b, name):
    return join(a, b, Revolute, name=name, axis=Z)


def six_bar():
    """Stephenson's: a four-bar, and a dyad from its coupler to the ground."""
    a, b, c, d, e = (body(name, mass=1) for name in "abcde")
    return mechanism(
        hinge(ground, a, "A"), hinge(a.at((2, 0, 0)), b, "B"),
        hinge(b.at((5, 0, 0)), c.at((4, 0, 0)), "C"), hinge(ground.at((6, 0, 0)), c, "D"),
        hinge(b.at((3, 2, 0)), d, "E"), hinge(d.at((4, 0, 0)), e.at((3, 0, 0)), "F"),
        hinge(ground.at((3, -4, 0)), e, "G"), name="six bar",
    )  # fmt: skip


def test_a_six_bar_driven_at_either_end():
    """Four modes from the crank (two dyads), six from the dyad's end (coupler curve and circle)."""
    assert assembly_modes(six_bar(), at={"A": 0.7}).complex == 4
    assert assembly_modes(six_bar(), at={"G": 2}).complex == 6


@pytest.mark.slow
def test_two_plates_and_three_loops_have_eighteen():
    """As many as a double butterfly linkage has."""
    first, second, p, q, r, u, v = (body(f"b{k}", mass=1) for k in range(7))
    linkage = mechanism(
        hinge(ground, p, "A"), hinge(p.at((3, 0, 0)), first, "B"),
        hinge(first.at((4, 0, 0)), q, "C"), hinge(q.at((3, 0, 0)), second, "D"),
        hinge(first.at((2, 3, 0)), r, "E"), hinge(r.at((4, 0, 0)), second.at((3, 1, 0)), "F"),
        hinge(second.at((1, 4, 0)), u, "G"), hinge(ground.at((7, 1, 0)), u.at((3, 0, 0)), "H"),
        hinge(second.at((4, 4, 0)), v, "I"), hinge(ground.at((9, -1, 0)), v.at((5, 0, 0)), "J"),
    )  # fmt: skip
    found = assembly_modes(linkage, at={"A": 2 * atan(F(1, 5))})
    assert (found.complex, found.is_complete) == (18, True)
    assert all(mode.residual < 1e-12 and mode.proof for mode in found.modes)


def test_a_slider_between_moving_links():
    """An inverted slider-crank: the slider's guide turns."""
    crank, guide, block = (body(name, mass=1) for name in ("crank", "guide", "block"))
    linkage = mechanism(
        join(ground, crank, Revolute, name="A", axis=Z),
        join(crank.at((1, 0, 0)), block, Revolute, name="B", axis=Z),
        join(guide, block, Prismatic, name="S", axis=X),
        join(ground.at((3, 0, 0)), guide, Revolute, name="D", axis=Z),
    )
    found = assembly_modes(linkage, at={"A": PI / 2})
    slides = sorted(mode.coordinates["S"] for mode in found.modes)
    assert slides == pytest.approx([-math.sqrt(10), math.sqrt(10)], abs=1e-12)


def test_a_trammel_has_no_hinge_at_the_ground():
    """A bar of 5 between two slides at right angles: at x = 3 its other end is at y = ±4."""
    along, across, bar = (body(name, mass=1) for name in ("along", "across", "bar"))
    linkage = mechanism(
        join(ground, along, Prismatic, name="x", axis=X),
        join(ground, across, Prismatic, name="y", axis=(0, 1, 0)),
        hinge(along, bar, "A"), hinge(across, bar.at((5, 0, 0)), "B"),
    )  # fmt: skip
    found = assembly_modes(linkage, at={"x": 3})
    assert sorted(mode.coordinates["y"] for mode in found.modes) == pytest.approx([-4, 4])
    assert (found.is_complete, found.complex) == (True, 2)


def test_a_loop_that_is_open_across_the_plane_has_no_mode():
    crank, rod = body("crank", mass=1), body("rod", mass=1)
    linkage = mechanism(
        join(ground, crank, Revolute, name="A", axis=Z),
        join(crank.at((1, 0, 0)), rod, Revolute, name="B", axis=Z),
        join(ground.at((1, 0, F(1, 10))), rod.at((1, 0, 0)), Revolute, name="C", axis=Z),
    )
    found = assembly_modes(linkage)
    assert (len(found), found.is_complete) == (0, True)
    assert "across the plane" in found.why


def test_imposed_motions_and_couplings_hold():
    linkage = four_bar()
    driven = mechanism(linkage, imposed("A", time + F(3, 10)), name="driven")
    assert assembly_modes(driven).held["A"] == pytest.approx(0.3)
    assert len(assembly_modes(driven)) == 2


def test_chains_that_close_no_loop_keep_their_starts():
    rocker = body("flag", mass=1)
    linkage = four_bar()
    flagged = mechanism(
        linkage, join(linkage.bodies[1], rocker, Revolute, name="flag", axis=Z), start("flag", 0.4),
    )  # fmt: skip
    found = assembly_modes(flagged, at={"A": 0.3})
    assert all(mode.coordinates["flag"] == pytest.approx(0.4) for mode in found.modes)
    assert "flag" in found.notes[0]


def test_refusals():
    linkage = four_bar()
    with pytest.raises(DerivationError, match="infinitely many") as caught:
        assembly_modes(linkage)
    assert "Hold one more of A, B, C, D" in str(caught.value)
    with pytest.raises(NamingError, match="no coordinate is named 'E'"):
        assembly_modes(linkage, at={"E": 1})
    with pytest.raises(ModelError, match="finite"):
        assembly_modes(linkage, at={"A": math.nan})
    with pytest.raises(AssemblyError, match="what is held leaves"):
        assembly_modes(linkage, at=dict.fromkeys("ABCD", 0))
    tied = mechanism(linkage, gear("B", 2, "C"), name="tied")
    with pytest.raises(DerivationError, match="none is held"):
        assembly_modes(tied)


def test_no_engine_is_needed(monkeypatch):
    monkeypatch.setattr(engines.Engine, "path", lambda self: None)
    assert len(assembly_modes(four_bar(), at={"A": 1})) == 2
