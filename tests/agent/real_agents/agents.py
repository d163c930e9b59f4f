"""Real coding agents without a model and without a network, configured by `foldline install`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ...editors.node import find, install
from .provider import Request

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
EXAMPLE = ROOT / "examples" / "code_reviewer"
SECONDS = 240
NOBODY = "http://127.0.0.1:9"
# A network namespace has only a loopback, which is down at first.
ALONE = ("unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


@dataclass
class Ended:
    """What a run of an agent left behind."""

    status: int
    stdout: str
    stderr: str
    requests: list[Request]

    @property
    def results(self) -> list[str]:
        """The answers of tools, as the model gets them."""
        return self.requests[-1].results


@dataclass
class Agent:
    """A coding agent in a home of its own.

    Attributes:
        name: Its name for `foldline install`.
        home: Its home.
        workspace: The folder that it works in.
        command: Starts it; what is said to it follows.
        files: Its configuration besides foldline's, by name below the home.
        environment: Variables of its own.
    """

    name: str
    home: Path
    workspace: Path
    command: list[str]
    files: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)

    def configure(self) -> None:
        """Write the agent's configuration, without foldline."""
        for name, text in self.files.items():
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def install(self, *words: str) -> None:
        """Write foldline into the agent's configuration, beside what is there."""
        self.configure()
        subprocess.run(
            [sys.executable, "-m", "foldline.agent", "install", self.name, *words],
            cwd=self.workspace,
            env=self._environment(),
            check=True,
            capture_output=True,
        )

    def play(self, steps: list[dict[str, Any]], *said: str) -> Ended:
        """Play a script to the agent, and return what happened."""
        written = {
            str(self.home / name): (self.home / name).read_text(encoding="utf-8")
            for name in self.files
        }
        job = {
            "command": [*self.command, *said],
            "environment": self._environment(),
            "files": written,
            "folder": str(self.workspace),
            "steps": steps,
            "seconds": SECONDS,
        }
        path = self.home / "job.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        alone = ALONE if _may_be_alone() else ()
        module = f"{__package__}.play"
        subprocess.run([*alone, sys.executable, "-m", module, str(path)], cwd=ROOT, check=True)
        ended = json.loads(path.with_suffix(".ended.json").read_text(encoding="utf-8"))
        requests = [Request(**request) for request in ended.pop("requests")]
        return Ended(requests=requests, **ended)

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        proxies = {
            name: NOBODY
            for upper in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
            for name in (upper, upper.lower())
        }
        return {
            **kept,
            **proxies,
            "PATH": path,
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "FOLDLINE_CACHE_DIR": str(self.home / "foldline"),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "DO_NOT_TRACK": "1",
            "CI": "1",
            "NO_COLOR": "1",
            **self.environment,
        }


@cache
def _may_be_alone() -> bool:
    if not (shutil.which("unshare") and shutil.which("ip")):
        return False
    return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0


def _places(folder: Path) -> tuple[Path, Path]:
    """A home, and a copy of the example: agents may write into what they work in."""
    home, workspace = folder / "home", folder / "workspace"
    home.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(EXAMPLE, workspace, ignore=ignored)
    return home, workspace


def opencode(folder: Path) -> Agent:
    """opencode, which speaks chat completions."""
    install(HERE / "opencode")
    home, workspace = _places(folder)
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": "@URL@/v1", "apiKey": "none"},
        "models": {"scripted": model},
    }
    configuration = {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "permission": "allow",
        "provider": {"scripted": provider},
    }
    folder_of_modules = home / ".config/opencode/node_modules"
    folder_of_modules.mkdir(parents=True)
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE", "CLAUDE_CODE")
    return Agent(
        "opencode",
        home,
        workspace,
        [
            str(HERE / "opencode/node_modules/opencode-linux-x64/bin/opencode"),
            *("run", "--print-logs", "--log-level", "WARN", "--title", "scripted"),
        ],
        {
            ".config/opencode/opencode.json": json.dumps(configuration, indent=2),
            # It would install these types from the registry, and wait for them.
            ".config/opencode/package-lock.json": json.dumps(
                {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
            ),
        },
        {f"OPENCODE_DISABLE_{name}": "1" for name in off},
    )


CODEX = """\
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
mcp_optional_startup_grace_ms = 0
model_context_window = 200000

[model_providers.scripted]
name = "Scripted"
base_url = "@URL@/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false
apps = false

[history]
persistence = "none"
"""


def codex(folder: Path) -> Agent:
    """Codex, which speaks Responses, and waits for foldline: by default for one second only."""
    install(HERE / "others")
    home, workspace = _places(folder)
    vendor = HERE / "others/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl"
    return Agent(
        "codex",
        home,
        workspace,
        [str(vendor / "bin/codex"), "exec", "--skip-git-repo-check", "--json"],
        {".codex/config.toml": CODEX},
    )


def gemini(folder: Path) -> Agent:
    """Gemini CLI."""
    install(HERE / "others")
    home, workspace = _places(folder)
    configuration = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    program = HERE / "others/node_modules/@google/gemini-cli/bundle/gemini.js"
    options = ("--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-flash", "-p")
    return Agent(
        "gemini",
        home,
        workspace,
        [find("node"), str(program), *options],
        {".gemini/settings.json": json.dumps(configuration, indent=2)},
        {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": "@URL@",
            "GEMINI_TELEMETRY_ENABLED": "false",
            # Else it leaves out the project's settings.
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
    )
