"""Imports run one way, and the hook pays for few."""

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import agentlas_memory
from agentlas_memory.bench.corpus import Text
from agentlas_memory.bench.installation import clean_environment
from agentlas_memory.bench.scene import build_scene

PACKAGE = Path(agentlas_memory.__file__).parent
NAME = "agentlas_memory"

# Imports that go against the rules, each with its reason.
EXCEPTIONS = {
    # `from agentlas_memory.ontology import OntologyRuntime` is promised; it is loaded when asked.
    (f"{NAME}.ontology", f"{NAME}.runtime"),
}

# Modules that compute a name to import -> the room of what it stands for, and how the name ends.
COMPUTED = {
    f"{NAME}.hook": (f"{NAME}.host_adapters", ".adapter"),
    f"{NAME}.cli": (f"{NAME}.commands", ""),
    f"{NAME}.installer.hosts": (f"{NAME}.host_adapters", ".install_spec"),
    f"{NAME}.ontology.stemming": ("snowballstemmer", ""),
}

# A room -> the only rooms of ours it may import, and why.
MAY_IMPORT = {
    "lean": ((), "everything else stands on it"),
    "events": ((), "the one value that hosts and core share"),
    "host_adapters": (
        ("events", "lean", "installer"),
        "a host is its JSON and where that lies: no store, no other host",
    ),
    "redact": (("redaction",), "rules about secrets and nothing else, usable anywhere"),
    "redaction": ((), "as above"),
    "chartable": ((), "a table reader"),
    "embedding": (("chartable", "lean"), "text to vector, without SQL and hosts"),
    "deadline": (("lean",), "a clock"),
}

# A room -> the rooms of ours it must never import, and why.
NEVER_IMPORTS = {
    "ontology": (
        ("recall", "review", "host_adapters", "capsule", "hook", "runtime", "commands", "cli"),
        "the store knows neither ranking nor who asks",
    ),
    "recall": (
        ("host_adapters", "hook", "runtime", "commands", "cli", "bench"),
        "ranking knows no host",
    ),
    "capsule": (("host_adapters", "hook", "ontology"), "text in, text out"),
    "review": (
        ("host_adapters", "hook", "runtime", "commands", "cli", "bench"),
        "it judges text, whoever asks",
    ),
    "upstream": (
        ("recall", "host_adapters", "hook", "runtime", "commands", "cli", "bench"),
        "it reads a file and fills the store: what is asked of that is not its concern",
    ),
    "importing": (
        ("recall", "host_adapters", "hook", "runtime", "commands", "cli", "installer"),
        "it reads what others kept and writes notes: no ranking, no host's events",
    ),
    "runtime": (("host_adapters", "hook", "commands", "cli"), "the Python interface knows no host"),
    "installer": (
        ("hook", "recall", "ontology", "capsule", "runtime", "commands", "cli"),
        "files and ownership, no events and no recall",
    ),
    "commands": (("cli",), "the table of commands knows them, not they it"),
}

# What the hook may reach, in its own code and everything it could import, function bodies included.
HOOK_NEVER = (
    "cli",
    "commands",
    "bench",
    "runtime",
    "importing",
    "installer",
    "review",
    "upstream",
    "trust_file",
    "settings_file",
)
HOOK_LIBRARIES = {"simsimd", "snowballstemmer"}  # a stemmer only for words in its script

# Modules beyond a bare `python3 -I -S -c pass`, and the whole process in multiples of the bare one
# (8.4 ms; medians of 40, CPython 3.11). Whatever is not here is not imported by a hook.
ALLOWED = {
    "gc",  # 1.00: built in; switched off by the launcher
    "_json",  # 1.03: the C scanner behind `json`, which costs 2.1
    "_functools",  # 1.01: for the stand-in that spares `functools`
    "_sqlite3",  # 1.20: the store; the package around it costs 1.8
    "mmap",  # 1.02: model and vectors are mapped
    "_struct",  # 1.01
    "math",  # 1.01
    "itertools",  # 1.00
    "_bisect",  # 1.01
    "_sha2",  # 1.02: SHA-256 since 3.12; hashlib costs 1.4
    "_sha256",  # 1.02: the same before
    "simsimd",  # 1.08: cosine over all vectors; plain Python takes 12 ms for each thousand
}

# Our own modules for each road, at most: twenty small ones cost 0.3 of a bare interpreter.
SCENES = {
    "no marker": ("elsewhere", {"prompt": "why integer minor units in the ledger"}, 12),
    "silent prompt": ("project", {"prompt": "thanks"}, 48),
    "delivered prompt": ("project", {"prompt": "why integer minor units in the ledger?"}, 50),
    "delivered experience": ("governed", {"prompt": "rollback of a schema migration?"}, 56),
    "session start": ("project", {"hook_event_name": "SessionStart", "source": "startup"}, 30),
}


def module_name(file):
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Imports(ast.NodeVisitor):
    """Every import of a module, in functions too; what only a type checker reads is passed over."""

    def __init__(self, known):
        self.known = known
        self.found = set()
        self.computes = False

    def visit_If(self, node):
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)

    def visit_Import(self, node):
        self.found.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node):
        assert node.level == 0, "absolute imports only"
        names = {f"{node.module}.{alias.name}" for alias in node.names}
        self.found.update(names & self.known or {node.module})

    def visit_Call(self, node):
        self.computes |= getattr(node.func, "id", "") in ("__import__", "import_module")
        self.generic_visit(node)


@pytest.fixture(scope="module")
def graph():
    """Each module of ours with what it imports."""
    files = {module_name(file): file for file in PACKAGE.rglob("*.py")}
    edges = {}
    for name, file in files.items():
        imports = Imports(set(files))
        imports.visit(ast.parse(file.read_text(encoding="utf-8")))
        assert imports.computes == (name in COMPUTED), f"computed import in {name}"
        if imports.computes:
            room, end = COMPUTED[name]
            inside = (other for other in files if other.startswith(f"{room}."))
            imports.found |= {room, *(other for other in inside if other.endswith(end))}
        edges[name] = {found for found in imports.found if (name, found) not in EXCEPTIONS}
    return edges


def in_room(module, room):
    """Tell whether a module is a room or in it."""
    name = f"{NAME}.{room}"
    return module == name or module.startswith(f"{name}.")


def imports_of_ours(graph, room):
    modules = [module for module in graph if in_room(module, room)]
    assert modules, f"the rule names no module: {room}"
    return {
        (module, found)
        for module in modules
        for found in graph[module]
        if found.startswith(f"{NAME}.") and not in_room(found, room)
    }


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_small_room_imports_only(graph, room):
    rooms, reason = MAY_IMPORT[room]
    strangers = {
        pair for pair in imports_of_ours(graph, room) if not any(in_room(pair[1], r) for r in rooms)
    }
    assert not strangers, reason


@pytest.mark.parametrize("room", NEVER_IMPORTS)
def test_a_room_never_imports(graph, room):
    rooms, reason = NEVER_IMPORTS[room]
    strangers = {
        pair for pair in imports_of_ours(graph, room) if any(in_room(pair[1], r) for r in rooms)
    }
    assert not strangers, reason


def test_an_adapter_knows_nothing_of_the_installer(graph):
    adapters = [name for name in graph if name.endswith(".adapter")]
    assert len(adapters) >= 3
    assert not {found for name in adapters for found in graph[name] if in_room(found, "installer")}


def reachable(graph, start):
    """Modules that importing `start` could lead to; packages on the way are imported too."""
    seen, waiting = set(), [start]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += graph.get(module, ())
            waiting += [module.rpartition(".")[0]] if module.startswith(f"{NAME}.") else []
    return seen


def test_the_hook_cannot_reach_the_management_side(graph):
    reached = reachable(graph, f"{NAME}.hook")
    assert f"{NAME}.host_adapters.claude.adapter" in reached
    assert not {module for module in reached for room in HOOK_NEVER if in_room(module, room)}


def test_the_hook_can_reach_two_libraries(graph):
    reached = {module.partition(".")[0] for module in reachable(graph, f"{NAME}.hook")}
    known = {NAME, "_sha2", "_sha256", *sys.stdlib_module_names}  # the two: by version
    assert reached - known == HOOK_LIBRARIES


@pytest.fixture(scope="module")
def scene(tmp_path_factory, program, make_card):
    """A project with a document and a constraint for a session's start, another with an agent."""
    text = "We settle the ledger in integer minor units because floats lose cents."
    chunks = [Text("1", text, "Ledger", "docs/ledger.md")]
    scene = build_scene(tmp_path_factory.mktemp("scene"), chunks)
    note = [program, "remember", "Never store money as a float.", "--kind", "constraint"]
    environment = clean_environment(scene.home)
    subprocess.run([*note, "--project", scene.project], env=environment, check=True)
    governed = scene.home.parent / "governed"
    governed.mkdir()
    make_card(governed)
    text = "Use a rollback checklist for every schema migration"
    for words in (["experience", "add", text], ["trust"], ["init"]):
        command = [program, *words, "--project", governed]
        subprocess.run(command, env=environment, check=True, capture_output=True)
    return scene


def loaded_modules(scene, arguments, cwd, event=b""):
    """Run python as the launcher does; return stdout and the modules that were imported."""
    python = Path(sys.prefix, "bin", "python3")
    answer = subprocess.run(
        [python, "-I", "-S", "-X", "importtime", *arguments],
        input=event,
        capture_output=True,
        env=clean_environment(scene.home),
        cwd=cwd,
        check=True,
    )
    lines = answer.stderr.decode().splitlines()
    return answer.stdout, {line.rpartition("|")[2].strip() for line in lines}


def run_hook(scene, launcher, name):
    place, fields, _ = SCENES[name]
    cwd = scene.home.parent / place
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": str(time.time_ns()),  # new, or a capsule that was delivered once is silent
        "cwd": str(cwd),
        **fields,
    }
    arguments = [str(launcher), "--host", "claude"]
    return loaded_modules(scene, arguments, cwd, json.dumps(event).encode())


@pytest.mark.parametrize("name", SCENES)
def test_the_hook_imports_nothing_beyond_its_list(scene, launcher, name):
    _, bare = loaded_modules(scene, ["-c", "pass"], scene.elsewhere)
    _, loaded = run_hook(scene, launcher, name)
    assert {module for module in loaded - bare if not module.startswith(NAME)} <= ALLOWED


@pytest.mark.parametrize("name", SCENES)
def test_the_hook_loads_few_modules_of_ours(scene, launcher, name):
    _, loaded = run_hook(scene, launcher, name)
    count = len({module for module in loaded if module.startswith(NAME)})
    assert 0 < count <= SCENES[name][2]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no marker", b""),
        ("silent prompt", b""),
        ("delivered prompt", b"integer minor units"),
        ("delivered experience", b"rollback checklist"),
        ("session start", b"Never store money"),
    ],
)
def test_the_scenes_take_the_roads_they_name(scene, launcher, name, says):
    answer, _ = run_hook(scene, launcher, name)
    assert says in answer
    assert bool(says) == bool(answer)
