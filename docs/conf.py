"""The site: pages of this folder, and reference pages and figures that are made from the package at every build."""

from __future__ import annotations

import io
import re
import sys
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import _pages  # noqa: E402
import matplotlib as mpl  # noqa: E402

mpl.use("agg")

project = "bayesbias"
author = "The bayesbias authors"
copyright = author  # noqa: A001
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
exclude_patterns = ["_build", "gallery/*.py"]

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "dollarmath"]
myst_heading_anchors = 4
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_execution_excludepatterns = ["gallery/*", "notebooks/*"]
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # nothing is fetched when a page is read
nb_merge_streams = True

autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
add_module_names = True
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "bayesbias"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathtext"
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    "index": [],
    "tutorial/index": [],
    "changelog": [],
    "faq": [],
    "comparison": [],
    "contributing": [],
    "installation": [],
    "gallery/index": [],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def formula(latex: str) -> str:
    """A formula as SVG in the colour of the text, drawn by matplotlib, so that no page needs a script for it."""
    from matplotlib.mathtext import math_to_image

    drawn = io.BytesIO()
    look = {
        "svg.fonttype": "path",
        "mathtext.fontset": "stix",
        "svg.hashsalt": latex,
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
    }
    with mpl.rc_context(look):
        depth = math_to_image(f"${latex}$", drawn, format="svg", dpi=72)
    svg = re.sub(r"^.*?(?=<svg)", "", drawn.getvalue().decode(), flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL).replace("\n", "")
    width, height = (float(re.search(rf'{side}="([\d.]+)pt"', svg)[1]) / 10 for side in ("width", "height"))
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', "", svg, count=1)
    style = f"width:{width:.3f}em;height:{height:.3f}em;vertical-align:{-depth / 10:.3f}em"
    return svg.replace("<svg", f'<svg class="formula" role="img" aria-label="{escape(latex)}" style="{style}"', 1)


def inline_formula(self, node):
    """Write a formula within a line."""
    from docutils.nodes import SkipNode

    self.body.append(formula(node.astext()))
    raise SkipNode


def shown_formula(self, node):
    """Write a formula of one or several lines."""
    from docutils.nodes import SkipNode

    lines = [line.strip() for line in node.astext().split(r"\\") if line.strip()]
    self.body.append('<div class="formulas">' + "".join(f"<p>{formula(line)}</p>" for line in lines) + "</div>")
    raise SkipNode


def public_name(app, env, node, contnode):
    """A link to a public name that a docstring calls by its last part, or by the address of its definition."""
    if node.get("refdomain") != "py":
        return None
    last, python = node["reftarget"].rpartition(".")[2], env.get_domain("py")
    for prefix in ("bayesbias", *(f"bayesbias.{module}" for module in (*_pages.MODULES, *_pages.ROOMS))):
        entry = python.objects.get(f"{prefix}.{last}")
        if entry:
            from sphinx.util.nodes import make_refnode

            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, last)
    return None


def accessible(html: str) -> str:
    """A page whose parts screen readers can name: folded menus, corners of tables, parameters in signatures."""
    html = html.replace("<summary><span", '<summary aria-label="Pages below"><span')
    html = re.sub(r'<th(?: class="[^"]*")?>\s*(?:<p>\s*</p>)?\s*</th>', "<td></td>", html)
    parameters = re.compile(r'<dl>\n(<dd><em class="sig-param">.*?</dd>\n)</dl>', re.DOTALL)
    return parameters.sub(lambda part: f'<ul class="sig-params">\n{part[1].replace("dd>", "li>")}</ul>', html)


def finish(app, error):
    """Make every page accessible."""
    for path in sorted(Path(app.outdir).rglob("*.html")) if error is None else []:
        html = path.read_text(encoding="utf-8")
        if (better := accessible(html)) != html:
            path.write_text(better, encoding="utf-8")


def setup(app):
    """Renderers and generated pages."""
    app.add_html_math_renderer("mathtext", (inline_formula, None), (shown_formula, None))
    app.connect("builder-inited", lambda app: _pages.write(Path(app.srcdir)))
    app.connect("missing-reference", public_name)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
