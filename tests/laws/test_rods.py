"""A weight on a massless rod is a spherical pendulum, also where it hangs along z of its frame."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison
from liaison.equations import FORMALISMS
from liaison.errors import AssemblyError
from liaison.formats.lsd.write.write import write_lsd
from liaison.model import BryantXYZ, Rod, RodByAngles
from liaison.program import lower, to_numpy
from liaison.tree import assemble, span

g, l, m = 9.81, 0.8, 1.5

TEXT = f"""gravity = [0, 0, -{g}] m/s^2 ;
let b = body mass = {m} kg, inertia = [1, 2, 2] g*m^2 end ;
let R = join earth and b with rod length = {l} m{{}} end ;
start R = [0, 0, -{l}] m ;
"""

# what a run at rtol 1e-12 leaves over a few swings
CLOSE = 1e-9


def spherical_pendulum(p, v, t):
    """Places of a point at the distance l: p̈ = −g ez − (g·p + v²) p / l², by SciPy alone."""
    down = np.array([0.0, 0.0, -g])

    def rate(_, y):
        x, w = y[:3], y[3:]
        return np.concatenate([w, down - (down @ x + w @ w) / l**2 * x])

    solution = solve_ivp(rate, (0, t[-1]), [*p, *v], method="DOP853", t_eval=t, rtol=3e-14,
                         atol=1e-14)  # fmt: skip
    return solution.y[:3].T


def start(p, v):
    place = {f"R.{x}": y for x, y in zip("xyz", p, strict=True)}
    return place | {f"R.v{x}": y for x, y in zip("xyz", v, strict=True)}


slope = 0.6
STARTS = {
    "from the pole": ((0, 0, -l), (1.3, 0.4, 0)),
    "in a plane through it": ((l * np.sin(slope), 0, -l * np.cos(slope)), (0, 0, 0)),
    "on a cone": (
        (l * np.sin(slope), 0, -l * np.cos(slope)),
        (0, np.sqrt(g * l * np.sin(slope) * np.tan(slope)), 0),
    ),
    "over the top": ((0, 0, -l), (2.2 * np.sqrt(g * l), 0, 0)),
}


@pytest.mark.parametrize(("p", "v"), STARTS.values(), ids=STARTS)
def test_a_weight_on_a_rod_swings_through_the_pole(p, v):
    """Against an integration of its own; energy, length and the law of the tension besides."""
    t = np.linspace(0, 2.5, 26)
    run = liaison.simulate(TEXT.format(""), until=2.5, every=0.1, start=start(p, v), rtol=1e-12,
                           atol=1e-13, series=("energy", "reactions"))  # fmt: skip
    assert run.status == "done"
    place = run.q[:, :3]
    assert np.max(np.abs(place - spherical_pendulum(p, v, t))) < CLOSE
    assert np.ptp(run["energy"].sum(axis=1)) < CLOSE * m * g * l
    speed2 = np.sum(run.v[:, 3:] ** 2, axis=1)
    tension = m * (speed2 / l - g * place[:, 2] / l)
    force = run["reactions"][:, 0, 3:]  # in the body's axes, which do not turn
    assert np.max(np.abs(force + tension[:, None] * place / l)) < 1e-8 * m * g


def test_a_hanging_weight_rests_and_swings_at_the_frequency_of_a_pendulum():
    rest = liaison.equilibrium(TEXT.format(""))
    assert rest.state.q[:3] == pytest.approx([0, 0, -l], abs=1e-12)
    values = np.sort(np.abs(liaison.linearize(TEXT.format("")).eigenvalues.imag))
    assert values[-4:] == pytest.approx([np.sqrt(g / l)] * 4, rel=1e-9)
    assert values[:-4] == pytest.approx(0, abs=1e-9)


def test_the_mobility_of_a_hanging_rod_is_five():
    assert liaison.mobility(TEXT.format("")).finite == (5, 5)
    summary = liaison.check(TEXT.format(""))
    assert (summary.freedoms, summary.gruebler, summary.tree.cuts) == (5, 5, [])


def chain(kind):
    """Two weights on rods, one under the other, the second one turned and off its center."""
    a, b = (liaison.body(x, mass=1, inertia=(0.1, 0.2, 0.15), center=(0.1, 0, 0.05)) for x in "ab")
    joints = (liaison.join(liaison.ground, a, kind(l), name="A"),
              liaison.join(a, b, kind(0.5, BryantXYZ()), name="B"))  # fmt: skip
    return liaison.mechanism(*joints, liaison.gravity(), name="chain")


def test_rods_by_place_and_by_angles_move_alike():
    """Away from the pole, for two rods one under the other; the second in angles."""
    p = np.array([0.6, 0, -np.sqrt(l**2 - 0.36)])
    by_place = {"A.x": p[0], "A.z": p[2], "B.x": 0.3, "B.y": 0.4}
    by_angles = {"A.elevation": np.arcsin(p[2] / l), "B.azimuth": np.arctan2(0.4, 0.3)}
    runs = [
        liaison.simulate(chain(kind), until=1, every=0.1, start=s, rtol=1e-11, series=("poses",))
        for kind, s in ((Rod, by_place), (RodByAngles, by_angles))
    ]
    assert np.max(np.abs(runs[0]["poses"] - runs[1]["poses"])) < 1e-8


def test_formalisms_agree_on_rods_at_the_pole():
    hanging = {"A.x": 0, "A.z": -l, "B.x": 0, "B.z": -0.5, "A.vy": 0.7, "B.x'": 0.4}
    tree = span(chain(Rod))
    state = assemble(tree, **hanging)
    assert (state.q[2], state.q[9]) == (-l, -0.5)
    vdot = {}
    for name in ("newton_euler", "lagrange", "kane"):
        kernel = to_numpy(lower(FORMALISMS[name](tree)))
        vdot[name] = kernel.call("forward", t=0.0, q=state.q, v=state.v)["vdot"]
    assert np.max(np.abs(vdot["newton_euler"])) > 1
    for other in vdot.values():
        assert np.max(np.abs(other - vdot["newton_euler"])) < CLOSE


# Names -------------------------------------------------------------------------------------------


def test_angles_that_are_named_are_the_coordinates():
    """In a text, in Python by a start, and by a start of the call."""
    text = TEXT.format("").replace(f"start R = [0, 0, -{l}] m ;", "")
    named = liaison.read(text + "start R.azimuth = 90 deg ;")
    assert isinstance(named.joint("R").type, RodByAngles)
    assert isinstance(liaison.read(text).joint("R").type, Rod)
    run = liaison.simulate(text, until=0.1, start={"R.azimuth": 1.5})
    assert run.labels["q"][0].name == "R.azimuth"
    b = liaison.body("b", mass=1, inertia=(1, 1, 1))
    joint = liaison.join(liaison.ground, b, Rod(2), name="R")
    swing = liaison.mechanism(joint, liaison.output("up", liaison.symbol("R.elevation'")))
    assert swing.joint("R").type == RodByAngles(2)
    assert swing.coordinates[:2] == ("R.azimuth", "R.elevation")


def placed(starts, length="1 m"):
    text = f"""parameter L = 2 m ; let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let R = join earth and b with rod length = {length} end ; {starts}"""
    return assemble(span(liaison.read(text))).q[:3]


@pytest.mark.parametrize(("starts", "place"), [
    ("start R.z = -1 m ;", [0, 0, -1]),
    ("start R.z = -0.8 m ;", [0.6, 0, -0.8]),
    ("start R.x = 0 m ; start R.y = -0.6 m ;", [0, -0.6, 0.8]),
    ("start R.x = 0 m ;", [0, 1, 0]),
    ("start R.x = 0.6 m ; guess R.z = -1 m ;", [0.6, 0, -0.8]),
])  # fmt: skip
def test_parts_of_the_place_of_a_rod_leave_the_others_to_its_length(starts, place):
    assert np.allclose(placed(starts), place, atol=1e-12)


def test_parts_of_the_place_of_a_rod_whose_length_is_a_parameter():
    assert np.allclose(placed("start R.z = -1.2 m ;", "L"), [1.6, 0, -1.2])
    with pytest.raises(AssemblyError, match="inconsistent"):
        placed("start R.z = -2.5 m ;", "L")


def test_a_rod_whose_length_is_a_parameter_starts_along_x():
    text = "parameter l = 3 m ;" + TEXT.format("").replace(f"length = {l} m", "length = l")
    state = liaison.simulate(text.split("start R")[0], until=0.01)
    assert state.q[0, :3] == pytest.approx([3, 0, 0], abs=1e-12)


def test_the_place_of_a_rod_may_be_a_guess_while_its_attitude_holds():
    text = "parameter l = 1 m ;" + TEXT.format("").replace(f"length = {l} m", "length = l")
    text = text.replace(f"start R = [0, 0, -{l}] m ;", "")
    text += "guess R.x = 0 m ; guess R.z = -1 m ; start R.qw = 1 ;"
    runs = liaison.simulate_batch(text, until=0.01, parameters={"l": np.linspace(0.9, 1.1, 3)})
    assert runs.q[:, 0, 2] == pytest.approx([-0.9, -1.0, -1.1], abs=1e-12)
    run = liaison.simulate(text, until=0.01, start={"R.x": 0.6})
    assert run.q[0, :3] == pytest.approx([0.6, 0, -0.8], abs=1e-12)


def test_both_rods_are_written_and_read_back():
    text = TEXT.format("") + "output up = R.z ;"
    for source in (text, text.replace("with rod ", "with rod_by_angles ").replace("R.z", "R")):
        first = liaison.read(source.replace("output up = R ;", ""))
        assert liaison.read(write_lsd(first)) == first
