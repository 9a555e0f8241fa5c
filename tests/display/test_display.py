"""Results show themselves: a short line, a page of text, well-formed HTML, SymPy."""

from html.parser import HTMLParser

import numpy as np
import pytest

import liaison
from liaison.display import PAGES, page_of
from liaison.display.html import to_html
from liaison.display.page import Page, Table, to_text

VOID = {"meta", "br", "hr"}


class Balanced(HTMLParser):
    """Raises an error where a tag does not close the last one that was opened."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass


@pytest.fixture(scope="module")
def shown(examples):
    """One object of every class that is shown."""
    four_bar = liaison.read(examples / "four_bar.lsd")
    pendulum = liaison.read(examples / "pendulum.lsd")
    run = liaison.simulate(pendulum, until=1, every=0.05, series=("accelerations",))
    equations = liaison.derive(pendulum, "lagrange")
    return {
        "Mechanism": four_bar,
        "Reading": liaison.reading(examples / "arm7.urdf"),
        "Tree": liaison.span(four_bar),
        "Equations": liaison.derive(four_bar, "lagrange"),
        "Readable": liaison.readable(pendulum),
        "Program": liaison.lower(equations),
        "Kernel": liaison.compile(four_bar),
        "Runs": liaison.simulate_batch(pendulum, until=0.2, start={"A": [0.1, 2.0]}),
        "Sensitivities": liaison.sensitivities(pendulum, run),
        "Efforts": liaison.inverse_dynamics(pendulum, run, ["A"]),
        "Linearization": liaison.linearize(pendulum),
        "Equilibrium": liaison.equilibrium(pendulum),
        "Regulator": regulator(),
        "StepDerivatives": liaison.worlds(pendulum, 2, step=1e-3, device="processor").derivatives(),
        "Verification": liaison.verify(pendulum, run),
        "Integrability": liaison.integrability(examples / "rolling_disc.lsd"),
        "FirstIntegral": liaison.first_integrals(pendulum)[0],
        "Reduction": liaison.reduce(four_bar),
        "Mobility": liaison.mobility(four_bar),
        "Report": liaison.report(pendulum, until=0.2, leave_out=["equations", "energy"]),
        "Comparison": liaison.compare(pendulum, timed=False),
        "Summary": liaison.check(four_bar),
        "Trajectory": run,
        **studied(pendulum),
    }


def regulator():
    """Of a rod that stands on its end."""
    rod = liaison.body("rod", mass=1, center=(0, 0, 0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    drive = liaison.signal("drive", "N*m")
    driven = liaison.motor(A, effort=drive)
    return liaison.lqr(liaison.mechanism(A, drive, driven, liaison.gravity()))


def studied(pendulum):
    """Of few runs each."""
    how = {"vary": {"l": "0.5 m .. 2 m"}, "measure": {"last": "final(A)"}, "until": 0.2}
    return {
        "Study": liaison.study(pendulum, **how | {"vary": {"l": [0.5, -1.0]}}),
        "Indices": liaison.sobol_indices(pendulum, **how, count=8),
        "Optimum": liaison.optimize(pendulum, **how, maximize="last"),
    }


def test_every_class_of_the_table_is_tried(shown):
    assert set(PAGES) <= set(shown)


def test_a_result_is_one_short_line(shown):
    for name, result in shown.items():
        line = repr(result)
        assert line.startswith(f"<{type(result).__name__} ")
        assert "\n" not in line, name
        assert len(line) < 200, name
        assert "object at 0x" not in str(result), name
        assert "mappingproxy" not in str(result), name


def test_a_result_is_a_page_of_text(shown):
    for name, result in shown.items():
        text = str(result)
        assert len(text) > 20, name
        assert max(map(len, text.splitlines())) < 400, name
        assert text.splitlines()[0] == page_of(result).title


def test_html_is_well_formed_and_holds_no_script(shown):
    for name, result in shown.items():
        html, parser = result._repr_html_(), Balanced()
        parser.feed(html)
        assert not parser.open, name
        assert "<script" not in html
        assert 'class="liaison"' in html


def test_what_is_shown_is_escaped():
    page = Page("x < y", (("a<b", "<script>"),), (Table(("<i>",), (("<td>",),)),), ("<p>",))
    html = to_html(page)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "x < y" in to_text(page)


def test_a_long_table_is_cut_in_the_middle():
    rows = tuple((str(k), "x") for k in range(1000))
    lines = to_text(Page("many", tables=(Table(("k", "what"), rows),))).splitlines()
    assert len(lines) < 70
    assert "… 940 more" in "".join(lines)


@pytest.mark.parametrize("formalism", ["lagrange", "newton_euler", "kane"])
def test_sympy_has_the_numbers_of_the_kernel(formalism, examples):
    sympy = pytest.importorskip("sympy")
    mechanism = liaison.read(examples / "four_bar.lsd")
    equations = liaison.derive(mechanism, formalism)
    system = equations.sympy()
    state = liaison.assemble(liaison.span(mechanism))
    terms = liaison.compile(mechanism).call("terms", q=state.q, v=state.v)
    values = dict(zip(system.q + system.v, [*state.q, *state.v], strict=True))
    lengths = {x.name: float(x.value) for x in mechanism.parameters}
    free = set().union(*(x.free_symbols for x in (system.M, system.G, system.f)))
    values |= {x: lengths[x.name] for x in free if x.name in lengths}
    M = np.array(system.M.subs(values), dtype=float)
    G = np.array(system.G.subs(values), dtype=float)
    f = sympy.lambdify(list(values), system.f)(*values.values())
    assert np.allclose(M, terms["M"].reshape(3, 3), atol=1e-12)
    assert np.allclose(G, terms["G"].reshape(2, 3), atol=1e-12)
    assert np.allclose(np.ravel(f), terms["f"], atol=1e-11)
    assert len(system.equations) == 5


def test_equations_are_written_by_plain_calls(examples):
    equations = liaison.derive(examples / "pendulum.lsd", "lagrange")
    assert r"\ddot{A}" in equations.latex()
    assert "A''" in equations.text()
    assert equations.html().startswith("<!doctype html>")
    (row,) = liaison.readable(examples / "pendulum.lsd").sympy()
    assert "A''" in {x.name for x in row.free_symbols}


def test_what_was_read_shows_its_notes_and_its_mechanism(examples):
    content = liaison.reading(examples / "arm7.urdf")
    count = len(content.notes)
    assert repr(content).startswith("<Reading ")
    assert f"{count} note" in repr(content)
    assert "\n" not in repr(content)
    text = str(content)
    assert all(note in text for note in content.notes)
    assert all(joint.name in text for joint in content.mechanism.joints)


def test_a_guess_is_not_shown_as_a_start(examples):
    text = (examples / "four_bar.lsd").read_text(encoding="utf-8")
    linkage = liaison.mechanism(liaison.read(text), liaison.guess("C", 1.0))
    facts = dict(page_of(linkage).facts)
    assert "C = 1 rad" in facts["guess"]
    assert "C" not in facts.get("start", "")


def test_lines_of_a_first_integral_are_indented():
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let cart = body mass = 2 kg, inertia = 0 end ;
    let bob = body mass = 1 kg, center = [0, 0, -1] m, inertia = 0 end ;
    let x = join earth and cart with prismatic axis = [1, 0, 0] end ;
    let a = join cart and bob with revolute axis = [0, -1, 0] end ;
    """
    lines = str(liaison.first_integrals(text)[0]).splitlines()
    assert len(lines) > 2
    assert all(line.startswith("  ") and line[2] != " " for line in lines[1:])
