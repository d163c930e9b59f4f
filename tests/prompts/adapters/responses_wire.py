"""How OpenAI's Responses look."""

import json
from collections.abc import Iterator
from typing import Any

from foldline.prompts.adapters import BaseAdapter

from .providers import Json, Provider, Reply
from .wires import MODEL, Said, halves, text_of_arguments, words


class OpenAIResponsesWire:
    """How OpenAI's Responses look."""

    name = "openai"
    api = "openai-responses"

    def adapter(self, provider: Provider, **settings: Any) -> BaseAdapter:
        from foldline.prompts.adapters.openai_responses import OpenAIResponsesAdapter

        settings = {"model": "test-model", "api_key": "test", **settings}
        return OpenAIResponsesAdapter(base_url=f"{provider.url}/v1", **settings)

    def whole(self, said: Said, usage: Json | None = None, model: str = MODEL) -> Reply:
        return Reply(self._response(said, usage, model))

    def streamed(self, said: Said, usage: Json | None = None, model: str = MODEL) -> list[str]:
        events = self._events(said, self._response(said, usage, model))
        return [
            f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n"
            for number, event in enumerate(events)
        ]

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "test", "code": None, "param": None}}

    def sent(self, request: Json) -> list[Json]:
        items: list[Json] = request["input"]
        return items

    def tools(self, request: Json) -> list[Json]:
        tools: list[Json] = request.get("tools", [])
        return tools

    def tool_results(self, request: Json) -> list[tuple[str, str, bool]]:
        told = []
        for item in reversed(request["input"]):
            if item.get("type") != "function_call_output":
                break
            text = item["output"]
            told.append((item["call_id"], text, not text.startswith("Error: ")))
        return told[::-1]

    def _events(self, said: Said, response: Json) -> Iterator[Json]:
        started = {**response, "status": "in_progress", "output": [], "usage": None}
        yield {"type": "response.created", "response": started}
        yield {"type": "response.in_progress", "response": started}
        for index, item in enumerate(response["output"]):
            place = {"output_index": index, "item_id": item["id"]}
            begun = {**item, "status": "in_progress"}
            if item["type"] == "message":
                part = item["content"][0]
                begun["content"] = []
                at = {**place, "content_index": 0}
                yield {"type": "response.output_item.added", "output_index": index, "item": begun}
                empty = {**part, "refusal" if part["type"] == "refusal" else "text": ""}
                yield {"type": "response.content_part.added", **at, "part": empty}
                kind = (
                    "response.output_text" if part["type"] == "output_text" else "response.refusal"
                )
                for word in words(said.text):
                    yield {"type": f"{kind}.delta", **at, "delta": word, "logprobs": []}
                if said.stop == "none":
                    return
                if kind == "response.output_text":
                    yield {"type": f"{kind}.done", **at, "text": said.text, "logprobs": []}
                else:
                    yield {"type": f"{kind}.done", **at, "refusal": said.text}
                yield {"type": "response.content_part.done", **at, "part": part}
            elif item["type"] == "function_call":
                begun["arguments"] = ""
                yield {"type": "response.output_item.added", "output_index": index, "item": begun}
                kind = "response.function_call_arguments"
                for piece in halves(item["arguments"]):
                    yield {"type": f"{kind}.delta", **place, "delta": piece}
                end = {"arguments": item["arguments"], "name": item["name"]}
                yield {"type": f"{kind}.done", **place, **end}
            else:
                if item["type"] == "reasoning":
                    begun["encrypted_content"] = "not yet"
                yield {"type": "response.output_item.added", "output_index": index, "item": begun}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        if said.stop == "none":
            return
        ended = "incomplete" if response["status"] == "incomplete" else "completed"
        yield {"type": f"response.{ended}", "response": response}

    def _response(self, said: Said, usage: Json | None, model: str) -> Json:
        output: list[Json] = []
        if said.thought:
            output.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{said.tag}",
                    "summary": [],
                    "encrypted_content": f"sealed {said.thought}",
                    "status": "completed",
                }
            )
        part: Json = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
        if said.stop == "refusal":
            part = {"type": "refusal", "refusal": said.text}
        if said.text:
            status = "incomplete" if said.stop == "length" else "completed"
            message = {"type": "message", "id": f"msg_{said.tag}", "role": "assistant"}
            output.append({**message, "status": status, "content": [part]})
        spaces = {
            tool["name"]: space["name"]
            for space in said.found
            if space["type"] == "namespace"
            for tool in space["tools"]
        }
        if said.search:
            common: Json = {"execution": "server", "call_id": None, "status": "completed"}
            output += [
                {
                    **common,
                    "type": "tool_search_call",
                    "id": f"tsc_{said.tag}",
                    "arguments": {"paths": [space["name"] for space in said.found]},
                },
                {
                    **common,
                    "type": "tool_search_output",
                    "id": f"tso_{said.tag}",
                    "tools": list(said.found),
                },
            ]
        output += [
            {
                "type": "function_call",
                "id": f"fc_{id_}",
                "call_id": id_,
                **({"namespace": spaces[name]} if name in spaces else {}),
                "name": name,
                "arguments": text_of_arguments(arguments),
                "status": "completed",
            }
            for id_, (name, arguments) in zip(said.ids(), said.calls, strict=True)
        ]
        short = {"reason": "max_output_tokens"} if said.stop == "length" else None
        states = {"length": "incomplete", "none": "in_progress"}
        return {
            "id": f"resp_{said.tag or 1}",
            "object": "response",
            "created_at": 1,
            "model": model,
            "status": states.get(said.stop, "completed"),
            "error": None,
            "incomplete_details": short,
            "instructions": None,
            "metadata": {},
            "output": output,
            "parallel_tool_calls": True,
            "temperature": 1,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1,
            "usage": usage or self._usage(),
        }

    def _usage(self) -> Json:
        return {
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 3},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 25,
        }
