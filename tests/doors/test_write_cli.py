"""`liaison format` and what `liaison check --explain` says of a text."""

import json
from pathlib import Path

import pytest

from liaison import cli
from liaison.formats import read

EXAMPLES = Path(__file__).parents[2] / "examples"
BARE = """
let bar = body center = [0, 0, ?s] end ;
let point = body mass = 0, inertia = 0 end ;
let plate = body mass = 2 kg, shape = box([1, 1, 0.1] m) end ;
join earth and bar with revolute end ;
join bar and point with link(x) dof = [x, 0, 0], force = [?fs(x), 0, 0] end ;
join bar and plate with fixed end ;
apply damper coefficient = 1 N*s/m end on bar_point ;
"""


def run(capsys, *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        cli.main([str(word) for word in words])
    said = capsys.readouterr()
    return int(left.value.code or 0), said.out, said.err


@pytest.fixture
def bare(tmp_path) -> Path:
    path = tmp_path / "bare.lsd"
    path.write_text(BARE)
    return path


def test_format_prints_what_reads_back(capsys, tmp_path):
    status, text, _ = run(capsys, "format", EXAMPLES / "four_bar.lsd")
    assert status == 0
    written = tmp_path / "again.lsd"
    written.write_text(text)
    assert read(written) == read(EXAMPLES / "four_bar.lsd")


def test_format_is_idempotent(capsys, tmp_path):
    out = tmp_path / "out.lsd"
    assert run(capsys, "format", EXAMPLES / "satellite.lsd", "--out", out)[0] == 0
    first = out.read_text()
    assert run(capsys, "format", out, "--check")[0] == 0
    assert run(capsys, "format", out, "--out", out)[0] == 0
    assert out.read_text() == first


def test_check_says_that_a_file_is_not_canonical(capsys):
    status, said, _ = run(capsys, "format", EXAMPLES / "pendulum.lsd", "--check", "--json")
    assert (status, json.loads(said)["canonical"]) == (1, False)


def test_a_robot_is_written_as_lsd(capsys, tmp_path):
    status, text, _ = run(capsys, "format", EXAMPLES / "arm7.urdf")
    assert status == 0
    assert "let base = body" in text


def test_explain_tells_declared_from_deduced(capsys, bare):
    _, said, _ = run(capsys, "check", bare, "--explain")
    for line in (
        "unknown   mass = bar.mass: an unknown number",
        "declared  center = [0, 0, bar.center.z] m",
        "declared  mass = 0",
        "deduced   inertia about its origin = 0: it has no mass, wherever its centre is",
        "deduced   center = [0, 0, 0]: the shapes', evenly filled",
        "joint 'ground_bar': Revolute, coordinates ground_bar; named after its bodies; "
        "the ground is its predecessor",
        "damper 'damper_on_bar_point': named by its place",
        "unknown 'bar.center.z' [m]: named by its place; no value yet",
        "unknown law 'bar_point.force.x': named by its place",
        "gravity: not said, none acts",
    ):
        assert line in said, f"{line!r} is not in\n{said}"


def test_explain_in_json(capsys, bare):
    facts = json.loads(run(capsys, "check", bare, "--explain", "--json")[1])
    assert "body 'bar'" in facts["assignments"]
    assert facts["notes"] == []


def test_options_of_robots_are_refused_for_lsd(capsys, bare):
    assert run(capsys, "check", bare, "--lenient")[0] == 2
