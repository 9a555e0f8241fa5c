"""Imports run one way along the corridor, and each third party stays behind its wall."""

import ast
import sys
from collections.abc import Iterator

MAY_IMPORT = {
    "numeric": "",
    "expr": "",
    "algebra": "expr",
    "spatial": "expr",
    "model": "expr spatial",
    "formats": "expr spatial model",
    "tree": "numeric expr spatial model",
    "mobility": "numeric expr spatial model tree",
    "equations": "expr algebra spatial model tree",
    "program": "expr equations",
    "solvers": "program",
    "simulate": "numeric program solvers",
    "scenes": "numeric program solvers simulate",
    "analyse": "numeric expr spatial model tree mobility equations program simulate",
    "view": "model simulate",
    "sweep": "simulate",
}
OPEN_TO_ALL = {"errors", "units", "lazy"}
DOORS = {"__init__", "__main__", "cli", "verbs"}

# a third party -> the rooms or doors that may import it; numpy is open to all rooms
WALLS = {
    "flint": "expr mobility",
    "scipy": "numeric analyse",
    "llvmlite": "program",
    "jax": "program",
    "sympy": "expr",
    "xarray": "simulate",
    "pandas": "simulate",
    "h5netcdf": "simulate",
    "h5py": "simulate",
    "matplotlib": "view",
    "viser": "view",
    "jinja2": "view",
    "rich": "cli",
    "typer": "cli",
    "hypothesis": "",
    "pytest": "",
}
# third parties slow to load: imported inside the function that needs them
SLOW = {"sympy", "scipy", "xarray", "pandas", "matplotlib", "viser", "h5netcdf", "h5py", "flint"}


# modules that are imported inside a function, since few runs need them: who -> what
LATER = {
    "analyse.obstructed": "local",
    "equations.reading_order": "modes",
    "equations.setting": "tree.sides",
    "formats.lsd_statements": "lsd_collisions lsd_contacts",
    "formats.read": "mjcf urdf",
    "simulate.layout": "solvers.cones solvers.lemke",
    "simulate.machine": "moreau_march",
    "simulate.plan": "moreau_plan",
    "simulate.prepared": "one_sided",
    "simulate.report": "contact_series moreau_report sides_layout touching",
    "simulate.run": "checkpoint",
    "simulate.trajectory": "notebook wrenches",
}


def room_of(module: str) -> str:
    """The room or door a module belongs to: `liaison.tree.span` -> `tree`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(module: str, tree: ast.AST, *, is_room: bool) -> Iterator[tuple[str, ast.stmt]]:
    """Full names of all that a module imports, wherever in the file it does so."""
    here = module if is_room else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = f"{here}.{source}".rstrip(".")
            yield from ((f"{source}.{alias.name}", node) for alias in node.names)


def all_imports(modules: dict[str, ast.Module]) -> Iterator[tuple[str, str, ast.stmt]]:
    packages = {name.rpartition(".")[0] for name in modules}
    for module, tree in modules.items():
        for name, node in imports(module, tree, is_room=module in packages):
            yield module, name, node


def existing(name: str, modules: dict[str, ast.Module]) -> str | None:
    """The module of ours that an imported name lies in."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def test_every_room_on_disk_has_a_row_in_the_table(modules):
    rooms = {room_of(module) for module in modules} - DOORS - OPEN_TO_ALL
    assert rooms <= set(MAY_IMPORT)


def test_each_room_sees_only_the_rooms_it_may(modules):
    for module, name, _ in all_imports(modules):
        room = room_of(module)
        if not name.startswith("liaison") or room in DOORS:
            continue
        allowed = OPEN_TO_ALL if room in OPEN_TO_ALL else OPEN_TO_ALL | {room}
        allowed = allowed | set(MAY_IMPORT.get(room, "").split())
        assert room_of(name) in allowed, f"{module} looks into {name}"


def test_the_table_itself_has_no_cycle():
    order: list[str] = []
    while len(order) < len(MAY_IMPORT):
        ready = [
            room
            for room, seen in MAY_IMPORT.items()
            if room not in order and set(seen.split()) <= set(order)
        ]
        assert ready, f"these rooms see each other: {set(MAY_IMPORT) - set(order)}"
        order += ready


def test_other_folders_are_imported_by_full_name_and_the_own_folder_by_one_dot(modules):
    packages = {name.rpartition(".")[0] for name in modules}
    for module, name, node in all_imports(modules):
        folder = module if module in packages else module.rpartition(".")[0]
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        assert level < 2, f"{module} climbs out of its room with dots: {name}"
        own = name.startswith(f"{folder}.")
        if own and room_of(module) in MAY_IMPORT:
            assert level == 1, f"{module} writes its own folder's full name: {name}"


def imported_later(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Module -> modules of ours that functions of it import; full names without `liaison.`."""
    found: dict[str, set[str]] = {}
    for module, tree in modules.items():
        if room_of(module) in DOORS | OPEN_TO_ALL:
            continue
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda)]
        for function in functions:
            for name, _ in imports(module, function, is_room=False):
                if name.startswith("liaison"):
                    short = module.removeprefix("liaison.")
                    found.setdefault(short, set()).add(existing(name, modules) or name)
    return found


def test_only_what_few_runs_need_is_imported_inside_a_function(modules):
    listed = {}
    for module, words in LATER.items():
        room = module.partition(".")[0]
        listed[module] = {
            f"liaison.{x}" if "." in x else f"liaison.{room}.{x}" for x in words.split()
        }
    assert imported_later(modules) == listed


def test_no_room_imports_the_package_itself(modules):
    for module, name, node in all_imports(modules):
        if room_of(module) in DOORS:
            continue
        if isinstance(node, ast.Import):
            assert name != "liaison", f"{module} imports liaison itself"
        elif name.startswith("liaison."):
            assert name.count(".") >= 2, f"{module} imports from liaison itself: {name}"


def test_modules_import_each_other_without_cycle(modules):
    sees: dict[str, set[str]] = {module: set() for module in modules}
    for module, name, _ in all_imports(modules):
        if name.startswith("liaison") and room_of(module) not in DOORS:
            found = existing(name, modules)
            sees[module] |= {found} - {module, "liaison", None}
    while sees:
        leaves = [module for module, seen in sees.items() if not seen & set(sees)]
        assert leaves, f"import cycle among {sorted(sees)}"
        for module in leaves:
            del sees[module]


def test_third_parties_stay_behind_their_walls(modules):
    ours = {"liaison", "numpy"} | set(sys.stdlib_module_names)
    for module, name, _ in all_imports(modules):
        party = name.split(".")[0]
        if party not in ours:
            assert party in WALLS, f"{module} imports {party}, which has no wall yet"
            assert room_of(module) in WALLS[party].split(), f"{module} imports {party}"


def test_slow_third_parties_are_imported_where_they_are_used(modules):
    for module, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name, _ in imports(module, ast.Module([node], []), is_room=False):
                    assert name.split(".")[0] not in SLOW, f"{module} imports {name} at its top"


def test_no_module_is_named_after_nothing(modules):
    vague = {"utils", "util", "common", "core", "base", "helpers", "helper", "manager", "misc"}
    for module in modules:
        assert not vague & set(module.split(".")), module


def test_init_defines_nothing(modules):
    allowed_names = {"__getattr__", "__dir__"}
    for node in ast.walk(modules["liaison"]):
        assert not isinstance(node, ast.ClassDef | ast.Lambda)
        if isinstance(node, ast.FunctionDef):
            assert node.name in allowed_names
