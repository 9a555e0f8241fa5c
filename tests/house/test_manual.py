"""The manual without building it: its configuration, its pages in the tables of contents, LSD."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Text

REPOSITORY = Path(__file__).parents[2]
MANUAL = REPOSITORY / "docs" / "manual"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.S | re.M)


@pytest.fixture(autouse=True)
def manual(monkeypatch):
    """The modules of the manual can be imported, as its build does."""
    monkeypatch.syspath_prepend(str(MANUAL))


def listed(place: str, text: str) -> set[str]:
    """Pages that the tables of contents of a page list."""
    lines = "\n".join(TOCTREE.findall(text)).splitlines()
    entries = [x for x in lines if x and not x.startswith(":")]
    folder = (Path("/") / place).parent
    return {str((folder / f"{x}.md").resolve().relative_to("/")) for x in entries}


def test_the_configuration_loads():
    path = list(sys.path)
    conf = runpy.run_path(str(MANUAL / "conf.py"))
    sys.path[:] = path
    assert conf["version"].count(".") == 2
    assert all((MANUAL / f"{x}.py").exists() for x in conf["extensions"] if x != "myst_parser")


def test_every_page_is_in_one_table_of_contents():
    from api_pages import PAGES
    from notebooks import MADE as NOTEBOOKS
    from reference_pages import MADE
    from stage import sources

    places = sources()
    entries = [
        entry
        for page, place in places.items()
        for entry in listed(place, (REPOSITORY / page).read_text(encoding="utf-8"))
    ]
    made = {*MADE, *NOTEBOOKS, "reference/api/index.md"}
    assert len(entries) == len(set(entries))
    assert set(entries) == ({*places.values()} | made) - {"index.md"}
    assert len(PAGES) == len({name for name, _, _ in PAGES})


def test_links_lead_to_pages_of_the_manual(tmp_path):
    from stage import stage

    places = stage(tmp_path)
    link = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
    block = re.compile(r"```.*?```|`[^`\n]*`", re.S)
    for place in places:
        page = tmp_path / place
        for target in link.findall(block.sub("", page.read_text(encoding="utf-8"))):
            assert (page.parent / target).exists(), f"{place}: {target}"


def test_a_link_to_nothing_is_an_error(tmp_path):
    from stage import relinked

    with pytest.raises(FileNotFoundError, match=r"docs/none\.png"):
        relinked("![x](none.png)", "docs/lsd.md", tmp_path)


def test_indented_formulas_are_set_and_code_is_not():
    from stage import outside_fences, with_formulas

    text = "A law\n\n    F_i = m a      (law-1)\n\nin words.\n\n```\n\n    code\n\n```\n"
    shown = (
        '<div class="formula columns"><div><div><span><i>F</i><sub><i>i</i></sub> = <i>m</i> '
        "<i>a</i></span><b>(law-1)</b></div></div></div>"
    )
    assert outside_fences(text, with_formulas) == (
        f"A law\n\n````{{raw}} html\n{shown}\n````\n\nin words.\n\n```\n\n    code\n\n```\n"
    )
    command = "So:\n\n    liaison check x.lsd\n\nThen.\n"
    assert with_formulas(command) == command


def test_formulas_have_columns_and_escape_signs():
    from formulas import formula, row

    assert 'class="formula columns"' in formula("a = 1     b = 2\nc = 3     d = 4")
    assert 'class="formula"' in formula("a = 1     b = 2\nc = 3")
    assert row("Gᵀ ẋ by a law") == "<div><span><i>G</i>ᵀ <i>ẋ</i> by a law</span></div>"
    assert row("v̇ < 2      sin x_{ab} & c") == (
        "<div><span><i>v̇</i> &lt; 2</span>"
        "<span>sin <i>x</i><sub>ab</sub> &amp; <i>c</i></span></div>"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Where M v̇ + h = τ, it moves.", r"Where $M\, \dot{v}+h=\tau$, it moves."),
        ("F = (n, f): the moment", "$F=(n,\\, f)$: the moment"),
        ("of G and λ₁ ≤ 0 alone", r"of $G$ and $\lambda _{1}\le 0$ alone"),
        ("the rank of a row takes 0.1 s", "the rank of a row takes 0.1 s"),
        ("printed as C, `M = 1` and [M](x.md)", "printed as C, `M = 1` and [M](x.md)"),
        ("S₁ᵀ x/|x| (see a page)", r"$S_{1}^{\mathsf{T}}\, x/|x|$ (see a page)"),
        ("A spring of 3e-13 N m, a b-side", "A spring of 3e-13 N m, a b-side"),
        ("to √31, a bound of the rank.", r"to $\sqrt{31}$, a bound of the rank."),
        ("dimension g_l (3 for loops)", "dimension $g_{l}$ (3 for loops)"),
        ("1 + √max of it", "1 + √max of it"),
    ],
)
def test_formulas_within_sentences_are_set(text, shown):
    from inline_formulas import with_inline_formulas

    assert with_inline_formulas(text) == shown


def test_powers_of_formulas_are_raised():
    from formulas import cell

    assert cell("(1 + s_j)^±1 y^k c^s_ij") == (
        "(1 + <i>s</i><sub><i>j</i></sub>)<sup>±1</sup> <i>y</i><sup><i>k</i></sup> "
        "<i>c</i><sup><i>s</i></sup><sub>ij</sub>"
    )


def test_functions_bars_and_signs_are_set_close():
    pytest.importorskip("latex2mathml")
    from mathml import THIN, to_mathml

    text = to_mathml(r"p=-1, 2\operatorname{atan} x", block=False)
    assert '<mo form="prefix">&#x02212;</mo><mn>1</mn>' in text
    assert f"<mn>2</mn>{THIN}<mi>atan</mi>{THIN}<mi>x</mi>" in text
    assert "<mrow><mi>rank</mi><mo" in to_mathml(r"\operatorname{rank} (M)", block=False)
    assert to_mathml("|x|/2", block=False).count('lspace="0" rspace="0"') == 3


def test_pages_show_what_their_code_prints_and_plots(tmp_path, monkeypatch):
    from executed import executed

    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    first = "```python\nx = 3\nprint(x)\n```\n"
    page = executed(f"{first}\nSo:\n\n```python\nprint(x + 1)\n```\n\n```text\n4\n```\n", "a.md")
    assert "````{code-block} text\n:class: output\n\n3\n````\n\nSo:" in page
    assert page.count("{code-block}") == 1  # the second one is on the page already
    plot = "```python\nfrom matplotlib import pyplot\npyplot.plot([1, 2])\n```\n"
    assert "data:image/png;base64," in executed(plot, "b.md")
    assert not pyplot.get_fignums()
    with pytest.raises(ZeroDivisionError):
        executed("```python\n1 / 0\n```\n", "c.md")


def test_long_output_loses_its_middle():
    from executed import MOST_LINES, shown

    text = shown("\n".join(map(str, range(500))))
    assert f"… {500 - MOST_LINES} more lines" in text
    assert len(text.splitlines()) < MOST_LINES + 10
    assert not shown("\n")


def test_dead_links_of_a_site_are_seen(tmp_path):
    from site_links import dead_links

    (tmp_path / "a.html").write_text('<a href="b.html#x">1</a><a href="c.html">2</a><p id="y">')
    (tmp_path / "b.html").write_text('<a href="a.html#y">3</a><a href="https://x.org">4</a>')
    count, dead = dead_links(tmp_path)
    assert count == 3
    assert dead == ["a.html: b.html#x (no such anchor)", "a.html: c.html"]


def test_lsd_is_coloured():
    from lsd_lexer import LsdLexer

    lexer = LsdLexer()
    text = "let A = join earth and rod with revolute axis = [0, 1, 0] end ; (* a (* b *) *)\n"
    tokens = {word: kind for kind, word in lexer.get_tokens(text)}
    assert tokens["revolute"] is Name.Class
    assert tokens["A"] is Name.Variable
    assert tokens["axis"] is Name.Attribute
    assert tokens["end"] is Keyword
    assert tokens["*)"] is Comment
    assert {w: k for k, w in lexer.get_tokens("mass = 2 kg")}[" kg"] is Keyword.Type


def test_no_sign_of_an_example_is_unknown_to_the_lexer():
    from lsd_lexer import LsdLexer

    lexer = LsdLexer()
    unknown = {
        (path.name, word)
        for path in (REPOSITORY / "examples").glob("*.lsd")
        for kind, word in lexer.get_tokens(path.read_text(encoding="utf-8"))
        if kind in (Error, Text) and word.strip()
    }
    assert not unknown


def test_docstrings_become_markdown():
    from api_pages import as_markdown

    text = "Sums a*b.\n\n    code * here\n\nArgs:\n    x: a [m] value\n        and more.\n"
    assert as_markdown(text) == [
        "Sums a\\*b.", "", "    code * here", "", "", "**Args**", "",
        "- `x`: a \\[m\\] value", "  and more.",
    ]  # fmt: skip


def test_every_public_name_has_a_page():
    from api_pages import entry, names_by_page

    import liaison

    pages = names_by_page()
    assert all(pages.values())
    assert sorted(x for names in pages.values() for x in names) == sorted(liaison.__all__)
    assert entry("simulate")[0].startswith("``````{py:function} liaison.simulate(given")
    assert "````{py:method} Trajectory.save(" in "\n".join(entry("Trajectory"))


def test_every_command_unit_and_error_has_an_entry():
    from reference_pages import REMEDIES, cli_page, units_page

    from liaison import errors, units
    from liaison.cli.entry import commands

    shown = cli_page()
    assert all(f"\n## liaison {name}\n" in shown for name in commands())
    assert all(f"| `{name}` |" in units_page() for name in units.UNITS)
    family = {
        x
        for x, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    }
    assert set(REMEDIES) == family - {"KeyboardInterrupt"}


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml")
    from mathml import to_mathml

    shown = to_mathml(r"\begin{aligned} a &= \ddot{x} \\ b &= 1 \end{aligned}", block=True)
    assert shown.count("<mtr>") == 2
    assert '<mover accent="true"><mrow><mi>x</mi></mrow>' in shown
    assert "&<" not in shown
    assert 'display="inline"' in to_mathml("x", block=False)


class Node(dict):
    """A cell or an output, as nbformat has them."""

    def __getattr__(self, name):
        return self[name]


def test_plots_of_a_notebook_are_its_output(monkeypatch):
    """Pages that ran before in the same process send theirs elsewhere."""
    from notebooks import kernel_environment

    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("OTHER", "here")
    environment = kernel_environment()
    assert environment["OTHER"] == "here"
    assert "MPLBACKEND" not in environment


def test_pictures_of_a_notebook_become_files_beside_its_page(tmp_path):
    from notebooks import SLIDERS, WIDGET, Frames, cell_parts

    frame = '<iframe title="x" srcdoc="<p title=&quot;a&quot;>1 &amp;amp; 2</p>"></iframe>'
    outputs = [
        Node(output_type="stream", text="said\n"),
        Node(output_type="display_data", data={WIDGET: {}, "text/plain": "Sliders()"}),
        Node(output_type="execute_result", data={"text/html": frame, "text/plain": "<X>"}),
        Node(output_type="display_data", data={"text/plain": "", "text/html": ""}),
        Node(output_type="execute_result", data={"text/plain": "array(1)"}),
    ]
    cell = Node(cell_type="code", source="run.show()", outputs=outputs)
    code, said, sliders, picture, plain = cell_parts(cell, Frames(tmp_path / "files", "swing"))
    assert code == "```python\nrun.show()\n```"
    assert said == "```text\nsaid\n```"
    assert sliders == SLIDERS
    assert 'src="swing_picture_0.html"' in picture
    assert "srcdoc" not in picture
    page = (tmp_path / "files" / "swing_picture_0.html").read_text(encoding="utf-8")
    assert page == '<p title="a">1 &amp; 2</p>'
    assert plain == "```text\narray(1)\n```"
