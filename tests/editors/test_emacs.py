"""Debian's Emacs and its eglot, set up as editors/README.md says."""

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

pytestmark = pytest.mark.real

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
(defun wait-for (name text)
  (let ((end (+ (float-time) 60)))
    (while (and (not (string-search text (text-of name))) (< (float-time) end))
      (accept-process-output nil 0.1))
    (unless (string-search text (text-of name))
      (error "Never came: %s, but %s" text (text-of name)))))
(defun header (name) (with-current-buffer name header-line-format))
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
    settings = readme_blocks()[0].replace("/path/to/foldline", str(ROOT))
    script.write_text(
        f"{settings}{PRELUDE}{CONNECT}\n"
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
        (let ((folded (text-of "*foldline*"))
              (keys (string-join (foldline--keys) " ")))
          (foldline-open-section "workspace.history")
          (foldline-open-section "reference-docs")
          (let ((both (text-of "*foldline*")))
            (foldline-close-section "workspace.history")
            (let ((one (text-of "*foldline*")))
              (foldline-undo)
              `((folded . ,folded) (keys . ,keys) (both . ,both) (one . ,one)
                (undone . ,(text-of "*foldline*"))
                (left . ,(string-join (foldline--keys) " "))
                (header . ,(header "*foldline*"))))))
        """,
    )
    assert said["folded"].startswith("## 1. Review Guidance")
    assert "They are lost at a restart" not in said["folded"]
    assert said["keys"].split() == [
        "reference-docs",
        "reference-docs.async",
        "reference-docs.style",
        "workspace.history",
    ]
    assert "They are lost at a restart" in said["both"]
    assert "Security Rules" in said["both"]
    assert "They are lost at a restart" not in said["one"]
    assert "Security Rules" in said["one"]
    assert said["undone"] == said["both"]
    assert said["left"].split() == ["reference-docs.async", "reference-docs.style"]
    assert re.fullmatch(r"reviewer · \d+ tokens", said["header"])


def test_the_preview_follows_the_unsaved_text(project: Path) -> None:
    said = emacs(
        project,
        """
        (foldline-trust)
        (foldline-preview)
        (with-current-buffer "*foldline*" (search-forward "What changed in the last year"))
        (search-forward "Read the outline")
        (replace-match "Skim the outline\nin short,")
        (eglot--signal-textDocument/didChange)
        (wait-for "*foldline*" "Skim the outline")
        (let ((place (with-current-buffer "*foldline*"
                       (buffer-substring-no-properties (line-beginning-position) (point)))))
          (goto-char (point-min))
          (search-forward "template = PromptTemplate[Review](")
          (insert " ==")
          (eglot--signal-textDocument/didChange)
          (let ((end (+ (float-time) 60)))
            (while (and (not (string-search "isn't Python" (header "*foldline*")))
                        (< (float-time) end))
              (accept-process-output nil 0.1)))
          (set-buffer-modified-p nil)
          `((text . ,(text-of "*foldline*")) (place . ,place) (header . ,(header "*foldline*"))))
        """,
    )
    assert "Skim the outline" in said["text"]
    assert said["place"] == "What changed in the last year"
    assert "isn't Python" in said["header"]
    assert "Skim" not in (project / "reviewer_prompt.py").read_text(encoding="utf-8")


def test_return_goes_to_the_source(project: Path) -> None:
    said = emacs(
        project,
        """
        (foldline-trust)
        (foldline-preview)
        (with-current-buffer "*foldline*"
          (search-forward "What changed in the last year")
          (call-interactively (key-binding (kbd "RET"))))
        (let ((section (thing-at-point 'line)))
          (foldline-outline)
          (with-current-buffer "*foldline outline*"
            (search-forward "class Clearance")
            (call-interactively (key-binding (kbd "RET"))))
          (forward-line)
          `((section . ,section) (outline . ,(thing-at-point 'line))))
        """,
    )
    assert 'key="history"' in said["section"]
    assert "class Clearance" in said["outline"]


def test_a_refusal_is_the_servers_sentence(project: Path) -> None:
    said = emacs(
        project,
        """
        (foldline-trust)
        (foldline-preview)
        `((refused . ,(failure #'foldline-open-section "reference-doc"))
          (nowhere . ,(with-temp-buffer (failure #'foldline-preview))))
        """,
    )
    assert said["refused"].startswith("No section") or "reference-docs" in said["refused"]
    assert "jsonrpc" not in said["refused"]
    assert said["nowhere"] == "No server is running here: M-x eglot"


def test_the_package_compiles_without_warnings(tmp_path: Path) -> None:
    copy = shutil.copy(ROOT / "editors" / "emacs" / "foldline.el", tmp_path)
    strict = "(setq byte-compile-error-on-warn t)"
    result = subprocess.run(
        ["emacs", "--batch", "--eval", strict, "--funcall", "batch-byte-compile", copy],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert result.returncode == 0, result.stderr


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
        (foldline-preview)
        (let ((refused (header "*foldline*"))
              (ran (file-exists-p {json.dumps(str(proof))})))
          (foldline-trust)
          (wait-for "*foldline*" "auth, written in Python 3.11")
          (let ((end (+ (float-time) 60)))
            (while (and (string-search "not trusted" (header "*foldline*"))
                        (< (float-time) end))
              (accept-process-output nil 0.1)))
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
