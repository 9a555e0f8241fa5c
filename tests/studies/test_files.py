"""Study files and pictures: read strictly, with places; pages without requests."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.cli import main
from liaison.cli.values import mechanism_asked
from liaison.errors import LiaisonError, NamingError, TextError
from liaison.studies.files import MOST_BYTES, read_study_file
from liaison.studies.surfaces import fitted_surface
from liaison.studies.variations import points_of, variation_of
from liaison.view.studies.table import counted, some_of

GOOD = """mechanism = "four_bar.lsd"
until = "0.05 s"
count = 32
every = "5 ms"

[vary]
a = "9 cm .. 11 cm"
d = "± 1 %"

[measure]
swing = "range(D) in deg"
size = "a + d"

[correlation]
"a d" = 0.5

[options]
rtol = 1e-9

[optimize]
maximize = "swing"

[optimize.subject]
size = "<= 0.56"
"""


@pytest.fixture
def folder(tmp_path):
    text = Path("examples/four_bar.lsd").read_text(encoding="utf-8")
    (tmp_path / "four_bar.lsd").write_text(text, encoding="utf-8")
    return tmp_path


def written(folder, text):
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_asks_for_what_it_says(folder):
    asked = read_study_file(written(folder, GOOD))
    assert asked.mechanism == folder / "four_bar.lsd"
    assert asked.arguments["correlation"] == {"a d": 0.5}
    assert asked.arguments["rtol"] == 1e-9
    assert asked.optimize["subject"] == {"size": "<= 0.56"}
    study = liaison.study(asked.mechanism, **asked.arguments)
    assert len(study) == 32


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("count = 32", "cuont = 32", 3, "did you mean 'count'"),
        ("count = 32", 'count = "32"', 3, "it must be a whole number"),
        ("count = 32", "count = true", 3, "it must be a whole number"),
        ("count = 32", "count = ", 3, "no TOML"),
        ('a = "9 cm .. 11 cm"', "a = 3", 7, "it must be a text or a list"),
        ("rtol", "rtoll", 18, "did you mean 'rtol'"),
        ("maximize", "maximise", 21, "did you mean 'maximize'"),
        ('"four_bar.lsd"', '"../four_bar.lsd"', 1, "does not lie below"),
        ('"four_bar.lsd"', '"/etc/passwd"', 1, "does not lie below"),
        ('"a d"', '"a"', 15, "no pair of names"),
    ],
)
def test_mistakes_have_their_places(folder, old, new, line, words):
    with pytest.raises(TextError) as error:
        read_study_file(written(folder, GOOD.replace(old, new, 1)))
    assert words in str(error.value)
    assert error.value.place.line == line
    if error.value.cure is not None:
        text = error.value.cure.applied(GOOD.replace(old, new, 1))
        assert text == GOOD


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "words"),
    [
        ("range(D)", "range(DD)", 11, 16, "DD"),
        ("range(D)", "rage(D)", 11, 10, "did you mean 'range'"),
        ("9 cm ..", "9 kg ..", 7, 1, "converts"),
        ("count = 32", "count = -3", 3, 1, "count is -3"),
        ("count = 32", 'design = "sobl"', 3, 1, "did you mean 'sobol'"),
    ],
)
def test_formulas_and_values_have_their_places(folder, old, new, line, column, words):
    asked = read_study_file(written(folder, GOOD.replace(old, new, 1)))
    with pytest.raises(LiaisonError) as error, asked.placed():
        liaison.study(asked.mechanism, **asked.arguments)
    assert words in str(error.value)
    assert (error.value.place.line, error.value.place.column) == (line, column)


ROBOT = """mechanism = "quadruped.urdf"
until = "2 ms"
count = 2
[robot]
floating = true
ground = true
motors = "position"
srdf = "quadruped.srdf"
[robot.pose]
"*_pitch" = "45 deg"
"*_knee" = -1.6
[vary]
"front_left_pitch.target" = "0.78 rad .. 0.79 rad"
[measure]
pitch = "initial(front_right_pitch)"
knee = "initial(front_right_knee)"
height = "initial(root.z)"
[options]
method = "moreau"
step = "1 ms"
"""


@pytest.fixture
def robots(tmp_path):
    for name in ("quadruped.urdf", "quadruped.srdf"):
        text = Path("examples/robots", name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_robot_is_read_as_its_table_says(robots, capsys):
    with pytest.raises(SystemExit) as left:
        main(["study", str(written(robots, ROBOT)), "--folder", str(robots / "s"), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert left.value.code == 0
    least = facts["least"]
    options = {"floating": True, "ground": True, "motors": "position", "strict": True}
    pose = {"*_pitch": np.pi / 4, "*_knee": -1.6}
    begin = liaison.check(liaison.read(robots / "quadruped.urdf", pose=pose, **options)).start.state
    assert least["pitch"] == pytest.approx(begin["front_right_pitch"], abs=1e-12)
    assert least["knee"] == pytest.approx(-1.6, abs=1e-12)
    assert least["height"] == pytest.approx(begin["root.z"], abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("floating", "floatin", 5, "did you mean 'floating'"),
        ("floating = true", "floating = 3", 5, "must be true or false"),
        ('"quadruped.srdf"', '"../quadruped.srdf"', 8, "does not lie below"),
        ("-1.6", "true", 11, "must be a text or a whole number or a number"),
        ("floating = true", "contacts = true", 5, "no option 'contacts'"),
        ('"position"', '"positions"', None, "no kind of motors is named 'positions'"),
    ],
)
def test_mistakes_of_the_table_of_a_robot_have_their_places(robots, old, new, line, words):
    path = written(robots, ROBOT.replace(old, new, 1))
    with pytest.raises(LiaisonError) as error:
        mechanism_in(path)
    assert words in str(error.value)
    if line:
        assert error.value.place.line == line


def mechanism_in(path):
    asked = read_study_file(path)
    with asked.placed():
        return mechanism_asked(asked)


def test_files_that_are_none_are_rejected(folder):
    with pytest.raises(TextError, match="cannot be read"):
        read_study_file(folder / "none.toml")
    with pytest.raises(TextError, match="larger than"):
        read_study_file(written(folder, "#" * (MOST_BYTES + 1)))
    with pytest.raises(TextError, match="more than 10000 characters"):
        read_study_file(written(folder, "#" * 20_000))
    with pytest.raises(TextError, match="too many digits"):
        read_study_file(written(folder, "count = " + "9" * 5000))
    with pytest.raises(TextError, match="no plain file"):
        read_study_file("/dev/null")
    with pytest.raises(TextError, match="does not lie below"):
        read_study_file(written(folder, GOOD.replace('"four_bar.lsd"', '"a\\u0000b"', 1)))
    with pytest.raises(TextError, match="'vary' is missing"):
        read_study_file(written(folder, 'mechanism = "four_bar.lsd"\nuntil = 1'))
    (folder / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(TextError, match="UTF-8"):
        read_study_file(folder / "binary.toml")


def test_the_command_prints_a_table_and_json(folder):
    path = written(folder, GOOD.replace('[correlation]\n"a d" = 0.5\n', ""))
    command = [sys.executable, "-m", "liaison", "study", str(path), "--json", "--csv", "x.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["points"] == 32
    assert facts["units"]["swing"] == "deg"
    assert len((folder / "x.csv").read_text().splitlines()) == 33


def test_one_file_is_a_study_and_an_optimization(folder, capsys):
    """What concerns studies alone does not hinder an optimization; files are named."""
    text = GOOD.replace("count = 32", "count = 32\nworkers = 2").replace(
        '"± 1 %"', '"0.4 m .. 0.5 m"'
    )
    path, best = written(folder, text), folder / "best.lsd"
    with pytest.raises(SystemExit) as left:
        main(["optimize", str(path), "--out", str(best)])
    assert left.value.code == 0
    assert str(best) in capsys.readouterr().out
    assert liaison.read(best).parameters


def test_failures_say_why(folder):
    study = liaison.study(
        folder / "four_bar.lsd", vary={"a": ["10 cm", "3 m"]}, measure={"D": "final(D)"}, until=0.05
    )
    assert study["message"][1].split("\n")[0][:40] in str(study)


# ---- pictures


@pytest.fixture(scope="module")
def study():
    return liaison.study(
        "examples/four_bar.lsd", vary={"a": "9 cm .. 11 cm", "d": "44 cm .. 46 cm"}, until=0.1,
        measure={"swing": "range(D) in deg", "size": "a*a + 2*a*d + 3"}, count=64, every=0.01,
        record=0.02,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("scatter", {}),
        ("parallel", {"y": "swing"}),
        ("envelope", {"y": "D"}),
        ("surface", {}),
        ("histogram", {}),
    ],
)
def test_plots_have_labels_with_units(study, tmp_path, kind, names):
    pytest.importorskip("matplotlib")
    figure = study.plot(kind, **names)
    texts = [x.get_xlabel() + x.get_ylabel() for x in figure.axes]
    texts += [y.get_text() for x in figure.axes for y in x.get_xticklabels()]
    assert any("[" in x for x in texts), texts
    if kind == "scatter":
        study.save_plot(tmp_path / "x.svg", kind)
        assert (tmp_path / "x.svg").stat().st_size > 1000


def test_other_plots_are_rejected(study, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(NamingError, match="scatter"):
        study.plot("scater")
    with pytest.raises(NamingError, match="'x'"):
        study.plot("scatter", x="x")
    with pytest.raises(LiaisonError, match="suffix"):
        study.save_plot(tmp_path / "x.doc")


def test_cells_count_every_point():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 10_000))
    cells, edges = counted(x, y, (40, 30))
    expected, _, _ = np.histogram2d(y, x, bins=(30, 40), range=(edges[2:], edges[:2]))
    assert cells.sum() == 10_000
    assert np.abs(cells - expected).sum() <= 4  # points on an edge, by rounding


def test_a_surface_is_exact_for_polynomials(study):
    fitted = study.surface("size")
    assert fitted(study.values) == pytest.approx(study["size"], rel=1e-12)
    assert fitted.r2 == pytest.approx(1.0)
    with pytest.raises(LiaisonError, match="do not determine it"):
        fitted_surface(study.values[:5], study["size"][:5])


def test_the_page_makes_no_request_and_cannot_be_left_by_names(study, tmp_path):
    study.save_page(tmp_path / "study.html")
    text = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", text)
    assert "default-src 'none'" in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert data["names"] == ["a", "d", "swing", "size"]
    assert len(data["columns"][0]) == 64
    from liaison.view.studies.page import study_page
    from liaison.view.studies.table import StudyTable

    evil = "</script><script>alert(1)</script>"
    table = StudyTable(evil, ("a",), (), {"a": np.arange(3.0)}, {"a": evil})
    page = study_page(table, ["k"] * 3)
    assert page.count("<script") == 2
    assert "alert(1)</script>" not in page


def test_the_points_that_are_drawn_are_like_all_points():
    """Every fourth point of a Sobol' sequence leaves one half of a range nearly empty."""
    kinds = {name: variation_of((0.0, 1.0), "", None, name) for name in "abcd"}
    whole = points_of(kinds, "sobol", count=20_000, seed=0).values.T
    chosen = whole[:, some_of(whole, 5000)]
    assert chosen.shape == (4, 5000)
    for column, part in zip(whole, chosen, strict=True):
        assert (part.min(), part.max()) == (column.min(), column.max())
        share, _ = np.histogram(part, bins=4, range=(0, 1))
        assert np.max(np.abs(share / 1250 - 1)) < 0.1  # four standard deviations of random ones


def test_inputs_of_all_runs_have_a_table(folder):
    (folder / "pushed.lsd").write_text(
        "input u = 0 N ; parameter m = 1 kg ; let b = body mass = m, inertia = 0 end ;\n"
        "let X = join earth and b with prismatic end ; apply motor force = u end on X ;\n",
        encoding="utf-8",
    )
    text = (
        'mechanism = "pushed.lsd"\nuntil = "1 s"\n[vary]\nm = ["1 kg", "2 kg"]\n'
        '[inputs]\nu = "4 N"\n[measure]\nx = "final(X)"\n'
    )
    asked = read_study_file(written(folder, text))
    study = liaison.study(asked.mechanism, **asked.arguments)
    assert study["x"] == pytest.approx([2.0, 1.0])
    twice = read_study_file(written(folder, text.replace("[inputs]", "[parameters]")))
    with pytest.raises(LiaisonError, match=r"'u' is an input, no parameter"), twice.placed():
        liaison.study(twice.mechanism, **twice.arguments)
    with pytest.raises(TextError, match="inputs are there twice"):
        read_study_file(written(folder, text + "[options]\ninputs = { u = 1 }\n"))
