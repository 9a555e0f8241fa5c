"""Contacts on the command line: blocks of a mechanism, events of a run, equations of a mode."""

import json

import pytest

BLOCK = """
name = "block" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter mu = 0.3 ;
let block = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let X = join earth and block with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let floor = contact block and earth with point
  friction = mu, static = 0.4, rolling = 1 mm, restitution = 0.5 end ;
let wall = require X.x <= 2 m ;
let brake = apply friction dry = 1 N, smoothing = 0 m/s end on X.x ;
start X.z = 20 cm ;
start X.x' = 1 m/s ;
"""


@pytest.fixture
def block(tmp_path):
    (tmp_path / "block.lsd").write_text(BLOCK)
    return tmp_path / "block.lsd"


def test_check_lists_what_holds_on_one_side(run, block):
    status, out, err = run("check", block)
    assert status == 0, err
    said = "floor: contact of a point with a plane, sliding 0.3, static 0.4, rolling 0.001 m, "
    assert said + "restitution 0.5, 0.2 m apart at the start" in out
    assert "wall: relation" in out
    assert "brake: friction of X.x, sliding 1" in out
    facts = json.loads(run("check", block, "--json")[1])["contacts"]
    assert [(x["name"], x["kind"]) for x in facts] == [
        ("floor", "contact"), ("wall", "relation"), ("brake", "friction")
    ]  # fmt: skip
    assert facts[0]["friction"] == {"sliding": 0.3, "static": 0.4, "rolling": 0.001}
    assert facts[0]["law"] == "coulomb"
    assert facts[0]["gap"] == pytest.approx(0.2)


def test_check_says_that_a_start_is_inside(run, block):
    out = run("check", block, "--start", "X.z=-0.03m")[1]
    assert "0.03 m INSIDE at the start" in out
    assert "touches at the start" in run("check", block, "--start", "X.z=0")[1]


def test_a_run_tells_how_far_gaps_were_kept(run, block, examples):
    out = run("simulate", block, "--until", 1)[1]
    assert "m at worst" in out
    assert "closures" not in out  # there are none
    inside = json.loads(run("simulate", block, "--until", 1, "--json")[1])["penetration"]
    assert 0 <= inside < 1e-9
    assert "closures" in run("simulate", examples / "four_bar.lsd", "--until", 0.1)[1]


def test_check_warns_of_a_row_that_degenerates(run, examples):
    out = run("check", examples / "degenerate_unilateral.lsd")[1]
    assert "warning" in out
    assert "an impact is possible there" in out


def test_a_run_lists_its_events(run, block):
    status, out, err = run("simulate", block, "--until", 1.5)
    assert status == 0, err
    assert "× impact" in out
    assert f"{(0.4 / 9.81) ** 0.5:.9g}  floor  " in out  # √(2 h/g)
    facts = json.loads(run("simulate", block, "--until", 1.5, "--json")[1])
    first = next(x for x in facts["events"] if x["what"] == "impact")
    assert first["t"] == pytest.approx((0.4 / 9.81) ** 0.5, abs=1e-9)
    assert first["before"]["X.z'"] == pytest.approx(-((2 * 9.81 * 0.2) ** 0.5))
    assert first["after"]["X.z'"] == pytest.approx(0.5 * (2 * 9.81 * 0.2) ** 0.5)
    assert {x["what"] for x in facts["events"]} >= {"impact", "rests", "sticks"}


def test_many_events_are_cut_short_for_people_only(run, examples):
    ball = examples / "reference" / "bouncing_ball.lsd"
    out = run("simulate", ball, "--until", 8.5)[1]
    assert "more in run.events" in out
    assert len(json.loads(run("simulate", ball, "--until", 8.5, "--json")[1])["events"]) > 12


def test_laws_of_impacts_and_the_stepping_method(run, examples):
    ball = examples / "reference" / "bouncing_ball.lsd"
    for words in (["--impacts", "newton"], ["--method", "moreau", "--step", "0.001"]):
        facts = json.loads(run("simulate", ball, "--until", 1, "--json", *words)[1])
        assert [x["what"] for x in facts["events"]] == ["impact"]
        assert facts["events"][0]["t"] == pytest.approx(0.4515236, abs=1e-3)


def test_the_cradle_says_that_its_answer_is_not_unique(run, examples):
    cradle = examples / "contact" / "cradle.lsd"
    words = ["--until", 0.3, "--impacts", "sequential", "--json"]
    facts = json.loads(run("simulate", cradle, *words)[1])
    hits = [x for x in facts["events"] if x["what"] == "impact"]
    assert [x["together"] for x in hits] == [2, 3, 3, 2]
    assert hits[0]["after"]["hook5'"] == pytest.approx(hits[0]["before"]["hook1'"], abs=1e-8)
    assert "Several contacts were hit at once" in facts["message"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--impacts", "bounce"], "newton, poisson, moreau, stronge, sequential"),
        (["--method", "moreau"], "moreau needs a fixed --step"),
        (["--method", "moreau", "--step", "0.001", "--impacts", "newton"], "has its own law"),
    ],
)
def test_wrong_options_are_mistakes_of_the_command_line(run, block, words, said):
    status, _, err = run("simulate", block, "--until", 1, *words)
    assert status == 2
    assert said in err


def test_one_mode_is_printed(run, block):
    words = ["--mode", "floor=closed, floor: sliding=slips", "--mode", "wall=open"]
    status, out, err = run("derive", block, *words)
    assert status == 0, err
    assert "X.x'' = −μ sign(u₂) f₁ + f₇" in out
    facts = json.loads(run("derive", block, "--json")[1])
    assert [x["name"] for x in facts["one_sided"]][:2] == ["floor", "floor: sliding"]
    assert facts["one_sided"][0]["relations"][0] == "d₁ = X.z ≥ 0 ⟂ f₁ ≥ 0"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mode", "roof=closed"], "named 'roof'"),
        (["--mode", "floor=shut"], "'shut'"),
        (["--mode", "floor"], "NAME=MODE"),
        (["--mode", "floor=closed", "--own"], "ask for different answers"),
        (["--mode", "floor=closed", "--format", "c"], "a mode is for reading"),
    ],
)
def test_wrong_modes_are_mistakes_of_the_command_line(run, block, words, said):
    status, _, err = run("derive", block, *words)
    assert status == 2, err
    assert said in err


@pytest.mark.parametrize(
    "words", [["--own", "--formalism", "hamilton"], ["--level", "vector"], ["--steps"]]
)
def test_pages_that_do_not_show_it_say_so(run, block, words):
    status, out, err = run("derive", block, *words)
    assert status == 0, err
    assert "Without 'floor', 'wall', 'brake', which are unilateral." in out


def test_entries_and_c_carry_the_rows(run, block, tmp_path):
    out = run("derive", block, "--format", "entries")[1]
    assert "M v' + h = tau + G^T lambda + D^T f" in out
    assert "gap[1] = X.z" in out
    assert "forward: without unilateral constraints" in run("derive", block, "--format", "c")[1]
    status, out, err = run("build", block, "--out", tmp_path / "c")
    assert status == 0, err
    assert "Without 'floor', 'wall', 'brake', which are unilateral." in out
    assert "block_one_sided(" in (tmp_path / "c" / "block.h").read_text()


VERBS = [
    ["check"], ["simulate", "--until", 0.5], ["derive"], ["verify", "--until", 0.5],
    ["convergence", "--until", 0.2], ["equilibrium"], ["linearize"], ["mobility"], ["reduce"],
    ["singular"], ["parametrizations"], ["solutions"], ["motion", "--until", 0.1], ["motors"],
    ["assemble"], ["format"], ["animate", "--until", 0.1, "--out", "page.html"],
]  # fmt: skip


def refused(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


@pytest.mark.parametrize("verb", VERBS, ids=lambda x: x[0])
def test_every_verb_answers_in_strict_json(run, block, tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    status, out, _ = run(verb[0], block, *verb[1:], "--json")
    told = json.loads(out, parse_constant=refused)
    assert status in (0, 1)
    assert ("error" in told) == (status == 1)
    if status == 1:
        assert told["error"]["message"]


def test_a_page_tells_its_events_and_colors_are_looked_at_before_the_run(run, block, tmp_path):
    page = tmp_path / "page.html"
    told = json.loads(run("animate", block, "--until", 0.3, "--out", page, "--json")[1])
    assert told["events"][0]["what"] == "impact"
    text = block.read_text().replace(
        "kg*m^2 end", 'kg*m^2, shape = sphere(radius = 1 cm, color = "navyy") end'
    )
    block.write_text(text)
    status, _, err = run("animate", block, "--until", 0.3, "--out", page)
    assert status == 1
    assert "no color is named 'navyy'. Did you mean 'navy'?" in err


def test_slow_motion_has_as_many_pictures_a_second(run, block, tmp_path):
    words = ("--until", 0.2, "--out", tmp_path / "page.html", "--json")
    told = json.loads(run("animate", block, *words, "--speed", 0.1)[1])
    assert told["instants"] == 121
    assert run("animate", block, *words, "--speed", 0)[0] == 2


def test_a_plot_makes_steps_short_enough_to_be_drawn(run, examples, tmp_path):
    ball = examples / "reference" / "bouncing_ball.lsd"
    words = ("simulate", ball, "--until", 1, "--json")
    few = json.loads(run(*words)[1])["steps"]
    many = json.loads(run(*words, "--plot", tmp_path / "p.png", "--label", "energy")[1])["steps"]
    assert few < 50
    assert many >= 400


@pytest.mark.parametrize(("label", "meant"), [("S.s", "S"), ("S.s'", "S'"), ("s", "S")])
def test_a_coordinate_is_proposed_where_a_text_calls_it_otherwise(run, examples, label, meant):
    brake = examples / "reference" / "brake.lsd"
    status, _, err = run("simulate", brake, "--until", 1, "--start", f"{label}=0")
    assert status == 2
    assert f"did you mean {meant!r}?" in err
