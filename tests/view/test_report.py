"""Reports: numbers against the run and against formulas, pages that stand alone, bad input."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import liaison
from liaison.display.report.record import SECTIONS
from liaison.errors import ArgumentError, LiaisonError, NamingError
from liaison.view import pdf
from liaison.view.curves import Line, curves
from liaison.view.still import positions, still

M, LENGTH, SPEED, G = 2.0, 0.5, 3.0, 9.81

DRIVEN = f"""name = "driven bar" ;
gravity = [0, 0, -{G}] m/s^2 ;
let bar = body mass = {M} kg, center = [{LENGTH}, 0, 0] m, inertia = [0, 1, 1] * 30 g*m^2 end ;
let A = join earth and bar with revolute axis = [0, -1, 0] end ;
let drive = impose A = {SPEED} rad/s * t ;
"""

MOTOR = """name = "wheel" ;
let wheel = body mass = 1 kg, inertia = [1, 2, 1] kg*m^2 end ;
let A = join earth and wheel with revolute axis = [0, 1, 0] end ;
let push = apply motor torque = 4 N*m end on A ;
"""

OPEN = """name = "cannot close" ;
let a = body mass = 1 kg, inertia = [1, 1, 1] g*m^2 end ;
let b = body mass = 1 kg, inertia = [1, 1, 1] g*m^2 end ;
let A = join earth and a with revolute axis = [0, -1, 0] end ;
let B = join [0.1, 0, 0] m @ a and b with revolute axis = [0, -1, 0] end ;
let C = join [0.1, 0, 0] m @ b and [5, 0, 0] m @ earth with revolute axis = [0, -1, 0] end ;
"""


@pytest.fixture(scope="module")
def four_bar(examples):
    return liaison.report(examples / "four_bar.lsd", until=0.7, every=0.01, author="A. Author")


def test_an_imposed_motion_shows_the_torque_and_power_of_the_textbook():
    """A bar turned steadily: torque m g l cos A, force m (g - l w^2 …) at the pivot."""
    page = liaison.report(DRIVEN, until=1.0, every=0.01, leave_out=["equations", "picture"])
    facts = page.to_dict()
    drive = facts["drives"]["drive"]
    assert drive["effort"] == pytest.approx(M * G * LENGTH, rel=1e-9)
    assert drive["effort_at"] == 0
    assert drive["power"] == pytest.approx(M * G * LENGTH * SPEED, rel=1e-9)
    assert drive["work"] == pytest.approx(M * G * LENGTH * np.sin(SPEED), rel=1e-3)
    # the pivot bears weight and centripetal force: largest where they add up most
    t = np.arange(101) / 100
    inward = M * LENGTH * SPEED**2
    size = np.hypot(inward * np.cos(SPEED * t), M * G - inward * np.sin(SPEED * t))
    assert facts["reactions"]["A"]["force"] == pytest.approx(size.max(), rel=1e-9)
    assert facts["reactions"]["A"]["force_at"] == pytest.approx(t[size.argmax()])


def test_a_motor_shows_its_torque_power_and_work():
    facts = liaison.report(MOTOR, until=2.0, leave_out=["equations", "picture"]).to_dict()
    push = facts["drives"]["push"]
    assert (push["effort"], push["unit"], push["on"]) == (4.0, "N·m", "A")
    assert push["power"] == pytest.approx(4 * 2 * 2.0, rel=1e-9)  # torque times (torque/J) t
    assert push["work"] == pytest.approx(facts["energy"]["T"][1], rel=1e-4)
    assert "effort of push" not in facts["motion"]["columns"]


def test_reactions_are_those_of_a_run_and_what_is_lost_is_named(four_bar, examples):
    run = liaison.simulate(
        examples / "four_bar.lsd", until=0.7, every=0.01, series=("reactions", "poses")
    )
    parts = run.series["reactions"].shown[:, 0]
    size = np.hypot(parts[:, 3], parts[:, 4])
    known = four_bar.to_dict()["reactions"]["A"]
    assert known["force"] == pytest.approx(size.max(), rel=1e-9)
    assert known["force_at"] == run.t[size.argmax()]
    assert known["undetermined"] == ["Mx", "My", "Fz"]
    assert known["moment"] == 0  # rounding is not shown as a moment


def test_remedies_name_joints_by_which_the_redundancy_goes(four_bar):
    (section,) = [x for x in four_bar.sections if x.key == "mobility"]
    (table,) = section.page.tables
    remedies = {row[0]: row[2] for row in table.rows}
    assert remedies == {"A": "Spherical", "B": "Cylindrical", "C": "stays", "D": "stays"}
    assert section.facts["finite"] == [1, 1]


def test_the_document_stands_alone_and_is_well_formed(four_bar):
    html = four_bar.html()
    assert not re.search(r"<script|<link|src=|url\(|@import|https?://(?!www\.w3\.org)", html)
    body = html[html.index("<header>") : html.index("</body>")]
    root = ET.fromstring(f"<x>{body.replace('&nbsp;', ' ')}</x>")
    ids = [x.get("id") for x in root.iter("section")]
    assert ids == [x for x in SECTIONS if x != "drives"]  # nothing drives it
    assert {x.get("href") for x in root.iter("a")} == {f"#{x}" for x in ids}
    assert "A. Author" in html
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert "REACTIONS IN THE JOINTS" in str(four_bar)
    json.dumps(four_bar.to_dict(), allow_nan=False)


def test_heads_of_tables_come_again_on_the_next_sheet(four_bar):
    """Browsers repeat a `thead`; numbers are not cut in two at their signs."""
    html = four_bar.html()
    assert html.count("<thead>") > 5
    assert html.count("<thead>") == html.count("<tbody>")
    assert "td.n { white-space: nowrap; }" in html


def test_names_are_escaped():
    page = liaison.report(
        MOTOR, until=0.1, title="a <b> & c", author="<i>", leave_out=list(SECTIONS)
    )
    assert "a &lt;b&gt; &amp; c" in page.html()
    assert "<i>" not in page.html()


def test_a_mechanism_that_cannot_be_assembled_gets_a_page_that_says_so():
    page = liaison.report(OPEN, until=1.0)
    assert [x.key for x in page.sections] == ["mechanism", "equations", "versions"]
    (problem,) = page.problems
    assert "motion, degrees of freedom" in problem
    assert "cannot be assembled" in problem
    assert "cannot be assembled" in page.html()


def test_a_parameter_without_value_is_named():
    text = MOTOR.replace("mass = 1 kg", "mass = m").replace("let A", "parameter m in kg ;\nlet A")
    page = liaison.report(text, leave_out=["equations"])
    assert "'m' [kg] has no value" in page.problems[0]
    assert [x.key for x in page.sections] == ["mechanism", "mobility", "versions"]


def test_a_run_that_fails_is_reported_as_far_as_it_came():
    text = MOTOR.replace("4 N*m", "1 N*m / (1 - t/(1 s))")
    page = liaison.report(text, until=2.0, leave_out=["equations", "mobility"])
    assert page.problems
    assert "motion" in page.problems[0]
    (section,) = [x for x in page.sections if x.key == "motion"]
    assert section.facts["status"] != "done"
    assert section.facts["columns"]["A"]["max"] > 0


def test_what_does_not_move_is_drawn_once(examples):
    run = liaison.simulate(DRIVEN.replace(f"{SPEED} rad/s * t", "0.3 rad"), until=1, every=0.1)
    assert positions(run) == [0]


def test_positions_are_far_from_each_other(examples):
    run = liaison.simulate(DRIVEN, until=2 * np.pi / SPEED, every=2 * np.pi / SPEED / 100)
    turns = np.sort(run["A"][positions(run, 4)])
    assert np.diff(turns) == pytest.approx(np.full(3, np.pi / 2), abs=0.4)


def test_the_picture_holds_every_face_and_name():
    mechanism = liaison.read(DRIVEN)
    run = liaison.simulate(mechanism, until=1, every=0.1)
    root = ET.fromstring(still(run, mechanism, (0, 5)))
    _, _, wide, high = map(float, root.get("viewBox").split())
    for polygon in root.iter("polygon"):
        points = np.array([x.split(",") for x in polygon.get("points").split()], dtype=float)
        assert np.all(points >= 0)
        assert np.all(points <= (wide, high))
    assert [x.text for x in root.iter("text")] == ["bar"]
    assert [g.get("opacity") for g in root.findall("g")] == ["0.28", None]


def test_curves_break_where_values_are_missing_and_keep_extremes():
    t = np.linspace(0, 1, 5000)
    y = np.where(np.abs(t - 0.5) < 0.01, np.nan, np.sin(40 * t))
    y[1234] = 7.0
    root = ET.fromstring(curves([Line("y", t, y)], "value", "m"))
    (path,) = [x.get("d") for x in root.iter("path") if x.get("d").count("L") > 50]
    assert path.count("M") == 2
    heights = [float(x.split(" ")[1]) for x in re.split("[ML]", path)[1:]]
    assert sum(x < 100 for x in heights) == 1  # the peak alone
    assert curves([Line("y", t, np.full(5000, np.nan))], "value", "m") == ""


def test_wrong_sections_and_files_are_rejected(tmp_path):
    with pytest.raises(NamingError, match="mobility"):
        liaison.report(MOTOR, leave_out=["mobilty"])
    with pytest.raises(ArgumentError, match=r"\.html or \.pdf"):
        liaison.report(MOTOR, tmp_path / "x.doc")


def test_without_chromium_the_error_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv(pdf.VARIABLE, "no-such-program")
    with pytest.raises(LiaisonError, match=r"none in the search path(.|\n)*Install it"):
        pdf.to_pdf("<p>x</p>", tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_pdf_is_printed(chromium, tmp_path):
    liaison.report(MOTOR, tmp_path / "wheel.pdf", until=0.5, leave_out=["equations"])
    assert (tmp_path / "wheel.pdf").read_bytes().startswith(b"%PDF")


def test_labels_of_an_axis_differ_where_a_curve_changes_little():
    t = np.linspace(0, 1, 11)
    for change, most in ((2e-5, 12), (2e-9, 6)):
        text = curves([Line("S", t, 1.87939 + change * t)], "length", "m")
        labels = re.findall(r'text-anchor="end">([^<]*)<', text)
        assert len(set(labels)) == len(labels) >= 3
        assert max(map(len, labels)) <= most
