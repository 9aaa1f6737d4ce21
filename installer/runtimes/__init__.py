"""Versions of this program in `~/.agentlas/runtime`: built aside, switched in one step.

Standard library alone, but for the signature's check: the install script runs this package straight
out of a bundle's wheel, on whatever Python the person has.
"""
