"""One folder a host; each knows its own JSON, where its files lie, and nothing else.

Adding a host adds a folder, and its name to the tables in `hook.py` and `installer/hosts.py`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentlas_memory.events import HookEvent

    class Adapter(Protocol):
        """What `host_adapters/<host>/adapter.py` offers to the hook."""

        EMPTY: bytes
        """The answer that tells this host nothing."""

        KEEPS_CONTEXT: bool
        """Whether the host keeps what it is told in the conversation: then once is enough."""

        FOREIGN_VARIABLES: tuple[str, ...]
        """Variables that say that another host runs us through this one's settings."""

        def parse(
            self, payload: dict[str, object], event: str, settings: dict[str, object]
        ) -> HookEvent | None:
            """Return the event, or None for one that is not ours to answer."""

        def prepare(self, event: HookEvent, home: str) -> None:
            """Do what must be done before anything is recalled; `home` may be blank."""

        def render(self, event: HookEvent, capsule: str, home: str) -> bytes:
            """Return the answer that puts the capsule before the model."""
