#!/bin/sh
# The command of one version: it runs the interpreter beside it, or says which one is missing.
case $0 in */*) self=$0 ;; *) self=./$0 ;; esac
while [ -L "$self" ]; do
  target=$(readlink "$self") || exit 1
  case $target in /*) self=$target ;; *) self=${self%/*}/$target ;; esac
done
# Its real folder: `current` may be switched to another version while this one runs.
bin=$(CDPATH="" cd -P -- "${self%/*}" && pwd -P) || exit 1
if [ ! -x "$bin/python3" ]; then
  python=$(sed -n 's/^ *"python": "\(.*\)",\{0,1\}$/\1/p' "$bin/../runtime.json" 2>/dev/null)
  echo "agentlas-memory: its interpreter is missing: ${python:-$bin/python3}" >&2
  echo "Next: install that Python again, or run install.sh again with another one" >&2
  exit 1
fi
# What was installed elsewhere with --prefix keeps its data there.
home=${bin%/runtime/*}
if [ -z "${AGENTLAS_HOME:-}" ] && [ ! "$home" -ef "${HOME:-}/.agentlas" ]; then
  export AGENTLAS_HOME="$home"
fi
exec "$bin/python3" -I -m agentlas_memory "$@"
