"""Runge–Kutta steps of large programs on a GPU: the method as a loop that calls entries.

Registers do not hold the state, the stages and the right-hand side of a humanoid at once. Here
state and stages lie in the thread's own memory, and entries are cut into functions, each with
registers of its own. The steps are those of `march_ir`.

Public names: long_march_ir, is_long.
"""

from __future__ import annotations

from typing import final

from liaison.program.llvm.entries import Form
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
from liaison.program.program import Program

from .pointers import PIECE, entry_text, functions_text, work_size
from .thread import DeviceModule

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


def is_long(program: Program, form: Form) -> bool:
    """Whether the right-hand side is more than registers hold."""
    return sum(program.operations("rate").values()) > 2 * PIECE[form.real]


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


KERNEL = """\
define ptx_kernel void @march(ARGUMENTS) #0 {
start:
  %run = alloca [WORDS x BITS], align 8
  %work = alloca [WORK x REAL], align 8
  %thread32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block32 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width32 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = zext i32 %thread32 to i64
  %block = zext i32 %block32 to i64
  %width = zext i32 %width32 to i64
  %before = mul i64 %block, %width
  %own = add i64 %before, %thread
  %mine = icmp ult i64 %own, %count
  br i1 %mine, label %entry, label %done
entry:
SHORT
  call void @liaison_march_state(PASSED)
  br label %done
done:
  ret void
}"""


def _kernel(words: int, work: int, form: Form, shared: frozenset[str]) -> str:
    """The kernel: what is shared has steps of one number and none from state to state."""
    bits = "i64" if form.real == "double" else "i32"
    moved = ("t", "q", "v", "u", "p")
    arguments = ["i64 %count", "i64 %steps.count", f"{form.real} %step"]
    arguments += [f"ptr %{name}" for name in (*moved, "residual")]
    arguments += [f"i64 %{name}.stride" for name in moved]
    whole = ["own", "steps.count", "q.stride", "v.stride", "u.stride", "p.stride"]
    short = [f"  %short.{name} = {'add i64' if bits == 'i64' else 'trunc i64'} %{name}"
             f"{', 0' if bits == 'i64' else ' to i32'}" for name in whole]  # fmt: skip

    def stride(name: str) -> str:
        return f"{bits} 1" if name in shared else f"{bits} %short.{name}.stride"

    def one(name: str) -> str:
        return f"{bits} {0 if name in shared else 1}"

    passed = [f"{bits} %short.own", f"{bits} %short.steps.count", f"{form.real} %step"]
    passed += [f"ptr %{name}" for name in (*moved, "residual")]
    passed += [one("t"), stride("q"), stride("v"), stride("u"), one("u"), stride("p"), one("p")]
    passed += ["ptr null", "ptr %run", "ptr %work"]
    text = KERNEL.replace("ARGUMENTS", ", ".join(arguments)).replace("PASSED", ", ".join(passed))
    text = text.replace("WORDS", str(words)).replace("WORK", str(work)).replace("BITS", bits)
    return text.replace("REAL", form.real).replace("SHORT", "\n".join(short))
