"""Vectors for the writing side: the quick reader for a note, model2vec for a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentlas_memory.embedding.asset import (
    DIMENSIONS,
    MODEL_NAME,
    AssetRejected,
    asset_dir,
    open_vocabulary,
)
from agentlas_memory.embedding.model import open_model
from agentlas_memory.embedding.vocabulary import Vocabulary
from agentlas_memory.home import data_home

HASH_ONLY = "hash96"  # no model: nothing is stored, recall breaks ties with hash vectors


class Embedder(Protocol):
    """Texts to int8 vectors."""

    name: str

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text, zeros where the model knows none of it."""


class NoEmbedder:
    """What is left when the model does not verify."""

    name = HASH_ONLY

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return no vectors."""
        return [b""] * len(texts)


class QuickEmbedder:
    """The hook's own reader: no start-up, 5 ms a text."""

    name = MODEL_NAME

    def __init__(self) -> None:
        from agentlas_memory.embedding.wordpiece import WordPiece

        asset = open_model(data_home())
        if asset is None:
            raise AssetRejected
        self._asset = asset
        self._pieces = WordPiece(self._asset)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text."""
        from agentlas_memory.embedding.query import embed_ids

        known = _known(texts, self._asset.vocabulary)
        ids = (self._pieces.content_ids(text) for text in known)
        return [embed_ids(found, self._asset, None) or bytes(DIMENSIONS) for found in ids]


class ManyEmbedder:
    """model2vec: half a second to start, 0.1 ms a text."""

    name = MODEL_NAME

    def __init__(self) -> None:
        from agentlas_memory.embedding.batch import BatchEmbedder

        self._batches = BatchEmbedder(asset_dir())
        self._vocabulary = open_vocabulary(asset_dir())

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text."""
        vectors, _ = self._batches.embed(_known(texts, self._vocabulary))
        return [vector.tobytes() for vector in vectors]


def _known(texts: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Return the texts with those blank that the model does not know: they get no direction."""
    from agentlas_memory.embedding.coverage import model_knows

    return [text if model_knows(text, vocabulary) else "" for text in texts]


def model_identity() -> str:
    """Return the identity of the vectors that this installation makes; stamps the model."""
    from agentlas_memory.embedding.verify import refresh_stamp

    refresh_stamp(data_home())
    return HASH_ONLY if open_model(data_home()) is None else MODEL_NAME


def open_embedder(many: bool) -> Embedder:
    """Return the embedder that is done first; one without vectors when the model is rejected.

    The hook reads fewer files than model2vec: while those are sound, there are vectors.
    """
    for kind in (ManyEmbedder, QuickEmbedder) if many else (QuickEmbedder,):
        try:
            return kind()
        except AssetRejected:
            continue
    return NoEmbedder()
