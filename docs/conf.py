"""The documentation site: ``make docs``. Nothing is fetched from a network."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))
os.environ.setdefault("MPLBACKEND", "Agg")

import docstrings  # noqa: E402
import public_names  # noqa: E402

import icvi_artmap  # noqa: E402

project = "icvi-artmap"
author = "icvi-artmap developers"
copyright = author
version = release = icvi_artmap.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_site"]
templates_path = ["_site/templates"]
highlight_language = "none"

myst_heading_anchors = 3  # links to headings, as on a repository's web page

autodoc_typehints = "none"  # the docstrings say what is expected
autosummary_generate = True
numpydoc_show_class_members = False  # methods are on the same page
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"^(?!plot_)",  # the others draw the pictures of the guide
    # Without PyTorch the example of deep latents is shown, but not run.
    "filename_pattern": "/plot_" if find_spec("torch") else "/plot_(?!deep)",
    "within_subsection_order": "gallery_order.by_reader",
    "backreferences_dir": "gallery/uses",
    "doc_module": ("icvi_artmap",),
    "reference_url": {"icvi_artmap": None},
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "nested_sections": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {release}"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": f"{project} {release}"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}  # Pages without others below them have nothing to show there.
html_sidebars: dict[str, list[str]] = {
    name: []
    for name in (
        "algorithm",
        "architecture",
        "benchmarks",
        "changelog",
        "contributing",
        "limits",
        "quality",
        "reproduction",
    )
}


def compile_something() -> None:
    """The line that tells of compiling comes once for a process: here, not among the examples.

    An index of one's own is compiled always.
    """

    @icvi_artmap.custom_index(better="smaller")
    def within(n: Any, mean: Any, compactness: Any) -> Any:
        return compactness.sum()

    icvi_artmap.index_value([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1], within)


def setup(app: Any) -> None:
    compile_something()
    public_names.write(HERE / "api" / "index.rst")
    app.connect("autodoc-skip-member", docstrings.skip_routing)
    # After numpydoc, which has the usual priority, 500.
    app.connect("autodoc-process-docstring", docstrings.escape_names, priority=600)
