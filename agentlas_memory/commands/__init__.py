"""One module per command of the management CLI."""
