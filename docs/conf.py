"""The documentation as a site: `uv run poe docs`.

Sources are the repository's own Markdown files, which read the same beside the code. Links between
them become links between pages.
"""

import runpy
from pathlib import Path

project = "foldline"
html_title = "foldline"
language = "en"

extensions = ["myst_parser"]
myst_heading_anchors = 4
# Texts of prompts have braces before code.
myst_disable_syntax = ["myst_role"]

root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "editors/README.md",
    "editors/*/README.md",
    "examples/*/README.md",
    "server/foldline/ide/checks/pages/*.md",
    "tests/benchmarks/*.md",
    "llms.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
# Neovim's page is docs/neovim.md; the other only leads there.
exclude_patterns = [".*", "**/.*", "**/node_modules", "**/__pycache__", "editors/neovim/README.md"]

# Quotes and ellipses, but no dashes: `--all` is an option.
smartquotes_action = "qe"
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_additional_pages = {"index": "redirect.html"}
templates_path = ["templates"]
# In prose that shows code, … stands for what is left out.
suppress_warnings = ["misc.highlighting_failure"]
# Its comments and outputs are dark enough to read.
pygments_style = "default"
pygments_dark_style = "monokai"


def setup(_: object) -> None:
    """Make the reference, which isn't kept."""
    docs = Path(__file__).parent
    made = {name: runpy.run_path(str(docs / f"make_{name}.py")) for name in ("man", "tables")}
    runpy.run_path(str(docs / "make_reference.py"))["main"]()
    pages = {"verbs.md": made["man"]["site_page"](), **dict(made["tables"]["site_pages"]())}
    folder = docs / "reference" / "shells"
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
