# An isolated environment with our wheel in it; sourced by the other scripts. POSIX sh.

. scripts/find_python.sh

unset PYTHONPATH
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Run a command; its output appears only when it fails.
quietly() {
  "$@" >"$log" 2>&1 </dev/null && return
  cat "$log" >&2
  echo "failed: $*" >&2
  return 1
}

# Print the folder of the tests' environment; a `.venv` that somebody else made is left alone.
test_environment() {
  if [ -e .venv ] && [ ! -f .venv/stamp ]; then echo .venv-test; else echo .venv; fi
}

# make_environment FOLDER PYTHON [EXTRA]: install the wheel of this checkout into FOLDER.
# Dependencies are installed when the project file or the interpreter changed, the wheel always.
make_environment() {
  venv=$1 python=$2 target=.${3:+[$3]}
  stamp="$(cksum pyproject.toml) $python $PWD $target"
  if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$stamp" ] || ! "$venv/bin/python3" -c "" 2>/dev/null; then
    echo "Making $venv with $python" >&2
    rm -rf "$venv"
    mkdir -p "$venv"
    echo unfinished >"$venv/stamp"
    quietly "$python" -m venv "$venv"
    echo "*" >"$venv/.gitignore"
    # setuptools too, so that building the wheel needs no environment of its own each time.
    quietly "$venv/bin/python3" -m pip install "setuptools>=77"
    install_wheel "$target"
    echo "$stamp" >"$venv/stamp"
  else
    install_wheel "$target" --no-deps --force-reinstall
  fi
}

# A module that was deleted would live on in setuptools' build folder, and so in the wheel.
install_wheel() {
  rm -rf build
  quietly "$venv/bin/python3" -m pip install --no-build-isolation "$@"
  rm -rf build agentlas_memory.egg-info
}
