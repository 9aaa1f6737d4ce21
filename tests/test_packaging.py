"""The wheel holds what the folders hold, under one name.

What the wheel held is read from the record that pip keeps of the installation.
"""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import distribution, files
from pathlib import Path, PurePosixPath

import pytest

import agentlas_memory

ROOT = Path(__file__).parents[1]
MODEL = "agentlas_memory/models/model2vec/potion-base-8M-int8"
DIST_INFO = f"agentlas_memory-{agentlas_memory.__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel():
    """Paths in the installed wheel, without what pip added."""
    paths = [str(path) for path in files("agentlas-memory")]
    return {path for path in paths if not path.endswith(".pyc")}


def listed_packages():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^packages = \[(.*?)\]", project, re.DOTALL | re.MULTILINE).group(1)
    return re.findall(r'"([^"]+)"', block)


def package_folders():
    """Import names of all folders with code; repository folders are renamed as in pyproject."""
    folders = {
        file.parent.relative_to(ROOT).as_posix().replace("/", ".")
        for room in ("agentlas_memory", "host_adapters", "installer")
        for file in (ROOT / room).rglob("*.py")
    }
    return sorted(re.sub(r"^(host_adapters|installer)", r"agentlas_memory.\1", f) for f in folders)


def test_every_folder_with_code_is_a_listed_package():
    assert sorted(listed_packages()) == package_folders()


def test_the_tests_run_on_the_installed_package():
    assert Path(agentlas_memory.__file__).is_relative_to(sys.prefix)


def test_the_installation_is_a_wheel_and_not_editable():
    origin = distribution("agentlas-memory").read_text("direct_url.json") or "{}"
    assert not json.loads(origin).get("dir_info", {}).get("editable")


def test_the_wheel_takes_one_name(wheel):
    tops = {PurePosixPath(path).parts[0] for path in wheel if not path.startswith("..")}
    assert tops == {"agentlas_memory", DIST_INFO}


def test_the_wheel_brings_two_programs_and_the_hook_s_launcher_for_windows(wheel):
    programs = {PurePosixPath(path).name for path in wheel if path.startswith("..")}
    assert programs == {
        "agentlas-memory",
        "agentlas-memory-hook",
        "agentlas-memory-hook.cmd",
    }


@pytest.mark.parametrize(
    "path",
    [
        *(
            f"{MODEL}/{name}"
            for name in (
                "LICENSE.model.txt",
                "embeddings.i8",
                "manifest.json",
                "scales.f32le",
                "tokenizer.json",
                "wordpiece.chars",
                "wordpiece.vocab",
            )
        ),
        *(
            f"agentlas_memory/host_adapters/{host}/payload/{name}.json"
            for host in ("claude", "codex")
            for name in ("hooks", "marketplace", "plugin")
        ),
        "agentlas_memory/ontology/analyzer.chars",
        "agentlas_memory/py.typed",
        f"{DIST_INFO}/licenses/LICENSE",
        f"{DIST_INFO}/licenses/{MODEL}/LICENSE.model.txt",
    ],
)
def test_the_wheel_holds(wheel, path):
    assert path in wheel


def test_the_wheel_holds_every_module_and_no_test(wheel):
    modules = {path for path in wheel if path.endswith(".py")}
    expected = {
        f"{name.replace('.', '/')}/{file.name}"
        for name in listed_packages()
        for file in folder_of(name).glob("*.py")
    }
    assert modules == expected


def folder_of(name):
    renamed = re.sub(r"^agentlas_memory\.(host_adapters|installer)", r"\1", name)
    return ROOT / renamed.replace(".", "/")


def test_the_launcher_is_the_repository_s_own_file(launcher):
    assert launcher.read_bytes() == (ROOT / "bin" / launcher.name).read_bytes()
    assert os.access(launcher, os.X_OK)


def test_the_program_tells_its_version(program):
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert agentlas_memory.__version__ in answer.stdout
