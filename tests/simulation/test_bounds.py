"""Every array of a run ends where its loops end: as plain Python they stop at an index too many."""

import numpy as np
import pytest

from liaison.contacts.events.switching import march
from liaison.formats import read
from liaison.simulation import Run, Settings
from liaison.verbs.ready import ready_for

FREE = """
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 2 kg, inertia = [1, 2, 2.5] kg*m^2 end ;
let F = join earth and b with free end ;
event low when F.z + 1 mm crossing record ;
"""
FIXED = (
    "rk4", "rattle", "rattle4", "gauss4", "gauss6", "generalized-alpha", "moreau"
)  # fmt: skip
ADAPTIVE = ("tsitouras", "dormand-prince", "radau")
SIDES = ("stops", "stick_slip", "loop", "skis", "backlash", "box_over_edge")


def both(kernel, state, method, **more):
    """The run in machine code and as plain Python."""
    fixed = {"step": 0.005} if method in FIXED else {}
    settings = Settings(method=method, **fixed, **more)
    runs = [Run(kernel, state, 0.015, settings, is_compiled=x) for x in (True, False)]
    return [run.finish(series=()) for run in runs]


@pytest.fixture(scope="module")
def ready(examples):
    """Kernel and state of a model, or of a text."""
    made = {}

    def of(model):
        if model not in made:
            text = FREE if model == "free" else read(examples / f"{model}.lsd")
            made[model] = ready_for(read(text) if model == "free" else text, None, None, None)
        return made[model]

    return of


@pytest.mark.parametrize("method", [*FIXED, *ADAPTIVE])
@pytest.mark.parametrize("model", ["free", "four_bar"])
def test_steps_stay_within_their_arrays(ready, model, method):
    compiled, plain = both(*ready(model), method)
    assert compiled.q.tobytes() == plain.q.tobytes()
    assert compiled.v.tobytes() == plain.v.tobytes()


@pytest.mark.parametrize("model", [f"contact/{name}" for name in SIDES])
@pytest.mark.parametrize("method", ["moreau", "tsitouras"])
def test_contacts_stay_within_their_arrays(ready, model, method):
    compiled, plain = both(*ready(model), method)
    assert compiled.q.tobytes() == plain.q.tobytes()
    assert np.isfinite(plain.v).all()


def test_polygons_of_friction_stay_within_their_arrays(ready):
    compiled, plain = both(*ready("contact/box_over_edge"), "moreau", facets=6)
    assert compiled.q.tobytes() == plain.q.tobytes()


@pytest.mark.parametrize(
    "model", [f"contact/{name}" for name in ("stops", "stick_slip", "backlash")]
)
def test_events_of_contacts_as_plain_python(ready, model):
    """The march through modes is plain Python, too, where it is asked for: bit for bit the same."""
    kernel, state = ready(model)
    settings = Settings(rtol=1e-4, atol=1e-6)
    end = Run(kernel, state, 3.0, settings).finish(series=()).events[1].t + 1e-3
    runs = [Run(kernel, state, end, settings, is_compiled=x) for x in (True, False)]
    assert runs[1]._machine._call is march
    compiled, plain = (run.finish(series=()) for run in runs)
    assert len(plain.events) == len(compiled.events) >= 2
    assert compiled.q.tobytes() == plain.q.tobytes()
    assert compiled.v.tobytes() == plain.v.tobytes()
