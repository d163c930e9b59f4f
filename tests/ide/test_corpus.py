"""Correct prompt modules in many honest styles: nothing is reported, and what is told is true."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures import files, is_python

from foldline.ide.analysis.project import Project
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.checks import Code, Severity, diagnostics
from foldline.ide.errors import RenameRefused
from foldline.ide.features.field_references import rename, rename_key
from foldline.ide.features.keys import keys_of
from foldline.prompts import Prompt, PromptTemplate
from foldline.prompts.errors import PromptRenderError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from foldline.ide.analysis.module_analysis import ModuleAnalysis, PromptFacts
    from foldline.ide.checks.diagnostic import Change

_, FILES = files(Path(__file__).with_name("corpus.txt").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("corpus")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        ends = "\r\n" if name.startswith("crlf") else "\n"
        (root / name).write_text(text, encoding="utf-8", newline=ends)
    sys.path.insert(0, str(root))
    before = set(sys.modules)
    try:
        yield root
    finally:
        sys.path.remove(str(root))
        for module in set(sys.modules) - before:
            if getattr(sys.modules[module], "__file__", None) and str(root) in str(
                sys.modules[module].__file__
            ):
                del sys.modules[module]


@pytest.fixture(scope="module")
def project(folder: Path) -> Project:
    return Project(folder)


def analysed(project: Project, folder: Path, name: str) -> ModuleAnalysis:
    analysis = project.analysis(str((folder / name).resolve()))
    assert analysis is not None
    return analysis


def module_name(name: str) -> str:
    return name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def imported(name: str) -> ModuleType:
    module = importlib.import_module(module_name(name))
    # And none of the standard library of that name.
    assert str(module.__file__).endswith(name)
    return module


def test_the_corpus_is_large_enough() -> None:
    assert len(FILES) >= 60


def rendered(module: ModuleType) -> list[str]:
    """The texts of the module's prompts, as far as they have their parameters."""
    texts: list[str] = []
    for value in vars(module).values():
        if isinstance(value, (Prompt, PromptTemplate)):
            # A template may wait for parameters that only a prompt of it has.
            with suppress(PromptRenderError):
                texts.append(value.render().text)
    return texts


@pytest.mark.parametrize("name", FILES)
def test_every_prompt_of_the_corpus_really_renders(folder: Path, name: str) -> None:
    texts = rendered(imported(name))
    parts_alone = {"package/params.py", "package/texts.py", "package/pieces.py"}
    assert bool(texts) != (name in parts_alone)
    assert all(text.startswith("## ") or not text for text in texts)


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_reported_of_a_module_that_works(
    project: Project, folder: Path, name: str
) -> None:
    imported(name)
    found = diagnostics(analysed(project, folder, name))
    assert [f"{diagnostic.code}: {diagnostic.message}" for diagnostic in found] == []


@pytest.mark.parametrize("name", FILES)
def test_what_is_told_without_running_is_what_running_shows(
    project: Project, folder: Path, name: str
) -> None:
    module = imported(name)
    analysis = analysed(project, folder, name)
    told = {prompt.name.id: prompt for prompt in analysis.prompts}
    for variable, value in vars(module).items():
        template = value.template if isinstance(value, Prompt) else value
        if not isinstance(template, PromptTemplate) or variable not in told:
            continue
        compare(told[variable], value, template)


def compare(
    told: PromptFacts,
    value: Prompt[object] | PromptTemplate[object],
    template: PromptTemplate[object],
) -> None:
    assert told.template.text("ns") == template.ns
    assert told.template.text("key") == template.key
    described = told.described
    assert described is not None
    if not (told.render.certain and described.complete):
        return
    # The source is shown as an evaluation sends it.
    value = value.expand_chapters()
    opened = value.template if isinstance(value, Prompt) else value
    nodes = [node for root in opened.plan.roots for node in root.walk()]
    shown = [section for section in described.walk() if section.number]
    assert [(diagnostic.path, diagnostic.number) for diagnostic in shown] == [
        (node.path, node.number) for node in nodes
    ]
    segments = [segment for block in told.render.blocks for segment in block.segments]
    pattern = "".join(re.escape(item.text) if item.known else ".*" for item in segments)
    try:
        text = value.render().text
    except PromptRenderError:
        # A template may wait for parameters that only a prompt of it has.
        assert any(not segment.known for segment in segments)
    else:
        assert re.fullmatch(pattern, text, re.DOTALL), (told.render.text, text)


@given(st.sampled_from(sorted(FILES)), st.floats(0, 1), st.booleans(), st.booleans())
def test_nothing_is_reported_while_a_module_that_works_is_typed(
    folder: Path, name: str, place: float, whole_before: bool, cut: bool
) -> None:
    """Of what is not finished nothing is known, and nothing that rests on it."""
    text = FILES[name]
    at = int(place * len(text))
    typed = text[:at] if cut else text[:at] + text[at + 1 :]
    if not cut and is_python(typed):
        return  # Another module, which may well be wrong.
    project = Project(folder)
    file = str((folder / name).resolve())
    if whole_before:
        project.open(file, text)
        assert project.analysis(file) is not None
    project.open(file, typed)
    found = diagnostics(
        analysed(project, folder, name), severities={Code.UNUSED_FIELD: Severity.OFF}
    )
    assert [f"{diagnostic.code}: {diagnostic.message}" for diagnostic in found] == []


def fields_of(analysis: ModuleAnalysis) -> dict[str, int]:
    """The fields that a module declares, each with its place."""
    return {
        f"{kind.name}.{field.id}": span_of(field.name).start
        for kind in analysis.dataclasses
        for field in kind.fields
        if field.name is not None and field.name.file == analysis.file
    }


@pytest.mark.parametrize("name", FILES)
def test_a_module_renders_the_same_after_any_of_its_fields_is_renamed(
    folder: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(name)
    files = [str(folder.resolve() / item) for item in FILES]
    project = Project(folder.resolve())
    project.search = lambda: tuple(files)
    analysis = analysed(project, folder, name)
    for number, (field, place) in enumerate(fields_of(analysis).items()):
        if name == "generic_subclass.py":
            with pytest.raises(RenameRefused, match="code builds"):
                rename(project, analysis, place, "renamed")
            continue
        changes = rename(project, analysis, place, "renamed")
        assert changes, field
        assert after_changes(folder, tmp_path / str(number), name, changes, monkeypatch), field


@pytest.mark.parametrize("name", FILES)
def test_a_module_renders_the_same_after_any_of_its_keys_is_renamed(
    folder: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(name)
    files = [str(folder.resolve() / item) for item in FILES]
    project = Project(folder.resolve())
    project.search = lambda: tuple(files)
    analysis = analysed(project, folder, name)
    places = {key.place: key.text for key in keys_of(analysis) if key.declared is not None}
    for number, (place, key) in enumerate(sorted(places.items())):
        renamed = rename_key(project, analysis, place.start, "renamed")
        assert renamed is not None
        changes, left = renamed
        after = tmp_path / str(number)
        # A summary says the key that opens its section.
        assert left or after_changes(folder, after, name, changes, monkeypatch, key), place


def after_changes(  # noqa: PLR0917 - pytest's own fixtures among them.
    folder: Path,
    after: Path,
    name: str,
    changes: tuple[Change, ...],
    monkeypatch: pytest.MonkeyPatch,
    key: str = "renamed",
) -> bool:
    """Whether a module renders the same but for a key with some changes of the corpus."""
    root = folder.resolve()
    shutil.copytree(root, after, ignore=shutil.ignore_patterns("__pycache__"))
    for file in {change.place.file for change in changes}:
        text = Path(file).read_bytes().decode()
        for change in sorted(changes, key=lambda change: change.place, reverse=True):
            if change.place.file == file:
                text = text[: change.place.start] + change.text + text[change.place.end :]
        (after / Path(file).relative_to(root)).write_bytes(text.encode())
    with monkeypatch.context() as path:
        path.syspath_prepend(str(after))
        before = forget(folder)
        old, new = rendered(before[module_name(name)]), rendered(imported(name))
        same = [text.replace(key, "renamed") for text in old] == [
            text.replace(key, "renamed") for text in new
        ]
        forget(after)
        sys.modules.update(before)
    return same


def forget(folder: Path) -> dict[str, ModuleType]:
    """The modules below a folder, which are not imported any more."""
    found = {
        item: module
        for item, module in sys.modules.items()
        if str(getattr(module, "__file__", None)).startswith(f"{folder}/")
    }
    for diagnostic in found:
        del sys.modules[diagnostic]
    return found


def test_most_of_the_corpus_is_told_for_certain(project: Project, folder: Path) -> None:
    """Unknown is always right, so that it must not be the usual answer."""
    prompts = [prompt for name in FILES for prompt in analysed(project, folder, name).prompts]
    certain = [prompt for prompt in prompts if prompt.render.certain]
    assert len(certain) >= 0.75 * len(prompts)
