"""memory.toml: what it says, and what a mistake in it says back."""

import pytest

from agentlas_memory.ontology.config import (
    ConfigError,
    MemoryConfig,
    default_config_text,
    load_config,
)


def write(project, text):
    folder = project / ".agentlas"
    folder.mkdir()
    (folder / "memory.toml").write_text(text)
    return project


def test_a_project_without_the_file_has_the_defaults(tmp_path):
    assert load_config(tmp_path) == MemoryConfig()


def test_patterns_and_scopes_are_read(tmp_path):
    text = 'include = ["*.html"]\nexclude = ["old/"]\n[scopes]\n"docs/hr/" = "private"\n'
    config = load_config(write(tmp_path, text))
    assert config.is_included("a/b.html")
    assert not config.is_included("a/b.py")
    assert config.is_excluded("old/")
    assert config.is_excluded("old/a.md")
    assert config.scope_of("docs/hr/pay.md") == "private"
    assert config.scope_of("docs/pay.md") == "internal"


def test_the_last_scope_that_fits_decides(tmp_path):
    # A file pattern must not win over a folder pattern that comes later.
    scopes = (("*.md", "public"), ("docs/hr/", "private"), ("docs/hr/jobs.md", "public"))
    config = MemoryConfig(scopes=scopes)
    assert config.scope_of("docs/hr/pay.md") == "private"
    assert config.scope_of("docs/hr/jobs.md") == "public"
    assert config.scope_of("README.md") == "public"


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        pytest.param("include = [\n", 2, None, id="unfinished list"),
        pytest.param("a = 1\nb = = 2\n", 2, None, id="bad syntax"),
        pytest.param("\nincludes = []\n", 2, "includes", id="unknown key"),
        pytest.param('exclude = "a"\n', 1, "exclude", id="text for a list"),
        pytest.param("include = [1]\n", 1, "include", id="number in a list"),
        pytest.param("\n\nscopes = 1\n", 3, "scopes", id="scopes no table"),
        pytest.param('[scopes]\n"a/" = "secret"\n', 2, "a/", id="unknown scope"),
        pytest.param('[scopes]\n"!a/" = "private"\n', 2, "!a/", id="negated scope"),
        pytest.param('[scopes]\n"#a" = "private"\n', 2, "#a", id="comment for a pattern"),
        pytest.param('exclude = ["!"]\n', 1, "exclude", id="no pattern"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_key(tmp_path, text, line, key):
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, text))
    assert (caught.value.line, caught.value.key) == (line, key)
    assert str(caught.value).startswith(f"{tmp_path}/.agentlas/memory.toml:{line}: ")


def test_a_file_that_is_not_text_is_named(tmp_path):
    project = write(tmp_path, "")
    (project / ".agentlas/memory.toml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(project)


def test_the_default_text_changes_nothing(tmp_path):
    assert load_config(write(tmp_path, default_config_text())) == MemoryConfig()
