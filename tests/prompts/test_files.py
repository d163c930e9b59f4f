"""Overrides and transcripts are read from regular files of a bounded size, and nothing else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hostile import HOSTILE

from foldline.prompts import MarkdownSection, OverridesStore, PromptTemplate, files, verbatim
from foldline.prompts.adapters.transcript import Transcript
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.files import read_text_file

CASES = (
    "/dev/zero", "/dev/random", "a pipe", "a socket", "a folder", "a link to a pipe",
    "ten gigabytes", "not UTF-8",
)  # fmt: skip


def overrides_of(file: Path) -> object:
    return OverridesStore(file.parents[5]).load("team", "k")


def text_of(file: Path) -> object:
    """What a module beside the file gets of it."""
    names: dict[str, object] = {"__file__": str(file.parent / "module.py")}
    code = f"from foldline.prompts import from_file\nTEXT = from_file({file.name!r})"
    exec(compile(code, "module.py", "exec"), names)
    return names["TEXT"]


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "overrides": (".foldline/prompts/overrides/team/k/latest.json", overrides_of),
    "a section's text": ("texts/text.md", text_of),
    "a transcript": ("a/b/c/d/e/transcript.json", Transcript.load),
}


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", CASES)
def test_only_regular_files_of_text_are_read(tmp_path: Path, reader: str, what: str) -> None:
    name, read = READERS[reader]
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    os.mkfifo(file.parent / "pipe")
    HOSTILE[what](file)
    # A link that leads out of the overrides' folder is refused as that.
    with pytest.raises(PromptValidationError, match=file.name):
        read(file)


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "growing.json"
    file.write_text("{}")
    look = os.fstat

    def grow(descriptor: int) -> os.stat_result:
        status = look(descriptor)
        with file.open("a") as stream:
            stream.write(" " * 200)
        return status

    monkeypatch.setattr(os, "fstat", grow)
    with pytest.raises(PromptValidationError, match="more than the 100 bytes"):
        read_text_file(file, 100)


def test_a_file_that_becomes_a_pipe_before_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "swapped.json"
    file.write_text("{}")
    check = files._check

    def swap(path: Path, status: os.stat_result, limit: int) -> None:
        check(path, status, limit)
        if path.is_file():
            path.unlink()
            os.mkfifo(path)

    monkeypatch.setattr(files, "_check", swap)
    with pytest.raises(PromptValidationError, match="regular file"):
        read_text_file(file, 100)


def test_a_text_from_a_file_is_found_from_its_module_and_has_plain_line_ends(
    tmp_path: Path,
) -> None:
    (tmp_path / "manual.md").write_bytes(b"\xef\xbb\xbf$1\r\n\xe2\x82\xac\r")
    assert text_of(tmp_path / "manual.md") == "$1\n\u20ac\n"
    with pytest.raises(PromptValidationError, match=r"from_file\('manul.md'\): .*No such file"):
        text_of(tmp_path / "manul.md")


def test_a_verbatim_text_shows_as_it_is() -> None:
    written = "It costs $5, $$5 or ${price}: {price}, $"
    section = MarkdownSection[None](title="T", key="t", template=verbatim(written))
    assert section.render() == written
    assert section.placeholders == ()


@FrozenDataclass()
class Named:
    name: str


def test_a_verbatim_text_is_as_it_is_also_for_warnings() -> None:
    text = "Use {name}, {{ name }} and $5."
    section = MarkdownSection[Named](title="T", key="t", template=verbatim(text))
    template = PromptTemplate(ns="t", key="p", sections=[section])
    assert text in template.render(Named("Ada")).text
    with pytest.raises(PromptValidationError, match="takes a text, not None"):
        verbatim(None)  # type: ignore[arg-type]
