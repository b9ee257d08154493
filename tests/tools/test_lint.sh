# test_lint.sh - `make lint`: the tree as it is, without a build.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=lint
. tests/lib.sh

check the_tree tools/lint
exit $bad
