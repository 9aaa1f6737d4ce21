"""install.ps1, as far as it is seen without Windows: by its text, and by pwsh if it is here."""

import re
import shutil
import subprocess

import pytest
from releases.small_bundle import SCRIPTS

SCRIPT = SCRIPTS / "install.ps1"
TEXT = SCRIPT.read_text(encoding="ascii")  # Windows PowerShell reads anything else as ANSI


def programs(folder):
    """Return the Python programs as the script takes them from the files beside it."""
    pattern = re.search(r'\[regex\]::Match\(\$text, "(.*)"\)', TEXT)[1]
    files = [folder / name for name in ("install.sh", "find_python.sh")]
    text = "".join(file.read_text() for file in files if file.exists())
    names = re.findall(r"Save-Program '(\w+)'", TEXT)
    return {name: re.search(pattern.replace("$Name", name), text)[1] for name in names}


@pytest.mark.parametrize("form", ["checkout", "bundle"])
def test_its_programs_are_those_of_install_sh(bundle, form):
    found = programs(SCRIPTS if form == "checkout" else bundle)
    assert found.keys() == {"PROBE", "CHECK", "START"}
    for name, program in found.items():
        compile(program, name, "exec")
    assert "fts5" in found["PROBE"]
    assert "SHA256SUMS" in found["CHECK"]


def test_it_has_the_options_of_install_sh():
    usage = re.search(r'^  echo "sh install.sh (.*)"$', (SCRIPTS / "install.sh").read_text(), re.M)[
        1
    ]
    wanted = {option.replace("-", "") for option in re.findall(r"--([a-z-]+)", usage)}
    options = re.search(r"^param\((.*?)^\)", TEXT, re.M | re.S)[1]
    assert {name.lower() for name in re.findall(r"\$(\w+)", options)} - {"false"} == wanted


def test_it_hands_over_what_install_sh_hands_over():
    script = (SCRIPTS / "install.sh").read_text()
    for option in ("--dry-run", "--no-hosts", "--checkout"):
        assert f"'{option}'" in TEXT
        assert option in script


def test_it_changes_no_policy_and_no_profile():
    for word in (
        "ExecutionPolicy",
        "$PROFILE",
        "SetEnvironmentVariable",
        "--break-system-packages",
    ):
        assert word not in TEXT


@pytest.mark.skipif(not shutil.which("pwsh"), reason="pwsh is not installed")
def test_pwsh_reads_it_without_complaint():
    read = (
        "$errors = $null; [void][Management.Automation.Language.Parser]::ParseFile("
        f"'{SCRIPT}', [ref]$null, [ref]$errors); $errors; exit $errors.Count"
    )
    subprocess.run(["pwsh", "-NoProfile", "-Command", read], check=True)
