"""Every public name is documented, every source can be looked up, every link leads somewhere."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
from imported import nodes

SOURCE = re.compile(
    r"Source:\s*(.+?)(?=\n\s*\n|\n\s*(?:Differs|Args|Returns|Raises|Source):|\Z)", re.S
)


def public_members(module_name: str):
    """Public functions, classes and methods that a module defines itself."""
    module = importlib.import_module(module_name)
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", "") != module_name:
            continue
        if inspect.isfunction(thing) or inspect.isclass(thing):
            yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                is_method = inspect.isfunction(value) or isinstance(value, property | classmethod)
                if is_method and not member.startswith("_"):
                    yield f"{name}.{member}", getattr(thing, member)


def test_every_public_name_is_documented(modules):
    bare = []
    for module in modules:
        if module == "liaison.__main__":
            continue
        for name, thing in public_members(module):
            # a method that fulfils an interface is documented on the interface: getdoc looks there
            if not (inspect.getdoc(thing) or "").strip():
                bare.append(f"{module}.{name}")
    assert not bare


def test_every_file_says_what_to_expect_of_it(modules):
    short = [module for module, tree in modules.items() if len(ast.get_docstring(tree) or "") < 20]
    assert not short


def docstrings(tree: ast.Module):
    for node in nodes(tree, ast.Module, ast.ClassDef, ast.FunctionDef):
        yield ast.get_docstring(node) or ""


@pytest.fixture(scope="module")
def cited(modules) -> list[tuple[str, str]]:
    """(module, text after "Source:") of every docstring and comment."""
    found = []
    for module, tree in modules.items():
        for text in docstrings(tree):
            found += [(module, match.group(1)) for match in SOURCE.finditer(text)]
    return found


@pytest.fixture(scope="session")
def keys(repository) -> set[str]:
    text = (repository / "docs" / "references.bib").read_text(encoding="utf-8")
    return set(re.findall(r"^@\w+\{([^,\s]+),", text, re.M))


def test_there_are_sources(cited, keys):
    assert cited
    assert "RBDA" in keys


KEY_LIKE = re.compile(r"[A-Z]{2,}[0-9]*")


def unknown_sources(text: str, keys: set[str], repository: Path) -> list[str]:
    """What a Source line cannot be looked up by; it begins with a key or a page of docs/."""
    clauses = [clause.strip() for clause in text.replace("\n", " ").split(";")]
    first = [re.split(r"[\s,:.(]", clause, maxsplit=1)[0] for clause in clauses]
    pages = re.findall(r"docs/[\w/.-]+\.md", text)
    wrong = [page for page in pages if not (repository / page).exists()]
    wrong += [key for key in first if KEY_LIKE.fullmatch(key) and key not in keys]
    if first[0] not in keys and not clauses[0].startswith("docs/"):
        wrong.append(clauses[0])
    return wrong


def test_every_source_can_be_looked_up(cited, keys, repository):
    unknown = {
        module: wrong
        for module, text in cited
        if (wrong := unknown_sources(text, keys, repository))
    }
    assert not unknown, f"neither a key of docs/references.bib nor a page: {unknown}"


@pytest.mark.parametrize("text", ["Newton 1687", "RBDA §5; XYZ99 §2", "docs/theory/none.md"])
def test_a_source_that_cannot_be_looked_up_is_found(text, keys, repository):
    assert unknown_sources(text, keys, repository)


def test_keys_are_used_once(repository):
    text = (repository / "docs" / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{([^,\s]+),", text, re.M)
    assert len(keys) == len(set(keys))


def test_links_between_pages_lead_somewhere(repository):
    pages = [*repository.glob("*.md"), *repository.glob("docs/**/*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_erratum_names_a_test_that_exists(repository):
    page = (repository / "docs" / "errata.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| LL")]
    files = (repository / "tests" / "published").glob("test_errata*.py")
    tests = "".join(path.read_text(encoding="utf-8") for path in files)
    named = re.findall(r"`(test_ll_\w+)`", page)
    assert len(named) == len(rows) > 0
    assert all(f"def {name}(" in tests for name in named)
