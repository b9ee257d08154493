# test_storm.sh - the hub is killed again and again under load; see storm.mjs. KILLS=200 makes it longer.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=storm
. tests/hub/lib.sh
slack=1
[ "$sanitized" ] && slack=5

# A43 E72: nothing is lost, doubled or crossed; in-flight ids are answered within 200 ms of a kill; no orphan 2 s later;
# what is stored can be read.
t_killed_under_load() { # E72
	with a && MCPOOL_TEST_MARK="$work" timeout 300 $node tests/hub/storm.mjs "${KILLS:-50}" 8 $slack >"$work/out" 2>"$work/err" ||
		{ tail -n 5 "$work/out"; return 1; }
	tail -n 1 "$work/out" >"${STORM_FIGURES:-/dev/null}"
	took=$(sed -n 's/.*"latestUnknownMs":\([0-9]*\).*/\1/p' "$work/out")
	[ "$took" ] && within $((200 * slack)) && run 0 list && says out a && finish
}

# E72: two hubs at once, each with a server of 10,000 tools that is killed and comes back; neither sees the other.
t_two_hubs_with_many_tools() {
	for n in 1 2; do
		(
			export HOME="$work/home$n" XDG_CONFIG_HOME="$work/home$n/config" XDG_STATE_HOME="$work/home$n/state" XDG_RUNTIME_DIR="$work/run$n" NUMBER=$n
			user=$XDG_CONFIG_HOME/mcpool/mcp.json
			mkdir -p "$XDG_CONFIG_HOME" && mkdir -m 700 "$XDG_RUNTIME_DIR" &&
				configure "$user" "\"many$n\":{\"command\":\"$demo_server\",\"env\":{\"MCPOOL_DEMO_TOOLS\":\"9990\",\"N\":\"$n\"}}" &&
				MCPOOL_TEST_MARK="$work" timeout 60 "$mcpool" trust --user-file --yes >/dev/null &&
				MCPOOL_TEST_MARK="$work" timeout 120 $agent many_steps.mjs#use_many >"$work/out$n" 2>"$work/err$n" </dev/null &&
				"$mcpool" down >/dev/null || { echo "hub $n: $(tail -n 3 "$work/out$n" "$work/err$n")"; exit 1; }
		) &
		eval "job$n=$!"
	done
	wait "$job1" && wait "$job2" && nothing_left 3
}

run_cases "$@"
