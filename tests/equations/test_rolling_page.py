"""The page of a body that rolls: three short equations, against the compiled equations."""

import re
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.equations import FORMALISMS, rolling_of
from liaison.equations.readable.readable import named_recursion
from liaison.expr import evaluate, symbol
from liaison.spatial import array, rotation_quaternion
from liaison.tree import span

EXAMPLE = Path(__file__).parents[2] / "examples" / "rolling_disc.lsd"

DISC = """
gravity = [0, 0, -9.81] m/s^2 ;
let disc = body mass = 2 kg, inertia = [{inertia}] kg*m^2 end ;
let F = join earth and disc with free end ;
let edge = couple disc and earth with rolling_disc radius = 0.3 m, axis = [{axis}] end ;
start F = [0, 0, 0.3] m{turn} ;
"""
DISCS = {
    "x": DISC.format(inertia="0.09, 0.045, 0.05", axis="1, 0, 0", turn=""),
    "y": DISC.format(inertia="0.045, 0.09, 0.06", axis="0, 1, 0", turn=""),
    "z": DISC.format(inertia="0.04, 0.05, 0.09", axis="0, 0, 1", turn=" ++ 90 deg || [1, 0, 0]"),
}


def page_of(text):
    tree = span(liaison.read(text), exact=True)
    equations = FORMALISMS["lagrange_reduced"](tree)
    recursion = named_recursion(tree)
    return equations, rolling_of(equations, recursion.quantities, recursion.rows)


@pytest.mark.parametrize("axis", DISCS)
def test_lines_hold_at_any_attitude_with_the_accelerations_of_the_kernel(axis):
    """Velocities of the page satisfy the closures, and its rows vanish with v̇ as compiled."""
    equations, page = page_of(DISCS[axis])
    kernel = liaison.compile(DISCS[axis])
    names, draw = equations.symbols, np.random.default_rng(3)
    for _ in range(5):
        e = draw.normal(size=4)
        e /= np.linalg.norm(e)
        up = np.array(rotation_quaternion(array(list(e)))[2], dtype=float)
        lean = np.sqrt(1 - up["xyz".index(axis)] ** 2)
        q = np.array([*draw.normal(size=2), 0.3 * lean, *e])
        omega = draw.normal(size=3) * 3
        values = dict(zip(names.q, q, strict=True)) | dict(zip(names.v[:3], omega, strict=True))
        values |= {symbol(f"u.{x}"): y for x, y in zip("xyz", up, strict=True)}
        for name, formula in page.names[:4]:  # s, and the velocity of the center
            values[symbol(name)] = evaluate([formula], values)[0]
        v = np.array([values[x] for x in names.v])
        terms = kernel.call("terms", q=q, v=v)
        assert np.max(np.abs(terms["G"].reshape(3, 6) @ v)) < 1e-12
        values |= dict(zip(names.vdot, kernel.call("forward", q=q, v=v)["vdot"], strict=True))
        for name, formula in page.names[4:]:
            values[symbol(name)] = evaluate([formula], values)[0]
        assert np.max(np.abs(evaluate(list(page.rows), values))) < 1e-11


def test_the_example_is_ten_short_lines():
    text = str(liaison.readable(EXAMPLE, formalism="lagrange_reduced"))
    lines = re.search(r"Quantities.*?\n(.*?)\nFirst integrals", text, re.S)[1].splitlines()
    lines = [line for line in lines if " = " in line]
    assert len(lines) == 10
    assert max(map(len, lines)) < 70
    assert "F.wy: 0.09 F.wy' − 0.6 (a₁.z u.x − a₁.x u.z)/s = 0" in text
    assert "λ" not in text


@pytest.mark.parametrize(
    "more",
    [
        "apply force value = [1, 0, 0] N end on disc ;",
        "let b = body mass = 1 kg, inertia = 1 kg*m^2 end ; join disc and b with revolute end ;",
    ],
)
def test_what_has_loads_or_other_bodies_is_read_as_before(more):
    _, page = page_of(DISCS["y"] + more)
    assert page is None
