# scale.sh [SERVERS TOOLS CALLS] - the dashboard over very many servers, tools and calls; see scale.mjs. Prints figures, and fails on what is
# grossly beyond. Not part of `make test`: its figures are those of a machine that does nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=dashboard
. tests/hub/lib.sh
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "FAIL $group/scale: chromium is missing: run tools/setup test"
	exit 1
}
export CHROMIUM DEMO_SERVER="$demo_server"
MCPOOL_TEST_MARK="$work" timeout -k 5 300 "$node" tests/web/scale.mjs "$@" 2>"$work/err" </dev/null || {
	tail -n 5 "$work/err"
	bad=1
}
check scale finish
exit $bad
