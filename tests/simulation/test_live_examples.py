"""Every example as a module that simulates: which run, which cannot and why, and their bits."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from test_live import in_node, is_same

from liaison.errors import LiaisonError
from liaison.program.llvm.to_llvm import to_llvm
from liaison.simulation.live.module import live_module
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.run import simulate
from liaison.verbs.ready import ready_for

UNTIL = 0.5
REJECTED = {"pile.lsd": "pairs that a scene finds", "shaky_6r.lsd": "cannot move"}
"""Examples that do not run in a module, and the words that say so."""

LEAST, LARGEST = 80, {"four_bar.lsd": 13_100, "stewart.lsd": 100_000}
CONTACTS, CONTACT_SIZE = 12, 60_000
"""Examples that run at least, and those with contacts; compressed bytes at most."""


def prepared(path):
    """Module and run here of one example; the words of its error otherwise."""
    try:
        kernel, state = ready_for(path, None, None, None)
        portable = to_llvm(kernel.program, portable=True)
        module = live_module(portable, state, UNTIL, settings_of())
    except LiaisonError as error:
        return str(error)
    run = simulate(portable, state, UNTIL, series=(), watch=False, on_failure="return")
    return module, run, bool(kernel.program.facts.get("sides"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_examples_run_in_modules_bit_for_bit(node, tmp_path, examples, record_property):
    paths = sorted(x for x in examples.rglob("*.lsd") if not {"cases", "many"} & {*x.parts})
    cases = {str(x.relative_to(examples)): prepared(x) for x in paths}
    rejected = {name: x for name, x in cases.items() if isinstance(x, str)}
    assert {*rejected} == {*REJECTED}
    assert all(words in rejected[name] for name, words in REJECTED.items())
    ran = {name: x for name, x in cases.items() if not isinstance(x, str)}
    jobs = []
    for k, (module, _, _) in enumerate(ran.values()):
        (tmp_path / f"{k}.wasm").write_bytes(module)
        jobs.append({"module": str(tmp_path / f"{k}.wasm"), "runs": [{}]})
    answers = dict(zip(ran, in_node(node, tmp_path, jobs), strict=True))
    assert len(ran) >= LEAST
    assert sum(x[2] for x in ran.values()) >= CONTACTS
    other = [name for name, (_, run, _) in ran.items() if not is_same(answers[name][0], run)]
    assert not other
    sizes = {name: len(gzip.compress(x[0], 9)) for name, x in ran.items()}
    record_property("median size [B]", float(np.median([*sizes.values()])))
    assert all(sizes[name] <= most for name, most in LARGEST.items())
    assert all(sizes[name] <= CONTACT_SIZE for name, x in ran.items() if x[2])
