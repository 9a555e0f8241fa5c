"""Entries and loops as WebAssembly, run by node, against plain Python and the interpreter."""

from __future__ import annotations

import json
import math
import struct
import subprocess

import numpy as np
import pytest
from program_samples import program_of, synthetic

from liaison.expr import (
    Table,
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    exp,
    log,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sqrt,
    symbol,
    tan,
)
from liaison.program import to_numpy, to_wasm
from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.loops.language import (
    at,
    bits,
    f64,
    floor,
    fmax,
    fmin,
    from_bits,
    i64,
    loop,
    ptr,
)
from liaison.program.wasm import to_wasm as to_wasm_module
from liaison.program.wasm.encode import OP, Assembly, Function, i64_const, signed, unsigned
from liaison.program.wasm.fold import Memory, fold_loops
from liaison.program.wasm.loops import loop_key
from liaison.program.wasm.to_wasm import Builder, turn

A = (3.0, -1.5, 0.25)


@loop
def sums(n: i64, x: f64) -> f64:
    """Counted loops with continue, break and a name that the body changes."""
    total = 0.0
    for i in range(n):
        if i == 2:
            continue
        if i > 7:
            break
        total += x * float(i)
    for k in range(5, 0, -2):
        j = k
        while j > 0:
            j -= 1
            if j == 3:
                break
            total += A[j % 3]
    for k in range(3):
        k = k + 10
        total += float(k)
    return total + float(k)


@loop
def divided(x: i64, y: i64) -> i64:
    """Quotient and remainder, rounded down."""
    return 1000 * (x // y) + x % y


@loop
def chosen(x: f64, y: f64) -> f64:
    """Choices, powers and roots."""
    a = min(x, y) + 2.0 * max(x, y) + 3.0 * fmin(x, y) + 5.0 * fmax(x, y)
    b = x**3 if x > 0.0 and not y > 4.0 else abs(y) ** 2
    c = 1.0 if x < 0.0 or y < 0.0 else 0.0
    return a + b + c + floor(y) + math.copysign(1.0, x) + float(int(y)) + sqrt_of(abs(x))


@loop
def sqrt_of(x: f64) -> f64:
    """A small loop, which stands in the place of its calls."""
    y = x + 1.0
    return math.sqrt(y) * y


@loop
def turned_bits(x: f64, k: i64) -> f64:
    """Bits of a float."""
    w = (bits(x) ^ (k << 3)) & -2 | (k >> 1)
    return from_bits(w) if math.isfinite(x) else x


@loop
def through(n: i64, x: ptr) -> f64:
    """Pointers: an index with a number in it, and pointers further on."""
    y = at(x, 1)
    total = 0.0
    for i in range(n - 1):
        y[i] = y[i] + x[i] * 0.5
        total += y[i] * x[i + 1]
    return total


@loop
def filled(n: i64, x: ptr, seed: f64) -> f64:
    """Numbers put in memory, then used."""
    for i in range(n):
        x[i] = seed + float(i)
    return through(n, x)


@loop
def sine_and_cosine(x: f64, out: ptr) -> f64:
    """Both at once."""
    turn(x, out)
    return 2.0 * out[0] + out[1]


NUMBERS = [(1.5, -2.25), (-3.0, 4.5), (0.0, -0.0), (math.nan, 2.0), (2.0, math.nan), (1e300, 7.0)]
CALLS = {
    sums: [(n, 0.3) for n in (0, 1, 5, 20)],
    divided: [(x, y) for x in (-7, 0, 7) for y in (-3, 3, 1)],
    chosen: [x for x in NUMBERS if not any(map(math.isnan, x)) and x[1] < 1e18],
    turned_bits: [(x, k) for x in (0.1, -5.0, math.inf) for k in (0, 5, -3)],
}
FAR = (0.0, -0.5, 1.0, 10.0, -1e3, 99999.0, 1e5 + 1, 1e15, -1e22, 1e300, 5e-324)
JOBS = """
const [, , path] = process.argv;
const jobs = JSON.parse(require("fs").readFileSync(path));
const whole = (x) => (x[0] === "n" ? BigInt(x.slice(1)) : floats[x] ?? Number(x));
const value = (x) => (typeof x === "string" ? whole(x) : x);
const floats = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const bits = (x) => Buffer.from(new Float64Array([Number(x)]).buffer).toString("hex");
const answers = jobs.map(({ module, calls, arrays }) => {
  const compiled = new WebAssembly.Module(Buffer.from(module, "base64"));
  if (WebAssembly.Module.imports(compiled).length) return "imports";
  const { exports } = new WebAssembly.Instance(compiled, {});
  const memory = new Float64Array(exports.memory.buffer);
  for (const [address, numbers] of arrays || []) memory.set(numbers.map(Number), address / 8);
  return calls.map(([name, args, read]) => {
    const result = exports[name](...args.map(value));
    if (!read) return bits(result);
    return Array.from(memory.subarray(read[0] / 8, read[0] / 8 + read[1]), bits);
  });
});
console.log(JSON.stringify(answers));
"""


def in_node(node, folder, jobs):
    """Runs the jobs in one process; floats come back by their bits."""
    (folder / "jobs.js").write_text(JOBS)
    (folder / "jobs.json").write_text(json.dumps(jobs))
    words = [node, str(folder / "jobs.js"), str(folder / "jobs.json")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def number(text):
    return struct.unpack("<d", bytes.fromhex(text))[0]


def passed(values):
    return [f"n{x}" if isinstance(x, int) else repr(x) for x in values]


def coded(module):
    import base64

    return base64.b64encode(module).decode()


def loops_job():
    """All loops in one module, their calls, and what plain Python gives."""
    builder = Builder()
    area = builder.place(64)
    roots = {x: [None] * len(args[0]) for x, args in CALLS.items()}
    roots |= {filled: [None, area, None], sine_and_cosine: [None, area]}
    roots |= {FUNCTIONS[x]: [None] * (1 + (x in ("atan2", "pow"))) for x in ("exp", "pow", "atan2")}
    for x in roots:
        builder.assembly.exports[x.name] = loop_key(x)
    builder.loops(roots)
    calls = [[x.name, passed(args)] for x, listed in CALLS.items() for args in listed]
    expected = [float(x(*args)) for x, listed in CALLS.items() for args in listed]
    calls += [["filled", ["n9", "0.25"]], *(["sine_and_cosine", [repr(x)]] for x in FAR)]
    out = np.zeros(2)
    expected += [filled(9, np.zeros(16), 0.25), *(sine_and_cosine(x, out) for x in FAR)]
    pairs = [(0.3, -2.5), (17.0, 0.5), (2.0, 1e-3)]
    calls += [[f, passed(x)] for f in ("pow", "atan2") for x in pairs]
    expected += [FUNCTIONS[f](*x) for f in ("pow", "atan2") for x in pairs]
    calls += [["exp", [repr(x)]] for x in (-700.0, 0.1, 3.0)]
    expected += [FUNCTIONS["exp"](x) for x in (-700.0, 0.1, 3.0)]
    return {"module": coded(builder.module({})), "calls": calls}, expected


def operations():
    """One formula for each operation, and some that are written more than once."""
    q, v = ([symbol(f"{a}[{i}]") for i in range(4)] for a in "qv")
    table = Table([0.0, 1.0, 2.0, 4.0], [1.0, -1.0, 0.5, 2.0])
    shared = q[0] * v[1] + 2.0
    return [
        shared, shared, shared / q[1], -shared, sqrt(shared * shared), sin(q[0]), cos(q[0]),
        sin(q[1] * 7.0), tan(q[2]), asin(q[3] / 3), acos(q[3] / 3), atan(q[0]), atan2(q[0], v[0]),
        exp(q[1]), log(shared * shared), absolute(v[2]), sign(v[3]), sign(v[3] * 0),
        minimum(q[0], v[0]), maximum(q[0], v[0]), select(q[0] - 1, v[1], v[2]), q[0] ** 3,
        q[1] ** -4, q[2] ** 0, (q[2] * q[2] + 1) ** 0.3, table(q[0]), table(q[1] * 4),
        *[0 * q[0]] * 70, symbol("t") * 2,
    ]  # fmt: skip


def entry_job(program, q, v):
    """An entry at one state."""
    module = to_wasm(program)
    notes = json.loads(module[module.rindex(b'{"name"') :])
    base = notes["heap"]
    where = {name: base + 8 * 16 * k for k, name in enumerate(("q", "v", "u", "p", "x"))}
    out = base + 8 * 16 * 5
    facts = notes["entries"]["f"]
    args = ["0.75", *where.values(), out, out + 8 * facts["out"]]
    arrays = [[where["q"], [repr(x) for x in q]], [where["v"], [repr(x) for x in v]]]
    calls = [["f", args, [out, facts["out"]]]]
    return {"module": coded(module), "calls": calls, "arrays": arrays}


@pytest.fixture(scope="module")
def ran(node, tmp_path_factory):
    """All jobs, by one node process."""
    q, v = [0.3, -1.2, 2.5, 0.7, 0.1, -0.4, 1.1], [1.1, -0.4, 0.2, -3.0, 0.5, 0.6, -0.7]
    programs = [program_of(operations(), arrays=("q", "v")), synthetic(3000)]
    loops, expected = loops_job()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(to_wasm_module, "SIZE", 500)
        jobs = [loops, *(entry_job(x, q, v) for x in programs)]
    answers = in_node(node, tmp_path_factory.mktemp("wasm"), jobs)
    kept = [to_numpy(x)("f", 0.75, q=[*q, 0.0], v=[*v, 0.0]) for x in programs]
    return (loops["calls"], answers[0], expected), answers[1:], kept


def test_loops_give_the_bits_of_plain_python(ran):
    calls, answers, expected = ran[0]
    assert len(calls) == len(answers) == len(expected)
    for call, answer, wanted in zip(calls, answers, expected, strict=True):
        value = number(answer)
        assert value == wanted or (math.isnan(value) and math.isnan(wanted)), call


def test_every_operation_gives_what_the_interpreter_does(ran):
    values = np.array([number(x) for x in ran[1][0][0]])
    np.testing.assert_allclose(values, ran[2][0], rtol=4e-15, atol=1e-15)


def test_an_entry_in_several_functions_gives_the_same(ran):
    assert synthetic(3000).operations("f").total() > 2 * 500
    values = np.array([number(x) for x in ran[1][1][0]])
    np.testing.assert_allclose(values, ran[2][1], rtol=1e-9)


@pytest.mark.parametrize(
    "value", [0, 1, -1, 63, 64, -64, -65, 127, 128, 2**31, -(2**63), 2**63 - 1]
)
def test_numbers_of_any_length(value):
    data = signed(value)
    read, shift = 0, 0
    for byte in data:
        read |= (byte & 0x7F) << shift
        shift += 7
    read -= (1 << shift) if data[-1] & 0x40 else 0
    assert read == value
    if value >= 0:
        assert sum((x & 0x7F) << 7 * k for k, x in enumerate(unsigned(value))) == value


def test_unused_functions_are_left_out():
    one = Function(((), ("i64",)), (), [i64_const(1)])
    module = Assembly(functions={"used": one, "idle": one}, exports={"f": "used"})
    before = len(module.module())
    assert list(module.functions) == ["used"]
    assert len(Assembly(functions={"used": one}, exports={"f": "used"}).module()) == before
    assert OP["call"] not in one.code


def test_what_is_known_is_folded():
    """An argument that is one number in every call goes, and so do branches never taken."""
    folded = fold_loops({filled: [3, 64, None]}, (), Memory())
    assert [name for name, _ in folded[filled].arguments] == ["seed"]
    assert folded[through].arguments == ()
    nothing = fold_loops({filled: [0, 64, None]}, (), Memory())
    assert all(step.kind != "for" for step in nothing[filled].body)


def test_the_same_program_gives_the_same_bytes():
    program = synthetic(300)
    assert to_wasm(program) == to_wasm(program)
