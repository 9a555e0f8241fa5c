"""Files are whole or absent, links and devices stay what they are, damage is told."""

from __future__ import annotations

import errno
import io
import os
import random
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import simulate_samples as samples

from attack.damaged_results import damaged
from liaison.errors import LiaisonError, SimulationError
from liaison.program import to_llvm
from liaison.simulation import Run, Settings
from liaison.simulation.record import files
from liaison.simulation.record.files import write_file
from liaison.simulation.record.trajectory import Trajectory, load
from liaison.units import Label

posix = pytest.mark.skipif(os.name != "posix", reason="devices and signals of POSIX")


def some_run(n=40):
    x = np.linspace(0.0, 1.0, n)[:, None]
    labels = {"q": (Label("A", "rad"),), "v": (Label("A'", "rad/s"),)}
    return Trajectory("run", np.arange(float(n)), x, 2 * x, labels)


def in_a_process(code, *words, **options):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, **options)


# links and devices


def test_a_link_stays_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "there" / "a.txt", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to("there/a.txt")
    for text in ("first", "second"):  # the target is not there, then it is
        write_file(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    some_run().save(link)
    assert link.is_symlink()
    assert len(load(link)) == 40


def test_links_in_a_circle_and_folders_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="links") as caught:
        write_file(tmp_path / "a", "text")
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path, "text")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        write_file(tmp_path / "none" / "a", "text")


@posix
def test_a_device_is_written_to_and_never_replaced(tmp_path):
    write_file("/dev/null", "text")
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    for path in ("/dev/full", link):
        with pytest.raises(OSError, match="full") as caught:
            some_run().to_csv(path)
        assert caught.value.errno == errno.ENOSPC
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert link.is_symlink()


@posix
@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no /dev/shm")
def test_files_in_shared_memory_are_plain_files(tmp_path):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        plain, link = Path(folder) / "a", tmp_path / "link"
        link.symlink_to(plain)
        for path in (plain, link):
            for text in ("first, and longer", "second"):
                write_file(path, text)
                assert plain.read_text() == text


@posix
def test_stdout_has_its_lines_in_order(tmp_path):
    """Also where it is a file: what was printed before and after stays."""
    code = """
        from liaison.simulation.record.files import write_file
        print("before")
        write_file("/dev/stdout", "between\\n")
        print("after")
    """
    path = tmp_path / "printed"
    with path.open("w") as file:
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], stdout=file, check=True)
    assert path.read_text() == "before\nbetween\nafter\n"
    assert in_a_process(code).stdout == "before\nbetween\nafter\n"


@posix
def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "a.txt"
    write_file(path, "first")
    path.chmod(0o640)
    write_file(path, "second")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_text() == "second"


# writes that fail


@posix
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path):
    """The process goes on: nothing of HDF5 is left over a file that was not finished."""
    some_run().save(tmp_path / "a.nc")
    code = """
        import gc, resource, signal, sys
        import numpy as np
        from liaison.simulation.record.trajectory import Trajectory, load
        from liaison.units import Label
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        x = np.zeros((4000, 1))
        run = Trajectory("run", np.arange(4000.0), x, x, {"q": (Label("A"),), "v": (Label("w"),)})
        for limit in (100, 5000, 50_000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            for save in (run.save, run.to_csv):
                try:
                    save(sys.argv[1])
                except OSError as error:
                    print(error.errno)
            gc.collect()
        print(len(load(sys.argv[1])))
    """
    done = in_a_process(code, tmp_path / "a.nc")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [*[str(errno.EFBIG)] * 6, "40"]
    assert [x.name for x in tmp_path.iterdir()] == ["a.nc"]


@posix
def test_temporary_files_of_the_dead_are_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    old, new, alive = (
        tmp_path / f".x.nc.{process}-0123abc{k}.tmp"
        for k, process in enumerate((dead.pid, dead.pid, os.getpid()))
    )
    other = tmp_path / ".notes.tmp"
    for path in (old, new, alive, other):
        path.write_text("half")
        os.utime(path, (0, 0) if path != new else None)
    write_file(tmp_path / "a.txt", "text")
    assert {x.name for x in tmp_path.iterdir()} == {new.name, alive.name, other.name, "a.txt"}


# damaged files


def test_damaged_results_are_refused(tmp_path):
    path, rng = tmp_path / "a.nc", random.Random(1)
    some_run().save(path)
    whole = path.read_bytes()
    for _ in range(150):
        path.write_bytes(data := damaged(whole, rng))
        if data != whole:
            with pytest.raises(LiaisonError, match=r"a\.nc"):
                load(path)


def test_files_without_a_digest_are_read(tmp_path):
    """Of an older version, or written again by another tool."""
    path = tmp_path / "a.nc"
    some_run().save(path)
    path.write_bytes(path.read_bytes()[: -files.SEAL_SIZE])
    assert np.array_equal(load(path).q, some_run().q)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LiaisonError, match="is damaged"):
        load(path)


def test_damage_under_a_digest_that_fits_is_refused_or_met_no_byte_that_matters(tmp_path):
    path, rng = tmp_path / "a.nc", random.Random(4)
    some_run().save(path)
    whole = path.read_bytes()[: -files.SEAL_SIZE]
    begin = time.process_time()
    for _ in range(25):
        path.write_bytes(files.sealed(damaged(whole, rng)))
        with suppress(LiaisonError):
            load(path)
    assert time.process_time() - begin < 10.0


def heap_without_an_entry(whole, place):
    """A size of nothing: HDF5 itself steps from this entry to this entry, for ever."""
    return whole[: place + 16] + bytes(16) + whole[place + 32 :]


def heap_beyond_the_file(whole, place):
    return whole[: place + 8] + (1 << 40).to_bytes(8, "little") + whole[place + 16 :]


def text_of_four_gigabytes(whole, place):
    """HDF5 itself makes room for it before it looks whether it is there."""
    import h5py

    with h5py.File(io.BytesIO(whole), "r") as file:
        at = file["coordinate"].id.get_offset()
    return whole[:at] + b"\xf0\xff\xff\xff" + whole[at + 4 :]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (heap_without_an_entry, "entry 0 of the heap .* has the size 0"),
        (heap_beyond_the_file, "the heap at byte .* has the size 1099511627776"),
        (text_of_four_gigabytes, "a text of 4294967280 bytes in '/coordinate' is too large"),
    ],
)
def test_files_that_would_keep_hdf5_busy_are_refused_at_once(tmp_path, damage, words):
    path = tmp_path / "a.nc"
    some_run().save(path)
    whole = path.read_bytes()[: -files.SEAL_SIZE]
    path.write_bytes(files.sealed(damage(whole, whole.index(files.HEAP))))
    begin = time.process_time()
    with pytest.raises(LiaisonError, match=words):
        load(path)
    assert time.process_time() - begin < 1.0


def test_arrays_larger_than_their_file_are_refused(tmp_path):
    """HDF5 gives zeros for what was never written, as many as a shape says."""
    import h5py

    path = tmp_path / "a.nc"
    some_run().save(path)
    path.write_bytes(path.read_bytes()[: -files.SEAL_SIZE])
    with h5py.File(path, "a") as file:
        file.create_dataset("vast", (1 << 28,), "f8")
    path.write_bytes(files.sealed(path.read_bytes()))
    with pytest.raises(LiaisonError, match=r"the shape \(268435456,\) of '/vast' is too large"):
        load(path)


def test_complex_numbers_are_no_results(tmp_path):
    """Their imaginary parts were left out."""
    q = files.Variable(("time",), np.full(3, 1 + 2j))
    files.write_netcdf(tmp_path / "a.nc", {"q": q}, "{}")
    with pytest.raises(LiaisonError, match=r"a\.nc .*q holds complex numbers"):
        files.read_netcdf(tmp_path / "a.nc")


def test_readings_of_a_file_are_bounded():
    image, buffer = files._Image(b"x" * 1000), bytearray(1000)
    times = (files.READINGS * 1000 + files.LEAST_READ) // 1000
    for _ in range(times):
        image.seek(0)
        assert image.readinto(buffer) == 1000
    image.seek(0)
    with pytest.raises(ValueError, match="without end"):
        image.readinto(buffer)


def test_many_texts_fill_several_heaps(tmp_path):
    """Heaps that are full end with their last entry, or with fewer bytes than an entry has."""
    rng = random.Random(5)
    names = np.array(["x" * rng.randrange(60) for _ in range(3000)], dtype=object)
    files.write_netcdf(tmp_path / "a.nc", {"names": files.Variable(("n",), names)}, "header")
    variables, header = files.read_netcdf(tmp_path / "a.nc")
    assert header == "header"
    assert list(variables["names"].values) == list(names)


@pytest.mark.parametrize("content", [b"", b"hello", files.SIGNATURE, files.SIGNATURE + bytes(4000)])
def test_what_is_no_results_file_is_refused(tmp_path, content):
    path = tmp_path / "a.nc"
    path.write_bytes(content)
    with pytest.raises(LiaisonError, match=r"a\.nc"):
        load(path)


@pytest.mark.parametrize("header", ["", "{", "[]", "{}", '{"axes": 3}', "null", "[[" * 10_000])
def test_headers_of_nothing_are_refused(tmp_path, header):
    files.write_netcdf(tmp_path / "a.nc", {"q": files.Variable(("time",), np.zeros(3))}, header)
    with pytest.raises(LiaisonError, match=r"a\.nc"):
        load(tmp_path / "a.nc")


@posix
def test_what_is_no_plain_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(LiaisonError, match="no plain file"):
            load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.nc")


def test_damaged_checkpoints_are_refused():
    kernel = to_llvm(samples.pendulum())
    state = samples.start(kernel.program, [0.3], [0.0])
    run, rng = Run(kernel, state, 1.0, Settings(step=0.01)), random.Random(2)
    run.go(20)
    whole = run.checkpoint()
    for _ in range(60):
        data = damaged(whole, rng)
        again = Run(kernel, state, 1.0, Settings(step=0.01))
        try:
            again.restore(data)
        except SimulationError:
            continue
        assert again.checkpoint() == whole  # the accident met no byte that matters
