"""`foldline adopt`: a prompt module from a string, an f-string, a template or chat messages."""

from __future__ import annotations

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
templates or chat messages, or a text or Jinja file; nothing of it is executed. The new module is
run and compared with the source for sample values: the exit status is 1 if the texts differ. What
no section can show is kept as a remainder: a field, with the source in a comment."""
STYLES = ("text", "f-string", "format", "template", "jinja", "messages")


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "adopt",
        help="make a prompt module of a string, f-string, Jinja template or messages",
        description=DESCRIPTION,
    )
    parser.add_argument(
        "target",
        metavar="FILE[:NAME]",
        help="a file, and the variable or function in it that has the prompt",
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

    from foldline.agent.targets import file_and_name, path_from_here, write_new
    from foldline.ide.adopt.adoption import adopt, as_data, compare, output_path, read_file, report
    from foldline.ide.adopt.model import AdoptError, JinjaOptions, Style

    jinja = None
    if options.trim_blocks or options.lstrip_blocks:
        jinja = JinjaOptions(options.trim_blocks, options.lstrip_blocks)
    style = None if options.style is None else Style(options.style)
    try:
        file, name = file_and_name(options.target)
        original = read_file(file, name=name, style=style, options=jinja)
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
    return FOUND if adoption.proof.is_same else NOTHING


def _refused(target: str, error: AdoptError) -> Refused:
    """The error, and below it how to name each prompt that could be meant."""
    file = target.partition(":")[0] if error.candidates else target
    lines = [f"{visible(target)}: {visible(str(error))}"]
    lines += [
        f"  foldline adopt {visible(file)}:{visible(candidate.name)}"
        f"  ({candidate.style.label}, line {candidate.line})"
        for candidate in error.candidates
    ]
    return Refused("\n".join(lines), data={"near": [one.name for one in error.candidates]})
