"""The place that makes a text renders the new prompt: the program says the same as before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures import cases, files

from foldline.backends.files.local import LocalFileBackend
from foldline.plugins.adopt.adoption import adopt, output_path, read
from foldline.plugins.adopt.model import AdoptError
from foldline.plugins.adopt.rewrite import Rewritten, rewrite

pytestmark = pytest.mark.real

PROMPTS = """from string import Template

SYSTEM = 'You help {who} with {{x}} and {limit:.1f} things of {bag[0]}.'
LETTER = Template('Write to $name about ${topic}, please.')
PERCENT = 'Ask %s to do %(a)s.'
COUNT = 'Ask %s to do %s things, please.'
HOLE = 'Answer <THE QUESTION> in <LANGUAGE>, and {x} stays.'
class Coder:
    main = 'Use {fence} around code, please.'
"""
CALLS = cases(Path(__file__).with_name("rewrites.txt"))


def rewritten(root: Path, target: str, folder: str = "") -> Rewritten:
    path, _, name = target.partition(":")
    files = LocalFileBackend(root)
    file = root / folder / path
    adoption = adopt(read(file, name=name, style=None, options=None, files=files))
    output = output_path(file, adoption)
    changed = rewrite(adoption.plan, files, f"{folder}{path}", f"{folder}{output.name}")
    output.write_text(adoption.text, encoding="utf-8")
    return changed


def shown(root: Path, module: str = "use") -> str:
    program = f"import {module} as use; print(use.f())"
    done = subprocess.run(
        [sys.executable, "-B", "-c", program], cwd=root, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize("title", CALLS)
def test_a_rewritten_call_says_what_it_said(tmp_path: Path, title: str) -> None:
    target, _, about = title.partition(" | ")
    ends = "\r\n" if "Windows" in about else "\n"
    source, shows = files(CALLS[title].replace("\n", ends))
    expected = shows["after"].removesuffix(ends)
    (tmp_path / "prompts.py").write_text(PROMPTS, encoding="utf-8")
    use = tmp_path / "use.py"
    use.write_bytes(source.encode())
    before = shown(tmp_path)
    changed = rewritten(tmp_path, target)
    assert (changed.path, changed.before) == ("use.py", source)
    assert expected in changed.after
    use.write_bytes(changed.after.encode())
    assert shown(tmp_path) == before


@pytest.mark.parametrize(
    ("statement", "imported"),
    [
        ("from .texts.prompts import SYSTEM", ".texts.system_prompt"),
        ("from app.texts import prompts", "app.texts.system_prompt"),
        ("from .texts import prompts", ".texts.system_prompt"),
    ],
)
def test_packages_import_the_new_module_as_they_do_the_text(
    tmp_path: Path, statement: str, imported: str
) -> None:
    folder = tmp_path / "app" / "texts"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    (folder / "prompts.py").write_text("SYSTEM = 'You help {who} with all things.'\n")
    name = statement.rpartition(" ")[2]
    text = name if name == "SYSTEM" else f"{name}.SYSTEM"
    use = folder.parent / "use.py"
    use.write_text(f"{statement}\ndef f():\n    return {text}.format(who='Ada')\n")
    before = shown(tmp_path, "app.use")
    changed = rewritten(tmp_path, "prompts.py:SYSTEM", "app/texts/")
    assert f"\nfrom {imported} import SystemParams, system\n" in changed.after
    use.write_text(changed.after)
    assert shown(tmp_path, "app.use") == before


@pytest.mark.parametrize(
    ("target", "source", "message"),
    [
        (
            "prompts.py:SYSTEM",
            "from prompts import SYSTEM\nSYSTEM.format(**{})",
            "doesn't show each",
        ),
        (
            "prompts.py:SYSTEM",
            "from prompts import SYSTEM as S\nS.format(a=1)\nS.format(b=1)",
            "2 places make the text: use.py:2, use.py:3",
        ),
        (
            "prompts.py:SYSTEM",
            "import prompts\nt = prompts.SYSTEM\nt += 'x'\nt.format(who=1, limit=2, bag=[3])",
            "`t` is assigned in several places",
        ),
        (
            "prompts.py:Coder.main",
            "def f(coder):\n    return coder.main.format(fence=1)",
            "may be another",
        ),
        (
            "use.py:f.p",
            "def f(q):\n    p = f'You are a bot. {q}'\n    p += ' Always.'\n    return p\n",
            "several statements make the text",
        ),
        (
            "use.py:P",
            "P = 'You help {who}.'\nt = ChatPromptTemplate.from_template(P)\nt.format(who=1)\n",
            "`ChatPromptTemplate.from_template` makes messages",
        ),
        ("use.py:P", "P = 'You are {{ who }}, and answer in verse.'", "no call"),
        (
            "prompts.py:HOLE",
            "from prompts import HOLE\nR = 'Why <LANGUAGE>?'\n"
            "HOLE.replace('<THE QUESTION>', R).replace('<LANGUAGE>', 'en')",
            "`R` may have `<LANGUAGE>` in it, which the call replaces, too",
        ),
        (
            "prompts.py:HOLE",
            "from prompts import HOLE\ndef f(q):\n"
            "    HOLE.replace('<THE QUESTION>', q).replace('<LANGUAGE>', 'en')",
            "`q` may have `<LANGUAGE>` in it, which the call replaces, too",
        ),
    ],
)
def test_what_cannot_be_rewritten_is_refused(
    tmp_path: Path, target: str, source: str, message: str
) -> None:
    (tmp_path / "prompts.py").write_text(PROMPTS)
    (tmp_path / "use.py").write_text(source)
    with pytest.raises(AdoptError) as refused:
        rewritten(tmp_path, target)
    assert message in str(refused.value)
