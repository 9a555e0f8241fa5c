"""The disk cache helps when it can and is never in the way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from program_samples import program_of, synthetic

from liaison.expr import symbol
from liaison.numeric.progress import cache_folder, fetch, key_of, own_folder, prune, store
from liaison.program import to_llvm
from liaison.program.llvm import machine

X = symbol("q[0]")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LIAISON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def value(formula):
    return to_llvm(program_of([formula]), optimize=0)("f", q=[3.0])[0]


def test_the_folder_is_private_and_the_file_is_found_again(folder, monkeypatch):
    assert value(X + 1) == 4
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0
    monkeypatch.setattr(machine, "_object_code", None)
    assert value(X + 1) == 4


def test_options_are_part_of_the_key(folder):
    for optimize in (0, 2):
        to_llvm(program_of([X + 1]), optimize=optimize).address("f")
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign"])
def test_a_damaged_file_is_compiled_again(folder, damage):
    value(X + 2)
    (file,) = folder.iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    foreign = b"no object code"
    wrong = {"cut": data[:100], "flipped": data, "empty": b""}
    if damage == "foreign":
        store(file.stem, foreign)
    else:
        file.write_bytes(wrong[damage])
    assert value(X + 2) == 5
    assert fetch(file.stem) not in (None, foreign)


def test_code_of_another_program_is_not_taken(folder):
    """A file under the name of another one is whole, and yet not what is asked for."""
    value(X + 2)
    (other,) = folder.iterdir()
    value(X * 7)
    (file,) = set(folder.iterdir()) - {other}
    file.write_bytes(other.read_bytes())
    assert value(X * 7) == 21
    assert file.read_bytes() != other.read_bytes()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_to_is_not_used(folder, mode, monkeypatch):
    value(X + 3)
    folder.chmod(mode)
    (file,) = folder.iterdir()
    assert own_folder() is None
    assert fetch(file.stem) is None
    assert value(X + 4) == 7
    assert list(folder.iterdir()) == [file]
    folder.chmod(0o755)
    assert fetch(file.stem) is not None
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert (fetch(file.stem) is None) == (folder.stat().st_uid != 0)


@pytest.mark.parametrize("place", ["/dev/null/cache", "/proc/liaison", "file/cache"])
def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch, place):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LIAISON_CACHE", place if place[0] == "/" else str(tmp_path / place))
    assert value(X + 5) == 8


def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch):
    def refuse(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", refuse)
    assert value(X + 6) == 9
    assert list(folder.iterdir()) == []


def test_without_cache_nothing_is_written(folder):
    assert to_llvm(program_of([X + 7]), optimize=0, cache=False)("f", q=[3.0])[0] == 10
    assert not folder.exists()


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("LIAISON_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "liaison"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "liaison"


def fill(folder, ages, size=100_000):
    """Files of some ages [s], and what each is called."""
    now = time.time()
    for k, age in enumerate(ages):
        store(f"{k + 1:064x}", bytes(size))
        os.utime(folder / f"{k + 1:064x}.o", (now - age, now - age))
    return [f"{k + 1:064x}.o" for k in range(len(ages))]


def test_what_was_used_longest_ago_goes_first(folder):
    names = fill(folder, [500, 100, 400, 300, 200])
    prune(0.6)
    assert {file.name for file in folder.iterdir()} == set(names)
    prune(0.4)  # down to four fifths: three files of a tenth of a megabyte
    assert {file.name for file in folder.iterdir()} == {names[1], names[3], names[4]}


def test_a_file_that_is_used_is_kept(folder):
    names = fill(folder, [500, 100, 400, 300, 200])
    assert fetch(names[0].removesuffix(".o")) == bytes(100_000)
    prune(0.4)
    assert names[0] in {file.name for file in folder.iterdir()}


def test_storing_keeps_the_folder_within_its_size(folder, monkeypatch):
    monkeypatch.setenv("LIAISON_CACHE_MB", "1")
    for k in range(60):
        store(key_of(str(k)), bytes(100_000))
    total = sum(file.stat().st_size for file in folder.iterdir())
    # one store in sixteen looks, and four hundred thousand bytes may come in between
    assert total <= 3e6
    prune()
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 1e6


@pytest.mark.parametrize("said", ["", "many", "500"])
def test_a_limit_that_is_no_number_is_the_usual_one(folder, monkeypatch, said):
    monkeypatch.setenv("LIAISON_CACHE_MB", said)
    fill(folder, [10, 20])
    prune()
    assert len(list(folder.iterdir())) == 2


def test_leftovers_of_dead_processes_go_and_fresh_ones_stay(folder):
    fill(folder, [10])
    for name, age in (("old.part", 2e5), ("new.part", 5.0)):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age,) * 2)
    prune()
    assert not (folder / "old.part").exists()
    assert (folder / "new.part").exists()


def test_pruning_beside_other_processes(folder):
    """Several prune and store at once: nothing is raised, and what is read is whole."""
    script = (
        "import sys\n"
        "from liaison.numeric.progress import fetch, key_of, prune, store\n"
        "for k in range(120):\n"
        "    key = key_of(str(k % 40))\n"
        "    store(key, bytes([k % 40]) * 20_000)\n"
        "    prune(0.3)\n"
        "    found = fetch(key_of(str((k * 7) % 40)))\n"
        "    assert found is None or found == bytes([(k * 7) % 40]) * 20_000\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]


def test_keys_tell_parts_apart():
    assert key_of("ab", "c") != key_of("a", "bc")


def test_the_same_text_in_every_process(folder):
    """Two processes with other hash seeds make one file: names come from structure."""
    script = (
        "from program_samples import synthetic\n"
        "from liaison.program import to_llvm\n"
        "to_llvm(synthetic(900), optimize=0).address('f')\n"
    )
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        )
        for seed in ("1", "2", "3")
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(list(folder.iterdir())) == 1
    assert fetch(next(folder.iterdir()).stem) is not None
    to_llvm(synthetic(900), optimize=0).address("f")
    assert len(list(folder.iterdir())) == 1


LINKS = """
import gc
from liaison.program.llvm import machine

content = machine._object_code("define double @f(double %x) { ret double %x }", 2, False)

def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def linked(n):
    for _ in range(n):
        machine._link(content, ["f"])
    return memory()

kept = machine._link(content, ["f"])
first = linked(200)
print((linked(600) - first) / 600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory as Linux tells it")
def test_code_that_is_gone_leaves_no_memory_behind():
    """A linker keeps 9 kB of each library; it goes with the last of its code, after some."""
    done = subprocess.run([sys.executable, "-c", LINKS], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 2000  # bytes


def test_code_outlives_its_linker(folder):
    """While linkers come and go, what is held still runs."""
    held = [to_llvm(program_of([X + k]), optimize=0) for k in range(3)]
    assert [kernel("f", q=[1.0])[0] for kernel in held] == [1, 2, 3]
    content = machine._object_code("define double @f(double %x) { ret double %x }", 0, False)
    for _ in range(3 * machine.LIBRARIES):
        machine._link(content, ["f"])
    assert [kernel("f", q=[1.0])[0] for kernel in held] == [1, 2, 3]
