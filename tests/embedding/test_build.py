"""The asset's derived files come from tokenizer.json alone, and a wrong source is refused."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from agentlas_memory.embedding.asset import CHARACTERS, VOCABULARY, asset_dir


@pytest.fixture(scope="module")
def script(load_script):
    return load_script("build_model_asset")


def test_the_derived_files_are_rebuilt_byte_for_byte(script):
    packaged = Path(asset_dir())
    derived = script.derive((packaged / "tokenizer.json").read_bytes())
    assert derived == {name: (packaged / name).read_bytes() for name in (VOCABULARY, CHARACTERS)}


def test_the_manifest_is_rebuilt_byte_for_byte(script):
    files = {
        path.name: path.read_bytes()
        for path in Path(asset_dir()).iterdir()
        if path.name != "manifest.json"
    }
    assert script.manifest(files) == Path(asset_dir(), "manifest.json").read_bytes()


def test_rows_are_quantised_symmetrically_and_zero_rows_survive(script):
    table = np.array([[2.0, -4.0, 1.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    rows, scales = script.quantise(table)
    assert np.frombuffer(rows, np.int8).tolist() == [64, -127, 32, 0, 0, 0]
    assert np.frombuffer(scales, "<f4").tolist() == [np.float32(4 / 127), 0.0]


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_source_with_other_bytes_is_refused_and_nothing_written(kind, tmp_path, script):
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "model.safetensors").write_bytes(b"other")
    if kind == "archive":
        with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
            archive.write(source / "model.safetensors", "package/model.safetensors")
        source = tmp_path / "source.zip"
    command = [sys.executable, script.__file__, "--from", source, "--out", out]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert "no model.safetensors with sha256 f65d0f32" in result.stderr
    assert not out.exists()
