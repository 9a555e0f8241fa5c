"""Lets atheris loose on a reader: only a LiaisonError may come out, within a second.

    python tests/fuzz/readers.py lsd --seconds 600

One process (the child) runs libFuzzer over texts made from the seeds; what it finds lies, one file
each, under the folder of findings, and the run goes on. The parent counts and prints. The exit
status is 0 if nothing was found.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECONDS = 1.0  # of processor time that a text may take
LONGEST = 12_000  # characters of a text
KINDS = ("lsd", "urdf", "mjcf")
MJCF = """<mujoco model="m"><compiler angle="degree"/><option gravity="0 0 -9.81"/>
<default><joint damping="0.1"/></default>
<worldbody><body name="a" pos="0 0 1" euler="0 30 0"><freejoint/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="b" pos="1 0 0"><joint name="j" type="hinge" axis="0 1 0"/>
<geom type="box" size="1 1 1" density="100"/></body>
<body name="c"><joint name="k" type="slide" axis="0 0 1" range="0 1"/>
<geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/></body></body></worldbody>
<equality><connect body1="b" body2="c" anchor="0 0 0"/><joint joint1="j" joint2="k"/></equality>
<actuator><motor joint="j" gear="2"/></actuator></mujoco>"""
_WORD = re.compile(r"\w+|\s+|.", re.S)


def seeds(kind: str) -> list[str]:
    """Texts to begin with: the examples, the blocks of the pages, the texts inside the tests."""
    tests = _texts("tests/doors/*.py")
    if kind == "lsd":
        blocks = _found(r"```lsd ?\w*\n(.*?)```", _texts("docs/*.md"))
        more = _texts("examples/*.lsd") + _texts("tests/doors/refused/*.lsd")
        return more + blocks + _found(r'"((?:let|for|join) [^"\n]+)"', tests)
    if kind == "urdf":
        return _texts("examples/*.urdf") + _found(r"<robot.*?</robot>", tests)
    more = _texts("tests/samples/mjcf_texts.py") + _texts("tests/net/models/*.xml")
    return [MJCF, *_found(r"<mujoco.*?</mujoco>", tests + more)]


def _texts(pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern))]


def _found(pattern: str, texts: list[str]) -> list[str]:
    return [found for text in texts for found in re.findall(pattern, text, re.S)]


def mutator(pool: list[str]):
    """Changes of whole words: one goes, comes twice, changes places, or is another text's."""

    def changed(data: bytes, max_size: int, seed: int) -> bytes:
        import atheris

        if seed % 3 == 0:
            return atheris.Mutate(data, max_size)
        chance = random.Random(seed)
        words = _WORD.findall(data.decode("utf-8", errors="replace")) or [" "]
        for _ in range(chance.choice((1, 1, 2, 4))):
            change(words, pool, chance)
        return "".join(words).encode()[:max_size]

    return changed


def change(words: list[str], pool: list[str], chance: random.Random) -> None:
    """One change of a list of words, in place."""
    i, j = sorted(chance.randrange(len(words)) for _ in range(2))
    way = chance.randrange(7)
    if way == 0:
        del words[i : i + chance.randint(1, 4)]
    elif way == 1:
        words[i:i] = words[i : min(j, i + 40)]
    elif way == 2:
        words[i], words[j] = words[j], words[i]
    elif way == 3:
        words[i] = chance.choice(pool)
    elif way == 4:
        words[i:i] = [chance.choice(pool)]
    elif way == 5:
        words[i:i] = words[i : i + chance.randint(1, 6)] * chance.randint(2, 150)  # nesting
    else:
        at = chance.randrange(len(pool))
        words[i:i] = pool[at : at + chance.randint(2, 60)]
    words[:] = words or [" "]


def child(kind: str, folder: Path, arguments: list[str]) -> None:
    """Runs libFuzzer; never comes back."""
    import atheris

    with atheris.instrument_imports(include=["liaison.formats", "liaison.model", "liaison.units"]):
        from liaison.errors import LiaisonError
        from liaison.formats import read_lsd, reading_of_urdf
        from liaison.formats.mjcf.read import reading_of_mjcf
    readers = {
        "lsd": lambda data: read_lsd(data.decode("utf-8", errors="replace")),
        "urdf": reading_of_urdf,
        "mjcf": reading_of_mjcf,
    }
    read = readers[kind]

    def one(data: bytes) -> None:
        begin = time.process_time()
        try:
            read(data)
        except LiaisonError:
            pass
        except Exception as error:
            keep(folder / "crashes", where(error), data, traceback.format_exc())
        taken = time.process_time() - begin
        if taken > SECONDS:
            keep(folder / "hangs", hashlib.sha1(data).hexdigest()[:12], data, f"{taken:.2f} s")

    words = [word for text in seeds(kind) for word in _WORD.findall(text)]
    atheris.Setup([sys.argv[0], *arguments], one, custom_mutator=mutator(words))
    atheris.Fuzz()


def where(error: Exception) -> str:
    """A name for a mistake: its kind and the line it arose in."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "liaison" in f.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}_{Path(last.filename).stem}_{last.lineno}"


def keep(folder: Path, name: str, data: bytes, said: str) -> None:
    """The shortest text for each mistake, and what it led to."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists() or len(path.read_bytes()) > len(data):
        path.write_bytes(data)
        path.with_name(f"{name}.txt").write_text(said, encoding="utf-8")


def parent(kind: str, seconds: int, folder: Path) -> dict[str, object]:
    """Runs the child for so long, and counts."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for text in seeds(kind):
        (corpus / hashlib.sha1(text.encode()).hexdigest()[:16]).write_text(text, encoding="utf-8")
    command = [sys.executable, __file__, kind, "--child", "--folder", str(folder), str(corpus),
               f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=30",
               "-rss_limit_mb=4000", "-print_final_stats=1", "-verbosity=1",
               f"-artifact_prefix={folder}/"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    (folder / "log.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return counted(kind, folder, done.returncode, done.stderr)


def counted(kind: str, folder: Path, status: int, log: str) -> dict[str, object]:
    """The figures of a run."""
    stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", log))
    found = {what: [p.name for p in sorted((folder / what).glob("*.txt"))]
             for what in ("crashes", "hangs")}  # fmt: skip
    return {
        "reader": kind,
        "executions": int(stats.get("number_of_executed_units", 0)),
        "per_second": int(stats.get("average_exec_per_sec", 0)),
        "peak_memory_MB": int(stats.get("peak_rss_mb", 0)),
        "crashes": found["crashes"],
        "hangs": found["hangs"],
        "exit_status": status,
    }


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--child", action="store_true")
    known, rest = parser.parse_known_args()
    folder = known.folder or ROOT / "out" / "fuzz" / known.kind
    if known.child:
        child(known.kind, folder, rest)
    figures = parent(known.kind, known.seconds, folder)
    print(json.dumps(figures, indent=1))
    return 1 if figures["crashes"] or figures["hangs"] or figures["exit_status"] else 0


if __name__ == "__main__":
    sys.exit(main())
