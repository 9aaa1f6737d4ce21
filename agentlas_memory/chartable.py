"""Per-character replacements, shipped as data and read by `str.translate`.

Unicode tables differ between Python versions, so what a character becomes is decided once, when a
table is built, and every interpreter reads the same bytes.

Format `AGCHARS1`, little endian: magic (8 bytes), number of pages (u32), number of strings (u32),
page index (0x1100 x u16), pages (256 x u16 each: 0 = the character stays, n = string n - 1), string
offsets (u32 each, one more than strings), the strings in UTF-8.
"""

MAGIC = b"AGCHARS1"
_PAGES = 0x1100
_HEADER = 16


class CharTable(dict[int, "int | str"]):
    """Replacement of each code point, filled as characters are met: pass it to `str.translate`."""

    def __init__(self, path: str) -> None:
        with open(path, "rb", 0) as file:  # noqa: PTH123 - pathlib costs 2 ms in the hook
            data = file.read()
        if data[:8] != MAGIC:
            raise ValueError(f"{path}: not a character table")
        self._data = data
        self._pages_at = _HEADER + 2 * _PAGES
        self._offsets_at = self._pages_at + 512 * self._u32(8)
        self._strings_at = self._offsets_at + 4 * (self._u32(12) + 1)

    def _u16(self, at: int) -> int:
        return self._data[at] | self._data[at + 1] << 8

    def _u32(self, at: int) -> int:
        return int.from_bytes(self._data[at : at + 4], "little")

    def __missing__(self, code: int) -> int | str:
        page = self._u16(_HEADER + 2 * (code >> 8))
        number = self._u16(self._pages_at + 512 * page + 2 * (code & 255))
        value: int | str = self._string(number - 1) if number else code
        self[code] = value
        return value

    def _string(self, index: int) -> str:
        at = self._offsets_at + 4 * index
        start, end = self._strings_at + self._u32(at), self._strings_at + self._u32(at + 4)
        return self._data[start:end].decode("utf-8")


def encode_char_table(replacements: dict[int, str]) -> bytes:
    """Return the table's bytes; code points that are not named stay as they are."""
    strings = sorted(set(replacements.values()))
    number: dict[str | None, int] = {text: at + 1 for at, text in enumerate(strings)}
    pages: dict[bytes, int] = {}
    index = bytearray()
    for first in range(0, _PAGES << 8, 256):
        codes = range(first, first + 256)
        row = b"".join(
            number.get(replacements.get(code), 0).to_bytes(2, "little") for code in codes
        )
        index += pages.setdefault(row, len(pages)).to_bytes(2, "little")
    offsets, blob = bytearray(4), bytearray()
    for text in strings:
        blob += text.encode("utf-8")
        offsets += len(blob).to_bytes(4, "little")
    head = MAGIC + len(pages).to_bytes(4, "little") + len(strings).to_bytes(4, "little")
    return head + bytes(index) + b"".join(pages) + bytes(offsets) + bytes(blob)
