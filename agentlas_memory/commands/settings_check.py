"""What `doctor` and `status` say of the user's `settings.json`."""

from __future__ import annotations

from agentlas_memory.commands.advice import REPAIR
from agentlas_memory.home import data_home
from agentlas_memory.installer.checks import Check
from agentlas_memory.installer.surfaces import Place
from agentlas_memory.private_json import BrokenFile
from agentlas_memory.settings_file import settings_problems


def check_settings(place: Place) -> Check:
    """Tell whether the settings can be read, and name what nothing heeds."""
    try:
        problems = settings_problems(str(place.data_home))
    except (BrokenFile, OSError) as error:
        return Check("settings", "", "failed", f"memory is silent everywhere: {error}", REPAIR)
    if problems:
        return Check("settings", "", "warning", "; ".join(problems), "see docs/settings.md")
    return Check("settings", "", "ok", "all of it is understood")


def settings_lines() -> list[str]:
    """Return what is wrong with the settings, a line each."""
    home = data_home()
    if not home:
        return []
    try:
        return settings_problems(home)
    except (BrokenFile, OSError) as error:
        return [f"memory is silent everywhere: {error}; {REPAIR}"]
