"""What somebody new to it gets wrong with a robot: each is said in words, or noted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import liaison as li
from doors.test_write_cli import run
from liaison.errors import LiaisonError, SimulationError

LEG = """<robot name="leg"><link name="base"/>
<link name="thigh"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="foot"><inertial><mass value="0.2"/>
<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.1 0.04"/></geometry></collision></link>
<joint name="hip" type="revolute"><parent link="base"/><child link="thigh"/>
<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="9"/></joint>
<joint name="ankle" type="revolute"><parent link="thigh"/><child link="foot"/>
<origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/>
<limit lower="0" upper="1" effort="5" velocity="9"/></joint></robot>"""


def leg(old: str = "", new: str = "", **options: Any) -> Any:
    assert old in LEG
    return li.reading(LEG.replace(old, new, 1) if old else LEG, **options)


def driven(**options: Any) -> Any:
    return leg(motors="torque", **options).mechanism


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: leg('xyz="0 0 -0.2"', 'xyz="0,0,-0.2"'), "has 1 number; it takes 3.*by blanks"),
    (lambda: leg(motors="pos"), "did you mean 'position'"),
    (lambda: leg(package_root="/none"), "package_root is '/none', which is no folder"),
    (lambda: leg('lower="-1" upper="1"', 'lower="1" upper="-1"', limits=True), "Exchange them"),
    (lambda: li.simulate(driven(), until=1, start={"ankle": "90 deg"}), "by 0.571 rad.*radians"),
    (lambda: li.simulate(driven(), until=1, inputs={"hip.effort": abs}), "is of liaison.t"),
    (lambda: li.lqr(driven(), state_cost={"hip": -1}), "must be not negative; that of 'hip' is -1"),
    (lambda: li.lqr(driven(), state_cost={"hop": 1}), "no state in state_cost is named 'hop'"),
    (lambda: li.lqr(driven()), "'ankle lower stop'.*limits=False"),
    (lambda: li.pid("hip", target=1, stiffness=-2), "stiffness of pid .* must not be negative"),
    (lambda: li.pid("hip", target=1, kp=2), "did you mean 'stiffness'"),
    (lambda: li.plot(None, logx=True), "did you mean 'logy'"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_mistakes_are_said_in_words(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(LiaisonError, match=f"(?s){words}"):
        call()


def test_sizes_in_millimetres_are_noted() -> None:
    notes = leg('size="0.2 0.1 0.04"', 'size="200 100 40"', ground=True).notes
    assert any("'foot' is 200 m large" in x and "may be in mm" in x for x in notes)
    assert not any("large" in x for x in leg(ground=True).notes)


def test_a_mesh_that_is_not_there_and_a_transmission_without_joint_are_named() -> None:
    mesh = "<collision><geometry><mesh filename='none.stl'/></geometry></collision></link>"
    notes = leg("</link>\n<joint", f"{mesh}\n<joint", ground=True).notes
    said = "link 'foot': there is no mesh 'none.stl' that may be opened: "
    assert any(x.startswith(said) and "is no file (line " in x for x in notes)
    notes = leg("</robot>", "<transmission name='t'/></robot>", motors="torque").notes
    assert any("<transmission name='t'> names no joint" in x for x in notes)


def test_an_input_that_is_refused_changes_nothing() -> None:
    one = li.stepper(driven(limits=False), step="1 ms")
    with pytest.raises(SimulationError, match=r"input 'hip\.effort' is nan"):
        one.step({"hip.effort": float("nan")}, 0.01)
    assert abs(one.step(None, 0.01).q).max() < 1


def test_stops_of_angles_are_in_radians() -> None:
    result = li.simulate(driven(), until=0.01, inputs={"ankle.effort": -1.0})
    units = {x: result.series[x].unit[0] for x in ("contacts", "slips", "gaps")}
    assert units == {"contacts": "N*m", "slips": "rad/s", "gaps": "rad"}


def test_inputs_of_motors_that_were_not_asked_for(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "leg.urdf").write_text(LEG)
    _, _, text = run(capsys, "simulate", tmp_path / "leg.urdf", "--set", "hip.target=1")
    assert "--motors position" in text


def test_report_and_format_take_options_of_robots(tmp_path: Path, capsys: Any) -> None:
    file, out = tmp_path / "leg.urdf", tmp_path / "leg.lsd"
    file.write_text(LEG)
    status, _, _ = run(capsys, "format", file, "--ground", "--motors", "position", "--out", out)
    assert status == 0
    assert len(li.read(out).contacts) == 5
    report = tmp_path / "leg.html"
    leave = [
        x for y in ("equations", "mobility", "reactions", "picture") for x in ("--leave-out", y)
    ]
    status, _, _ = run(capsys, "report", file, "--motors", "position", "--until", "0.01", *leave,
                       "--out", report)  # fmt: skip
    assert status == 0
    assert "hip.target" in report.read_text()


def test_a_unit_behind_a_function_is_said_how_to_write() -> None:
    text = "let b = body mass = 1 kg end ; let F = join earth and b with free end ;"
    with pytest.raises(LiaisonError, match=r"write \(…\) cm or 1 cm \* …"):
        li.read(text + " start F = [3*sin(50 deg) cm, 0, 0] ;")
