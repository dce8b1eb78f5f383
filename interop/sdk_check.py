"""Holds request bodies to the types that the providers' own SDKs declare.

Reads JSON Lines of {"kind": chat | responses | messages | gemini, "body": {...}} and
prints what the types refuse. Members that they do not know are refused too."""
import json
import sys
import typing

import pydantic
import typing_extensions
from pydantic import ConfigDict, TypeAdapter

import anthropic.types
import anthropic.types.beta
from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as Messages
from google.genai import types as genai
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as Chat
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as Responses

# A stream of bytes has no schema; base64 text is what goes over the wire.
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("anthropic.types") and hasattr(module, "Base64FileInput"):
        module.Base64FileInput = str


def forbid(kind, seen):
    if typing_extensions.is_typeddict(kind):
        if kind in seen:
            return
        seen.add(kind)
        kind.__pydantic_config__ = ConfigDict(extra="forbid")
        for inner in typing_extensions.get_type_hints(kind, include_extras=True).values():
            forbid(inner, seen)
    for inner in typing.get_args(kind):
        forbid(inner, seen)


def walk(value):
    """Iterables are checked lazily; this reads them to their ends."""
    if isinstance(value, dict):
        for inner in value.values():
            walk(inner)
    elif hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        for inner in value:
            walk(inner)


ADAPTERS = {}
for name, kind in {"chat": Chat, "responses": Responses, "messages": Messages}.items():
    forbid(kind, set())
    ADAPTERS[name] = TypeAdapter(kind)


def gemini(body):
    known = {"contents", "tools", "toolConfig", "systemInstruction", "generationConfig"}
    for key in body.keys() - known:
        raise ValueError(f"{key} is not known")
    for content in body["contents"] + [body.get("systemInstruction", {"parts": []})]:
        genai.Content.model_validate(content)
    for tool in body.get("tools", []):
        genai.Tool.model_validate(tool)
    if "toolConfig" in body:
        genai.ToolConfig.model_validate(body["toolConfig"])
    genai.GenerationConfig.model_validate(body.get("generationConfig", {}))


def check(kind, body):
    try:
        if kind == "gemini":
            gemini(body)
        else:
            walk(ADAPTERS[kind].validate_python(body))
        return []
    except pydantic.ValidationError as error:
        return [(".".join(map(str, e["loc"]))[-80:], e["type"]) for e in error.errors()]
    except ValueError as error:
        return [("body", str(error))]


if __name__ == "__main__":
    bad = count = 0
    kinds = {}
    for line in sys.stdin:
        entry = json.loads(line)
        count += 1
        kinds[entry["kind"]] = kinds.get(entry["kind"], 0) + 1
        found = check(entry["kind"], entry["body"])
        if found:
            bad += 1
            print("refused:", entry["kind"], found[:4], json.dumps(entry["body"])[:300])
    print(f"{count} bodies, {bad} refused:", ", ".join(f"{n} {k}" for k, n in sorted(kinds.items())))
    sys.exit(1 if bad or not count else 0)
