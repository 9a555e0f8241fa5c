"""Linkages whose closures repeat each other only where they are met, with friction beside them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import liaison

EXAMPLES = Path(__file__).parents[2] / "examples"
AT_END = {"bennett": 0.178525406, "bricard_line": 0.274586250}
"""H1 after 0.4 s [rad]: adaptive steps to 1e-10, with and without friction; Moreau's to 1e-7."""

WITHIN = 2e-8
"""What steps of 1 and 2 ms, and adaptive ones to 1e-8, leave of it."""


def text_of(name):
    return (EXAMPLES / f"{name}.lsd").read_text()


def friction(bound, coordinate="H1", unit="N*m"):
    return f"\napply friction dry = {bound} {unit}, smoothing = 0 end on {coordinate} ;\n"


def gained(run):
    energy = run["energy"].sum(axis=1)
    return energy[-1] - energy[0]


@pytest.mark.parametrize("name", AT_END)
@pytest.mark.parametrize("options", [{"step": 1e-3}, {}])
def test_next_to_no_friction_does_next_to_nothing(name, options):
    text = text_of(name) + friction("1e-9")
    run = liaison.simulate(text, until=0.4, every=0.1, **options)
    assert run.status == "done"
    assert abs(run.q[-1][0] - AT_END[name]) < WITHIN
    assert abs(gained(run)) < 1e-5
    assert run.counts["steps"] <= 400


def locked():
    """Bennett's linkage with a second hinge that could slide, but for the loop."""
    text = text_of("bennett")
    inner = re.search(r"let H\[i\] = join .*? end ;", text)
    assert inner is not None
    return text.replace(inner[0], inner[0].replace("revolute", "cylindrical"))


@pytest.mark.parametrize("bound", ["1e-9", "1"])
@pytest.mark.parametrize("options", [{"step": 2e-3}, {}])
def test_friction_on_what_the_loop_locks_does_nothing(bound, options):
    text = locked() + friction(bound, "H2.slide", "N")
    run = liaison.simulate(text, until=0.4, every=0.1, **options)
    assert run.status == "done"
    assert abs(run.q[-1][0] - AT_END["bennett"]) < WITHIN
    assert abs(gained(run)) < 1e-8
    assert run.counts["steps"] <= 200


def many(count, bound):
    """As many of Bennett's linkages, each with a friction, so that they run by loops over nodes."""
    text = text_of("bennett")
    head, rest = text.split("for i = 1 to 3", 1)
    rest = "for i = 1 to 3" + rest[: rest.index("output")]
    rest = re.sub(r"earth\.shape.*?;", "", rest, flags=re.DOTALL)
    rest = re.sub(r",\s*shape = cylinder\(.*?\)\n", "\n", rest, flags=re.DOTALL) + friction(bound)
    return head + "".join(re.sub(r"\b(bar|H)(?=[1-4[])", rf"\g<1>{k}x", rest) for k in range(count))


def test_many_of_them_by_loops_over_nodes():
    """The rows that paths contradict are met by a basis; 39 velocities, 65 closures."""
    runs = [liaison.simulate(many(n, "1e-9"), until=0.1, every=0.1, step=2e-3) for n in (1, 13)]
    one, all_ = runs
    assert one.meta["equations"] != all_.meta["equations"]
    assert np.abs(all_.q[-1].reshape(13, 3) - one.q[-1]).max() < 1e-9
    assert abs(gained(all_)) < 1e-6
