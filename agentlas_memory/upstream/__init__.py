"""Stores of Agentlas OS: read as anybody's files, and taken over into ours."""
