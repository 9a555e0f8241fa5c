"""The compiled form: written, read back node by node, and evaluated like the equations."""

import json

import numpy as np
import pytest

import liaison
from liaison.cli import main
from liaison.equations.assignments import read_assignments
from liaison.errors import ArgumentError, DerivationError, LiaisonError, TextError

NAMES = ["double_pendulum", "four_bar", "satellite", "quarter_car", "rolling_ball", "stewart"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_back_is_the_same_formula_node_by_node(examples, name):
    form = liaison.assignments(examples / f"{name}.lsd")
    again = read_assignments(str(form))
    assert list(again.formulas) == list(form.formulas)
    assert all(again.formulas[k] is x for k, x in form.formulas.items())
    assert (again.labels, again.values, again.bodies) == (form.labels, form.values, form.bodies)
    assert str(again) == str(form)


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "kane"])
def test_numbers_are_those_of_the_machine_code(examples, formalism):
    """M, h and τ of the file against `mass_matrix` and `bias` at a state, G against `terms`."""
    file = examples / "four_bar.lsd"
    form = read_assignments(str(liaison.assignments(file, formalism)))
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    arrays = form.evaluate(q, v)
    kernel = liaison.to_numpy(liaison.lower(liaison.derive(file)))
    wanted = kernel.call("terms", t=0.0, q=q, v=v)
    # float rounding of a few dozen operations on numbers near 1
    assert np.allclose(arrays["M"], np.reshape(wanted["M"], (3, 3)), rtol=0, atol=1e-14)
    assert np.allclose(arrays["tau"] - arrays["h"], wanted["f"], rtol=0, atol=1e-13)
    assert np.allclose(arrays["gamma"], wanted["gamma"], rtol=0, atol=1e-13)
    assert np.allclose(arrays["G"].ravel(), wanted["G"], rtol=0, atol=1e-14)
    assert np.allclose(arrays["Phi"], wanted["phi"], rtol=0, atol=1e-14)
    assert np.allclose(arrays["mu"], [0.2, 0.5, 0.6])


def test_the_document_s_compiled_form_of_the_satellite(examples):
    """mu_2 := 0, MIg_2 := 0, MOIo_2 := 0, VOT_1 = 0; MOIo_4 = −mu_4 ṽ ṽ with v = (0, 0, z)."""
    text = (examples / "satellite.lsd").read_text(encoding="utf-8")
    printed = text.split("(* ---- Here the printed text ends.")[0]
    form = liaison.assignments(printed)
    lines = str(form).splitlines()
    assert form.bodies == ("satellite", "bras_primaire", "bras_secondeaire", "reflecteur")
    assert 'BODIES := S_1 = "satellite", S_2 = "bras_primaire"' in str(form)
    for name in ("mu_2", "mu_3", "MIg_2_xx", "MIg_4_zz", "MIo_2_xx", "MIo_3_yy", "VG_1_x"):
        assert f"{name} := 0 ;" in lines
    assert None in form.values
    assert len(form.laws) == 3
    values = (400.0, 120.0, 150.0, 100.0, 0.6, 15.0, 1.2)
    again = read_assignments(str(form))
    z, m = values[4], values[5]
    numbers = {k: x for k, x in again.formulas.items() if k.startswith("MIo_4")}
    assert liaison.to_text(numbers["MIo_4_xx"]) == liaison.to_text(numbers["MIo_4_yy"])
    assert np.isclose(value(numbers["MIo_4_xx"], values), m * z * z)


def value(formula, parameters):
    """A formula of parameters at numbers."""
    from liaison.expr import evaluate, symbol

    return evaluate([formula], {symbol(f"p_{k}"): x for k, x in enumerate(parameters, 1)})[0]


def test_the_commands_write_read_and_evaluate(examples, tmp_path, capsys):
    out = tmp_path / "four_bar.assign"
    with pytest.raises(SystemExit) as left:
        main(["derive", str(examples / "four_bar.lsd"), "--assignments", str(out)])
    assert left.value.code == 0
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["evaluate", str(out), "--at", "A=90deg", "--at", "A'=2", "--set", "a=0.2", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert left.value.code == 0
    form = liaison.assignments(out)
    p = [0.2, *[x for x in form.values[1:] if x is not None]]
    wanted = form.evaluate([np.pi / 2, 0, 0], [2.0, 0, 0], p=p)
    assert np.allclose(facts["M"], wanted["M"], rtol=1e-15)
    assert np.allclose(facts["h"], wanted["h"], rtol=1e-15)
    with pytest.raises(SystemExit) as left:
        main(["evaluate", str(out), "--at", "Z=1"])
    assert left.value.code == 2


HEAD = (
    'NAME := "x" ; FORMALISM := "kane" ; N := 1 ; BODIES := S_1 = "b" ; q := q_1 = "A [rad]" ;'
    'v := v_1 = "A\' [rad/s]" ; u := ; p := ; lam := ; VALUES := ; LAWS := ;'
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "M_1_1 := sin(q_2) ;", "did you mean 'q_1'"),
        (HEAD + "M_1_1 := sn(q_1) ;", "did you mean 'sin'"),
        (HEAD + "M_1_1 := sin(q_1, 2) ;", "takes 1 arguments"),
        (HEAD + "M_2_1 := 1 ;", "outside its array"),
        (HEAD + "M_1_1 := 1", "end of an assignment"),
        (HEAD + "M_1_1 := 1 ; M_1_1 := 2 ;", "assigned twice"),
        (HEAD + "M_1_1 := " + "(" * 400 + "1" + ")" * 400 + ";", "brackets"),
        (HEAD + "M_1_1 := __import__(q_1) ;", "__import__"),
        (HEAD + "M_1_1 := 1 $ 2 ;", "no sign"),
        ("M_1_1 := 1 ;", "is not assigned"),
        (HEAD.replace("VALUES := ;", "VALUES := 1 ;"), "VALUES has 1"),
    ],
)
def test_wrong_files_say_where_and_why(text, says):
    with pytest.raises(LiaisonError) as error:
        read_assignments(text)
    assert says in str(error.value)
    assert "line 1" in str(error.value)


def test_what_cannot_be_written_or_evaluated_is_an_error(examples, tmp_path):
    with pytest.raises(DerivationError, match="unilateral"):
        liaison.assignments(examples / "chaplygin_unilateral.lsd")
    form = liaison.assignments(examples / "pendulum.lsd")
    with pytest.raises(ArgumentError, match="it needs 1"):
        form.evaluate([1.0, 2.0], [0.0])
    with pytest.raises(TextError, match="cannot be read"):
        liaison.assignments(tmp_path / "none.assign")
