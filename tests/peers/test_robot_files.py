"""Every robot of example-robot-data: read, written as LSD and as URDF, and read again."""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.errors import LiaisonError
from liaison.expr import collector_paused
from liaison.formats import Reading, read_lsd, reading
from liaison.formats.lsd.write.write import write_lsd
from liaison.formats.urdf.write import write_urdf
from liaison.model import Gravity, Mechanism
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import span

pytestmark = pytest.mark.peers
BROKEN = {"falcon.urdf", "ur3.urdf"}  # a link that is missing, a robot without a name
SAME = 1e-12


def robots() -> list[Path]:
    try:
        found = files("example-robot-data") or ()
    except PackageNotFoundError:
        return []
    return sorted(Path(str(x.locate())) for x in found if x.suffix == ".urdf")


def kernel(mechanism: Mechanism):
    bare = replace(mechanism, constraints=(), forces=(Gravity(),))
    with collector_paused():
        return to_numpy(lower(newton_euler(span(bare))))


def accepted(path: Path) -> Reading:
    if path.name in BROKEN:
        with pytest.raises(LiaisonError, match=rf"{path.name}, line \d+"):
            reading(path, strict=False)
        pytest.skip("broken, and refused with file and line")
    return reading(path, strict=False)


@pytest.mark.parametrize("path", robots(), ids=lambda path: path.name)
def test_a_robot_comes_back_through_lsd(path):
    mechanism = accepted(path).mechanism
    assert read_lsd(write_lsd(mechanism)) == mechanism


@pytest.mark.parametrize("path", robots(), ids=lambda path: path.name)
def test_a_robot_moves_alike_when_written_as_urdf(path):
    found = accepted(path)
    again = reading(write_urdf(found.mechanism, limits=found.limits), strict=False)
    assert again.limits.keys() == found.limits.keys()
    one, other = kernel(found.mechanism), kernel(again.mechanism)
    assert one.program.labels["q"] == other.program.labels["q"]
    rng = np.random.default_rng(0)
    at = {k: rng.uniform(-1, 1, one.program.sizes[f"n{k}"]) for k in "qv"}
    for entry in ("mass_matrix", "bias"):
        a, b = one(entry, **at), other(entry, **at)
        assert np.max(np.abs(a - b), initial=0) <= SAME * np.max(np.abs(a), initial=1e-300)
