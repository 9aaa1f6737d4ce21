"""What the hook pays for in its cold process, and what the index never does."""

import os
import subprocess
import sys
from pathlib import Path

import agentlas_memory

ROOT = Path(agentlas_memory.__file__).parents[1]
# Present in a bare interpreter, or C modules; the rest must be ours.
C_MODULES = {"_struct", "_sha2", "_sha256", "math", "mmap", "posix"}
HOOK = f"""
import sys
bare = set(sys.modules)
sys.path.insert(0, {str(ROOT)!r})
from agentlas_memory.embedding.asset import asset_dir, open_asset
from agentlas_memory.embedding.hash96 import hash_vector
from agentlas_memory.embedding.query import embed_ids
from agentlas_memory.embedding.wordpiece import WordPiece
asset = open_asset(asset_dir(), None)
assert embed_ids(WordPiece(asset).content_ids("retention of old blocks: café"), asset, None)
assert any(hash_vector(["retention"]))
print(*sorted(set(sys.modules) - bare))
"""
OFFLINE = """
import os, socket
def refuse(*_): raise AssertionError("a socket was opened")
socket.socket.__init__ = socket.create_connection = socket.getaddrinfo = refuse
from agentlas_memory.embedding.asset import asset_dir
from agentlas_memory.embedding.batch import BatchEmbedder
vectors, _ = BatchEmbedder(asset_dir()).embed(["retention of old blocks"])
print(vectors.shape, os.environ["HF_HUB_OFFLINE"])
"""


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    ).stdout


def test_the_hook_modules_import_only_themselves_and_c_modules():
    imported = run("-I", "-S", "-c", HOOK).split()
    assert {name for name in imported if not name.startswith("agentlas_memory")} <= C_MODULES


def test_batch_embedding_opens_no_socket():
    output = run("-c", OFFLINE, PYTHONPATH=str(ROOT), HF_HUB_OFFLINE="0")
    assert output == "(1, 256) 1\n"
