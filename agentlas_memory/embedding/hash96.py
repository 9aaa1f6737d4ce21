"""A vector without a model: signed feature hashing into 96 buckets.

It only breaks ties when the model was rejected. As a leg of its own in the fusion it takes a fifth
of the recall away (recall@5 on project documents: 0.79 -> 0.64).
"""

from math import sqrt

from agentlas_memory.lean import sha256

BUCKETS = 96


def hash_vector(terms: list[str]) -> list[float]:
    """Return the unit vector of the terms, all zeros without any.

    A term's SHA-256 decides: the first four bytes, big endian, modulo 96 are its bucket, the lowest
    bit of the fifth its sign (0 adds one, 1 takes one away).
    """
    vector = [0.0] * BUCKETS
    for term in terms:
        digest = sha256(term.encode("utf-8", "replace")).digest()
        bucket = int.from_bytes(digest[:4], "big") % BUCKETS
        vector[bucket] += -1.0 if digest[4] & 1 else 1.0
    length = sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


def cosine(a: list[float], b: list[float]) -> float:
    """Return the cosine of two vectors, 0 where one has no direction."""
    lengths = sqrt(sum(x * x for x in a)) * sqrt(sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0
