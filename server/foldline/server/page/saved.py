"""A preview as one file: the page with everything that it shows, without a server."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from foldline.backends.errors import PathError
from foldline.backends.files.reader import read_text
from foldline.ide.previews.session import Preview
from foldline.ide.prompts.request import View
from foldline.ide.render.diff import Side, compare
from foldline.ide.render.matrix import matrix_of
from foldline.ide.render.render import Render
from foldline.ide.structuring import unstructured
from foldline.server.page.markdown import with_markdown

FILES = Path(__file__).parent / "files"
LARGEST = 1 << 28
"""The most bytes of a page that is replaced."""
# What only this machine has, and what nothing can change any more.
UNSHARED: dict[str, object] = {"location": None, "interpreter": None, "milliseconds": None}
UNSHARED |= {"traceback": "", "editable": False}
# Their names are the author's.
AS_IT_IS = ("value", "schema", "parameters")


def saved_page(renders: Mapping[str, Render | str], shown: str, root: Path) -> str:
    """Return the page of a prompt with each of its sets, `shown` first; a text is why one failed.

    It loads nothing, and a policy of its own keeps it from doing so.
    """
    rendered = {name: render for name, render in renders.items() if isinstance(render, Render)}
    blocks: dict[str, int] = {}
    states = {}
    for name, render in rendered.items():
        preview = Preview("saved", "", render.name, steps=[View(parameter_set=name)])
        preview.show(render, preview.ticket())
        state = _shared(unstructured(preview.state()), root)
        texts = [json.dumps(with_markdown(block)) for block in state["blocks"]]
        # Most are the same in all sets.
        state["blocks"] = [blocks.setdefault(text, len(blocks)) for text in texts]
        states[name] = state
    sides = [Side(name, render) for name, render in rendered.items()]
    data = {
        "shown": shown,
        "states": states,
        "blocks": [json.loads(text) for text in blocks],
        "matrix": _shared(unstructured(matrix_of(renders)), root),
        "differences": {side.label: unstructured(compare(sides[0], side)) for side in sides[1:]},
    }
    script, style = ((FILES / name).read_text("utf-8") for name in ("page.js", "page.css"))
    script = script.replace("</script", "<\\/script")
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'; "
    policy += "require-trusted-types-for 'script'; trusted-types 'none'"
    policy += "; script-src 'sha256-{}'; style-src 'sha256-{}'".format(*hashes)
    # Nothing in the data ends its element, or begins a comment.
    inert = json.dumps(data).replace("<", "\\u003c")
    page, title = (FILES / "saved.html").read_text("utf-8"), escape(rendered[shown].name)
    return page.format(policy=policy, title=title, style=style, data=inert, script=script)


def is_saved_page(file: Path) -> bool:
    """Return True for a file that such a page was written to."""
    with suppress(PathError):
        return " · foldline</title>" in read_text(file, LARGEST)[:4096]
    return False


def _shared(value: Any, root: Path, key: str = "") -> Any:
    """Return JSON without what only this machine has; of files, the names."""
    if key in UNSHARED:
        return UNSHARED[key]
    if key == "file" and isinstance(value, str):
        return Path(value).name
    if key in ("error", "message") and isinstance(value, str):
        return value.replace(f"{root}{os.sep}", "").replace(str(Path.home()), "~")
    if isinstance(value, dict) and key not in AS_IT_IS:
        return {name: _shared(inner, root, name) for name, inner in value.items()}
    return [_shared(one, root) for one in value] if isinstance(value, (list, tuple)) else value
