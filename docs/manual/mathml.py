"""Formulas of the manual as MathML, which browsers typeset without a script or a network."""

from __future__ import annotations

import re
from typing import Any

ALIGNED = re.compile(r"(\\(?:begin|end))\{aligned\}")
ACCENT = re.compile(
    r"<mover>(?=(?:<mrow>)?<mi>[^<]*</mi>(?:</mrow>)?<mo>(?:&#x002D9;|&#x000A8;|&#x0005E;|&#x0007E;))"
)

NAMED = re.compile(r"(?<!<msup>)(?<!<msub>)<mi>(?:sin|cos|tan|exp|log|ln)</mi>")
THIN = '<mspace width="0.167em" />'


def to_mathml(tex: str, *, block: bool) -> str:
    """A formula of TeX as MathML; rows of an `aligned` formula keep their alignment."""
    from latex2mathml.converter import convert

    found = convert(ALIGNED.sub(r"\1{align*}", tex), display="block" if block else "inline")
    found = NAMED.sub(lambda name: f"{THIN}{name[0]}{THIN}", found)
    return ACCENT.sub('<mover accent="true">', found)


def visit_math(translator: Any, node: Any) -> None:
    """A formula within a line."""
    from docutils.nodes import SkipNode

    translator.body.append(to_mathml(node.astext(), block=False))
    raise SkipNode


def visit_math_block(translator: Any, node: Any) -> None:
    """A formula in lines of its own, with its number."""
    from docutils.nodes import SkipNode

    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    name = f' id="equation-{node["label"]}"' if node.get("label") else ""
    formula = to_mathml(node.astext(), block=True)
    translator.body.append(f'<div class="math"{name}>{formula}{number}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Makes the renderer known to Sphinx."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True}
