"""Holds tool definitions, rendered for an API, against that API's rules.

usage: check_schemas.py API TOOLS RENDERED
  TOOLS     the tools as received, JSON Lines
  RENDERED  what `toolcrib tools --render API` printed

The rules are written here a second time, by what the APIs refuse, so that a
mistake in the program is not repeated in its check.
"""

import collections
import json
import re
import sys

TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
INNER = {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
         "unevaluatedProperties", "unevaluatedItems"}
LISTS = {"anyOf", "oneOf", "allOf", "prefixItems"}
MAPS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
GEMINI = {"type", "format", "title", "description", "nullable", "default", "enum", "items", "minItems", "maxItems",
          "properties", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum",
          "maximum", "anyOf"}
STRICT = {"type", "title", "description", "properties", "required", "additionalProperties", "items", "enum", "const",
          "anyOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
LOCAL = STRICT - {"multipleOf", "minItems", "maxItems"} | {"format", "default", "prefixItems"}
NAMES = {"anthropic": r"[a-zA-Z0-9_.-]{1,64}", "gemini": r"[a-zA-Z_][a-zA-Z0-9_]{0,63}",
         "open_ai": r"[a-zA-Z0-9_.-]{1,64}", "open_ai_strict": r"[a-zA-Z0-9_.-]{1,64}"}


class Wrong(Exception):
    pass


def need(fine, what, at):
    if not fine:
        raise Wrong(f"{at or 'the root'}: {what}")


def walk(schema, at, root, visit, depth=0):
    visit(schema, at, depth)
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, dict):
                    walk(inner, f"{at}/{key}/{name}", root, visit, depth + 1)
                else:
                    need(isinstance(inner, bool), f"{key} {name} is no schema", at)
        elif key in INNER and isinstance(value, dict):
            walk(value, f"{at}/{key}", root, visit, depth + 1)
        elif key in LISTS:
            need(isinstance(value, list) and value, f"{key} is no list with something in it", at)
            for index, inner in enumerate(value):
                if isinstance(inner, dict):
                    walk(inner, f"{at}/{key}/{index}", root, visit, depth + 1)


def common(schema, at, root, api):
    """What every validator refuses."""
    kinds = schema.get("type", [])
    listed = isinstance(kinds, list)
    kinds = kinds if listed else [kinds]
    need(all(k in TYPES for k in kinds) and len(set(kinds)) == len(kinds), f"type {kinds}", at)
    for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        value = schema.get(key, 0)
        need(isinstance(value, (int, float)) and not isinstance(value, bool), f"{key} {value}", at)
    for key in ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"):
        need(isinstance(schema.get(key, 0), int) and schema.get(key, 0) >= 0, f"{key}", at)
    for key in ("title", "description", "pattern", "format", "$ref"):
        need(isinstance(schema.get(key, ""), str), f"{key} is no text", at)
    values = schema.get("enum", [None])
    texts = [json.dumps(v) for v in values]
    need(values and len(set(texts)) == len(texts), "enum empty or with repetitions", at)
    required = schema.get("required", [])
    need(isinstance(required, list) and all(isinstance(n, str) for n in required), "required", at)
    need(len(set(required)) == len(required), "required repeats", at)
    # In a list of types, one without items is a list of anything to grammars.
    if "array" in kinds and not (api == "local" and listed):
        need("items" in schema or "prefixItems" in schema, "an array without items", at)
    if "$ref" in schema:
        match = re.fullmatch(r"#/(\$defs|definitions)/([^/]+)", schema["$ref"])
        need(match and match[2] in root.get(match[1], {}), f"{schema['$ref']} leads nowhere", at)
    pattern = NAMES.get(api)
    for name in schema.get("properties", {}):
        need(pattern is None or re.fullmatch(pattern, name), f"property name {name!r}", at)


def gemini(schema, at, depth):
    need(set(schema) <= GEMINI, f"keywords {set(schema) - GEMINI}", at)
    if "anyOf" in schema:
        need(set(schema) <= {"anyOf", "description", "title", "nullable", "default"}, "anyOf is not alone", at)
        need(not set(schema) - {"anyOf"}, f"anyOf beside {set(schema)}", at)
        return
    kind = schema.get("type")
    need(isinstance(kind, str) and kind != "null", f"type {kind}", at)
    values = schema.get("enum", ["x"])
    need(all(isinstance(v, str) and v for v in values), "enum of other than texts", at)
    need("enum" not in schema or kind == "string", "enum beside another type", at)
    formats = {"string": {"date-time", "enum"}, "number": {"float", "double"}, "integer": {"int32", "int64"}}
    need("format" not in schema or schema["format"] in formats.get(kind, ()), f"format {schema.get('format')}", at)
    need(set(schema.get("required", [])) <= set(schema.get("properties", {})), "required but not there", at)
    need(depth == 0 or schema.get("properties") != {}, "empty properties", at)


def strict(schema, at, depth):
    need(set(schema) <= STRICT, f"keywords {set(schema) - STRICT}", at)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    need(kinds and kinds != [[]] or "anyOf" in schema or "enum" in schema or "const" in schema, "takes anything", at)
    if "object" in kinds:
        need(schema.get("additionalProperties") is False, "an open object", at)
        need(sorted(schema.get("required", [])) == sorted(schema.get("properties", {})), "not all required", at)


def local(schema, at, depth):
    need(set(schema) <= LOCAL, f"keywords {set(schema) - LOCAL}", at)
    need({"type", "anyOf", "enum", "const"} & set(schema), "no type", at)


def check(line, api):
    need(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", line["name"]), f"name {line['name']}", "")
    if api == "gemini":
        need(re.match(r"[a-zA-Z_]", line["name"]), f"name {line['name']}", "")
    schema = line["schema"]
    if api == "plain":
        return
    need(schema.get("type") == "object" and isinstance(schema.get("properties"), dict), "no object", "")
    need(not {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"} & set(schema), "alternatives", "")
    special = {"gemini": gemini, "local": local}.get(api) or (strict if line["strict"] else None)

    def visit(node, at, depth):
        common(node, at, schema, api)
        if special:
            special(node, at, depth)

    walk(schema, "", schema, visit)


def main():
    api, tools, rendered = sys.argv[1:4]
    received = sum(1 for line in open(tools) if line.strip())
    names, left_out, notes, unfitted = set(), [], collections.Counter(), 0
    same = fits = count = 0
    for text in open(rendered):
        line = json.loads(text)
        if "left_out" in line:
            left_out.append(line)
            continue
        count += 1
        try:
            check(line, api)
        except Wrong as wrong:
            sys.exit(f"{api}: {line['tool']}: {wrong}\n{json.dumps(line['schema'])[:2000]}")
        if line["name"] in names:
            sys.exit(f"{api}: two tools are called {line['name']}")
        names.add(line["name"])
        fits += line["strict"]
        unfitted += bool(line["notes"])
        notes.update(re.sub(r"`.*?`|\".*?\"|#\S+|called \S+|holds \S+", "_", n["what"]) for n in line["notes"])
    if count + len(left_out) != received:
        sys.exit(f"{api}: {received} tools came, {count} were rendered and {len(left_out)} left out")
    more = f", {fits} strict" if api == "open_ai_strict" else ""
    print(f"{api}: {count} rendered{more}, {unfitted} with notes, {len(left_out)} left out")
    if "-v" in sys.argv:
        for what, times in notes.most_common(25):
            print(f"    {times:6} {what}")
        for line in left_out[:10]:
            print("    left out:", line["left_out"], line["reason"])


main()
