"""Bundles of releases, made from the installed program and from wheels that PyPI has.

Real ones: pip installs from them, and what is installed answers. The dependencies are fetched once
into the cache that the tests of real hosts use too. Each release is a version of its own of the
same code, signed by a key that the tests make.
"""

import base64
import csv
import hashlib
import io
import json
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import distribution, requires
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hosts.fetch import Unavailable, cache_folder, fetch_once

NAME = "agentlas_memory"
HERE = "{}.{}".format(*sys.version_info)
MODEL = f"{NAME}/models/model2vec/potion-base-8M-int8/"
META = ("release.json", "release.json.sig", "release-key.pub", "SHA256SUMS")


def new_key():
    return Ed25519PrivateKey.generate()


def public_text(key):
    return base64.b64encode(key.public_key().public_bytes_raw()) + b"\n"


def dependency_wheels():
    """Return the folder with the wheels of all that the program needs, and pip's."""
    wanted = [one for one in requires("agentlas-memory") if "extra ==" not in one]
    digest = hashlib.sha256("\n".join(sorted(wanted)).encode()).hexdigest()[:12]
    folder = cache_folder() / f"wheels-{digest}-py{HERE}"
    command = [sys.executable, "-m", "pip", "download", "-q", "--only-binary", ":all:"]
    fetch_once(folder, [*command, "-d", str(folder), *wanted, "pip"])
    return sorted(folder.glob("*.whl"))


def own_wheel(folder, version, change=lambda files: None):
    """Write the installed program as a wheel of a version; `change` may alter its files."""
    name = f"{NAME}-{version}"
    files = {}
    for path in distribution("agentlas-memory").files:
        text, source = str(path), Path(path.locate())
        if "__pycache__" in text or text.endswith((".pyc", "RECORD", "INSTALLER", "REQUESTED")):
            continue
        if text.endswith("direct_url.json"):
            continue
        if text.startswith(".."):
            if source.name.startswith("agentlas-memory-hook"):
                files[f"{name}.data/scripts/{source.name}"] = source.read_bytes()
            continue
        head, _, rest = text.partition("/")
        head = f"{name}.dist-info" if head.endswith(".dist-info") else head
        files[f"{head}/{rest}"] = source.read_bytes()
    _rename_version(files, name, version)
    change(files)
    return _write_wheel(folder / f"{name}-py3-none-any.whl", files, name)


def _rename_version(files, name, version):
    old = distribution("agentlas-memory").version
    for path, before in (
        (f"{NAME}/__init__.py", '"%s"'),
        (f"{name}.dist-info/METADATA", "Version: %s\n"),
    ):
        assert (before % old).encode() in files[path]
        files[path] = files[path].replace((before % old).encode(), (before % version).encode())


def _write_wheel(path, files, name):
    record = io.StringIO()
    writer = csv.writer(record, lineterminator="\n")
    for one, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow((one, f"sha256={digest}", len(data)))
    writer.writerow((f"{name}.dist-info/RECORD", "", ""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for one, data in {**files, f"{name}.dist-info/RECORD": record.getvalue().encode()}.items():
            info = zipfile.ZipInfo(one, (2026, 1, 1, 0, 0, 0))
            info.external_attr = (0o100755 if "/scripts/" in one else 0o100644) << 16
            archive.writestr(info, data)
    return path


def make_bundle(folder, version, key=None, *, change=lambda files: None, dependencies=None, **says):
    """Write a bundle's folder and return it; `says` replaces what its release.json says."""
    bundle = folder / f"agentlas-memory-{version}"
    wheels, tools = bundle / "wheels", bundle / "tools"
    for one in (wheels, tools):
        one.mkdir(parents=True)
    wheel = own_wheel(wheels, version, change)
    lines = []
    for path in dependency_wheels() if dependencies is None else dependencies:
        if path.name.startswith("pip-"):
            (tools / path.name).write_bytes(path.read_bytes())
            continue
        shutil.copy(path, wheels)
        name, number = path.name.split("-")[:2]
        lines.append(f"{name}=={number} --hash=sha256:{digest_of(path)}\n")
    (bundle / "requirements.txt").write_text("".join(["# what pip installs\n", *lines]))
    (bundle / "install.sh").write_text("#!/bin/sh\nexit 1\n")
    write_release(bundle, version, wheel, key, **says)
    return bundle


def write_release(bundle, version, own, key=None, **says):
    """Write what is signed, the signature and the key."""
    with zipfile.ZipFile(own) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    values = {
        "format": 1,
        "name": "agentlas-memory",
        "version": version,
        "commit": "0" * 40,
        "time": "2026-01-01T00:00:00Z",
        "requires_python": ">=3.10",
        "pythons": [HERE],
        "platform": sysconfig.get_platform(),
        "wheel": own.name,
        "files": {
            path.relative_to(bundle).as_posix(): {
                "sha256": digest_of(path),
                "size": path.stat().st_size,
            }
            for path in sorted(bundle.rglob("*"))
            if path.is_file() and path.name not in META
        },
        "model": {
            name.removeprefix(MODEL): hashlib.sha256(data).hexdigest()
            for name, data in inside.items()
            if name.startswith(MODEL)
        },
        "payloads": {
            name.removeprefix(f"{NAME}/"): hashlib.sha256(data).hexdigest()
            for name, data in inside.items()
            if name.startswith(f"{NAME}/host_adapters/") and "/payload/" in name
        },
    } | says
    data = (json.dumps(values, indent=1, sort_keys=True) + "\n").encode()
    (bundle / "release.json").write_bytes(data)
    if key is not None:
        sign(bundle, key)


def sign(bundle, key):
    data = (bundle / "release.json").read_bytes()
    (bundle / "release.json.sig").write_bytes(base64.b64encode(key.sign(data)) + b"\n")
    (bundle / "release-key.pub").write_bytes(public_text(key))


def pack(bundle):
    """Return the bundle as the archive that is published."""
    path = bundle.with_name(bundle.name + ".tar.gz")
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        archive.add(bundle, bundle.name)
    return path


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bootstrap(bundle, *options, python=None, flags=("-I",), environment=None):
    """Run what install.sh runs, on a bare Python."""
    wheel = next(bundle.glob("wheels/agentlas_memory-*.whl"))
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); "
        f"from {NAME}.installer.runtimes.bootstrap import main; sys.exit(main())"
    )
    command = [python or bare_python(), *flags, "-c", code, wheel, bundle, *options]
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=environment, timeout=300
    )


def bare_python():
    """Return the interpreter behind the tests' environment: it has none of our packages."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


__all__ = ["Unavailable"]
