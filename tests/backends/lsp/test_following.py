"""Whatever happens to the files, the next answer is that of a fresh start."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.repositories import git

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.lsp import LSPBackend
from foldline.backends.lsp.servers import SERVERS
from foldline.backends.models import COMPLETE, References

pytestmark = pytest.mark.real

PATIENCE = 60.0
NAMES = ("one.py", "two.py", "pkg/three.py", "pkg/four.py")
TEXTS = (
    "",
    "from hub import Hub\nHub().spin()\n",
    "import hub\n\n\ndef f(x):\n    x.spin()\n    return hub.Hub().spin\n",
    "class Own:\n    def spin(self):\n        return self.spin()\n",
    "from hub import Hub as H\n\nh = H(); h.spin(); H.spin(h)\n",
    "def broken(:\n    spin(\n",
)
HUB = "class Hub:\n    def spin(self):\n        return 1\n"
texts = st.sampled_from(TEXTS)
names = st.sampled_from(NAMES)


def open_access(root: Path) -> SmartFileAccess:
    files = LocalFileBackend(root)
    servers = [spec for spec in SERVERS if spec.name == "ty"]
    backend = LSPBackend(files, seconds=PATIENCE, servers=servers, jedi=False)
    return SmartFileAccess(files, ASTFileAnalysisBackend(files), backend)


def told(found: References) -> list[tuple[str, int, int, str]]:
    assert found.coverage == COMPLETE
    return sorted(
        (reference.path, reference.line, reference.column, reference.tier) for reference in found
    )


class Following(RuleBasedStateMachine):
    """Edits, creates, deletes, renames, checks out and opens files while one server runs."""

    @initialize(first=texts, second=texts)
    def start(self, first: str, second: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name).resolve()
        (self.root / "hub.py").write_text(HUB)
        (self.root / "pkg").mkdir()
        for branch, text in (("main", first), ("other", second)):
            git(self.root, "init", "-q", "-b", "main") if branch == "main" else None
            git(self.root, "checkout", "-q", "-B", branch)
            (self.root / "one.py").write_text(text)
            (self.root / "pkg" / f"{branch}.py").write_text(second)
            git(self.root, "add", "-A")
            git(self.root, "commit", "-q", "--allow-empty", "-m", branch)
        self.overlays: dict[str, str] = {}
        self.access = open_access(self.root)

    @rule(name=names, text=texts)
    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    @rule(name=names)
    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    @rule(name=names, other=names)
    def rename(self, name: str, other: str) -> None:
        if (self.root / name).exists():
            (self.root / name).rename(self.root / other)

    @rule(branch=st.sampled_from(["main", "other"]))
    def check_out(self, branch: str) -> None:
        git(self.root, "checkout", "-q", "--force", branch)

    @rule(name=names, text=texts)
    def open_buffer(self, name: str, text: str) -> None:
        self.overlays[name] = text
        self.access.file_backend.set_overlay(name, text)

    @precondition(lambda self: self.overlays)
    @rule(data=st.data())
    def close_buffer(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.overlays)))
        del self.overlays[name]
        self.access.file_backend.remove_overlay(name)

    @rule()
    def ask(self) -> None:
        self.access.find_references("Hub.spin", seconds=PATIENCE)

    @invariant()
    def the_answer_is_that_of_a_fresh_start(self) -> None:
        if not hasattr(self, "access"):
            return
        fresh = open_access(self.root)
        for name, text in self.overlays.items():
            fresh.file_backend.set_overlay(name, text)
        try:
            expected = told(fresh.find_references("Hub.spin", seconds=PATIENCE))
        finally:
            fresh.close()
        assert told(self.access.find_references("Hub.spin", seconds=PATIENCE)) == expected

    def teardown(self) -> None:
        if hasattr(self, "access"):
            self.access.close()
            self.folder.cleanup()


TestFollowing = Following.TestCase
TestFollowing.settings = settings.get_profile("costly")
TestFollowing = pytest.mark.slow(TestFollowing)
