# test_events.sh - `mcpool events` and `mcpool wait`: what happens to servers, from the hub that runs.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=events
. tests/hub/lib.sh

t_what_happened() {
	with a b && run 0 up && run 0 wait a b && run 0 events && says out 'a  preparing' 'a  up' 'b  up' && run 0 events b && silent_on out 'a  up' && says out 'b  up' &&
		run 0 events --json && "$node" -e 'const all = fs.readFileSync(0, "utf8").trim().split("\n").map((l) => JSON.parse(l));
			process.exit(all.length > 5 && all.every((e, i) => e.number === i + 1) && all.some((e) => e.server === "a" && e.what === "up") ? 0 : 1)' <"$work/out" && finish
}
t_followed() {
	with a && run 0 up && run 0 wait a && { MCPOOL_TEST_MARK="$work" "$mcpool" events -f --json a >"$work/followed" 2>"$work/followed.err" & follower=$!; } &&
		wait_for_line "$work/followed" '"what":"up"' 10 && run 0 reconnect a && eventually 10 came_up_twice && run 0 down && wait "$follower"
	[ $? = 4 ] && grep -q 'the hub has ended' "$work/followed.err" && nothing_left 3
}
came_up_twice() { [ "$(grep -c '"what":"up"' "$work/followed")" -ge 2 ]; }
t_without_a_hub() { run 4 events && says err 'no hub runs' && run 4 wait a && says err 'no hub runs'; }
t_waits_until_it_is_connected() {
	configure "$user" "\"slow\":{\"command\":\"sh\",\"args\":[\"-c\",\"sleep 1; exec $demo_server\"]}" && run 0 trust --user-file --yes && run 0 up && run 0 wait slow --timeout 20s && run 0 status --json &&
		json 'd.servers[0].state === "connected"' && finish
}
t_waits_for_another_state() {
	with a && run 0 up && run 0 wait a && run 0 disable a --now && run 0 wait a --for disabled --timeout 10s && run 6 wait a --timeout 300ms &&
		says err 'a is disabled and not connected' && run 9 wait none && says err "no server 'none'" && run 2 wait a --for nonsense && run 2 wait && finish
}
# It says why at the end of its time.
t_a_server_that_fails() {
	configure "$user" '"broke":{"command":"sh","args":["-c","echo DATABASE_URL is not set >&2; exit 3"]}' && run 0 trust --user-file --yes && run 0 up && run 6 wait broke --timeout 1s &&
		says err 'broke is' 'DATABASE_URL is not set' && run 0 wait broke --for failed --timeout 10s && finish
}

run_cases "$@"
