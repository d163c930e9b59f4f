"""The documentation builds as a site, for people and for machines."""

import os.path
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .docs.reading import CODE, Page, slugs

pytestmark = [pytest.mark.real, pytest.mark.slow]

ROOT = Path(__file__).parent.parent
ADDRESS = "https://foldline.example/"
# Neither has a text: one leads to docs/index.html, the other is a form.
NO_PAGES = {"index", "search"}

_LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Also every link between pages leads somewhere, and every page is in the table of contents."""
    folder = tmp_path_factory.mktemp("site")
    options = ("-c", "docs", "-W", "--keep-going", "-n", "-q", "-d", str(folder / "cache"))
    build = (sys.executable, "-m", "sphinx", *options, "-D", f"html_baseurl={ADDRESS}")
    site = str(folder / "site")
    # The site's theme makes all of the navigation for each page, which takes longer than the rest:
    # only one gets it.
    for words in (("-D", "html_theme=basic", ".", site), (".", site, "docs/index.md")):
        done = subprocess.run(
            (*build, *words), cwd=ROOT, capture_output=True, text=True, check=False, timeout=240
        )
        assert done.returncode == 0, done.stderr
    return folder / "site"


def test_each_page_has_its_markdown_and_says_so(site: Path) -> None:
    index = (site / "docs" / "index.html").read_text(encoding="utf-8")
    assert "Where to begin" in index
    assert "furo.css" in index
    pages = {str(page.relative_to(site).with_suffix("")) for page in site.rglob("*.html")}
    assert len(pages - NO_PAGES) > 100
    for page in pages - NO_PAGES:
        link = f'<link rel="alternate" type="text/markdown" href="{Path(page).name}.md">'
        assert link in (site / f"{page}.html").read_text(encoding="utf-8"), page
        text = (site / f"{page}.md").read_text(encoding="utf-8")
        assert text.startswith(("# ", "<!-- ")), page
        assert "{toctree}" not in text, page


def test_every_link_for_machines_leads_somewhere_and_to_every_page(site: Path) -> None:
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    assert listed.startswith("# foldline\n\n> ")
    assert listed.count("](") == listed.count(f"]({ADDRESS}") > 40
    assert re.findall("^## (.*)", listed, re.MULTILINE)[::10] == ["Install", "Optional"]
    names = re.findall(r"^- \[(.*?)\]\(", listed, re.MULTILINE)
    assert len(names) == len(set(names))
    # The first page is the same list.
    waiting, seen = ["llms.txt", "docs/index.md"], set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for path, anchor in links((site / name).read_text(encoding="utf-8")):
            target = os.path.normpath(site / name / ".." / path) if path else site / name
            there = os.path.relpath(target, site)
            assert Path(target).is_file(), f"{name} links to {path}"
            if anchor:
                text = Path(target).read_text(encoding="utf-8")
                assert anchor in slugs(Page(there, text)), f"{name} links to {path}#{anchor}"
            if there.endswith(".md") and there not in {*seen, *waiting}:
                waiting.append(there)
    pages = {str(page.relative_to(site).with_suffix(".md")) for page in site.rglob("*.html")}
    assert pages - seen == {f"{name}.md" for name in NO_PAGES}


def links(text: str) -> list[tuple[str, str]]:
    """Return the links to other files and within the text."""
    prose = [block.text for block in Page("", text.replace(ADDRESS, "")).prose]
    return [link for block in prose for link in _LINK.findall(CODE.sub("", block))]
