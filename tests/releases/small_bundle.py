"""A bundle whose wheel holds a routine that says how it was called; install.sh run on it."""

import hashlib
import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"
REAL = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
VERSION = "{}.{}".format(*sys.version_info)
WHEEL = "agentlas_memory-0.1.0-py3-none-any.whl"
ROUTINE = """
import json, os, sys
def main():
    called = {"arguments": sys.argv[1:], "python": os.path.realpath(sys.executable)}
    print(json.dumps(called | {"home": os.environ.get("AGENTLAS_HOME")}))
    return int(os.environ.get("ROUTINE_ANSWERS", "0"))
"""


def make_bundle(folder, pythons=(VERSION,)):
    """Write a bundle whose routine prints how it was called."""
    packages = ("", "installer/", "installer/runtimes/")
    (folder / "wheels").mkdir(parents=True)
    (folder / "tools").mkdir()
    (folder / "tools/pip-1-py3-none-any.whl").write_bytes(b"pip")
    with zipfile.ZipFile(folder / "wheels" / WHEEL, "w") as wheel:
        for package in packages:
            wheel.writestr(f"agentlas_memory/{package}__init__.py", "")
        wheel.writestr("agentlas_memory/installer/runtimes/bootstrap.py", ROUTINE)
    write_script(folder)
    write_release(folder, pythons=list(pythons))
    return folder


def write_release(folder, **says):
    """Write release.json and the sums, which anybody can do; `says` replaces what it says."""
    meta = ("release.json", "release.json.sig", "release-key.pub", "SHA256SUMS")
    paths = {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}
    files = {name: _file(path.read_bytes()) for name, path in paths.items() if name not in meta}
    release = {"wheel": WHEEL, "pythons": [VERSION], "files": files} | says
    (folder / "release.json").write_text(json.dumps(release))
    write_sums(folder, files)


def write_sums(folder, files):
    """Write SHA256SUMS for these files and for release.json as it is."""
    sums = files | {"release.json": _file((folder / "release.json").read_bytes())}
    lines = "".join(f"{one['sha256']}  {name}\n" for name, one in sums.items())
    (folder / "SHA256SUMS").write_text(lines)


def _file(data):
    return {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}


def write_script(folder):
    """Write install.sh as a bundle has it."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        builder = runpy.run_path(str(SCRIPTS / "build_release.py"))
    finally:
        sys.path.remove(str(SCRIPTS))
    builder["write_installers"](SCRIPTS, folder)


def pack(folder, target):
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, "agentlas-memory-0.1.0")
    return target


def write_program(folder, name, body):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program


def install(script, *options, shell=("/bin/sh",), **settings):
    command = [shutil.which(shell[0], path="/usr/bin:/bin"), *shell[1:], script, *options]
    return subprocess.run(command, capture_output=True, text=True, **settings)


def called(done):
    """Return how the routine was called."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[0])
