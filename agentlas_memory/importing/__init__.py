"""Memories that other programs kept, as notes of a project: docs/import.md."""
