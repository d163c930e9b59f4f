"""Debian's Emacs and its eglot, with the settings that editors/README.md gives."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
README = ROOT / "editors" / "README.md"
EXAMPLE = ROOT / "examples" / "code_reviewer"
DEADLINE = 120

PRELUDE = """
(require 'json)
(setq eglot-sync-connect 30 eglot-connect-timeout 30)
(setq enable-local-variables :all python-indent-guess-indent-offset nil)
"""
CONNECT = """
(find-file "reviewer_prompt.py")
(apply #'eglot (eglot--guess-contact))
(defun text-of (name) (with-current-buffer name (buffer-substring-no-properties 1 (point-max))))
(defun failure (&rest call)
  (condition-case problem (progn (apply #'funcall call) "none")
    (error (error-message-string problem))))
(defun action-titled (title)
  (cl-find-if (lambda (action) (string-prefix-p title (plist-get action :title)))
              (eglot-code-actions (point) (point))))
(defun run-action (action)
  (let ((command (plist-get action :command)))
    (eglot-execute-command (eglot-current-server) (intern (plist-get command :command))
                           (plist-get command :arguments))))
(defalias 'yes-or-no-p (lambda (_) t))
"""


@pytest.fixture(autouse=True)
def needs_emacs(program: Callable[..., str]) -> None:
    """Every test here drives Emacs."""
    program("emacs")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example workspace."""
    folder = tmp_path / "code_reviewer"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def readme_blocks() -> list[str]:
    """The Lisp of the README: the settings, and the `.dir-locals.el` of a trusted project."""
    section = README.read_text(encoding="utf-8").split("\n## Emacs\n")[1].split("\n## ")[0]
    blocks: list[str] = re.findall(r"```elisp\n(.*?)```", section, re.DOTALL)
    return blocks


def emacs(project: Path, session: str) -> dict[str, str]:
    """What a session of Emacs in the project answers: an alist, whose values are strings."""
    script = project.parent / "session.el"
    answer = project.parent / "answer.json"
    script.write_text(
        f"{readme_blocks()[0]}{PRELUDE}{CONNECT}\n"
        f"(let ((said (progn {session})))\n"
        f"  (with-temp-file {json.dumps(str(answer))} (insert (json-encode said))))\n"
        "(eglot-shutdown (eglot-current-server))\n",
        encoding="utf-8",
    )
    venv = Path(sys.executable).parent
    result = subprocess.run(
        ["emacs", "--batch", "--load", str(script)],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
        env={
            **os.environ,
            "HOME": str(project.parent),
            "PATH": f"{venv}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(venv.parent),
            "XDG_CACHE_HOME": str(project.parent / "cache"),
        },
    )
    assert result.returncode == 0, result.stderr
    found: dict[str, str] = json.loads(answer.read_text(encoding="utf-8"))
    return {**found, "messages": result.stderr}


def test_eglot_previews_a_prompt_and_opens_its_sections(project: Path) -> None:
    said = emacs(
        project,
        """
        (foldline-trust)
        (foldline-preview)
        (let ((folded (text-of "*foldline*")))
          (foldline-open-section "workspace.history")
          `((folded . ,folded)
            (opened . ,(text-of "*foldline*"))
            (keys . ,(string-join (sort (foldline--keys) #'string<) " "))))
        """,
    )
    assert said["folded"].startswith("## 1. Review Guidance")
    assert "They are lost at a restart" not in said["folded"]
    assert "They are lost at a restart" in said["opened"]
    assert {"reference-docs", "workspace.history"} <= set(said["keys"].split())
    assert "guidance" not in said["keys"].split()


def test_the_preview_shows_the_unsaved_text_when_it_is_asked_again(project: Path) -> None:
    said = emacs(
        project,
        """
        (foldline-trust)
        (foldline-preview)
        (search-forward "Read the outline")
        (replace-match "Skim the outline")
        (with-current-buffer "*foldline*" (revert-buffer))
        (prog1 `((again . ,(text-of "*foldline*"))) (set-buffer-modified-p nil))
        """,
    )
    assert "Skim the outline" in said["again"]
    assert "Skim" not in (project / "reviewer_prompt.py").read_text(encoding="utf-8")


def test_code_actions_do_without_the_settings_functions(project: Path) -> None:
    said = emacs(
        project,
        """
        (foldline-trust)
        (search-forward "key=\\"history\\"")
        (let ((action (action-titled "Open section")))
          (run-action action)
          (run-action (action-titled "Show the outline"))
          `((title . ,(plist-get action :title))))
        """,
    )
    assert said["title"] == "Open section 3.1 History of reviewer"
    shown = re.findall(r"foldline: see (\S+)", said["messages"])
    texts = [Path(path).read_text(encoding="utf-8") for path in shown]
    assert "They are lost at a restart" in texts[0]
    assert "class CodeReviewTask(Task)" in texts[1]


def test_a_project_can_be_trusted_for_good(project: Path) -> None:
    (project.parent / ".dir-locals.el").write_text(readme_blocks()[1], encoding="utf-8")
    said = emacs(project, '(foldline-preview) `((text . ,(text-of "*foldline*")))')
    assert said["text"].startswith("## 1. Review Guidance")


def test_the_outline_needs_no_trust_and_a_preview_does(project: Path) -> None:
    proof = project.parent / "executed"
    module = project / "reviewer_prompt.py"
    source = module.read_text(encoding="utf-8")
    place = source.index("from dataclasses")
    touch = f"import pathlib\npathlib.Path({str(proof)!r}).touch()\n"
    module.write_text(source[:place] + touch + source[place:], encoding="utf-8")
    said = emacs(
        project,
        f"""
        (foldline-outline)
        (let ((refused (failure #'foldline-preview))
              (ran (file-exists-p {json.dumps(str(proof))})))
          (foldline-trust)
          (foldline-preview)
          `((outline . ,(text-of "*foldline outline*"))
            (refused . ,refused)
            (ran . ,(if ran "yes" "no"))))
        """,
    )
    assert "class CodeReviewTask(Task)" in said["outline"]
    assert "not trusted" in said["refused"]
    assert said["ran"] == "no"
    # The module does write the file, once it may.
    assert proof.exists()
