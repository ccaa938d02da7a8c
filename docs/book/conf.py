# SPDX-License-Identifier: MIT
# The book, made by Sphinx with myst and furo: `make docs`.
import pathlib
import re

project = "Pugmark"
author = copyright = "the authors of Pugmark"
top = pathlib.Path(__file__).resolve().parents[2]
header = (top / "include/pugmark/pugmark.h").read_text()
version = ".".join(re.findall(r"#define PUG_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
release = version

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = []
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"Pugmark {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would read pages, which a browser forbids for file://
html_static_path = ["_static"]
html_css_files = ["book.css"]
