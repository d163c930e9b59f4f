"""Stored overrides: seeding, applying, staleness, moving, and the files they live in."""

import errno
import json
import os
from dataclasses import field, replace
from pathlib import Path

import pytest

from foldline.prompts import (
    Chapter,
    MarkdownSection,
    OverridesStore,
    PromptOverride,
    PromptTemplate,
    RenderedPrompt,
    Section,
    SectionOverride,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolOverride,
    ToolResult,
    apply_overrides,
    seed_override,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.descriptor import text_hash
from foldline.prompts.errors import PromptValidationError


@FrozenDataclass()
class Params:
    word: str = field(default="w", metadata={"description": "A word."})


def handler(params: Params, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult()


def text(
    key: str,
    body: str,
    *children: Section[object],
    summary: str | None = None,
    accepts: bool = True,
    tool: Tool[object, object] | None = None,
) -> MarkdownSection[Params]:
    return MarkdownSection[Params](
        title=key,
        key=key,
        template=body,
        summary=summary,
        children=children,
        accepts_overrides=accepts,
        tools=[tool] if tool else [],
    )


def make_tool(description: str = "Finds.", *, accepts: bool = True) -> Tool[Params, None]:
    return Tool[Params, None](
        name="find", description=description, handler=handler, accepts_overrides=accepts
    )


def template(*sections: Section[object]) -> PromptTemplate[None]:
    return PromptTemplate(ns="team/demo", key="k", sections=sections)


def override(*sections: SectionOverride, tools: tuple[ToolOverride, ...] = ()) -> PromptOverride:
    return PromptOverride("team/demo", "k", sections=sections, tools=tools)


def change(path: tuple[str, ...], old: str, new: str) -> SectionOverride:
    return SectionOverride(path, new, text_hash(old))


def rendered(made: PromptTemplate[None], given: PromptOverride) -> RenderedPrompt[None]:
    return apply_overrides(made, given).template.render()


def kinds(made: PromptTemplate[None], given: PromptOverride) -> list[tuple[str, str]]:
    return [(issue.kind, issue.what) for issue in apply_overrides(made, given).issues]


def test_an_override_replaces_the_text_and_parameters_go_into_the_new_one() -> None:
    made = template(text("a", "old ${word}", text("b", "old b")))
    given = override(
        change(("a",), "old ${word}", "new ${word}!"), change(("a", "b"), "old b", "new b")
    )
    assert rendered(made, given).text == "## 1. a\n\nnew w!\n\n### 1.1. b\n\nnew b"
    assert apply_overrides(made, given).applied == ("a.b", "a")
    assert made.render().text == "## 1. a\n\nold w\n\n### 1.1. b\n\nold b"


def test_an_override_of_another_prompt_is_refused() -> None:
    with pytest.raises(PromptValidationError, match="not for team/demo/k"):
        apply_overrides(template(), PromptOverride("team/demo", "other"))


def test_summaries_are_replaced_on_their_own() -> None:
    made = template(text("a", "body", summary="short"))
    given = override(SectionOverride(("a",), summary="shorter", summary_hash=text_hash("short")))
    section = apply_overrides(made, given).template.sections[0]
    assert (section.source_text, section.summary_text) == ("body", "shorter")


def test_sections_that_accept_none_are_left_alone_and_reported() -> None:
    made = template(text("a", "old", accepts=False))
    given = override(change(("a",), "old", "new"))
    assert "old" in rendered(made, given).text
    assert kinds(made, given) == [("refused", "a")]


def test_the_descriptor_is_that_of_the_declaration() -> None:
    made = template(text("a", "old", tool=make_tool()))
    result = rendered(made, override(change(("a",), "old", "new")))
    assert result.descriptor == made.descriptor
    (section,) = made.descriptor.sections
    assert section.text_hash == text_hash("old")
    assert [tool.name for tool in made.descriptor.tools] == ["find"]


def test_descriptions_of_tools_and_their_parameters_are_replaced() -> None:
    made = template(text("a", "x", tool=make_tool()))
    (seeded,) = seed_override(made).tools
    given = override(
        tools=(replace(seeded, description="Finds it.", param_descriptions={"word": "One."}),)
    )
    result = rendered(made, given)
    assert [tool.description for tool in result.tools] == ["Finds it."]
    assert result.tool_param_descriptions == {"find": {"word": "One."}}
    assert made.render().tool_param_descriptions == {}
    assert made.sections[0].tools[0].description == "Finds."


def test_tool_overrides_can_be_refused_stale_or_unknown() -> None:
    (seeded,) = seed_override(template(text("a", "x", tool=make_tool()))).tools
    given = override(tools=(replace(seeded, description="New."),))
    assert kinds(template(text("a", "x")), given) == [("unknown", "find")]
    closed = template(text("a", "x", tool=make_tool(accepts=False)))
    assert kinds(closed, given) == [("refused", "find")]
    changed = template(text("a", "x", tool=make_tool("Changed.")))
    assert kinds(changed, given) == [("stale", "find")]
    strange = override(tools=(replace(seeded, param_descriptions={"wrod": "?"}),))
    assert kinds(template(text("a", "x", tool=make_tool())), strange) == [("unknown", "find.wrod")]


def test_sections_in_closed_chapters_show_it_when_they_open() -> None:
    made = template(text("a", "x"), Chapter[None](key="c", title="C", sections=[text("in", "old")]))
    applied = apply_overrides(made, override(change(("in",), "old", "new")))
    assert applied.applied == ("in",)
    assert "new" not in applied.template.render().text
    assert "new" in applied.template.expand_chapters().render().text


def test_an_expanded_template_with_overrides_still_knows_its_closed_chapters() -> None:
    closed = Chapter[Params](
        key="c", title="C", sections=[text("in", "x")], enabled=lambda params: False
    )
    plain = MarkdownSection[None](title="a", key="a", template="old")
    expanded = template(plain, closed).expand_chapters()
    applied = apply_overrides(expanded, override(change(("a",), "old", "new"))).template
    rendered = applied.render(Params(), visibility_overrides={("in",): SectionVisibility.FULL})
    assert rendered.text == "## 1. a\n\nnew"


def test_a_stale_override_is_reported_and_not_applied() -> None:
    made = template(text("a", "changed since"))
    given = override(change(("a",), "old", "new"))
    assert rendered(made, given).text == "## 1. a\n\nchanged since"
    assert kinds(made, given) == [("stale", "a")]


def test_an_override_with_a_bad_placeholder_is_refused_with_the_reason() -> None:
    made = template(text("a", "old"))
    (issue,) = apply_overrides(made, override(change(("a",), "old", "${wrod}"))).issues
    assert issue.kind == "refused"
    assert "`${word}`" in issue.reason


def test_a_renamed_section_keeps_its_override() -> None:
    given = override(change(("a", "old-key"), "same text", "new"))
    made = template(text("a", "x", text("new-key", "same text")))
    applied = apply_overrides(made, given)
    assert "new" in applied.template.render().text
    assert [(i.kind, i.what) for i in applied.issues] == [("moved", "a.old-key")]
    assert "'a.new-key'" in applied.issues[0].reason


def test_a_renamed_section_is_not_guessed_if_two_could_be_meant() -> None:
    given = override(change(("gone",), "same", "new"))
    made = template(text("a", "same"), text("b", "same"))
    assert "new" not in rendered(made, given).text
    assert kinds(made, given) == [("unknown", "gone")]


def test_a_renamed_section_takes_no_override_from_another() -> None:
    given = override(change(("gone",), "same", "lost"), change(("a",), "same", "kept"))
    assert rendered(template(text("a", "same")), given).text == "## 1. a\n\nkept"


def test_a_task_section_can_be_overridden_with_its_computed_blocks() -> None:
    section = TaskSection[Task]()
    made = template(section)
    given = override(change(("task",), section.source_text, "${_expansion_block}Do: ${request}"))
    applied = apply_overrides(made, given).template
    assert applied.render(Task(request="it")).text == "## 1. Task\n\nDo: it"


def test_seeding_changes_nothing_and_leaves_out_what_accepts_none() -> None:
    made = template(text("a", "x", summary="s", tool=make_tool()), text("b", "y", accepts=False))
    seeded = seed_override(made)
    assert [item.path for item in seeded.sections] == [("a",)]
    applied = apply_overrides(made, seeded)
    assert (applied.applied, applied.issues) == ((), ())
    assert applied.template.render().text == made.render().text


# The store


def test_the_store_writes_readable_files_where_they_belong(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path)
    path = store.seed(template(text("a", "wörds")), tag="v1")
    assert path == tmp_path / ".foldline/prompts/overrides/team/demo/k/v1.json"
    assert "wörds" in path.read_text(encoding="utf-8")
    assert [p.name for p in path.parent.iterdir()] == ["v1.json"]
    assert store.tags("team/demo", "k") == ("v1",)


def test_what_is_saved_is_loaded_again(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path)
    made = template(text("a", "x", summary="s", tool=make_tool()))
    seeded = seed_override(made)
    store.save(seeded)
    assert store.load("team/demo", "k") == seeded
    assert store.load("team/demo", "k", "other") is None
    assert store.delete("team/demo", "k")
    assert not store.delete("team/demo", "k")


def test_seeding_never_overwrites(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path)
    store.seed(template(text("a", "x")))
    with pytest.raises(PromptValidationError, match="exists already"):
        store.seed(template(text("a", "x")))


@pytest.mark.parametrize(
    ("ns", "key", "tag"),
    [
        ("..", "k", "t"),
        ("a/../../b", "k", "t"),
        ("/etc", "k", "t"),
        ("a//b", "k", "t"),
        ("a", "../k", "t"),
        ("a", "k", "../../t"),
        ("a", "k", "t."),
        ("a\\b", "k", "t"),
        ("C:", "k", "t"),
        ("a", "k\0", "t"),
    ],
)
def test_names_that_would_leave_the_store_are_refused(
    tmp_path: Path, ns: str, key: str, tag: str
) -> None:
    with pytest.raises(PromptValidationError, match="cannot name a file"):
        OverridesStore(tmp_path).path_for(ns, key, tag)


def test_links_that_lead_out_of_the_store_are_refused(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path / "project")
    outside = tmp_path / "outside"
    outside.mkdir()
    store.directory.mkdir(parents=True)
    (store.directory / "team").symlink_to(outside)
    with pytest.raises(PromptValidationError, match="leads outside"):
        store.save(seed_override(template(text("a", "x"))))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ("[]", "not an overrides file"),
        ('{"format": 9}', "not an overrides file of format 1"),
        ('{"format": 1, "ns": "team/demo", "key": 3}', r"\$\.key: expected a string"),
        ('{"format": 1, "ns": "else", "key": "k"}', "says it is for else/k"),
    ],
)
def test_files_that_are_something_else_are_refused(
    tmp_path: Path, content: str, words: str
) -> None:
    store = OverridesStore(tmp_path)
    path = store.path_for("team/demo", "k")
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PromptValidationError, match=words):
        store.load("team/demo", "k")


def test_a_write_removes_what_killed_writers_have_left(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path)
    override = seed_override(template(text("a", "x")))
    folder = store.save(override).parent
    old, young, other = folder / ".a1b2.tmp", folder / ".c3d4.tmp", folder / "notes.tmp"
    for path in (old, young, other):
        path.write_text("{")
    for path in (old, other):
        os.utime(path, (0, 0))
    assert store.save(override) == folder / "latest.json"
    assert {path.name for path in folder.iterdir()} == {"latest.json", young.name, other.name}


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = OverridesStore(tmp_path)
    path = store.seed(template(text("a", "x")))
    before = path.read_text(encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.save(seed_override(template(text("a", "y"))))
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in path.parent.iterdir()] == ["latest.json"]
    assert json.loads(before)["format"] == 1


def test_a_store_that_knows_the_prompt_refuses_texts_that_it_cannot_show(tmp_path: Path) -> None:
    store, made = OverridesStore(tmp_path), template(text("a", "x"), text("b", "y", summary="z"))
    first, second = seed_override(made).sections
    wrong = PromptOverride(
        "team/demo", "k", sections=(replace(first, text="${wrod}"), replace(second, summary="$"))
    )
    pattern = r"a: .*`\$\{wrod\}`.*Did you mean `\$\{word\}`.*b: .*the `\$` in line 1"
    with pytest.raises(PromptValidationError, match=pattern):
        store.save(wrong, template=made)
    assert store.tags("team/demo", "k") == ()
    stale = replace(wrong, sections=(replace(first, text="new", text_hash="0" * 64),))
    assert store.save(stale, template=made).exists()
    assert store.save(wrong).exists()
