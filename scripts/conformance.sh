#!/bin/sh
# Run the hook in the real host programs, one host after another, against model servers on this
# machine, and print what held: scripts/conformance.sh [--newest] [--report FILE] [HOST...]
#
# The programs come from npm and PyPI into a cache (AGENTLAS_TEST_CACHE, else a temporary folder).
# --newest takes the newest versions that can be had instead of the verified ones. One that cannot
# be fetched is reported as skipped by name; it is not a failure, and not a success.
# FILE gets a JSON line a check; scripts/conformance_table.py makes docs/conformance.md of it.
set -eu
CDPATH="" cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

export PYTHONSAFEPATH=1
report=""
while [ $# -gt 0 ]; do
  case $1 in
    --newest) export AGENTLAS_HOST_VERSIONS=newest ;;
    --report) report=$2; shift ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || set -- claude codex antigravity opencode grok
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$log"' EXIT
[ -n "$report" ] || report=$folder/report.jsonl
: >"$report"
export AGENTLAS_CONFORMANCE_REPORT="$report"

make_environment "$(test_environment)" "$(find_python)" test
status=0
for host in "$@"; do
  echo "== $host"
  started=$(date +%s)
  "$venv/bin/pytest" -p no:cacheprovider -m conformance -rs "tests/hosts/$host" </dev/null || status=$?
  echo "$host took $(($(date +%s) - started)) seconds"
done
"$venv/bin/python3" scripts/conformance_table.py "$report"
exit $status
