"""A workspace whose only language server is the scripted one."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.lsp import Limits, LSPBackend, ServerSpec
from foldline.backends.lsp.servers import Readiness, ReadyWhen

PATIENCE = 60.0
SERVER = Path(__file__).with_name("faulty_server.py")
LIMITS = Limits(
    start=PATIENCE,
    request=PATIENCE,
    symbols=PATIENCE,
    grace=0.2,
    watch=0.1,
    quiet=0.1,
    backoff=(0.0, 0.05),
    down=60.0,
)
FILES = {
    "shop.py": "def pay():\n    return 1\n",
    "main.py": "import shop\n\nshop.pay()\nprint(shop.pay)\n",
}
MATCHES = [("main.py", 3), ("main.py", 4), ("shop.py", 1)]


def write_workspace(folder: Path, way: str = "asks nothing") -> Path:
    """Write a workspace below `folder` whose configuration names the scripted server."""
    root, state = folder / "workspace", folder / "state"
    for path in (root, state):
        path.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    (root / "notes.txt").write_text("unrelated\n")
    command = json.dumps([sys.executable, str(SERVER), str(state), way])
    (root / "pyproject.toml").write_text(
        f'[tool.foldline.lsp]\nuse = ["faulty"]\n[tool.foldline.lsp.servers.faulty]\n'
        f'command = {command}\nlanguages = ["python"]\n'
    )
    return root


class Faulty:
    """The workspace at `folder`, and what its server has noted, and servers of `others` kinds."""

    def __init__(
        self,
        folder: Path,
        way: str,
        limits: Limits = LIMITS,
        *,
        others: Sequence[str] = (),
        files: Mapping[str, str] = FILES,
    ) -> None:
        self.root = folder / "workspace"
        self.state = folder / "state"
        for path in (self.root, self.state):
            path.mkdir(exist_ok=True)
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        specs = [
            ServerSpec(
                name,
                (sys.executable, str(SERVER), str(self.state), how),
                ("python",),
                ("pyproject.toml",),
                settings={"a": {"b": 7}},
                readiness=Readiness(
                    ReadyWhen.NO_PROGRESS if how.endswith("works") else ReadyWhen.AT_ONCE
                ),
            )
            for name, how in {"faulty": way, **{how: how for how in others}}.items()
        ]
        local = LocalFileBackend(self.root)
        self.backend = LSPBackend(local, limits=limits, servers=specs, jedi=False)
        self.access = SmartFileAccess(local, ASTFileAnalysisBackend(local), self.backend)

    def notes(self, name: str) -> list[str]:
        path = self.state / name
        return path.read_text().splitlines() if path.exists() else []

    def living(self) -> list[psutil.Process]:
        """The processes that the server has noted and that are still there, given some time."""
        processes = []
        for pid in map(int, self.notes("pids")):
            try:
                processes.append(psutil.Process(pid))
            except psutil.NoSuchProcess:
                continue
        _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
        return alive
