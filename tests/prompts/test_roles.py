"""Roles of sections, and the messages that a prompt is sent as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    Chapter,
    MarkdownSection,
    Prompt,
    PromptDescriptor,
    PromptTemplate,
    RenderedPrompt,
    Role,
    SectionVisibility,
)
from foldline.prompts.errors import PromptValidationError


def section(key: str, role: Role | str | None = None, **more: object) -> MarkdownSection[None]:
    return MarkdownSection[None](
        title=key.title(),
        key=key,
        template=f"The text of {key}.",
        role=role,
        **more,  # type: ignore[arg-type]  # Arguments of the test.
    )


def messages(rendered: RenderedPrompt[None]) -> list[tuple[str, str]]:
    return [(message.role.value, message.text) for message in rendered.messages]


def test_system_sections_come_first_and_are_a_message_of_their_own() -> None:
    template = PromptTemplate(
        ns="demo", key="p", sections=[section("task")], system=[section("rules"), section("tone")]
    )
    rendered = Prompt(template).render()
    assert messages(rendered) == [
        ("system", "## 1. Rules\n\nThe text of rules.\n\n## 2. Tone\n\nThe text of tone."),
        ("user", "## 3. Task\n\nThe text of task."),
    ]
    assert rendered.text == "\n\n".join(message.text for message in rendered.messages)
    assert [block.role for block in rendered.blocks] == [Role.SYSTEM, Role.SYSTEM, Role.USER]
    assert [message.blocks for message in rendered.messages] == [range(2), range(2, 3)]


def test_roles_are_ordered_system_developer_user_and_as_declared_within() -> None:
    template = PromptTemplate(
        ns="demo",
        key="p",
        sections=[
            section("b"),
            section("c", "developer"),
            section("d", role=Role.SYSTEM),
            section("e", "user"),
            section("f", "system"),
        ],
    )
    rendered = Prompt(template).render()
    assert [block.key for block in rendered.blocks] == ["d", "f", "c", "b", "e"]
    assert [block.number for block in rendered.blocks] == ["1", "2", "3", "4", "5"]
    assert [message.role for message in rendered.messages] == ["system", "developer", "user"]


def test_a_prompt_without_roles_is_one_message_of_the_user() -> None:
    rendered = Prompt(
        PromptTemplate(ns="demo", key="p", sections=[section("a"), section("b")])
    ).render()
    assert messages(rendered) == [("user", rendered.text)]
    assert messages(Prompt(PromptTemplate(ns="demo", key="empty")).render()) == [("user", "")]
    assert messages(RenderedPrompt("As is.\n\n")) == [("user", "As is.\n\n")]


def test_children_have_the_role_of_the_section_above() -> None:
    above = section("above", "system", children=[section("below")])
    rendered = Prompt(PromptTemplate(ns="demo", key="p", sections=[section("u"), above])).render()
    assert [(b.dotted_key, b.role.value) for b in rendered.blocks] == [
        ("above", "system"),
        ("above.below", "system"),
        ("u", "user"),
    ]


def test_disabled_and_empty_roles_send_no_message() -> None:
    template = PromptTemplate(
        ns="demo", key="p", system=[section("s", enabled=lambda: False)], sections=[section("u")]
    )
    assert [message.role for message in Prompt(template).render().messages] == ["user"]


def test_sections_of_an_open_chapter_take_its_role() -> None:
    chapter = Chapter[None](key="ch", title="Ch", role="system", sections=[section("inside")])
    template = PromptTemplate(ns="demo", key="p", sections=[section("u")], chapters=[chapter])
    rendered = template.expand_chapters().render()
    assert [(b.key, b.number, b.role.value) for b in rendered.blocks] == [
        ("inside", "1", "system"),
        ("u", "2", "user"),
    ]
    same = PromptTemplate(
        ns="demo",
        key="p",
        system=[Chapter[None](key="ch", title="Ch", sections=[section("inside")])],
        sections=[section("u")],
    )
    assert same.expand_chapters().render().text == rendered.text
    assert same.descriptor.chapters[0].key == "ch"


def test_the_descriptor_tells_the_role_and_its_hash_changes_with_it() -> None:
    def described(role: str | None) -> PromptDescriptor:
        chapter = Chapter[None](key="c", title="C", role=role, sections=[section("in")])
        return PromptTemplate(
            ns="d", key="p", sections=[section("a", role)], chapters=[chapter]
        ).descriptor

    assert [s.role for s in described("system").sections] == ["system", "system"]
    hashes = {described(role).content_hash for role in (None, "system", "developer")}
    assert len(hashes) == 3


def test_clone_keeps_and_replaces_the_role() -> None:
    rules = section("rules", "system")
    assert rules.clone().role is Role.SYSTEM
    assert rules.clone(role=None).role is None
    assert section("a").clone(role="developer").role is Role.DEVELOPER


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: section("a", "sytem"), "`role` is 'system', 'developer' or 'user', not 'sytem'"),
        (lambda: section("a", "assistant"), "not 'assistant'"),
        (
            lambda: PromptTemplate(
                ns="d", key="p", sections=[section("a", children=[section("b", "system")])]
            ),
            "'a.b' has the role system, but is in one with the role user",
        ),
        (
            lambda: PromptTemplate(ns="d", key="p", system=[section("a", "user")]),
            "'a' has the role user, but is among those with the role system",
        ),
        (
            lambda: PromptTemplate(
                ns="d",
                key="p",
                chapters=[
                    Chapter[None](
                        key="c", title="C", role="system", sections=[section("a", "user")]
                    )
                ],
            ),
            "'a' has the role user, but is in one with the role system",
        ),
    ],
)
def test_roles_that_can_never_work_are_refused(make: object, part: str) -> None:
    with pytest.raises(PromptValidationError) as caught:
        make()  # type: ignore[operator]  # A function of the test.
    assert part in str(caught.value)


ROLES = st.sampled_from([None, "system", "developer", "user"])


@given(st.lists(st.tuples(ROLES, st.integers(0, 2), st.booleans(), st.booleans()), max_size=7))
def test_messages_are_the_text_cut_where_the_role_changes(
    rows: list[tuple[str | None, int, bool, bool]],
) -> None:
    sections = [
        MarkdownSection[None](
            title=f"S{number}",
            key=f"s{number}",
            template="body" if full else "",
            summary="short",
            role=role,
            enabled=(lambda _: False) if gone else None,
            visibility=SectionVisibility.FULL if full else SectionVisibility.SUMMARY,
            children=[section(f"c{child}") for child in range(children)],
        )
        for number, (role, children, gone, full) in enumerate(rows)
    ]
    rendered = Prompt(PromptTemplate(ns="demo", key="p", sections=sections)).render()
    found = rendered.messages
    assert "\n\n".join(message.text for message in found) == rendered.text
    roles = [message.role for message in found]
    assert len(set(roles)) == len(roles)
    for message in found:
        assert rendered.text[message.span.start : message.span.end] == message.text
        assert {rendered.blocks[i].role for i in message.blocks} <= {message.role}
    without = [(r, b, c, d) for r, b, c, d in rows if r in (None, "user")]
    if without == rows:
        assert messages(rendered) == [("user", rendered.text)]
