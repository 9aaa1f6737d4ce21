"""Real versions from real wheels: installed, updated, rolled back; a hook answers all along."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from release_bundles import bootstrap, make_bundle, pack, public_text

from agentlas_memory.installer.runtimes.program import link_program
from agentlas_memory.installer.surfaces import Place

pytestmark = pytest.mark.slow

OLD, NEW = "0.1.0", "0.2.0"
FACT = "the ledger counts money in integer minor units"
BREAKING = "#!/bin/sh\nexit 17\n"


def break_hook(files):
    [name] = [one for one in files if one.endswith("scripts/agentlas-memory-hook")]
    files[name] = BREAKING.encode()


def break_install(files):
    """The new version's `install` changes a host's file and dies; its `--dry-run` is well."""
    name = "agentlas_memory/commands/install.py"
    line = b"            _point_current(place)\n"
    assert line in files[name]
    dying = (
        b"            Path(place.home, '.grok/AGENTS.md').write_text('spoilt')\n"
        b"            os.kill(os.getpid(), 9)\n"
    )
    files[name] = files[name].replace(line, line + dying)


def test_an_update_and_a_rollback_change_the_version_and_no_host_file(machine, new_bundle):
    before, command = machine.host_files(), str(machine.hook)
    old_hook = machine.hook.resolve()
    done = machine.am("update", "--from", new_bundle, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["action"], document["previous"], document["version"]) == (
        "updated",
        "0.1.0",
        NEW,
    )
    assert NEW in machine.am("--version").stdout
    assert machine.host_files() == before
    assert machine.answers()
    assert machine.answers(old_hook), "a session may hold the old version's own path"
    assert str(machine.hook) == command
    assert is_stamped(machine), "its hooks would hash the model at each prompt"
    done = machine.am("rollback", "--json")
    assert json.loads(done.stdout)["version"] == "0.1.0", done.stderr
    assert machine.host_files() == before
    assert machine.answers()


def is_stamped(machine):
    """Tell whether the hook of the version that serves is spared the hashing of its model."""
    code = (
        "import sys, agentlas_memory.embedding.asset as a\n"
        "a._check_digests = lambda folder: sys.exit('hashed')\n"
        "from agentlas_memory.embedding.model import open_model\n"
        "open_model(sys.argv[1])\n"
    )
    python = machine.runtimes / "current/bin/python3"
    return machine.run([python, "-I", "-c", code, str(machine.data)]).returncode == 0


def test_a_new_version_that_fails_its_test_leaves_everything(machine, tmp_path, key, light_wheels):
    broken = make_bundle(tmp_path, NEW, key, change=break_hook, dependencies=light_wheels)
    before = machine.host_files()
    done = machine.am("update", "--from", broken)
    assert done.returncode == 1
    assert "exit code 17" in done.stderr
    assert "the version that was active is active still" in done.stderr
    assert "rolled back" not in done.stderr
    assert machine.versions == {"0.1.0"} and machine.current == "0.1.0"
    assert machine.host_files() == before and machine.answers()


def test_a_new_version_that_breaks_down_on_the_hosts_is_taken_back(
    machine, tmp_path, key, light_wheels
):
    broken = make_bundle(tmp_path, NEW, key, change=break_install, dependencies=light_wheels)
    before = machine.host_files()
    done = machine.am("update", "--from", broken)
    assert done.returncode == 1
    assert "rolled back: version 0.1.0 is active again" in done.stderr
    assert machine.current == "0.1.0"
    assert machine.host_files() == before and machine.answers()


def test_an_installation_from_nothing_is_whole(tmp_path, key, shelf, wheels):
    home = tmp_path / "a home"
    (home / ".grok").mkdir(parents=True)
    bundle = make_bundle(tmp_path, "0.1.0", key)
    environment = {"HOME": str(home), "PATH": os.defpath}
    done = bootstrap(bundle, "--json", environment=environment)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["path"] == str(home / ".agentlas/runtime/0.1.0")
    grok = next(one for one in document["hosts"] if one["host"] == "grok")
    assert {change["action"] for change in grok["changes"]} == {"create", "update"} or grok
    assert (home / ".agentlas/release-key.pub").read_bytes() == public_text(key)
    assert (home / ".agentlas/release-key.pub").stat().st_mode & 0o777 == 0o600
    command = home / ".local/bin/agentlas-memory"
    ran = subprocess.run([command, "--version"], capture_output=True, text=True, env=environment)
    assert "0.1.0" in ran.stdout
    packages = {
        path.name.partition("-")[0] for path in Path(document["path"]).glob("lib/*/site-packages/*")
    }
    assert not packages & {"pip", "setuptools", "wheel"}
    assert size_of(Path(document["path"])) <= 200 * 1000 * 1000


def size_of(folder):
    """Return what `du` counts."""
    return 1024 * int(subprocess.check_output(["du", "-sk", folder]).split()[0])


def test_installing_again_repairs_beside_what_is_there(machine, old_bundle):
    broken = machine.runtimes / "0.1.0/lib"
    broken.rename(broken.with_name("gone"))
    assert machine.ask().returncode == 0 and not machine.answers()
    done = bootstrap(old_bundle, environment=machine.environment)
    assert done.returncode == 0, done.stderr
    assert "0.1.0 is damaged" in done.stderr
    assert machine.current == "0.1.0~2" and machine.versions == {"0.1.0~2"}
    assert machine.answers()


def test_installing_again_builds_nothing_where_all_is_whole(machine, old_bundle):
    before = (machine.runtimes / "0.1.0/runtime.json").stat()
    machine.home.joinpath(".config/opencode/plugins/agentlas-memory.js").unlink()
    done = bootstrap(old_bundle, environment=machine.environment)
    assert done.returncode == 0, done.stderr
    assert "it was here and is whole" in done.stderr and "opencode: 1 change" in done.stderr
    assert "install the wheels" not in done.stderr and machine.versions == {"0.1.0"}
    assert (machine.runtimes / "0.1.0/runtime.json").stat() == before
    done = bootstrap(old_bundle, "--dry-run", environment=machine.environment)
    assert "Only if it is damaged" in done.stderr


@pytest.mark.parametrize("name", ["agentlas_memory/cli.py", "rich/text.py"])
def test_a_file_that_was_altered_is_found_though_the_hook_answers(machine, old_bundle, name):
    [file] = machine.runtimes.glob(f"0.1.0/lib/*/site-packages/{name}")
    text = file.read_bytes()
    file.unlink()  # other tests share it
    file.write_bytes(text + b"# altered")
    assert machine.answers()
    done = bootstrap(old_bundle, environment=machine.environment)
    assert f"{name} is not what was installed" in done.stderr
    assert machine.current == "0.1.0~2" and machine.answers()


def test_a_missing_interpreter_is_named_and_repaired(machine, old_bundle):
    python = machine.runtimes / f"0.1.0/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    for name in ("python", "python3", python.name):
        (python.parent / name).unlink()
    python.symlink_to("/nonexistent/python3")
    (python.parent / "python3").symlink_to(python.name)
    assert machine.ask().returncode == 0 and machine.ask().stdout == ""
    done = machine.am("doctor")
    assert done.returncode == 1
    assert "its interpreter is missing" in done.stderr and "install.sh" in done.stderr
    assert bootstrap(old_bundle, environment=machine.environment).returncode == 0
    assert machine.answers()


def test_an_update_from_a_bundle_opens_no_socket(machine, new_bundle):
    guard = "import os, sys\ndef refuse(event, arguments):\n"
    guard += "    if event.startswith('socket.'):\n        os._exit(86)\n"
    guard += "sys.addaudithook(refuse)\n"
    [packages] = machine.runtimes.glob("0.1.0/lib/*/site-packages")
    (packages / "guard.pth").write_text("import sitecustomize\n")
    (packages / "sitecustomize.py").write_text(guard)
    probe = [machine.runtimes / "0.1.0/bin/python3", "-I", "-c", "import socket; socket.socket()"]
    assert machine.run(probe).returncode == 86
    done = machine.am("update", "--from", pack(new_bundle))
    assert done.returncode == 0, done.stderr
    assert machine.current == NEW


def test_an_update_from_a_bundle_opens_no_socket_in_any_process(machine, new_bundle, tmp_path):
    strace = shutil.which("strace")
    trace = [strace, "-f", "-qq", "-e", "trace=network", "-o", tmp_path / "trace"]
    if strace is None or machine.run([*trace, "true"]).returncode:
        pytest.skip("no tracing here")
    command = [machine.runtimes / "current/bin/agentlas-memory", "update", "--from", new_bundle]
    done = machine.run([*trace, *command])
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "trace").read_text().splitlines()
    assert not [line for line in lines if "AF_INET" in line]


def test_two_updates_at_once_do_one(machine, new_bundle):
    command = [machine.runtimes / "current/bin/agentlas-memory", "update", "--from", new_bundle]
    both = [
        subprocess.Popen(
            [*map(str, command), "--json"],
            env=machine.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    actions = sorted(json.loads(output)["action"] for output, _ in outputs)
    assert actions == ["unchanged", "updated"]
    assert machine.versions == {"0.1.0", NEW}


def test_two_versions_give_one_capsule_and_doctor_names_the_leftover(machine, new_bundle):
    assert machine.am("update", "--from", new_bundle).returncode == 0
    hooks = (machine.hook, machine.runtimes / "0.1.0/bin/agentlas-memory-hook")
    answers = [machine.ask(hook, session="one").stdout for hook in hooks]
    assert FACT in answers[0] and answers[1] == "", "a session is told once, whoever is asked"
    commands = (machine.home / ".grok/hooks/agentlas-memory.json").read_text()
    assert "runtime/current/" in commands and "runtime/0." not in commands
    told = json.loads(machine.am("doctor", "--json").stdout)["checks"]
    assert "0.1.0: the one to roll back to" in [one["detail"] for one in told]


def test_without_an_earlier_version_a_rollback_says_so(machine):
    done = machine.am("rollback")
    assert done.returncode == 1
    assert "no earlier version" in done.stderr
    assert machine.current == "0.1.0" and machine.answers()


@pytest.mark.parametrize("other", ["", "theirs"])
def test_a_purge_removes_every_version_the_command_and_its_folders(machine, other):
    link_program(Place(machine.home, machine.data, {}))
    link = machine.home / ".local/bin/agentlas-memory"
    hook = link.with_name("agentlas-memory-hook")
    assert machine.run([link, "--version"]).returncode == 0
    assert machine.answers(hook)
    if other:
        link.with_name(other).touch()
    done = machine.am("uninstall", "--purge", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert not machine.data.exists()
    assert not os.path.lexists(link) and not os.path.lexists(hook)
    assert (machine.home / ".local").exists() == bool(other)
    assert not list(machine.home.glob(".grok/hooks/*"))


def test_a_plain_uninstall_keeps_the_version_and_its_command(machine):
    assert machine.am("uninstall").returncode == 0
    assert machine.am("--version").returncode == 0
    assert machine.am("install").returncode == 0 and machine.answers()


def test_a_command_in_another_place_than_the_home_keeps_its_data_there(machine, tmp_path):
    environment = machine.environment | {"HOME": str(tmp_path)}  # as after `--prefix`
    done = machine.am("runtime", "list", "--json", env=environment)
    assert json.loads(done.stdout)["current"] == OLD, done.stderr
    assert not (tmp_path / ".agentlas").exists()
