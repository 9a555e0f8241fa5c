"""The four-bar linkage in four systems: lines of code, CPU, and how well the results agree.

    python docs/compare/compare.py            a row for each system that is installed
    python docs/compare/compare.py liaison    one of them, as JSON

Lines are those that hold code: no blank lines, comments or docstrings; at most 100
columns, formatted by ruff. CPU is that of a fresh process from its first import to the moving
picture.
"""

import ast
import io
import json
import subprocess
import sys
import time
import tokenize
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

HERE = Path(__file__).parent


def of_liaison(run, **_):
    return run.t, run["D"], run["reactions.A.Fx"], run["reactions.A.Fy"]


RESULTS = {
    "liaison": of_liaison,
    "sympy": lambda t, run, force, **_: (t, run.y[2], *force.T),
    "exudyn": lambda t, rotations, force, **_: (t, rotations[2], *force),
    "mujoco": lambda t, rocker, force, **_: (t, rocker, *zip(*force, strict=True)),
}
"""System, whose package has its name -> of the names that its script leaves: time, angle of the
rocker, components of the force in A."""

PICTURES = (("matplotlib.animation", "Animation", "to_jshtml"), ("liaison.lazy", "Moving", "show"))
"""What makes the moving picture, in other systems and in liaison: module, class, method."""

SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def source(system):
    """Path of a system's script."""
    return HERE / f"four_bar_{system}.py"


def lines_of_code(text):
    """Lines with code on them; a docstring is none."""
    tree = ast.parse(text)
    documented = [tree, *(x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef))]
    strings = [x.body[0] for x in documented if ast.get_docstring(x) is not None]
    left_out = {k for x in strings for k in range(x.lineno, x.end_lineno + 1)}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED and token.string:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - left_out)


def timed(owner, name):
    """Replaces a method by one that counts the CPU seconds it takes, in a list of one number."""
    method, seconds = getattr(owner, name), [0.0]

    def counted(*args, **keywords):
        begin = time.process_time()
        try:
            return method(*args, **keywords)
        finally:
            seconds[0] += time.process_time() - begin

    setattr(owner, name, counted)
    return seconds


def measured(system):
    """CPU seconds, and time, angle and force of a system's script, run here."""
    import matplotlib

    matplotlib.use("Agg")
    module, owner, method = PICTURES[system == "liaison"]
    picture = timed(getattr(import_module(module), owner), method)
    begin = time.process_time()
    names = run_path(str(source(system)), run_name="cell")
    seconds = time.process_time() - begin
    t, angle, *force = RESULTS[system](**names)
    size = [sum(x**2 for x in pair) ** 0.5 for pair in zip(*force, strict=True)]
    return {
        "cpu": seconds,
        "picture": picture[0],
        "t": list(t),
        "angle": list(angle),
        "force": size,
    }


def of_process(system):
    """The same in a fresh process; None where the system is not installed."""
    if find_spec(system) is None or find_spec("IPython") is None:
        return None
    done = subprocess.run([sys.executable, __file__, system], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{system}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def rows():
    """System, lines, CPU, that of the picture, largest differences of angle [rad] and force [N]."""
    own = of_process("liaison")
    for system in RESULTS:
        lines = lines_of_code(source(system).read_text(encoding="utf-8"))
        theirs = own if system == "liaison" else of_process(system)
        if own is None or theirs is None:
            yield system, lines, None, None, None, None
            continue
        assert max(abs(a - b) for a, b in zip(own["t"], theirs["t"], strict=True)) < 1e-9
        off = [
            max(abs(a - b) for a, b in zip(own[x], theirs[x], strict=True))
            for x in ("angle", "force")
        ]
        yield system, lines, theirs["cpu"], theirs["picture"], *off


def main():
    head = f"{'system':<10}{'lines':>6}{'CPU [s]':>9}{'picture [s]':>13}"
    print(f"{head}{'angle off [rad]':>17}{'force off [N]':>15}")
    for system, lines, cpu, picture, angle, force in rows():
        numbers = "   not installed"
        if cpu is not None:
            numbers = f"{cpu:>9.2f}{picture:>13.2f}{angle:>17.1e}{force:>15.1e}"
        print(f"{system:<10}{lines:>6}{numbers}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(sys.argv[1]), default=float))
    else:
        main()
