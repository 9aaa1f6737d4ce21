"""Putting the hook into hosts' configuration, and taking it out again without a trace."""
