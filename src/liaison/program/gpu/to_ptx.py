"""to_ptx: a program as PTX text for NVIDIA GPUs, through LLVM; neither GPU nor CUDA is needed.

Kernels for a GPU as LLVM IR: entries on many states, and fixed steps of many states.

One state a thread. `evaluate_ir` reads a state, runs an entry and writes its outputs; a long one is
cut into functions, since registers are given out for each, and what passes between them lies in the
thread's own memory. `march_ir`
takes steps of the classical Runge–Kutta method in local coordinates without leaving the registers,
the four stages as one loop, and brings closed loops back after each step by one correction of
positions and one of velocities.

Source: HNW1 §II.1, table 1.2 (the method); HLW §IV.8 (local coordinates).

Runge–Kutta steps of large programs on a GPU: the method as a loop that calls entries.

Registers do not hold the state, the stages and the right-hand side of a humanoid at once. Here
state and stages lie in the thread's own memory, and entries are cut into functions, each with
registers of its own. The steps are those of `march_ir`.

Public names: to_ptx, ptx_package, Precision, evaluate_ir, march_ir, EVALUATE, MARCH,
arguments_text, long_march_ir, is_long, form_of, chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, final

from liaison.errors import ProgramError
from liaison.program.llvm.entries import Form
from liaison.program.llvm.machine import ptx
from liaison.program.loops.language import at, f64, i64, kernel, loop, ptr
from liaison.program.loops.records import Record, size, sized
from liaison.program.loops.special import (
    PREFIX,
    Special,
    graded,
    in_words_of_32_bits,
    rolled,
    special_ir,
)
from liaison.program.plan import plan
from liaison.program.program import ARRAYS, Entry, Program

from .pointers import entry_text, functions_text, work_size
from .thread import ANGLES, GLOBAL, LOCAL, Body, DeviceModule, Memory, Readers, body_of, written

ENTRIES = ("rate", "retract", "correct_q", "correct_v")
WHEN, REACH = (0.0, 0.5, 0.5, 1.0), (0.5, 0.5, 1.0, 0.0)
WEIGHT = (1 / 6, 1 / 3, 1 / 3, 1 / 6)


@final
class Called(Record):
    """Entries of the program."""

    rate: kernel
    retract: kernel
    correct_q: kernel
    correct_v: kernel


@final
class Moving(Record):
    """A state and the stages of its step."""

    nq: i64 = size()
    nv: i64 = size()
    nu: i64 = size()
    np: i64 = size()
    has_positions: i64  # closures of positions
    has_closures: i64
    worst: f64
    q: ptr = sized("nq")
    moved: ptr = sized("nq")
    v: ptr = sized("nv")
    u: ptr = sized("nu")
    p: ptr = sized("np")
    xi: ptr = sized("nv")
    speed: ptr = sized("nv")
    turned: ptr = sized("nv")
    pushed: ptr = sized("nv")
    out: ptr = sized()


@loop
def stages(e: Called, now: f64, step: f64, s: Moving, work: ptr) -> None:
    """h Σ bᵢ ξ̇ᵢ and h Σ bᵢ v̇ᵢ."""
    for k in range(s.nv):
        s.xi[k] = 0.0
        s.speed[k] = s.v[k]
        s.turned[k] = 0.0
        s.pushed[k] = 0.0
    for stage in range(4):
        e.rate(now + WHEN[stage] * step, s.q, s.speed, s.u, s.p, s.xi, s.out, work)
        weight = WEIGHT[stage] * step
        reach = REACH[stage] * step
        for k in range(s.nv):
            turn = s.out[k]
            push = s.out[s.nv + k]
            s.xi[k] = reach * turn
            s.speed[k] = s.v[k] + reach * push
            s.turned[k] += weight * turn
            s.pushed[k] += weight * push


@loop
def larger(a: f64, b: f64) -> f64:
    """The larger; NaN where b is NaN."""
    return a if b <= a else b


@loop
def retracted(e: Called, t: f64, xi: ptr, s: Moving, work: ptr) -> None:
    """q := q ⊞ ξ."""
    e.retract(t, s.q, s.v, s.u, s.p, xi, s.moved, work)
    for k in range(s.nq):
        s.q[k] = s.moved[k]


@loop
def correct(e: Called, t: f64, s: Moving, work: ptr) -> None:
    """The state back on its closures, and the largest residual before that."""
    if s.has_positions > 0:
        e.correct_q(t, s.q, s.v, s.u, s.p, s.q, s.out, work)
        retracted(e, t, s.out, s, work)
        s.worst = larger(s.worst, s.out[s.nv])
    e.correct_v(t, s.q, s.v, s.u, s.p, s.q, s.out, work)
    for k in range(s.nv):
        s.v[k] += s.out[k]
    s.worst = larger(s.worst, s.out[s.nv])


@loop
def take_step(e: Called, now: f64, step: f64, s: Moving, work: ptr) -> None:
    """The state after a step; the residual is NaN once a velocity is not finite."""
    stages(e, now, step, s, work)
    retracted(e, now + step, s.turned, s, work)
    for k in range(s.nv):
        s.v[k] += s.pushed[k]
    if s.has_closures > 0:
        correct(e, now + step, s, work)
    for k in range(s.nv):
        s.worst += s.v[k] - s.v[k]


@loop
def march_state(
    i: i64, steps: i64, step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, residual: ptr,
    t_one: i64, q_stride: i64, v_stride: i64, u_stride: i64, u_one: i64, p_stride: i64, p_one: i64,
    e: Called, s: Moving, work: ptr,
) -> None:  # fmt: skip
    """State i for so many steps."""
    for k in range(s.nq):
        s.q[k] = q[k * q_stride + i]
    for k in range(s.nv):
        s.v[k] = v[k * v_stride + i]
    for k in range(s.nu):
        s.u[k] = u[k * u_stride + i * u_one]
    for k in range(s.np):
        s.p[k] = p[k * p_stride + i * p_one]
    s.worst = residual[i]
    start = t[i * t_one]
    for k in range(steps):
        take_step(e, start + float(k) * step, step, s, work)
    for k in range(s.nq):
        q[k * q_stride + i] = s.q[k]
    for k in range(s.nv):
        v[k * v_stride + i] = s.v[k]
    at(residual, i)[0] = s.worst


LONG = {"double": 3000, "float": 20_000}
"""Operations of a right-hand side from which on it is cut. Measured: floats that registers do not
hold are better left to the driver's compiler."""


def is_long(program: Program, form: Form) -> bool:
    """Whether the right-hand side is more than registers hold."""
    return sum(program.operations("rate").values()) > LONG[form.real]


def long_march_ir(program: Program, form: Form, shared: frozenset[str], block: int) -> str:
    """IR of the kernel `march`, with the arguments of `march_ir`.

    Args:
        program: with rate and retract, and correct_q and correct_v where it has closures.
        form: double or float.
        shared: arrays that are the same for all states; never q or v.
        block: threads in a block, at most.
    """
    closures = bool(program.sizes["nc"]), bool(program.sizes.get("nphi", 0))
    wanted = [True, True, closures[0] and closures[1], closures[0]]
    names = [name for name, is_there in zip(ENTRIES, wanted, strict=True) if is_there]
    sizes = {name: int(program.sizes.get(name, 0)) for name in ("nq", "nv", "nu", "np")}
    longest = max(len(program.entry(name).outputs) for name in names)
    block_of = Moving.new({"out": longest}, **sizes)
    block_of.has_positions, block_of.has_closures = closures[1], closures[0]
    slots = {Called.fields[name].slot: name for name in names}
    loops, functions = special_ir([march_state], Special(block_of, frozenset(), Called, slots))
    if form.real == "float":
        loops = in_words_of_32_bits(loops)
    module = DeviceModule(form)
    bodies = [entry_text(module, program, name, f"{PREFIX}{name}") for name in names]
    own = functions_text(module, functions)
    work = 1 + max(work_size(program, name, form) for name in names)
    kernel_text = _kernel(int(block_of.words), work, form, shared)
    tail = f'attributes #0 = {{ nounwind "nvvm.maxntid"="{block}" }}'
    registers = ("tid", "ctaid", "ntid")
    declared = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in registers]
    text = [*declared, rolled(graded(loops)), *bodies, own, kernel_text, module.tail(), tail, ""]
    return "\n".join(text)


def _kernel(words: int, work: int, form: Form, shared: frozenset[str]) -> str:
    """The kernel: what is shared has steps of one number and none from state to state."""
    bits = "i64" if form.real == "double" else "i32"
    moved = ("t", "q", "v", "u", "p")
    arguments = ["i64 %count", "i64 %steps.count", f"{form.real} %step"]
    arguments += [f"ptr %{name}" for name in (*moved, "residual")]
    arguments += [f"i64 %{name}.stride" for name in moved]
    whole = ["i", "steps.count", "q.stride", "v.stride", "u.stride", "p.stride"]
    short = [f"  %short.{name} = {'add i64' if bits == 'i64' else 'trunc i64'} %{name}"
             f"{', 0' if bits == 'i64' else ' to i32'}" for name in whole]  # fmt: skip

    def stride(name: str) -> str:
        return f"{bits} 1" if name in shared else f"{bits} %short.{name}.stride"

    def one(name: str) -> str:
        return f"{bits} {0 if name in shared else 1}"

    passed = [f"{bits} %short.i", f"{bits} %short.steps.count", f"{form.real} %step"]
    passed += [f"ptr %{name}" for name in (*moved, "residual")]
    passed += [one("t"), stride("q"), stride("v"), stride("u"), one("u"), stride("p"), one("p")]
    passed += ["ptr null", "ptr %run", "ptr %work"]
    room = [f"  %run = alloca [{words} x {bits}], align 8",
            f"  %work = alloca [{work} x {form.real}], align 8"]  # fmt: skip
    head = HEAD.format(name="march", arguments=", ".join(arguments), room="\n".join(["", *room]))
    call = f"  call void @liaison_march_state({', '.join(passed)})"
    return "\n".join([head, *short, call, *TAIL])


STRIDED = ("t", "q", "v", "u", "p", "x")
EVALUATE = ("count", *ARRAYS, "out", *(f"{name}.stride" for name in (*STRIDED, "out")))
"""Arguments of an evaluating kernel: the count, addresses, then strides."""

_MOVED = STRIDED[:5]
MARCH = ("count", "steps", "step", *_MOVED, "residual", *(f"{name}.stride" for name in _MOVED))
"""Arguments of a marching kernel, which changes q and v in place and adds to `residual`."""

HEAD = """\
define ptx_kernel void @{name}({arguments}) #0 {{
start:{room}
  %thread32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block32 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width32 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = zext i32 %thread32 to i64
  %block = zext i32 %block32 to i64
  %width = zext i32 %width32 to i64
  %before = mul i64 %block, %width
  %i = add i64 %before, %thread
  %mine = icmp ult i64 %i, %count
  br i1 %mine, label %entry, label %done
entry:"""
"""The first lines of a kernel: thread i is state i; `room` reserves memory of its own."""

PIECES = {"double": 1000, "float": 10_000}
"""Operations in a function of an evaluating kernel; up to twice that it is not cut. Measured:
floats take half the registers, and what does not fit is better left to the driver's compiler."""
TAIL = ["  br label %done", "done:", "  ret void", "}"]


def evaluate_ir(
    program: Program, entry: str, form: Form, shared: frozenset[str], block: int
) -> str:
    """IR of the kernel `evaluate`: an entry on every state.

    Args:
        program: with the entry.
        entry: its name.
        form: double or float.
        shared: arrays that are the same for all states.
        block: threads in a block, at most.
    """
    module = DeviceModule(form)
    entry_plan = plan(program, entry, lanes=ANGLES, size=PIECES[form.real])
    bodies = [
        written(module, program, entry_plan, piece, Memory(form, shared))
        for piece in entry_plan.pieces
    ]
    head = _head("evaluate", EVALUATE, form)
    if len(bodies) == 1:
        return _module(module, [head, *bodies, *TAIL], block)
    names = [f"@piece{k}" for k in range(len(bodies))]
    arguments = arguments_text(EVALUATE, form)
    functions = [
        f"define internal void {name}({arguments}, i64 %i, {LOCAL} %work) noinline nounwind {{\n"
        f"entry:\n{body}\n  ret void\n}}"
        for name, body in zip(names, bodies, strict=True)
    ]
    work = f"[{entry_plan.work_size} x {form.kind}]"
    calls = [
        f"  %work.here = alloca {work}, align 8",
        f"  %work = addrspacecast ptr %work.here to {LOCAL}",
        *(f"  call void {name}({arguments}, i64 %i, {LOCAL} %work)" for name in names),
    ]
    calls = [line.replace(" noalias", "") for line in calls]
    return _module(module, [*functions, head, *calls, *TAIL], block)


def march_ir(program: Program, form: Form, shared: frozenset[str], block: int) -> str:
    """IR of the kernel `march`: fixed steps of every state.

    Args:
        program: with rate and retract, and correct_q and correct_v where it has closures.
        form: double or float.
        shared: arrays that are the same for all states; never q or v.
        block: threads in a block, at most.
    """
    module = DeviceModule(form)
    lines = [_head("march", MARCH, form), *_March(module, program, form, shared).lines(), *TAIL]
    return _module(module, lines, block)


@final
@dataclass(slots=True)
class _Text:
    """Instructions of a function, and the block they are in."""

    form: Form
    lines: list[str] = field(default_factory=list)
    block: str = "entry"
    count: int = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %r{self.count} = {text}")
        return f"%r{self.count}"

    def op(self, name: str, a: str, b: str) -> str:
        return self.put(f"{name} contract {self.form.kind} {a}, {b}")

    def along(self, a: Sequence[str], factor: str, b: Sequence[str]) -> list[str]:
        """a + factor b."""
        pairs = zip(a, b, strict=True)
        return [self.op("fadd", x, self.op("fmul", factor, y)) for x, y in pairs]

    def pick(self, test: str, a: float, b: str) -> str:
        kind = self.form.kind
        return self.put(f"select i1 {test}, {kind} {self.form.number(a)}, {kind} {b}")

    def larger(self, a: str, b: str) -> str:
        """The larger; NaN where b is NaN."""
        kind = self.form.kind
        return self.put(
            f"select i1 {self.put(f'fcmp ugt {kind} {b}, {a}')}, {kind} {b}, {kind} {a}"
        )

    def enter(self, block: str) -> None:
        self.lines.append(f"{block}:")
        self.block = block


class _March:
    """Writes the loops of a marching kernel."""

    def __init__(
        self, module: DeviceModule, program: Program, form: Form, shared: frozenset[str]
    ) -> None:
        self.module, self.program, self.form = module, program, form
        self.nq, self.nv = program.sizes["nq"], program.sizes["nv"]
        self.memory = Memory(form, shared)
        self.text = _Text(form)
        self.bodies = 0

    def lines(self) -> list[str]:
        """Everything between the head and the tail."""
        q = [self.memory.load("q", k) for k in range(self.nq)]
        v = [self.memory.load("v", k) for k in range(self.nv)]
        worst = self.memory.load("residual", 0)
        t = self.memory.load("t", 0)
        self.loop(q, v, worst, t)
        return [*self.first, *self.text.lines, *self.memory.taken()]

    def loop(self, q0: list[str], v0: list[str], worst0: str, t0: str) -> None:
        """Step after step; the loops' variables are patched once their ends are known."""
        text, form = self.text, self.form
        text.lines.append("  br label %steps")
        text.enter("steps")
        k = self.later("k", "i64", 1)[0]
        q, v = self.later("q", form.kind, self.nq), self.later("v", form.kind, self.nv)
        worst = self.later("worst", form.kind, 1)[0]
        number = text.put(f"uitofp i64 {k} to {form.kind}")
        now = text.op("fadd", t0, text.op("fmul", number, "%step"))
        turns, pushes = self.stages(q, v, now)
        end = text.op("fadd", now, "%step")
        q_new, v_new, missed = self.moved(q, v, turns, pushes, end, worst)
        ahead = text.put(f"add i64 {k}, 1")
        more = text.put(f"icmp ult i64 {ahead}, %steps.count")
        last = text.block
        text.lines.append(f"  br i1 {more}, label %steps, label %finish")
        text.enter("finish")
        self.patch("k", "i64", ["0"], [ahead], "entry", last)
        self.patch("q", form.kind, q0, q_new, "entry", last)
        self.patch("v", form.kind, v0, v_new, "entry", last)
        self.patch("worst", form.kind, [worst0], [missed], "entry", last)
        self.first = self.memory.taken()
        for array, values in (("q", q_new), ("v", v_new), ("residual", [missed])):
            for index, value in enumerate(values):
                self.memory.store(array, index, value)

    def stages(self, q: list[str], v: list[str], now: str) -> tuple[list[str], list[str]]:
        """The four stages as a loop: h Σ bᵢ ξ̇ᵢ and h Σ bᵢ v̇ᵢ."""
        text, form, nv = self.text, self.form, self.nv
        before = text.block
        text.lines.append("  br label %stages")
        text.enter("stages")
        stage = self.later("stage", "i32", 1)[0]
        names = ("xi", "speed", "turned", "pushed")
        xi, speed, turned, pushed = (self.later(name, form.kind, nv) for name in names)
        is_first = text.put(f"icmp eq i32 {stage}, 0")
        is_third = text.put(f"icmp eq i32 {stage}, 2")
        is_last = text.put(f"icmp eq i32 {stage}, 3")
        is_end = text.put(f"or i1 {is_first}, {is_last}")
        when = text.pick(is_first, 0.0, text.pick(is_last, 1.0, form.number(0.5)))
        weight = text.op("fmul", text.pick(is_end, 1 / 6, form.number(1 / 3)), "%step")
        reach = text.op("fmul", text.pick(is_third, 1.0, form.number(0.5)), "%step")
        time = text.op("fadd", now, text.op("fmul", when, "%step"))
        out = self.run("rate", {"t": [time], "q": q, "v": speed, "x": xi})
        turn, push = out[:nv], out[nv : 2 * nv]
        xi_next = [text.op("fmul", reach, x) for x in turn]
        speed_next = text.along(v, reach, push)
        turned_next, pushed_next = (
            text.along(turned, weight, turn),
            text.along(pushed, weight, push),
        )
        ahead = text.put(f"add i32 {stage}, 1")
        more = text.put(f"icmp ult i32 {ahead}, 4")
        last = text.block
        text.lines.append(f"  br i1 {more}, label %stages, label %update")
        text.enter("update")
        zeros = [form.number(0.0)] * nv
        self.patch("stage", "i32", ["0"], [ahead], before, last)
        starts = (zeros, v, zeros, zeros)
        nexts = (xi_next, speed_next, turned_next, pushed_next)
        for name, start, following in zip(names, starts, nexts, strict=True):
            self.patch(name, form.kind, start, following, before, last)
        return turned_next, pushed_next

    def moved(
        self, q: list[str], v: list[str], turns: list[str], pushes: list[str], t: str, worst: str
    ) -> tuple[list[str], list[str], str]:
        """The state after a step, back on its closures, and the largest residual before that."""
        text, nv = self.text, self.nv
        q = self.run("retract", {"t": [t], "q": q, "v": v, "x": turns})
        v = [text.op("fadd", x, y) for x, y in zip(v, pushes, strict=True)]
        if self.program.sizes["nc"]:
            if self.program.sizes["nphi"]:
                out = self.run("correct_q", {"t": [t], "q": q, "v": v, "x": []})
                q = self.run("retract", {"t": [t], "q": q, "v": v, "x": out[:nv]})
                worst = text.larger(worst, out[nv])
            out = self.run("correct_v", {"t": [t], "q": q, "v": v, "x": []})
            v = [text.op("fadd", x, y) for x, y in zip(v, out, strict=False)]
            worst = text.larger(worst, out[nv])
        return q, v, self.lost(worst, v)

    def lost(self, worst: str, v: list[str]) -> str:
        """NaN once a velocity is not finite: x − x is 0, or NaN."""
        text = self.text
        for x in v:
            worst = text.op("fadd", worst, text.put(f"fsub {self.form.kind} {x}, {x}"))
        return worst

    def run(self, entry: str, values: dict[str, list[str]]) -> list[str]:
        """An entry inline, on values in registers; inputs and parameters are read once."""
        self.bodies += 1
        read: Readers = {
            **self.memory.loads(),
            **{name: listed.__getitem__ for name, listed in values.items()},
        }
        text = self.text
        body: Body = body_of(self.module, self.program, entry, read, f"b{self.bodies}.", text.block)
        text.lines += body.lines
        text.block = body.block
        return list(body.outputs)

    def later(self, name: str, kind: str, count: int) -> list[str]:
        """Variables of a loop, whose first lines are written by `patch`."""
        self.text.lines += [f"@@{name}{k}" for k in range(count)]
        return [f"%{name}.{k}" for k in range(count)]

    def patch(
        self,
        name: str,
        kind: str,
        start: Sequence[str],
        following: Sequence[str],
        before: str,
        after: str,
    ) -> None:
        lines = self.text.lines
        for k, (a, b) in enumerate(zip(start, following, strict=True)):
            at = lines.index(f"@@{name}{k}")
            lines[at] = f"  %{name}.{k} = phi {kind} [{a}, %{before}], [{b}, %{after}]"


def _head(name: str, arguments: Iterable[str], form: Form) -> str:
    """The first lines of a kernel."""
    return HEAD.format(name=name, arguments=arguments_text(arguments, form), room="")


def arguments_text(arguments: Iterable[str], form: Form) -> str:
    """Arguments of a kernel, by name, with their types."""
    texts = []
    for argument in arguments:
        kind = form.kind if argument == "step" else "i64"
        if argument in (*ARRAYS, "out", "residual"):
            kind = f"{GLOBAL} noalias"
        texts.append(f"{kind} %{'steps.count' if argument == 'steps' else argument}")
    return ", ".join(texts)


def _module(module: DeviceModule, lines: Sequence[str], block: int) -> str:
    registers = ("tid", "ctaid", "ntid")
    return "\n".join(
        [
            *(f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in registers),
            *lines,
            module.tail(),
            f'attributes #0 = {{ nounwind "nvvm.maxntid"="{block}" }}',
            "",
        ]
    )


Precision: TypeAlias = Literal["double", "single"]

FORMS = {"double": Form(), "single": Form(real="float")}
BLOCK = 128  # threads in a block: enough to hide latency, few enough for 255 registers each
SOLVING = frozenset({"forward", "rate", "correct_q", "correct_v", "d_forward", "d_forward_p"})


def to_ptx(
    program: Program,
    entry: str,
    *,
    precision: Precision = "double",
    rows: tuple[int, ...] | None = None,
    shared: frozenset[str] = frozenset(),
    processor: str = "sm_70",
) -> str:
    """PTX text of one kernel.

    Args:
        program: what is computed.
        entry: the entry that the kernel `evaluate` runs on every state; or "march", for the kernel
            `march` that takes fixed Runge–Kutta steps.
        precision: "double", or "single" where there are no closures.
        rows: which outputs are computed and written; all if None.
        shared: arrays that are the same for all states.
        processor: the oldest kind of GPU it must run on.

    Returns:
        The text, which the driver of any newer GPU compiles when it is loaded.

    Raises:
        ProgramError: closures in single precision, or a function no GPU form is known of.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> ".entry" in liaison.to_ptx(program, "forward")
        True
    """
    form = form_of(program, entry, precision)
    if entry == "march":
        if is_long(program, form):
            return ptx(long_march_ir(program, form, shared, BLOCK), processor, passes=True)
        return ptx(march_ir(program, form, shared, BLOCK), processor)
    return ptx(evaluate_ir(chosen(program, entry, rows), entry, form, shared, BLOCK), processor)


def ptx_package(program: Program, folder: Path, entries: Iterable[str]) -> dict[str, Path]:
    """Writes one file of text for each entry into a folder, in double; entry -> file."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for entry in entries:
        files[entry] = folder / f"{entry}.ptx"
        files[entry].write_text(to_ptx(program, entry), encoding="utf-8")
    return files


def form_of(program: Program, entry: str, precision: Precision) -> Form:
    """The kind of numbers of a kernel.

    Raises:
        ProgramError: the entry cannot be computed so, or not on a GPU.
    """
    if precision not in FORMS:
        raise ProgramError(f"the precision is {precision!r}; known are 'double' and 'single'.")
    form = FORMS[precision]
    if form.real == "float" and program.sizes.get("nc") and entry in {*SOLVING, "march"}:
        raise ProgramError(
            f"{program.name!r} has closures: their elimination needs double precision.",
            hint="Take precision='double'.",
        )
    if entry == "march":
        for block in program.facts.get("sides", ()):
            raise ProgramError(
                f"{block[1]!r} is unilateral; a march on a GPU does not find where such "
                "constraints close and open.",
                hint="liaison.worlds goes through them on a GPU, simulate_batch on all cores.",
            )
    return form


def chosen(program: Program, entry: str, rows: tuple[int, ...] | None) -> Program:
    """The program with some outputs of one entry only."""
    if rows is None:
        return program
    outputs = program.entry(entry).outputs
    if not rows or not all(0 <= row < len(outputs) for row in rows):
        raise ProgramError(f"rows of {entry!r} are 0 to {len(outputs) - 1}; asked for {rows}.")
    some = Entry(entry, tuple(outputs[row] for row in rows))
    return Program(program.name, {entry: some}, program.inputs, program.sizes)
