"""Paths, and the folders that can be a project."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlas_memory import project
from agentlas_memory.project import DATABASE, find_project, normal_path

SPELLINGS = {
    "/a/b": "/a/b",
    "/a/b/": "/a/b",
    "//a///b": "/a/b",
    "/a/./b/.": "/a/b",
    "/a/x/../b": "/a/b",
    "/../..": "/",
    "/": "/",
    "b": "/base/b",
    "../b": "/b",
    "": "/base",
    ".": "/base",
}


@pytest.mark.parametrize(("path", "normal"), SPELLINGS.items())
def test_a_path_has_one_spelling(path, normal):
    assert normal_path(path, "/base") == normal


@given(st.text(alphabet="ab./", max_size=20))
def test_a_path_is_spelled_as_the_library_does(path):
    assert normal_path(path, "/base") == os.path.normpath(
        "/" + os.path.join("/base", path)
    ).replace("//", "/")


def make_marker(folder):
    file = folder / DATABASE
    file.parent.mkdir(parents=True)
    file.write_text("")
    return folder


def test_the_nearest_ancestor_is_the_project(tmp_path):
    outer = make_marker(tmp_path / "outer")
    inner = make_marker(outer / "inner")
    (inner / "deep/er").mkdir(parents=True)
    assert find_project(str(inner / "deep/er"), "").root == str(inner)
    assert find_project(str(outer / "beside"), "").root == str(outer)


def test_case_distinguishes_where_the_file_system_does(tmp_path):
    make_marker(tmp_path / "project")
    same = os.path.exists(tmp_path / "PROJECT")
    assert (find_project(str(tmp_path / "PROJECT"), "") is not None) is same


def test_the_home_directory_is_passed_over_in_any_spelling(tmp_path):
    outer = make_marker(tmp_path / "outer")
    home = make_marker(outer / "home")
    (tmp_path / "link").symlink_to(home)
    assert find_project(str(home), str(tmp_path / "link")).root == str(outer)
    assert find_project(str(home), f"{home}/../home/").root == str(outer)


@pytest.mark.parametrize("cwd", ["/", "//", "/..", "/home"])
def test_the_root_is_no_project(monkeypatch, cwd):
    asked = []
    monkeypatch.setattr(project, "has_marker", lambda folder: asked.append(folder))
    assert find_project(cwd, "") is None
    assert "/" not in asked
    assert "" not in asked
