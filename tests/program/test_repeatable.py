"""The same bits in every call and every process; scalar and batch agree; memory stays bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.program import lower, to_llvm
from liaison.tree import span
from samples.chains import chain

HERE = Path(__file__).parent
ENTRIES = ("inverse", "mass_matrix", "forward", "d_forward", "energy")
SCRIPT = """
import hashlib, sys
import numpy as np
from samples.chains import chain
from liaison.equations import newton_euler
from liaison.program import lower, to_llvm
from liaison.tree import span
kernel = to_llvm(lower(newton_euler(span(chain(6, branching=1.5, skew=0.8)))), cache=False)
rng = np.random.default_rng(3)
q, v, x = rng.uniform(-2, 2, (3, 6))
for entry in sys.argv[1:]:
    out = kernel(entry, q=q, v=v, x=x)
    assert out.tobytes() == kernel(entry, q=q, v=v, x=x).tobytes()
    print(entry, hashlib.sha256(out.tobytes()).hexdigest())
"""
HUMANOID = """
import resource
from samples.chains import chain
from liaison.equations import newton_euler
from liaison.program import lower, to_llvm
from liaison.tree import span
kernel = to_llvm(lower(newton_euler(span(chain(38, branching=2.5, skew=0.8)))), cache=False)
kernel.compile("forward", "inverse", "d_forward", "d_inverse")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def run(script, *arguments, **environment):
    paths = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_same_bits_after_a_restart():
    """Other hash seeds, other addresses, no cache: the same results, bit by bit."""
    first, second = (run(SCRIPT, *ENTRIES, PYTHONHASHSEED=seed) for seed in ("1", "77"))
    assert first == second
    assert len(first.splitlines()) == len(ENTRIES)


@pytest.mark.parametrize("entry", ["inverse", "mass_matrix", "forward", "energy", "bias"])
def test_scalar_and_batch_agree(entry):
    """To 1e-14 of the largest result: both fuse products and sums, in another order of lanes."""
    kernel = to_llvm(lower(newton_euler(span(chain(7, skew=0.9)))))
    q, v, x = np.random.default_rng(4).uniform(-2, 2, (3, 7, 37))
    many = kernel.batch(entry, q=q, v=v, x=x)
    for k in range(37):
        one = kernel(entry, q=q[:, k], v=v[:, k], x=x[:, k])
        assert np.abs(many[:, k] - one).max() <= 1e-14 * np.abs(one).max()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts kilobytes as Linux does")
def test_a_tree_of_a_humanoids_size_takes_little_memory():
    """38 velocities in branches, with derivatives: under 500 MB, Python and LLVM included."""
    assert float(run(HUMANOID)) < 500
