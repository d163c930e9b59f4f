"""The image of docs/deploy/Containerfile, made and asked by the commands of docs/09-team.md.

    uv run pytest -n 0 tests/plugins/remote/in_a_container.py

It needs podman and a registry, so that CI alone runs it: test_deploying.py runs the same steps
without an engine.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import time
from pathlib import Path

import httpx2

from .balanced import IDENTITY, NAME, free_port
from .page_commands import page_commands
from .replicas import call, result

ROOT = Path(__file__).parents[3]
SECONDS = 60


def run(command: list[str], folder: Path) -> str:
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


async def test_the_commands_of_the_page_make_a_replica_that_answers(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "code_reviewer", tmp_path / "shop")
    run(["foldline", "index", "export", str(tmp_path / "shop.flindex")], tmp_path / "shop")
    for command in (*page_commands("uv"), *page_commands("podman")[:1]):
        run(command, ROOT)
    serve, load = page_commands("podman")[1:]
    assert "contents are new" in run(load, tmp_path)
    port = free_port()
    container = run(
        [
            *("podman", "run", "--detach"),
            *(
                word.replace("10.0.0.11:8000", f"127.0.0.1:{port}").replace(
                    "10.0.0.2/32", "0.0.0.0/0"
                )
                for word in serve[2:]
            ),
        ],
        tmp_path,
    ).strip()
    try:
        url = f"http://127.0.0.1:{port}/mcp"
        headers = {"Host": NAME, IDENTITY[1]: "somebody"}
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            until = time.monotonic() + SECONDS
            while True:
                try:
                    assert (await client.get(url.replace("/mcp", "/readyz"))).text == "ready -\n"
                    break
                except httpx2.TransportError:
                    assert time.monotonic() < until
                    await asyncio.sleep(0.2)
            outline = await call(client, url, "get_file_outline", headers, path="review.py")
            assert "review.py" in json.dumps(result(outline))
            found = await call(client, url, "search_for_files", headers, query="review")
            assert "review.py" in json.dumps(result(found))
        run(["podman", "healthcheck", "run", container], tmp_path)
        assert run(["podman", "exec", container, "id", "-u"], tmp_path) == "10001\n"
        index = run(["podman", "exec", container, "foldline", "index", "--root", "/work"], tmp_path)
        assert "shop.flindex" in index
        run(["podman", "stop", container], tmp_path)
        status = run(["podman", "inspect", "--format", "{{.State.ExitCode}}", container], tmp_path)
        assert status == "0\n"
    finally:
        subprocess.run(["podman", "rm", "--force", container], check=False)
