"""What modules import, read from their syntax trees."""

import ast
from collections.abc import Iterator


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
