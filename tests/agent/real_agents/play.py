"""Runs one coding agent against a scripted provider, offline, and writes what happened.

    python -m tests.agent.real_agents.play JOB.json

The job names the agent's `command`, its `environment`, in which `URL` stands for the provider's,
the `files` that are written first, likewise, the `folder` and the `steps`; `seconds` bounds it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .provider import ScriptedProvider


def main(path: str) -> None:
    job: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    provider = ScriptedProvider(job["steps"])

    def filled(text: str) -> str:
        return text.replace("@URL@", provider.url)

    for name, text in job["files"].items():
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(filled(text), encoding="utf-8")
    agent = subprocess.Popen(
        job["command"],
        cwd=job["folder"],
        env={name: filled(value) for name, value in job["environment"].items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        stdout, stderr = agent.communicate(timeout=job["seconds"])
    except subprocess.TimeoutExpired:
        os.killpg(agent.pid, 9)
        stdout, stderr = agent.communicate()
    ended = {
        "status": agent.returncode,
        "stdout": stdout,
        "stderr": stderr,
        "requests": [asdict(request) for request in provider.requests],
    }
    Path(path).with_suffix(".ended.json").write_text(json.dumps(ended), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
