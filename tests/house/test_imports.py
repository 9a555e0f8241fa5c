"""Imports run one way along the corridor, and each third party stays behind its wall.

The tables are those of docs/house.md, "Who may import whom": one place for both.
"""

import ast
import re
import sys
from pathlib import Path

import pytest
from imported import all_imports, existing, imports, nodes

PAGE = Path(__file__).parents[2] / "docs" / "house.md"
OPEN_TO_ALL = {"arguments", "errors", "units", "lazy"}
DOORS = {"", "__main__", "cli", "verbs"}
# third parties slow to load: imported inside the function that needs them
SLOW = {"sympy", "scipy", "xarray", "pandas", "matplotlib", "h5netcdf", "h5py", "flint"}
# modules that are imported inside a function, since few runs need them: who -> what
LATER = {
    "analyse.proofs.exact_motion": "exact.degrees exact.evidence",
    "exact.choices": "exact.balls exact.multivariate",
    "analyse.proofs.first_integrals": "expr.reading.arrange expr.reading.integrate "
    "expr.reading.reading expr.reading.ring expr.reading.simplify",
    "equations.formalisms.newton_euler": "equations.sweeps.articulated",
    "equations.reading_order": "equations.modes",
    "equations.setting": "equations.commutators equations.motors.compensation expr.periodic "
    "tree.contact.sides",
    "tree.assemble": "tree.reach",
    "tree.tree": "tree.memory",
    "formats.lsd.meaning.statements": "formats.lsd.meaning.contacts",
    "formats.lsd.read": "formats.merge",
    "formats.read": "formats.ground formats.mjcf.read formats.quantities formats.urdf.read",
    "model.checks": "model.contacts.targets",
    "model.pairing": "model.contacts.between model.contacts.contact",
    "model.shapes": "numeric.decompose numeric.height_fields numeric.hulls numeric.meshes",
    "program.back_ends": "program.libraries.package",
    "program.c.to_c": "program.functions.elementary",
    "program.instants": "exact.intervals",
    "program.llvm.to_llvm": "program.llvm.lanes program.llvm.portable program.llvm.stages",
    "program.loops.compile": "program.functions.elementary",
    "program.loops.llvm": "program.functions.elementary",
    "program.lower": "program.derivatives.derivatives program.derivatives.variation",
    "simulation.hull_places": "contacts.convex.along",
    "simulation.plan.plan": "program.to_numpy simulation.steps.sides_layout",
    "simulation.steps.layout": "solvers.cones.cones solvers.linear.lemke",
    "simulation.outcome": "simulation.plan.scales",
    "simulation.prepared": "contacts.events.one_sided contacts.events.switching "
    "contacts.scene.kernel contacts.scene.layout contacts.scene.world simulation.plan.scales",
    "simulation.report": "simulation.reactions contacts.events.series contacts.stepping.report "
    "contacts.events.touching contacts.scene.report simulation.balance simulation.between",
    "simulation.run": "simulation.between simulation.checkpoint contacts.scene.world",
    "simulation.stepper": "contacts.scene.report simulation.balance",
    "simulation.record.series": "simulation.record.resampling",
    "simulation.record.trajectory": "simulation.record.resampling simulation.record.wrenches",
}
VAGUE = {"utils", "util", "common", "core", "base", "helpers", "helper", "manager", "misc"}


def rows(heading: str) -> list[list[str]]:
    """Cells of the table below a heading of docs/house.md."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def words(cell: str) -> list[str]:
    """What stands between backquotes, separated by spaces."""
    return " ".join(re.findall(r"`([^`]*)`", cell)).split()


def table(column: int) -> dict[str, set[str]]:
    """Folder -> what it may import, of one column of the table."""
    return {
        folder: set(words(row[column]))
        for row in rows("Who may import whom")
        for folder in words(row[0])
    }


MAY_IMPORT = table(1)
WALLS = table(2)
# folders that stand in one row of the table see each other
TOGETHER = {
    folder: frozenset(words(row[0]))
    for row in rows("Who may import whom")
    for folder in words(row[0])
}


def folder_of(module: str) -> str:
    """The row of the table a module belongs to: `liaison.expr.reading.text` -> `expr/reading`."""
    parts = module.split(".")[1:]
    for length in range(len(parts), 0, -1):
        if (path := "/".join(parts[:length])) in MAY_IMPORT:
            return path
    return parts[0] if parts else ""


def is_door(module: str) -> bool:
    return folder_of(module) in DOORS


def test_every_folder_on_disk_has_a_row_in_the_table(modules):
    folders = {folder_of(module) for module in modules} - DOORS - OPEN_TO_ALL
    assert folders == set(MAY_IMPORT)


def test_each_folder_sees_only_what_it_may(modules):
    for module, name, _ in all_imports(modules):
        if not name.startswith("liaison") or is_door(module):
            continue
        folder, seen = folder_of(module), folder_of(existing(name, modules))
        allowed = OPEN_TO_ALL | TOGETHER.get(folder, frozenset()) | MAY_IMPORT.get(folder, set())
        offers = module.count(".") == 1 and name.startswith(f"{module}.")
        assert offers or seen in allowed, f"{module} imports {name}"


def test_the_table_itself_has_no_cycle():
    order: set[str] = set()
    while len(order) < len(MAY_IMPORT):
        ready = {f for f, seen in MAY_IMPORT.items() if f not in order and seen <= order}
        assert ready, f"these folders see each other: {set(MAY_IMPORT) - order}"
        order |= ready


def test_the_own_folder_is_imported_by_one_dot_and_all_else_by_full_name(modules):
    packages = {name.rpartition(".")[0] for name in modules}
    for module, name, node in all_imports(modules):
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        assert level < 2, f"{module} climbs out of its folder with dots: {name}"
        if is_door(module) or not name.startswith("liaison."):
            continue
        folder = module if module in packages else module.rpartition(".")[0]
        source = existing(name, modules)
        own = source != folder and source.rpartition(".")[0] == folder
        if source not in packages:
            assert own == (level == 1), f"{module} imports {name} by {level} dots"


def imported_later(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Module -> modules of ours that functions of it import; full names without `liaison.`."""
    later: dict[str, set[str]] = {}
    for module, tree in modules.items():
        found = nodes(tree, ast.Import, ast.ImportFrom)
        if is_door(module) or all(node in tree.body for node in found):
            continue
        for function in nodes(tree, ast.FunctionDef, ast.Lambda):
            for name, _ in imports(module, function, is_room=False):
                if name.startswith("liaison"):
                    source = existing(name, modules).removeprefix("liaison.")
                    later.setdefault(module.removeprefix("liaison."), set()).add(source)
    return later


def test_rooms_are_imported_inside_functions_only_where_few_runs_need_them(modules):
    assert imported_later(modules) == {
        module: set(names.split()) for module, names in LATER.items()
    }


def test_no_room_imports_the_package_itself(modules):
    for module, name, node in all_imports(modules):
        if is_door(module):
            continue
        if isinstance(node, ast.Import):
            assert name != "liaison", f"{module} imports liaison itself"
        elif name.startswith("liaison."):
            assert name.count(".") >= 2, f"{module} imports from liaison itself: {name}"


def test_modules_import_each_other_without_cycle(modules):
    sees: dict[str, set[str]] = {module: set() for module in modules}
    for module, name, _ in all_imports(modules):
        if name.startswith("liaison") and not is_door(module):
            found = existing(name, modules)
            sees[module] |= {found} - {module, "liaison", None}
    while sees:
        leaves = [module for module, seen in sees.items() if not seen & set(sees)]
        assert leaves, f"import cycle among {sorted(sees)}"
        for module in leaves:
            del sees[module]


def test_third_parties_stay_behind_their_walls(modules):
    ours = {"liaison", "numpy"} | set(sys.stdlib_module_names)
    walls = WALLS | {"cli": {"rich", "typer", "click"}, "verbs": set(), "": set()}
    for module, name, _ in all_imports(modules):
        party = name.split(".")[0]
        if party not in ours:
            assert party in walls[folder_of(module)], f"{module} imports {party}"


def test_slow_third_parties_are_imported_where_they_are_used(modules):
    for module, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name, _ in imports(module, ast.Module([node], []), is_room=False):
                    assert name.split(".")[0] not in SLOW, f"{module} imports {name} at its top"


def test_no_module_is_named_after_nothing(modules):
    for module in modules:
        assert not VAGUE & set(module.split(".")), module


@pytest.mark.parametrize("name", sorted(OPEN_TO_ALL))
def test_what_is_open_to_all_sees_nothing(modules, name):
    seen = {folder_of(x) for m, x, _ in all_imports(modules) if m == f"liaison.{name}"}
    assert not seen & (set(MAY_IMPORT) | DOORS - {""})


def test_init_defines_nothing(modules):
    allowed_names = {"__getattr__", "__dir__"}
    for node in ast.walk(modules["liaison"]):
        assert not isinstance(node, ast.ClassDef | ast.Lambda)
        if isinstance(node, ast.FunctionDef):
            assert node.name in allowed_names
