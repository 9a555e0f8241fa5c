"""From text to trajectory one kernel is made, and no entry of it is compiled twice."""

from importlib import import_module

import pytest

import liaison
from liaison.program.kernel import MachineKernel
from liaison.verbs.ready import equations_at

wall = import_module("liaison.program.llvm.to_llvm")
OBSTRUCTED = ["antenna_mesh", "triangle_flat"]


@pytest.fixture
def made(monkeypatch):
    """Programs of which kernels are made, and the texts that go to LLVM for them."""
    programs, texts = [], []
    begin, load = MachineKernel.__init__, wall.load

    def counted(self, program, *parts, **more):
        programs.append(program)
        begin(self, program, *parts, **more)

    def loaded(text, *parts, **more):
        texts.append(text)
        return load(text, *parts, **more)

    monkeypatch.setattr(MachineKernel, "__init__", counted)
    monkeypatch.setattr(wall, "load", loaded)
    return programs, texts


@pytest.mark.parametrize("name", ["pendulum", "four_bar", *OBSTRUCTED])
def test_a_run_makes_one_kernel(name, made, examples):
    """Two where relations are added that closures leave out: the first closes the loops."""
    programs, texts = made
    run = liaison.simulate(examples / f"{name}.lsd", until=0.01)
    assert run.status == "done"
    assert len(programs) == 1 + (name in OBSTRUCTED)
    assert texts
    assert len(set(texts)) == len(texts)
    added = [x for x in programs[-1].labels["lam"] if x.name.startswith("second order")]
    assert bool(added) == (name in OBSTRUCTED)


def test_nothing_is_compiled_before_the_run(made, examples):
    """Whether a start is obstructed is decided on formulas, without machine code."""
    programs, texts = made
    tree = liaison.span(liaison.read(examples / "antenna_mesh.lsd"))
    _, equations = equations_at(tree, liaison.assemble(tree))
    assert any(x.name.startswith("second order") for x in equations.labels["lam"])
    assert not programs
    assert not texts
