#!/usr/bin/env python3
"""Make the key that signs releases: scripts/make_release_key.py FILE

FILE gets the private key, readable by you alone; it is never written inside a repository. What is
printed is the public half: publish it where people can compare it with what an install shows.
"""

import argparse
import os
import sys
from pathlib import Path

from release.tools import run_with_tools


def main(arguments: list[str]) -> int:
    """Make a key pair."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    path = Path(os.path.realpath(parser.parse_args(arguments).file))
    again = run_with_tools(__file__, arguments)
    if again is not None:
        return again
    if repository := next((up for up in path.parents if (up / ".git").exists()), None):
        print(f"{path} lies in the repository {repository}: choose another place.", file=sys.stderr)
        return 1
    return write_key(path)


def write_key(path: Path) -> int:
    """Write a new private key where nothing is yet, and print the public one."""
    from release.signing import new_key, private_text, public_text

    key = new_key()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        print(f"{path}: {error.strerror}. Nothing was written.", file=sys.stderr)
        return 1
    with os.fdopen(handle, "wb") as file:
        file.write(private_text(key))
    print(f"Private key: {path} (keep it, and a copy offline; whoever has it can sign releases)")
    print(f"Publish this public key (release-key.pub): {public_text(key).decode().strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
