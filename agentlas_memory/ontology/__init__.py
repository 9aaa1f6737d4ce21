"""The SQLite store: schema, sources, chunks, graph, ingest."""
