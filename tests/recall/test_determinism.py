"""The same sources and the same prompt: the same answer, in any process, on any Python."""

import shutil
import subprocess
import sys

import pytest

PROMPTS = [
    "why do we settle the ledger in integer minor units?",
    "what does ADR-7 say about the gateway?",
    "тёмная тема",
    "设备清单",
    "thanks",
]
FILES = {
    "ledger.md": "# Ledger\n\nWe settle the ledger in integer minor units, as floats lose cents.\n",
    "docs/adr/0007-gateway.md": "# Gateway\n\nThe gateway drains the blue cluster first.\n",
    "themes.md": "# Темы\n\nПользователь предпочитает тёмную тему. 设备清单在仓库。\n",
    **{f"same{n}.md": f"# Same {n}\n\nThe lease of shard {n} ends.\n" for n in range(20)},
}
CODE = """
import json, sys
from pathlib import Path
from agentlas_memory.ontology.index import index_project
from agentlas_memory.runtime import OntologyRuntime
root = Path(sys.argv[1])
index_project(root)
runtime = OntologyRuntime(root / ".agentlas/ontology-runtime.sqlite")
for prompt in json.loads(sys.argv[2]):
    print(json.dumps(runtime.query(prompt, gated=False).to_dict()))
    print(json.dumps(runtime.query(prompt).to_dict()))
"""


def answers(python, root, seed):
    import json
    import os

    (root / ".agentlas").mkdir(parents=True)
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    command = [python, "-c", CODE, root, json.dumps(PROMPTS)]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_two_processes_agree(tmp_path):
    first = answers(sys.executable, tmp_path / "one", seed=1)
    assert first.count(b'"ledger.md"')
    assert answers(sys.executable, tmp_path / "two", seed=2) == first


def test_another_python_agrees(tmp_path):
    others = [path for path in map(shutil.which, PYTHONS) if path and can_run(path)]
    if not others:
        pytest.skip("no other Python has the package and its dependencies")
    expected = answers(sys.executable, tmp_path / "this", seed=1)
    for number, python in enumerate(others):
        assert answers(python, tmp_path / str(number), seed=1) == expected, python


PYTHONS = [f"python3.{minor}" for minor in range(10, 15) if minor != sys.version_info.minor]


def can_run(python):
    check = "import agentlas_memory.runtime, agentlas_memory.ontology.index, model2vec, simsimd"
    return subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0
