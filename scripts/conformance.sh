#!/bin/sh
# Run the hook in the real host programs, against model servers on this machine, and print what
# held: scripts/conformance.sh [--newest] [--report FILE] [HOST...]
#
# The programs come from npm and PyPI into a cache (AGENTLAS_TEST_CACHE, else a temporary folder).
# --newest takes the newest versions that can be had instead of the verified ones. One that cannot
# be fetched is reported as skipped by name; it is not a failure, and not a success.
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
[ -n "$report" ] || report=$(mktemp)
: >"$report"
export AGENTLAS_CONFORMANCE_REPORT="$report"

main=$(find_python)
make_environment "$(test_environment)" "$main" test
folders=""
for host in "$@"; do folders="$folders tests/hosts/$host"; done
status=0
# shellcheck disable=SC2086 # host names hold no blanks
"$venv/bin/pytest" -p no:cacheprovider -m conformance -rs ${folders:-tests/hosts} </dev/null || status=$?
"$venv/bin/python3" scripts/conformance_table.py "$report"
exit $status
