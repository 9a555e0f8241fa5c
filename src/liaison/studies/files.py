"""Study files: what a study or an optimization asks for, as TOML.

    mechanism = "four_bar.lsd"          below the folder of the study file
    until = "0.1 s"
    design = "sobol"                    count, levels, seed, every, record, folder, device likewise

    [vary]
    a = "9 cm .. 11 cm"
    [measure]
    swing = "range(D) in deg"
    [correlation]
    "a b" = 0.5
    [inputs]                            of all runs; likewise [parameters], [start], [guess]
    torque = "2 N*m"
    [robot]                             how a URDF or MJCF file is read: keywords of liaison.read
    floating = true
    [optimize]
    maximize = "swing"

Read as strictly as LSD: every key is known, of its kind, and named with its place where it is not.
Nothing is executed, and no file outside the folder of the study file is named.

Public names: StudyFile, read_study_file, KEYS, MOST_BYTES.
"""

from __future__ import annotations

import difflib
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NoReturn, final

from liaison.errors import Cure, LiaisonError, Place, TextError

MOST_BYTES, MOST_LINE, MOST_ENTRIES = 1_000_000, 10_000, 10_000
"""Bytes of a study file, characters of a line of it, values of a list or a table."""

TEXT, NUMBER, WHOLE = (str,), (int, float), (int,)
TIME, TIMES = (str, int, float), (str, int, float, list)

KEYS: Mapping[str, tuple[type, ...]] = {
    "mechanism": TEXT, "until": TIME, "design": TEXT, "count": WHOLE, "levels": WHOLE,
    "seed": WHOLE, "folder": TEXT, "every": TIMES, "record": TIMES, "workers": WHOLE,
    "device": TEXT,
    "vary": (dict,), "measure": (dict,), "correlation": (dict,), "start": (dict,),
    "guess": (dict,), "parameters": (dict,), "inputs": (dict,), "options": (dict,),
    "optimize": (dict,), "robot": (dict,),
}  # fmt: skip
"""Keys of a study file, and the kinds of their values."""

OF_TABLES: Mapping[str, tuple[type, ...]] = {
    "vary": (str, list), "measure": TEXT, "correlation": NUMBER, "start": TIME, "guess": TIME,
    "parameters": TIME, "inputs": TIMES,
}  # fmt: skip
"""Tables with names of the mechanism: kinds of their values."""

OPTIONS: Mapping[str, tuple[type, ...]] = {
    "step": TIME, "method": TEXT, "rtol": NUMBER, "atol": NUMBER, "max_step": TIME,
    "max_steps": WHOLE, "residual": NUMBER, "spectral_radius": NUMBER, "impacts": TEXT,
    "theta": NUMBER, "facets": WHOLE, "watch": (bool,), "inputs": (dict,), "stop": (str, list),
    "series": (list,), "threads": WHOLE, "lanes": (bool,),
}  # fmt: skip
"""Keys of the table [options]."""

OPTIMIZE: Mapping[str, tuple[type, ...]] = {
    "minimize": (str, list), "maximize": (str, list), "subject": (dict,), "deviations": (dict,),
    "robust": TEXT, "gradient": TEXT, "starts": WHOLE, "iterations": WHOLE, "points": WHOLE,
    "trials": WHOLE,
}  # fmt: skip
"""Keys of the table [optimize]."""

FLAG = (bool,)
ROBOT: Mapping[str, tuple[type, ...]] = {
    "floating": FLAG, "strict": FLAG, "merge_fixed": FLAG, "base": TEXT, "gravity": (list,),
    "srdf": TEXT, "pose": (str, dict), "package_root": TEXT, "limits": FLAG, "restitution": NUMBER,
    "motors": TEXT, "stiffness": NUMBER, "damping": NUMBER, "ground": (bool, *NUMBER),
    "friction": NUMBER, "sticking": FLAG, "self_collision": FLAG, "decompose": (bool, *WHOLE),
    "keyframe": (str, *WHOLE), "contacts": FLAG, "folder": TEXT,
}  # fmt: skip
"""Keys of the table [robot]."""

ROBOT_PATHS = ("srdf", "package_root", "folder")
"""Those that name files."""

WORDS = {str: "a text", int: "a whole number", float: "a number", list: "a list", dict: "a table",
         bool: "true or false"}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class StudyFile:
    """What a study file asks for.

    Attributes:
        mechanism: the path of the mechanism.
        arguments: of `liaison.study`.
        optimize: arguments of `liaison.optimize` besides; empty where the file has none.
        robot: keywords of `liaison.read` for the mechanism.
        text: of the file.
        path: of the file.
    """

    mechanism: Path
    arguments: Mapping[str, Any]
    optimize: Mapping[str, Any]
    robot: Mapping[str, Any]
    text: str
    path: Path

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Errors about values and measures get their places in the file."""
        try:
            yield
        except LiaisonError as error:
            raise _placed(error, self.text, str(self.path)) from None


def read_study_file(path: str | Path) -> StudyFile:
    """What a study file asks for.

    Raises:
        TextError: the file cannot be read, is no TOML, or has something that it may not have; with
            its place, and the nearest word that is known.
    """
    path = Path(path)
    text = _text(path)
    reader = _Reader(text, str(path))
    content = reader.parsed()
    reader.check_keys("", content, KEYS)
    for name, kinds in OF_TABLES.items():
        for key, value in content.get(name, {}).items():
            reader.check_kind(name, key, value, kinds)
    reader.check_keys("options", content.get("options", {}), OPTIONS)
    reader.check_keys("optimize", content.get("optimize", {}), OPTIMIZE)
    if "inputs" in content and "inputs" in content.get("options", {}):
        reader.reject("inputs are there twice, below [options] and in a table.", "", "inputs")
    for key in ("mechanism", "until", "vary"):
        if key not in content:
            reader.reject(f"{key!r} is missing.", "", "")
    mechanism = reader.below("mechanism", content.pop("mechanism"), path.parent)
    optimize, robot = content.pop("optimize", {}), reader.robot(content, path.parent)
    arguments = {**content.pop("options", {}), **content}
    if "folder" in arguments:
        arguments["folder"] = reader.below("folder", arguments["folder"], path.parent)
    for key in arguments.get("correlation", {}):
        if len(key.split()) != 2:
            reader.reject(f"{key!r} is no pair of names.", "correlation", key, '"a b" = 0.5')
    return StudyFile(mechanism, arguments, optimize, robot, text, path)


def _text(path: Path) -> str:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise TextError(f"{path}: this is no plain file, so it is no study file.")
        if about.st_size > MOST_BYTES:
            raise TextError(f"{path}: the study file is larger than {MOST_BYTES} bytes.")
        data = path.read_bytes()
    except OSError as error:
        raise TextError(f"{path}: the file cannot be read: {error.strerror}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextError(f"{path}, line {line}: this is not UTF-8 text.") from None


@final
class _Reader:
    """A study file and the places of its keys."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.lines = text.split("\n")
        for k, line in enumerate(self.lines):
            if len(line) > MOST_LINE:
                place = Place(file, k + 1, 1, line[:80])
                raise TextError(f"this line has more than {MOST_LINE} characters.", place=place)

    def parsed(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text.replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            match = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
            line, column = (int(match[1]), int(match[2])) if match else (len(self.lines), 1)
            words = str(error).partition(" (at ")[0]
            place = Place(self.file, line, column, self.lines[min(line, len(self.lines)) - 1])
            raise TextError(f"this is no TOML: {words}.", place=place) from None
        except ValueError:  # of int(), which limits the digits
            raise TextError(f"{self.file}: a whole number has too many digits.") from None
        except RecursionError:
            raise TextError(f"{self.file}: lists inside lists are too deep.") from None

    def place(self, table: str, key: str) -> Place | None:
        return place_of(self.text, self.file, table, key)

    def reject(
        self, message: str, table: str, key: str, hint: str = "", cure: str = ""
    ) -> NoReturn:
        place = self.place(table, key)
        edit = None
        if place is not None and cure:
            edit = Cure(place.file, place.line, place.column, len(key), cure)
        where = f"{self.file}: " if place is None else ""
        raise TextError(f"{where}{message}", place=place, hint=hint, cure=edit)

    def check_keys(
        self, table: str, content: Mapping[str, Any], known: Mapping[str, tuple[type, ...]]
    ) -> None:
        for key, value in content.items():
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                guess = f"; did you mean {near[0]!r}?" if near else "."
                whose = f"the table [{table}]" if table else "a study file"
                self.reject(
                    f"{whose} has no key {key!r}{guess}", table, key,
                    hint=f"It takes: {', '.join(known)}.", cure=near[0] if near else "",
                )  # fmt: skip
            self.check_kind(table, key, value, known[key])

    def check_kind(self, table: str, key: str, value: Any, kinds: tuple[type, ...]) -> None:
        good = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        if not good:
            words = " or ".join(dict.fromkeys(WORDS[x] for x in kinds))
            self.reject(f"{key!r} is {value!r}; it must be {words}.", table, key)
        if isinstance(value, list | dict) and len(value) > MOST_ENTRIES:
            self.reject(f"{key!r} has {len(value)} entries; {MOST_ENTRIES} at most.", table, key)

    def robot(self, content: dict[str, Any], folder: Path) -> dict[str, Any]:
        """The table [robot], taken out of a file's content."""
        table: dict[str, Any] = content.pop("robot", {})
        self.check_keys("robot", table, ROBOT)
        pose = table.get("pose")
        for key, value in pose.items() if isinstance(pose, dict) else ():
            self.check_kind("robot.pose", key, value, TIME)
        paths = {x: self.below(x, table[x], folder, "robot") for x in ROBOT_PATHS if x in table}
        return table | paths

    def below(self, key: str, name: str, folder: Path, table: str = "") -> Path:
        """A path below the folder of the study file."""
        parts = PurePosixPath(name).parts
        is_out = ".." in parts or PurePosixPath(name).is_absolute()
        is_out |= bool(PureWindowsPath(name).drive) or not name.strip()
        is_out |= any(x in name for x in "\\\0")
        path = folder / name
        if is_out or not path.resolve().is_relative_to(folder.resolve()):
            self.reject(
                f"{name!r} does not lie below the folder of the study file.", table, key,
                hint="Paths are relative, and do not lead up.",
            )  # fmt: skip
        return path


def place_of(text: str, file: str, table: str, key: str) -> Place | None:
    """Where a key of a table stands; None where it is not found as it is usually written."""
    current = ""
    for k, line in enumerate(text.split("\n")):
        head = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$", line)
        if head is not None:
            current = head[1].replace('"', "").replace(" ", "")
            if table == "" and current.split(".")[0] == key:
                return Place(file, k + 1, line.index(head[1]) + 1, line, len(head[1]))
            continue
        match = re.match(rf"""\s*(["']?)({re.escape(key)})\1\s*=\s*""", line) if key else None
        if match is not None and current == table:
            return Place(file, k + 1, match.start(2) + 1, line, len(key))
    return None


def _placed(error: LiaisonError, text: str, file: str) -> LiaisonError:
    """An error about a value or a measure, at its place in the file."""
    place = error.place
    if place is not None and (match := re.fullmatch(r"measure '(\w+)'", place.file)):
        at = place_of(text, file, "measure", match[1])
        if at is not None:
            inner = re.search(r"=\s*[\"']", at.text[at.column - 1 :])
            shift = at.column - 1 + (inner.end() if inner else 0)
            column = shift + place.column if place.line == 1 else at.column
            error.place = replace(at, column=column, length=place.length)
            error.cure = None
        return error
    named = re.match(r"(vary|deviations|subject): (?:the constraint on )?'([^']+)'", error.message)
    plain = re.match(r"(?:no )?(count|design|levels|seed)\b", error.message)
    if place is None and plain is not None:
        error.place = place_of(text, file, "", plain[1])
    elif place is None and (word := re.match(r"reading (?:LSD|URDF|MJCF).*'(\w+)'", error.message)):
        error.place = place_of(text, file, "robot", word[1])
    elif place is None and named is not None:
        table = named[1] if named[1] == "vary" else f"optimize.{named[1]}"
        error.place = place_of(text, file, table, named[2])
    return error
