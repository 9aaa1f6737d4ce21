"""One folder per host: how its event reads and how its answer is written."""
