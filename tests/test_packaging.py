"""The four ways in which a namespace package of four source roots goes wrong in silence."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import try_wheels
from foldline.server.page.app import SHOWN_FILES

pytestmark = pytest.mark.real

ROOT = Path(__file__).parent.parent
NEEDED = "needs 'cattrs': install foldline[server]"
SOURCE_ROOTS = ("server", "backends", "prompts", "plugins")
PLUGINS = ROOT / "plugins" / "foldline" / "plugins"
PACKAGES = ("server", "agent", "backends", "ide", "plugins", "prompts")


def test_no_init_file_hides_the_namespace() -> None:
    hiding = [root for root in SOURCE_ROOTS if (ROOT / root / "foldline" / "__init__.py").exists()]
    assert not hiding, f"remove foldline/__init__.py below {hiding}: it hides the other roots"


def test_the_build_never_rewrites_sources_globally() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "sources" not in configuration["tool"]["hatch"].get("build", {}), (
        "[tool.hatch.build] sources leaves the wheel that is built from the sdist empty"
    )


MACHINES = {
    "Linux": {"sys_platform": "linux", "platform_machine": "x86_64"},
    "macOS": {"sys_platform": "darwin", "platform_machine": "arm64"},
    "Windows": {"sys_platform": "win32", "platform_machine": "AMD64"},
    "Windows on ARM": {"sys_platform": "win32", "platform_machine": "ARM64"},
}
WITHOUT_WHEELS = {
    ("psycopg", "Windows on ARM"),
    ("rs-bpe", "Windows on ARM"),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_no_extra_needs_what_has_no_wheel_for_the_machine(machine: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirements in project["optional-dependencies"].values():
        for requirement in map(Requirement, requirements):
            applies = requirement.marker is None or requirement.marker.evaluate(
                {**MACHINES[machine], "python_version": "3.13"}
            )
            if (requirement.name, machine) in WITHOUT_WHEELS:
                assert not applies
            elif requirement.name in ("psycopg", "rs-bpe"):
                assert applies
    (everything,) = project["optional-dependencies"]["all"]
    extras = set(project["optional-dependencies"]) - {"all"}
    assert Requirement(everything).extras == extras


def test_every_dependency_says_which_versions_it_may_have() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert not project["dependencies"]
    for requirement in (Requirement(text) for texts in extras.values() for text in texts):
        if requirement.name != "foldline":
            operators = {specifier.operator for specifier in requirement.specifier}
            assert ">=" in operators
            assert operators <= {">=", "<"}, "an exact version excludes other packages"


def test_the_wheel_holds_every_package_with_its_marker(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"foldline/{package}/{name}" for package in PACKAGES for name in ("__init__.py", "py.typed")
    }
    assert expected <= names
    assert "foldline/__init__.py" not in names
    page = {f"foldline/server/page/files/{name}" for name in (*SHOWN_FILES, "index.html")}
    assert page <= names
    assert any(name.endswith(".data/data/share/man/man1/foldline.1") for name in names)
    assert "foldline/ide/clients.toml" in names
    folder = "foldline/plugins/instructions"
    assert f"{folder}/clients.toml" in names
    # Files whose names begin with a dot, too.
    for example in ("code_reviewer", "go_service"):
        listed = run("git", "-C", str(ROOT), "ls-files", f"examples/{example}").split()
        assert listed
        assert {f"foldline/agent/{name}" for name in listed} <= names


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment without any extra."""
    return install(str(wheel), tmp_path_factory.mktemp("environment") / "base")


def test_the_base_install_is_the_prompt_library_alone(base: Path) -> None:
    python = base
    listed = json.loads(run("uv", "pip", "list", "--python", str(python), "--format=json"))
    assert [package["name"] for package in listed] == ["foldline"]
    assert "SUMMARY" in run(
        str(python), "-c", "import foldline.prompts as p; print(list(p.SectionVisibility))"
    )
    for verb, extra in (("serve", "server"), ("mcp", "mcp")):
        refused = subprocess.run(
            [str(python.parent / "foldline"), verb], capture_output=True, text=True, check=False
        )
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        assert f"`uvx --from 'foldline[{extra}]' foldline {verb} …`" in refused.stderr
    help_page = run(str(python.parent / "foldline"), "help")
    assert "Servers" in help_page
    assert run(str(python.parent / "foldline"), "--version").startswith("foldline ")


CONSUMERS = {
    "prompts": """\
from dataclasses import dataclass
from typing import assert_type
from foldline.prompts import MarkdownSection, PromptTemplate
@dataclass
class Person:
    name: str
ASK = MarkdownSection[Person](title="Ask", key="ask", template="Greet ${name}.")
HELLO = PromptTemplate(ns="demo", key="hello", sections=[ASK])
assert_type(HELLO.render(Person("Ada")).text, str)
""",
    "backends": """\
from typing import assert_type
from foldline.backends import AsyncSmartFileAccess, MemoryFileBackend, SmartFileAccess
from foldline.backends.models import FileTree
access = SmartFileAccess.for_workspace(".")
assert_type(access.get_tree(), FileTree)
assert_type(MemoryFileBackend({"a.py": ""}).read_file("a.py"), str)
async def tree(code: AsyncSmartFileAccess) -> FileTree:
    async with code:
        return await code.get_tree()
""",
    "ide": """\
from collections.abc import Iterator
from pathlib import Path
from foldline.ide import Workspace
from foldline.ide.checks import Diagnostic
from foldline.ide.plugins import Plugin
from foldline.ide.snapshot import Snapshot
class Team(Plugin):
    clients = Path("clients.toml")
    def check(self, document: Snapshot) -> Iterator[Diagnostic]:
        yield from document.source.diagnostics(document)
ROOTS: list[Path] = [folder.root for folder in Workspace.at(".").folders()]
""",
    "agent": """\
from foldline.agent.tools import code_tools
from foldline.ide import Workspace
NAMES: list[str] = [tool.name for tool in code_tools(Workspace.at("."))]
""",
    "plugins": """\
from typing import assert_type
from foldline.plugins.stores import SQLiteEventStore, open_event_store
with open_event_store(":memory:") as store:
    assert_type(isinstance(store, SQLiteEventStore), bool)
    store.events()
""",
    "server": "import foldline.server\nNAME: str = foldline.server.__name__\n",
}


def test_programs_that_use_the_wheel_have_its_types(base: Path, tmp_path: Path) -> None:
    assert CONSUMERS.keys() == {*PACKAGES}
    for package, program in CONSUMERS.items():
        (tmp_path / f"with_{package}.py").write_text(program, encoding="utf-8")
    options = ("--strict", "--cache-dir", os.devnull, "--python-executable", str(base))
    mypy = (sys.executable, "-m", "mypy", *options, ".")
    # Elsewhere than in this repository, whose settings and sources it would take.
    done = subprocess.run(mypy, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"Success: no issues found in {len(CONSUMERS)} source files\n"


def test_an_install_has_its_plugins_which_need_no_extra_to_be_asked(base: Path) -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = configuration["project"]["entry-points"]["foldline.plugins"]
    assert set(declared) == {folder.parent.name for folder in PLUGINS.glob("*/plugin.py")}
    program = (
        "from foldline.ide.entry_points import entries\n"
        "from foldline.ide.plugins import plugins\n"
        "installed = {one.name: one.value for one in entries()}\n"
        f"assert installed == {declared}, installed\n"
        "verbs = {part.name for part in plugins().parts(lambda plugin: plugin.verbs)}\n"
        "assert {'adopt', 'fold', 'runs', 'stack'} <= verbs, verbs\n"
        "assert not plugins().problems\n"
    )
    done = run_python(base, program)
    assert done.returncode == 0, done.stderr


def test_stores_in_files_need_no_extra(base: Path) -> None:
    program = (
        "import sys\n"
        "from foldline.plugins.stores import SQLiteEventStore, open_event_store\n"
        "with open_event_store(':memory:') as store:\n"
        "    assert isinstance(store, SQLiteEventStore)\n"
        "    assert not store.events()\n"
        "others = {'foldline.agent', 'foldline.backends', 'foldline.ide', 'foldline.server'}\n"
        "assert not others & set(sys.modules)\n"
    )
    done = run_python(base, program)
    assert done.returncode == 0, done.stderr
    done = run_python(base, f"{program}open_event_store('postgresql://db.example/foldline')")
    needed = "A store in PostgreSQL needs 'psycopg': install foldline[postgres]"
    assert done.stderr.endswith(f"\nModuleNotFoundError: {needed}\n")


@pytest.mark.parametrize("page", ["context.md", "language-servers.md"])
def test_without_the_extra_server_reading_code_says_what_to_install(base: Path, page: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.S)
    assert blocks
    refused = 0
    # Later blocks use what the first ones made, or nothing that needs a package.
    upto = ("".join(blocks[: number + 1]) for number in range(len(blocks)))
    for program in dict.fromkeys((*blocks, *upto)):
        done = run_python(base, program)
        last = done.stderr.strip().rpartition("\n")[2]
        if done.returncode and not last.startswith("NameError"):
            assert last == f"ModuleNotFoundError: Reading code {NEEDED}"
            refused += 1
    assert refused


@pytest.mark.parametrize(
    "entry",
    [
        "from foldline.backends import SmartFileAccess; SmartFileAccess.for_workspace('.')",
        "from foldline.backends import LocalFileBackend; LocalFileBackend('.')",
        "from foldline.backends import MemoryFileBackend; MemoryFileBackend({'a.py': ''})",
        "from foldline.ide.workspace import Workspace; Workspace.at('.')",
        "from foldline.ide.workspace import Workspace; Workspace()",
    ],
)
def test_the_python_api_names_the_extra_in_the_command_lines_words(base: Path, entry: str) -> None:
    assert run_python(base, entry).stderr.endswith(
        f"\nModuleNotFoundError: Reading code {NEEDED}\n"
    )
    tree = subprocess.run(
        [str(base.parent / "foldline"), "tree"], capture_output=True, text=True, check=False
    )
    assert f"this command {NEEDED}" in tree.stderr


def test_what_needs_no_package_works_without_an_extra(base: Path) -> None:
    run(str(base), "-c", "import foldline.agent.tools, foldline.agent.pipeline")
    run(str(base), "-c", "from foldline.agent.instructions import agent_prompt; agent_prompt()")


@pytest.mark.slow
def test_every_extra_works_with_the_oldest_versions_it_allows(wheel: Path, tmp_path: Path) -> None:
    extras = try_wheels.extras_of(wheel)
    python = try_wheels.install(wheel, tmp_path / "oldest", extras, "lowest-direct")
    try_wheels.try_extras(python, extras)


def test_the_server_extra_starts(installed: Path) -> None:
    python, program = str(installed / "python"), str(installed / "foldline")
    version = run(python, "-c", "import importlib.metadata as m; print(m.version('foldline'))")
    assert run(program, "--version").strip() == f"foldline {version.strip()}"
    run(python, "-c", "import foldline.server.app")
    tour = json.loads(run(program, "tour", "--json"))
    assert Path(tour["repository"]).is_relative_to(installed.parent)
    assert [step["whole"] is None for step in tour["steps"]] == [*[False] * 6, True, *[False] * 3]
    prompt = ROOT / "examples" / "code_reviewer" / "reviewer_prompt.py"
    command = (program, "preview", str(prompt), "--serve")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "install foldline[web]" in refused.stderr


def install(requirement: str, where: Path) -> Path:
    """The interpreter of a new environment that holds `requirement` and nothing of ours besides."""
    python = where / "bin" / "python"
    run("uv", "venv", "--quiet", "--python", sys.executable, str(where))
    run("uv", "pip", "install", "--quiet", "--python", str(python), requirement)
    return python


def run_python(python: Path, program: str) -> subprocess.CompletedProcess[str]:
    """The run of a program that the checkout lends nothing but its examples."""
    return subprocess.run(
        [str(python), "-I", "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )


def run(*command: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT.parent)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout
