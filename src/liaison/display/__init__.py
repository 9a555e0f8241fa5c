"""The room `display`: results in a line, as text, and as HTML for notebooks.

Classes that show themselves inherit `liaison.lazy.Shown`, which loads this room when one is shown.
`PAGES` says which module has the functions `title` and `page` for a class.

Public names: PAGES, page_of, line_of, text_of, html_of.
"""

from __future__ import annotations

from html import escape
from importlib import import_module
from types import ModuleType
from typing import Any

from liaison.lazy import Shown

from .page import WIDEST, Page, cut, fields_page, fields_title, to_text

PAGES = {
    "Mechanism": "mechanism",
    "Reading": "mechanism",
    "Tree": "tree",
    "Equations": "equations",
    "Readable": "equations",
    "Program": "kernel",
    "Kernel": "kernel",
    "Runs": "runs",
    "Study": "study",
    "Indices": "study",
    "Optimum": "study",
    "Sensitivities": "runs",
    "Efforts": "runs",
    "Linearization": "small_motions",
    "Equilibrium": "small_motions",
    "Regulator": "small_motions",
    "StepDerivatives": "small_motions",
    "Summary": "summary",
    "Trajectory": "trajectory",
    "Comparison": "comparison",
    "Verification": "theorems",
    "Integrability": "integrals",
    "FirstIntegral": "integrals",
    "Reduction": "reduction",
    "Report": "report.record",
}
"""Class -> module of this room that makes its page; classes below it are found through it."""


def _module_of(shown: Any) -> ModuleType | None:
    for kind in type(shown).__mro__:
        if kind.__name__ in PAGES:
            return import_module(f"{__name__}.{PAGES[kind.__name__]}")
    return None


def _has_text(shown: Any) -> bool:
    """Whether its class writes a text of its own."""
    kind: Any = type(shown)
    return kind.__str__ is not Shown.__str__


def page_of(shown: Any) -> Page:
    """What is shown of an object; its own text, or its fields, where no module here says more."""
    module = _module_of(shown)
    if module is None and not _has_text(shown):
        return fields_page(shown)
    if module is None:
        title, _, text = str(shown).partition("\n")
        return Page(title, text=text, html=f"<pre>{escape(text)}</pre>" if text else "")
    page: Page = module.page(shown)
    return page


def line_of(shown: Any) -> str:
    """One line: the class, and the title of its page."""
    module, title = _module_of(shown), ""
    if module is not None:
        title = module.title(shown)
    elif _has_text(shown):
        title = page_of(shown).title.strip().partition("  ")[0].rstrip(":")  # of a table its name
    if module is None and (not _has_text(shown) or getattr(shown, "name", "") not in title):
        title = fields_title(shown)
    return f"<{type(shown).__name__} {cut(title, WIDEST)}>"


def text_of(shown: Any) -> str:
    """A page of text."""
    return to_text(page_of(shown))


def html_of(shown: Any) -> str:
    """A fragment of HTML."""
    return str(import_module(f"{__name__}.html").to_html(page_of(shown)))
