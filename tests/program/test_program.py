"""Programs and kernels: what they refuse, their sizes, their cheap call."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from program_samples import program_of, synthetic

from liaison.equations import newton_euler
from liaison.errors import NamingError, ProgramError
from liaison.expr import Function, constant, cos, sin, symbol
from liaison.model import (
    Body,
    Joint,
    Marker,
    Mechanism,
    Quaternion,
    RotationMatrix,
    Spherical,
    Universal,
)
from liaison.program import (
    Entry,
    Program,
    compile_loops,
    f64,
    i64,
    kernel,
    loop,
    ptr,
    to_llvm,
    to_numpy,
)
from liaison.program.solve import dependent
from liaison.tree import span
from samples.derived import solved

Q = [symbol(f"q[{i}]") for i in range(2)]
V = [symbol(f"v[{i}]") for i in range(2)]
U, P, A = symbol("u[0]"), symbol("p[0]"), symbol("x[0]")
PENDULUM = Program(
    "pendulum",
    {
        "forward": Entry("forward", (V[0], -P * sin(Q[0]) + U), (("qdot", 1), ("vdot", 1))),
        "inverse": Entry("inverse", (A + P * sin(Q[0]) - U,)),
        "energy": Entry("energy", (V[0] * V[0] / 2, -P * cos(Q[0])), (("T", 1), ("U", 1))),
    },
    {Q[0]: ("q", 0), V[0]: ("v", 0), U: ("u", 0), P: ("p", 0), A: ("x", 0), symbol("t"): ("t", 0)},
    {"nq": 1, "nv": 1, "nu": 1, "np": 1},
    defaults={"u": np.zeros(1), "p": np.array([9.81])},
)
BACKENDS = [to_numpy, lambda program: to_llvm(program, optimize=0)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_defaults_stand_for_inputs_and_parameters(backend):
    kernel = backend(PENDULUM)
    out = kernel.call("forward", q=[0.5], v=[2.0])
    assert out["qdot"] == [2.0]
    assert out["vdot"] == pytest.approx([-9.81 * np.sin(0.5)], rel=1e-15)
    heavy = kernel("forward", q=[0.5], v=[2.0], p=[2.0], u=[1.0])
    assert heavy[1] == pytest.approx(1 - 2 * np.sin(0.5), rel=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_axis_leads_the_result(backend):
    q, v = np.random.default_rng(0).normal(size=(2, 4, 3, 1))
    out = backend(PENDULUM)("energy", q=q, v=v)
    assert out.shape == (4, 3, 2)
    np.testing.assert_allclose(out[..., 0], v[..., 0] ** 2 / 2, rtol=1e-15)
    one = backend(PENDULUM)("energy", q=q, v=[0.5])
    assert one.shape == (4, 3, 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_wrong_names_and_sizes_are_refused(backend):
    kernel = backend(PENDULUM)
    with pytest.raises(NamingError, match="did you mean 'forward'"):
        kernel("forwards", q=[0.0], v=[0.0])
    with pytest.raises(ProgramError, match="takes 1 numbers in 'q', not 2"):
        kernel("energy", q=[0.0, 1.0], v=[0.0])
    with pytest.raises(ProgramError, match="takes 1 numbers in 'x', not 0"):
        kernel("inverse", q=[0.0], v=[0.0])


def test_a_symbol_without_place_is_refused():
    program = program_of([symbol("q[0]") * symbol("stiffness")])
    with pytest.raises(NamingError, match="stiffness"):
        to_llvm(program).address("f")


def test_an_unbound_function_is_refused():
    program = program_of([Function("law", 1)(symbol("q[0]"))])
    with pytest.raises(ProgramError, match="'law', which has no value"):
        program.schedule("f")


def test_a_layout_must_cover_the_outputs():
    with pytest.raises(ProgramError, match="has 1 outputs, its layout names 2"):
        Entry("f", (constant(1),), (("a", 2),))


def test_an_unknown_array_is_refused():
    with pytest.raises(NamingError, match="no array"):
        Program("p", {}, {Q[0]: ("w", 0)})


def test_schedule_has_each_formula_once_arguments_first():
    order = synthetic(400).schedule("f")
    position = {node: k for k, node in enumerate(order)}
    assert len(position) == len(order)
    assert all(position[a] < position[node] for node in order for a in node.args)
    assert PENDULUM.operations("forward") == {"sin": 1, "mul": 1, "sub": 1}
    assert PENDULUM.reads("inverse") == {"t": 0, "q": 1, "v": 0, "u": 1, "p": 1, "x": 1}


def test_entries_are_compiled_when_asked_for_and_together_when_told():
    kernel = to_llvm(PENDULUM, optimize=0)
    assert not kernel._addresses
    kernel.address("energy")
    assert set(kernel._addresses) == {"energy"}
    kernel.compile()
    assert set(kernel._addresses) == set(PENDULUM.entries)
    assert len(kernel._kept) == 2


def test_bound_arrays_are_read_again_at_every_call():
    q, v, u, p, x = np.array([0.5]), np.array([1.0]), np.zeros(1), np.array([2.0]), np.zeros(1)
    bound = to_llvm(PENDULUM, optimize=0).bind("forward", q, v, u, p, x)
    first = bound().copy()
    v[0] = 3.0
    assert bound()[0] == 3.0
    assert first[0] == 1.0
    with pytest.raises(ProgramError, match="contiguous vector of float64"):
        to_llvm(PENDULUM).bind("forward", np.zeros((2, 2))[:, 0], v, u, p, x)


def read_only(size):
    array = np.zeros(size)
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (lambda q: np.zeros(1), "writes 2 numbers; 'out' has 1"),
        (lambda q: np.zeros(2, dtype=np.float32), "'out' must be a contiguous vector"),
        (lambda q: np.zeros(4)[::2], "'out' must be a contiguous vector"),
        (lambda q: [0.0, 0.0], "'out' must be a contiguous vector"),
        (lambda q: read_only(2), "'out' is read-only"),
        (lambda q: q, "'out' overlaps 'q'"),
    ],
)
def test_bound_results_lie_where_they_can_be_written(out, message):
    q, v, u, p, x = np.zeros(2), np.zeros(1), np.zeros(1), np.ones(1), np.zeros(1)
    kernel = to_llvm(replace(PENDULUM, sizes={}), optimize=0)
    with pytest.raises(ProgramError, match=message):
        kernel.bind("forward", q, v, u, p, x, out=out(q))


def test_defaults_are_read_only():
    """A program is shared; whoever changed its values would change all later runs."""
    values = np.array([2.0])
    program = replace(PENDULUM, defaults={"p": values})
    with pytest.raises(ValueError, match="read-only"):
        program.defaults["p"][0] = 3.0
    values[0] = 5.0
    assert program.defaults["p"][0] == 2.0


@loop
def explicit_euler(
    f: kernel, n: i64, dt: f64, q: ptr, v: ptr, u: ptr, p: ptr, out: ptr, work: ptr
) -> None:
    for i in range(n):
        f(i * dt, q, v, u, p, p, out, work)
        q[0] += dt * out[0]
        v[0] += dt * out[1]


def test_a_compiled_loop_runs_compiled_and_interpreted_kernels_alike():
    compiled = compile_loops([explicit_euler])[explicit_euler]
    ends = []
    for run in ("plain loop", "compiled loop"):
        for backend in BACKENDS:
            kernel = backend(PENDULUM)
            q, v, out, work = np.array([1.0]), np.array([0.0]), np.zeros(2), np.zeros(1)
            u, p = np.zeros(1), np.array([9.81])
            if run == "plain loop":
                explicit_euler(kernel.function("forward"), 50, 0.01, q, v, u, p, out, work)
            else:
                compiled(kernel.address("forward"), 50, 0.01, q, v, u, p, out, work)
            ends.append((q[0], v[0]))
    np.testing.assert_allclose(ends, [ends[0]] * 4, rtol=1e-13)


def test_an_address_is_a_c_function_that_needs_no_workspace():
    kernel = to_llvm(PENDULUM, optimize=0)
    foreign = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 7)
    q, out = np.array([0.25]), np.zeros(2)
    where = q.ctypes.data
    p = np.array([9.81])
    foreign(kernel.address("energy"))(
        0.0, where, where, where, p.ctypes.data, where, out.ctypes.data, None
    )
    np.testing.assert_allclose(out, [0.25**2 / 2, -9.81 * np.cos(0.25)], rtol=1e-15)


def test_velocities_that_share_their_inertia():
    """Two slides along one axis: M is singular, and closures make the system regular."""
    found = solved(126)
    vdot, _ = found.dense
    np.testing.assert_allclose(found.forward["vdot"], vdot, atol=1e-9)
    assert found.forward["residual"][0] < 1e-9
    for entry in ("correct_q", "correct_v", "d_forward"):
        for values in found.call(entry).values():
            assert np.isfinite(values).all()


@pytest.mark.parametrize("attitude", [Quaternion(), RotationMatrix()])
def test_a_ball_shares_its_inertia_with_nobody(attitude):
    """M is probed at attitudes: a drawn quaternion of another length made it indefinite."""
    tensor = ((0.3, 0.01, 0), (0.01, 0.2, 0), (0, 0, 0.2))
    rod, plate = Body("rod", 1, (0, 0, 0.4), tensor), Body("plate", 9, (0.1, 0.2, 0.3), tensor)
    ends = Marker("ground"), Marker("rod"), Marker("rod", p=(0, 0, 0.7)), Marker("plate")
    joints = Joint("U", Universal(), *ends[:2]), Joint("S", Spherical(attitude), *ends[2:])
    equations = newton_euler(span(Mechanism("ball", (rod, plate), joints)))
    names = [x for x in equations.symbols.q if x.name.startswith("S.")]
    assert dependent(equations.dynamics.M, [names]) == set()
