#!/bin/sh
# See it work on this repository's own documents: scripts/demo.sh
#
# Everything is made in .demo/ of this checkout: an environment, a home, a copy of the documents.
# Nothing outside is touched; `rm -rf .demo` removes every trace.
set -eu
CDPATH="" cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

demo=$PWD/.demo
project=$demo/project
make_environment "$demo/venv" "$(find_python)"
export HOME="$demo/home" AGENTLAS_HOME="$demo/home/.agentlas"
unset AGENTLAS_MEMORY

# The documents that git knows, or all of them where there is no git.
documents() {
  git ls-files README.md CHANGELOG.md docs 2>/dev/null ||
    find README.md CHANGELOG.md docs -type f 2>/dev/null
}

copy_documents() {
  rm -rf "$project" "$HOME"
  mkdir -p "$project" "$HOME"
  documents | while read -r file; do
    mkdir -p "$project/$(dirname "$file")"
    cp "$file" "$project/$file"
  done
}

title() {
  printf '\n== %s\n' "$*"
}

copy_documents
memory=$demo/venv/bin/agentlas-memory

title "agentlas-memory init"
"$memory" init --project "$project"
title "agentlas-memory index"
"$memory" index --project "$project"
"$demo/venv/bin/python3" scripts/demo_prompts.py "$demo/venv/bin/agentlas-memory-hook" "$project"

title "All of it is in $demo"
