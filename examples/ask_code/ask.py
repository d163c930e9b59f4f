"""Answers a question about the code reviewer's package `auth`, offline, from a transcript.

uv run python examples/ask_code/ask.py
"""

from __future__ import annotations

from pathlib import Path

from foldline.agent import Pipeline, PipelineResult
from foldline.ide import AccessOptions, Workspace
from foldline.prompts.adapters import ProviderAdapter, ScriptedAdapter, Transcript

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent / "code_reviewer" / "auth"
QUESTION = "How are passwords hashed, and who checks them?"


def ask(adapter: ProviderAdapter, question: str = QUESTION) -> PipelineResult:
    """Answer a question with two calls of the adapter's model."""
    workspace = Workspace.at(ROOT, access=AccessOptions(patient=True))
    try:
        return Pipeline(workspace, adapter, budget=12_000).run(question)
    finally:
        workspace.close()


def main() -> None:
    result = ask(ScriptedAdapter(Transcript.load(HERE / "transcript.json")))
    print(result.answer)
    print()
    for step in result.steps:
        print(f"{step.name:9}{step.size:6} bytes")
    for unread in result.unread:
        print(f"unread: {unread.path} {unread.name}: {unread.reason}")


if __name__ == "__main__":
    main()
