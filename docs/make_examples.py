"""Types what the pages say, in the order of a page, and writes what it prints into the pages.

    uv run python docs/make_examples.py [PAGE ...]

foldline is installed as the README says, from this checkout. Each page gets a fresh folder; one
that says `<!-- run in FOLDER -->` gets a copy of that folder of the checkout. What happens there:

- The commands of `console` blocks are typed, each with the output that follows it. A command with a
  comment must succeed, and the comment stands in place of its output. `NOT_TYPED` says why some
  aren't typed at all.
- A block after a paragraph that ends with `` `FILE`: `` is that file: it is written, or, if it is
  there already, the block becomes what it contains.
- "in `FILE`, write `NEW` instead of `OLD`" is done; the file must have the old text once.
- Other `python` blocks are run one after the other in one process. The `text` block after one is
  what it prints. Those that need no extra run in an environment that has none.

A test fails while a page differs from what its commands and programs print.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

# As README.md and docs/01-install.md say it.
INSTALL = "uv tool install '.[all]'"
ADD = "uv add /path/to/foldline"

_KEY = "it needs a provider's key"
_SUITE = "it is the suite that types the pages, or a task of it"
_SERVED = "it serves until it's ended; tests/plugins/remote runs it, and the files of the page"
_NPM = "it needs npm's packages; tests/editors has them, and runs it"
# Commands by their pages and beginnings, and why they aren't typed.
NOT_TYPED = {
    "CONTRIBUTING.md": {"uv ": _SUITE},
    "README.md": {
        INSTALL: "it made the installation that types the rest",
        "pip install uv && uvx --from '.[all]' foldline tour": "tests/agent/test_tour.py runs it",
    },
    "docs/09-team.md": {
        "foldline mcp ": _SERVED,
        "OTEL_SERVICE_NAME=": _SERVED,
        "pip install ": "it needs a collector; tests/plugins/remote/test_measures.py has the SDK",
        "uv build ": _SERVED,
        "uv export ": _SERVED,
        "podman ": _SERVED,
    },
    "docs/mcp.md": {"npx ": "tests/agent/test_mcp_inspector.py has npm's packages, and runs it"},
    "editors/vscode/README.md": {
        "npm ": _NPM,
        "pip install ": "tests/test_packaging.py tries extras in empty environments",
    },
    "examples/ask_code/README.md": {
        "foldline context --root examples/code_reviewer/auth --model ": _KEY
    },
    "examples/code_reviewer/README.md": {
        "uv run python -m code_reviewer --provider ": (
            "tests/prompts/adapters/test_code_reviewer.py runs --loopback; the others need a key"
        ),
        "uv run python -m code_reviewer --base-url ": "it needs a server of models",
    },
}
# Pages whose Python is run elsewhere, but for what they write into files.
ELSEWHERE = {
    "docs/adapters.md": "tests/prompts/adapters/test_docs.py, which has providers that answer",
    "docs/02-first-prompt.md": "the same: it sends the prompt to a provider",
    "docs/frameworks.md": "tests/prompts/adapters/test_frameworks.py, with the real packages",
    "docs/services.md": "tests/prompts/adapters/test_services.py, with FastAPI",
    "docs/04-adopt.md": "tests/plugins/adopt/test_adopting_page.py: a template and its module",
}

_BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<content>.*?)^(?P=fence)$"
    r"|[Ii]n\s`(?P<changed>[\w./]+)`,\swrite\s`(?P<new>[^`]+)`\sinstead\sof\s`(?P<old>[^`]+)`",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r"`(?P<file>[\w./-]+\.(?:py|j2|toml|json|md|yaml))`:\n\n\Z")
_WHERE = re.compile(r"<!-- run in (\S+) -->")
_COMMAND = re.compile(r"^\$ (?P<typed>(?:.*\\\n)*.*)$", re.MULTILINE)
_OUTPUT = re.compile(r"\n\n```text\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)
_NETWORK = re.compile(r"(?:UV_(?!PROJECT)|SSL_|\w+_PROXY$)", re.IGNORECASE)
# How long pytest took.
_SECONDS = re.compile(r" in \d+\.\d\ds$", re.MULTILINE)
_COMMENT = re.compile(r"\s+# .*\Z")
_NEEDS_EXTRAS = re.compile(
    r"^\s*(?:from|import) foldline\.(?:agent|backends|ide|server|plugins\.stores\.otel"
    r"|prompts\.adapters\.(?:openai|anthropic))|^from pydantic ",
    re.MULTILINE,
)
_DRIVER = """\
import contextlib, io, json, sys
page, blocks = json.load(sys.stdin)
module = type(sys)("page")
# Dataclasses look their module up to resolve annotations.
sys.modules["page"] = module
sys.path.insert(0, "")
printed = []
for line, code in blocks:
    output = io.StringIO()
    # Padded, so that a traceback has the line of the page.
    with contextlib.redirect_stdout(output):
        exec(compile("\\n" * line + code, page, "exec"), module.__dict__)
    printed.append(output.getvalue())
json.dump(printed, sys.stdout)
"""


class PageError(Exception):
    """A page can't be worked through as it is written."""


@dataclass(frozen=True)
class Installation:
    """foldline as the README installs it: the program, and a project with the library alone."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Installation:
        """Install in an empty folder what the README says.

        Raises:
            PageError: The README says something else, or it doesn't work.
        """
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        made = cls(folder)
        # The versions that the tests last passed with: a release elsewhere changes no page.
        versions = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        pinned = versions["tool"]["uv"]["constraint-dependencies"]
        made.constraints.write_text("\n".join(pinned), encoding="utf-8")
        project = folder / "project"
        project.mkdir()
        for before, command, where in (("", INSTALL, ROOT), ("uv init --bare && ", ADD, project)):
            if command not in readme:
                raise PageError(f"README.md doesn't say `{command}`")
            done = made.type(before + command, where, folder)
            if done.returncode:
                raise PageError(f"`{command}` doesn't work:\n{done.stdout}")
        return made

    @property
    def constraints(self) -> Path:
        """The file with the versions to install."""
        return self.folder / "constraints.txt"

    def type(
        self, command: str, where: Path, home: Path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Type a command of a page into a shell in a folder."""
        return subprocess.run(
            ("bash", "-c", command.replace("/path/to/foldline", str(ROOT))),
            cwd=where,
            env={**self.environment(home), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=240,
        )

    def run_python(
        self, page: str, blocks: list[tuple[int, str]], where: Path, **variables: str
    ) -> list[str]:
        """Return what blocks of a page print, each with its line, run in one process.

        Raises:
            PageError: One of them fails.
        """
        code = "\n".join(block for _, block in blocks)
        environment = "tools/foldline" if _NEEDS_EXTRAS.search(code) else "project/.venv"
        done = subprocess.run(
            (self.folder / environment / "bin/python", "-c", _DRIVER),
            cwd=where,
            env={**self.environment(where.parent), **variables},
            input=json.dumps([page, blocks]),
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        if done.returncode:
            raise PageError(f"the Python of {page} fails:\n{done.stderr}")
        printed: list[str] = json.loads(done.stdout)
        return printed

    def environment(self, home: Path) -> dict[str, str]:
        """Variables without this machine's settings, this suite's programs, and colours."""
        own = Path(sys.executable).parent
        path = [part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != own]
        person = {"NAME": "Reader", "EMAIL": "reader@example.com"}
        return {
            # How to reach the package index.
            **{name: value for name, value in os.environ.items() if _NETWORK.match(name)},
            "PATH": os.pathsep.join([str(self.folder / "bin"), *path]),
            "HOME": str(home),
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
            "UV_CACHE_DIR": _uv_cache(),
            "UV_CONSTRAINT": str(self.constraints),
            "UV_PYTHON": sys.executable,
            "UV_TOOL_BIN_DIR": str(self.folder / "bin"),
            "UV_TOOL_DIR": str(self.folder / "tools"),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{
                f"GIT_{role}_{key}": value
                for role in ("AUTHOR", "COMMITTER")
                for key, value in person.items()
            },
        }


def pages() -> tuple[Path, ...]:
    """The pages with commands or Python, but for those that are made of docstrings."""
    found = [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *ROOT.glob("e*/*/README.md")]
    return tuple(page for page in sorted(found) if any(map(_is_run, _blocks(page))))


def written(page: Path, installation: Installation) -> str:
    """Return the text of a page, with what its commands and its Python print today.

    Raises:
        PageError: The page can't be worked through.
    """
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        # A name that may be shown, and is the same everywhere.
        root = Path(folder).resolve() / "demo"
        variables = {}
        if where := _WHERE.search(text):
            ignored = shutil.ignore_patterns("__pycache__", ".*", "node_modules", "dist")
            shutil.copytree(ROOT / where[1], root, ignore=ignored)
            # `uv run` in a checkout has the environment that runs this.
            variables = {"UV_NO_SYNC": "1", "UV_PROJECT_ENVIRONMENT": sys.prefix}
        else:
            root.mkdir()
        return _Typing(page, text, root, installation, variables).done()


@dataclass
class _Typing:
    """Works through a page from its top."""

    page: Path
    text: str
    root: Path
    installation: Installation
    variables: dict[str, str]

    def done(self) -> str:
        """Return the page with what is printed."""
        changes: list[tuple[int, int, str]] = []
        python: list[tuple[int, str]] = []
        outputs: list[re.Match[str] | None] = []
        for block in _BLOCK.finditer(self.text):
            if block["changed"]:
                self._change(block)
            elif not block["content"].strip():
                raise self._error(block, "the block is empty: write into it what it shows")
            elif block["language"] == "console":
                changes.append((*block.span("content"), self._console(block)))
            elif name := _FILE.search(self.text, 0, block.start()):
                changes.append((*block.span("content"), self._file(name["file"], block)))
            elif block["language"] == "python" and self._name not in ELSEWHERE:
                python.append((self._line(block), block["content"]))
                outputs.append(_OUTPUT.match(self.text, block.end()))
        if python:
            printed = self.installation.run_python(self._name, python, self.root, **self.variables)
            for (line, _), output, shown in zip(python, outputs, printed, strict=True):
                if output:
                    changes.append((*output.span("content"), shown))
                elif shown:
                    raise PageError(f"{self._name}:{line} prints, and shows no `text` block")
        text = self.text
        for start, end, new in sorted(changes, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    @property
    def _name(self) -> str:
        # A test's page may be anywhere.
        inside = self.page.is_relative_to(ROOT)
        return self.page.relative_to(ROOT).as_posix() if inside else self.page.name

    def _line(self, block: re.Match[str]) -> int:
        return self.text.count("\n", 0, block.start()) + 1

    def _error(self, block: re.Match[str], problem: str) -> PageError:
        return PageError(f"{self._name}:{self._line(block)}: {problem}")

    def _change(self, block: re.Match[str]) -> None:
        file = self.root / block["changed"]
        before = file.read_text(encoding="utf-8")
        # A line may end within what is quoted.
        old, new = (re.sub(r"\s+", " ", block[name]) for name in ("old", "new"))
        if before.count(old) != 1:
            times = before.count(old) or "nowhere"
            raise self._error(block, f"{block['changed']} has {old!r} {times}, and not once")
        file.write_text(before.replace(old, new), encoding="utf-8")

    def _file(self, name: str, block: re.Match[str]) -> str:
        file = self.root / name
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block["content"], encoding="utf-8")
        return file.read_text(encoding="utf-8")

    def _console(self, block: re.Match[str]) -> str:
        """The commands of a block, each with what it prints."""
        shown = []
        for command in _COMMAND.finditer(block["content"]):
            shown.append(command[0])
            if command["typed"].startswith(tuple(NOT_TYPED.get(self._name, ()))):
                continue
            typed = _COMMENT.sub("", command["typed"])
            done = self.installation.type(typed, self.root, self.root.parent, **self.variables)
            if typed == command["typed"]:
                output = done.stdout.replace(str(self.root), "/home/you/demo")
                shown += _SECONDS.sub(" in 0.01s", output).splitlines()
            elif done.returncode:
                raise self._error(block, f"`{typed}` doesn't work:\n{done.stdout}")
        return "".join(f"{line}\n" for line in shown)


def _blocks(page: Path) -> Iterator[re.Match[str]]:
    return _BLOCK.finditer(page.read_text(encoding="utf-8"))


def _is_run(block: re.Match[str]) -> bool:
    return block["language"] in ("console", "python")


@cache
def _uv_cache() -> str:
    """The folder of what uv has downloaded, whatever `HOME` is."""
    done = subprocess.run(("uv", "cache", "dir"), capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        installed = Installation.make(Path(scratch))
        for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
            page.write_text(written(page, installed), encoding="utf-8")
            sys.stdout.write(f"{page}\n")
