"""Loss of rank along recorded motions, and the verbs that tell of singular positions."""

import json
from fractions import Fraction as F
from math import pi

import pytest

import liaison
from liaison.analyse import rank_along
from liaison.cli import main
from liaison.errors import DerivationError, NamingError
from liaison.freedoms import singularities
from liaison.model import Revolute
from liaison.model.describe import body, gear, ground, join, mechanism, start


def parallelogram():
    """Cranks 1 m, coupler 2 m, no weight: the crank turns evenly through both flat positions."""
    first, coupler, second = (body(name, mass=1) for name in ("first", "coupler", "second"))
    return mechanism(
        join(ground, first, Revolute, name="A"),
        join(first.at((1, 0, 0)), coupler, Revolute, name="B"),
        join(coupler.at((2, 0, 0)), second.at((1, 0, 0)), Revolute, name="C"),
        join(ground.at((2, 0, 0)), second, Revolute, name="D"),
        start({"A": F(1), "B": -F(1), "D": F(1), "A'": 2, "B'": -2, "D'": 2}),
        name="parallelogram",
    )


@pytest.mark.parametrize("every", [0.05, 1.0])
def test_a_parallelogram_loses_rank_where_it_is_flat(every):
    """It turns at 2 rad/s from 1 rad, so that it is flat at (π − 1)/2 s and (2π − 1)/2 s."""
    given = parallelogram()
    run = liaison.simulate(given, until=3.0, every=every)
    found = rank_along(run, given)
    assert (found.rank, found.freedoms) == (2, 1)
    assert [loss.rank for loss in found.losses] == [1, 1]
    # where the loop is nearly flat rounding of the run is magnified
    expected = pytest.approx([(pi - 1) / 2, (2 * pi - 1) / 2], abs=1e-6)
    assert [loss.t for loss in found.losses] == expected
    assert found.losses[0].position["A"] == pytest.approx(pi, abs=1e-6)


def test_the_same_positions_are_met_when_the_motion_is_followed():
    found = liaison.singularities(parallelogram())
    flat = sorted(place["A"] % pi for place in found.bifurcations)
    assert len(flat) == 2
    assert all(min(x, pi - x) < 1e-4 for x in flat)


def test_a_coarse_record_does_not_hide_a_loss(examples):
    given = liaison.read(examples / "saliere.lsd")
    fine = liaison.simulate(given, until=1.0, every=0.02, start={"C2'": 8.0})
    coarse = liaison.simulate(given, until=1.0, every=0.1, start={"C2'": 8.0})
    (once,), (twice,) = (rank_along(run, given).losses for run in (fine, coarse))
    # a cubic between instants 0.1 s apart of a motion of some rad/s
    assert once.t == pytest.approx(twice.t, abs=1e-4)
    assert once.position["C2"] == pytest.approx(pi, abs=1e-6)


@pytest.mark.parametrize("name", ["four_bar", "bennett"])
def test_what_keeps_its_rank_says_how_near_it_came(name, examples):
    given = liaison.read(examples / f"{name}.lsd")
    found = rank_along(liaison.simulate(given, until=0.5, every=0.02), given)
    assert found.losses == ()
    assert 0.1 < found.closest[1] < 1
    assert "lost nowhere" in str(found)


def test_closures_that_are_non_reduced_do_not_count_as_lost(examples):
    """Rank 5 at every position of the mesh: that is no event of its motion."""
    given = liaison.read(examples / "antenna_mesh.lsd")
    found = rank_along(liaison.simulate(given, until=0.3, every=0.02), given)
    assert (found.rank, found.losses) == (5, ())


def test_another_mechanism_and_a_tree_are_refused(examples):
    four_bar = liaison.read(examples / "four_bar.lsd")
    pendulum = liaison.read(examples / "pendulum.lsd")
    run = liaison.simulate(four_bar, until=0.1, every=0.05)
    with pytest.raises(DerivationError, match="no closures"):
        rank_along(liaison.simulate(pendulum, until=0.1), pendulum)
    with pytest.raises(NamingError, match="coordinate of the mechanism"):
        rank_along(run, liaison.read(examples / "bennett.lsd"))


def test_gears_are_followed_too():
    """Two wheels, one to three: no rank is lost, no coordinate stops."""
    wheels = [body(name, mass=1) for name in ("sun", "planet")]
    pair = [join(ground.at((2 * k, 0, 0)), wheel, Revolute, name=wheel.name)
            for k, wheel in enumerate(wheels)]  # fmt: skip
    found = singularities(mechanism(*pair, gear("planet", F(-1, 3), "sun")))
    assert (found.is_closed, found.bifurcations, dict(found.dead_points)) == (True, (), {})
    assert found.length == pytest.approx(2 * pi * (9 + 1) ** 0.5, abs=0.02)  # steps of 0.02


def test_dead_centers_are_told_in_coordinates_and_once_each(examples):
    found = liaison.singularities(examples / "slider_crank.lsd")
    x = sorted(place["x"] for place in found.dead_points["x"])
    assert x == pytest.approx([0.08, 0.18], abs=1e-9)  # rod less and plus crank
    assert len(found.dead_points["P"]) == 2  # the rod leans most where the crank is upright


def spoken(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code, capsys.readouterr()


def test_the_command_line_tells_singular_positions(capsys, examples, tmp_path):
    path = examples / "saliere.lsd"
    status, told = spoken(capsys, "singular", path, "--json")
    facts = json.loads(told.out)
    assert (status, len(facts["bifurcations"])) == (0, 2)
    run = liaison.simulate(path, until=0.5, every=0.02, start={"C2'": 8.0})
    run.save(tmp_path / "run.nc")
    status, told = spoken(capsys, "singular", path, "--along", tmp_path / "run.nc", "--json")
    assert (status, len(json.loads(told.out)["losses"])) == (0, 1)
    status, told = spoken(capsys, "singular", examples / "three_upu.lsd")
    assert (status, "is 3, not 1" in told.err) == (1, True)


def test_the_command_line_prints_reduced_equations(capsys, examples):
    path = examples / "four_bar.lsd"
    status, told = spoken(capsys, "reduce", path, "--independent", "A", "--json")
    facts = json.loads(told.out)
    assert (status, facts["independent"], facts["mobility"]) == (0, ["A'"], 1)
    assert "force of A' = " in facts["text"]
    status, told = spoken(capsys, "reduce", path, "--independent", "Z")
    assert (status, "'Z'" in told.err) == (2, True)
