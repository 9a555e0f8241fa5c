"""Motions without inertia: found where there are some, named, and none elsewhere."""

import numpy as np
import pytest

import liaison
from liaison.expr import evaluate
from liaison.tree import assemble, span

SLIDE = "bras_primaire_bras_secondeaire"


@pytest.mark.parametrize("name", ["satellite", "four_bar", "slider_crank", "elliptic_pendulum"])
def test_there_is_none_where_accelerations_are_determined(name):
    assert liaison.massless_motions(liaison.read(f"examples/{name}.lsd")) == ()


def test_the_satellite_with_its_arm_drawn_in():
    text = liaison.read("examples/satellite.lsd")
    (lost,) = liaison.massless_motions(text, at={SLIDE: 0})
    # the arm turns about x while the slide takes back what that moves the point mass by
    ratio = lost.velocities[f"{SLIDE}'"] / lost.velocities["satellite_bras_primaire'"]
    assert ratio == pytest.approx(0.6 * np.cos(np.deg2rad(15)))
    assert lost.bodies["bras_primaire"].startswith("turns about its x")
    assert lost.bodies["bras_secondeaire"].endswith("moves along its y")
    assert lost.bodies["reflecteur"].endswith("its mass center stays")
    assert "satellite" not in lost.bodies
    assert str(lost).endswith("No mass moves.")


def test_it_has_no_kinetic_energy():
    text = liaison.read("examples/satellite.lsd")
    (lost,) = liaison.massless_motions(text, at={SLIDE: 0})
    tree = span(text)
    made, state = liaison.newton_euler(tree), assemble(tree, None, **{SLIDE: 0.0})
    values = {made.symbols.t: 0.0} | dict(zip(made.symbols.q, state.q, strict=True))
    values |= dict(zip(made.symbols.p, made.defaults["p"], strict=True))
    values |= {v: lost.velocities.get(v.name, 0.0) for v in made.symbols.v}
    assert abs(float(evaluate([made.reports.energy[0]], values)[0])) < 1e-14


def test_angles_that_turn_about_one_axis_move_no_body():
    text = liaison.read("examples/satellite.lsd")
    (lost,) = liaison.massless_motions(text, at={"ground_satellite.th": 0})
    assert set(lost.velocities) == {"ground_satellite.ps'", "ground_satellite.ph'"}
    assert not lost.bodies
    assert "no body moves" in str(lost)


def test_closures_may_hold_what_has_no_mass():
    # a rod without mass between two heavy sliders is moved by them
    text = """
    gravity = 0 ;
    let a = body mass = 1 kg, inertia = 0 end ;
    let b = body mass = 1 kg, inertia = 0 end ;
    let rod = body mass = 0, inertia = 0 end ;
    let x = join earth and a with prismatic axis = [1, 0, 0] end ;
    let y = join earth and b with prismatic axis = [0, 1, 0] end ;
    let A = join a and rod with revolute axis = [0, 0, 1] end ;
    let B = join [5, 0, 0] m @ rod and b with revolute axis = [0, 0, 1] end ;
    start x = 3 m ;
    start y = 4 m ;
    start A = atan2(4, -3) ;
    """
    assert liaison.massless_motions(liaison.read(text)) == ()
