"""`collide`: contact among many in the language, as contacts one by one and as a scene."""

import json

import numpy as np
import pytest

from liaison import check, collide, simulate, stepper
from liaison.cli import main
from liaison.errors import ModelError, SimulationError
from liaison.formats import read_lsd
from liaison.formats.lsd.write.write import write_lsd
from liaison.formats.merge import merged, renamed
from liaison.model import Collision, Sphere, body, collision, gravity, ground, join, start
from liaison.model.contacts.collisions import surfaces_of
from liaison.model.describe import mechanism
from liaison.model.pairing import is_scene, paired

BALLS = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter r = 5 cm ;
for i = 1 to {n}
  let ball[i] = body mass = 1 kg, inertia = 1 g*m^2, shape = sphere(radius = r) end ;
  let F[i] = join [0, 0, 1] cm @ earth and ball[i] with free end ;
  start F[i] = [2 mm * i, 1 mm * i * (-1)^i, 10 cm + 12 cm*(i - 1)] ;
end ;
let wall = [1, 0, 0] m ++ -90 deg || [0, 1, 0] @ earth ;
{says}
"""


def text(n, says="collide ball[*], earth with friction = 0.3, restitution = 0.2 end ;"):
    return BALLS.format(n=n, says=says)


@pytest.mark.parametrize(
    ("says", "pairs"),
    [
        ("collide ball[*] ;", {"ball1-ball2", "ball1-ball3", "ball2-ball3"}),
        ("collide all ;", {"ball1-ball2", "ball1-ball3", "ball2-ball3"}),
        ("collide ball1, ball3, earth ;", {"ball1-ball3", "ball1-earth", "ball3-earth"}),
        ("collide ball1 and ball2, wall ;", {"ball1-ball2", "ball1-wall"}),
        (
            "collide ball[*] and earth ; collide ball1 and ball2, ball3 ;",
            {"ball1-earth", "ball2-earth", "ball3-earth", "ball1-ball2", "ball1-ball3"},
        ),
        ("collide ball1, [0, 0, 1] m @ earth, earth ;", {"ball1-earth", "ball1-earth 2"}),
    ],
)
def test_it_means_every_pair_that_is_named(says, pairs):
    found = read_lsd(text(3, says))
    assert {x.name for x in paired(found).contacts} == pairs
    assert surfaces_of(found).pairs == len(pairs)
    assert read_lsd(write_lsd(found)) == found


def test_bodies_that_a_joint_connects_are_no_pair():
    found = read_lsd(
        """
        let a = body mass = 1 kg, shape = sphere(radius = 5 cm) end ;
        let b = body mass = 1 kg, shape = sphere(radius = 5 cm) end ;
        let c = body mass = 1 kg, shape = box([1, 2, 3] cm) end ;
        let A = join earth and a with revolute end ;
        let B = join [8, 0, 0] cm @ a and b with revolute end ;
        let C = join earth and c with free end ;
        collide all, earth with friction = 0.2 end ;
        """
    )
    kinds = {x.name: (x.kind, x.outside is not None) for x in paired(found).contacts}
    assert kinds == {
        "a-c": ("box", True), "b-c": ("box", True), "a-earth": ("ball", False),
        "b-earth": ("ball", False), "c-earth": ("box", False),
    }  # fmt: skip
    assert surfaces_of(found).pairs == 5


def test_families_of_sub_mechanisms_are_their_own():
    found = read_lsd(
        """
        mechanism pair(x)
          for i = 1 to 2
            let ball[i] = body mass = 1 kg, shape = sphere(radius = 5 cm) end ;
            let F[i] = join earth and ball[i] with free end ;
          end ;
          collide ball[*] ;
        end ;
        let left = pair(x = 1) ;
        let right = pair(x = 2) ;
        collide left.ball[*] and right.ball[*] ;
        """
    )
    names = {x.name for x in paired(found).contacts}
    assert {"left.ball1-left.ball2", "right.ball1-right.ball2"} < names
    assert len(names) == 6


def test_few_pairs_are_contacts_as_if_written_one_by_one():
    one = """
    let floor = contact ball1 and earth with ball
      radius = r, friction = 0.3, restitution = 0.2 end ;
    let other = contact ball2 and earth with ball
      radius = r, friction = 0.3, restitution = 0.2 end ;
    let both = contact ball1 and ball2 with ball
      radius = r, outside = r, friction = 0.3, restitution = 0.2 end ;
    """
    runs = [simulate(text(2, x), until=0.4, method="moreau", step=1e-3) for x in (one, text_of())]
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-12)
    assert {x.name for x in runs[1].events} >= {"ball1-earth", "ball1-ball2"}
    exact = simulate(text(2), until=0.15)  # event by event
    first, again = (
        next((x.name, x.t) for x in run.events if x.what == "impact") for run in (exact, runs[1])
    )
    assert first[0] == again[0] == "ball1-earth"
    assert first[1] == pytest.approx(again[1], abs=1e-3)


def text_of():
    return "collide ball[*], earth with friction = 0.3, restitution = 0.2 end ;"


def test_a_scene_and_contacts_one_by_one_agree():
    few = read_lsd(text(4))
    assert not is_scene(few)
    exact = simulate(few, until=0.3, method="moreau", step=1e-3)
    run = collide(few).simulate(0.3, step=1e-3)
    for k in range(1, 5):
        assert run[f"ball{k}.z"] == pytest.approx(exact[f"F{k}.z"] + 0.01, abs=2e-3)
    listed = [[(x.name, x.t) for x in r.events if x.what == "impact"][:4] for r in (run, exact)]
    assert [x for x, _ in listed[0]] == [x for x, _ in listed[1]]
    assert [t for _, t in listed[0]] == pytest.approx([t for _, t in listed[1]], abs=2e-3)


def test_many_pairs_are_marched_as_a_scene_in_the_coordinates_of_the_mechanism():
    said = text_of() + "output top = F12.z in cm ; output speed = norm(velocity(ball12)) ;"
    found = read_lsd(text(12, said))
    assert is_scene(found)
    run = simulate(found, until=0.5, step=1e-3, every=0.01)
    assert "78 pairs marched as a scene, in steps of 0.001 s" in run.message
    assert len(run) == 51
    bare = collide(found).simulate(0.5, step=1e-3, every=10)
    # F starts 1 cm above the ground; coordinates are those that 'check' tells
    assert run["F7.z"] == pytest.approx(bare["ball7.z"] - 0.01, abs=1e-12)
    begin = check(found).start.state
    assert run.q[0] == pytest.approx(begin.q, abs=1e-15)
    assert [x.name for x in run.labels["q"]] == [x.name for x in begin.labels["q"]]
    assert run["outputs.top"] == pytest.approx(100 * run["F12.z"], rel=1e-12)
    fast = np.linalg.norm([run[f"F12.v{x}"] for x in "xyz"], axis=0)
    assert run["outputs.speed"] == pytest.approx(fast, rel=1e-9, abs=1e-12)
    assert {"ball1-earth", "ball1-ball2"} <= {x.name for x in run.events}
    assert np.array_equal(run["poses"], bare["poses"])


def test_coordinates_of_bodies_that_turn_and_whose_center_is_aside():
    says = "let odd = body mass = 2 kg, inertia = [1, 2, 2.5] g*m^2, center = [1, 2, 3] cm, "
    says += "shape = sphere(radius = 4 cm) end ; let O = join 30 deg || [0, 1, 1] ++ [1, 2, 3] m "
    says += "@ earth and 20 deg || [1, 0, 0] ++ [2, 0, 1] cm @ odd with free end ; "
    says += "start O = [1, 1, 8] m ++ 40 deg || [1, 2, 3] ; start O' = [1, 2, 3, 4, 5, 6] ; "
    found = read_lsd(text(10, says + "collide all, earth with friction = 0.2 end ;"))
    run = simulate(found, until=0.1, step=1e-3, every=0.01)
    begin = check(found).start.state
    assert run.q[0] == pytest.approx(begin.q, abs=1e-14)
    assert run.v[0] == pytest.approx(begin.v, abs=1e-14)
    free = simulate(read_lsd(text(10, says)), until=0.1)  # nothing is hit so soon
    assert run["O.x"][-1] == pytest.approx(free["O.x"][-1], abs=2e-5)
    assert run["O.qy"][-1] == pytest.approx(free["O.qy"][-1], abs=2e-5)
    assert run["O.wz"][-1] == pytest.approx(free["O.wz"][-1], abs=2e-4)


def test_what_can_be_marched_neither_way_is_refused_by_name():
    jointed = "let arm = body mass = 1 kg, shape = sphere(radius = r) end ; "
    jointed += "let A = join earth and arm with revolute end ; collide all, earth ;"
    with pytest.raises(ModelError, match=r"253 pairs .* joint 'A' is not free"):
        simulate(text(21, jointed), until=1)
    assert not is_scene(read_lsd(text(10, jointed)))  # 66 pairs, one by one
    boxes = "for i = 1 to 2 let box[i] = body mass = 1 kg, shape = box([1, 1, 1] cm) end ; "
    boxes += "join earth and box[i] with revolute end ; end ; collide all ;"
    with pytest.raises(SimulationError, match="'box1-box2' is a contact of convex bodies"):
        simulate(text(1, boxes), until=1)
    many = read_lsd(text(12))
    with pytest.raises(ModelError, match="78 pairs that a scene finds while it runs"):
        stepper(many)
    with pytest.raises(SimulationError, match="method 'radau' is not for scenes"):
        simulate(many, until=1, method="radau")
    with pytest.raises(SimulationError, match="series 'reactions' is not for scenes"):
        simulate(many, until=1, series=("reactions",))
    viscous = "collide all, earth with viscous = 1 N*s/m end ;"
    with pytest.raises(ModelError, match="'collision' has viscous friction"):
        collide(text(12, viscous))
    with pytest.raises(ModelError, match="says what collides and how"):
        collide(many, friction=0.2)


def test_in_python_it_is_the_same():
    bodies = [body(f"b{k}", 1, inertia=(1e-3,) * 3, shapes=Sphere(0.05)) for k in range(3)]
    joints = [join(ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    starts = [start({f"F{k}.z": 0.1 + 0.12 * k}) for k in range(3)]
    parts = (bodies, joints, starts, gravity())
    heap = mechanism(parts, collision(*bodies, ground, friction=0.3, name="heap"))
    (made,) = heap.contacts
    assert isinstance(made, Collision)
    assert {x.name for x in paired(heap).contacts} == {
        "b0-b1", "b0-b2", "b1-b2", "b0-earth", "b1-earth", "b2-earth"
    }  # fmt: skip
    floor = mechanism(parts, collision(*bodies, against=[ground]))
    assert {x.name for x in paired(floor).contacts} == {"b0-earth", "b1-earth", "b2-earth"}


def answered(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main([*words, "--json"])
    assert left.value.code == 0
    return json.loads(capsys.readouterr().out)


def test_the_command_line_says_how_they_are_marched(capsys, tmp_path):
    few, many = tmp_path / "few.lsd", tmp_path / "many.lsd"
    few.write_text(text(3))
    many.write_text(text(12))
    told = answered(capsys, "check", str(few))["collisions"]
    assert (told["pairs"], told["marched"]) == (6, "contacts")
    told = answered(capsys, "check", str(many))["collisions"]
    assert (told["pairs"], told["marched"]) == (78, "scene")
    run = answered(capsys, "simulate", str(many), "--until", "0.2")
    assert run["pairs"] == 78
    assert run["events"][0]["what"] == "impact"
    assert run["events"][0]["speed"] == pytest.approx((2 * 9.81 * 0.06) ** 0.5, abs=0.02)
    with pytest.raises(SystemExit):
        main(["simulate", str(many), "--until", "0.2"])
    assert "78 pairs marched as a scene" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert answered(capsys, "animate", str(many), "--until", "0.2", "--out", str(page))
    assert page.stat().st_size > 10000


def test_names_that_clash_and_bodies_that_are_merged_are_followed():
    text = """
    let A = body mass = 1 kg, shape = sphere(radius = 5 cm) end ;
    let cap = body mass = 1 kg, shape = [0, 0, 10] cm @ sphere(radius = 5 cm) end ;
    let B = body mass = 1 kg, shape = sphere(radius = 5 cm) end ;
    let F = join earth and A with free end ;
    let W = join [0, 0, 5] cm @ A and cap with fixed end ;
    let G = join earth and B with free end ;
    let hit = collide A, cap and B, earth with friction = 0.1 end ;
    """
    found = read_lsd(text)
    assert {x.name for x in paired(found).contacts} == {"A-B", "cap-B", "A-earth", "cap-earth"}
    kept = merged(found)
    # the cap is a second sphere of A, which is named once
    assert {x.name for x in paired(kept).contacts} == {"A-B 1", "A-B 2", "A-earth 1", "A-earth 2"}
    clashing = renamed({"A": "F", "hit": "G"}, found)  # as a body and a joint may both be called
    assert {x.name for x in paired(clashing).contacts} == {"F-B", "cap-B", "F-earth", "cap-earth"}
    assert read_lsd(write_lsd(clashing)) == clashing


def test_hundreds_of_bodies_are_counted_and_not_listed():
    found = read_lsd(text(900))
    assert surfaces_of(found).pairs == 900 * 899 // 2 + 900
    assert is_scene(found)


def test_two_boxes_are_a_scene_however_few_they_are():
    boxes = """
    for i = 1 to 3
      let box[i] = body mass = 1 kg, shape = box([20, 20, 10] cm) end ;
      let X[i] = join earth and box[i] with free end ;
      start X[i].z = i*10 cm - 5 cm ;
    end ;
    collide box[*], earth with friction = 0.5 end ;
    """
    found = read_lsd(text(1, boxes))
    assert is_scene(found)
    run = simulate(found, until=0.2, every=0.01)
    assert "6 pairs marched as a scene" in run.message
    assert run["X3.z"] == pytest.approx(0.25, abs=1e-7)
    assert run["planes"][-1, 0, 2] == pytest.approx(3 * 9.81, rel=1e-6)
