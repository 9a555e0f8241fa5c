"""Equations as printed: short exact numbers, the same values, and names for every place."""

import json
import re

import numpy as np
import pytest

import liaison
from liaison.cli import main
from liaison.cli.derive.forms import tidied
from liaison.expr import as_expr, evaluate, symbols_of

SAME = 1e-12
"""Products are taken in another order, and decimals are rounded once more."""

NAMES = ["four_bar", "double_pendulum", "slider_crank", "stewart", "satellite", "belt_drive"]


@pytest.fixture
def printed(capsys, examples):
    def call(name, *words):
        with pytest.raises(SystemExit) as left:
            main(["derive", str(examples / f"{name}.lsd"), *words])
        assert left.value.code == 0
        return capsys.readouterr().out

    return call


def test_numbers_are_printed_as_they_were_written(printed):
    for form in ("text", "latex", "entries"):
        text = printed("double_pendulum", "--format", form)
        assert "0.16" in text
        assert not re.search(r"\d{8}", text)
        assert not re.search(r"[\d.]+\*[\d.]+\*|\d\\\\,\d", text)


@pytest.mark.parametrize("name", ["double_pendulum", "gimbals", "door", "spinning_top"])
@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "maximal"])
def test_zeros_are_left_out(printed, name, formalism):
    text = printed(name, "--formalism", formalism, "--format", "entries")
    assert not re.search(r"= -?0(\.0)?$", text, re.M)


@pytest.mark.parametrize("name", ["door", "belt_drive", "double_pendulum", "quarter_car"])
def test_no_digits_are_left_behind_by_rounding(printed, name):
    for formalism in ("newton_euler", "maximal"):
        text = printed(name, "--formalism", formalism, "--format", "entries")
        assert not re.search(r"\d\.\d*0{6}\d|\d\.\d*9{6}\d", text)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_has_the_value_of_what_is_computed(examples, name):
    mechanism = liaison.read(examples / f"{name}.lsd")
    exact = liaison.derive(mechanism, "lagrange", exact=True).dynamics
    formulas = [as_expr(x) for x in (*exact.M.values(), *exact.h, *exact.tau)]
    draw = np.random.default_rng(5)
    at = {x: draw.uniform(0.3, 1.5) for x in symbols_of(formulas)}
    before, after = (np.array(evaluate(fs, at), float) for fs in (formulas, tidied(formulas)))
    assert after == pytest.approx(before, rel=SAME, abs=SAME * np.abs(before).max())


@pytest.mark.parametrize("form", ["text", "latex", "sympy", "html", "notebook"])
def test_every_form_for_reading_is_written(printed, form, tmp_path):
    path = tmp_path / "equations"
    assert "written" in printed("elliptic_pendulum", "--format", form, "--out", str(path))
    assert "theta" in path.read_text(encoding="utf-8") or "θ" in path.read_text(encoding="utf-8")


def test_what_is_read_comes_as_json_too(printed):
    facts = json.loads(printed("elliptic_pendulum", "--formalism", "lagrange", "--json"))
    assert [x["name"] for x in facts["equations"]] == ["y'", "theta'"]
    assert facts["equations"][1]["right"] == "0"


def test_digits_are_the_readers_choice(printed):
    assert "0.0427467" in printed("double_pendulum")
    assert "0.0427466667" in printed("double_pendulum", "--digits", "9")


def test_numbers_side_by_side_are_told_apart():
    x, y = liaison.symbol("x"), liaison.symbol("y")
    text = liaison.to_latex(0.5 * ((3 * x) ** 2 * y))
    assert not re.search(r"\d\\,\d", text)


def test_c_says_what_stands_where(printed):
    text = printed("four_bar", "--format", "c")
    head = text[: text.index("*/\n#include")]
    for said in (
        "q[0]  A [rad]",
        "v[2]  D' [rad/s]",
        "lam[0]  C",
        "out[0..2]  vdot",
        "out[3..4]  lam",
    ):
        assert said in head
    facts = json.loads(printed("quarter_car", "--format", "c", "--json"))
    assert [x["name"] for x in facts["arrays"]["q"]]
    assert facts["entries"]["forward"]["out"][0] == {"name": "vdot", "from": 0, "size": 3}
