"""Texts -> vectors in batches, for `index`: model2vec over our own verified table.

Nothing here opens a socket: the model is built from files, and the hub's client is told to stay
offline before anything could import it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
# Said aloud: otherwise the library goes serial, with a warning, once we start a child (git).
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

import numpy as np
import numpy.typing as npt
from model2vec import StaticModel
from tokenizers import Tokenizer

from agentlas_memory.embedding.asset import DIMENSIONS, EMBEDDINGS, SCALES, AssetRejected
from agentlas_memory.embedding.verify import TOKENIZER, verify_asset
from agentlas_memory.embedding.wordpiece import MAX_CHARACTERS, MAX_TOKENS

Vectors = npt.NDArray[np.int8]
TokenIds = npt.NDArray[np.int32]


class BatchEmbedder:
    """Embeds many texts at once; raises AssetRejected for a model that does not verify."""

    def __init__(self, folder: str | Path) -> None:
        report = verify_asset(folder)
        if report.reason:
            raise AssetRejected(report.reason)
        self._model = static_model(Path(folder))

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenIds]]:
        """Return each text's int8 unit vector (zeros without a known token) and its token ids.

        The ids are those that were pooled, [UNK] left out: what document frequencies count.
        """
        # StaticModel.encode gives no ids, so it would tokenise every text a second time; its two
        # public pieces, the tokenizer and the table, are joined here.
        heads = [_without_surrogates(text[:MAX_CHARACTERS]) for text in texts]
        ids = [np.array(found, dtype=np.int32) for found in self._model.tokenize(heads)]
        vectors = np.zeros((len(ids), DIMENSIONS), dtype=np.int8)
        for vector, found in zip(vectors, ids, strict=True):
            if len(found):
                vector[:] = _int8(self._model.embedding[found].sum(axis=0))
        return vectors, ids


def static_model(folder: Path) -> StaticModel:
    """Return model2vec's model over the dequantised table."""
    rows = np.fromfile(folder / EMBEDDINGS, dtype=np.int8).reshape(-1, DIMENSIONS)
    scales = np.fromfile(folder / SCALES, dtype="<f4").astype(np.float32)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    return StaticModel(rows * scales[:, None], tokenizer, normalize=True, max_length=MAX_TOKENS)


def _without_surrogates(text: str) -> str:
    """Put U+FFFD for lone surrogates: the library refuses the first and drops the second."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _int8(total: npt.NDArray[np.float32]) -> Vectors:
    """Scale so that the largest component is 127: cosine does not see the scale."""
    largest = np.abs(total).max()
    return np.rint(total * (127 / largest) if largest else total).astype(np.int8)
