"""Formulas of the manual as MathML, which browsers typeset without a script or a network."""

from __future__ import annotations

import re
from typing import Any

ALIGNED = re.compile(r"(\\(?:begin|end))\{aligned\}")
ACCENT = re.compile(
    r"<mover>(?=(?:<mrow>)?<mi>[^<]*</mi>(?:</mrow>)?<mo>(?:&#x002D9;|&#x000A8;|&#x0005E;|&#x0007E;))"
)

NAMES = "sin cos tan asin acos atan atan2 sinh cosh exp log ln det tr rank sign dim ker"
NAMED = re.compile(
    rf"(?<!<msup>)(?<!<msub>)<(m[io])(?: [^>]*)?>({NAMES.replace(' ', '|')})</\1>"
    r"(?=(<mo[^>]*>&#x00028;)?)"
)
"""A function by its name, and whether a bracket follows."""

THIN = '<mspace width="0.167em" />'
FIRST = re.compile(r"(<math[^>]*>(?:<mrow>)*|<mo[^>]*>[^<]*</mo>)" + re.escape(THIN))
TIGHT = re.compile(r"<mo(?: stretchy=\"false\")?>(&#x0007C;|&#x0002F;)</mo>")
"""Bars and strokes, which browsers would set wide."""

SIGN = re.compile(
    r"(<mo[^>]*>(?:&#x0003D;|&#x02264;|&#x02265;|&#x00028;|&#x0005B;|&#x0002C;|&lt;|&gt;)</mo>)"
    r"<mo>(&#x02212;|\+|&#x0002B;)</mo>"
)
"""A sign that belongs to what follows it."""

PUNCTUATION = tuple(".,;:)]?!’'”")


def to_mathml(tex: str, *, block: bool) -> str:
    """A formula of TeX as MathML; rows of an `aligned` formula keep their alignment."""
    from latex2mathml.converter import convert

    text = convert(ALIGNED.sub(r"\1{align*}", tex), display="block" if block else "inline")
    text = NAMED.sub(lambda x: f"{THIN}<mi>{x[2]}</mi>{'' if x[3] else THIN}", text)
    text = FIRST.sub(r"\1", text)
    text = TIGHT.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', text)
    text = SIGN.sub(r'\1<mo form="prefix">\2</mo>', text)
    return ACCENT.sub('<mover accent="true">', text)


def visit_math(translator: Any, node: Any) -> None:
    """A formula within a line."""
    from docutils.nodes import SkipNode

    translator.body.append(to_mathml(node.astext(), block=False))
    after = node.next_node(descend=False, siblings=True)
    if after is not None and after.astext().startswith(PUNCTUATION):
        translator.body.append("&#8288;")  # no new line before a comma
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
