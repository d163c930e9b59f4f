"""Writes the tools of the editor's agents from the operations.

    uv run python editors/vscode/make_tools.py

`package.json` describes them to the editor and `src/languageModel/operations.ts` names the server's
command of each. A test fails while either is older than the operations.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.reading import input_schema

if TYPE_CHECKING:
    from foldline.ide.operations.operation import Operation

FOLDER = Path(__file__).parent
MANIFEST = FOLDER / "package.json"
COMMANDS = FOLDER / "src" / "languageModel" / "operations.ts"
HEAD = "// Made by make_tools.py: the server's command of each tool.\n\n"


def manifest() -> str:
    """The manifest with the tools as they are now."""
    data = json.loads(MANIFEST.read_text(encoding="utf-8"))
    data["contributes"]["languageModelTools"] = [_tool(operation) for operation in _offered()]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def commands() -> str:
    """The commands by the tools' names."""
    rows = [f"  {_name(operation)}: '{operation.name}',\n" for operation in _offered()]
    return f"{HEAD}export const OPERATIONS = {{\n{''.join(rows)}}} as const;\n"


def main() -> None:
    MANIFEST.write_text(manifest(), encoding="utf-8")
    COMMANDS.write_text(commands(), encoding="utf-8")


def _offered() -> list[Operation[Any, Any]]:
    return [operation for operation in OPERATIONS if operation.tool]


def _name(operation: Operation[Any, Any]) -> str:
    # All extensions share one room of names.
    return f"foldline_{operation.tool}"


def _tool(operation: Operation[Any, Any]) -> dict[str, object]:
    words = operation.tool.replace("_", " ")
    return {
        "name": _name(operation),
        "displayName": f"foldline: {words}",
        "toolReferenceName": f"foldline{''.join(map(str.title, operation.tool.split('_')))}",
        "canBeReferencedInPrompt": True,
        "icon": "$(fold)",
        "userDescription": f"{operation.summary[0].upper()}{operation.summary[1:]}.",
        "modelDescription": operation.description,
        "tags": ["foldline"],
        "inputSchema": input_schema(operation.arguments),
    }


if __name__ == "__main__":
    main()
