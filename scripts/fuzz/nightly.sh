#!/bin/sh
# Every campaign against the hook and the index, on an installed wheel: scripts/fuzz/nightly.sh [OPTIONS]
#
#   --seed S      of all campaigns (printed; a new one each night without it)
#   --runs N      fuzzed events in one process (200000); the other counts keep their share of it
#   --only NAME   one campaign: hook_runs, hook_processes, corruption, cards, documents, faults,
#                 starving, tests
#
# The exit code is 1 when a campaign found a fault. One run again: with its seed, and
#   PYTHONPATH=scripts PYTHON -m fuzz.CAMPAIGN --seed S --first NUMBER --count 1
set -eu
CDPATH="" cd -- "$(dirname -- "$0")/../.."
. scripts/environment.sh

seed=$(date +%Y%m%d%H%M) runs=200000 only=
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2 ;;
    --runs) runs=$2 ;;
    --only) only=$2 ;;
    *) sed -n '2,12s/^#//p' "$0" >&2 && exit 2 ;;
  esac
  shift 2
done
make_environment "$(test_environment)" "$(find_python)" test
export PYTHONSAFEPATH=1 PYTHONPATH="$PWD/scripts"
failed=0

# campaign NAME COUNT
campaign() {
  [ -z "$only" ] || [ "$only" = "$1" ] || return 0
  "$venv/bin/python3" -m "fuzz.$1" --count "$2" --seed "$seed" </dev/null || failed=1
}

# Of the calls that fail and the steps of memory a shorter night takes some, a whole one (0) all.
all=0
[ "$runs" -ge 200000 ] || all=$((runs / 20 + 2))
campaign hook_runs "$runs"
campaign hook_processes $((runs / 100 + 1))
campaign corruption $((runs / 100 + 1))
campaign cards $((runs / 10 + 1))
campaign documents $((runs / 100 + 1))
campaign starving "$([ "$all" = 0 ] && echo 0 || echo 50)"
if command -v strace >/dev/null; then
  campaign faults "$all"
else
  echo "faults: skipped, strace is not installed"
fi
if [ -z "$only" ] || [ "$only" = tests ]; then
  FUZZ_NIGHTLY=1 "$venv/bin/pytest" -p no:cacheprovider tests/hostile tests/installer/runtimes </dev/null || failed=1
fi
exit $failed
