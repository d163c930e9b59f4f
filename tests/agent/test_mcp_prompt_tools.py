"""A prompt's sections and tools over MCP: opened, read and called by tools that keep no state."""

import asyncio
import json
import re
import socket
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import FileUrl

from foldline.agent.mcp import roots, server
from foldline.agent.mcp.calls import META_PRIORITY, META_SUMMARY
from foldline.agent.mcp.stdio import Options

from .mcp_process import EXAMPLE, SECONDS, call, connect, connect_here
from .test_mcp_prompts import REVIEW, text_of

pytestmark = pytest.mark.real

MANUAL = """
import asyncio, pathlib, socket, time
from dataclasses import dataclass, field
from foldline.prompts import (
    Chapter, MarkdownSection, Priority, PromptTemplate, SectionVisibility, Tool, ToolResult,
)
from foldline.prompts.errors import VisibilityExpansionRequired

pathlib.Path(__file__).with_name("executed").touch()
SUMMARY = SectionVisibility.SUMMARY

@dataclass(frozen=True)
class Who:
    name: str
    loud: bool = False

@dataclass(frozen=True)
class Look:
    word: str = field(metadata={"description": "The word."})
    times: int = 1

def look(params, *, context):
    if params.word == "fail":
        raise LookupError("no such word: fail")
    if params.word == "fold":
        return ToolResult("Refused.", None, success=False)
    if params.word == "long":
        return ToolResult("Long.", success=True, summary="Short.", priority=Priority.LOW)
    if params.word == "hang":
        while True:
            time.sleep(0.1)
    if params.word == "exit":
        raise SystemExit(3)
    if params.word == "connect":
        socket.create_connection(("127.0.0.1", PORT))
    if params.word == "more":
        raise VisibilityExpansionRequired(
            requested_overrides={("rules",): SectionVisibility.FULL,
                                 ("rules", "tools"): SectionVisibility.FULL},
            reason="More is there", section_keys=("rules.tools",))
    return ToolResult("Found.", {"word": params.word * params.times})

async def wait(params, *, context):
    await asyncio.sleep(0)
    (who,) = context.prompt.params
    return ToolResult(f"Waited for {who.name}.")

template = PromptTemplate(ns="demo", key="manual", sections=[
    MarkdownSection[Who](title="Greeting", key="greeting", template="Hello ${name}.", tools=[
        Tool[Look, object](name="look", description="Looks up.", handler=look)]),
    MarkdownSection[None](title="Rules", key="rules", template="Be kind.", summary="Some rules.",
        visibility=SUMMARY, children=[
        MarkdownSection[Who](title="Tools", key="tools", template="${name} may wait.",
            summary="A tool.", visibility=SUMMARY,
            tools=[Tool[None, None](name="wait", description="Waits.", handler=wait)]),
        MarkdownSection[None](title="Plain", key="plain", template="Be brief.")]),
    MarkdownSection[None](title="Deep", key="deep", template="1.", summary="One.",
        visibility=SUMMARY, children=[
        MarkdownSection[None](title="Deeper", key="deeper", template="2.", summary="Two.",
            visibility=SUMMARY, children=[
            MarkdownSection[None](title="Deepest", key="deepest", template="3.")])]),
    MarkdownSection[Who](title="Loud", key="loud", template="LOUD", summary="Loud.",
        visibility=SUMMARY, enabled=lambda who: who.loud),
], chapters=[
    Chapter[None](title="Secret", key="secret", sections=[
        MarkdownSection[None](title="Inside", key="inside", template="SECRET", summary="A secret.",
            visibility=SUMMARY)]),
])
"""
NAME = "demo/manual"
ADA = {"name": "Ada"}
WHY = "Need the rules"
ALL = ["open_sections", "read_section", "call_prompt_tool"]
LISTED_BYTES = 1_600


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "manual.py").write_text(MANUAL)
    return tmp_path


async def do(client: Client, tool: str, /, **arguments: object) -> str:
    """The text of a tool for the prompt's sections, which must succeed."""
    text, is_error = await call(client, tool, prompt=NAME, arguments=ADA, **arguments)
    assert not is_error, text
    return text


async def refused(client: Client, tool: str, /, **arguments: object) -> str:
    """The text of a call that must fail."""
    text, is_error = await call(client, tool, **{"prompt": NAME, "arguments": ADA, **arguments})
    assert is_error, text
    return text


async def names(client: Client) -> list[str]:
    """The names of the listed tools for prompts."""
    return [tool.name for tool in (await client.list_tools()).tools][9:]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_every_tool_that_a_prompt_names_is_listed_and_works(
    workspace: Path, mode: str
) -> None:
    async with connect("--root", str(workspace), "--trust", mode=mode) as client:
        assert await names(client) == ALL
        text = await text_of(client, NAME, **ADA)
        assert 'Call `open_sections` with key "rules"' in text
        assert 'call `read_section` with key "loud"' not in text
        given = json.dumps({"prompt": NAME, "arguments": ADA})
        said = "To call its `open_sections`, `read_section` and `call_prompt_tool`, pass "
        assert f"{said}{given} together with the tool's own arguments.]" in text
        assert "`open_sections`, `read_section` and `call_prompt_tool`" in text
        assert "- look: Looks up. Input: {" in text
        assert "wait" not in text
        opened = await do(client, "open_sections", section_keys=["rules"], reason=WHY)
        assert "Be kind." in opened
        read = await do(client, "read_section", section_key="deep")
        assert read.startswith("## 3. Deep\n\n1.")
        found = await do(client, "call_prompt_tool", tool="look", input={"word": "a", "times": 3})
        assert found == 'Found.\n\n{"word": "aaa"}'


async def test_opening_gives_the_opened_sections_and_their_tools_alone(
    workspace: Path,
) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        text = await do(client, "open_sections", section_keys=["rules.tools"], reason=WHY)
        assert text == (
            "Sections expanded: `rules.tools`. Reason: Need the rules. Continue with your task "
            "using the newly visible content.\n\n"
            "## 2. Rules\n\nBe kind.\n\n"
            "### 2.1. Tools\n\nAda may wait.\n\n"
            "### 2.2. Plain\n\nBe brief.\n\n"
            '---\n[Add "open": ["rules.tools"] to later calls for this prompt.]\n\n'
            "Tools of this prompt, for `call_prompt_tool`:\n"
            '- wait: Waits. Input: {"type":"object","properties":{},"required":[],'
            '"additionalProperties":false}'
        )
        text = await do(
            client, "open_sections", section_keys=["deep"], reason=WHY, open=["rules.tools"]
        )
        assert "Be kind." not in text
        assert "[This section is summarized." in text
        assert '"open": ["rules.tools", "deep"]' in text
        assert "Tools of this prompt" not in text
        waited = await do(client, "call_prompt_tool", tool="wait", open=["rules.tools", "deep"])
        assert waited == "Waited for Ada."
        assert "There is no tool 'wait'" in await refused(client, "call_prompt_tool", tool="wait")


async def test_reading_leaves_sections_below_as_they_are(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        text = await do(client, "read_section", section_key="rules")
        assert "Be kind." in text
        assert "A tool." in text
        assert "may wait" not in text
        opened = await do(client, "read_section", section_key="rules.tools", open=["rules"])
        assert opened == "### 2.1. Tools\n\nAda may wait."
        hidden = await do(client, "read_section", section_key="deep.deeper")
        assert hidden == "### 3.1. Deeper\n\n2.\n\n#### 3.1.1. Deepest\n\n3."


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_section_with_values_of_its_own_is_read_with_them(
    workspace: Path, trusted: bool
) -> None:
    keyed = """
def who(key):
    return MarkdownSection[Who](
        title=key, key=key, template="Of ${name}.", summary="s", visibility=SUMMARY
    )

two = PromptTemplate(ns="demo", key="two", sections=[who("a"), who("b")]).bind(
    Who("all"), section_params={"b": Who("B alone")}
)
"""
    (workspace / "manual.py").write_text(MANUAL + keyed)
    async with connect_here(Options(roots=(workspace,), trusted=trusted)) as client:
        for key, text in (("a", "Of Ada."), ("b", "Of B alone.")):
            found, is_error = await call(
                client, "read_section", prompt="demo/two", arguments=ADA, section_key=key
            )
            assert not is_error
            assert text in found


async def test_what_the_prompts_argument_opened_is_open_for_the_tools(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        opened = {**ADA, "open_sections": "rules.tools"}
        text = await text_of(client, NAME, **opened)
        assert json.dumps(opened) in text
        assert "- wait: Waits." in text
        waited = await do(client, "call_prompt_tool", tool="wait", open=["rules.tools"])
        text, _ = await call(client, "call_prompt_tool", prompt=NAME, arguments=opened, tool="wait")
        assert text == waited == "Waited for Ada."


@pytest.mark.parametrize("trusted", [True, False])
async def test_what_cannot_be_opened_is_refused_with_near_names(
    workspace: Path, trusted: bool
) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=trusted)) as client:
        opening = {"section_keys": ["rules"], "reason": WHY}
        for changes, said in (
            ({"section_keys": ["rule"]}, "no section 'rule' (did you mean 'rules'?)"),
            ({"section_keys": ["rule"]}, "Summarized sections: rules, deep"),
            ({"section_keys": ["greeting"]}, "'greeting' is already shown in full"),
            ({"open": ["rules"]}, "'rules' is already shown in full"),
            ({"open": ["rule"]}, "did you mean 'rules'?"),
            ({"section_keys": []}, "`section_keys` is empty; name the sections to open: rules"),
            ({"section_keys": [""]}, "there is no section ''"),
            ({"section_keys": ["inside"]}, "there is no section 'inside'"),
            ({"section_keys": "rules"}, "section_keys: expected a list of texts, got 'rules'"),
            ({"reason": "x" * 257}, "`reason` has 257 characters; say it in at most 256."),
            ({"prompt": "demo/manul"}, "did you mean demo/manual"),
            ({"arguments": {}}, "demo/manual needs name"),
            ({"arguments": {"nam": "Ada"}}, "has no argument 'nam'; there is name"),
            ({"arguments": {"name": {}}}, "arguments.name: expected a text"),
            ({"opened": []}, "opened: unknown argument; did you mean 'open'?"),
        ):
            assert said in await refused(client, "open_sections", **{**opening, **changes}), changes
        for key, said in (
            ("rule", "did you mean 'rules'?"),
            ("", "there is no section ''"),
            ("greeting", "'greeting' is already shown in full"),
            ("secret", "there is no section 'secret'"),
        ):
            assert said in await refused(client, "read_section", section_key=key)
        assert "section_key: is required" in await refused(client, "read_section")
        disabled = await refused(client, "read_section", section_key="loud")
        reason = "the section 'loud' is disabled" if trusted else "Only running the prompt's code"
        assert reason in disabled


async def test_arguments_may_come_as_json_and_as_values(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        for arguments in ({"name": "Ada", "loud": True}, '{"name": "Ada", "loud": "true"}'):
            text, is_error = await call(
                client, "read_section", prompt=NAME, arguments=arguments, section_key="loud"
            )
            assert (text, is_error) == ("## 4. Loud\n\nLOUD", False)


async def test_sections_of_closed_chapters_stay_closed(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        assert "secret" not in (await text_of(client, NAME, **ADA)).lower()
        everything = ["rules.tools", "deep.deeper"]
        text = await do(client, "open_sections", section_keys=everything, reason=WHY)
        assert "secret" not in text.lower()
        assert "3." in text


@pytest.mark.parametrize("trusted", [True, False])
async def test_sections_of_a_chapter_that_the_arguments_open_are_opened_and_read(
    workspace: Path, trusted: bool
) -> None:
    asked = {"prompt": NAME, "arguments": {**ADA, "open_chapters": "secret"}}
    async with connect_here(Options(roots=(workspace,), trusted=trusted)) as client:
        (listed,) = (await client.list_prompts()).prompts
        about = {one.name: one.description for one in listed.arguments or ()}
        assert about["open_chapters"] == (
            "Keys of chapters to open, which are closed, comma-separated: secret"
        )
        text, _ = await call(client, "read_section", **asked, section_key="inside")
        assert text == "## 5. Inside\n\nSECRET"
        text, _ = await call(client, "open_sections", **asked, section_keys=["inside"], reason=WHY)
        assert "## 5. Inside\n\nSECRET" in text
        asked["arguments"] = {**ADA, "open_chapters": "scret"}
        text = await refused(client, "read_section", **asked, section_key="inside")
        assert f"there is no {'chapter' if trusted else 'section'} '" in text
        if trusted:
            text = await text_of(client, NAME, **ADA, open_chapters="secret")
            assert "## 5. Inside\n\nA secret." in text
            # The calls that it asks for open the chapter, too.
            assert '"open_chapters": "secret"' in text


async def test_a_tools_failures_are_told_to_the_model(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        for tool, given, said in (
            ("look", {"word": "fail"}, "no such word: fail"),
            ("look", {"word": "fold"}, "Refused."),
            ("look", {"word": "exit"}, "SystemExit: sys.exit(3)"),
            ("look", {"wrd": "a"}, "The arguments of 'look' do not fit: "),
            ("look", {"word": "a", "times": "many"}, "times"),
            ("look", {}, "word"),
            ("lok", {"word": "a"}, "There is no tool 'lok'. Did you mean 'look'?"),
        ):
            assert said in await refused(client, "call_prompt_tool", tool=tool, input=given)
        said = await refused(client, "call_prompt_tool", tool="look", input=["a"])
        assert "input: expected an object" in said
        found = await do(client, "call_prompt_tool", tool="look", input={"word": "b"})
        assert found == 'Found.\n\n{"word": "b"}'


async def test_the_metadata_of_a_tools_result_reaches_the_client(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        wanted = {"prompt": NAME, "arguments": ADA, "tool": "look"}
        long = await client.call_tool("call_prompt_tool", {**wanted, "input": {"word": "long"}})
        assert long.meta == {META_SUMMARY: "Short.", META_PRIORITY: "low"}
        plain = await client.call_tool("call_prompt_tool", {**wanted, "input": {"word": "b"}})
        assert plain.meta is None


async def test_a_tool_that_hangs_is_ended_at_the_deadline(workspace: Path) -> None:
    root = ("--root", str(workspace), "--trust")
    async with connect(*root, "--deadline", "1.5") as client:
        said = await refused(client, "call_prompt_tool", tool="look", input={"word": "hang"})
        assert "manual.py:" in said
        assert "still running after 1.5 s" in said
        found = await do(client, "call_prompt_tool", tool="look", input={"word": "c"})
        assert '"c"' in found


async def test_a_tool_that_asks_for_sections_gets_them(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        text = await do(client, "call_prompt_tool", tool="look", input={"word": "more"})
        assert "Ada may wait." in text
        assert '"open": ["rules.tools"]' in text
        assert "- wait: Waits." in text
        opening = {"section_keys": ["rules"], "reason": WHY}
        text = await do(client, "call_prompt_tool", tool="open_sections", input=opening)
        assert text == await do(client, "open_sections", **opening)


@pytest.mark.parametrize("denied", [True, False])
async def test_a_project_denies_the_tools_of_its_prompts_the_network(
    workspace: Path, denied: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        (workspace / "manual.py").write_text(f"PORT = {listener.getsockname()[1]}\n{MANUAL}")
        if denied:
            (workspace / "pyproject.toml").write_text('[tool.foldline.preview]\nnetwork = "deny"\n')
        async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
            wanted = {"tool": "look", "input": {"word": "connect"}}
            if denied:
                said = await refused(client, "call_prompt_tool", **wanted)
                assert "preview.network denies it" in said
                with pytest.raises(BlockingIOError):
                    listener.accept()
            else:
                assert "Found." in await do(client, "call_prompt_tool", **wanted)
                listener.accept()[0].close()


async def test_without_trust_the_source_answers_and_nothing_is_executed(workspace: Path) -> None:
    async with connect("--root", str(workspace)) as client:
        assert await names(client) == ["open_sections", "read_section"]
        with pytest.raises(
            MCPError, match=r"`read_section` shows what the source has of rules, rules\.tools"
        ):
            await client.get_prompt(NAME, ADA)
        read = await do(client, "read_section", section_key="deep.deeper")
        assert read == "### 3.1. Deeper\n\n2.\n\n#### 3.1.1. Deepest\n\n3."
        text = await do(client, "open_sections", section_keys=["rules.tools"], reason=WHY)
        assert "### 2.1. Tools\n\nAda may wait." in text
        assert "the tools of these sections can't be called. Start the server with" in text
        assert '"open": ["rules.tools"]' in text
        assert "call_prompt_tool" not in text
        assert "not trusted" in await refused(client, "call_prompt_tool", tool="look")
        said = await refused(client, "read_section", section_key="loud")
        assert "foldline mcp --trust" in said
    assert not (workspace / "executed").exists()


async def test_without_trust_texts_equal_those_with_trust(workspace: Path) -> None:
    texts = []
    for trusted in (True, False):
        async with connect_here(Options(roots=(workspace,), trusted=trusted)) as client:
            texts.append(
                [
                    await do(client, "read_section", section_key="deep"),
                    await do(client, "read_section", section_key="rules"),
                    await do(client, "read_section", section_key="deep.deeper", open=["deep"]),
                    await do(client, "open_sections", section_keys=["deep"], reason=WHY),
                ]
            )
    assert texts[0] == texts[1]


FORMS = """
from dataclasses import dataclass
from typing import Annotated
from foldline.prompts import (
    MarkdownSection, PromptTemplate, SectionVisibility, bullets, or_else, xml,
)

Listed = Annotated[tuple[str, ...], bullets]

@dataclass(frozen=True)
class Who:
    name: Annotated[str, xml("name")]
    plain: str
    tags: Listed
    title: Annotated[str | None, or_else("no title")] = None

template = PromptTemplate(ns="demo", key="formed", sections=[
    MarkdownSection[Who](title="Known", key="known", summary="Who.",
        template="To:\\n  ${name}\\n  ${plain}\\n    ${tags}\\n${title}",
        visibility=SectionVisibility.SUMMARY),
])
"""


async def test_values_of_a_request_have_the_forms_of_their_fields(tmp_path: Path) -> None:
    (tmp_path / "formed.py").write_text(FORMS)
    given = {"name": "A\n<name>", "plain": "b\nc", "tags": ["x\ny", "z"]}
    name = "  <name>\n  A\n  &lt;name>\n  </name>"
    shown = f"{name}\n  b\n  c\n    - x\n      y\n    - z\nno title"
    for trusted in (True, False):
        async with connect_here(Options(roots=(tmp_path,), trusted=trusted)) as client:
            wanted = {"prompt": "demo/formed", "arguments": given, "section_key": "known"}
            text, is_error = await call(client, "read_section", **wanted)
            assert not is_error, text
            assert text == f"## 1. Known\n\nTo:\n{shown}"


UNDECIDED = """
from dataclasses import dataclass, field
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

@dataclass(frozen=True)
class Who:
    name: str
    title: str = field(default_factory=str)
    tags: tuple[str, ...] = ("author's",)

def depends(who):
    return SectionVisibility.SUMMARY

template = PromptTemplate(ns="demo", key="undecided", sections=[
    MarkdownSection[Who](title="Known", key="known", template="${title} ${name} ${tags}",
        summary="Who.", visibility=SectionVisibility.SUMMARY),
    MarkdownSection[Who](title="Code", key="code", template=str(1), summary="Code.",
        visibility=SectionVisibility.SUMMARY),
    MarkdownSection[Who](title="Depends", key="depends", template="It depends.", summary="May be.",
        visibility=depends),
])
"""


async def test_without_trust_what_code_decides_is_left_to_it(tmp_path: Path) -> None:
    (tmp_path / "undecided.py").write_text(UNDECIDED)
    async with connect_here(Options(roots=(tmp_path,))) as client:
        arguments = {"name": "Ada", "tags": ["a", "b"]}
        wanted = {"prompt": "demo/undecided", "arguments": arguments}
        text, is_error = await call(client, "read_section", **wanted, section_key="known")
        assert not is_error
        assert "${title} Ada ${tags}\n\n---\n[Read from the source: ${title}, ${tags} stand" in text
        for key in ("code", "depends"):
            said = await refused(client, "read_section", **wanted, section_key=key)
            assert said == (
                f"Only running the prompt's code shows the section '{key}'. Start the server with "
                "`foldline mcp --trust` where you trust its code"
            )


WORDED = """
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility, Wording

GERMAN = Wording(expansion_instructions="Offen: ${keys}, wegen ${reason}.")
LONG = MarkdownSection[None](title="Lang", key="lang", template="Alles.", summary="Kurz.",
    visibility=SectionVisibility.SUMMARY)
template = PromptTemplate(ns="demo", key="worded", wording=GERMAN, sections=[LONG])
bound = PromptTemplate(ns="demo", key="bound", sections=[LONG]).bind(wording=GERMAN)
"""


@pytest.mark.parametrize("prompt", ["demo/worded", "demo/bound"])
async def test_instructions_are_in_the_prompts_own_words_or_left_to_its_code(
    prompt: str, tmp_path: Path
) -> None:
    (tmp_path / "worded.py").write_text(WORDED)
    asked = {"prompt": prompt, "section_keys": ["lang"], "reason": "es eilt"}
    async with connect_here(Options(roots=(tmp_path,), trusted=True)) as client:
        text, is_error = await call(client, "open_sections", **asked)
        assert not is_error
        assert text.startswith("Offen: `lang`, wegen es eilt.\n\n## 1. Lang\n\nAlles.")
    async with connect_here(Options(roots=(tmp_path,))) as client:
        text, is_error = await call(client, "open_sections", **asked)
        assert is_error
        assert text.startswith("Only running the prompt's code shows the section 'lang'.")


async def test_a_client_that_never_tells_its_roots_gets_the_tools_nevertheless(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LIST_SECONDS", 0.1)
    monkeypatch.setattr(roots, "ANSWER_SECONDS", 2 * SECONDS)
    told = asyncio.Event()

    async def list_roots(context: ClientRequestContext) -> types.ListRootsResult:
        await told.wait()
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(workspace.as_uri()))])

    mcp_server = server.AgentServer(Options(trusted=True))
    client = Client(
        mcp_server.protocol,
        mode="legacy",
        read_timeout_seconds=SECONDS / 4,
        list_roots_callback=list_roots,
    )
    try:
        async with client:
            assert await names(client) == ALL
            told.set()
            assert "Be kind." in await do(client, "read_section", section_key="rules")
    finally:
        await mcp_server.close()


async def test_tools_are_listed_only_where_the_prompts_need_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LIST_SECONDS", SECONDS)
    plain = (
        "from foldline.prompts import MarkdownSection, PromptTemplate, Tool\n"
        "template = PromptTemplate(ns='a', key='b', sections=[\n"
        "    MarkdownSection[None](title='A', key='a', template='a'TOOLS),\n])\n"
    )
    for root, source, expected in (
        ("none", "x = 1\n", []),
        ("plain", plain.replace("TOOLS", ""), []),
        ("tools", plain.replace("TOOLS", ", tools=[Tool(name='t')]"), ["call_prompt_tool"]),
        ("unknown", plain.replace("TOOLS", ", **more"), ALL),
    ):
        folder = tmp_path / root
        folder.mkdir()
        (folder / "prompt.py").write_text(source)
        async with connect_here(Options(roots=(folder,), trusted=True)) as client:
            assert await names(client) == expected, root
            if root == "plain":
                assert await text_of(client, "a/b") == "## 1. A\n\na"


async def test_the_tools_for_prompts_cost_few_bytes(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        tools = (await client.list_tools()).tools[9:]
        wire = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
        assert len(json.dumps(wire, separators=(",", ":")).encode()) < LISTED_BYTES
        hints = [tool.annotations.read_only_hint for tool in tools if tool.annotations]
        assert hints == [True, True, False]


async def test_all_parameter_sets_are_compared_by_a_tool_that_is_not_listed(tmp_path: Path) -> None:
    sets = "".join(f"\ndef preview_{n}():\n    return Who({n!r})\n" for n in ("ada", "bob"))
    (tmp_path / "manual.py").write_text(f"{MANUAL}\n{sets}")
    async with connect_here(Options(roots=(tmp_path,), trusted=True)) as client:
        assert "compare_sets" not in await names(client)
        text, is_error = await call(client, "compare_sets", prompt=NAME, open=["rules"])
    assert not is_error, text
    heading, *_, total, legend = text.splitlines()
    assert heading.split() == ["ada", "bob"]
    assert re.fullmatch(r"Total +[1-9]\d+ +[1-9]\d+\*? *", total)
    assert legend.endswith("* not as in the first set")


async def test_a_long_argument_is_not_repeated(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,), trusted=True)) as client:
        text = await text_of(client, NAME, name="A" * 1000)
        assert text.count("A" * 1000) == 1
        assert '{"name": "…"}' in text
        assert "write the values shown as … in full" in text


async def test_the_example_opens_its_rules_and_explains_one() -> None:
    async with connect_here(Options(roots=(EXAMPLE,), trusted=True)) as client:
        result = await client.get_prompt(REVIEW, {})
        assert "Call `open_sections`" in result.messages[0].content.text  # type: ignore[union-attr]
        opened, _ = await call(
            client, "open_sections", prompt=REVIEW, section_keys=["reference-docs"], reason="Rules"
        )
        assert "**S1**" in opened
        assert "- explain_rule: Explains why a security rule is there" in opened
        explained, is_error = await call(
            client,
            "call_prompt_tool",
            prompt=REVIEW,
            open=["reference-docs"],
            tool="explain_rule",
            input={"rule": "S4"},
        )
        assert (explained.startswith("OWASP"), is_error) == (True, False)
