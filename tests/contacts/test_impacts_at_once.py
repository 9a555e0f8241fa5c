"""Several impacts at once: Newton's cradle in a run, and what the run says of its answer."""

import numpy as np
import pytest

import liaison
from liaison.formats import read_lsd

SEQUENCE = "of impacts at t = 0 s did not end"


@pytest.fixture(scope="module")
def cradle(examples):
    return liaison.read(examples / "contact" / "cradle.lsd")


@pytest.fixture(scope="module")
def swung(cradle):
    return liaison.simulate(cradle, until=0.8, impacts="sequential", every=2e-3,
                            series=("energy", "poses", "contacts"))  # fmt: skip


def at_first(run, what="impact"):
    first = min(e.t for e in run.events)
    return [e for e in run.events if e.what == what and e.t == first]


def test_the_last_ball_of_the_cradle_flies_off_as_fast_as_the_first_came(swung):
    hits = at_first(swung)
    assert [e.name for e in hits] == ["touch1", "touch2", "touch3", "touch4"]
    before, after = hits[0].before, hits[0].v
    # r falls by l (1 − cos 30°), a ball of radius r turning about the hook
    inertia = 0.2**2 + 2 / 5 * 0.02**2
    speed = np.sqrt(2 * 9.81 * 0.2 * (1 - np.cos(np.pi / 6)) / inertia)
    assert before == pytest.approx([-speed, 0, 0, 0, 0], abs=1e-8)
    assert after == pytest.approx([0, 0, 0, 0, -speed], abs=1e-8)
    assert np.ptp(swung["energy"][:, :2].sum(axis=1)) < 1e-8


def test_two_balls_let_two_fly(examples):
    text = (examples / "contact" / "cradle.lsd").read_text() + "start hook[2].A = 30 deg ;"
    both = liaison.simulate(read_lsd(text), until=0.3, impacts="sequential")
    hits = at_first(both)
    assert hits[0].v == pytest.approx(hits[0].before[[2, 3, 4, 0, 1]], abs=1e-8)


@pytest.mark.parametrize("law", ["energetic", "newton", "poisson", "moreau", "stronge"])
def test_every_law_says_that_its_answer_is_not_unique(cradle, law):
    run = liaison.simulate(cradle, until=0.3, impacts=law)
    hits = at_first(run)
    share = -hits[0].before[0] / 5
    assert hits[0].v == pytest.approx(np.array([3, -2, -2, -2, -2]) * share, rel=1e-6)
    assert [e.together for e in hits] == [2, 3, 3, 2]
    assert "Several contacts were hit at once at t = 0.2286" in run.message
    assert f"the law {law!r} does" in run.message
    assert run.meta["impacts"] == law


def test_steps_of_fixed_size_say_so_too(cradle):
    run = liaison.simulate(cradle, until=0.3, method="moreau", step=1e-3)
    assert max(e.together for e in run.events) > 1
    assert "the method 'moreau' does" in run.message


def test_one_impact_and_impacts_of_bodies_apart_are_unique(examples):
    for name in ("contact/two_balls", "contact/stops", "reference/bouncing_ball"):
        run = liaison.simulate(examples / f"{name}.lsd", until=0.6)
        assert "impact" in {e.what for e in run.events}
        assert {e.together for e in run.events} == {1}
        assert "at once" not in run.message


def test_verify_and_files_say_it(swung, cradle, tmp_path):
    said = liaison.verify(cradle, swung)
    assert said.holds
    assert any("several impacts at once, at t = 0.2286" in x for x in said.unchecked)
    swung.save(tmp_path / "cradle.nc")
    again = liaison.load(tmp_path / "cradle.nc")
    assert [e.together for e in again.events] == [e.together for e in swung.events]


CORNER = """
let ball = body mass = 1 kg, inertia = 1 g*m^2 end ;
let F = join earth and ball with link(x, y) dof1 = [x, 0, 0], dof2 = [0, y, 0] end ;
contact gap = F.y, restitution = 1 end ;
contact gap = 1e-5*F.x - F.y, restitution = 1 end ;
start F.x = 0 m ; start F.y = 0 m ; start F.x' = -1 m/s ; start F.y' = 0 m/s ;
"""


def test_a_sequence_that_does_not_end_is_cut_short_in_words():
    run = liaison.simulate(read_lsd(CORNER), until=0.1, impacts="sequential")
    assert "cut short" in {e.what for e in run.events}
    assert SEQUENCE in run.message
