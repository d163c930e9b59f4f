"""Carries out `foldline adopt`: lists, reads, compares and writes, and says what became of it."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.install import files as edited
from foldline.agent.refusals import Refused
from foldline.agent.scan import root_of
from foldline.agent.targets import file_and_name, path_from_here, write_new
from foldline.agent.terminal import complain, json_text, show
from foldline.backends.base.near_names import free_name
from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.backends.files.local import LocalFileBackend
from foldline.backends.formatting.parts import counted
from foldline.backends.formatting.visible import visible
from foldline.plugins.adopt.adoption import (
    Adoption,
    adopt,
    as_data,
    compare,
    output_path,
    read,
    report,
    verdict,
)
from foldline.plugins.adopt.listing import Listed, prompts_of
from foldline.plugins.adopt.model import AdoptError, JinjaOptions, Style
from foldline.plugins.adopt.rewrite import Rewritten, call_sites, rewrite
from foldline.plugins.adopt.verb import STYLES
from foldline.plugins.adopt.write import alone, module_text, share


def run(options: Namespace) -> int:
    targets: list[str] = options.targets
    folder = Path(targets[0])
    if not folder.is_dir():
        if options.all:
            raise Refused("--all is for the prompts of a folder: name a folder")
        if not targets[1:]:
            return _one(_compared(_read(targets[0], options)), options)
    elif targets[1:]:
        targets = targets[1:]
    else:
        files, listed = _prompts(folder.resolve())
        if not options.all:
            return _list(files, listed, options)
        listed = [one for one in listed if not one.more]
        if not (options.style or options.trim_blocks or options.lstrip_blocks):
            return _several([partial(_of_list, files, one) for one in listed], options)
        targets = [str(files.root / one.target) for one in listed]
    return _several([partial(_read, target, options) for target in targets], options)


@dataclass(slots=True)
class _New:
    """A prompt that is adopted, where it is from, and the module to write."""

    file: Path
    files: FileBackend
    adoption: Adoption
    output: Path

    @property
    def shown(self) -> str:
        return path_from_here(self.output)


def _one(new: _New, options: Namespace) -> int:
    rewritten = _rewritten(new, options)
    if not options.dry_run:
        _write(new.output, new.adoption.text)
        if options.rewrite_call and rewritten is not None:
            _replace(new, rewritten)
    change = "" if rewritten is None else _change(new.files.root, rewritten)
    if options.json:
        call = None if rewritten is None else {"path": rewritten.path, "diff": change}
        show(json_text({"path": new.shown, **as_data(new.adoption), "rewrite": call}))
    elif options.dry_run:
        show(new.adoption.text, end="")
        complain("\n".join([*report(new.adoption), *([change] if options.rewrite_call else [])]))
    else:
        show("\n".join(_told(new, change, is_rewritten=options.rewrite_call)))
    return FOUND if new.adoption.is_same else NOTHING


def _read(target: str, options: Namespace) -> _New:
    jinja = None
    if options.trim_blocks or options.lstrip_blocks:
        jinja = JinjaOptions(options.trim_blocks, options.lstrip_blocks)
    style = None if options.style is None else Style(options.style)
    try:
        file, name = file_and_name(target)
        files = LocalFileBackend(root_of(file))
        adoption = adopt(read(file, name=name, style=style, options=jinja, files=files))
    except AdoptError as error:
        raise _refused(target, error) from error
    return _New(file, files, adoption, options.output or output_path(file, adoption))


def _of_list(files: FileBackend, listed: Listed) -> _New:
    if listed.adoption is None:
        shown = visible(path_from_here(files.root / listed.target))
        raise Refused(f"{shown}: {visible(listed.reason)}")
    file = files.root / listed.path
    return _New(file, files, listed.adoption, output_path(file, listed.adoption))


def _compared(new: _New, shared: str = "") -> _New:
    plan = new.adoption.plan
    proof = asyncio.run(compare(replace(new.adoption, text=alone(plan, shared)))).proof
    new.adoption = replace(new.adoption, proof=proof)
    return new


def _write(output: Path, text: str) -> None:
    written = visible(path_from_here(output))
    try:
        write_new(output, text)
    except FileExistsError as error:
        raise Refused(
            f"{written} exists, and is left alone: choose another name with --output"
        ) from error
    except OSError as error:
        raise Refused(f"{written}: {error.strerror}") from error


def _told(new: _New, change: str, *, is_rewritten: bool) -> Iterator[str]:
    """Yield what was written, how it compares, and what comes next."""
    plan, written = new.adoption.plan, visible(new.shown)
    yield f"wrote {written}: the prompt `{plan.variable}`"
    yield from report(new.adoption)
    if is_rewritten:
        yield change
    yield f"next\n  foldline preview {written}\n  foldline check {written}"
    if is_rewritten:
        return
    name = visible(plan.original.name)
    yield f"  then send `{plan.variable}.render(…).text` in place of `{name}`"
    for use, call in call_sites(plan):
        # A line break of the code isn't the `\\n` of a string.
        doubt = f"  ({use.doubt})" if use.doubt else ""
        shown = visible(call.replace("\n", "⏎") + doubt)
        yield f"  {visible(use.file or path_from_here(new.file))}:{use.line}: {shown}"
    if change:
        yield "  which --rewrite-call does"


def _rewritten(new: _New, options: Namespace) -> Rewritten | None:
    """Return the file that makes the text, rewritten; without, None, or `Refused` if asked for."""
    try:
        if not new.adoption.is_same:
            raise AdoptError("the new prompt isn't proved to show the same text")
        paths = [new.files.resolve_unsaved(str(path.resolve())) for path in (new.file, new.output)]
        return rewrite(new.adoption.plan, new.files, *paths)
    except (AdoptError, PathError) as error:
        if not options.rewrite_call:
            return None
        why = visible(str(error))
        raise Refused(f"nothing is written, as no call can be rewritten: {why}") from error


def _replace(new: _New, rewritten: Rewritten) -> None:
    root = new.files.root
    try:
        before = edited.read(root / rewritten.path, root) or ""
        mark = "\ufeff" if before.startswith("\ufeff") else ""
        edited.replace(root / rewritten.path, mark + rewritten.before, mark + rewritten.after, root)
    except Refused:
        new.output.unlink()
        raise


def _change(root: Path, rewritten: Rewritten) -> str:
    shown = path_from_here(root / rewritten.path)
    lines = edited.diff(shown, rewritten.before, rewritten.after).splitlines()
    return "\n".join(map(visible, lines))


def _several(readers: Sequence[Callable[[], _New]], options: Namespace) -> int:
    """Adopt several prompts; the sections that those of one folder share become a module."""
    if options.output or options.rewrite_call:
        raise Refused("--output and --rewrite-call are for one prompt")
    folders: dict[Path, list[_New]] = {}
    failed: list[str] = []
    for reader in readers:
        try:
            new = reader()
            group = folders.setdefault(new.output.parent, [])
            new.output = output_path(new.file, new.adoption, {other.output for other in group})
            if new.output.exists() or any(new.output == other.output for other in group):
                raise Refused(f"{visible(new.shown)} exists, and is left alone")
            group.append(new)
        except Refused as error:
            failed.append(str(error))
    told: list[dict[str, object]] = []
    is_same = not failed
    for folder, group in folders.items():
        stems = {path.stem for path in folder.glob("*.py")}
        stem = free_name("shared_sections", stems, "_")
        plans = [new.adoption.plan for new in group]
        text = share(plans, f".{stem}" if "__init__" in stems else stem)
        if text and not options.dry_run:
            _write(folder / f"{stem}.py", text)
        for new in group:
            _compared(new, text)
            new.adoption = replace(new.adoption, text=module_text(new.adoption.plan))
            if not options.dry_run:
                _write(new.output, new.adoption.text)
            is_same = is_same and new.adoption.is_same
            shared = {"path": f"{stem}.py", "text": text} if new.adoption.plan.shared else None
            told.append({"path": new.shown, **as_data(new.adoption), "shared": shared})
            if not options.json:
                verb = "would write" if options.dry_run else "wrote"
                more = f", with sections of {stem}.py" if shared else ""
                name = new.adoption.plan.variable
                show(f"{verb} {visible(new.shown)}: the prompt `{name}`{more}")
                show("\n".join(f"  {line}" for line in verdict(new.adoption)))
    if options.json:
        show(json_text({"adopted": told, "failed": failed}))
    elif failed or not told:
        complain("\n".join(failed) or "no prompts")
    return FOUND if told and is_same else NOTHING


def _prompts(folder: Path) -> tuple[FileBackend, list[Listed]]:
    """Return the workspace of a folder, and the prompts below it."""
    files = LocalFileBackend(root_of(folder))
    try:
        return files, list(prompts_of(files, folder.relative_to(files.root).as_posix()))
    except PathError as error:
        raise Refused(f"{visible(error.path)} {error.problem}; name a file in it") from error


def _list(files: FileBackend, listed: Sequence[Listed], options: Namespace) -> int:
    """Show the prompts of a folder, and why some can't be adopted."""
    shown = [replace(one, target=path_from_here(files.root / one.target)) for one in listed]
    prompts = [one for one in shown if not one.more]
    status = FOUND if prompts else NOTHING
    if options.json:
        show(json_text([one.as_data() for one in shown]))
        return status
    for one in prompts:
        fields = "" if one.fields is None else f", {counted(one.fields, 'field')}"
        size = f"{'≥' if one.is_longer else ''}{one.size:,} characters"
        show(f"{visible(one.target)}  {one.style}, {size}{fields}")
        if one.reason:
            show(f"    {visible(one.reason)}")
    more = [one for one in shown if one.more]
    for kind in dict.fromkeys(one.style for one in more):
        rows = [one for one in more if one.style == kind]
        texts = f"{counted(sum(one.more for one in rows), 'more text')} {kind}"
        named = f"name one, as in `foldline adopt {visible(rows[0].target)}`"
        show(f"{texts}, in {counted(len(rows), 'file')}: {named}")
    refused = sum(one.fields is None for one in prompts)
    rest = f", {refused} that can't be adopted as they are" if refused else ""
    show(f"{counted(len(prompts), 'prompt')}{rest}" if prompts else "no prompts")
    return status


def _refused(target: str, error: AdoptError) -> Refused:
    """The error, and below it how to name each prompt that could be meant."""
    file = target.partition(":")[0] if error.candidates else target
    lines = [f"{visible(target)}: {visible(str(error))}"]
    lines += [f"  --style {style:9} {STYLES[style]}" for style in error.styles]
    lines += [
        f"  foldline adopt {visible(file)}:{visible(candidate.name)}"
        f"  ({candidate.style.label}, line {candidate.line})"
        for candidate in error.candidates
    ]
    data: dict[str, object] = {"near": [one.name for one in error.candidates]}
    if error.styles:
        data["styles"] = list(error.styles)
    return Refused("\n".join(lines), data=data)
