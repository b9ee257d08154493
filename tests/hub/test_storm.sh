# test_storm.sh - the hub is killed again and again under load; see storm.mjs. KILLS=200 makes it longer.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=storm
. tests/hub/lib.sh
slack=1
[ "$sanitized" ] && slack=5

# A43: nothing is lost, doubled or crossed; no orphan 2 s later; what is stored can be read.
t_killed_under_load() { # E72
	with a && MCPOOL_TEST_MARK="$work" timeout 300 $node tests/hub/storm.mjs "${KILLS:-50}" 8 $slack >"$work/out" 2>"$work/err" ||
		{ tail -n 5 "$work/out"; return 1; }
	tail -n 1 "$work/out" >"${STORM_FIGURES:-/dev/null}"
	run 0 list && says out a && finish
}

run_cases "$@"
