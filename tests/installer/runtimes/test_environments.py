"""Which name of an interpreter a version is built on."""

import pytest

from agentlas_memory.installer.runtimes.environments import steady

# Folder of one patch release -> the link beside it that stays.
STEADY = {
    "homebrew": ("Cellar/python@3.12/3.12.7_1", "opt/python@3.12"),
    "homebrew's framework": ("Cellar/python@3.12/3.12.7/Frameworks/x", "opt/python@3.12"),
    "uv": ("uv/python/cpython-3.12.7-linux-x86_64-gnu", "uv/python/cpython-3.12-linux-x86_64-gnu"),
}


def interpreter_in(folder):
    python = folder / "bin/python3.12"
    python.parent.mkdir(parents=True)
    python.touch()
    return python


@pytest.mark.parametrize(("patch", "link"), STEADY.values(), ids=STEADY)
def test_a_name_that_outlives_a_patch_release_is_taken(tmp_path, patch, link):
    python = interpreter_in(tmp_path / patch)
    below = "Frameworks/x/bin/python3.12" if "Frameworks" in patch else "bin/python3.12"
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(str(python).removesuffix(f"/{below}"))
    assert steady(python) == tmp_path / link / below


@pytest.mark.parametrize("patch", ["Cellar/python@3.12/3.12.7", "pyenv/versions/3.12.7", "usr"])
def test_where_there_is_none_the_real_one_is(tmp_path, patch):
    python = interpreter_in(tmp_path / patch)
    assert steady(python) == python


def test_a_link_to_another_release_is_not_taken(tmp_path):
    python = interpreter_in(tmp_path / "Cellar/python@3.12/3.12.7")
    interpreter_in(tmp_path / "opt/python@3.12")
    assert steady(python) == python
