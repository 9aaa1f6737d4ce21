"""The hook's vectors, the index's vectors and model2vec's own agree."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from agentlas_memory.embedding.asset import DIMENSIONS, AssetRejected, asset_dir
from agentlas_memory.embedding.batch import BatchEmbedder, static_model
from agentlas_memory.embedding.query import embed_ids

# Read here, because every test gets an environment without our variables.
FLOAT_MODEL = os.environ.get("AGENTLAS_MEMORY_FLOAT_MODEL", "")
TEXT = """the retention policy for old blocks was changed in ADR 0007 because ledger settlement
uses integer minor units; see src/auth.py getUserById() and PostgreSQL 15 migrations, über café
naïve résumé память проекта 中文 東京 데이터 مرحبا 😀 v2 snake_case {"json": true} 3.14 https://example.org
"""


@pytest.fixture(scope="module")
def texts():
    chance, words = random.Random(8), TEXT.split()
    short = [" ".join(chance.choices(words, k=chance.randint(1, 120))) for _ in range(496)]
    # Cut by characters, by tokens, by both, and not at all.
    return [*short, "internationalization " * 200, "a b " * 700, "ледгер " * 900, "x"]


@pytest.fixture(scope="module")
def embedder():
    return BatchEmbedder(asset_dir())


def hook_vectors(texts, wordpiece, asset):
    found = [embed_ids(wordpiece.content_ids(text), asset, None) for text in texts]
    return np.array([np.frombuffer(vector, np.int8) for vector in found])


def lowest_cosine(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(axis=1) / lengths).min())


def test_hook_vectors_are_those_of_model2vec_on_our_table(texts, wordpiece, asset):
    expected = static_model(Path(asset_dir())).encode(texts)
    assert lowest_cosine(hook_vectors(texts, wordpiece, asset), expected) >= 0.999


@pytest.mark.skipif(
    not FLOAT_MODEL, reason="AGENTLAS_MEMORY_FLOAT_MODEL names no folder with the upstream model"
)
def test_hook_vectors_are_those_of_the_float_model(texts, wordpiece, asset):
    table = load_file(Path(FLOAT_MODEL) / "model.safetensors")["embeddings"]
    tokenizer = Tokenizer.from_file(str(Path(FLOAT_MODEL) / "tokenizer.json"))
    expected = StaticModel(table, tokenizer, normalize=True).encode(texts)
    assert lowest_cosine(hook_vectors(texts, wordpiece, asset), expected) >= 0.999


def test_batch_and_hook_agree(texts, embedder, wordpiece, asset):
    vectors, ids = embedder.embed(texts)
    assert vectors.dtype == np.int8
    assert lowest_cosine(vectors, hook_vectors(texts, wordpiece, asset)) >= 0.999
    assert [found.tolist() for found in ids] == [wordpiece.content_ids(text) for text in texts]


@pytest.mark.parametrize("text", ["", " \n", "܀܀", "[UNK]", "\ud800"], ids=ascii)
def test_a_text_without_known_tokens_has_no_direction(text, embedder, wordpiece, asset):
    vectors, ids = embedder.embed([text])
    assert not vectors.any() and len(ids[0]) == 0
    assert embed_ids(wordpiece.content_ids(text), asset, None) is None


def test_embedding_nothing_gives_an_empty_table(embedder):
    vectors, ids = embedder.embed([])
    assert vectors.shape == (0, DIMENSIONS) and ids == []


def test_weights_are_a_weighted_sum_of_rows(asset):
    once = embed_ids([2000, 3000, 2000], asset, [1.0, 3.0, 1.0])
    assert once == embed_ids([3000, 2000], asset, [1.5, 1.0])
    assert once != embed_ids([2000, 3000], asset, None)
    assert max(np.abs(np.frombuffer(once, np.int8).astype(int))) == 127


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_weights_of_any_size_scale_the_rows(size, asset):
    chance = random.Random(5)
    ids = [chance.randrange(29528) for _ in range(512)]
    weights = [size * chance.random() for _ in ids]
    expected = np.array(weights) @ static_model(Path(asset_dir())).embedding[ids]
    vector = np.frombuffer(embed_ids(ids, asset, weights), np.int8)
    assert lowest_cosine(vector[None], expected[None]) >= 0.9999


def test_weights_of_zero_give_no_vector(asset):
    assert embed_ids([2000, 3000], asset, [0.0, 0.0]) is None


def test_the_batch_embedder_refuses_a_damaged_model(model_copy):
    (model_copy / "scales.f32le").write_bytes(b"\0" * 118112)
    with pytest.raises(AssetRejected, match=r"scales\.f32le"):
        BatchEmbedder(model_copy)
