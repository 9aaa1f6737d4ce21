# Which Pythons of this machine can run us; sourced by the other scripts. POSIX sh.
#
# Candidates are run, never trusted by name: a version manager's shim may have no version behind it,
# a Windows Store stub exits 49, one may hang, and Debian splits ensurepip off.

# Modules beyond the ones we run with; install.sh brings its own pip and empties this.
NEEDED="ensurepip"

PROBE='
import os, sys
if sys.version_info < (3, 10):
    sys.exit(1)
import hashlib, sqlite3, venv, zlib
for name in sys.argv[1:]:
    __import__(name)
sqlite3.connect(":memory:").execute("create virtual table words using fts5(word)")
print("%d.%d" % sys.version_info[:2], os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
'

# Print "3.11 /path/to/the/real/interpreter" for each usable Python, one a version.
# First comes what `python3` means here, if it is usable.
usable_pythons() {
  {
    for name in python3 python3.13 python3.12 python3.11 python3.10 python; do
      probe "$name"
    done
    # Version managers that a small PATH leaves out.
    for python in "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/*/bin/python3 \
      "${HOME:-}"/.local/share/uv/python/*/bin/python3 /opt/homebrew/bin/python3; do
      probe "$python"
    done
  } | awk '!seen[$1]++'
}

# Print version and real path of one candidate, or nothing: its answer may be anything.
probe() {
  program=$(command -v "$1" 2>/dev/null) || return 0
  # On a Mac without developer tools this one opens a window that asks to fetch them.
  case $(uname 2>/dev/null)$program in Darwin/usr/bin/python3) return 0 ;; esac
  # shellcheck disable=SC2086 # a list of names
  answer=$(limited "$program" -I -c "$PROBE" $NEEDED </dev/null 2>/dev/null) || return 0
  case $answer in
    [0-9].[0-9]" "?* | [0-9].[0-9][0-9]" "?*) [ ! -x "${answer#* }" ] || printf '%s\n' "$answer" ;;
  esac
}

# Run a program for some seconds at most, where the system can do that.
limited() {
  if command -v timeout >/dev/null 2>&1; then timeout 10 "$@"; else "$@"; fi
}

# Print the usable Pythons from the oldest to the newest that is tested (3.13).
tested_pythons() {
  usable_pythons | sort -t. -k2n | awk '{ split($1, part, "."); if (part[2] <= 13) print }'
}

# Print the interpreter to use: what `python3` means here, else the newest tested one.
find_python() {
  found=$(probe python3)
  case $found in "" | "3.1"[4-9]*) found=$(tested_pythons | tail -n 1) ;; esac
  [ -n "$found" ] || found=$(usable_pythons | head -n 1)
  if [ -z "$found" ]; then
    echo "No usable Python found: 3.10 or newer with venv${NEEDED:+, $NEEDED} and SQLite's FTS5." >&2
    return 1
  fi
  echo "${found#* }"
}
