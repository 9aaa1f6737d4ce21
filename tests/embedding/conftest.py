"""The packaged model: opened as the hook does, and as a copy that a test may damage."""

import shutil
from pathlib import Path

import pytest

from agentlas_memory.embedding.asset import asset_dir, open_asset
from agentlas_memory.embedding.wordpiece import WordPiece


@pytest.fixture(scope="session")
def asset():
    return open_asset(asset_dir(), None)


@pytest.fixture(scope="session")
def wordpiece(asset):
    return WordPiece(asset)


@pytest.fixture
def model_copy(tmp_path):
    folder = Path(shutil.copytree(asset_dir(), tmp_path / "model"))
    yield folder
    shutil.rmtree(folder)  # 9 MB a test; pytest would keep them for three runs
