"""install.sh reads its options, checks what it is given, and hands over."""

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from releases.small_bundle import REAL, SCRIPTS, WHEEL, called, install, pack, write_program

from agentlas_memory import __version__

SHELLS = [
    shell
    for shell in (["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"])
    if shutil.which(shell[0])
]


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_bundle_is_handed_to_its_own_routine(bundle, python, shell):
    answer = called(install(bundle / "install.sh", "--dry-run", "--no-hosts", shell=shell))
    copy, *options = answer["arguments"]
    assert Path(copy).name == "bundle" and copy != str(bundle)  # what was checked
    assert options == ["--dry-run", "--no-hosts"]
    assert answer["python"] == REAL


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_the_script_is_read_from_standard_input(bundle, python, shell, tmp_path):
    pack(bundle, tmp_path / "b.tar.gz")
    command = [shutil.which(shell[0], path="/usr/bin:/bin"), *shell[1:], "-s", "--"]
    with (bundle / "install.sh").open("rb") as script:
        told = {"stdin": script, "capture_output": True, "text": True, "cwd": tmp_path}
        done = subprocess.run([*command, "--from", "b.tar.gz"], **told)
    assert called(done)["python"] == REAL


def test_from_standard_input_it_asks_what_to_install(bundle, python):
    with (bundle / "install.sh").open("rb") as script:
        told = {"stdin": script, "capture_output": True, "text": True}
        done = subprocess.run(["/bin/sh", "-s"], **told)
    assert done.returncode == 1
    assert "--from" in done.stderr


def test_an_archive_is_unpacked_aside_and_leaves_nothing(bundle, python, tmp_path, monkeypatch):
    archive = pack(bundle, tmp_path / "a b.tar.gz")
    (tmp_path / "t").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    called(install(bundle / "install.sh", "--from", archive))
    assert list((tmp_path / "t").iterdir()) == []


def test_what_a_killed_run_left_goes_after_a_day(bundle, python, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    names = ("agentlas-install.abc123", "agentlas-install.new456", "agentlas-install.d")
    for name in names:
        (tmp_path / "t" / name / "bundle").mkdir(parents=True)
    for name in names[::2]:
        os.utime(tmp_path / "t" / name, (0, 0))
    called(install(bundle / "install.sh", "--dry-run"))
    assert {path.name for path in (tmp_path / "t").iterdir()} == set(names)
    called(install(bundle / "install.sh"))
    assert {path.name for path in (tmp_path / "t").iterdir()} == set(names[1:])


def test_a_channel_s_folder_names_its_one_archive(bundle, python, tmp_path):
    (tmp_path / "channel").mkdir()
    pack(bundle, tmp_path / "channel/agentlas-memory-0.1.0.tar.gz")
    called(install(bundle / "install.sh", "--from", tmp_path / "channel"))
    pack(bundle, tmp_path / "channel/agentlas-memory-0.2.0.tar.gz")
    assert "or several" in install(bundle / "install.sh", "--from", tmp_path / "channel").stderr


def test_another_home_is_passed_on_and_told(bundle, python, tmp_path):
    done = install(bundle / "install.sh", "--prefix", "my home", cwd=tmp_path)
    assert called(done)["home"] == str(tmp_path / "my home")
    assert f"export AGENTLAS_HOME='{tmp_path}/my home'" in done.stdout


def test_it_says_how_to_undo_it(bundle, python, home):
    done = install(bundle / "install.sh")
    assert f"{home}/.agentlas/runtime/current/bin/agentlas-memory uninstall --purge" in done.stdout


def test_what_it_says_can_be_pasted(bundle, python, home, tmp_path):
    prefix = tmp_path / 'it\'s "$HOME"'
    done = install(bundle / "install.sh", "--prefix", prefix)
    called(done)
    [export] = [line for line in done.stdout.splitlines() if "export" in line]
    shown = subprocess.check_output(
        ["/bin/sh", "-c", f'{export}; echo "$AGENTLAS_HOME"'], text=True
    )
    assert shown == f"{prefix}\n"


def test_a_command_on_the_path_is_named_by_its_name(bundle, python, path, home):
    (path / "agentlas-memory").symlink_to(home / ".agentlas/runtime/current/bin/agentlas-memory")
    target = home / ".agentlas/runtime/current/bin/agentlas-memory"
    target.parent.mkdir(parents=True)
    write_program(target.parent, "agentlas-memory", "exit 0")
    assert "To undo it:   agentlas-memory uninstall" in install(bundle / "install.sh").stdout


def test_the_routine_s_failure_is_ours(bundle, python, monkeypatch):
    monkeypatch.setenv("ROUTINE_ANSWERS", "3")
    done = install(bundle / "install.sh")
    assert done.returncode == 3
    assert "To undo" not in done.stdout


@pytest.mark.parametrize("option", [["--prefix"], ["--from", ""], ["--force"]])
def test_wrong_use_is_told(bundle, python, option):
    done = install(bundle / "install.sh", *option)
    assert done.returncode == 2
    assert "sh install.sh [--from" in done.stderr


def alter(folder):
    with (folder / "wheels" / WHEEL).open("ab") as wheel:
        wheel.write(b"\0")


def lose(folder):
    (folder / "tools/pip-1-py3-none-any.whl").unlink()


def slip_in(folder):
    (folder / "wheels/numpy-9-py3-none-any.whl").write_bytes(b"")


def leave_unlisted(folder):
    sums = folder / "SHA256SUMS"
    kept = [line for line in sums.read_text().splitlines(True) if WHEEL not in line]
    sums.write_text("".join(kept))


def lose_the_sums(folder):
    (folder / "SHA256SUMS").write_text("what?\n")


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize("damage", [alter, lose, slip_in, leave_unlisted, lose_the_sums])
def test_a_damaged_bundle_is_refused_before_its_code_runs(bundle, python, tmp_path, damage, packed):
    damage(bundle)
    source = pack(bundle, tmp_path / "b.tar.gz") if packed else bundle
    done = install(bundle / "install.sh", "--from", source)
    assert done.returncode == 1
    assert "Nothing was changed" in done.stderr
    assert done.stdout == ""


def test_half_an_archive_is_refused(bundle, python, tmp_path):
    archive = pack(bundle, tmp_path / "b.tar.gz")
    archive.write_bytes(archive.read_bytes()[:2000])
    done = install(bundle / "install.sh", "--from", archive)
    assert done.returncode == 1
    assert "not a whole bundle" in done.stderr


def crowded(command, folder):
    """Run a command with a temporary folder of 8 KB."""
    alone = ["unshare", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"]).returncode:
        pytest.skip("nothing can be mounted here")
    folder.mkdir()
    mounted = 'mount -t tmpfs -o size=8k none "$TMPDIR" && exec "$@"'
    told = {"capture_output": True, "text": True, "env": os.environ | {"TMPDIR": str(folder)}}
    return subprocess.run([*alone, "sh", "-c", mounted, "sh", *command], **told)


def test_a_full_temporary_folder_is_told_as_such(bundle, tmp_path):
    archive = pack(bundle, tmp_path / "b.tar.gz")
    room = tmp_path / "t"
    options = ["--python", REAL, "--from", archive, "--prefix", tmp_path / "home"]
    done = crowded(["sh", bundle / "install.sh", *options], room)
    assert done.returncode == 1
    assert done.stderr.startswith(f"The temporary folder {room} is full: make room")
    assert "again" not in done.stderr and not (tmp_path / "home").exists()


def test_a_full_temporary_folder_is_told_to_who_builds(tmp_path):
    room = tmp_path / "t"
    options = ["--python", REAL, "--prefix", tmp_path / "home"]
    done = crowded(["sh", SCRIPTS / "install.sh", *options], room)
    assert done.returncode == 1
    assert f"The temporary folder {room} is full: make room" in done.stderr
    assert "index" not in done.stderr and len(done.stderr.splitlines()) == 3


def test_a_checkout_s_dry_run_builds_and_fetches_nothing(home):
    (home / ".grok").mkdir()
    done = install(SCRIPTS / "install.sh", "--dry-run", "--python", REAL, env={"HOME": str(home)})
    assert done.returncode == 0, done.stderr
    assert "Would fetch some 40 wheels" in done.stderr
    assert f"Would build version {__version__} in {home}/.agentlas/runtime/" in done.stderr
    assert "Would put the hook into: grok" in done.stderr
    assert list(home.iterdir()) == [home / ".grok"]


@pytest.mark.parametrize("kind", ["above", "link"])
def test_an_archive_that_reaches_outside_is_refused(bundle, python, tmp_path, kind):
    archive = tmp_path / "b.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        entry = tarfile.TarInfo("x/../../evil")
        entry.size = 1
        if kind == "link":
            entry = tarfile.TarInfo("x/evil")
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc"
        file.addfile(entry, io.BytesIO(b"x"))
    done = install(bundle / "install.sh", "--from", archive)
    assert done.returncode == 1
    assert "no bundle holds" in done.stderr


def test_a_checkout_s_script_is_told_apart_from_a_bundle_s(python, tmp_path):
    with (SCRIPTS / "install.sh").open("rb") as script:
        told = {"stdin": script, "capture_output": True, "text": True, "cwd": tmp_path}
        done = subprocess.run(["/bin/sh", "-s", "--", "--from", "x"], **told)
    assert done.returncode == 1
    assert "install.sh of a bundle" in done.stderr


def shellcheck():
    return shutil.which("shellcheck") or shutil.which(
        "shellcheck", path=Path(sys.executable).parent
    )


@pytest.mark.skipif(not shellcheck(), reason="shellcheck is not installed")
def test_shellcheck_has_nothing_to_say(bundle):
    done = subprocess.run([shellcheck(), bundle / "install.sh"], capture_output=True, text=True)
    assert done.stdout == ""
