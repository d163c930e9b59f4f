"""The prompts of a folder are found without parsing what can't have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.files.local import LocalFileBackend
from foldline.plugins.adopt import adoption
from foldline.plugins.adopt.listing import prompts_of
from foldline.plugins.adopt.model import Style
from foldline.plugins.adopt.scopes import Module
from foldline.plugins.adopt.uses import parse

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_only_files_that_may_have_a_prompt_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []

    def noted(text: str) -> Module:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(adoption, "parse", noted)
    sources = {
        "named.py": "REVIEW_PROMPT = 'Review this change, and say what is wrong.'\n",
        "speaks.py": "TEXT = 'You are a bot that answers in verse, always.'\n",
        "messages.py": "def f(q):\n    return [{'role': 'user', 'content': f'Question: {q}'}]\n",
        "other.py": "import os\n\nMESSAGE = f'The system has no {os.sep} prompt to show here.'\n",
    }
    templates = ("support.j2", "page.html.j2")
    for name in templates:
        (tmp_path / name).write_text("Write to {{ customer }} about the order {{ number }}.\n")
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    found = [one.target for one in prompts_of(LocalFileBackend(tmp_path))]
    assert found == ["messages.py:f", "named.py:REVIEW_PROMPT", "speaks.py:TEXT", "support.j2"]
    assert sources["other.py"] not in parsed
    assert len(parsed) == 3


def test_the_texts_of_a_prompt_module_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "support_prompt.py").write_text(
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "support_prompt = PromptTemplate(ns='a', key='b', sections=[MarkdownSection[None](\n"
        "    title='R', key='rules', template='You are a support agent of a large bookshop.')])\n"
        "OLD_PROMPT = 'You are a bot that answers in verse, always.'\n"
    )
    assert list(prompts_of(LocalFileBackend(tmp_path))) == []


def test_texts_that_nothing_says_are_prompts_are_counted(tmp_path: Path) -> None:
    (tmp_path / "all.py").write_text(
        "A_PROMPT = 'Review this change, and say what is wrong.'\n"
        "B = 'The capital of a country is a city, with a river more often than not.'\n"
        f"C = 'The capital of {{country}} is a city. {'A river is near. ' * 12}'\n"
        "print(C.format(country='Peru'))\n"
        "class PromptSettings:\n    rag = 'The capital of a country is a city. It has a river.'\n"
    )
    found = [(one.target, one.more) for one in prompts_of(LocalFileBackend(tmp_path))]
    assert found == [
        ("all.py:A_PROMPT", 0),
        ("all.py:C", 0),
        ("all.py:PromptSettings.rag", 0),
        ("all.py", 1),
    ]


def test_texts_of_tests_are_counted_unless_their_folder_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("all.py", "tests/test_all.py"):
        (tmp_path / name).write_text("A_PROMPT = 'Review this change, and say what is wrong.'\n")
    files = LocalFileBackend(tmp_path)
    assert [(one.target, one.more) for one in prompts_of(files)] == [
        ("all.py:A_PROMPT", 0),
        ("tests/test_all.py", 1),
    ]
    found = [(one.target, one.more) for one in prompts_of(files, "tests")]
    assert found == [("tests/test_all.py:A_PROMPT", 0)]


def test_the_size_of_a_text_is_a_lower_bound_where_values_or_more_come_to_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "all.py").write_text(
        "A_PROMPT = 'You are a bot. '\nA_PROMPT += 'Answer in verse, always and to all.'\n"
        "B_PROMPT = f'You are a bot. '\nB_PROMPT += f'Answer {len(A_PROMPT)} times in verse.'\n"
        "def f(x):\n"
        "    c_prompt = 'You are a bot that answers in verse, always and to all.'\n"
        "    if x:\n        c_prompt += 'Always.'\n    return g(c_prompt)\n"
        "def refuse(x):\n"
        "    msg = f'Please give another word than {x}: it has no rhyme in any language.'\n"
        "    raise ValueError(msg)\n"
    )
    found = prompts_of(LocalFileBackend(tmp_path))
    assert [(one.target, one.size, one.is_longer) for one in found] == [
        ("all.py:A_PROMPT", 50, False),
        ("all.py:B_PROMPT", 38, True),
        ("all.py:f.c_prompt", 55, True),
        ("all.py", 0, False),
    ]


def test_texts_of_one_name_have_calls_of_their_own(tmp_path: Path) -> None:
    for folder, use in (("a", "SYSTEM.format(who=1)"), ("b", "SYSTEM.replace('{who}', 'x')")):
        (tmp_path / folder).mkdir()
        source = "SYSTEM = 'You help {who} with {{all}} things.'\n"
        (tmp_path / folder / f"prompts_{folder}.py").write_text(source)
        line = f"from .prompts_{folder} import SYSTEM\nprint({use})\n"
        (tmp_path / folder / "use.py").write_text(line)
    found = prompts_of(LocalFileBackend(tmp_path))
    assert [(one.target, one.style) for one in found] == [
        ("a/prompts_a.py:SYSTEM", Style.FORMAT.label),
        ("b/prompts_b.py:SYSTEM", Style.REPLACE.label),
    ]
