"""`foldline adopt`: a prompt module from a string, an f-string, a template or chat messages."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.refusals import Refused
from foldline.agent.terminal import complain, json_text, show
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs
    from foldline.ide.adopt.model import AdoptError

DESCRIPTION = """\
Turns a prompt into a prompt module: its headings into sections, its placeholders into a dataclass,
conditions into `enabled`, loops into lists. FILE is a Python module with strings, f-strings,
templates or chat messages, a text, Jinja or `.prompty` file, or YAML, TOML or JSON with prompts as
values; nothing of it is executed. The calls that fill in a text are looked up in the workspace.
With DIR, its prompts are listed. The new module is run and compared with the source for sample
values: the exit status is 1 if the texts differ. What no section can show is kept as a remainder: a
field, with the source in a comment."""
STYLES = ("text", "f-string", "format", "percent", "replace", "template", "jinja", "messages")
_STYLES = {
    "text": "the model is to see it as it is",
    "f-string": "the rest of it is text",
    "format": "`.format(…)` fills it in: {name}, and {{ for a brace",
    "percent": "`%` fills it in",
    "replace": "`.replace(…)` fills it in: {name}, and all other braces are text",
    "template": "`string.Template` fills it in",
    "jinja": "Jinja fills it in",
}
"""What the styles mean, for a text that could have several."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "adopt",
        help="make a prompt module of a string, f-string, Jinja template or messages",
        description=DESCRIPTION,
    )
    parser.add_argument(
        "target",
        metavar="FILE[:NAME]|DIR",
        help="a file, and the variable, function or key in it that has the prompt; or a folder, to "
        "list its prompts",
    )
    parser.add_argument(
        "--output",
        metavar="PATH",
        type=Path,
        help="the module to write (default: NAME_prompt.py beside FILE)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the module, write nothing")
    parser.add_argument(
        "--style", choices=STYLES, help="read a text as this (default: the one it seems to be)"
    )
    parser.add_argument(
        "--trim-blocks", action="store_true", help="of the Jinja environment: no line after a block"
    )
    parser.add_argument(
        "--lstrip-blocks", action="store_true", help="of it: no blanks in front of a block"
    )
    parser.add_argument("--json", action="store_true", help="print the module and the proof")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    import asyncio

    from foldline.agent.scan import root_of
    from foldline.agent.targets import file_and_name, path_from_here, write_new
    from foldline.backends.files.local import LocalFileBackend
    from foldline.ide.adopt.adoption import (
        adopt,
        as_data,
        call_sites,
        compare,
        output_path,
        read,
        report,
    )
    from foldline.ide.adopt.model import AdoptError, JinjaOptions, Style

    jinja = None
    if options.trim_blocks or options.lstrip_blocks:
        jinja = JinjaOptions(options.trim_blocks, options.lstrip_blocks)
    style = None if options.style is None else Style(options.style)
    if Path(options.target).is_dir():
        return _list(Path(options.target).resolve(), options)
    try:
        file, name = file_and_name(options.target)
        files = LocalFileBackend(root_of(file))
        original = read(file, name=name, style=style, options=jinja, files=files)
        adoption = asyncio.run(compare(adopt(original)))
    except AdoptError as error:
        raise _refused(options.target, error) from error
    output = options.output or output_path(file, adoption)
    written = path_from_here(output)
    if not options.dry_run:
        try:
            write_new(output, adoption.text)
        except FileExistsError as error:
            raise Refused(
                f"{visible(written)} exists, and is left alone: choose another name with --output"
            ) from error
        except OSError as error:
            raise Refused(f"{visible(written)}: {error.strerror}") from error
    if options.json:
        show(json_text({"path": written, **as_data(adoption)}))
    elif options.dry_run:
        show(adoption.text, end="")
        complain("\n".join(report(adoption)))
    else:
        plan = adoption.plan
        show(f"wrote {visible(written)}: the prompt `{plan.variable}`")
        for line in report(adoption):
            show(line)
        show(
            f"next\n  foldline preview {visible(written)}\n  foldline check {visible(written)}\n"
            f"  then send `{plan.variable}.render(…).text` in place of `{visible(original.name)}`"
        )
        for use, new in call_sites(adoption):
            where = f"{visible(use.file or path_from_here(file))}:{use.line}"
            show(f"  {where}: {visible(new)}")
    return FOUND if adoption.proof.is_same else NOTHING


def _list(folder: Path, options: Namespace) -> int:
    """Show the prompts of a folder, and why some can't be adopted."""
    from foldline.agent.scan import root_of
    from foldline.agent.targets import path_from_here
    from foldline.backends.files.local import LocalFileBackend
    from foldline.ide.adopt.adoption import count
    from foldline.ide.adopt.listing import prompts_of

    root = root_of(folder)
    found = list(prompts_of(LocalFileBackend(root), folder.relative_to(root).as_posix()))
    shown = [replace(one, target=path_from_here(root / one.target)) for one in found]
    if options.json:
        show(json_text([asdict(one) for one in shown]))
        return FOUND if found else NOTHING
    for one in shown:
        fields = "" if one.fields is None else f", {count(one.fields, 'field')}"
        show(f"{visible(one.target)}  {one.style}, {one.size:,} characters{fields}")
        if one.reason:
            show(f"    {visible(one.reason)}")
    refused = sum(one.fields is None for one in found)
    rest = f", {refused} that can't be adopted as they are" if refused else ""
    show(f"{count(len(found), 'prompt')}{rest}" if found else "no prompts")
    return FOUND if found else NOTHING


def _refused(target: str, error: AdoptError) -> Refused:
    """The error, and below it how to name each prompt that could be meant."""
    file = target.partition(":")[0] if error.candidates else target
    lines = [f"{visible(target)}: {visible(str(error))}"]
    lines += [f"  --style {style:9} {_STYLES[style]}" for style in error.styles]
    lines += [
        f"  foldline adopt {visible(file)}:{visible(candidate.name)}"
        f"  ({candidate.style.label}, line {candidate.line})"
        for candidate in error.candidates
    ]
    data: dict[str, object] = {"near": [one.name for one in error.candidates]}
    if error.styles:
        data["styles"] = list(error.styles)
    return Refused("\n".join(lines), data=data)
