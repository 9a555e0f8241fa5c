"""Theorem 1 before a run: proved, refuted by a position, or neither; held against brute force."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.analyse.proofs.no_impact import losses, no_impact, reduced
from liaison.analyse.proofs.rank_proof import by_boxes, by_gram_determinant
from liaison.analyse.proofs.rate_rows import rate_rows
from liaison.cli import main
from liaison.errors import DerivationError, SimulationError
from liaison.model import Unilateral

PLATE = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let S = join earth and b with planar(x, y, angle) end ;
"""
BLADE = "let blade = require sin(S.angle)*S.x' - cos(S.angle)*S.y' <= 0 ;"


def answer(*relations):
    return no_impact(liaison.read(PLATE + " ".join(relations)))


def test_the_blade_of_the_sleigh_is_proved(examples):
    found = no_impact(liaison.read(examples / "chaplygin_unilateral.lsd"))
    assert found.verdict == "proved"
    assert found.is_proved
    assert not found.is_impact_possible
    assert not found.warnings
    assert found.text == (
        "blade: entry is free of impact, proved: the Gram determinant of the rows is 1 everywhere."
    )


def test_the_counterexample_of_the_document_fails_where_it_says(examples):
    found = no_impact(liaison.read(examples / "degenerate_unilateral.lsd"))
    assert found.verdict == "fails"
    ((loss,),) = [entry.losses for entry in found.entries]
    assert (loss.rows, loss.is_exact, loss.effect) == (("inwards",), True, "jump")
    assert float(loss.position["X"]) == 0
    assert_allclose(loss.form, [[1.0]])
    assert "at X = 0 the row inwards vanishes: an impact is possible" in found.text
    assert "not of the form Wᵀμ" in found.text
    assert found.text.endswith("(d/dt (½ X²) ≤ 0): X' = 0.")
    assert found.to_dict()["entries"][0]["losses"][0]["held"] == [[1.0]]


def test_in_the_plane_of_the_document_y_keeps_its_velocity():
    found = answer("require S.x*S.x' <= 0 ;")
    (loss,) = found.entries[0].losses
    assert_allclose(np.abs(loss.held), [[1.0, 0.0, 0.0]])
    assert found.text.endswith("S.x' = 0.")


@pytest.mark.parametrize(
    ("relation", "effect"),
    [
        ("-S.x*S.x' <= 0", "free"),  # pushed away from the middle: nothing stops it there
        ("S.x*S.y' <= 0", "undecided"),  # x' y' ≤ 0 leaves two quadrants
        ("sin(S.angle)*S.angle' <= 0", "jump"),
        ("S.x^2*S.x' <= 0", "free"),  # x² x' ≤ 0 is x' ≤ 0 but at x = 0
        ("S.x^3*S.x' <= 0", "jump"),  # as x x' ≤ 0
        ("S.x^3*S.y' <= 0", "undecided"),
    ],
)
def test_what_becomes_of_velocities_where_a_row_vanishes(relation, effect):
    found = answer(f"require {relation} ;")
    assert found.verdict == "fails"
    assert [loss.effect for entry in found.entries for loss in entry.losses] == [effect]
    assert found.is_impact_possible == (effect != "free")


def test_sets_of_relations_are_looked_at_as_far_as_needed():
    found = answer(BLADE, "let back = require S.x' <= 0 ;")
    told = {entry.relations: entry.verdict for entry in found.entries}
    assert told == {("blade",): "proved", ("back",): "proved", ("blade", "back"): "fails"}
    angle = float(liaison.to_sympy(found.entries[-1].losses[0].position["S.angle"]))
    assert abs(np.cos(angle)) < 1e-15
    both = answer(BLADE, "let turn = require S.angle' <= 0 ;")
    assert [entry.relations for entry in both.entries] == [("blade", "turn")]
    assert both.is_proved


def test_rows_that_are_never_active_together_do_not_count():
    found = answer("require S.x' <= 1 m/s ;", "require -S.x' <= 1 m/s ;")
    assert found.is_proved  # dependent, but x' = 1 and x' = −1 exclude each other
    lock = answer("require S.x' <= 0 ;", "require -S.x' <= 0 ;")
    assert lock.verdict == "fails"
    assert not lock.is_impact_possible
    # a row that vanishes where w < 0 is not active there
    assert answer("require S.x*S.x' <= 1 m^2/s ;").is_proved


def test_bilateral_rows_count():
    circle = "let circle = require S.x^2 + S.y^2 = 1 m^2 ;"
    found = answer(circle, "let side = require S.x*S.x' + 2*S.y*S.y' <= 0 ;")
    (loss,) = found.entries[0].losses
    assert loss.rows == ("circle", "side")
    assert loss.effect == "jump"
    x, y = (float(loss.position[f"S.{name}"]) for name in "xy")
    assert abs(x * x + y * y - 1) < 1e-9
    assert abs(x * y) < 1e-9  # on the circle the relation is d/dt (sin² θ)/2 ≤ 0
    same = answer(circle, "let side = require S.x*S.x' + S.y*S.y' <= 0 ;")
    assert same.entries[0].losses[0].position == {}  # dependent everywhere
    assert "everywhere" in same.text


def test_the_proof_by_boxes_agrees_with_the_determinant(examples):
    rows = rate_rows(liaison.read(examples / "chaplygin_unilateral.lsd"))
    assert by_gram_determinant(rows)
    assert by_boxes(rows)
    assert not losses(rows)


def test_the_determinant_may_be_a_fraction():
    assert answer("require 0.5*S.x' <= 0 ;").text.endswith("of the rows is ¼ everywhere.")


def test_boxes_prove_nothing_that_random_positions_refute():
    draw = np.random.default_rng(3)
    for shift in (0.2, 0.9, 1.1, 3.0):  # (a + cos φ) vanishes somewhere where a ≤ 1
        found = answer(f"require ({shift} + cos(S.angle))*S.x' <= 0 ;")
        rows = rate_rows(liaison.read(PLATE + f"require ({shift} + cos(S.angle))*S.x' <= 0 ;"))
        (angle,) = rows.domain
        least = np.min(np.abs(rows.at({angle: draw.uniform(-np.pi, np.pi, 4000)})[:, 0, 0]))
        assert found.is_proved == (shift > 1)
        assert (least > 0.05) == (shift > 1)


def test_what_is_neither_proved_nor_refuted_is_told_so():
    found = answer("require exp(-S.x/(1 m))*S.x' <= 0 ;")
    assert found.verdict == "not proved"
    assert 0 < found.entries[0].least < 1e-3
    assert "is not proved; the least singular value" in found.text


def test_positions_that_only_hold_on_one_side_are_left_out():
    found = no_impact(liaison.read(PLATE + "let wall = require S.x <= 1 m ;" + BLADE))
    assert found.left_out == ("wall",)
    assert found.is_proved
    assert no_impact(liaison.read(PLATE)).verdict == "nothing to prove"


def test_parameters_without_value_are_proved_for_all_values():
    b = liaison.body("b", mass=1, inertia=(1, 1, 1))
    S = liaison.join(liaison.ground, b, liaison.Planar, name="S")
    k = liaison.parameter("k")
    formula = liaison.rate("S.x") + k * liaison.coordinate("S.x") * liaison.rate("S.y")
    limit = Unilateral("limit", formula)
    assert no_impact(liaison.mechanism(b, S, k, limit)).is_proved


@pytest.mark.parametrize("attitude", ["quaternion", "matrix", "euler"])
def test_attitudes_of_every_kind_are_taken(attitude):
    text = f"""
    let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let S = join earth and b with free attitude = "{attitude}" end ;
    let limit = require S.x*S.{"x'" if attitude == "euler" else "vx"} <= 0 ;
    """
    found = liaison.no_impact(text)
    assert found.verdict == "fails"
    assert found.is_impact_possible


def test_rows_reduced_span_the_same():
    rows = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0]])
    assert_allclose(reduced(rows), [[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])


def checked(capsys, path):
    with pytest.raises(SystemExit):
        main(["check", str(path), "--json"])
    facts = json.loads(capsys.readouterr().out)
    with pytest.raises(SystemExit):
        main(["check", str(path)])
    return facts, capsys.readouterr().out


def test_check_warns_before_the_run(capsys, examples):
    facts, text = checked(capsys, examples / "degenerate_unilateral.lsd")
    assert facts["no_impact"]["is_impact_possible"] is True
    (warning,) = facts["diagnostics"]
    assert warning["severity"] == "warning"
    assert warning["line"] > 1
    assert "impact is possible" in warning["message"]
    assert "warning      inwards: at X = 0" in text
    facts, text = checked(capsys, examples / "chaplygin_unilateral.lsd")
    assert facts["no_impact"]["verdict"] == "proved"
    assert facts["diagnostics"] == []
    assert "entry        blade: entry is free of impact, proved" in text
    facts, _ = checked(capsys, examples / "pendulum.lsd")
    assert facts["no_impact"] is None


PUSHED = """
let blade = require sin(S.angle)*S.x' - cos(S.angle)*S.y' <= 0 ;
let spin = require S.angle' <= 1.5 rad/s ;
apply force value = [cos(2 rad/s*t), 2*sin(3 rad/s*t), 0] N end on b ;
apply torque value = [0, 0, sin(1 rad/s*t)] N*m end on b ;
"""


def test_where_it_is_proved_a_run_shows_no_jump():
    """Between recorded instants velocities change by what bounded forces bring about."""
    text = PLATE + PUSHED
    assert no_impact(liaison.read(text)).is_proved
    run = liaison.simulate(text, until=20, every=0.001, rtol=1e-9, atol=1e-11, series=("contacts",))
    happened = {(x.name, x.what) for x in run.events}
    assert {("blade", "enters"), ("blade", "leaves")} <= happened
    assert {("spin", "enters"), ("spin", "leaves")} <= happened
    assert np.max(np.abs(np.diff(run.v, axis=0))) < 0.001 * 20  # |v'| stays below 20 m/s²
    across = np.sin(run["S.angle"]) * run["S.x'"] - np.cos(run["S.angle"]) * run["S.y'"]
    assert np.max(across) < 1e-8
    assert np.max(run["S.angle'"]) < 1.5 + 1e-8
    mu = run["contacts"]
    assert np.max(mu) < 1e-8  # reactions oppose the forbidden side
    assert np.min(mu) < -1
    excess = np.column_stack([across, run["S.angle'"] - 1.5])
    assert np.max(np.abs(mu * excess)) < 1e-6  # and act on the boundary only


def test_first_integrals_do_not_ignore_what_pushes_now_and_then(examples):
    with pytest.raises(DerivationError, match="'blade' is unilateral"):
        liaison.first_integrals(examples / "chaplygin_unilateral.lsd")


def test_the_proof_may_be_given_more_boxes(examples):
    crank = (examples / "slider_crank.lsd").read_text(encoding="utf-8")
    text = crank + "let fast = require A' <= 200 rad/s ;"
    assert "More boxes than 10 may prove it" in liaison.no_impact(text, boxes=10).text
    assert liaison.no_impact(text).is_proved


def test_a_dead_point_is_found(examples):
    """Where crank and coupler are in line the rocker stands still whatever the crank does."""
    four_bar = (examples / "four_bar.lsd").read_text(encoding="utf-8")
    moving = liaison.no_impact(four_bar + "let limit = require D' <= 2 rad/s ;")
    assert moving.is_proved  # D' = 2 is out of reach at the dead points: not active there
    still = liaison.no_impact(four_bar + "let limit = require D' <= 0 rad/s ;")
    (loss,) = still.entries[0].losses
    assert "limit" in loss.rows
    assert not loss.is_exact
    assert abs(np.sin(loss.position["B"])) < 1e-7  # B turns the coupler on the crank
    assert loss.effect in ("jump", "free")  # the rocker turns back there, or may not
    if loss.effect == "jump":
        assert still.text.endswith("A' = 0, B' = 0, D' = 0.")


def test_a_row_that_is_lost_to_a_closure_stops_the_mechanism(examples):
    """The rule of the relation itself, of the combination of rows that vanishes."""
    circle = "let circle = require S.x^2 + S.y^2 = 1 m^2 ;"
    side = "let side = require S.x*S.x' + 2*S.y*S.y' <= 0 ;"
    start = {"S.x": 0.6, "S.y": 0.8, "S.x'": 0.8, "S.y'": -0.6, "S.angle'": 1.0}
    run = liaison.simulate(PLATE + circle + side, until=3, every=0.1, start=start)
    assert [x.what for x in run.events] == ["impact", "held"]
    assert run.events[0].t == pytest.approx(np.arccos(0.6), abs=1e-7)
    assert run.q[-1] == pytest.approx([1, 0, 3], abs=1e-7)  # the plate turns on
    four_bar = (examples / "four_bar.lsd").read_text(encoding="utf-8")
    stuck = liaison.simulate(four_bar + "let limit = require -D' <= 0 rad/s ;", until=1, every=0.1)
    assert [x.what for x in stuck.events] == ["impact", "held"]
    assert abs(np.sin(stuck["B"][-1])) < 1e-6  # crank and coupler in line
    assert np.max(np.abs(stuck.v[-1])) < 1e-9


def test_relations_that_decide_nothing_end_a_run_with_the_reason():
    start = {"S.angle'": 1.0, "S.y'": 1.0, "S.x'": -0.5}
    with pytest.raises(SimulationError, match="rows depend on each other") as refusal:
        liaison.simulate(
            PLATE + BLADE + "let back = require S.x' <= 0 ;", until=10, every=0.1, start=start
        )
    assert refusal.value.t == pytest.approx(1.5 * np.pi, abs=1e-6)
    start = {"S.x": 1.0, "S.x'": -1.0, "S.y'": -0.5}
    with pytest.raises(SimulationError, match="velocities of several kinds"):
        liaison.simulate(PLATE + "require S.x*S.y' <= 0 ;", until=3, every=0.1, start=start)


@pytest.mark.parametrize(
    ("relation", "place"),
    [
        ("sin(S.x/(1 m))*S.x' <= 0", 0.0),  # nothing has to happen at π, nearer to the start
        ("(S.x^2 - 2 m^2)*S.x' <= 0", np.sqrt(2)),  # nothing at −√2; no simple number
    ],
)
def test_of_several_places_the_one_with_an_impact_is_told(relation, place):
    found = answer(f"require {relation} ;", "start S.x = 2 m ;")
    assert found.is_impact_possible
    (loss,) = found.entries[0].losses
    assert loss.effect == "jump"
    assert float(loss.position["S.x"]) == pytest.approx(place, abs=1e-9)


CURVE = "let c = require (S.y - S.x^2/(1 m))*(S.y' - 2*S.x*S.x'/(1 m)) <= 0 ;"
MOVING = "let c = require (S.x/(1 m) - sin(t/(1 s)))*(S.x'/(1 m/s) - cos(t/(1 s))) <= 0 ;"


@pytest.mark.parametrize(
    ("relation", "start", "why", "t"),
    [
        # reached at (−1, 1); along the tangent the relation is broken by 2 vx⁴ t³ = 1e-7
        (CURVE, {"S.x": -1, "S.y": 2, "S.x'": 1, "S.y'": -2}, "bends", 1 + (5e-8) ** (1 / 3)),
        # 2 − t/2 meets sin t: by then x' = −1/2 is below cos t
        (MOVING, {"S.x": 2, "S.x'": -0.5, "S.y'": 1}, "moves with time", None),
    ],
    ids=["curve", "moving"],
)
def test_what_cannot_be_held_by_fixed_rows_ends_the_run(relation, start, why, t):
    with pytest.raises(SimulationError, match=why) as refusal:
        liaison.simulate(PLATE + relation, until=6, start=start, rtol=1e-10, atol=1e-12)
    assert refusal.value.status == "degenerate"
    assert t is None or refusal.value.t == pytest.approx(t, abs=1e-6)
