"""The documentation as a site: `uv run poe docs`.

Sources are the repository's own Markdown files, which read the same beside the code. Links between
them become links between pages. Each page is there as Markdown, too, and `llms.txt` lists them.
"""

import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx import addnodes
from sphinx.util.fileutil import copy_asset

DOCS = Path(__file__).parent

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
    "release/lsp4ij/README.md",
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
_address = tomllib.loads((DOCS.parent / "release/addresses.toml").read_text("utf-8"))["homepage"]
html_baseurl = _address and f"{_address.rstrip('/')}/"
html_use_index = False
templates_path = ["templates"]
# In prose that shows code, … stands for what is left out.
suppress_warnings = ["misc.highlighting_failure"]
# Its comments and outputs are dark enough to read.
pygments_style = "default"
pygments_dark_style = "monokai"


def setup(app: Any) -> None:
    """Make the reference, which isn't kept."""
    made = {name: runpy.run_path(str(DOCS / f"make_{name}.py")) for name in ("man", "tables")}
    runpy.run_path(str(DOCS / "make_reference.py"))["main"]()
    pages = {"verbs.md": made["man"]["site_page"](), **dict(made["tables"]["site_pages"]())}
    folder = DOCS / "reference" / "shells"
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    app.connect("build-finished", write_markdown)


def write_markdown(app: Any, failure: Exception | None) -> None:
    """Write the source of each page, the files that it links to, and `llms.txt`."""
    if failure:
        return
    for page in app.env.found_docs:
        text = Path(app.env.doc2path(page)).read_text("utf-8")
        text = re.sub(r"^```\{toctree\}\n.*?^```\n", "", text, flags=re.MULTILINE | re.DOTALL)
        (app.outdir / f"{page}.md").write_text(text, "utf-8")
    for file in (*app.env.images, *app.env.dlfiles):
        copy_asset(app.srcdir / file, (app.outdir / file).parent)
    (app.outdir / "llms.txt").write_text("".join(map("{}\n".format, llms(app.env))), "utf-8")


def llms(env: Any) -> Iterator[str]:
    """Yield the lines of `llms.txt`: the chapters, each with its pages, then what can wait."""
    # As the sidebar calls them: two pages have the title "Security".
    named = {
        page: title
        for chapter in env.toctree_includes
        for toctree in env.get_doctree(chapter).findall(addnodes.toctree)
        for title, page in toctree["entries"]
        if title
    }

    def entry(page: str) -> str:
        tree = env.get_doctree(page)
        titles = tree.findall(lambda node: node.tagname == "title")
        note = "; ".join(node.astext() for node in titles if node.parent.parent.parent is tree)
        name = named.get(page) or env.titles[page].astext()
        return f"- [{name}]({env.config.html_baseurl}{page}.md)" + (note and f": {note}")

    summary = (DOCS / "index.md").read_text("utf-8").split("\n\n")[1]
    yield f"# {project}\n\n> {summary}\n\nBefore you write prompts, read:\n\n{entry('llms')}"
    contents = env.toctree_includes[root_doc]
    for chapter in filter(re.compile("docs/[0-9]").match, contents):
        yield f"\n## {env.titles[chapter].astext()}\n"
        pages = (chapter, *env.toctree_includes.get(chapter, ()))
        yield from (entry(page) for page in pages if page != "llms")
    yield "\n## Optional\n"
    yield from (entry(page) for page in contents if not re.match("docs/[0-9]", page))
