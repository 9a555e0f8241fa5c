"""Joint types are whole, and nothing else keeps a table of them.

What is made of joints, forces and relations by their classes has a default: one that raises, or one
that serves any of them.
"""

import ast
import inspect
import re

import pytest
from imported import nodes

import liaison
import liaison.model as model
from liaison.model import JOINT_TYPES, Composition, Rotation
from liaison.model.joints import ATTITUDES, axial, basic_constraints, steps
from liaison.spatial import array, identity, zeros

each_type = pytest.mark.parametrize("kind", JOINT_TYPES, ids=lambda kind: kind.__name__)

# module -> why it names joint types by their classes; what it does not name has a default there
NAMED = {
    "liaison.model.loads.drives": "makes the hinge of a rotor",
    "liaison.model.pairing": "scenes have free bodies only; others are refused",
    "liaison.formats.lsd.meaning.driven": "one motion of time alone is a hinge or a slider",
    "liaison.formats.lsd.meaning.joints": "one motion alone is written as a hinge, slider or screw",
    "liaison.formats.lsd.write.parts": "link(…) of a composition; others by their words",
    "liaison.formats.heights": "free bodies that stand on a plane",
    "liaison.formats.merge": "merges welded bodies; other joints stay",
    "liaison.formats.mjcf.read": "bodies without a joint are fixed",
    "liaison.formats.mjcf.joints": "the words of MJCF; others are refused",
    "liaison.formats.mjcf.tendons": "the joints of equalities",
    "liaison.formats.mjcf.poses": "coordinates of MJCF: hinges count angles",
    "liaison.formats.mjcf.actuators": "forces on free bodies; others by their coordinates",
    "liaison.formats.urdf.read": "the words of URDF; others are refused",
    "liaison.formats.urdf.write": "the words of URDF; others are refused",
    "liaison.tree.assemble": "the weld of a loop's copy; inertia that is not felt",
    "liaison.tree.cartesian": "makes the joints of bodies to the ground",
    "liaison.tree.tree": "makes the weld of a loop's copy",
    "liaison.freedoms.global_.hinge_modes": "hinges and sliders; others go the general way",
    "liaison.freedoms.global_.inverse_kinematics": "makes the weld of a hand",
    "liaison.freedoms.global_.legs": "sees legs; what has none goes the general way",
    "liaison.freedoms.placing": "roots avoided in coaxial joints; others by their poses",
    "liaison.freedoms.global_.assembly": "solves planar linkages; others go the general way",
    "liaison.equations.formalisms.maximal": "makes the joints of bodies to the ground",
    "liaison.equations.sweeps.body_loads": "makes the joints of bodies with loads to the ground",
    "liaison.equations.transform.parametrization": "asks whether bodies move in a plane",
    "liaison.equations.motors.motorized": "rotors turn on hinges; others are refused",
    "liaison.analyse.along.maximal_run": "finds the joints of bodies to the ground",
}


def sample(kind):
    """A joint type with some value for each option that it needs."""
    if kind is Composition:
        return Composition((Rotation(), Rotation("x")))
    return kind(**dict.fromkeys(kind.required(), 1))


@each_type
def test_a_joint_type_has_words_and_a_public_name(kind, repository):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.WORD)
    assert JOINT_TYPES.words[kind.WORD] is kind
    assert getattr(liaison, kind.__name__) is getattr(model, kind.__name__) is kind
    assert kind.__name__ in liaison.__all__
    assert kind.__name__ in model.__all__
    stub = (repository / "src" / "liaison" / "__init__.pyi").read_text(encoding="utf-8")
    assert f"import {kind.__name__} as {kind.__name__}\n" in stub


@each_type
def test_a_joint_type_says_how_it_moves_and_looks(kind):
    joint = sample(kind)
    motions = joint.chained_motions() or joint.elementary_motions(lambda: array([1, 0, 0]))
    assert motions is not None
    assert len(motions) == joint.freedom
    assert "SYMBOL" in vars(kind)
    rows = joint.residual(identity(), zeros(3))
    assert rows is None or len(rows) == len(joint.residual_names) == 6 - joint.freedom
    assert (rows is None) == (kind.CONSTRAINTS is None)
    assert kind.TURN in ("", *joint.coordinate_names)
    assert kind.BEARING in ("", "slide", "turn", "ball")
    assert {x.name for x in inspect.signature(kind).parameters.values()} >= set(kind.OPTIONS)


def test_every_joint_type_of_lsd_has_a_row_on_its_page(repository):
    page = (repository / "docs" / "lsd.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (?:`([\w ]+)`)? ?\| (\d) \|", page, re.M)
    told = {word: (set(others.split()), int(freedoms)) for word, others, freedoms in rows}
    assert told == {
        word: (set(kind.SYNONYMS), sample(kind).freedom)
        for word, kind in JOINT_TYPES.in_lsd.items()
    }


def test_every_attitude_is_on_the_page(repository):
    page = (repository / "docs" / "lsd.md").read_text(encoding="utf-8")
    assert all(f"`{word}`" in page or f"attitude = {word}" in page for word in ATTITUDES)


@pytest.mark.parametrize("words", ["turn_zF", "slide_wF", "roll_zF@F", "turn_zF@F,slide_zF"])
def test_wrong_elementary_motions_are_refused(words):
    with pytest.raises(liaison.ModelError, match="no elementary motion"):
        steps(words)


@pytest.mark.parametrize("words", ["points", "plane_w", "xF.yF", "yF-zM"])
def test_wrong_basic_constraints_are_refused(words):
    with pytest.raises(liaison.ModelError, match="no basic constraint"):
        basic_constraints(words)


def test_files_of_the_folder_are_loaded(package):
    files = {path.stem for path in (package / "model" / "joints").glob("*.py")} - {"__init__"}
    assert all(hasattr(model.joints, name) for name in files)
    assert axial.Fixed is liaison.Fixed


# Who names joint types --------------------------------------------------------------------------


def names_in(tree: ast.AST) -> set[str]:
    """Names, attributes and texts of a syntax tree."""
    found = {node.id for node in nodes(tree, ast.Name)}
    found |= {node.attr for node in nodes(tree, ast.Attribute)}
    return found | {alias.name for node in nodes(tree, ast.ImportFrom) for alias in node.names}


def test_only_these_modules_name_joint_types(modules):
    types = {kind.__name__ for kind in JOINT_TYPES}
    found = {
        module
        for module, tree in modules.items()
        if not module.startswith("liaison.model.joints") and names_in(tree) & types
    }
    assert found == set(NAMED)


def test_tables_by_names_of_joint_types_are_found(modules):
    types = {kind.__name__ for kind in JOINT_TYPES}
    for module, tree in modules.items():
        for node in nodes(tree, ast.Dict):
            keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
            assert len(keys & types) < 2, f"{module} keeps a table of joint types by name"


# Defaults ---------------------------------------------------------------------------------------

FAMILIES = (model.Force, model.Constraint, model.OneSided, model.JointType, model.Measure)


def family_classes() -> set[str]:
    return {
        name
        for name in model.__all__
        if inspect.isclass(thing := getattr(model, name)) and issubclass(thing, FAMILIES)
    }


def functions_of(tree: ast.Module, prefix: str):
    """(full name, function) of all functions, methods included."""
    stack = [(prefix, tree)]
    while stack:
        name, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}"
                stack.append((inner, child))
                if isinstance(child, ast.FunctionDef):
                    yield inner, child


def classes_matched(match: ast.Match) -> set[str]:
    return {
        node.cls.id
        for case in match.cases
        for node in ast.walk(case.pattern)
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)
    }


def default_of(match: ast.Match, function: ast.FunctionDef) -> list[ast.stmt]:
    """What happens where no case holds: the last case, or what follows the match."""
    last = match.cases[-1]
    if isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None:
        return last.body
    for node in ast.walk(function):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and match in block:
                return block[block.index(match) + 1 :]
    return []


def without_default(tree: ast.Module, module: str, classes: set[str]) -> dict[str, str]:
    """Functions with a match over such classes -> "none" or "quiet", by their default."""
    found = {}
    for name, function in functions_of(tree, module) if any(nodes(tree, ast.Match)) else ():
        for node in ast.walk(function):
            if isinstance(node, ast.Match) and classes_matched(node) & classes:
                default = default_of(node, function)
                if not any(isinstance(x, ast.Raise) for y in default for x in ast.walk(y)):
                    found[name] = "quiet" if default else "none"
    return found


def test_every_match_over_classes_of_the_model_has_a_default(modules):
    classes, found = family_classes(), {}
    for module, tree in modules.items():
        found |= without_default(tree, module, classes)
    assert not found, "a default that does not raise, or none"


WRONG = """
def quiet(force):
    match force:
        case Spring():
            return 1

def kept(force):
    match force:
        case Spring():
            return 1
        case _:
            return 2

def loud(force):
    match force:
        case Spring():
            return 1
    raise ValueError
"""


def test_a_match_without_default_is_found():
    found = without_default(ast.parse(WRONG), "m", family_classes())
    assert found == {"m.quiet": "none", "m.kept": "quiet"}


# function with a look-up by class that is not raised where there is none -> what then happens
LOOKED_UP = {
    "liaison.model.checks": "formulas of parameters only, the narrowest scope",
    "liaison.cli.derive.own": "no words of its own",
    "liaison.formats.lsd.write.write": "the general form of a kind, or refused",
    "liaison.formats.lsd.formulas.values": "a shape, in messages",
    "liaison.program.loops.read": "refused on the next line",
    "liaison.program.loops.values": "refused on the next line",
    "liaison.program.extend": "None: the formula is not written as data",
}


def test_every_lookup_by_class_says_what_happens_without_a_row(modules):
    found = set()
    for module, tree in modules.items():
        for node in nodes(tree, ast.Call):
            if isinstance(node.func, ast.Attribute):
                arguments = [x for x in node.args[:1] if isinstance(x, ast.Call)]
                is_type = any(
                    isinstance(x.func, ast.Name) and x.func.id == "type" for x in arguments
                )
                if node.func.attr == "get" and is_type:
                    found.add(module)
    assert found <= LOOKED_UP.keys() | NAMED.keys()
