"""Where this user's data live: `~/.agentlas`, or what `AGENTLAS_HOME` names."""

from agentlas_memory.lean import WINDOWS, getenv, parse_json, read_file

# Set for every process that we start: a host among them must not call us back.
CHILD_VARIABLE = "AGENTLAS_MEMORY_CHILD"
UNREADABLE: dict[str, object] = {"off": True}  # the settings of a settings.json that is broken


def user_home() -> str:
    """Return the person's home directory, blank when nothing names one."""
    home = getenv("HOME") or (getenv("USERPROFILE") if WINDOWS else "")
    if home or WINDOWS:
        return home
    try:
        import pwd

        from agentlas_memory.lean import system

        return pwd.getpwuid(system.getuid()).pw_dir
    except (ImportError, KeyError):
        return ""


def data_home() -> str:
    """Return the absolute folder of our own data, blank when there is no home."""
    named = getenv("AGENTLAS_HOME")
    home = named or user_home()
    if not home or not (home.startswith("/") or WINDOWS):
        return ""  # a relative home would put a folder where the person happens to stand
    return named or home.rstrip("/") + "/.agentlas"


def read_settings(home: str) -> dict[str, object]:
    """Return the user's settings, none without a file.

    One that is there and holds no JSON object may be what says `off`: then it is UNREADABLE.
    """
    try:
        return _json_object(home + "/settings.json")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return UNREADABLE


def read_json_object(path: str) -> dict[str, object]:
    """Return the JSON object in a small file of ours, or an empty one."""
    try:
        return _json_object(path)
    except (OSError, ValueError):
        return {}


def _json_object(path: str) -> dict[str, object]:
    value = parse_json(read_file(path).decode(), whole=True)
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value
