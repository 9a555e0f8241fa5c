"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.view.notebook.animation import Animation as Animation
from liaison.view.notebook.explorer import Explorer as Explorer
from liaison.view.notebook.frame import inline_frame as inline_frame
from liaison.view.notebook.frame import page_text as page_text
from liaison.view.notebook.slider import Slider as Slider
