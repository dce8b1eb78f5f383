"""The types that the providers' own SDKs declare, over every body that was sent."""
import json
import subprocess

from kit import HERE, Failed, say, venv


def without_odd(value):
    """Drops the member by which tests see that unknown ones are kept."""
    if isinstance(value, dict):
        return {key: without_odd(inner) for key, inner in value.items() if key != "odd"}
    if isinstance(value, list):
        return [without_odd(inner) for inner in value]
    return value


def golden():
    """The bodies that the wires' own tests hold."""
    source = HERE.parent / "crates/toolcrib-models/src"
    for kind in ("messages", "responses", "gemini"):
        for snapshot in sorted((source / kind / "body/snapshots").glob("*.snap")):
            body = snapshot.read_text().split("\n---\n", 1)[1].replace("\n", "")
            yield {"kind": kind, "body": without_odd(json.loads(body))}


def run(world, bodies):
    bodies = bodies + list(golden())
    python = venv("sdk") / "bin/python"
    lines = "\n".join(json.dumps(entry) for entry in bodies)
    done = subprocess.run([python, HERE / "sdk_check.py"], input=lines, capture_output=True, text=True)
    say("   " + (done.stdout or done.stderr).strip()[-1500:])
    if done.returncode != 0:
        raise Failed("p17: the SDKs' types refuse a body")
    say("   p17 every body fits the types of the provider's own SDK")
