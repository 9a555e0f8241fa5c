"""The wall around LLVM: IR text in, addresses of machine code out.

One target machine for each optimisation level serves the whole process and knows the host's
processor. Object code is taken from the cache on disk (`numeric/progress.py`) where it is there.

Public names: Code, Target, load, object_code, object_code_for, ptx, host, vector_lanes.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, final

from liaison.numeric.progress import fetch, key_of, store, working

GPU = "nvptx64-nvidia-cuda"
LIBM = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "pow", "fma")

LIBRARIES = 32
"""Made by one linker."""

_LOCK = threading.RLock()


@final
class Code:
    """Machine code in memory: symbol -> address, alive as long as this object."""

    def __init__(self, tracker: Any, linker: Any, addresses: Mapping[str, int]) -> None:
        self.addresses = dict(addresses)
        # the code goes first, then the linker that made room for it
        weakref.finalize(self, _released, [tracker, linker]).atexit = False

    def __getitem__(self, symbol: str) -> int:
        return self.addresses[symbol]


def _released(held: list[Any]) -> None:
    """Lets go of code, and of its linker after the last code that it made."""
    with _LOCK:
        held.pop(0).close()
        held.clear()


def load(
    ir: str | Callable[[], str],
    symbols: Iterable[str],
    *,
    optimize: int = 2,
    passes: bool = False,
    keep: bool = True,
    key: str = "",
    imports: Mapping[str, int] = MappingProxyType({}),
    vectors: bool = False,
    tight: bool = False,
) -> Code:
    """Machine code of the IR text.

    Args:
        ir: a module, without target lines; or what gives it, when `key` says what it depends on.
        symbols: whose addresses are wanted.
        optimize: level of code generation, 0 to 3.
        passes: run LLVM's own passes over the IR first (for loops; straight-line code needs none).
        keep: look in the disk cache, and store there.
        key: what stands for the text in the cache.
        imports: addresses of functions that it calls, besides those of libm.
        vectors: at level 3, equal operations side by side become those of vectors.
        tight: with passes, functions are written where they are called, and no loop is unrolled.
    """
    text = ir if isinstance(ir, str) else ""
    mark = f"O{optimize} passes={passes}{' vectors' if vectors else ''}{' tight' if tight else ''}"
    key = key_of(key or text, *host(), mark)
    content = fetch(key) if keep else None
    with _LOCK:
        if content is not None:
            try:
                return _link(content, symbols, imports)
            except RuntimeError:
                content = None
        with working("program", "compiling"):
            text = ir if isinstance(ir, str) else ir()
            content = _object_code(text, optimize, passes, vectors, tight)
        if keep:
            store(key, content)
        return _link(content, symbols, imports)


def object_code(ir: str, *, optimize: int = 2) -> bytes:
    """The content of an object file for this processor, position-independent."""
    with _LOCK:
        return _object_code(ir, optimize, passes=False)


@final
@dataclass(frozen=True, slots=True)
class Target:
    """What object code is made for.

    Attributes:
        triple: as LLVM writes it.
        processor: by its name.
        features: that it has or lacks.
        model: how far code and data may lie from each other; any distance unless it says "small".
    """

    triple: str
    processor: str = ""
    features: str = ""
    model: str = "jitdefault"


ANY = Target("x86_64-unknown-linux-gnu", model="small")
"""For which passes run that give code for all."""

IMPROVED = 8
"""Modules that are kept between one target and the next."""


def object_code_for(
    target: Target, ir: str | Callable[[], str], *, optimize: int = 2, key: str = ""
) -> bytes:
    """The content of an object file for another processor; any host will do.

    Args:
        target: which one.
        ir: a module, without target lines; or what gives it, when `key` says what it depends on.
        optimize: level of code generation, 0 to 3; from 1 on LLVM's own passes run over the IR.
        key: what stands for the text in the disk cache; nothing is stored there without one.
    """
    with _LOCK:
        machine = _machine_for(target, optimize)
        features = target.processor, target.features, target.model, f"O{optimize}"
        version = ".".join(map(str, _llvm().llvm_version_info))
        name = key_of(f"{ANY.triple} {key}", target.triple, *features, version)
        content = fetch(name) if key else None
        if content is None:
            text = ir if isinstance(ir, str) else ir()
            module = _llvm().parse_bitcode(_improved(text, optimize))
            module.triple, module.data_layout = target.triple, str(machine.target_data)
            content = bytes(machine.emit_object(module))
            if key:
                store(name, content)
        return content


@lru_cache(maxsize=IMPROVED)
def _improved(text: str, optimize: int) -> bytes:
    """A module after LLVM's own passes, the same for every target."""
    machine = _machine_for(ANY, optimize)
    module = _llvm().parse_assembly(f'target triple = "{ANY.triple}"\n{text}')
    module.data_layout = str(machine.target_data)
    module.verify()
    if optimize:
        _improve(module, optimize, machine)
    return bytes(module.as_bitcode())


@cache
def _machine_for(target: Target, optimize: int) -> Any:
    llvm = _llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.processor, features=target.features, opt=optimize, reloc="pic",
        codemodel=target.model,
    )  # fmt: skip


def ptx(ir: str, processor: str, *, passes: bool = False) -> str:
    """The text for NVIDIA GPUs of that kind and newer; any host will do.

    Args:
        ir: a module, without target lines.
        processor: the kind, as PTX names it.
        passes: run LLVM's own passes first (for loops); the text is then kept in the disk cache.
    """
    version = ".".join(map(str, _llvm().llvm_version_info))
    key = key_of(ir, GPU, processor, version, f"passes={passes}")
    text = fetch(key) if passes else None
    if text is not None:
        return text.decode()
    with _LOCK:
        machine = _gpu_machine(processor)
        module = _llvm().parse_assembly(f'target triple = "{GPU}"\n{ir}')
        module.data_layout = str(machine.target_data)
        module.verify()
        if passes:
            _tighten(module, machine, 2)
        written = str(machine.emit_assembly(module))
    if passes:
        store(key, written.encode())
    return written


@cache
def _gpu_machine(processor: str) -> Any:
    llvm = _llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(GPU).create_target_machine(cpu=processor, opt=2)


@cache
def host() -> tuple[str, str, str, str]:
    """Processor, its features, target triple and LLVM version: what object code depends on."""
    with _LOCK:
        llvm = _llvm()
        features = llvm.get_host_cpu_features().flatten()
        version = ".".join(map(str, llvm.llvm_version_info))
        return llvm.get_host_cpu_name(), features, llvm.get_process_triple(), version


@cache
def vector_lanes() -> int:
    """How many doubles one register of this processor holds."""
    features = set(host()[1].split(","))
    return 8 if "+avx512f" in features else 4 if "+avx" in features else 2


@cache
def _llvm() -> Any:
    """LLVM's binding, loaded when first needed: it takes a tenth of a second."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def _target_machine(optimize: int) -> Any:
    return _new_target_machine(optimize)


def _new_target_machine(optimize: int, *, jit: bool = False) -> Any:
    name, features, triple, _ = host()
    target = _llvm().Target.from_triple(triple)
    return target.create_target_machine(
        cpu=name, features=features, opt=optimize, reloc="pic", codemodel="small", jit=jit
    )


@cache
def _with_libm() -> None:
    """Makes libm's functions known to every linker of this process, by address."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    for name in LIBM:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        _llvm().add_symbol(name, address)


_LINKERS: list[tuple[Any, Iterator[int]]] = []
"""The linker in use, and numbers of the libraries it has yet to make."""


def _linker() -> tuple[Any, int]:
    """A just-in-time linker, and the number of its next library.

    A linker keeps 10 to 30 kB of every library it made, also of those that are gone, until it goes
    itself: after some, the next one takes over, and it goes with the last code of its own.
    """
    for linker, numbers in _LINKERS:
        number = next(numbers, None)
        if number is not None:
            return linker, number
    _with_libm()
    # JITLink places all sections of an object in one block: no address is out of reach
    linker = _llvm().create_lljit_compiler(_new_target_machine(2, jit=True), use_jit_link=True)
    _LINKERS[:] = [(linker, iter(range(1, LIBRARIES)))]
    return linker, 0


def _object_code(
    ir: str, optimize: int, passes: bool, vectors: bool = False, tight: bool = False
) -> bytes:
    llvm, machine = _llvm(), _target_machine(optimize)
    module = llvm.parse_assembly(f'target triple = "{host()[2]}"\n{ir}')
    module.data_layout = str(machine.target_data)
    module.verify()
    if passes and tight:
        _tighten(module, machine, 1, vectors=True)
    elif passes:
        _improve(module, optimize, machine, vectors)
    return bytes(machine.emit_object(module))


def _improve(module: Any, optimize: int, machine: Any, vectors: bool = False) -> None:
    """Locals into registers and what follows from it; everything LLVM knows at level 3.

    The long list takes ten times as long, and runs a time loop no faster.
    """
    llvm = _llvm()
    options = llvm.create_pipeline_tuning_options(speed_level=max(1, optimize))
    options.slp_vectorization = vectors
    builder = llvm.create_pass_builder(machine, options)
    if optimize > 2:
        builder.getModulePassManager().run(module, builder)
        return
    if any(b"alwaysinline" in x for one in module.functions for x in one.attributes):
        whole = llvm.create_new_module_pass_manager()
        whole.add_always_inliner_pass()
        whole.run(module, builder)
    manager = llvm.create_new_function_pass_manager()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    for function in module.functions:
        if not function.is_declaration:
            manager.run(function, builder)


def _tighten(module: Any, machine: Any, level: int, *, vectors: bool = False) -> None:
    """What makes code quicker without making it longer.

    Caches of a GPU are small; and loops of a few turns are slower where they are unrolled. Equal
    operations side by side become those of `vectors`, to the same bits.
    """
    llvm = _llvm()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_unrolling = options.loop_interleaving = False
    options.loop_vectorization, options.slp_vectorization = False, vectors
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _link(
    content: bytes, symbols: Iterable[str], imports: Mapping[str, int] = MappingProxyType({})
) -> Code:
    linker, number = _linker()
    builder = _llvm().JITLibraryBuilder().add_object_img(content).add_current_process()
    for name, address in imports.items():
        builder.import_symbol(name, address)
    for symbol in symbols:
        builder.export_symbol(symbol)
    tracker = builder.link(linker, f"liaison{number}")
    return Code(tracker, linker, {symbol: tracker[symbol] for symbol in symbols})
