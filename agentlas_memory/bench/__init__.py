"""Measuring on a real installation: what a prompt costs, how fast a project is indexed."""
