"""A server with the tools, prompts and resources that the conformance suite asks for.

    python -m tests.plugins.remote.everything

It stands on the app that `foldline mcp --http` serves, with streams.
"""

import asyncio
import base64
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from foldline.plugins.remote.app import create_app
from foldline.plugins.remote.health import Health
from foldline.plugins.remote.serving import Connection
from foldline.plugins.remote.transport import HttpOptions
from foldline.server.http_server import EmbeddedServer

Context = ServerRequestContext[Any, Any]
CallParams = types.CallToolRequestParams
CallAnswer = types.CallToolResult | types.InputRequiredResult
Responses = dict[str, Any]

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cf"
        "c0000003010100c9fe92ef0000000049454e44ae426082"
    )
).decode()
WAV = base64.b64encode(
    b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0"
).decode()
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def embedded(uri: str, words: str, kind: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    )


def image() -> types.ImageContent:
    return types.ImageContent(data=PNG, mime_type="image/png")


def question(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(
            message=message,
            requested_schema={
                "type": "object",
                "properties": {field: {"type": kind}},
                "required": [field],
            },
        )
    )


def sampling(words: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    )


NAME = question("What is your name?", "name")
STILL: dict[str, list[types.ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded(
            "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
        ),
    ],
    "test_logging_tool": [text("done")],
    "test_streaming_elicitation": [text("done")],
    "test_custom_header": [text("done")],
    "json_schema_2020_12_tool": [text("done")],
}
# What each tool asks in its rounds; the last round answers.
ROUNDS: dict[str, list[dict[str, types.InputRequest]]] = {
    "test_input_required_result_elicitation": [{"user_name": NAME}],
    "test_input_required_result_sampling": [
        {"capital_question": sampling("What is the capital of France?")}
    ],
    "test_input_required_result_list_roots": [{"client_roots": types.ListRootsRequest()}],
    "test_input_required_result_request_state": [
        {"confirm": question("Please confirm", "ok", "boolean")}
    ],
    "test_input_required_result_multiple_inputs": [
        {
            "user_name": NAME,
            "greeting": sampling("Generate a greeting"),
            "client_roots": types.ListRootsRequest(),
        }
    ],
    "test_input_required_result_multi_round": [
        {"step1": question("Step 1: What is your name?", "name")},
        {"step2": question("Step 2: What is your favorite color?", "color")},
    ],
    "test_input_required_result_tampered_state": [
        {"confirm": question("Please confirm", "ok", "boolean")}
    ],
}
STATELESS = {
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
}


async def progress(context: Context, _params: CallParams) -> CallAnswer:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await asyncio.sleep(0.01)
    return types.CallToolResult(content=[text("done")])


async def failure(_context: Context, _params: CallParams) -> CallAnswer:
    words = "This tool intentionally returns an error for testing"
    return types.CallToolResult(content=[text(words)], is_error=True)


async def missing_capability(context: Context, _params: CallParams) -> CallAnswer:
    declared = context.session.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "It needs sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return types.CallToolResult(content=[text("done")])


async def by_capabilities(context: Context, params: CallParams) -> CallAnswer:
    declared = context.session.client_capabilities or types.ClientCapabilities()
    asked: dict[str, types.InputRequest] = {}
    if declared.elicitation is not None:
        asked["user_name"] = NAME
    if declared.sampling is not None:
        asked["greeting"] = sampling("Generate a greeting")
    if params.input_responses or not asked:
        return types.CallToolResult(content=[text("done")])
    return types.InputRequiredResult(input_requests=asked)


async def in_rounds(_context: Context, params: CallParams) -> CallAnswer:
    rounds = ROUNDS[params.name]
    given = params.input_responses or {}
    stateless = params.name in STATELESS
    at = 0 if stateless else int(params.request_state or 0)
    if at < len(rounds) and set(rounds[at]) <= set(given):
        at += 1
    if at < len(rounds):
        state = None if stateless else str(at)
        return types.InputRequiredResult(input_requests=rounds[at], request_state=state)
    told = [response.model_dump_json() for response in given.values()]
    return types.CallToolResult(content=[text("\n".join(["state-ok", *told]))])


TOOLS: dict[str, Callable[[Context, CallParams], Awaitable[CallAnswer]]] = {
    "test_tool_with_progress": progress,
    "test_error_handling": failure,
    "test_missing_capability": missing_capability,
    "test_input_required_result_capabilities": by_capabilities,
    **dict.fromkeys(ROUNDS, in_rounds),
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": SCHEMA,
    "test_custom_header": HEADER_SCHEMA,
}


async def list_tools(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=f"Tests {name}",
                input_schema=SCHEMAS.get(name, {"type": "object"}),
            )
            for name in (*STILL, *TOOLS)
        ]
    )


async def call_tool(context: Context, params: CallParams) -> CallAnswer:
    if params.name in STILL:
        return types.CallToolResult(content=STILL[params.name])
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, "Unknown tool")
    return await TOOLS[params.name](context, params)


RESOURCES: dict[str, types.TextResourceContents | types.BlobResourceContents] = {
    "test://static-text": types.TextResourceContents(
        uri="test://static-text",
        mime_type="text/plain",
        text="This is the content of the static text resource.",
    ),
    "test://static-binary": types.BlobResourceContents(
        uri="test://static-binary", mime_type="image/png", blob=PNG
    ),
    "test://template/123/data": types.TextResourceContents(
        uri="test://template/123/data",
        mime_type="application/json",
        text='{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
    ),
}


async def list_resources(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                name=uri.rpartition("-")[2], uri=uri, description="A test", mime_type=one.mime_type
            )
            for uri, one in RESOURCES.items()
            if "static" in uri
        ]
    )


async def list_templates(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(name="template", uri_template="test://template/{id}/data")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(
    _context: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri not in RESOURCES:
        raise MCPError(types.INVALID_PARAMS, "There is no such resource", {"uri": uri})
    return types.ReadResourceResult(contents=[RESOURCES[uri]])


PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def list_prompts(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description="A test",
                arguments=[
                    types.PromptArgument(name=one, description="A test", required=True)
                    for one in arguments
                ],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


async def get_prompt(
    _context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    contents: dict[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", ""), "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [image(), text("Please analyze the image above.")],
        "test_input_required_result_prompt": [text("done")],
    }
    if params.name == "test_input_required_result_prompt" and not params.input_responses:
        asked = question("What context should the prompt use?", "context")
        return types.InputRequiredResult(input_requests={"user_context": asked})
    return types.GetPromptResult(
        messages=[
            types.PromptMessage(role="user", content=content) for content in contents[params.name]
        ]
    )


async def complete(_context: Context, _params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris"], total=1))


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    protocol: Server[dict[str, Any]] = Server(
        "everything",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )
    options = HttpOptions("127.0.0.1", port, ("of the tests alone, and of no one else",))
    app = create_app(protocol, options, Health(()), json_response=False)
    server = EmbeddedServer(app, Connection, most=64, close_seconds=1, lifespan="on")
    sys.stderr.write(f"everything serves http://127.0.0.1:{port}/mcp\n")
    sys.stderr.flush()
    await server.serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(main())
