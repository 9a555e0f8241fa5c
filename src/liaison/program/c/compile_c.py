"""The system's C compiler, where there is one: C text -> a library in memory.

Public names: c_compiler, compile_c_text.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from liaison.errors import ProgramError


def c_compiler() -> str | None:
    """Path of the C compiler named by CC, else cc, gcc or clang; None where there is none."""
    names = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    return next((path for name in names if name and (path := shutil.which(name))), None)


def compile_c_text(text: str, *, flags: tuple[str, ...] = ("-O1",)) -> ctypes.CDLL:
    """The text as a loaded library; rejects when there is no compiler or it rejects the text."""
    compiler = c_compiler()
    if compiler is None:
        raise ProgramError("no C compiler is to be found.", hint="Install cc, or use to_llvm.")
    with tempfile.TemporaryDirectory(prefix="liaison-") as folder:
        source, library = Path(folder, "program.c"), Path(folder, "program.so")
        source.write_text(text, encoding="utf-8")
        fixed = ["-std=c99", "-fPIC", "-shared", "-Wall", "-Wno-unused-function"]
        command = [compiler, *fixed, *flags, str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ProgramError(f"the C compiler reports an error:\n{done.stderr[:2000]}")
        return ctypes.CDLL(str(library))
