"""What an adapter makes of a host's event."""

PROMPT = "prompt"  # a person asked something
START = "start"  # a session began, resumed, was cleared or compacted

FORGETTING_SOURCES = ("clear", "compact")  # the host dropped what it was told before


class HookEvent:
    """One event of one host, reduced to what recall needs."""

    __slots__ = ("cwd", "kind", "name", "prompt", "session", "source", "subagent")

    def __init__(
        self,
        name: str,
        kind: str,
        *,
        cwd: str = "",
        prompt: str = "",
        session: str = "",
        source: str = "",
        subagent: bool = False,
    ) -> None:
        self.name = name  # as the host spells it
        self.kind = kind  # PROMPT or START
        self.cwd = cwd
        self.prompt = prompt
        self.session = session
        self.source = source  # why a session starts, in the host's word
        self.subagent = subagent


def text_field(payload: dict[str, object], name: str) -> str:
    """Return a documented text field, blank when it is missing or of another type."""
    value = payload.get(name)
    return value if isinstance(value, str) else ""
