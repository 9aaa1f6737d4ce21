#!/usr/bin/env python3
"""Make a release bundle: scripts/build_release.py --output DIR [--key FILE]

The output folder is a channel: release.json, its signature and agentlas-memory-VERSION.tar.gz with
our wheel, the wheels of all dependencies for this platform, and install.sh. Two builds of one
commit are the same bytes.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from release.source import Refused, Source, copy_source, is_full, no_room, temporary_folder
from release.tools import PREFIX, run_with_tools

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
NO_ROOM = 4  # as install.sh knows it
SOURCED = re.compile("^# The next lines become find_python.sh.*?^# Until here.\\n", re.M | re.S)


def main(arguments: list[str]) -> int:
    """Build a release, with the tools that tools.lock names."""
    options = parse(arguments)
    os.umask(0o022)  # files made on the way take their modes into the wheel
    try:
        again = run_with_tools(__file__, arguments)
        if again is None:
            print(build(options))
        return again or 0
    except (Refused, OSError) as error:
        if is_full(error):
            print(no_room(options.output), file=sys.stderr)
            return NO_ROOM
        if not isinstance(error, Refused):
            raise
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--python", action="append", choices=PYTHONS, help="all without it")
    parser.add_argument("--no-wheels", action="store_true", help="pip fetches them at install")
    parser.add_argument("--key", type=Path, metavar="FILE", help="sign with this Ed25519 key")
    parser.add_argument("--folder", action="store_true", help="leave the bundle unpacked, no tar")
    parser.add_argument("--allow-dirty", action="store_true", help="from uncommitted files too")
    options = parser.parse_args(arguments)
    if options.key and options.allow_dirty:
        parser.error("only a commit is signed: --key goes without --allow-dirty")
    return options


def build(options: argparse.Namespace) -> Path:
    """Build aside, then put the results into the output folder; return the bundle's path."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=temporary_folder()) as name:
        scratch = Path(name)
        source = copy_source(ROOT, scratch / "source", options.allow_dirty)
        bundle = make_bundle(source, scratch, options)
        results = [bundle]
        if not options.folder:
            results = [archive(bundle, source), *bundle.glob("release.json*")]
        options.output.mkdir(parents=True, exist_ok=True)
        for result in results:
            put(result, options.output)
        return options.output / results[0].name


def make_bundle(source: Source, scratch: Path, options: argparse.Namespace) -> Path:
    """Lay out the bundle's folder, release.json and the sums last."""
    from release import archive, manifest, wheels

    made = wheels.build_wheel(source, scratch / "made")
    bundle = scratch / f"agentlas-memory-{manifest.wheel_metadata(made)[0]}"
    (bundle / "wheels").mkdir(parents=True)
    wheel = Path(shutil.copy(made, bundle / "wheels"))
    pythons = [] if options.no_wheels else sorted(set(options.python or PYTHONS), key=PYTHONS.index)
    lock = source.folder / "requirements.lock"
    wheels.fetch_dependencies(lock, pythons, bundle / "wheels", scratch)
    wheels.fetch_pip(bundle / "tools", scratch)
    shutil.copy(lock, bundle / "requirements.txt")
    write_installers(source.folder / "scripts", bundle)
    write_release(bundle, manifest.release_json(bundle, wheel, source, pythons), options.key)
    (bundle / manifest.SUMS).write_bytes(manifest.sums(bundle))
    archive.set_modes(bundle)
    return bundle


def write_installers(scripts: Path, bundle: Path) -> None:
    """Copy install.sh, made one file with what it sources, and its twin for Windows."""
    script = (scripts / "install.sh").read_text(encoding="utf-8")
    found = (scripts / "find_python.sh").read_text(encoding="utf-8")
    script, places = SOURCED.subn(lambda _: found, script)
    if places != 1:
        raise Refused("scripts/install.sh does not source find_python.sh where it is expected.")
    (bundle / "install.sh").write_bytes(script.encode())  # line ends stay, on Windows too
    shutil.copy(scripts / "install.ps1", bundle)


def write_release(bundle: Path, release: bytes, key_file: Path | None) -> None:
    """Write release.json and, with a key, its signature and the key to check it with."""
    from release import manifest, signing

    (bundle / manifest.RELEASE).write_bytes(release)
    if key_file:
        key = signing.read_key(key_file)
        (bundle / manifest.SIGNATURE).write_bytes(signing.signature_text(key, release))
        (bundle / manifest.KEY).write_bytes(signing.public_text(key))


def archive(bundle: Path, source: Source) -> Path:
    """Pack the bundle."""
    from release.archive import write_archive

    target = bundle.with_name(f"{bundle.name}.tar.gz")
    write_archive(bundle, target, source.time)
    return target


def put(result: Path, output: Path) -> None:
    """Move a result into the output folder, in the place of an earlier one."""
    target = output / result.name
    if target.is_dir():
        shutil.rmtree(target)
    shutil.move(result, target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
