"""The release script: what it refuses, what it builds, and that it builds the same twice."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped] # Likewise.

from make_plugins import manifests, pack
from make_release import (
    EXTENSION,
    TEMPLATES,
    VERSION_FILE,
    Refused,
    build_package,
    export,
    git,
    refusals,
    run_tests,
    server_entry,
    uploads,
)
from release_metadata import FILE, Addresses, read_addresses

from ..editors.node import code_server
from .test_lsp4ij import READ, faults

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
SCHEMA = Path(__file__).with_name("server.schema.json")
VERSION = "3.2.1"
ADDRESSES = Addresses("https://github.com/someone/foldline", "https://foldline.example")
CHANGELOG = f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-11-23\n\n### Added\n\n- It.\n"


def commit(root: Path) -> None:
    git(root, "add", "--all")
    name = ("-c", "user.name=Someone", "-c", "user.email=someone@foldline.example")
    git(root, *name, "commit", "--quiet", "--message", "Change")


def prepare(root: Path) -> None:
    """Make a repository of `root` that is ready to be released as `VERSION`."""
    (root / VERSION_FILE).parent.mkdir(parents=True, exist_ok=True)
    (root / VERSION_FILE).write_text(f'VERSION = "{VERSION}"\n', encoding="utf-8")
    (root / EXTENSION).mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        path = root / EXTENSION / name
        manifest = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**manifest, "version": VERSION}), encoding="utf-8")
    (root / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    (root / FILE).parent.mkdir(exist_ok=True)
    write_addresses(root, ADDRESSES.repository)
    write_plugins(root)
    git(root, "init", "--quiet", "--initial-branch", "main")
    # Whoever runs the tests may sign what they commit and tag.
    for option in ("commit.gpgSign", "tag.gpgSign"):
        git(root, "config", option, "false")
    for option, value in (("user.name", "Someone"), ("user.email", "someone@foldline.example")):
        git(root, "config", option, value)
    commit(root)


def write_addresses(root: Path, repository: str) -> None:
    text = f'repository = "{repository}"\nhomepage = "{ADDRESSES.homepage}"\n'
    (root / FILE).write_text(text, encoding="utf-8")


def write_plugins(root: Path) -> None:
    if not (root / "pyproject.toml").exists():
        project = '[project]\nname = "foldline"\nlicense = "MIT"\nkeywords = []\n'
        (root / "pyproject.toml").write_text(project, encoding="utf-8")
        for name in ("release/server.json", "release/plugins.toml"):
            shutil.copy(ROOT / name, root / name)
    (root / "release/plugin-python").mkdir(exist_ok=True)
    for path, text in manifests(root, VERSION).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    prepare(tmp_path)
    return tmp_path


def test_what_is_ready_is_not_refused(ready: Path) -> None:
    assert list(refusals(ready, VERSION)) == []


def test_a_dirty_tree_is_refused_and_shown(ready: Path) -> None:
    (ready / "new.py").touch()
    (refusal,) = refusals(ready, VERSION)
    assert "?? new.py" in refusal


def test_another_branch_is_refused(ready: Path) -> None:
    git(ready, "switch", "--quiet", "--create", "feature")
    (refusal,) = refusals(ready, VERSION)
    assert "the branch feature" in refusal


def test_a_version_that_has_a_tag_is_refused(ready: Path) -> None:
    git(ready, "tag", f"v{VERSION}")
    (refusal,) = refusals(ready, VERSION)
    assert f"v{VERSION} exists" in refusal


def test_a_build_alone_needs_the_tag_on_this_commit(ready: Path) -> None:
    (refusal,) = refusals(ready, VERSION, tagged=True)
    assert "doesn't name this commit" in refusal
    git(ready, "tag", f"v{VERSION}")
    git(ready, "switch", "--quiet", "--detach")
    assert list(refusals(ready, VERSION, tagged=True)) == []


def test_a_version_that_the_sources_do_not_have_is_refused_with_each_file(ready: Path) -> None:
    (ready / "CHANGELOG.md").write_text(CHANGELOG.replace(VERSION, "3.2.2"), encoding="utf-8")
    commit(ready)
    assert [re.split(r" has | isn't ", refusal)[0] for refusal in refusals(ready, "3.2.2")] == [
        f"- {VERSION_FILE}",
        f"- {EXTENSION / 'package.json'}",
        f"- {EXTENSION / 'package-lock.json'}",
        *(f"- {path}" for path in manifests(ready, "3.2.2")),
    ]


@pytest.mark.parametrize(("version", "advice"), [("three", "1.2.3"), ("3.2.1-rc1", "3.2.1rc1")])
def test_a_version_in_another_form_is_refused(ready: Path, version: str, advice: str) -> None:
    assert advice in next(refusals(ready, version))


@pytest.mark.parametrize(
    "changelog",
    [
        "## [Unreleased]\n\n- It.\n",
        f"## [{VERSION}]\n\n- It, without a day.\n",
        f"## [{VERSION}] - 2026-11-23\n\n## [1.0.0] - 2026-01-01\n\n- It.\n",
        f"## [{VERSION}] - 2026-11-23\n",
    ],
)
def test_a_changelog_without_the_version_is_refused(ready: Path, changelog: str) -> None:
    (ready / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    commit(ready)
    (refusal,) = refusals(ready, VERSION)
    assert "CHANGELOG.md" in refusal


@pytest.mark.parametrize(
    ("repository", "advice"), [("", "fill it in"), ("https://example.org/x", "OWNER/NAME")]
)
def test_a_missing_or_unusable_address_is_refused(
    ready: Path, repository: str, advice: str
) -> None:
    write_addresses(ready, repository)
    commit(ready)
    (refusal,) = refusals(ready, VERSION)
    assert advice in refusal


def test_the_entry_of_the_mcp_registry_obeys_its_rules() -> None:
    entry = server_entry(ROOT, VERSION, ADDRESSES)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert [error.message for error in validator.iter_errors(entry)] == []
    assert list(validator.iter_errors({**entry, "description": "x" * 101}))
    assert entry["name"] == "io.github.someone/foldline"
    (package,) = entry["packages"]
    assert (entry["version"], package["version"]) == (VERSION, VERSION)


def test_the_description_on_an_index_links_to_the_repository() -> None:
    readme = "![a](docs/a.png) [b](docs/b.md#c) [d](https://d.example) [e](#e)\n```\n[f](g)\n```\n"
    at = ADDRESSES.repository
    assert ADDRESSES.description(readme, VERSION) == (
        f"![a]({at}/raw/v{VERSION}/docs/a.png) [b]({at}/blob/v{VERSION}/docs/b.md#c) "
        "[d](https://d.example) [e](#e)\n```\n[f](g)\n```\n\n"
        "<!-- mcp-name: io.github.someone/foldline -->\n"
    )


def test_this_checkout_names_no_address_or_one_that_a_release_can_use() -> None:
    read_addresses(ROOT)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this checkout, ready to be released, whose tests have passed."""
    root = tmp_path / "checkout"
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    prepare(root)
    (root / "dist").mkdir()
    (root / "dist" / "tested").write_text(git(root, "rev-parse", "HEAD^{tree}"), encoding="utf-8")
    return root


def release(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Make a release on a machine that has a shell, Git and uv alone."""
    programs = root.parent / "programs"
    programs.mkdir()
    for name in ("git", "sh", "uv"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    command = (sys.executable, str(root / "release" / "make_release.py"), *arguments)
    environment = {**os.environ, "PATH": str(programs)}
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.timeout(900)  # npm gets the packages that build the extension.
def test_a_release_is_built_checked_and_tagged_and_the_same_when_built_again(
    checkout: Path, tmp_path: Path
) -> None:
    done = release(checkout, VERSION)
    assert done.returncode == 0, done.stderr
    out = checkout / "dist" / VERSION
    for command in uploads(out.relative_to(checkout), f"v{VERSION}"):
        assert command in done.stdout
    assert f"v{VERSION}" in git(checkout, "tag", "--points-at", "HEAD")
    assert git(checkout, "status", "--porcelain") == ""
    sums = (out / "SHA256SUMS").read_text(encoding="utf-8")
    assert [line.split()[1] for line in sums.splitlines()] == [
        f"foldline-{VERSION}-py3-none-any.whl",
        f"foldline-{VERSION}.tar.gz",
        f"foldline-{VERSION}.vsix",
        f"foldline-lsp4ij-{VERSION}.zip",
        f"foldline-plugin-{VERSION}.zip",
        *(f"lsp4ij/{name}" for name in sorted(READ)),
        "mason.yaml",
        "nvim-lspconfig/lsp/foldline.lua",
        "server.json",
    ]

    with ZipFile(out / f"foldline-{VERSION}-py3-none-any.whl") as wheel:
        text = wheel.read(f"foldline-{VERSION}.dist-info/METADATA").decode()
    metadata = Parser().parsestr(text)
    assert f"Repository, {ADDRESSES.repository}" in metadata.get_all("Project-URL", [])
    assert "](docs/" not in text
    mason = yaml.safe_load((out / "mason.yaml").read_text(encoding="utf-8"))
    assert mason["source"]["id"] == f"pkg:pypi/foldline@{VERSION}?extra=server"
    assert mason["homepage"] == ADDRESSES.homepage
    with ZipFile(out / f"foldline-plugin-{VERSION}.zip") as plugin:
        manifest = json.loads(plugin.read("plugin.json"))
    assert (manifest["version"], manifest["homepage"]) == (VERSION, ADDRESSES.homepage)

    template = json.loads((out / "lsp4ij" / "template.json").read_text(encoding="utf-8"))
    assert template["url"] == ADDRESSES.homepage
    for name in TEMPLATES:
        assert "${" not in (out / name).read_text(encoding="utf-8")

    folders = (tmp_path / "data", tmp_path / "extensions")
    code_server(*folders, "--install-extension", str(out / f"foldline-{VERSION}.vsix"))
    listed = code_server(*folders, "--list-extensions", "--show-versions")
    assert f"foldline.foldline@{VERSION}" in listed.splitlines()

    again = tmp_path / "again"
    tree, environment = export(checkout, tmp_path)
    build_package(tree, again, environment)
    name = f"foldline-lsp4ij-{VERSION}.zip"
    with ZipFile(out / name) as archive:
        archive.extractall(tmp_path / "lsp4ij")
    assert faults(json.loads((tmp_path / "lsp4ij/template.json").read_text("utf-8"))) == []
    pack(tmp_path / "lsp4ij", again / name, int(environment["SOURCE_DATE_EPOCH"]))
    for built in again.iterdir():
        assert built.read_bytes() == (out / built.name).read_bytes()


def test_tests_that_fail_refuse_and_those_that_passed_are_not_run_again(
    ready: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    option = 'def pytest_addoption(parser):\n    parser.addoption("--slow", action="store_true")\n'
    (ready / "conftest.py").write_text(option, encoding="utf-8")
    (ready / "test_it.py").write_text("def test_it():\n    assert False\n", encoding="utf-8")
    commit(ready)
    with pytest.raises(Refused, match="Tests fail"):
        run_tests(ready)
    (ready / "test_it.py").write_text("def test_it():\n    pass\n", encoding="utf-8")
    commit(ready)
    run_tests(ready)
    (ready / "test_it.py").unlink()
    run_tests(ready)
    commit(ready)
    with pytest.raises(Refused, match="Tests fail"):
        run_tests(ready)


def test_the_changelog_has_the_version_of_the_sources() -> None:
    version = (ROOT / VERSION_FILE).read_text(encoding="utf-8").split('"')[-2]
    assert f"\n## [{version}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
