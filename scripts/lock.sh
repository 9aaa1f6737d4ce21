#!/bin/sh
# Pin every dependency, with the digests of all its files: scripts/lock.sh [--upgrade]
#
# requirements.lock holds what runs, for all supported Pythons and platforms at once; tools.lock what
# builds a release. Pins stay as they are unless a dependency changed or --upgrade is given.
set -eu
CDPATH="" cd -- "$(dirname -- "$0")/.."
. scripts/find_python.sh

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$(find_python)" -m venv "$tools/venv"
"$tools/venv/bin/python3" -m pip install --quiet uv

# lock FROM TO [OPTIONS]
lock() {
  from=$1 to=$2
  shift 2
  "$tools/venv/bin/uv" pip compile --quiet --universal --generate-hashes --python-version 3.10 \
    --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
    "$@" --output-file "$to" "$from"
  { echo "# Made by scripts/lock.sh from $from" && grep -v '^# Made by' "$to"; } >"$tools/lock"
  cat "$tools/lock" >"$to"
}

lock pyproject.toml requirements.lock "$@"
lock scripts/release/tools.in scripts/release/tools.lock "$@"
