"""Local project memory for coding assistants."""

__version__ = "0.1.0"
