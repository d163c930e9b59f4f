"""What an agent's session costs: whole files, our tools, and our tools with a context policy.

    uv run python -m tests.benchmarks.bench_session [--markdown]

A session of fifteen steps on a real repository is done in three ways. With whole files, the agent
searches as before, and reads each file in pages of 8 KB from its start until it has seen what the
step needs; a page that it has is not read again. With our tools it takes an outline, a symbol,
references, lines. The third way is the same with the tools' own context policy. Each request sends
all earlier results again, as the policy leaves them; the sum over all requests is what counts.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from tests.backends import corpora

from foldline.agent.tools import CONTEXT_POLICY, code_tools
from foldline.backends.formatting.budget import FILE_BUDGET
from foldline.ide.workspace import Workspace
from foldline.prompts.context import ContextPolicy, Message, Priority, Role
from foldline.prompts.tool import ToolContext

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foldline.prompts.tool import ToolResult

VERSIONS = {"Django": corpora.DJANGO, "Celery": "5.5.3", "Scrapy": "2.13.3"}
KEEP_ALL = ContextPolicy(keep_turns=None)
NEVER_ALONE = ("search_for_files", "grep_in_files", "find_references")


@dataclass(frozen=True)
class Step:
    """One call of a tool; `text` is the definition whose source the step needs."""

    tool: str
    arguments: dict[str, Any]


def search(query: str) -> Step:
    return Step("search_for_files", {"query": query})


def outline(path: str) -> Step:
    return Step("get_file_outline", {"path": path})


def symbol(path: str, name: str) -> Step:
    return Step("read_symbol", {"path": path, "name": name})


def references(name: str) -> Step:
    return Step("find_references", {"name": name, "seconds": 0})


def lines(path: str, start: int, end: int) -> Step:
    return Step("read_lines", {"path": path, "start": start, "end": end})


@dataclass(frozen=True)
class Session:
    """A question about a repository, and the steps to its answer."""

    name: str
    question: str
    steps: tuple[Step, ...]


SESSIONS = (
    Session(
        "Django",
        "How does saving a model validate its fields, and where does the insert happen?",
        (
            search("model save insert validate fields"),
            outline("django/db/models/base.py"),
            symbol("django/db/models/base.py", "Model.save"),
            symbol("django/db/models/base.py", "Model.save_base"),
            references("save_base"),
            symbol("django/db/models/base.py", "Model._save_table"),
            outline("django/db/models/query.py"),
            symbol("django/db/models/query.py", "QuerySet._insert"),
            outline("django/db/models/sql/compiler.py"),
            symbol("django/db/models/sql/compiler.py", "SQLInsertCompiler.execute_sql"),
            references("execute_sql"),
            outline("django/db/transaction.py"),
            symbol("django/db/transaction.py", "Atomic.__exit__"),
            lines("django/db/models/base.py", 1250, 1290),
            symbol("django/db/models/base.py", "Model.full_clean"),
        ),
    ),
    Session(
        "Celery",
        "How does a task that is retried reach the broker again?",
        (
            search("task retry apply_async broker publish"),
            outline("celery/app/task.py"),
            symbol("celery/app/task.py", "Task.retry"),
            symbol("celery/app/task.py", "Task.apply_async"),
            references("signature_from_request"),
            outline("celery/app/base.py"),
            symbol("celery/app/base.py", "Celery.send_task"),
            outline("celery/app/amqp.py"),
            symbol("celery/app/amqp.py", "AMQP.as_task_v2"),
            references("send_task_message"),
            outline("celery/app/trace.py"),
            symbol("celery/app/trace.py", "TraceInfo.handle_retry"),
            symbol("celery/app/trace.py", "TraceInfo"),
            lines("celery/app/trace.py", 300, 360),
            outline("celery/worker/request.py"),
        ),
    ),
    Session(
        "Scrapy",
        "How does a response that failed come back into the scheduler?",
        (
            search("retry middleware failed response reschedule request"),
            outline("scrapy/downloadermiddlewares/retry.py"),
            symbol("scrapy/downloadermiddlewares/retry.py", "RetryMiddleware.process_response"),
            symbol("scrapy/downloadermiddlewares/retry.py", "get_retry_request"),
            references("get_retry_request"),
            outline("scrapy/core/engine.py"),
            symbol("scrapy/core/engine.py", "ExecutionEngine._handle_downloader_output"),
            symbol("scrapy/core/engine.py", "ExecutionEngine._schedule_request"),
            outline("scrapy/core/scheduler.py"),
            symbol("scrapy/core/scheduler.py", "Scheduler.enqueue_request"),
            references("enqueue_request"),
            outline("scrapy/core/downloader/__init__.py"),
            symbol("scrapy/core/downloader/__init__.py", "Downloader._download"),
            symbol("scrapy/core/scraper.py", "Scraper.enqueue_scrape"),
            lines("scrapy/core/scraper.py", 182, 224),
        ),
    ),
)


def load(session: Session) -> Path:
    """The repository of a session."""
    return corpora.sdist(session.name, VERSIONS[session.name])


@dataclass
class Conversation:
    """Results that are sent again with each request, and what that comes to."""

    policy: ContextPolicy
    messages: list[Message] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """The bytes of each step's own result."""
    sent: int = 0
    """The bytes of all results in all requests."""

    def add(self, tool: str, text: str, label: str, result: ToolResult[Any] | None = None) -> None:
        """Add a step, and send everything."""
        summary = result.summary if result else None
        priority = (result and result.priority) or Priority.MEDIUM
        self.steps.append(len(text.encode()))
        self.messages += [
            Message(Role.ASSISTANT, ""),
            Message(Role.TOOL, text, tool, label, summary, priority),
        ]
        managed = self.policy.apply(self.messages)
        self.messages = list(managed.messages)
        self.sent += managed.size


class WholeFiles:
    """The pages of files that an agent without our tools has read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[str, int] = {}

    def until(self, path: str, end: int) -> str:
        """The pages up to the byte `end` that weren't read yet."""
        data = (self._root / path).read_bytes()
        start = self._read.get(path, 0)
        wanted = min(-(-max(end, 1) // FILE_BUDGET) * FILE_BUDGET, len(data))
        self._read[path] = max(start, wanted)
        return data[start:wanted].decode("utf-8", "replace")


def run(session: Session, root: Path) -> dict[str, Conversation]:
    """The session in the three ways."""
    workspace = Workspace.at(root)
    tools = {tool.name: tool for tool in code_tools(workspace)}
    whole = WholeFiles(root)
    ways = {
        "whole files": Conversation(KEEP_ALL),
        "tools": Conversation(KEEP_ALL),
        "tools and policy": Conversation(CONTEXT_POLICY),
    }
    try:
        for step in session.steps:
            tool = tools[step.tool]
            result = tool.handler(tool.decode(step.arguments), context=ToolContext())
            assert result.success, (step, result.message)
            text, label = str(result.value), " ".join(map(str, step.arguments.values()))
            ways["tools"].add(step.tool, text, label, result)
            ways["tools and policy"].add(step.tool, text, label, result)
            if step.tool not in NEVER_ALONE:
                text = whole.until(step.arguments["path"], _end(workspace, root, step))
            ways["whole files"].add("read_file", text, label)
    finally:
        workspace.close()
    return ways


def _end(workspace: Workspace, root: Path, step: Step) -> int:
    """The byte of the file at which what a step needs has been seen."""
    path = step.arguments["path"]
    if step.tool == "get_file_outline":
        return 1
    last = step.arguments.get("end")
    if last is None:
        last = workspace.access(root).read_symbol(path, step.arguments["name"]).line_end
    ends = [match.end() for match in re.finditer(rb"\n", (root / path).read_bytes())]
    return ends[min(last, len(ends)) - 1]


def table(results: Sequence[tuple[Session, dict[str, Conversation]]]) -> list[list[str]]:
    """The rows of the report."""
    rows = []
    for session, ways in results:
        base = ways["whole files"].sent
        for way, conversation in ways.items():
            steps = sorted(conversation.steps)
            rows.append(
                [
                    session.name,
                    way,
                    f"{steps[len(steps) // 2]:,}",
                    f"{sum(steps):,}",
                    f"{conversation.sent:,}",
                    f"{conversation.sent / base:.1%}",
                ]
            )
    return rows


HEAD = ("repository", "way", "median step (B)", "read (B)", "sent in all (B)", "of whole files")


def main() -> None:
    """Run all sessions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    rows = table([(session, run(session, load(session))) for session in SESSIONS])
    if options.markdown:
        for row in (HEAD, ["---"] * len(HEAD), *rows):
            print(f"| {' | '.join(row)} |")  # The report.
        return
    shown = Table(*HEAD)
    for row in rows:
        shown.add_row(*row)
    Console().print(shown)


if __name__ == "__main__":
    main()
