"""`liaison build` writes a package that can be linked, and refuses what it cannot make."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import liaison
from liaison.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
PENDULUM = EXAMPLES / "pendulum.lsd"


def run(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return left.value.code, out, err


def test_build_writes_header_source_and_object(capsys, tmp_path):
    status, out, _ = run(capsys, "build", PENDULUM, "--out", tmp_path / "new", "--json")
    assert status == 0
    facts = json.loads(out)
    assert {"header", "source", "object", "sizes"} == set(facts)
    for kind in ("header", "source", "object"):
        assert Path(facts[kind]).stat().st_size > 0
    assert "_forward(" in Path(facts["header"]).read_text()


def test_entries_are_chosen_by_name(capsys, tmp_path):
    words = ["build", PENDULUM, "--out", tmp_path, "--entry", "d_forward", "--json"]
    status, out, _ = run(capsys, *words)
    assert status == 0
    text = Path(json.loads(out)["header"]).read_text()
    assert "_d_forward(" in text
    assert "_energy(" not in text


@pytest.mark.parametrize("words", [("--entry", "forwards"), ("--target", "fortran")])
def test_what_is_unknown_is_a_wrong_command_line(capsys, tmp_path, words):
    status, _, err = run(capsys, "build", PENDULUM, "--out", tmp_path, *words)
    assert status == 2
    assert words[1] in err


def test_text_for_gpus(capsys, tmp_path):
    words = ["build", PENDULUM, "--target", "ptx", "--out", tmp_path, "--json"]
    status, out, _ = run(capsys, *words)
    assert status == 0
    facts = json.loads(out)
    assert {"forward", "inverse", "march", "sizes"} == set(facts)
    assert ".entry march(" in Path(facts["march"]).read_text()
    status, _, err = run(capsys, *words, "--entry", "backward")
    assert status == 2
    assert "forward" in err


def test_a_module_that_simulates(capsys, tmp_path):
    words = ["build", PENDULUM, "--target", "wasm", "--out", tmp_path / "live", "--json"]
    status, out, _ = run(capsys, *words, "--step", "1 ms", "--until", "2")
    assert status == 0
    facts = json.loads(out)
    assert {"module", "script", "types", "package", "bytes", "compressed"} == set(facts)
    module = Path(facts["module"]).read_bytes()
    assert module[:4] == b"\0asm"
    assert b'"step":0.001' in module
    known = json.loads(Path(facts["package"]).read_text())
    assert Path(facts["package"]).parent.joinpath(known["main"]).read_text().startswith("// Runs")
    assert known["files"][0] == Path(facts["module"]).name


def test_entries_as_a_module(capsys, tmp_path):
    words = ["build", PENDULUM, "--target", "wasm", "--out", tmp_path, "--entry", "forward"]
    status, out, _ = run(capsys, *words, "--json")
    assert status == 0
    assert b"forward" in Path(json.loads(out)["module"]).read_bytes()
    status, _, err = run(capsys, *words, "--step", "1 ms")
    assert status == 2
    assert "--target wasm" in err


def test_what_cannot_run_in_a_module(capsys, tmp_path):
    pile = PENDULUM.with_name("pile.lsd")
    status, _, err = run(capsys, "build", pile, "--target", "wasm", "--out", tmp_path)
    assert status != 0
    assert "'pile' cannot run in a module" in err
    assert not list(tmp_path.iterdir())


def test_a_portable_package_brings_its_functions(capsys, tmp_path):
    words = ["build", PENDULUM, "--target", "portable", "--out", tmp_path, "--json"]
    status, out, _ = run(capsys, *words)
    assert status == 0
    text = Path(json.loads(out)["source"]).read_text()
    assert "compile with -ffp-contract=off" in text
    assert "liaison_sin(" in text
    assert " sin(" not in text


STARTED = """
#include <stdio.h>
#include "four_bar.h"
int main(void) {
  double out[FOUR_BAR_CLOSURE_OUT], worst = 0;
  four_bar_closure(0, four_bar_start_q, four_bar_start_v, NULL, four_bar_default_p, NULL, out,
                   NULL);
  for (int k = 0; k < FOUR_BAR_CLOSURE_OUT; k++)
    worst = out[k] > worst ? out[k] : -out[k] > worst ? -out[k] : worst;
  printf("%.3g %.17g", worst, four_bar_start_v[0]);
  return 0;
}
"""


@pytest.mark.parametrize("target", ["c", "portable"])
def test_packages_compile_without_a_warning_and_know_their_start(
    capsys, tmp_path, c_compiler, target
):
    words = ["build", EXAMPLES / "four_bar.lsd", "--target", target, "--out", tmp_path, "--json"]
    status, _, _ = run(capsys, *words, "--entry", "closure", "--entry", "forward")
    assert status == 0
    (tmp_path / "main.c").write_text(STARTED)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffp-contract=off"]
    sources = [tmp_path / "main.c", tmp_path / "four_bar.c"]
    program = tmp_path / "main"
    subprocess.run([c_compiler, *flags, *sources, "-o", program, "-lm"], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    assert float(said[0]) < 1e-12
    assert float(said[1]) == liaison.simulate(EXAMPLES / "four_bar.lsd", until=0.01).v[0, 0]


def test_a_step_for_small_machines(capsys, tmp_path):
    words = ["build", PENDULUM, "--precision", "single", "--no-libm", "--out", tmp_path]
    status, out, _ = run(capsys, *words, "--json")
    assert status == 0
    facts = json.loads(out)
    assert {"header", "source", "cmake", "operations", "error", "closure", "steps"} == set(facts)
    assert 0 < facts["error"] < 1e-5
    assert "float pendulum_step(" in Path(facts["header"]).read_text()
    assert "math.h" not in Path(facts["source"]).read_text()
    _, out, _ = run(capsys, *words)
    assert "single precision is" in out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--precision", "half"), "half"),
        (("--precision", "single", "--target", "wasm"), "--target"),
        (("--precision", "single", "--entry", "forward"), "--entry"),
        (("--no-libm",), "--precision"),
        (("--corrections", "2"), "--precision"),
    ],
)
def test_options_of_a_step_go_together(capsys, tmp_path, words, named):
    status, _, err = run(capsys, "build", PENDULUM, "--out", tmp_path, *words)
    assert status == 2
    assert named in err


def test_libraries_of_all_systems(capsys, tmp_path):
    status, out, _ = run(
        capsys, "build", PENDULUM, "--target", "library", "--out", tmp_path, "--json"
    )
    assert status == 0
    facts = json.loads(out)
    assert {"header", "sizes", "linux-x86_64", "linux-aarch64", "windows-x86_64", "macos"} == set(
        facts
    )
    starts = {"linux-x86_64": b"\x7fELF", "windows-x86_64": b"MZ", "macos": b"\xca\xfe\xba\xbe"}
    for system, magic in starts.items():
        assert Path(facts[system]).read_bytes().startswith(magic)
