#!/bin/sh
# Run the tests against an installed wheel: scripts/test.sh [PYTEST ARGUMENTS]
#
# Everything runs on the Python found first, the quick tests on the oldest and the newest as well,
# on all cores. With arguments pytest gets them, on the first Python alone.
set -eu
CDPATH="" cd -- "$(dirname -- "$0")/.."
. scripts/environment.sh

# The repository has a folder of the package's name: keep it off the import path.
export PYTHONSAFEPATH=1

run_tests() {
  "$venv/bin/pytest" -p no:cacheprovider "$@" </dev/null
}

main=$(find_python)
make_environment "$(test_environment)" "$main" test
if [ $# -gt 0 ]; then
  run_tests "$@"
  exit
fi
echo "All tests on $main"
run_tests --numprocesses auto

tested_pythons | sed -n '1p;$p' | uniq | while read -r version python; do
  [ "$python" != "$main" ] || continue
  make_environment ".venv-$version" "$python" test
  echo "Quick tests on $python"
  run_tests --numprocesses auto -m "not slow"
done
