"""Runs are what they were: to the bit on the processor of the table, in numbers on others.

Some hundred short cases run always; all of them are marked slow and run in `make net`.
"""

import copy

import pytest

from net import trajectories as net

TREE = ("pendulum.lsd", "double_pendulum.lsd", "spinning_top.lsd")
LOOP = ("four_bar.lsd", "slider_crank.lsd", "chaplygin.lsd", "belt_drive.lsd")
CONTACT = (
    "contact/stops.lsd", "contact/stick_slip.lsd", "contact/two_balls.lsd", "contact/backlash.lsd",
    "contact/marble_in_bowl.lsd", "contact/cosine_track.lsd", "reference/painleve_rod.lsd",
    "contact/bearing.lsd", "chaplygin_unilateral.lsd", "quarter_car.lsd",
)  # fmt: skip
THROUGH = ("default", "tsitouras", "rk4", "moreau")
MORE = (
    "arm7.urdf | default", "net/arm.xml | rk4", "net/loop.xml | tsitouras", "pile.lsd | default",
    "further | impacts newton, stops", "further | impacts poisson, stops",
    "further | impacts stronge, stops", "further | moreau, 6 facets, marble_in_bowl",
    "further | recorded between steps, radau", "further | batch, four-bar, rk4",
    "further | stepper, pendulum", "further | stop at a value", "further | scene",
)  # fmt: skip

SHORT = (
    *(f"{x} | {method}" for x in TREE + LOOP for method in (net.DEFAULT, *net.METHODS)),
    *(f"{x} | {method}" for x in CONTACT for method in THROUGH),
    *MORE,
)


def told(cases):
    table = net.known()["cases"]
    return [line for x in cases for line in net.differences(x, net.again(x), table[x])]


def group(case):
    """Cases of an example are one test: its code is made once."""
    return case.split(" | ")[0]


def grouped(cases):
    found = {}
    for case in cases:
        found.setdefault(group(case), []).append(case)
    return found


@pytest.mark.parametrize("name", grouped(SHORT))
def test_short_runs_are_what_they_were(name):
    lines = told(grouped(SHORT)[name])
    assert not lines, "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", grouped(net.case_names()))
def test_runs_are_what_they_were(name):
    lines = told([x for x in grouped(net.case_names())[name] if x not in SHORT])
    assert not lines, "\n".join(lines)


def test_the_table_has_every_case():
    assert list(net.known()["cases"]) == [x for x in net.case_names() if x not in net.UNSTEADY]


def test_short_runs_cover_every_method():
    table = net.known()["cases"]
    ran = {x.split(" | ")[1] for x in SHORT if "refused" not in table[x]}
    assert {net.DEFAULT, *net.METHODS} <= ran


CASE = "four_bar.lsd | radau"


def altered(part, change):
    found = copy.deepcopy(net.known()["cases"][CASE])
    found[part] = change(found[part])
    return found


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("sha256", lambda x: x[::-1], "end state and events are equal"),
        ("rows", lambda x: x + 1, "rows is"),
        ("end", lambda x: x | {"q": [y + 1e-15 for y in x["q"]]}, "end is"),
        ("status", lambda x: "failed", "status is"),
    ],
)
def test_another_bit_is_told(monkeypatch, part, change, said):
    monkeypatch.setattr(net, "processor", lambda: net.known()["processor"])
    (line,) = net.differences(CASE, altered(part, change), net.known()["cases"][CASE])
    assert line.startswith(f"{CASE}: other bits")
    assert said in line


def test_on_another_processor_numbers_count(monkeypatch):
    monkeypatch.setattr(net, "processor", lambda: {"cpu": "another"})
    had = net.known()["cases"][CASE]
    near = altered("end", lambda x: x | {"q": [y + 1e-9 for y in x["q"]]}) | {"sha256": "other"}
    far = altered("end", lambda x: x | {"q": [y + 1e-4 for y in x["q"]]})
    assert net.differences(CASE, near, had) == []
    assert "last q is" in net.differences(CASE, far, had)[0]


def test_a_refusal_that_comes_or_goes_is_told():
    had = net.known()["cases"][CASE]
    assert "refused with ModelError now" in net.differences(CASE, {"refused": "ModelError"}, had)[0]
    assert "ran to t" in net.differences(CASE, had, {"refused": "ModelError"})[0]
