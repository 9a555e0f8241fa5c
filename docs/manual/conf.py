"""Configuration of Sphinx for the manual; `docs/manual/build.py` runs it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from liaison import __version__

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

project = "liaison"
author = "the authors of liaison"
copyright = author
version = release = __version__

extensions = ["myst_parser", "lsd_lexer", "mathml"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 6
source_suffix = {".md": "markdown"}
root_doc = "index"

html_theme = "furo"
html_title = f"liaison {version}"
html_static_path = [str(HERE / "style.css")]
if FONT := find_spec("ziamath"):  # brings a font for formulas; many systems have none
    html_static_path.append(str(Path(FONT.origin or "").parent / "fonts/STIXTwoMath-Regular.ttf"))
html_extra_path = [str(HERE.parents[1] / "out" / "docs_files")]
html_css_files = ["style.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

highlight_language = "none"
pygments_style = "a11y-high-contrast-light"  # furo brings it
pygments_dark_style = "github-dark"
python_maximum_signature_line_length = 72
add_module_names = False
