"""The library's pages say what is so: every example runs and prints what the page shows below it.

`tests/docs` runs them and all others once more, from the documented install.
"""

import contextlib
import doctest
import importlib
import importlib.util
import io
import pkgutil
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import foldline.prompts
from foldline.prompts import ChaptersExpansionPolicy

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = (
    "prompts",
    "progressive-disclosure",
    "structured-output",
    "03-preview",
    "overrides",
    "stores",
    "conversations",
    "prompt-caching",
)
PAGES = [*(DOCS / f"{name}.md" for name in NAMES), ROOT / "llms.md"]

_FENCE = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A Python block of a page, with the output that the page shows right below it."""

    line: int
    code: str
    output: str | None


def examples(page: Path) -> list[Example]:
    text = page.read_text(encoding="utf-8")
    found: list[Example] = []
    for fence in _FENCE.finditer(text):
        language, content = fence[2], fence[3]
        if language == "python":
            found.append(Example(text.count("\n", 0, fence.start()) + 2, content, None))
        elif language == "text":
            assert found, f"{page.name} shows an output before any code"
            assert found[-1].output is None, f"{page.name} shows two outputs for one example"
            found[-1] = Example(found[-1].line, found[-1].code, content)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print_what_it_shows(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"page_{page.stem.replace('-', '_')}"
    module = type(sys)(name)
    # Dataclasses look their module up to resolve annotations.
    monkeypatch.setitem(sys.modules, name, module)
    known = set(sys.modules)
    try:
        run = examples(page)
        assert run
        for example in run:
            printed = io.StringIO()
            # Padded, so that a traceback has the line of the page.
            code = compile("\n" * (example.line - 1) + example.code, str(page), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, module.__dict__)
            assert printed.getvalue() == (example.output or ""), f"{page.name}:{example.line}"
    finally:
        for imported in {"review", "reviewer_prompt"} & (set(sys.modules) - known):
            del sys.modules[imported]


def test_the_page_on_prompts_refers_to_the_one_on_disclosure() -> None:
    assert "(progressive-disclosure.md)" in (DOCS / "prompts.md").read_text(encoding="utf-8")


def test_the_page_for_models_shows_how_to_disclose() -> None:
    text = (ROOT / "llms.md").read_text(encoding="utf-8")
    assert text.count("## Progressive disclosure") >= 3
    assert "VisibilityExpansionRequired" in text


def test_every_expansion_policy_is_documented() -> None:
    text = (DOCS / "progressive-disclosure.md").read_text(encoding="utf-8")
    for policy in ChaptersExpansionPolicy:
        assert f"| `{policy}` |" in text


def test_the_code_reviewer_is_documented() -> None:
    text = (DOCS / "progressive-disclosure.md").read_text(encoding="utf-8")
    assert "examples/code_reviewer" in text
    assert "from review import Reviewer" in text


def modules() -> list[str]:
    found = pkgutil.walk_packages(foldline.prompts.__path__, "foldline.prompts.")
    return ["foldline.prompts", *(info.name for info in found)]


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_docstrings_run(name: str) -> None:
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in finder.find(module, name, globs=dict(vars(module))):
        report = io.StringIO()
        runner.run(test, out=report.write)
        assert runner.failures == 0, report.getvalue()


def test_the_reference_has_a_page_for_each_module_that_users_meet() -> None:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages = {path.name: text for path, text in module.pages()}
    assert len(pages) == sum(map(len, (module.MODULES, module.STORES, module.CODE))) + 1
    assert "## PromptTemplate\n" in pages["template.md"]
    assert all(f"]({name})" in pages["README.md"] for name in pages if name != "README.md")
    run_together = re.compile(r"^[ ]*- .*\n\n- ", re.MULTILINE)
    assert [name for name, text in pages.items() if run_together.search(text)] == []
