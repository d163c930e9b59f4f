"""The template for LSP4IJ, the LSP client of JetBrains IDEs: its files, its command, its traffic.

No JetBrains IDE runs here. What is known of LSP4IJ is from its sources at d21cff92 (0.20.2).
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft7Validator  # type: ignore[import-untyped] # It has no types.

from foldline.ide.config import read_options
from foldline.ide.instructions.files import PATTERNS
from foldline.ide.settings import read_settings
from make_release import ROOT

from .editor_client import EditorClient

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.real

FOLDER = ROOT / "release" / "lsp4ij"
EXAMPLE = ROOT / "examples" / "code_reviewer"
# The files that it reads; it overlooks any other.
READ = {
    *("template.json", "settings.json", "settings.schema.json", "initializationOptions.json"),
    *("clientSettings.json", "README.md"),
}
CAPABILITIES = Path(__file__).with_name("lsp4ij_capabilities.json")
CANCELLED = -32800
TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}


def table(required: tuple[str, ...], **properties: object) -> dict[str, Any]:
    closed = {"type": "object", "additionalProperties": False}
    return {**closed, "properties": properties, "required": list(required)}


TEMPLATE = table(
    # Without a URL it leads to a page of its own repository, which has none for us.
    ("id", "name", "url", "programArgs", "fileTypeMappings"),
    id=TEXT,
    name=TEXT,
    url=TEXT,
    dev={"type": "boolean"},
    programArgs=table(("default",), default=TEXT, windows=TEXT, mac=TEXT, unix=TEXT),
    workingDir=TEXT,
    env=table(
        # Otherwise the server gets no `PATH`.
        ("includeSystemEnvironmentVariables",),
        includeSystemEnvironmentVariables={"const": True},
        variables={"type": "object", "additionalProperties": {"type": "string"}},
    ),
    expandConfiguration={"type": "boolean"},
    disablePromotionFor=TEXTS,
    fileTypeMappings={
        "type": "array",
        "items": table(
            ("fileType", "languageId"),
            fileType={**table((), name=TEXT, patterns=TEXTS), "minProperties": 1},
            languageId={"enum": ["python", "markdown"]},
        ),
    },
)
CLIENT_SETTINGS = table(
    (),
    caseSensitive={"type": "boolean"},
    lineCommentPrefix=TEXT,
    blockCommentPrefix=TEXT,
    blockCommentSuffix=TEXT,
    statementTerminatorCharacters={"type": "string"},
    uriSupport=table((), encoded={"type": "boolean"}),
    breadcrumbs=table((), enabled={"type": "boolean"}),
    references=table((), processExternalReferences={"type": "boolean"}),
    workspaceSymbol=table((), supportsGotoClass={"type": "boolean"}),
    jsonRpc=table((), useIntegerIds={"type": "boolean"}),
)


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def words(command: str) -> list[str]:
    """Split a command as it does: at blanks, unless between quotes; nothing escapes a quote."""
    parts = command.split('"')
    marked = "".join(
        part if number % 2 else part.replace(" ", "\0") for number, part in enumerate(parts)
    )
    return [word for word in marked.split("\0") if word.strip()]


def faults(template: dict[str, Any]) -> list[str]:
    """What makes a template useless or unsafe."""
    found = [error.json_path for error in Draft7Validator(TEMPLATE).iter_errors(template)]
    if found:
        return found
    for system, command in template["programArgs"].items():
        if words(command) != ["foldline", "serve", "--stdio"]:
            found.append(f"$.programArgs.{system}")
    # A `PATH` that leads to where it starts must not lead into the project.
    if template.get("workingDir") != "$USER_HOME$":
        found.append("$.workingDir")
    mapped = {
        (pattern, mapping["languageId"])
        for mapping in template["fileTypeMappings"]
        for pattern in mapping["fileType"].get("patterns", ())
    }
    endings = {f"*.{name.rpartition('.')[2]}" for name in PATTERNS}
    wanted = {("*.py", "python"), *((ending, "markdown") for ending in endings)}
    return [*found, *sorted(f"{pattern}: {language}" for pattern, language in wanted - mapped)]


def change(*keys: str | int, to: object = None) -> Callable[[dict[str, Any]], None]:
    def plant(template: Any) -> None:
        *way, last = keys
        for key in way:
            template = template[key]
        if to is None:
            del template[last]
        else:
            template[last] = to

    return plant


def test_the_template_has_no_fault() -> None:
    assert {path.name for path in FOLDER.iterdir()} == READ
    assert faults(read("template.json")) == []
    assert not list(Draft7Validator(CLIENT_SETTINGS).iter_errors(read("clientSettings.json")))
    settings, problems = read_settings(read("initializationOptions.json"))
    assert (settings.trusted, problems) == (False, ())


@pytest.mark.parametrize(
    ("plant", "fault"),
    [
        (change("programArgs"), "$"),
        (change("programArgs", "default"), "$.programArgs"),
        (change("programArgs", to="foldline serve --stdio"), "$.programArgs"),
        (change("programArgs", "default", to="foldline serve"), "$.programArgs.default"),
        (change("programArgs", "mac", to="'foldline' serve --stdio"), "$.programArgs.mac"),
        (change("programArgs", "unix", to="sh -c foldline serve --stdio"), "$.programArgs.unix"),
        (change("programArgs", "windows", to='"foldline serve" --stdio'), "$.programArgs.windows"),
        (change("programArgs", "linux", to="foldline serve --stdio"), "$.programArgs"),
        (change("workingDir"), "$.workingDir"),
        (change("workingDir", to="$PROJECT_DIR$"), "$.workingDir"),
        (change("env", to={"variables": {"A": "b"}}), "$.env"),
        (change("url"), "$"),
        (change("fileTypeMappings"), "$"),
        (change("fileTypeMappings", 0, "fileType", to={}), "$.fileTypeMappings[0].fileType"),
        (change("fileTypeMappings", 0, "languageId", to="py"), "$.fileTypeMappings[0].languageId"),
        (change("fileTypeMappings", 0, "fileType", "patterns"), "*.py: python"),
        (change("fileTypeMappings", 1), "*.md: markdown"),
        (change("fileTypeMappings", 1, "fileType", "patterns", 1), "*.mdc: markdown"),
    ],
)
def test_a_planted_fault_is_found(plant: Callable[[dict[str, Any]], None], fault: str) -> None:
    template = read("template.json")
    plant(template)
    assert fault in faults(template)


OPTIONS = Draft7Validator(read("settings.schema.json"))
NAMES = tuple(read("settings.schema.json")["properties"]["foldline"]["properties"])
VALUES = st.one_of(
    *(st.none(), st.booleans(), st.integers(-1, 9000), st.sampled_from(("o200k", "cl100k", "x"))),
    st.lists(st.sampled_from(("claude-code", "codex")), max_size=2),
    st.dictionaries(st.just("long-summary"), st.sampled_from(("hint", "off", "x")), max_size=1),
)


@example({"tokenBudget": -1})
@given(st.dictionaries(st.sampled_from((*NAMES, "token")), VALUES, max_size=4))
def test_the_dialog_refuses_what_the_server_reports(section: dict[str, Any]) -> None:
    # To the server, null is no value; the dialog refuses it where it means nothing.
    section = {name: value for name, value in section.items() if value is not None}
    refused = list(OPTIONS.iter_errors({"foldline": section}))
    assert bool(refused) == bool(read_options(section)[1])


KEYS = " and ${unknown} with ${severl}"
QUESTIONS = {
    "codeActionProvider": "codeAction",
    "documentLinkProvider": "documentLink",
    "documentHighlightProvider": "documentHighlight",
    "completionProvider": "completion",
    "documentSymbolProvider": "documentSymbol",
    "codeLensProvider": "codeLens",
    "inlayHintProvider": "inlayHint",
    "foldingRangeProvider": "foldingRange",
    "semanticTokensProvider": "semanticTokens/full",
    "hoverProvider": "hover",
    "diagnosticProvider": "diagnostic",
}


class LSP4IJ(EditorClient):
    """LSP4IJ with a project, which has one document of Python open."""

    def __init__(self, project: Path, programs: Path, settings: dict[str, Any]) -> None:
        command = words(read("template.json")["programArgs"]["default"])
        home = project.parent
        environment = {"HOME": str(home), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        super().__init__(command, settings, home, environment, text_ids=True)
        folder = {"uri": project.as_uri(), "name": project.name}
        started = self.result(
            "initialize",
            {
                "processId": os.getpid(),
                "rootPath": str(project),
                "rootUri": project.as_uri(),
                "initializationOptions": read("initializationOptions.json"),
                "capabilities": json.loads(CAPABILITIES.read_text(encoding="utf-8")),
                "clientInfo": {"name": "PyCharm 2026.1", "version": "PyCharm (build PY-261.1)"},
                "trace": "off",
                "workspaceFolders": [folder],
            },
        )
        self.notify("initialized", {})
        self.notify("workspace/didChangeConfiguration", {"settings": settings})
        offered = started["capabilities"]
        self.methods = [method for provider, method in QUESTIONS.items() if offered.get(provider)]
        file = project / "reviewer_prompt.py"
        self.lines = file.read_text(encoding="utf-8").splitlines()
        self.row = next(number for number, row in enumerate(self.lines) if "${" in row)
        self.document = {"uri": file.as_uri()}
        self.version = 0

    def open(self) -> None:
        self.version = 0
        opened = {"languageId": "python", "version": 0, "text": "\n".join([*self.lines, ""])}
        self.notify("textDocument/didOpen", {"textDocument": {**self.document, **opened}})

    def type(self, letter: str) -> None:
        self.version += 1
        end = {"line": self.row, "character": len(self.lines[self.row])}
        typed = {"range": {"start": end, "end": end}, "rangeLength": 0, "text": letter}
        self.lines[self.row] += letter
        document = {**self.document, "version": self.version}
        changed = {"textDocument": document, "contentChanges": [typed]}
        self.notify("textDocument/didChange", changed)

    def questions(self) -> list[str | int]:
        row = self.lines[self.row]
        at = {"line": self.row, "character": row.index("${") + 3}
        part = {"start": {"line": self.row, "character": 0}, "end": at}
        context = {"diagnostics": [], "triggerKind": 1}
        params = {"textDocument": self.document, "position": at, "range": part, "context": context}
        return [self.ask(f"textDocument/{method}", params) for method in self.methods]


def test_the_server_answers_what_its_client_sends(installed: Path, tmp_path: Path) -> None:
    """Started as written, with text ids; each key is followed by all questions at once.

    Those of the key before are cancelled, and what is answered at last is what a document that was
    opened as it is then gets.
    """
    project = tmp_path / "project"
    shutil.copytree(EXAMPLE, project)
    with LSP4IJ(project, installed, {"foldline": {"codeLens": False}}) as client:
        client.open()
        pending = client.questions()
        asked = set(pending)
        for number, key in enumerate(KEYS):
            if number % 5 == 0:
                client.wait(pending)
            client.type(key)
            for request in pending:
                client.notify("$/cancelRequest", {"id": request})
            pending = client.questions()
            asked |= set(pending)
        client.wait(asked)
        errors = [answer["error"] for answer in client.answers.values() if "error" in answer]
        assert {error["code"] for error in errors} <= {CANCELLED}, errors
        last = [client.answers[number]["result"] for number in pending]

        client.notify("textDocument/didClose", {"textDocument": client.document})
        client.open()
        pending = client.questions()
        client.wait(pending)
        assert last == [client.answers[number]["result"] for number in pending]
        answers = dict(zip(client.methods, last, strict=True))
        assert "unknown" in json.dumps(answers["diagnostic"])
        assert answers["hover"]
        assert answers["documentSymbol"]

        # The configuration was asked for, and counts.
        assert {"workspace/configuration", "client/registerCapability"} <= {
            message["method"] for message in client.asked
        }
        assert answers["codeLens"] == []
        # Of Markdown, what instructs nobody is left alone.
        notes = {"uri": (project / "README.md").as_uri()}
        opened = {"languageId": "markdown", "version": 0, "text": "[There](missing.md)\n"}
        client.notify("textDocument/didOpen", {"textDocument": {**notes, **opened}})
        assert not client.result("textDocument/documentSymbol", {"textDocument": notes})
        assert "Traceback" not in client.leave()
        published = [
            one["params"]["diagnostics"]
            for one in client.told
            if one.get("params", {}).get("uri") == notes["uri"]
        ]
        assert not any(published)


def test_a_command_is_split_as_its_own_tests_split_it() -> None:
    assert words('a  "b c" d"e f"g ""') == ["a", "b c", "de fg"]
    # Of `sh -c` only one word is the command; its own templates lose their arguments so.
    assert words("sh -c foldline serve")[2:] == ["foldline", "serve"]
