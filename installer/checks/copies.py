"""The copies of our plugin that a host keeps: the one that it runs, and those of older versions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.files import Untouchable, digest, read_text
from agentlas_memory.installer.marketplace import PLUGIN, PLUGIN_FOLDER, plugin_version
from agentlas_memory.installer.plugin_host import PluginHost
from agentlas_memory.installer.surfaces import HostSpec, Place


def check_copies(spec: HostSpec, place: Place) -> Iterator[Check]:
    """Look at the copies of our plugin in a host's cache."""
    if not isinstance(spec, PluginHost):
        return
    left = leftover_copies(spec, place)
    for folder in left:
        told = f"{folder} is left of an older version: its hooks may still run"
        yield Check("leftover", spec.name, "warning", told, "agentlas-memory doctor --fix")
    if not left:
        yield Check("leftover", spec.name, "ok", "no older version of the plugin")
    if spec.runs_copy and (trouble := _trouble(_copy(spec, place), place)):
        again = f"agentlas-memory install --host {spec.name}"
        yield Check("copy", spec.name, "failed", trouble, again)


def leftover_copies(spec: HostSpec, place: Place) -> list[Path]:
    """Return the folders of other versions of our plugin than the one that was installed."""
    if not isinstance(spec, PluginHost):
        return []
    kept = _copy(spec, place)
    folders = kept.parent.iterdir() if kept.parent.is_dir() else ()
    return sorted(folder for folder in folders if folder != kept and not folder.is_symlink())


def remove_copies(spec: HostSpec, place: Place) -> list[Path]:
    """Remove what is left of older versions, and return what was removed."""
    left = leftover_copies(spec, place)
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return [folder for folder in left if not folder.exists()]


def unchanged_copy(spec: HostSpec, place: Place) -> bool:
    """Tell whether what the host runs is byte for byte what we gave it."""
    return (
        not isinstance(spec, PluginHost)
        or not spec.runs_copy
        or not _trouble(_copy(spec, place), place)
    )


def _copy(spec: PluginHost, place: Place) -> Path:
    return spec.cache(place) / PLUGIN / plugin_version(spec.name)


def _trouble(copy: Path, place: Place) -> str:
    """Return how a copy differs from the plugin that the host was given."""
    given = place.marketplace / PLUGIN_FOLDER
    if not copy.parent.is_dir():
        return ""  # a host that keeps none; whether it has the plugin at all it was asked
    names = {file.relative_to(given) for file in given.rglob("*") if file.is_file()}
    for name in sorted(names):
        if _digest(copy / name) != _digest(given / name):
            return f"{copy / name} is not what {place.marketplace} holds"
    return ""


def _digest(file: Path) -> str:
    try:
        text = read_text(file)
    except Untouchable:
        return ""
    return digest(text) if text is not None else ""
