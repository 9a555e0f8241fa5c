"""Syntax trees of modules, each walked once for all tests; what modules import, read from them."""

import ast
from collections.abc import Iterator
from functools import cache


@cache
def by_class(tree: ast.AST) -> dict[type[ast.AST], list[ast.AST]]:
    """Nodes of a tree by their classes, in the order of `ast.walk`."""
    sorted_nodes: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree):
        sorted_nodes.setdefault(type(node), []).append(node)
    return sorted_nodes


def nodes(tree: ast.AST, *classes: type[ast.AST]) -> Iterator[ast.AST]:
    """Nodes of a tree that are of one of the classes, or of a class derived from them."""
    for kind, members in by_class(tree).items():
        if issubclass(kind, classes):
            yield from members


def imports(module: str, tree: ast.AST, *, is_room: bool) -> Iterator[tuple[str, ast.stmt]]:
    """Full names of all that a module imports, wherever in the file it does so."""
    here = module if is_room else module.rpartition(".")[0]
    for node in nodes(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        else:
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
