"""What holds on one side only, printed: all modes at once, and the equations of one mode.

The equations of a mode are solved as they are read, and must give what a run does in that mode.
"""

import json

import numpy as np
import pytest
from scipy.optimize import brentq

import liaison
from liaison import readable
from liaison.equations import FORMALISMS
from liaison.equations.readable.forms import as_latex, as_sympy, as_unicode
from liaison.equations.readable.pages import as_html, as_notebook
from liaison.errors import DerivationError, NamingError
from liaison.expr import evaluate, gradient, substitute, symbol, symbols_of
from liaison.expr.reading.reading import to_expr

TILTED = """
name = "tilting block" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter mu = 0.3 ;
let block = body mass = 2 kg, inertia = 0.03 kg*m^2 end ;
let P = join earth and block with link(x, z, lean)
  dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = lean || [0, -1, 0] end ;
let floor = contact [0, 0, -5] cm @ block and earth with point friction = mu{more} end ;
start P.x' = 1 m/s ;
start P.z = 5 cm*cos(10 deg) ;
start P.lean = 10 deg ;
"""
SLIPS = {"floor": "closed", "floor: sliding": "slips"}


def tilted(more: str = ""):
    return liaison.read(TILTED.format(more=more))


def solved(found, mechanism, run, k: int) -> dict[str, float]:
    """Accelerations and forces that the lines of a page ask for at a recorded state."""
    values = {symbol(x.name): float(x.value) for x in mechanism.parameters}
    values |= {symbol(n): float(x.split()[0]) for n, x in found.values}
    for part, table in (("q", run.q), ("v", run.v)):
        values |= {symbol(x.name): table[k, i] for i, x in enumerate(run.labels[part])}
    values |= feet_of(found, values)
    for side in found.sides:  # u = … of slips
        for line in side.relations:
            if line.when == "" and line.items[1] == "=":
                formula = to_expr(line.items[2])
                values[to_expr(line.items[0])] = float(evaluate([formula], values)[0])
    rows = written_out(found, [to_expr(x.left) - to_expr(x.right) for x in found.lines])
    names = [f"{x.name}'" for x in run.labels["v"]]
    names += [x.partition(" ")[0] for x in found.labels["force"]]
    unknown = [symbol(x) for x in names]
    A = np.array([evaluate(gradient(row, unknown), values) for row in rows], dtype=float)
    b = -np.array(evaluate(rows, values | dict.fromkeys(unknown, 0.0)), dtype=float)
    used = np.flatnonzero(np.any(A != 0, axis=0))
    x = np.linalg.lstsq(A[:, used], b, rcond=None)[0]
    assert np.allclose(A[:, used] @ x, b, atol=1e-9)
    return {names[i]: value for i, value in zip(used, x, strict=True)}


def feet_of(found, values) -> dict:
    """Parameters of nearest points, by the conditions that the page tells, one to a block."""
    told = {}
    for line in (x for side in found.sides for x in side.relations if x.when == "nearest where"):
        condition = to_expr(line.items[0])
        (foot,) = [x for x in symbols_of([condition]) if x.name.startswith("sigma")]
        told[foot] = brentq(lambda s, f=condition, x=foot: evaluate([f], values | {x: s})[0], -1, 1)
    return told


def written_out(found, rows) -> list:
    """Rows with the named quantities of a page put in."""
    known: dict = {}
    for name, reading in found.quantities:
        (known[symbol(name)],) = substitute([to_expr(reading)], known)
    return substitute(rows, known)


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "kane"])
def test_a_slipping_mode_is_what_a_run_does(formalism):
    mechanism = tilted()
    run = liaison.simulate(mechanism, until=0.02, series=("contacts", "accelerations"))
    assert run["modes.floor: sliding"][1] == 2
    found = readable(mechanism, formalism, modes=SLIPS)
    told = solved(found, mechanism, run, 1)
    for name in ("P.x''", "P.z''", "P.lean''"):
        assert told[name] == pytest.approx(run[name][1], rel=1e-9), name
    assert told["f1"] == pytest.approx(run["contacts.floor"][1], rel=1e-9)
    assert run["contacts.floor: sliding x"][1] == pytest.approx(-0.3 * told["f1"], rel=1e-9)


def test_a_sticking_mode_is_what_a_run_does():
    mechanism = tilted(", restitution = 0")
    rest = liaison.simulate(
        mechanism, until=0.01, start={"P.x'": 0.0}, parameters={"mu": 2.0},
        series=("contacts", "accelerations"),
    )  # fmt: skip
    assert rest["modes.floor: sliding"][1] == 1
    found = readable(mechanism, modes={"floor": "closed"})
    assert found.mode == "floor closed, floor: sliding sticks"
    told = solved(found, liaison.with_values(mechanism, {"mu": 2.0}), rest, 1)
    assert told["f1"] == pytest.approx(rest["contacts.floor"][1], rel=1e-9)
    assert told["f2"] == pytest.approx(rest["contacts.floor: sliding x"][1], rel=1e-9)
    assert told["P.lean''"] == pytest.approx(rest["P.lean''"][1], rel=1e-9)


def test_the_page_of_all_modes():
    text = as_unicode(readable(tilted(", restitution = 0.5")))
    for line in (
        "P.x:    2 P.x'' = f₂",
        "P.z:    2 P.z'' + 2 g = f₁",
        "floor:          d₁ = P.z − 0.05 cos(P.lean) ≥ 0 ⟂ f₁ ≥ 0",
        "d₁' = P.z' + 0.05 sin(P.lean) P.lean'",
        "restitution: ½",
        "floor: sliding: u₂ = P.x' + 0.05 cos(P.lean) P.lean'",
        "sticks: u₂ = 0, |f₂| ≤ μ f₁",
        "slips: f₂ = −μ f₁ sign(u₂)",
    ):
        assert line in text
    assert "First integrals" not in text  # the floor pushes now and then


def test_every_formalism_prints_the_same_block():
    told = {
        name: as_unicode(readable(tilted(), name)).partition("What holds")[2].partition("\n\n")[0]
        for name in FORMALISMS
        if name not in ("maximal", "lie_group")  # other coordinates
    }
    assert len(set(told.values())) == 1, told


def test_relations_of_rates_are_told_as_their_author_wrote_them():
    text = as_unicode(readable("examples/chaplygin_unilateral.lsd"))
    assert "blade: sin(S.angle) S.x' − cos(S.angle) S.y' ≤ 0 ⟂ μ₁ ≤ 0" in text
    assert "= 2 sin(S.angle) μ₁ " in text
    assert "= −2 cos(S.angle) μ₁ " in text
    held = as_unicode(readable("examples/chaplygin_unilateral.lsd", modes={"blade": "closed"}))
    assert "blade: closed while: μ₁ ≤ 0" in held
    free = as_unicode(readable("examples/chaplygin_unilateral.lsd", modes={}))
    assert "μ₁" not in free.partition("Equations of motion")[2]


BALL = """
gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 1 kg, inertia = 1 g*m^2 end ;
let F = join earth and ball with link(x, y, z)
  dof1 = [x, 0, 0], dof2 = [0, y, 0], dof3 = [0, 0, z] end ;
let floor = contact ball and earth with point friction = 0.4{more} end ;
"""


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("", ["√(f₂² + f₃²) ≤ 0.4 f₁", "f₂ = −0.4 f₁ u₂/√(u₂² + u₃²)"]),
        (", static = 0.5", ["√(f₂² + f₃²) ≤ ½ f₁", "f₃ = −0.4 f₁ u₃/√(u₂² + u₃²)"]),
        (", viscous = 3 N*s/m", ["f₂ = −0.4 f₁ u₂/√(u₂² + u₃²) − 3 u₂"]),
        (", across = 0.2", ["√(f₂² + 4 f₃²) ≤ 0.4 f₁", "f₃ = −0.04 f₁ u₃/√("]),
    ],
)
def test_two_directions_and_other_coefficients(more, wanted):
    text = as_unicode(readable(BALL.format(more=more)))
    for line in wanted:
        assert line in text, text


def test_smooth_laws_say_what_they_are():
    told = as_unicode(readable(BALL.format(more=", regularized = 1 cm/s")))
    assert "sticks" not in told
    assert "√(u₂² + u₃² + 0.0001)" in told
    told = as_unicode(readable(BALL.format(more=", static = 0.5, stribeck = 1 cm/s")))
    assert "exp(" in told


def test_other_forms_carry_the_block():
    found = readable(tilted())
    assert r"d_{1} &= P_{z} - 0.05\,\cos P_{\mathrm{lean}} \ge 0 \perp f_{1} \ge 0" in as_latex(
        found
    )
    page = as_html(found)
    assert "Unilateral constraints" in page
    assert "<mo>⟂</mo>" in page
    cells = json.loads(as_notebook(found))["cells"]
    assert any("Unilateral constraints" in "".join(x["source"]) for x in cells)
    sympy = pytest.importorskip("sympy")
    names: dict = {}
    exec(as_sympy(readable(tilted(), modes=SLIPS)), names)
    assert names["one_sided"]["floor"] == [
        ("closed while", [sympy.Symbol("f1", real=True), "≥", 0])
    ]
    assert len(names["equations"]) == 4


def test_names_of_the_mechanism_are_not_taken_twice():
    text = TILTED.format(more="").replace("parameter mu", "parameter f1 = 1 ; parameter mu")
    assert "μ R₁" in as_unicode(readable(text))


@pytest.mark.parametrize(
    ("modes", "error", "said"),
    [
        ({"flor": "closed"}, NamingError, "'flor'.*floor"),
        ({"floor": "slips"}, NamingError, "mode of 'floor'.*slips"),
        ({"floor": "open", "floor: sliding": "slips"}, DerivationError,
         "slips only where 'floor' is closed"),
    ],
)  # fmt: skip
def test_modes_that_cannot_be_are_refused(modes, error, said):
    with pytest.raises(error, match=said):
        readable(tilted(), modes=modes)


def test_friction_that_is_named_closes_its_contact():
    found = readable(tilted(), modes={"floor: sliding": "slips"})
    assert found.mode == "floor closed, floor: sliding slips"


@pytest.mark.parametrize("file", ["box_on_hills", "marble_in_bowl", "two_balls"])
def test_long_rates_of_contacts_are_told_in_words(examples, file):
    text = as_unicode(readable(examples / "contact" / f"{file}.lsd", "newton_euler"))
    assert "u₂ = e₂ V_rel" in text
    assert "V_rel is the velocity of the point that touches" in text
    assert "select" not in text
    assert max(map(len, text.splitlines())) < 1000


def test_gaps_of_balls_are_short_and_say_once_what_they_leave_out(examples):
    text = as_unicode(readable(examples / "contact/marble_in_bowl.lsd"))
    assert "bowl:          d₁ = 0.2 − √(F.x² + F.y² + F.z²) ≥ 0 ⟂ f₁ ≥ 0" in text
    assert text.count("1e-12") == 1


INCLINE = """
name = "incline" ;
parameter m = 2 kg ; parameter r = 10 cm ; parameter alpha = 20 deg ; parameter f = 0.1 ;
parameter g = 9.81 m/s^2 ;
gravity = [g*sin(alpha), 0 m/s^2, -g*cos(alpha)] ;
let one = body mass = m, inertia = INERTIA end ;
let P = join earth and one with link(x, z, turn)
  dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = turn || [0, 1, 0] end ;
let floor = contact one and earth with KIND friction = f end ;
"""
CYLINDER = INCLINE.replace("INERTIA", "m*r^2/2").replace(
    "KIND", "disc axis = [0, 1, 0], radius = r,"
)
SPHERE = INCLINE.replace("INERTIA", "2/5*m*r^2").replace("KIND", "ball radius = r,")
BLOCK = INCLINE.replace("INERTIA", "1 g*m^2").replace("KIND", "point")
STICKS = {"floor": "closed", "floor: sliding": "sticks"}


@pytest.mark.parametrize(
    ("text", "modes", "lines"),
    [
        # m ẍ = m g sin α − f N sgn u, ½ m r² θ̈ = r f N sgn u, N = m g cos α
        (CYLINDER, SLIPS, ["m P.x'' − m sin(α) g = −f sign(u₂) f₁",
                           "m P.z'' + m cos(α) g = f₁",
                           "m r P.turn'' = 2 f sign(u₂) f₁",
                           "floor:  P.z'' = 0",
                           "u₂ = P.x' − r P.turn'",
                           "slips while: |u₂| > 0"]),
        # rolling: ẍ = r θ̈, T ≤ f N, from which |tan α| ≤ 3 f
        (CYLINDER, STICKS, ["m P.x'' − m sin(α) g = f₂",
                            "m r P.turn'' = −2 f₂",
                            "P.x'' − r P.turn'' = 0",
                            "sticks while: |f₂| ≤ f f₁"]),
        (SPHERE, STICKS, ["2 m r P.turn'' = −5 f₂", "P.x'' − r P.turn'' = 0"]),
        (BLOCK, SLIPS, ["P.x:    m P.x'' − m sin(α) g = −f sign(u₂) f₁", "u₂ = P.x'"]),
        (BLOCK, STICKS, ["P.x:              m P.x'' − m sin(α) g = f₂",
                         "floor: sliding x: P.x'' = 0"]),
        (SPHERE, None, ["d₁ = P.z − r ≥ 0 ⟂ f₁ ≥ 0", "d₁' = P.z'",
                        "sticks: u₂ = 0, |f₂| ≤ f f₁", "slips: f₂ = −f f₁ sign(u₂)"]),
    ],
)  # fmt: skip
def test_bodies_on_an_incline_are_as_by_hand(text, modes, lines):
    told = as_unicode(readable(text, modes=modes))
    for line in lines:
        assert line in told, told


def test_the_cylinder_on_an_incline_in_latex():
    told = as_latex(readable(CYLINDER, modes=SLIPS))
    for line in (
        r"m\,\ddot{P}_{x} - m\,\sin \alpha\,g &= -f\,\operatorname{sgn} u_{2}\,f_{1}",
        r"m\,r\,\ddot{P}_{\mathrm{turn}} &= 2\,f\,\operatorname{sgn} u_{2}\,f_{1}",
        r"\ddot{P}_{z} &= 0",
        r"u_{2} &= \dot{P}_{x} - r\,\dot{P}_{\mathrm{turn}}",
        r"\text{slips while: } \left|u_{2}\right| &> 0",
    ):
        assert line in told, told


def test_the_page_of_a_ball_on_a_track_is_what_a_run_does(examples):
    """The parameter of the nearest point by its condition on the page, then the equations."""
    mechanism = liaison.read(examples / "contact/cosine_track.lsd")
    run = liaison.simulate(mechanism, until=0.2, series=("contacts", "accelerations"))
    found = readable(mechanism, "newton_euler", modes={"track": "closed"})
    assert found.mode == "track closed, track: sliding sticks"
    assert "σ" in as_unicode(found)
    told = solved(found, mechanism, run, len(run.t) - 1)
    for name in ("F.x''", "F.z''", "F.turn''"):
        assert told[name] == pytest.approx(run[name][-1], rel=1e-8), name
    assert told["f1"] == pytest.approx(run["contacts.track"][-1], rel=1e-8)
    assert told["f2"] == pytest.approx(run["contacts.track: sliding x"][-1], rel=1e-8)


def test_the_page_of_a_marble_by_directions_of_forces_is_what_a_run_does(examples):
    mechanism = liaison.read(examples / "contact/marble_in_bowl.lsd")
    run = liaison.simulate(mechanism, until=0.2, series=("contacts", "accelerations"))
    found = readable(mechanism, "newton_euler", modes={"bowl": "closed"})
    assert {"e1.x", "e2.x", "e3.z"} <= {name for name, _ in found.quantities}
    told = solved(found, mechanism, run, len(run.t) - 1)
    for name in ("F.wx'", "F.wy'", "F.vx'", "F.vz'"):
        assert told[name] == pytest.approx(run[name][-1], rel=1e-8, abs=1e-10), name
    assert told["f1"] == pytest.approx(run["contacts.bowl"][-1], rel=1e-8)


@pytest.mark.parametrize("file", ["box_over_edge", "two_balls", "marble_in_bowl"])
def test_directions_of_forces_have_names_of_their_own(examples, file):
    found = readable(examples / f"contact/{file}.lsd", "newton_euler")
    names = [name for name, _ in found.quantities]
    assert any(name.startswith("e") for name in names)
    assert len(set(names)) == len(names)
    numbers = {name.partition(".")[0] for name in names if name.startswith("e")}
    assert numbers <= {f"e{k + 1}" for k in range(len(found.labels["force"]) + 2)}
