#!/usr/bin/env python3
"""Runs the wires against peers that others wrote. See README.md beside this file."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "wires"))

import acp
import aimock
import llama
import llmock
import needle
import sdk
from kit import Failed, Missing, World, say

# The SDKs' types come after all that send bodies.
PARTS = {
    "llmock": llmock.run,
    "aimock": aimock.run,
    "sdk": sdk.run,
    "smollm": llama.run,
    "needle": needle.run,
    "acp": acp.run,
}


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: run.py BINARY [PART...]")
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    parts = sys.argv[2:] or list(PARTS)
    for part in parts:
        if part not in PARTS:
            sys.exit(f"there is no part {part}; write some of {', '.join(PARTS)}")
    strict = os.environ.get("CI") == "true"
    bodies = []
    failed = False
    for part in parts:
        begun = time.monotonic()
        say(f"-- {part}")
        with tempfile.TemporaryDirectory() as directory:
            try:
                PARTS[part](World(binary, pathlib.Path(directory)), bodies)
            except Missing as missing:
                failed |= strict
                say(f"   {'failed' if strict else 'skipped'}: {missing}")
            except (Failed, subprocess.TimeoutExpired) as error:
                failed = True
                say(f"   failed: {error}")
        say(f"   {time.monotonic() - begun:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
