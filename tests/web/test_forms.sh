# test_forms.sh - forms, results, approvals and agents of the dashboard in a real browser, on a mock of the hub; see forms.mjs.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
command -v chromium >/dev/null || { echo "FAIL forms: chromium is missing: run tools/setup test"; exit 1; }
timeout -k 5 240 node_modules/.bin/node tests/web/forms.mjs </dev/null
