"""Peers as compiled programs: Pinocchio in C++, and Pinocchio through CasADi as C.

Both are built here from the headers that the wheels bring, once (minutes), and kept in
.cache/peers. Where they cannot be built, `Absent` says why.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from peers_fast import median

HERE = Path(__file__).parent
KEPT = HERE.parent / ".cache" / "peers"
SITE = Path(sysconfig.get_path("purelib"))
PREFIX, CASADI = SITE / "cmeel.prefix", SITE / "casadi"
DEFINES = [
    "-DNDEBUG", "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
]  # fmt: skip
INCLUDES = [f"-I{PREFIX / 'include'}", f"-I{PREFIX / 'include' / 'eigen3'}"]
FAST = ["-O3", "-march=native"]
ALGORITHMS = ("rnea", "crba", "crba_world", "fd", "fd_world", "dfd", "constrained")
LOOP = """
typedef int (*entry)(const double**, double**, long long*, double*, int);
void repeat(entry f, int n, int states, int nq, int nv, const double* q, const double* v,
            const double* x, double* out, double* work) {
  for (int i = 0, k = 0; i < n; ++i) {
    const double* given[8] = {q + k * nq, v + k * nv, x + k * nv};
    double* found[8] = {out};
    f(given, found, 0, work, 0);
    if (++k == states) k = 0;
  }
}
"""


class Absent(Exception):
    """A peer that cannot be built here, and why."""


def build(compiler: str, sources: Sequence[Path], flags: Sequence[str], name: str) -> Path:
    """The program or library made of sources, kept for the next run."""
    if shutil.which(compiler) is None:
        raise Absent(f"there is no {compiler}")
    texts = [path.read_bytes() for path in (*sources, HERE / "native" / "model_text.hpp")]
    key = "\n".join([compiler, *flags, platform.processor(), *_versions(), _processor()])
    digest = hashlib.sha256(key.encode() + b"".join(texts)).hexdigest()[:16]
    target = KEPT / f"{digest}-{name}"
    if not target.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        print(f"building {name} (once) ...", flush=True)
        part = target.with_suffix(f".{os.getpid()}.part")
        own = [flag for flag in flags if not flag.startswith(("-l", "-L", "-Wl"))]
        links = [flag for flag in flags if flag not in own]
        command = [compiler, *own, "-w", *map(str, sources), "-o", str(part), *links]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Absent(f"{compiler} failed: {done.stderr.strip().splitlines()[0][:200]}")
        part.replace(target)
    return target


def _versions() -> list[str]:
    found = []
    for name in ("libpinocchio", "casadi", "cmeel-eigen"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            raise Absent(f"{name} is not installed") from None
    return found


def _processor() -> str:
    """What -march=native depends on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((x for x in lines if x.startswith("flags")), platform.machine())


def model_text(model, ties: Sequence = ()) -> str:
    """A Pinocchio model as native/model_text.hpp reads it."""
    lines = ["gravity " + _numbers(model.gravity.linear)]
    for i in range(1, model.njoints):
        inertia = model.inertias[i]
        lines.append(
            f"joint {model.parents[i]} {model.joints[i].shortname()} "
            f"{_pose(model.jointPlacements[i])} {inertia.mass!r} {_numbers(inertia.lever)} "
            f"{_numbers(inertia.inertia)}"
        )
    for tie in ties:
        first, second = _pose(tie.joint1_placement), _pose(tie.joint2_placement)
        lines.append(f"tie {tie.joint1_id} {first} {tie.joint2_id} {second}")
    return "\n".join(lines) + "\n"


def _numbers(values) -> str:
    return " ".join(repr(float(x)) for x in np.asarray(values).ravel())


def _pose(pose) -> str:
    return f"{_numbers(pose.rotation)} {_numbers(pose.translation)}"


@cache
def _library() -> ctypes.CDLL:
    flags = ["-std=c++17", *FAST, *DEFINES, "-fPIC", "-shared", *INCLUDES]
    library = ctypes.CDLL(
        str(build("g++", [HERE / "native" / "pinocchio_loop.cpp"], flags, "pinocchio_loop.so"))
    )
    library.make.restype, library.make.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    library.result.restype = ctypes.POINTER(ctypes.c_double)
    library.result.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.run.argtypes = [ctypes.c_void_p, *[ctypes.c_int] * 3, *[ctypes.c_void_p] * 3]
    return library


class Pinocchio:
    """A model in C++; states are rows of q, v and x (accelerations or torques)."""

    def __init__(self, model, ties: Sequence = ()) -> None:
        self._library = _library()
        self._peer = self._library.make(model_text(model, ties).encode())
        self.nv = model.nv

    def seconds(self, algorithm: str, n: int, q, v, x) -> float:
        """CPU seconds of one call in a loop over the states."""
        call = self._library.run
        k, where = ALGORITHMS.index(algorithm), [a.ctypes.data for a in (q, v, x)]
        call(self._peer, k, len(q), len(q), *where)
        return median(lambda: call(self._peer, k, n, len(q), *where), n)

    def result(self, algorithm: str, q, v, x) -> np.ndarray:
        """What it gives in one state: a vector, or a matrix."""
        k = ALGORITHMS.index(algorithm)
        self._library.run(self._peer, k, 1, 1, *(a.ctypes.data for a in (q, v, x)))
        size = self.nv if algorithm in ("rnea", "fd", "fd_world", "constrained") else self.nv**2
        found = np.ctypeslib.as_array(self._library.result(self._peer, k), (size,)).copy()
        if size == self.nv:
            return found
        square = found.reshape(self.nv, self.nv)
        return np.triu(square.T) if algorithm.startswith("crba") else square

    def times(self, n: int, q, v, x) -> dict[str, float]:
        """Seconds of each algorithm, in the quicker of its two conventions."""
        found = {name: self.seconds(name, n, q, v, x) for name in ALGORITHMS[:-1]}
        for name in ("crba", "fd"):
            found[name] = min(found[name], found.pop(f"{name}_world"))
        return found


class CasadiCode:
    """Pinocchio's algorithms over CasADi's formulas, written as C and compiled by gcc -O3."""

    def __init__(self, model) -> None:
        flags = ["-std=c++17", "-O1", *DEFINES, *INCLUDES, f"-I{CASADI / 'include'}"]
        flags += [f"-L{CASADI}", "-lcasadi", f"-Wl,-rpath,{CASADI}"]
        writer = build("g++", [HERE / "native" / "casadi_source.cpp"], flags, "casadi_source")
        text = model_text(model)
        stem = KEPT / hashlib.sha256(text.encode()).hexdigest()[:16]
        stem.with_suffix(".txt").write_text(text)
        code = stem.with_suffix(".c")
        told = subprocess.run(
            [writer, stem.with_suffix(".txt"), code], capture_output=True, text=True, check=True
        )
        self.instructions = {a: int(b) for a, b in map(str.split, told.stdout.splitlines())}
        loop = KEPT / "repeat.c"
        loop.write_text(LOOP)
        library = ctypes.CDLL(
            str(build("gcc", [code, loop], [*FAST, "-fPIC", "-shared"], "casadi_code.so"))
        )
        self._library, self.sizes = library, (model.nq, model.nv)
        library.repeat.argtypes = [ctypes.c_void_p, *[ctypes.c_int] * 4, *[ctypes.c_void_p] * 5]
        self._work = np.zeros(100_000)

    def _run(self, entry: str, n: int, q, v, x, out) -> None:
        function = ctypes.cast(getattr(self._library, entry), ctypes.c_void_p)
        where = (a.ctypes.data for a in (q, v, x, out, self._work))
        self._library.repeat(function, n, len(q), *self.sizes, *where)

    def seconds(self, entry: str, n: int, q, v, x) -> float:
        """CPU seconds of one call in a loop over the states."""
        out = np.zeros(self.sizes[1] ** 2)
        self._run(entry, len(q), q, v, x, out)
        return median(lambda: self._run(entry, n, q, v, x, out), n)

    def result(self, entry: str, q, v, x) -> np.ndarray:
        """What it gives in one state."""
        nv = self.sizes[1]
        out = np.zeros(nv**2 if entry == "crba" else nv)
        self._run(entry, 1, *(a.reshape(1, -1) for a in (q, v, x)), out)
        return out.reshape(nv, nv) if entry == "crba" else out
