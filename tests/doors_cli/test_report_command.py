"""`liaison report`: files, options, numbers as JSON, inputs that are formulas, wrong options."""

import json

import pytest

WHEEL = """name = "wheel" ;
input push = 0 N*m ;
let wheel = body mass = 1 kg, inertia = [1, 2, 1] kg*m^2 end ;
let A = join earth and wheel with revolute axis = [0, 1, 0] end ;
let motor = apply motor torque = push end on A ;
"""


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wheel.lsd"
    path.write_text(WHEEL, encoding="utf-8")
    return path


def test_it_writes_a_page_beside_and_leaves_sections_out(run, wheel):
    short = ("--until", "0.1", "--leave-out", "equations", "--leave-out", "mobility")
    status, out, err = run("report", wheel, *short, "--title", "The wheel", "--author", "me, today")
    assert status == 0, err
    assert "wheel.report.html" in out
    html = (wheel.parent / "wheel.report.html").read_text(encoding="utf-8")
    assert "<h1>The wheel</h1>" in html
    assert "me, today" in html
    assert 'id="reactions"' in html
    assert 'id="equations"' not in html


def test_json_has_the_numbers_and_inputs_may_be_formulas(run, wheel):
    words = ("--set", "push=4 N*m * t/(1 s)", "--every", "0.1", "--leave-out", "equations")
    status, out, err = run("report", wheel, "--until", "1", "--json", *words)
    assert status == 0, err
    facts = json.loads(out)
    assert facts["drives"]["motor"]["effort"] == pytest.approx(4)
    assert facts["drives"]["motor"]["power"] == pytest.approx(4 * 1.0)  # ω = t² rad/s
    assert facts["versions"]["versions"]["file"] == "wheel.lsd"
    assert list(wheel.parent.iterdir()) == [wheel]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--leave-out", "plots"), "section"),
        (("--out", "x.doc"), ".html"),
        (("--pdf", "no/folder/x.pdf"), "no folder"),
        (("--until", "-1"), "not a time after 0"),
    ],
)
def test_wrong_options_are_rejected_before_anything_runs(run, wheel, words, message):
    status, _, err = run("report", wheel, *words)
    assert status == 2
    assert message in err
    assert list(wheel.parent.iterdir()) == [wheel]
