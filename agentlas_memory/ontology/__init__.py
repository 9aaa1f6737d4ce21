"""The SQLite store: schema, sources, chunks, graph, ingest.

`OntologyRuntime` is offered here under the name people import; it is loaded when asked for, since
the hook passes through this module too.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentlas_memory.runtime import OntologyRuntime as OntologyRuntime


def __getattr__(name: str) -> object:
    if name == "OntologyRuntime":
        from agentlas_memory.runtime import OntologyRuntime

        return OntologyRuntime
    raise AttributeError(name)
