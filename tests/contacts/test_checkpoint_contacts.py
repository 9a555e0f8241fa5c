"""Checkpoints of runs with contacts: taken up in flight, in slip and in stick, bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.simulation import Run, Settings

EXAMPLES = Path(__file__).parents[2] / "examples"
WAYS = [{}, {"step": 1e-3}, {"method": "moreau", "step": 1e-3}]
TOLD = ("contacts", "slips", "gaps", "modes", "dissipated")

PUCK = """
name = "puck" ;
gravity = [0, 0, -9.81] m/s^2 ;
let puck = body mass = 1 kg, inertia = 1 g*m^2 end ;
let X = join earth and puck with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
apply force value = [1.5 N*sin(8*t/(1 s)), 0, 0] end on puck ;
let floor = contact gap = X.z, slip = X.x', friction = {mu}, restitution = 0.5 end ;
start X.z = 5 cm ; start X.x' = 2.5 m/s ;
"""


def made(source, until, options):
    mechanism = liaison.read(source)
    kernel = liaison.compile(mechanism)
    state = liaison.assemble(liaison.span(mechanism))
    return lambda: Run(kernel, state, until, Settings(**options))


def same(one, other):
    for name in ("t", "q", "v"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in TOLD:
        assert np.array_equal(one[name], other[name]), name
    assert (one.status, one.message, one.counts) == (other.status, other.message, other.counts)
    for a, b in zip(one.events, other.events, strict=True):
        assert (a.name, a.t, a.what) == (b.name, b.t, b.what)
        assert np.array_equal(a.v, b.v)


@pytest.mark.parametrize("options", WAYS)
def test_in_flight_in_slip_and_in_stick(options):
    """0.101 s of fall, impacts, rest; it slips, then sticks under 1.5 N < f m g = 4.9 N."""
    new = made(PUCK.format(mu=0.5), 1.0, options)
    whole = new().finish()
    modes, t = whole["modes.floor: sliding"], whole.t
    assert set(modes) == {0, 1, 2}
    for mode in sorted(set(modes)):
        inside = t[np.flatnonzero(modes == mode)]
        first = new()
        while first.t < inside[len(inside) // 2]:
            first.go(1)
        again = new()
        again.restore(first.checkpoint())
        same(again.finish(), whole)
        same(first.finish(), whole)  # the one that was kept goes on as well


@pytest.mark.parametrize("options", [WAYS[0], WAYS[2]])
@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("reference/woodpecker", 0.15),
        ("contact/backlash", 0.4),
        ("contact/stick_slip", 1.0),
        ("contact/skis", 0.5),
        ("chaplygin_unilateral", 1.0),
        ("contact/bearing", 0.8),
    ],
)
def test_anywhere(name, until, options):
    if name == "contact/bearing" and options:
        pytest.skip("Moreau's steps do not take friction of bearings")
    new = made(EXAMPLES / f"{name}.lsd", until, options)
    whole, first = new().finish(), new()
    marks = np.linspace(0.1, 0.9, 5) * until
    for mark in marks:
        while first.t < mark:
            first.go(3)
        again = new()
        again.restore(first.checkpoint())
        same(again.finish(), whole)


def test_a_relation_that_is_held_stays_held():
    new = made(EXAMPLES / "degenerate_unilateral.lsd", 3.0, {})
    whole, first = new().finish(), new()
    while first.t < 2.0:
        first.go(1)
    assert any(x.what == "held" for x in whole.events)
    again = new()
    again.restore(first.checkpoint())
    same(again.finish(), whole)


def test_other_contacts_and_other_steps_are_refused():
    kept = made(PUCK.format(mu=0.5), 1.0, {})().checkpoint()
    with pytest.raises(SimulationError, match=r"not the same .*equations"):
        made(PUCK.format(mu=0.4), 1.0, {})().restore(kept)
    steps = {"method": "moreau", "step": 1e-3}
    kept = made(PUCK.format(mu=0.5), 1.0, steps)().checkpoint()
    with pytest.raises(SimulationError, match="not the same theta"):
        made(PUCK.format(mu=0.5), 1.0, steps | {"theta": 1.0})().restore(kept)


CHILD = """
import sys, time
from pathlib import Path
import liaison
from liaison.simulation import Run, Settings
mechanism = liaison.read(sys.argv[1])
state = liaison.assemble(liaison.span(mechanism))
run = Run(liaison.compile(mechanism), state, 1.0, Settings(method="moreau", step=1e-3))
while not run.is_over:
    run.go(20)
    run.keep(Path(sys.argv[2]))
    time.sleep(0.01)
"""


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
def test_a_process_that_is_killed_leaves_a_whole_checkpoint(tmp_path):
    text, file = tmp_path / "puck.lsd", tmp_path / "run.checkpoint"
    text.write_text(PUCK.format(mu=0.5))
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(text), str(file)])
    deadline = time.monotonic() + 60
    while not file.exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.1)
    child.send_signal(signal.SIGKILL)
    child.wait()
    new = made(text, 1.0, WAYS[2])
    again = new()
    again.restore(file.read_bytes())
    assert again.t > 0
    same(again.finish(), new().finish())
