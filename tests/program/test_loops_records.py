"""Records in loops: plain Python, LLVM and C read and write the same words by the same names."""

from __future__ import annotations

import ctypes
import re
import types
from pathlib import Path

import numpy as np
import pytest
from program_samples import require_c

from liaison.errors import NamingError, ProgramError
from liaison.expr import symbol
from liaison.program import Entry, Program, compile_loops, loops_to_c, to_llvm
from liaison.program.c.compile_c import compile_c_text
from liaison.program.loops.compile import CTYPES, loops_key
from liaison.program.loops.language import f64, flat, hook, i64, iptr, kernel, loop, ptr
from liaison.program.loops.llvm import loops_ir
from liaison.program.loops.records import (
    Part,
    Record,
    Rows,
    inline,
    like,
    nested,
    part,
    rows,
    set_hook,
    size,
    sized,
    words_of,
)
from liaison.program.loops.tree import signature


class Law(Record):
    kind: i64
    friction: f64
    pair: iptr = inline(2)


class Held(Record):
    x: f64
    law: Law = nested()


class Sides(Part):
    gap: ptr = sized("nb")
    rate: ptr = sized("2 * nb")
    D: ptr = sized("2 * nb", "nq")
    total: f64
    laws: Rows[Law] = rows("nb")


class Run(Record):
    nq: i64 = size()
    ns: i64 = size()
    nb: i64 = size()
    t: f64
    steps: i64
    double: kernel
    detail: iptr = inline(3)
    held: Held = nested()
    tolerance: ptr = inline(2)
    turn: ptr = inline(2, 3)
    q: ptr = sized("nq")
    order: iptr = sized("nq")
    k: ptr = sized("ns", "2 * nq + 1")
    area: ptr = sized()
    blocks: Rows[Law] = rows("nb")
    mid: Sides = part()
    end: Sides = part()
    last: ptr = sized("max(nq, nb) // 2 + 1")


def made() -> Run:
    """A block with some numbers in it."""
    run = Run.new({"area": 5}, nq=3, ns=4, nb=2)
    run.floats[run.span("q").start :] = np.arange(run.words - run.span("q").start, dtype=float)
    run.order[:] = 2, 0, 1
    run.t, run.steps = 0.5, 7
    run.tolerance[:] = 1e-3, 1e-4
    run.turn[:] = [[1, 2, 3], [4, 5, 6]]
    for law in run.blocks:
        law.kind, law.friction, law.pair[:] = 3, 0.25, (8, 9)
    return run


@loop
def scalars(run: Run) -> f64:
    run.t = run.t + 1
    run.steps += run.nq
    run.detail[2] = run.steps
    run.tolerance[1] += run.tolerance[0]
    return run.t * run.steps


@loop
def arrays(run: Run) -> f64:
    total = 0.0
    for i in range(run.nq):
        run.q[i] += 1
        total += run.q[i] * run.order[run.nq - 1 - i]
    rest = run.q[1:]
    rest[0] = total
    run.last[1] = run.area[4] + run.words
    return total


@loop
def total_of(n: i64, x: ptr) -> f64:
    found = 0.0
    for i in range(n):
        found += x[i]
    return found


@loop
def matrices(run: Run) -> f64:
    k = run.k
    for j in range(run.ns):
        row = run.k[j]
        row[0] = j
        k[j, 2] += run.k[j, 1]
        k[j, 2 * run.nq] *= 2
        tail = k[j, 1:]
        tail[2] += 1
    return total_of(run.ns * (2 * run.nq + 1), flat(k)) + total_of(2, run.k[1])


@loop
def small_matrices(run: Run) -> f64:
    turn = run.turn
    for i in range(2):
        turn[i, 2] += run.turn[1 - i, 0]
        row = turn[i]
        row[1] *= 2
        tail = turn[i, 1:]
        tail[1] += row[0]
    return total_of(6, flat(turn)) + total_of(2, run.turn[1])


@loop
def of_law(law: Law) -> f64:
    law.kind += 1
    law.pair[1] = law.kind
    return law.friction * law.pair[0]


@loop
def records(run: Run, laws: Rows[Law]) -> f64:
    found = 0.0
    for k in range(run.nb):
        law = run.blocks[k]
        law.friction += 0.5 * k
        found += of_law(law) + run.blocks[k].pair[1] + laws[k].kind
        run.blocks[k].kind -= 2
    return found


@loop
def nesting(run: Run) -> f64:
    run.held.law.pair[1] = 5
    held = run.held
    held.law.friction += 0.125
    held.x = of_law(run.held.law) + flat(run.blocks.ints)[4]
    return held.x + run.held.law.friction


@loop
def of_part(run: Run, mid: Sides) -> f64:
    mid.total = mid.gap[run.nb - 1]
    mid.D[3, 1] += mid.rate[2]
    mid.laws[1].friction = 0.75
    return mid.D[3, 1] + mid.total + total_of(run.nq, mid.D[1])


@loop
def parts(run: Run, n: i64, scratch: ptr) -> f64:
    mid = run.mid if n > 0 else run.end
    other = Sides(scratch, run)
    other.D[0, 2] = 4.5
    other.total += 2.5
    end = run.end
    end.gap[0] += mid.floats[1]
    return of_part(run, mid) + of_part(run, run.end) + of_part(run, other)


class Area(Part):
    x: ptr = sized("m")
    A: ptr = sized("m", "n")
    last: f64


@loop
def of_area(m: i64, area: Area) -> f64:
    area.x[m - 1] += 3.0
    return area.x[m - 1]


@loop
def whole_area(n: i64, m: i64, area: Area, other: ptr) -> f64:
    area.A[m - 1, n - 1] = 2.0
    area.last += area.A[m - 1, n - 1] + words_of(Area, m, n)
    second = Area(other[words_of(Area, m, n) :], m, n)
    second.last = of_area(m, area)
    return area.last + of_area(m, second) + second.last


@loop
def counted(m: i64, n: i64, words: ptr) -> f64:
    return whole_area(n, m, Area(words, m, n), words) + words_of(Area, 1, 2)


@loop
def casts(words: ptr, run: Run) -> f64:
    same = Run(words)
    same.steps += 2
    ints = run.ints
    ints[5] += 1
    return same.t + run.floats[4] + ints[5] + Run(run.ints[0:]).steps


@loop
def calls(run: Run, none: ptr) -> None:
    run.double(run.t, run.q, none, none, none, none, run.q[1:], none)
    f = run.double
    f(run.t, run.q[1:], none, none, none, none, run.q[2:], none)


CASES = {
    "scalars": (scalars, lambda run: (run,)),
    "arrays": (arrays, lambda run: (run,)),
    "matrices": (matrices, lambda run: (run,)),
    "small_matrices": (small_matrices, lambda run: (run,)),
    "records": (records, lambda run: (run, run.blocks)),
    "nesting": (nesting, lambda run: (run,)),
    "parts": (parts, lambda run: (run, 1, np.arange(60.0))),
    "counted": (counted, lambda run: (2, 3, run.floats[run.span("q").start :])),
    "casts": (casts, lambda run: (run.floats, run)),
}


def as_c(function):
    """The loop through the system's C compiler."""
    require_c()
    library = compile_c_text(loops_to_c([function]), flags=("-O2", "-Werror", "-ffp-contract=off"))
    arguments, result = signature(function)
    foreign = library[f"liaison_{function.name}"]
    foreign.restype = CTYPES[result]
    foreign.argtypes = [CTYPES.get(kind, ctypes.c_void_p) for _, kind in arguments]

    def place(value):
        value = getattr(value, "ints", value)
        return value.ctypes.data if isinstance(value, np.ndarray) else value

    return lambda *args: foreign(*map(place, args))


def as_llvm(function):
    return compile_loops([function], cache=False)[function]


BACKENDS = [pytest.param(as_llvm, id="llvm"), pytest.param(as_c, id="c")]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_compiled_records_equal_plain_python(name, backend):
    function, arguments = CASES[name]
    plain, machine = made(), made()
    first, second = arguments(plain), arguments(machine)
    expected, found = function(*first), backend(function)(*second)
    assert found == expected != 0
    assert not np.array_equal(plain.ints, made().ints)
    np.testing.assert_array_equal(machine.ints, plain.ints)
    for a, b in zip(first, second, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("backend", [*BACKENDS, pytest.param(lambda f: f, id="python")])
def test_a_field_holds_an_entry_of_a_kernel(backend):
    q, t = symbol("q[0]"), symbol("t")
    program = Program("one", {"double": Entry("double", (2 * q + t,))}, {q: ("q", 0), t: ("t", 0)})
    entry = to_llvm(program, cache=False)
    run = made()
    run.q[0], run.double = 3.0, entry.address("double")
    backend(calls)(run, np.zeros(1))
    assert list(run.q) == [3, 6.5, 13.5]


def test_rows_of_another_record_are_refused():
    run, call = made(), as_llvm(records)
    with pytest.raises(ProgramError, match="takes rows of Law, not Rows of Held"):
        call(run, Rows(Held, np.zeros(2 * Held.header)))
    with pytest.raises(ProgramError, match="takes rows of Law, not ndarray"):
        call(run, np.zeros(8))


def test_a_block_holds_offsets_and_no_addresses():
    run = made()
    copy = Run(run.ints.copy())
    copy.q[0] = 99.0
    assert run.q[0] != 99.0
    assert copy.words == run.words == run.ints[0]
    assert run.copy().ints is not run.ints
    ends = [run.span(x.name).stop for x in Run.fields.values() if x.is_array]
    assert ends[-1] == run.words
    assert run.span("k") == slice(run.span("k").start, run.span("k").start + 4 * 7)
    assert len(run.area) == 5
    assert len(run.last) == 2
    assert run.mid.floats.size == 2 + 4 + 4 * 3 + 1 + 2 * 4


def test_plain_python_ends_where_an_array_ends():
    run = made()
    outside = [
        lambda: run.q[3], lambda: run.k[4, 0], lambda: run.k[0, 7], lambda: run.detail[3],
        lambda: run.mid.gap[2], lambda: run.mid.D[4, 0], lambda: run.last[2],
        lambda: run.mid.floats[27], lambda: run.turn[1, 3],
    ]  # fmt: skip
    for read in outside:
        with pytest.raises(IndexError):
            read()
    with pytest.raises(IndexError, match="row 2 of 2 of Law"):
        run.blocks[2]
    with pytest.raises(IndexError):
        run.blocks[-1]


def test_an_array_may_be_left_out():
    run = Run.new({"area": 0, "mid": 0, "k": 0, "blocks": 0}, nq=3, ns=4, nb=2)
    assert run.k.shape == (0, 7)
    assert len(run.blocks) == 0
    assert run.span("mid").start == run.span("end").start
    assert Run.new({"area": 0}, nq=0, ns=2, nb=0).mid.D.shape == (0, 0)


def test_counts_and_offsets_may_stay_in_registers():
    text = loops_ir([scalars, arrays])
    loads = re.findall(r"load (\w+), ptr %x\d+, align 8(.*)", text)
    assert ("i64", ", !invariant.load !0") in loads
    assert ("double", "") in loads
    assert ("double", ", !invariant.load !0") not in loads
    assert text.endswith("!0 = !{}\n")


def test_c_text_names_fields():
    text = loops_to_c([scalars, records])
    assert "  double turn_[6];\n" in text
    assert "run_->t_ = run_->t_ + 1.0;" in text
    assert "typedef struct {\n  int64_t kind_;\n  double friction_;\n" in text
    assert "  int64_t detail_[3];\n  liaison_Held held_;\n  double tolerance_[2];\n" in text
    assert "  int64_t q_;  /* offset */" in text
    assert "law_->friction_ = " in text


def test_c_text_numbers_records_of_one_name():
    def another():
        class Law(Record):
            x: f64

        @loop
        def f(law: Law) -> f64:
            return law.x

        return f, Law

    f, other = another()

    @loop
    def both(law: Law, words: ptr) -> f64:
        return f(other(words)) + law.friction

    text = loops_to_c([both])
    assert "} liaison_Law;" in text
    assert "} liaison_Law_2;" in text
    law = Law.new()
    law.friction = 0.5
    words = np.array([3.0])
    assert as_c(both)(law, words) == as_llvm(both)(law, words) == both(law, words) == 3.5


# refusals of loops


@loop
def sets_a_count(run: Run) -> None:
    run.nq = 3


@loop
def sets_an_array(run: Run) -> None:
    run.q = run.area


@loop
def sets_an_entry(run: Run) -> None:
    run.double = 3


@loop
def unknown_field(run: Run) -> f64:
    return run.stepz


@loop
def unknown_in_a_part(run: Run) -> f64:
    return run.mid.gapp[0]


@loop
def matrix_as_pointer(run: Run) -> f64:
    return total_of(3, run.k)


@loop
def three_indices(run: Run) -> f64:
    return run.k[1, 2, 3]


@loop
def two_indices(run: Run) -> f64:
    return run.q[1, 2]


@loop
def sets_a_row(run: Run) -> None:
    run.k[1] = 2.0


@loop
def record_as_pointer(run: Run) -> f64:
    return total_of(3, run.mid)


@loop
def field_of_a_number(run: Run) -> f64:
    return run.t.x


@loop
def wrong_record(run: Run) -> f64:
    return of_law(run)


@loop
def part_alone(mid: Sides) -> f64:
    return mid.gap[0]


@loop
def part_of_another(run: Run, other: Run) -> f64:
    return of_part(run, other.mid)


@loop
def wrong_counts(m: i64, n: i64, words: ptr) -> f64:
    return whole_area(m, n, Area(words, m, n), words)


@loop
def count_that_changes(m: i64, n: i64, words: ptr) -> f64:
    m = m + 1
    return Area(words, m, n).last


@loop
def count_not_there(m: i64, area: Area) -> f64:
    return area.last


@loop
def slices_rows(run: Run) -> f64:
    return run.blocks[1:].friction


@loop
def no_entry(run: Run) -> None:
    run.t(1.0)


REFUSED = [
    (sets_a_count, "'nq' is a count: it is set when the block is made"),
    (sets_an_array, "'q' is an array: assign its elements, q[i] = …"),
    (sets_an_entry, "kernel is wanted here, not i64"),
    (unknown_field, "no field of Run is named 'stepz'; did you mean 'steps'"),
    (unknown_in_a_part, "no field of Sides is named 'gapp'; did you mean 'gap'"),
    (matrix_as_pointer, "write flat(m) or m[j]"),
    (three_indices, "an element of a matrix has two indices"),
    (two_indices, "two indices are for matrices"),
    (sets_a_row, "an element of a matrix has two indices"),
    (record_as_pointer, "ptr is wanted here, not Sides; write its floats"),
    (field_of_a_number, "only records have fields, f64 has none named 'x'"),
    (wrong_record, "Law is wanted here, not Run"),
    (part_alone, "Sides is sized by nb, nq: neither a record nor integers among the arguments"),
    (part_of_another, "a Sides is given together with the counts it has"),
    (wrong_counts, "a Area is given together with the counts it has"),
    (count_that_changes, "'m' may change: a count is an argument or a number"),
    (count_not_there, "the count 'n' is not among the arguments"),
    (slices_rows, "a rows has no such elements"),
    (no_entry, "run.t is no entry of a kernel"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED, ids=lambda x: getattr(x, "name", ""))
def test_wrong_uses_are_refused_with_their_line(function, message):
    with pytest.raises(ProgramError) as refusal:
        compile_loops([function], cache=False)
    text = str(refusal.value)
    assert message in text
    assert "test_loops_records.py, line " in text
    line = refusal.value.place.line
    assert refusal.value.place.text.strip() in Path(__file__).read_text().splitlines()[line - 1]


# refusals of classes and blocks


PRELUDE = """from __future__ import annotations
from liaison.program import loop, i64, f64, ptr, iptr, kernel
from liaison.program.loops.records import Part, Record, Rows, inline, sized
from liaison.program.loops.records import nested, part, rows, size
"""


def written(text, tmp_path):
    """A module of this text."""
    module = types.ModuleType("written")
    exec(compile(PRELUDE + text, str(tmp_path / "written.py"), "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(
    ("field", "error", "message"),
    [
        ("q: ptr = sized('nq')", NamingError, "no count of A, for q, is named 'nq'"),
        ("q: ptr = sized('len(nv)')", ProgramError, "is no formula of a size"),
        ("q: ptr = sized('2 *')", ProgramError, "is no formula of a size"),
        ("q: f64 = sized('nv')", ProgramError, "'f64' with the layout 'sized'"),
        ("q: ptr", ProgramError, "'ptr' with the layout 'scalar'"),
        ("q: f64 = 3.0", ProgramError, "A.q is no field of a record"),
        ("words: i64", ProgramError, "this name is one of the record's own"),
        ("r: Rows[B] = rows('nv')", ProgramError, "is no record"),
        ("r: f64 = part()", ProgramError, "is no part"),
    ],
)
def test_classes_say_what_is_wrong_with_them(field, error, message, tmp_path):
    with pytest.raises(error, match=re.escape(message)):
        written(f"class A(Record):\n    nv: i64 = size()\n    {field}\n", tmp_path)


def test_rows_have_a_fixed_size(tmp_path):
    text = (
        "class B(Record):\n    n: i64 = size()\n"
        "class A(Record):\n    n: i64 = size()\n    b: Rows[B] = rows('n')\n"
    )
    with pytest.raises(ProgramError, match="B has arrays, so it has no fixed size"):
        written(text, tmp_path)


def test_a_part_has_formulas(tmp_path):
    with pytest.raises(ProgramError, match="a part has numbers, arrays and rows"):
        written("class A(Part):\n    x: ptr = sized()\n", tmp_path)


def test_blocks_say_what_is_missing():
    with pytest.raises(ProgramError, match=r"the length of Run.area is missing"):
        Run.new(nq=1, ns=1, nb=1)
    with pytest.raises(ProgramError, match="Run has the counts nb, nq, ns, not nq"):
        Run.new(nq=1)
    with pytest.raises(NamingError, match="did you mean 'area'"):
        Run.new({"area": 1, "arae": 2}, nq=1, ns=1, nb=1)
    with pytest.raises(ProgramError, match="5 words are no block of Run"):
        Run(np.zeros(5))
    run = made()
    with pytest.raises(ProgramError, match="'nq' is a count"):
        run.nq = 4
    with pytest.raises(ProgramError, match="'q' is an array"):
        run.q = np.zeros(3)
    with pytest.raises(ProgramError, match="takes a Run, not Law"):
        as_llvm(scalars)(Law.new())


# the key of the machine code


LAYOUT = """
class Law(Record):
    kind: i64
    friction: f64

class Sides(Part):
    gap: ptr = sized("nb")
    D: ptr = sized("nb", "nb")

class Run(Record):
    nb: i64 = size()
    t: f64
    q: ptr = sized("nb")
    laws: Rows[Law] = rows("nb")
    mid: Sides = part()

@loop
def f(run: Run) -> f64:
    return run.t + run.laws[1].friction + run.mid.D[1, 1] + run.q[0]
"""


def test_the_key_changes_with_the_layout(tmp_path):
    changes = {
        "nothing": ("", ""),
        "order": ("    t: f64\n", "    s: f64\n    t: f64\n"),
        "row": ("    friction: f64\n", "    x: f64\n    friction: f64\n"),
        "part": ('    D: ptr = sized("nb", "nb")', '    D: ptr = sized("nb", "2 * nb")'),
        "name": ("    q: ptr", "    r: ptr"),
        "type": ("    t: f64\n", "    t: i64\n"),
    }
    keys, marks = {}, {}
    for name, (old, new) in changes.items():
        module = written(LAYOUT.replace(old, new) if old else LAYOUT, tmp_path)
        keys[name], marks[name] = loops_key([module.f]), module.Run.mark()
    assert len(set(keys.values())) == len(set(marks.values())) == len(changes)
    again = written(LAYOUT, tmp_path)
    assert loops_key([again.f]) == keys["nothing"]
    assert again.Run.mark() == marks["nothing"]


def test_the_key_changes_with_a_record_that_is_cast(tmp_path):
    text = "class A(Record):\n    x: f64\n@loop\ndef f(p: ptr) -> f64:\n    return A(p).x\n"
    other = text.replace("    x: f64\n", "    y: f64\n    x: f64\n")
    keys = [loops_key([written(x, tmp_path).f]) for x in (text, other)]
    assert keys[0] != keys[1]


def test_formulas_are_compiled_once(monkeypatch):
    run = made()
    run.counts, run.k, run.mid.D, run.last  # noqa: B018
    monkeypatch.setattr("liaison.program.loops.records.compile", None, raising=False)
    again = made()
    assert again.k.shape == (4, 7)
    assert again.mid.D.shape == (4, 3)


# hooks: loops called by address


@loop
def change(run: Run, x: f64, out: ptr) -> i64:
    """What a hook takes and gives."""
    return 0


@loop
def doubled(run: Run, x: f64, out: ptr) -> i64:
    out[0] = 2.0 * x + run.t
    run.steps += 1
    return run.steps


@loop
def squared(run: Run, x: f64, out: ptr) -> i64:
    out[0] = x * x
    run.steps += 10
    return run.steps


class Pair(Record):
    begin: hook = like(change)
    end: hook = like(change)


class Called(Record):
    weight: f64
    pair: Pair = nested()


@loop
def call_both(called: Called, run: Run, out: ptr) -> i64:
    end = called.pair.end
    found = called.pair.begin(run, called.weight, out)
    called.pair.begin(run, 1.0, out[1:])
    return 100 * found + end(run, 2, out[2:])


def called_with(first, second, machine=None):
    called = Called.new()
    called.weight = 3.0
    for name, each in (("begin", first), ("end", second)):
        set_hook(called.pair, name, each, machine and machine.address(each))
    return called


@pytest.mark.parametrize("backend", [*BACKENDS, pytest.param(lambda f: f, id="python")])
def test_a_hook_calls_a_loop_compiled_apart(backend):
    machine = compile_loops([doubled, squared], cache=False)
    for first, second in ((doubled, squared), (squared, doubled), (doubled, doubled)):
        plain, other = made(), made()
        out, found = np.zeros(3), np.zeros(3)
        expected = call_both(called_with(first, second), plain, out)
        assert backend(call_both)(called_with(first, second, machine), other, found) == expected
        np.testing.assert_array_equal(found, out)
        np.testing.assert_array_equal(other.ints, plain.ints)
        assert out[0] == (9.0 if first is squared else 6.0 + plain.t)


def test_what_calls_a_hook_does_not_contain_what_it_calls():
    text = loops_ir([call_both])
    assert re.search(r"call i64 \(ptr, double, ptr\) %x\d+\(ptr", text)
    assert "doubled" not in text
    assert "change" not in text
    c = loops_to_c([call_both])
    assert "typedef int64_t (*liaison_hook_change)(liaison_Run *, double, double *);" in c
    assert "change(liaison_Run *run_" not in c


def test_a_hook_takes_loops_of_its_signature_alone():
    @loop
    def other(run: Run, x: f64) -> i64:
        return 0

    pair = Pair.new()
    with pytest.raises(ProgramError, match=r"no loop is in Pair.begin"):
        pair.begin(made(), 1.0, np.zeros(1))
    with pytest.raises(ProgramError, match=r"calls a loop \(Run, f64, ptr\) -> i64, .* is \(Run"):
        set_hook(pair, "begin", other)
    with pytest.raises(NamingError, match="did you mean 'begin'"):
        set_hook(pair, "begn", doubled)
    with pytest.raises(ProgramError, match="is a hook: store a loop by set_hook"):
        pair.begin = doubled


def test_wrong_uses_of_hooks_are_refused():
    @loop
    def too_few(called: Called, run: Run) -> i64:
        return called.pair.end(run, 1.0)

    @loop
    def sets(called: Called) -> None:
        called.pair.end = called.pair.begin

    @loop
    def inside(called: Called) -> f64:
        return called.pair.end.x

    for each, message in (
        (too_few, "3 arguments, not 2"),
        (sets, "'end' is the address of an entry or of a loop"),
        (inside, "only records have fields"),
    ):
        with pytest.raises(ProgramError, match=message):
            loops_ir([each])


def test_the_key_changes_with_the_signature_of_a_hook():
    def keyed(prototype):
        class One(Record):
            f: hook = like(prototype)

        @loop
        def go(one: One, run: Run) -> i64:
            return one.f(run, 1.0, run.q)

        return loops_key([go])

    @loop
    def wider(run: Run, x: f64, out: ptr) -> f64:
        return 0.0

    assert keyed(change) == keyed(doubled) != keyed(wider)
