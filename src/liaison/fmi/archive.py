"""An FMU as bytes: description, documentation, sources and binaries in one archive.

Public names: fmu, BINARIES.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from liaison.errors import NamingError
from liaison.expr import Expr, fingerprint, topological
from liaison.program.libraries.shared_library import UNIVERSAL, shared_library
from liaison.program.plan import Piece
from liaison.simulation.events.watched import sides_in
from liaison.simulation.outcome import REASONS, failure_texts
from liaison.simulation.plan.plan import Plan, arrays_of
from liaison.simulation.steps import layout as at

from .code import Texts, modules
from .description import Facts, Options, build_description, description
from .functions import exports
from .layout import OUT, QDOT, VDOT, Instance, Q, U, V
from .memory import Closing, Memory, prepared
from .messages import NAME, NOW, OF_BLOCK, OF_EVENT, SIZE, TEXTS
from .sources import FILES, c_sources
from .variables import Variables, variables_of

BINARIES = (
    {"linux-x86_64": "linux64", "windows-x86_64": "win64", UNIVERSAL: "darwin64"},
    {"linux-x86_64": "x86_64-linux", "linux-aarch64": "aarch64-linux",
     "windows-x86_64": "x86_64-windows", "macos-x86_64": "x86_64-darwin",
     "macos-arm64": "aarch64-darwin"},
)  # fmt: skip
"""System -> folder of binaries, in FMI 2.0 and in FMI 3.0."""

SUFFIXES = {"linux": ".so", "windows": ".dll", "macos": ".dylib"}
STATUSES = 32
CONTACTS = (at.NO_MODE, at.BAD_GAP, at.BAD_SIDE, at.STANDSTILL, at.STEP_UP)
"""Statuses of runs with unilateral constraints."""

DEGENERATE = (
    "\6the row of the relation of rates \2 vanishes at t = \1 s, and how the motion goes on is not "
    "decided in an FMU. Run it with `liaison simulate`, or state it as a relation of positions."
)
MANY = (
    "one step of the importer takes more than ten million steps: t = \1 s is reached. Look at "
    "parameters and start values; loosen the tolerance, or take shorter communication steps."
)
DATE = 1 << 5 | 1
"""Of all files 1980-01-01, so that two exports give the same bytes."""

FILE, ENTRY, END = (struct.Struct(x) for x in ("<4s5H3I2H", "<4s6H3I5H2I", "<4s4H2IH"))
"""Headers of an archive: of a file, of its entry in the listing, and of the end."""

BLOCKS, UNIX = 6, 3 << 8
"""How much of a file has codes of its own, as zlib counts it; who wrote the archive."""


def fmu(
    plan: Plan, version: int, *, closing: Closing | None, options: Options
) -> tuple[bytes, dict[str, Any]]:
    """The content of an FMU, and facts about it.

    Args:
        plan: of a run: kernel, start, end, settings, inputs, parameters.
        version: 2 or 3.
        closing: how loops are closed after a change of lengths or starts; None: they are not.
        options: what it says of itself.

    Raises:
        SimulationError: runs that need Python between their steps.
    """
    variables = variables_of(plan, arrays=version == 3, poses=options.poses)
    memory = prepared(plan, variables, closing, version)
    texts = texts_of(plan, variables, version)
    token = _identify(memory, texts)
    texts = Texts(tuple(token if x == "{token}" else x for x in texts.listed), texts.starts)
    name = identifier(plan.program.name)
    facts = Facts(
        plan.program.name, name, token, version, options.tool, options.text, plan.state.t,
        plan.until, plan.settings.rtol, options.step, FILES,
        dependencies(plan, variables), plan.size("nc") > 0,
    )  # fmt: skip
    files: dict[str, bytes] = {"modelDescription.xml": description(facts, variables).encode()}
    if options.page:
        files["documentation/index.html"] = options.page.encode()
    for file, text in c_sources(memory, texts, version, name).items():
        files[f"sources/{file}"] = text.encode()
    if version == 3:
        files["sources/buildDescription.xml"] = build_description(facts).encode()
    code = modules(memory, texts, version)
    folders = BINARIES[version - 2]
    for system in options.systems or tuple(folders):
        if system not in folders:
            raise NamingError.unknown(f"system of FMI {version}.0", system, folders)
        library = shared_library(code, system, list(exports(version)), name)
        files[f"binaries/{folders[system]}/{name}{SUFFIXES[system.partition('-')[0]]}"] = library
    facts_of = {
        "variables": len(variables.rows),
        "token": token,
        "files": {x: len(y) for x, y in files.items()},
    }
    return _zipped(files), facts_of


def identifier(name: str) -> str:
    """A name as C and file systems allow it."""
    return re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_0123456789") or "mechanism"


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """An archive whose bytes depend on its content alone.

    Blocks are shorter than those of zipfile: codes suit what they are of, code or texts.
    """
    content, listing = bytearray(), bytearray()
    for name, data in files.items():
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15, BLOCKS)
        packed = deflate.compress(data) + deflate.flush()
        path, crc = name.encode(), zlib.crc32(data)
        facts = (20, 0, 8, 0, DATE, crc, len(packed), len(data), len(path), 0)
        rest = (0, 0, 0, 0o644 << 16, len(content))
        listing += ENTRY.pack(b"PK\1\2", 20 | UNIX, *facts, *rest) + path
        content += FILE.pack(b"PK\3\4", *facts) + path + packed
    end = END.pack(b"PK\5\6", 0, 0, len(files), len(files), len(listing), len(content), 0)
    return bytes(content + listing + end)


def _identify(memory: Memory, texts: Texts) -> str:
    """The token of an export; the model's number in its memory comes from it, too."""
    digest = hashlib.sha256()
    for block in memory.blocks:
        digest.update(np.ascontiguousarray(block).tobytes())
    digest.update(repr(texts).encode())
    pieces: dict[int, Piece] = {}
    for (k, name), plan in memory.plans.items():
        pieces |= {id(call.piece): call.piece for call in plan.calls}
        calls = [([*pieces].index(id(x.piece)), x.q, x.out) for x in plan.calls]
        digest.update(f"{k} {name} {plan.work_size} {calls}".encode())
    results = [x for piece in pieces.values() for _, x in (*piece.outputs, *piece.puts)]
    digest.update(fingerprint(results).encode())
    fmu = Instance(memory.blocks[0])
    fmu.identity = int.from_bytes(digest.digest()[:7], "little")
    for name, start in texts.starts.items():
        setattr(fmu, name, start)
    word = digest.hexdigest()
    return "{" + "-".join((word[:8], word[8:12], word[12:16], word[16:20], word[20:32])) + "}"


def texts_of(plan: Plan, variables: Variables, version: int) -> Texts:
    """All texts of an FMU; of unilateral constraints and events by number."""
    rows = [x.name for x in plan.program.labels.get("lam", ())]
    rows += [x.name for x in plan.program.labels.get("force", ())]
    groups = {
        "status_texts": _statuses(plan),
        "row_texts": rows or ["closure"],
        "event_texts": list(variables.events) or ["event"],
        "block_texts": [x[0] for x in sides_in(plan.program)] or ["contact"],
        "variable_texts": [x.name for x in variables.rows],
        "function_texts": list(exports(version)),  # last: code is the same in both versions
    }
    listed = [*TEXTS, "{token}", f"{version}.0", "default"]
    starts = {"row_count": max(1, len(rows))}
    for name, group in groups.items():
        starts[name] = len(listed)
        listed += group
    return Texts(tuple(listed), starts)


def _statuses(plan: Plan) -> list[str]:
    """A sentence and advice for every status of a run."""
    run = arrays_of(plan).run
    named = chr(NAME)
    texts = failure_texts(plan, run, named, chr(SIZE), event=named, block=named)
    unknown = "the run cannot go on at t = \1 s."
    listed = [unknown] * STATUSES
    listed[at.DEGENERATE] = DEGENERATE
    listed[at.TOO_MANY_STEPS] = MANY
    listed[0] = "instants at which tables bend are not known after t = \1 s: export for longer."
    never = CONTACTS if not sides_in(plan.program) else ()
    for code in REASONS.keys() - {at.TOO_MANY_STEPS, *never}:
        if 0 < code < STATUSES and code in texts:
            sentence, advice = texts[code]
            sentence = sentence.replace("{now}", f"t = {chr(NOW)} s")
            listed[code] = f"{_subject(code)}{sentence} {advice}".replace(repr(named), named)
    return listed


def _subject(code: int) -> str:
    """A mark of what a text names."""
    if code in (at.CHATTER, at.EVENT_NOT_FINITE):
        return chr(OF_EVENT)
    return chr(OF_BLOCK) if code in CONTACTS else ""


def dependencies(plan: Plan, variables: Variables) -> dict[int, list[int]]:
    """Unknown -> value references of states and inputs that it depends on; not through contacts."""
    program = plan.program
    if sides_in(program):
        return {}
    known = {Q: "q", V: "v", U: "u"}
    of: dict[tuple[str, int], int] = {}
    for k, row in variables.of(Q, V, U):
        of |= {(known[row.array], row.first + j): k for j in range(row.count)}
    bits = {x: 1 << of[place] for x, place in program.inputs.items() if place in of}
    result: dict[int, list[int]] = {}
    for array, entry in ((QDOT, "qdot"), (VDOT, "forward"), (OUT, "outputs")):
        rows = variables.of(array)
        outputs = list(program.entry(entry).outputs)
        masks = _masks(outputs, bits) if rows else []
        for k, row in rows:
            mask = 0
            for m in masks[row.first : row.first + row.count]:
                mask |= m
            result[k] = [n for n in range(len(variables.rows)) if mask >> n & 1]
    for k, row in variables.of(Q, V):
        if row.causality == "output":
            result[k] = [k]
    return result


def _masks(outputs: Sequence[Expr], bits: Mapping[Expr, int]) -> list[int]:
    """Which symbols each formula reads, as bits."""
    masks: dict[Expr, int] = {}
    for node in topological(list(outputs)):
        mask = bits.get(node, 0)
        for argument in node.args:
            mask |= masks[argument]
        masks[node] = mask
    return [masks[x] for x in outputs]
