"""What conformance starts from and looks at: a project's memory, capsules, the files of a home."""

import stat

from agentlas_memory.capsule import TAG

FACT = "floats lose cents"
RULE = "Never store money as a float"
QUESTION = "why do we settle the ledger in integer minor units?"
LEDGER = {
    "docs/ledger.md": f"# Ledger\n\nWe settle the ledger in integer minor units because {FACT}.\n"
}
LONG_QUESTION = "台帳はなぜ整数の最小単位で決済するのか"
_WORDS = ("台帳の送金", "元帳の返金", "口座の残高", "利息と手数料")

# What is put in the hook's place, and what that is called.
TROUBLES = {
    "missing": None,
    "killed": "kill -9 $$",
    "failing": "echo trouble >&2; exit 1",
    "cut short on the disk": "if (",
    "printing garbage": "echo '{\"hookSpecificOutput\": 1'",
    "speaking of something else": 'echo \'{"hookSpecificOutput": {"hookEventName": 7}}\'',
}


def long_documents():
    """Return four pages whose lines in a capsule are as long as they get."""
    return {f"docs/{'台帳' * 30}/{page}{'決済' * 30}.md": _long_page(page) for page in range(4)}


def _long_page(page):
    lines = (f"第{page * 40 + n}項{_WORDS[n % 4]}は整数の最小単位で決済する。" for n in range(40))
    return f"# 台帳{page} {'整数' * 95}\n\n{''.join(lines)}\n"


def write_files(folder, files):
    """Write texts by their paths below a folder."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")


def capsules(texts):
    """Return every capsule in some texts, whole, in their order."""
    found = []
    for text in texts:
        for part in text.split(f"<{TAG} ")[1:]:
            body, end, _ = part.partition(f"</{TAG}>")
            found.append(f"<{TAG} {body}{end}")
    return found


def files_in(home):
    """Return all below a home but our own folder: mode and bytes, where a link leads, None."""
    found = {}
    for path in sorted(home.rglob("*")):
        name = str(path.relative_to(home))
        if not name.startswith(".agentlas"):
            found[name] = stat.S_IMODE(path.lstat().st_mode), _content(path)
    return found


def _content(path):
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else None


def changed(before, after):
    """Return what differs between two states of a home, as paths."""
    return sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )


def that_name_us(files, name="agentlas"):
    """Return the files and folders that hold our name, in their path or in their text."""
    return sorted(
        path
        for path, (_, content) in files.items()
        if name in path or (isinstance(content, bytes) and name.encode() in content)
    )
