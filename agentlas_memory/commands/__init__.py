"""One module a command of `agentlas-memory`; the table is in `agentlas_memory.cli`."""
