"""Folders that one takes in at a glance: how many files, how deep; printed as a table."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from imported import all_imports, existing, nodes

FILES_OF_A_FOLDER = 15
FILES_THAT_MAKE_A_FOLDER = 3
DEPTH = 3
TOP = {"__init__.py", "__main__.py", "arguments.py", "errors.py", "units.py", "lazy.py"}
# aims that the table shows; not limits
AIM_FILES, AIM_LINES = 350, 78_000
ONLY_IMPORTERS = 40


def folders(package: Path) -> dict[Path, list[Path]]:
    """Folder below the package -> its source files, `__init__` not counted."""
    found: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        if path.name != "__init__.py":
            found[path.parent.relative_to(package)].append(path)
    return found


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def table(package: Path) -> str:
    """Rooms with their files and lines, and the largest folder of each."""
    rooms: dict[str, list[Path]] = defaultdict(list)
    largest: dict[str, int] = defaultdict(int)
    for folder, files in folders(package).items():
        room = folder.parts[0] if folder.parts else "(top)"
        rooms[room] += files
        largest[room] = max(largest[room], len(files))
    rows = [f"{'room':<12}{'files':>7}{'lines':>8}{'largest folder':>16}"]
    for room, files in sorted(rooms.items()):
        rows.append(f"{room:<12}{len(files):>7}{sum(map(lines, files)):>8}{largest[room]:>16}")
    everything = sorted(package.rglob("*.py"))
    rows.append(
        f"{'all':<12}{len(everything):>7}{sum(map(lines, everything)):>8}"
        f"{max(largest.values()):>16}   (aims: {AIM_FILES} files, {AIM_LINES} lines)"
    )
    return "\n".join(rows)


def test_the_table_of_rooms(package, capsys):
    with capsys.disabled():
        print("\n" + table(package))


def test_no_folder_is_too_large(package):
    crowded = {str(f): len(p) for f, p in folders(package).items() if len(p) > FILES_OF_A_FOLDER}
    assert not crowded


def test_every_folder_earns_its_place(package):
    small = {
        str(folder): len(files)
        for folder, files in folders(package).items()
        if len(files) < FILES_THAT_MAKE_A_FOLDER
        and folder.parts
        and not any((package / folder).glob("*/__init__.py"))
    }
    assert not small


def test_folders_are_not_deep(package):
    assert max(len(folder.parts) for folder in folders(package)) <= DEPTH


def test_nothing_but_doors_at_the_top(package):
    assert {path.name for path in package.glob("*.py")} == TOP


def test_rooms_and_verbs_share_no_name(package):
    import liaison

    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert not rooms & set(liaison.__all__)


def offered_modules(package: str, tree: ast.Module) -> set[str]:
    """Modules whose names a package offers by its table."""
    calls = nodes(tree, ast.Call)
    tables = [c.args[1] for c in calls if getattr(c.func, "id", "") == "offer"]
    return {f"{package}.{key}" for table in tables for key in ast.literal_eval(table)}


def only_importers(modules: dict[str, ast.Module]) -> dict[str, str]:
    """Modules with exactly one importer, a file of the same room; a door is no such file."""
    importers: dict[str, set[str]] = defaultdict(set)
    packages = {name.rpartition(".")[0] for name in modules}
    for module, name, _ in all_imports(modules):
        source = existing(name, modules)
        if source and source != module and source not in packages:
            importers[source].add(module)
    for module, tree in modules.items():
        for source in offered_modules(module, tree):
            importers[source].add(module)  # the door is an importer, and no other half
    return {
        source: user
        for source, users in importers.items()
        if len(users) == 1 and source.count(".") > 1
        for user in users
        if user.split(".")[1:2] == source.split(".")[1:2] and user not in packages
    }


def test_modules_with_one_importer_are_few(modules, capsys):
    found = only_importers(modules)
    with capsys.disabled():
        print(f"modules with one importer, in the same room: {len(found)}")
    assert len(found) <= ONLY_IMPORTERS, sorted(found.items())


@pytest.mark.slow
def test_every_module_can_be_imported_first(modules):
    """`python -c "import liaison.<room>.<module>"` works for every module, in a new process."""
    script = (
        "import importlib, os, sys, numpy\n"
        "for name in sys.argv[1:]:\n"
        "    if not os.fork():\n"
        "        importlib.import_module(name)\n"
        "        os._exit(0)\n"
        "    if os.wait()[1]:\n"
        "        sys.exit(f'{name} cannot be imported first')\n"
    )
    names = [name for name in modules if name != "liaison.__main__"]
    done = subprocess.run([sys.executable, "-c", script, *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
