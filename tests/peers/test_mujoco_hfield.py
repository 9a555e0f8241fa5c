"""Height fields of MJCF: the heights, and what rests on them, as MuJoCo has them."""

import struct

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.formats import read_mjcf

mujoco = pytest.importorskip("mujoco")

TEXT = """
<mujoco><asset><hfield name="h" {} size="2 1.5 0.7 0.1"/></asset>
<worldbody><geom type="hfield" hfield="h" pos="0.1 0 0.2" euler="0 0 30"/>
<body name="b" pos="0.35 0.2 1.2"><freejoint/><geom type="{}" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>
"""
HEIGHTS = np.random.default_rng(0).uniform(0.2, 1.1, (4, 5))
WRITTEN = f'nrow="4" ncol="5" elevation="{" ".join(map(str, HEIGHTS.ravel()))}"'


@pytest.mark.parametrize("how", [WRITTEN, 'file="a.bin"', 'nrow="3" ncol="2"'])
def test_mujoco_has_the_same_heights(how, tmp_path):
    data = struct.pack("<ii", 4, 5) + HEIGHTS.astype("<f4").tobytes()
    (tmp_path / "a.bin").write_bytes(data)
    file = tmp_path / "m.xml"
    file.write_text(TEXT.format(how, "sphere"))
    peer = mujoco.MjModel.from_xml_path(str(file))
    (contact,) = read_mjcf(file.read_text(), folder=tmp_path, contacts=True).contacts
    grid = contact.value_of("terrain").grid
    rows, columns = int(peer.hfield_nrow[0]), int(peer.hfield_ncol[0])
    expected = 0.7 * peer.hfield_data.reshape(rows, columns)
    assert grid.heights.shape == (rows, columns)
    assert np.abs(grid.heights - expected).max() < 1e-6  # single precision
    assert (grid.x, grid.y) == (4, 3)


def test_a_ball_touches_where_mujoco_says():
    """Where it first carries, its distance from MuJoCo's field is that of a step."""
    text = TEXT.format(WRITTEN, "sphere").replace("<geom type=\"hfield\"", "<geom margin=\"9\" "
                                                  "type=\"hfield\"")  # fmt: skip
    peer = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(peer)
    one = read_mjcf(TEXT.format(WRITTEN, "sphere"), contacts=True)
    draw, compared = np.random.default_rng(2), 0
    for _ in range(12):
        x, y = draw.uniform(-0.8, 0.8, 2)
        # fall until it touches: the place where it does is on MuJoCo's surface
        names = [str(s) for s in one.joints[0].coordinates]
        start = dict(zip(names, (x, y, 1.5, 1, 0, 0, 0), strict=True))
        run = liaison.simulate(one, until=0.6, start=start, method="moreau", step=1e-3)
        (axis,) = run.series["contacts"].axes.values()
        normal = [k for k, word in enumerate(axis) if "sliding" not in word]
        touched = np.flatnonzero(run["contacts"][:, normal].sum(axis=1) > 0)
        if not len(touched):
            continue
        data.qpos[:] = run.q[touched[0]]
        mujoco.mj_forward(peer, data)
        near = [c.dist for c in data.contact[: data.ncon]]
        assert min(near) == pytest.approx(0, abs=2e-3)
        compared += 1
    assert compared >= 8


@pytest.mark.parametrize(("how", "message"), [
    ('nrow="1" ncol="5"', "two of two or more"),
    ('nrow="2" ncol="2" elevation="1 2 3"', "elevation"),
    ('file="a.bin"', "damaged"),
    ('file="../a.bin"', "outside the folder"),
    ('nrow="4000" ncol="40000"', "at most"),
])  # fmt: skip
def test_fields_that_cannot_be_are_refused(how, message, tmp_path):
    (tmp_path / "a.bin").write_bytes(struct.pack("<ii", 4, 5) + b"1234")
    with pytest.raises(LiaisonError, match=message):
        read_mjcf(TEXT.format(how, "box"), folder=tmp_path, contacts=True)
