"""Which agent's experience may be recalled in a project: what its routing card must prove.

A card comes with a clone, and experience is private, so every condition is checked anew at each
recall; whatever does not hold means no experience, and never an error. `card check` tells which.
"""

from agentlas_memory.lean import WINDOWS, parse_json, read_file, sha256, system
from agentlas_memory.project import ROUTING_CARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import stat_result

_READY = ("routing_ready", "trusted")
_LARGEST_CARD, _LARGEST_AGENT_CARD = 64 << 10, 1 << 20
_DEEPEST = 32  # brackets within brackets: a card has three
_LONGEST_SLUG = 64
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_HOPS = 40  # symbolic links on the way to a file, as the kernel allows

# In the order in which they are checked, as `card check` shows them.
CONDITIONS = {
    "card": f"{ROUTING_CARD} is a regular file of at most 64 KiB",
    "json": "it is a JSON object",
    "status": "its routing_status is routing_ready or trusted",
    "reference": "its agent_card_ref.path names a regular file inside the project",
    "hash": "the SHA-256 of that file is agent_card_ref.content_hash",
    "slug": "both cards name the same agent, in letters, digits and dashes",
    "trust": "this machine's user trusts exactly this card in this project",
    "database": "that agent's own experience.sqlite is a regular file of this user",
}


class CardRejected(Exception):
    """A condition does not hold; `condition` is its code, the text says what was found."""

    def __init__(self, condition: str, found: str) -> None:
        super().__init__(found)
        self.condition = condition


class Agent:
    """A verified agent; `card_hash` is the SHA-256 of the routing card, in hex."""

    __slots__ = ("card_hash", "database", "slug")

    def __init__(self, slug: str, card_hash: str, database: str) -> None:
        self.slug = slug
        self.card_hash = card_hash
        self.database = database

    @property
    def agent_id(self) -> str:
        """The id that the agent's rows carry."""
        return f"hub:{self.slug}"


def verify_card(root: str, home: str, trusted_hash: str) -> Agent:
    """Return the agent whose experience a project may recall, or raise CardRejected.

    `trusted_hash` is the card's hash that the user said yes to, blank for none.
    """
    card, card_hash = read_card(root)
    slug = card_slug(root, card)
    if card_hash != trusted_hash:
        said = "another one was trusted" if trusted_hash else "nobody said yes to it"
        raise CardRejected("trust", said)
    return Agent(slug, card_hash, _own_database(home, slug))


def read_card(root: str) -> tuple[dict[str, object], str]:
    """Return a project's routing card and its hash; raise CardRejected."""
    try:
        data = read_file(f"{root}/{ROUTING_CARD}", _LARGEST_CARD + 1, follow=False)
    except (OSError, ValueError) as error:
        raise CardRejected("card", _reason(error)) from error
    if len(data) > _LARGEST_CARD:
        raise CardRejected("card", "it is larger")
    return _object(data, "json"), sha256(data).hexdigest()


def card_slug(root: str, card: dict[str, object]) -> str:
    """Return the agent that a routing card and the agent's own card agree on, else raise."""
    status = card.get("routing_status")
    if status not in _READY:
        raise CardRejected("status", f"it is {status!r}"[:80])
    reference = card.get("agent_card_ref")
    if not isinstance(reference, dict):
        raise CardRejected("reference", "there is no agent_card_ref")
    data = _read_inside(root, reference.get("path"))
    expected = reference.get("content_hash")
    found = sha256(data).hexdigest()
    if not isinstance(expected, str) or expected.lower().removeprefix("sha256:") != found:
        raise CardRejected("hash", f"the file has {found}")
    one, other = (_slug(named.get("slug")) for named in (card, _object(data, "slug")))
    if not one or one != other:
        raise CardRejected("slug", f"they name {one or 'none'} and {other or 'none'}")
    return one


def _read_inside(root: str, path: object) -> bytes:
    """Return a file of the project, which links must not lead out of."""
    if not isinstance(path, str) or not path or path[0] == "/" or "\0" in path:
        raise CardRejected("reference", "agent_card_ref.path is no relative path")
    try:
        place, inside = _real_path(f"{root}/{path}"), _real_path(root)
        if not place.startswith(f"{inside}/"):
            raise CardRejected("reference", "it leads out of the project")
        data = read_file(place, _LARGEST_AGENT_CARD + 1, follow=False)
    except (OSError, ValueError) as error:
        raise CardRejected("reference", _reason(error)) from error
    if len(data) > _LARGEST_AGENT_CARD:
        raise CardRejected("reference", "the file is larger than 1 MiB")
    return data


def database_below(slug: str) -> str:
    """Return where in the user's folder an agent's experience lies."""
    return f"networking/hub-agents/{slug}/memory/experience.sqlite"


def agent_name(text: str) -> str:
    """Return a typed name as an agent's, blank where it cannot be one."""
    return _slug(text)


def is_own_folder(database: str, slug: str) -> bool:
    """Tell whether all folders on the way to an agent's database are this user's, without links."""
    below = database_below(slug)
    home = database[: -len(below) - 1]
    if _real_path(database) != f"{_real_path(home)}/{below}":
        return False  # another agent's experience, say
    folders = [home]
    for name in below.split("/")[:-1]:
        folders.append(f"{folders[-1]}/{name}")
    if WINDOWS:
        return True
    return not _others_may_write(system.stat(home), 0o002) and not any(
        _others_may_write(system.stat(one), 0o022) for one in folders[1:]
    )


def _own_database(home: str, slug: str) -> str:
    """Return where an agent's experience lies; no link may lead to another agent's."""
    database = f"{home}/{database_below(slug)}"
    try:
        info = system.lstat(database)
        if not is_own_folder(database, slug):
            raise CardRejected(
                "database",
                f"others own a folder on the way to {database}, or a link leads elsewhere",
            )
    except (OSError, ValueError) as error:
        raise CardRejected("database", f"{database}: {_reason(error)}") from error
    if info.st_mode & 0o170000 != 0o100000:
        raise CardRejected("database", f"{database} is no regular file")
    if not WINDOWS and _others_may_write(info, 0o022):
        raise CardRejected("database", f"others own {database} or may write it")
    return database


def _others_may_write(info: "stat_result", bits: int) -> bool:
    return info.st_uid != system.getuid() or bool(info.st_mode & bits)


def _object(data: bytes, condition: str) -> dict[str, object]:
    try:
        text = data.decode("utf-8")
        value = None if _depth(text) > _DEEPEST else parse_json(text)
    except ValueError as error:
        raise CardRejected(condition, "it cannot be read as JSON") from error
    if not isinstance(value, dict):
        raise CardRejected(condition, "it is no JSON object")
    return value


def _depth(text: str) -> int:
    """Return how deep brackets stand in brackets, those in strings counted as well."""
    depth = deepest = 0
    for char in text:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def _slug(name: object) -> str:
    """Return an agent's name as a folder's name, blank where it cannot be one."""
    if not isinstance(name, str) or len(name) > 4 * _LONGEST_SLUG:
        return ""
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFKC", name)
    slug = name.strip().lower().replace("_", "-").replace(" ", "-")
    plain = all(char in _LETTERS or char == "-" for char in slug)
    return slug if plain and slug[:1] != "-" and len(slug) <= _LONGEST_SLUG else ""


def _real_path(path: str) -> str:
    """Return a path without links, as os.path.realpath does without the import of `os`."""
    done, hops = "", 0
    ahead = path.split("/")[::-1]
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            done = done.rpartition("/")[0]
            continue
        try:
            target = system.readlink(f"{done}/{part}")
        except OSError:  # not a link, or not there
            done = f"{done}/{part}"
            continue
        hops += 1
        if hops > _HOPS:
            raise OSError("too many links")
        if target.startswith("/"):
            done = ""
        ahead += target.split("/")[::-1]
    return done


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
