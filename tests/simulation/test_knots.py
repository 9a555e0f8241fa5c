"""Laws of the state that jump or bend: no step goes across such a place."""

import numpy as np
import pytest

import liaison
from liaison.expr import Table, absolute, maximum, select, symbol
from liaison.formats import read
from liaison.program.instants import knots

SLIDER = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
apply force value = [{force}, 0, 0] end on b ;
start X' = 1 m/s ;
"""
DETENTS = {
    "table": '1 kN*table(X/(1 m), [0,4.999,5,5.001,10], [0,0,1,0,0], "linear")',
    "switched": "1 kN*if(X - 5 m, 1, 0)*if(5.001 m - X, 1, 0)",
    "largest": "1000 kN/m*max(0 m, 1 mm - abs(X - 5 m))",
}


@pytest.mark.parametrize("name", DETENTS)
def test_what_lies_between_two_stages_acts(name):
    """Work of 1 J within 2 mm: v² = 1 + 2."""
    run = liaison.simulate(read(SLIDER.format(force=DETENTS[name])), until=10)
    assert run.v[-1, 0] == pytest.approx(np.sqrt(3), rel=1e-8)
    assert run.events == ()
    assert run.counts["rejected"] < 40


def test_a_soft_stop_at_the_top_of_a_throw_acts():
    """In the air for a second, at the stop for a few milliseconds."""
    model = read("""
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let Z = join earth and b with slider axis = [0, 0, 1] end ;
apply force value = [0, 0, -100 kN/m*max(0 m, Z - 5.09 m)] end on b ;
start Z' = 10 m/s ;
""")
    run = liaison.simulate(model, until=1.8, rtol=1e-10, atol=1e-12)
    # down to the stop with v, up from it with −v, harmonic between
    speed, omega, g = np.sqrt(100 - 2 * 9.81 * 5.09), np.sqrt(1e5), 9.81
    phase = np.arctan2(g / omega, speed)
    down = (10 - speed) / g + (np.pi - 2 * phase) / omega
    rest = 1.8 - down
    assert run.q[-1, 0] == pytest.approx(5.09 - speed * rest - g / 2 * rest**2, abs=1e-9)


def test_a_law_that_bends_costs_few_steps():
    """A spring that is stiffer on one side: half an oscillation on each, over and over."""
    model = read(SLIDER.format(force="-4 N/m*X - 96 N/m*max(0 m, X)"))
    period = np.pi / 10 + np.pi / 2
    run = liaison.simulate(model, until=10 * period, rtol=1e-10, atol=1e-12, every=period)
    assert run.q[:, 0] == pytest.approx(0, abs=1e-8)
    assert run.v[:, 0] == pytest.approx(1, abs=1e-8)
    assert run.counts["rejected"] < 0.3 * run.counts["steps"]


def test_batches_and_other_methods_pass_knots_alike():
    model = read(SLIDER.format(force=DETENTS["switched"]))
    for method in ("dormand-prince", "radau"):
        run = liaison.simulate(model, until=10, method=method, rtol=1e-9, atol=1e-11)
        assert run.v[-1, 0] == pytest.approx(np.sqrt(3), rel=1e-6)
    runs = liaison.simulate_batch(model, until=10, start={"X'": np.array([1.0, 2.0])})
    assert runs.v[:, -1, 0] == pytest.approx(np.sqrt([3, 6]), rel=1e-8)


def test_levels_of_formulas_are_those_of_switches_and_tables():
    x, y, p = symbol("x"), symbol("y"), symbol("p")
    table = Table([0, 1, 3], [0, 1, 0], "linear")
    laws = [table(x) + absolute(y), maximum(x, p), select(p, x, y), table(p), absolute(x)]
    found = {f: levels.tolist() for f, levels in knots(laws, [p])}
    assert found == {x: [0, 1, 3], y: [0], x - p: [0]}
