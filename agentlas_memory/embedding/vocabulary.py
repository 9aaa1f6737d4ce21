"""Token -> id in a memory-mapped hash table.

Opening it costs 0.02 ms, where unpickling or unmarshalling 29,528 tokens costs 6 ms in every hook.

Format `AGVOCAB1`, little endian: magic (8 bytes), number of slots (u32), number of tokens (u32),
longest token in characters without its `##` (u32), slots (u16 each: 0 = free, n = token n - 1),
token offsets (u32 each, one more than tokens), the tokens in UTF-8. A token's first slot is its
bytes, read as one little-endian number, modulo the number of slots; a taken slot sends on to the
next.
"""

from _struct import pack, unpack_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mmap import mmap

MAGIC = b"AGVOCAB1"
_HEADER = 20
# A prime, and far from a power of two: modulo 65537 = 2**16 + 1 the same bytes form runs of 9,764
# occupied slots; here the longest run is 68, and a token that is absent costs 2.6 slots on average.
_SLOTS = 65003


class Vocabulary:
    """The tokens of one vocabulary; `find` gives a token's id."""

    __slots__ = ("_bytes", "_offsets_at", "_slots", "_strings_at", "longest")

    def __init__(self, data: "bytes | mmap") -> None:
        if data[:8] != MAGIC:
            raise ValueError("not a vocabulary table")
        self._bytes = data
        self._slots, tokens, self.longest = unpack_from("<III", data, 8)
        self._offsets_at = _HEADER + 2 * self._slots
        self._strings_at = self._offsets_at + 4 * (tokens + 1)

    def find(self, token: str) -> int:
        """Return the token's id, or -1."""
        data, name = self._bytes, token.encode()
        slot = int.from_bytes(name, "little") % self._slots
        while number := unpack_from("<H", data, _HEADER + 2 * slot)[0]:
            start, end = unpack_from("<II", data, self._offsets_at + 4 * number - 4)
            if data[self._strings_at + start : self._strings_at + end] == name:
                return int(number) - 1
            slot = (slot + 1) % self._slots
        return -1


def encode_vocabulary(tokens: list[str]) -> bytes:
    """Return the table's bytes; a token's id is its place in the list."""
    slots = [0] * _SLOTS
    strings, offsets = bytearray(), bytearray(4)
    for number, token in enumerate(tokens, start=1):
        name = token.encode()
        slot = int.from_bytes(name, "little") % _SLOTS
        while slots[slot]:
            slot = (slot + 1) % _SLOTS
        slots[slot] = number
        strings += name
        offsets += pack("<I", len(strings))
    longest = max(len(token.removeprefix("##")) for token in tokens)
    head = MAGIC + pack("<III", _SLOTS, len(tokens), longest)
    return head + pack(f"<{_SLOTS}H", *slots) + bytes(offsets) + bytes(strings)
