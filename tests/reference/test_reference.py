"""The reference problems that take under two seconds, in `make test`; the others are slow."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

SLOW = {"block_on_incline"}


def runner():
    spec = importlib.util.spec_from_file_location("reference_run", Path(__file__).parent / "run.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


RUN = runner()


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] * (x in SLOW)) for x in RUN.names()]
)
def test_a_reference_problem_is_met(name):
    failed = [x for x in RUN.outcomes(name) if not x.passes]
    assert not failed, "\n".join(
        f"{x.check}: {x.error:.1e} > {x.tolerance:.0e}, {x.worst}" for x in failed
    )


def test_every_model_has_a_problem(examples):
    import json

    told = [json.loads(p.read_text()) for p in RUN.PROBLEMS.glob("*.json")]
    used = {x.get(key) for x in told for key in ("model", "point")}
    models = {p.name for p in (examples / "reference").glob("*.lsd") if "adams_" not in p.name}
    assert models <= used


def test_the_numbers_of_adams_contradict_themselves():
    """Why its accelerations, and its balls, are held to less than its printed digits."""
    adams = RUN.adams
    table = adams.adams_table()
    y, z = table["Revolute_Case02"]["Acc", 3.0][1:]
    assert abs(y + z) > 2e-4  # the hinge makes them opposite
    ball = table["Spherical_Case01"]
    v, w, place = (np.array(ball[key, 5.0]) for key in ("Vel", "Avel", "Pos"))
    energy = v @ v / 2 + 0.1 * w @ w / 2 + 9.80665 * place[2]
    assert energy < -5e-3  # it began with none
