"""Stores whose file is put together otherwise, or lies about itself."""

import os
import sqlite3

import pytest

FACT = "integer minor units"


def rebuilt(*pragmas):
    """Return a change that writes the file anew under other settings."""

    def change(store):
        connection = sqlite3.connect(store, isolation_level=None)
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("VACUUM")
        connection.close()

    return change


def in_utf_16(store):
    """Write the rows into a file of another encoding: an old one cannot be turned."""
    other = store.with_name("other")
    new = sqlite3.connect(other, isolation_level=None)
    new.execute("PRAGMA encoding = 'UTF-16le'")
    old = sqlite3.connect(store)
    tables = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%fts_%'"
    for name, sql in old.execute(f"{tables} AND name NOT LIKE 'sqlite%'").fetchall():
        new.execute(sql)
        if "VIRTUAL" not in sql:
            for row in old.execute(f"SELECT * FROM {name}"):
                new.execute(f"INSERT INTO {name} VALUES({','.join('?' * len(row))})", row)
    for pragma in ("application_id", "user_version"):
        new.execute(f"PRAGMA {pragma} = {old.execute('PRAGMA ' + pragma).fetchone()[0]}")
    words = "SELECT chunk_id, '', 'ledger integer minor units settle ' || text FROM chunks"
    new.execute(f"INSERT INTO chunk_fts(rowid, heading, body) {words}")
    new.close()
    old.close()
    other.replace(store)


SHAPES = {
    "pages of 512 bytes": rebuilt("page_size = 512"),
    "pages of 64 KiB": rebuilt("page_size = 65536"),
    "auto vacuum": rebuilt("auto_vacuum = 1"),
    "no vacuum": rebuilt("auto_vacuum = 0"),
    "a cache of two gigabytes": rebuilt("default_cache_size = 524288"),
    "UTF-16": in_utf_16,
}


@pytest.mark.parametrize("change", SHAPES.values(), ids=SHAPES)
def test_another_shape_of_file_is_read(scene, survive, change):
    change(scene.store)
    assert FACT in survive()[0]


def patched(at, data):
    """Return a change of bytes."""

    def change(store):
        content = bytearray(store.read_bytes())
        content[at : at + len(data)] = data
        store.write_bytes(content)

    return change


def grown(size):
    return lambda store: os.truncate(store, size)


def with_journal(data):
    return lambda store: store.with_name(store.name + "-journal").write_bytes(data)


HEADERS = {
    "four gigabytes of pages": patched(28, b"\x00\x10\x00\x00"),
    "all the pages there can be": patched(28, b"\xff\xff\xff\xfe"),
    "no pages": patched(28, b"\0\0\0\0"),
    "pages of no bytes": patched(16, b"\0\0"),
    "pages of 7 bytes": patched(16, b"\0\7"),
    "bytes reserved in each page": patched(20, b"\x20"),
    "every byte reserved": patched(20, b"\xff"),
    "another share of a payload": patched(21, b"\x01\x01\x01"),
    "a free list that begins nowhere": patched(32, b"\xff\xff\xff\xff\x7f\xff\xff\xff"),
    "a free list that begins at the schema": patched(32, b"\0\0\0\1\0\0\0\1"),
    "a schema of another format": patched(44, b"\0\0\0\x63"),
    "a cache of all memory": patched(48, b"\x7f\xff\xff\xff"),
    "an unknown encoding": patched(56, b"\0\0\0\7"),
    "another encoding": patched(56, b"\0\0\0\2"),
    "no encoding": patched(56, b"\0\0\0\0"),
    "write-ahead log": patched(18, b"\2\2"),
    "a journal mode to come": patched(18, b"\3\3"),
    "a file of a terabyte": grown(1 << 40),
    "a journal of noise": with_journal(b"\xa5" * 5000),
    "a journal": with_journal(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 5000),
    "a journal of a master": with_journal(
        b"\0" * 600 + b"/etc/passwd" + b"\0\0\0\x0b\0\0\4\x5c" + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    ),
}


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS)
def test_a_header_that_lies_does_no_harm(scene, survive, change):
    change(scene.store)
    before = scene.store.stat()
    survive()
    after = scene.store.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def pages_of(scene, table):
    """Return the page size, the file's bytes and the number of a table's first page."""
    connection = sqlite3.connect(scene.store)
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    (root,) = connection.execute(sql, (table,)).fetchone()
    connection.close()
    return size, bytearray(scene.store.read_bytes()), root


TREES = ("sqlite_autoindex_entities_1", "chunks", "sources", "meta", "chunk_fts_data", "mentions")


@pytest.mark.parametrize("table", TREES)
def test_a_tree_that_leads_back_to_itself_ends(scene, survive, table):
    size, data, root = pages_of(scene, table)
    interior = b"\2" if table in ("sqlite_autoindex_entities_1", "meta", "mentions") else b"\5"
    page = interior + b"\0\0\0\0" + size.to_bytes(2, "big") + b"\0" + root.to_bytes(4, "big")
    data[(root - 1) * size : root * size] = page.ljust(size, b"\0")
    scene.store.write_bytes(data)
    survive()


@pytest.mark.parametrize("table", TREES)
def test_a_tree_without_end_is_left_at_the_deadline(scene, survive, table):
    """A page whose every cell leads to the page itself, as deep as trees may be."""
    size, data, root = pages_of(scene, table)
    is_index = table in ("sqlite_autoindex_entities_1", "meta", "mentions")
    cell = root.to_bytes(4, "big") + (b"\x03\x02\x01\x00" if is_index else b"\x01")
    count = (size - 12) // (len(cell) + 2)
    start = size - count * len(cell)
    head = (b"\2" if is_index else b"\5") + b"\0\0" + count.to_bytes(2, "big")
    head += start.to_bytes(2, "big") + b"\0" + root.to_bytes(4, "big")
    pointers = b"".join((start + n * len(cell)).to_bytes(2, "big") for n in range(count))
    page = (head + pointers).ljust(start, b"\0") + cell * count
    data[(root - 1) * size : root * size] = page
    scene.store.write_bytes(data)
    survive()


def test_a_chain_of_pages_that_leads_back_to_itself_ends(scene, survive, execute):
    """A long text lies in a chain; 900 KB of it may be one page again and again."""
    execute("UPDATE chunks SET text = replace(hex(zeroblob(450000)), '00', 'ledger ')")
    size, data, _ = pages_of(scene, "chunks")
    for at in range(len(data) // size - 40, len(data) // size):
        data[at * size : at * size + 4] = (at + 1).to_bytes(4, "big")
    scene.store.write_bytes(data)
    survive()


def test_an_empty_log_is_none(scene, survive):
    scene.store.with_name(scene.store.name + "-wal").touch()
    assert FACT in survive()[0]


LOGS = {
    "a log": lambda path: path.write_bytes(b"\x37\x7f\x06\x82" + bytes(9000)),
    "a FIFO": os.mkfifo,
    "a folder": os.mkdir,
    "a link": lambda path: path.symlink_to("/etc/passwd"),
}


@pytest.mark.parametrize("make", LOGS.values(), ids=LOGS)
def test_a_write_ahead_log_is_neither_read_nor_given_an_index(scene, survive, make):
    make(scene.store.with_name(scene.store.name + "-wal"))
    before = sorted(scene.store.parent.iterdir())
    assert survive() == ["", ""]
    assert sorted(scene.store.parent.iterdir()) == before


@pytest.fixture
def twin(scene, tmp_path):
    """A store whose files have the same names and say something else."""
    from fuzz.scene import DOCUMENTS, Scene

    texts = {path: text.replace("integer", "decimal") for path, text in DOCUMENTS.items()}
    return Scene(tmp_path / "twin", texts)


def test_a_page_of_another_store_is_not_taken_for_ours(scene, survive, twin):
    size, data, root = pages_of(scene, "chunks")
    other_size, other, other_root = pages_of(twin, "chunks")
    assert (size, root) == (other_size, other_root)
    page = slice((root - 1) * size, root * size)
    data[page] = other[page]
    scene.store.write_bytes(data)
    assert "decimal" not in "".join(survive())


def test_a_private_text_stays_private_when_its_scope_is_changed(scene, survive, execute):
    execute("UPDATE sources SET scope = 'public', kind = 'constraint'")
    assert "vault" not in "".join(survive(prompt="what is the vault's door code?"))
