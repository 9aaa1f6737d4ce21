"""What people and programs do to a host's files while our part is in them."""

import json
import os
import shutil

from host_files.making import (
    BEGIN,
    BROKEN,
    broken_json,
    broken_rules,
    members,
    name_of,
    objects,
    rules,
)
from host_files.reading import KEY, SPACE, spans, text_of, theirs_in_object
from hypothesis import strategies as st

below = st.sampled_from(["\n", "Mine, after.", "\n# More\n", "\r\nx\r\n", "last"])
above = st.sampled_from(["\n", "Mine, before.\n", "# Head\r\n\r\n", "\n\n"])


def write(path, data):
    """Write a file in place, as programs do that keep its mode and its links."""
    mode = path.stat().st_mode & 0o7777
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(mode)


def edit_object(draw, path):
    """Do something to a strict JSON file that leaves it one."""
    data = path.read_bytes()
    if not data.decode("utf-8-sig", "replace").strip(SPACE):
        write(path, draw(objects()))
        return
    kind = draw(st.sampled_from(["add", "add", "drop", "shuffle", "program", "switch off"]))
    bom = "\ufeff" if text_of(data).startswith("\ufeff") else ""
    text = text_of(data).removeprefix("\ufeff")
    pieces = [text[start:end] for start, end in spans(text).values()]
    if kind == "add":
        member = draw(members())
        if name_of(member) not in spans(text):
            text = add(text, member, draw(st.integers(0, len(pieces))))
    elif kind == "drop" and theirs_in_object(data):
        pieces.remove(draw(st.sampled_from(theirs_in_object(data))))
        text = "{" + ",\n ".join(pieces) + "}\n"
    elif kind == "shuffle":
        text = (
            "{ "
            + draw(st.sampled_from([",", ", ", "\n, "])).join(draw(st.permutations(pieces)))
            + "}"
        )
    elif kind in ("program", "switch off"):
        values = json.loads(text)
        if kind == "switch off" and KEY in values:
            values[KEY]["enabled"] = False
        style = {
            "indent": draw(st.sampled_from([None, 0, 2, "\t"])),
            "sort_keys": draw(st.booleans()),
        }
        text = json.dumps(values, **style) + draw(st.sampled_from(["", "\n"]))
        bom = ""
    write(path, (bom + text).encode("utf-8", "surrogateescape"))


def add(text, member, place):
    """Type a member before the one at `place`, or behind the last."""
    found = list(spans(text).values())
    if place < len(found):
        at = found[place][0]
        return f"{text[:at]}{member}, {text[at:]}"
    end = text.rindex("}")
    return f"{text[:end]}{', ' if found else ''}{member}\n{text[end:]}"


def edit_rules(draw, path):
    """Do something to a text around our block."""
    text = text_of(path.read_bytes())
    kind = draw(st.sampled_from(["above", "below", "both", "ends", "strip"]))
    if kind in ("above", "both"):
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        text = bom + draw(above) + text.removeprefix("\ufeff")
    if kind in ("below", "both"):
        text += draw(below)
        if text.count(BEGIN + "\n") + text.count(BEGIN + "\r") and not is_last_line_own(text):
            return  # somebody typed behind our last marker, in its line
    if kind == "ends":
        text = text.replace("\r\n", "\n").replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    if kind == "strip":
        text = text.rstrip("\n\r")
    if not text.endswith("\r"):
        write(path, text.encode("utf-8", "surrogateescape"))


def is_last_line_own(text):
    return "end -->" not in text or any(
        line.strip().endswith("end -->") for line in text.split("\n")
    )


def edit_own(draw, path):
    """Add a line to a file that is ours alone."""
    write(path, path.read_bytes() + draw(st.sampled_from([b"// mine\n", b" ", b"\r\n"])))


def replace_file(draw, path):
    """Put another file in the place of one, by renaming."""
    made = {"hooks.json": objects() | broken_json, "AGENTS.md": rules() | broken_rules}
    data = draw(made.get(path.name, st.just(b"{}\n")))
    new = path.with_name("saved")
    new.write_bytes(data)
    new.chmod(draw(st.sampled_from([0o600, 0o644])))
    new.replace(path)


def delete(draw, path):
    path.unlink()


def delete_folder(draw, path):
    shutil.rmtree(path.parent)


def change_mode(draw, path):
    path.chmod(draw(st.sampled_from([0o600, 0o640, 0o644, 0o444, 0o400])))


def retarget(draw, path):
    """Let the path lead to another file: one more profile in somebody's dotfiles."""
    folder = path.parent / "profiles"
    folder.mkdir(exist_ok=True)
    other = folder / f"{len(list(folder.iterdir()))}-{path.name}"
    made = {"hooks.json": objects(), "AGENTS.md": rules()}
    other.write_bytes(draw(made.get(path.name, st.just(b"{}\n"))))
    path.unlink()
    path.symlink_to(os.path.relpath(other, path.parent))


def edit(draw, path):
    """Do one thing to one file; something that is not there, or not readable, is left alone."""
    if not path.is_file():
        return
    content = {"hooks.json": edit_object, "AGENTS.md": edit_rules}.get(path.name, edit_own)
    kinds = [content] * 8 + [
        replace_file,
        delete,
        delete_folder,
        change_mode,
        change_mode,
        retarget,
    ]
    chosen = draw(st.sampled_from(kinds))
    if chosen is not content or path.read_bytes() not in BROKEN:
        chosen(draw, path)
