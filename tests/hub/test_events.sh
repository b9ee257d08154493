# test_events.sh - `mcpool events`, `calls`, `notifications` and `wait`: what happens to servers, from the hub that runs.
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

# D17: who called what, with which outcome; of arguments only a hash.
t_calls() {
	with a b && run 0 up && run 0 wait a b && run 0 calls && [ ! -s "$work/out" ] && run 0 call a/echo message=secret-words && run 0 call a/echo message=secret-words && run 1 call b/fail &&
		run 0 calls && says out 'a  tools/call echo  answered in' 'b  tools/call fail  tool_error in' 'mcpool' && silent_on out secret-words &&
		run 0 calls --failed && silent_on out echo && says out fail && run 0 calls --server a && silent_on out fail && run 0 calls --session 1 && silent_on out echo && run 2 calls --session x &&
		run 0 calls --json && "$node" -e 'const all = fs.readFileSync(0, "utf8").trim().split("\n").map((l) => JSON.parse(l));
			process.exit(all.length === 3 && all.every((c, i) => c.number === i + 1 && c.client === "mcpool") && all[0].argsHash === all[1].argsHash &&
				all[0].argsHash !== all[2].argsHash && !("args" in all[0]) && all[2].outcome === "tool_error" && all[0].latencyUs > 0 ? 0 : 1)' <"$work/out" && finish && run 4 calls && says err 'no hub runs'
}
# D17: the code of a lost call is in the caller's error, in the log, in the event and in its record.
t_one_code_everywhere() {
	lost=mcp_outcome_unknown
	with a && run 0 up && run 0 wait a && run 5 call a/crash --json && json "d.error.data.code === '$lost'" && run 0 calls --json && json "d.outcome === 'unknown' && d.code === '$lost'" && run 0 calls && says out "($lost)" &&
		run 0 events --json && grep -q "\"what\":\"call-failed\",\"text\":\"$lost: " "$work/out" && grep -q "a call failed: $lost: " "$XDG_STATE_HOME/mcpool/hub.log" && finish
}
t_calls_with_arguments() {
	with a && sed -i 's|^{|{"mcpool":{"audit":{"args":true}},|' "$user" && run 0 trust --user-file --yes && run 0 up && run 0 wait a && run 0 call a/echo message=words && run 0 calls && says out '"message":"words"' && finish
}
t_calls_followed() {
	with a && run 0 up && run 0 wait a && { MCPOOL_TEST_MARK="$work" "$mcpool" calls -f --json >"$work/followed" 2>"$work/followed.err" & follower=$!; } && run 0 call a/echo message=x &&
		wait_for_line "$work/followed" '"tool":"echo"' 10 && run 0 down && wait "$follower"
	[ $? = 4 ] && grep -q 'the hub has ended' "$work/followed.err" && nothing_left 3
}

# What servers say by themselves; of 100,000 messages of one 20 a second are kept, and all are counted.
t_notifications() {
	servers=$PWD/tests/servers &&
		configure "$user" "\"text\":{\"command\":\"$node\",\"args\":[\"$servers/hostile_text.mjs\"]}" "\"loud\":{\"command\":\"$node\",\"args\":[\"$servers/hostile.mjs\",\"flood-stdout\"]}" &&
		run 0 trust --user-file --yes && run 0 up && run 0 wait text loud && { MCPOOL_TEST_MARK="$work" "$mcpool" notifications -f --json text >"$work/followed" 2>"$work/followed.err" & follower=$!; } &&
		run 0 call text/plain && wait_for_line "$work/followed" '"level":"error"' 10 && silent_on followed loud && eventually 10 all_counted && run 0 notifications text && says out 'text  error  L-text\x1b[35' && silent_on out loud &&
		run 0 notifications && says out 'loud  debug  flood' ' more' && run 0 down && wait "$follower"
	[ $? = 4 ] && grep -q 'the hub has ended' "$work/followed.err" && nothing_left 3 && run 4 notifications && says err 'no hub runs'
}
all_counted() {
	run 0 notifications --json loud && "$node" -e 'const all = fs.readFileSync(0, "utf8").trim().split("\n").map((l) => JSON.parse(l));
		const n = all.reduce((sum, one) => sum + (one.more ?? 1), 0);
		process.exit(n > 0 && n % 100000 === 0 && all.length < 400 ? 0 : 1)' <"$work/out"
}

# What runs, as it runs: memory of the whole process tree, rates, sessions; what needs the user, and what sharing saves.
t_figures() {
	with a && run 0 up && run 0 wait a && run 0 call a/echo message=x && run 0 status --json &&
		json 'd.servers[0].memory > 10000 && d.servers[0].processes === 1 && d.servers[0].cpuUs >= 0 && d.servers[0].callsLastMinute === 1 && d.hub.callsLastMinute === 1 &&
			d.servers[0].history.length === 60 && d.servers[0].toolTokens > 100 && d.hub.usage.hub.processes === 3 && d.hub.usage.servers.processes === 1' && finish
}
t_watched() {
	with a && run 0 up && run 0 wait a && { MCPOOL_TEST_MARK="$work" "$mcpool" status --watch >"$work/followed" 2>&1 & follower=$!; } && wait_for_line "$work/followed" '^a .* connected' 10 &&
		run 0 disable a --now && wait_for_line "$work/followed" '^a .* disabled' 10 && run 0 down && wait_for_line "$work/followed" '^No hub runs' 10 && kill -INT "$follower" && wait "$follower"
	[ $? = 130 ] && run 2 status --watch a && nothing_left 3
}
t_mcpool_alone() {
	configure "$user" "$(server a)" '"broke":{"command":"sh","args":["-c","echo DATABASE_URL is not set >&2; exit 3"]}' && run 0 trust --user-file --yes && run 0 up && run 0 wait a && run 0 wait broke --for failed &&
		run 0 && says out 'Needs you' 'broke' 'DATABASE_URL, which it needs, is not set' 'mcpool edit broke --env DATABASE_URL=VALUE' '1 connected, 1 failed' && run 0 disable broke --now && run 0 && says out 'Nothing needs you.' && finish
}

# status NAME has all about one server: also its last calls, five at most, and its last words on stderr.
t_the_past_of_a_server() {
	configure "$user" "$(server a)" '"broke":{"command":"sh","args":["-c","echo its last words >&2; exit 3"]}' && run 0 trust --user-file --yes && run 0 up && run 0 wait a && run 0 wait broke --for failed &&
		for i in 1 2 3 4 5 6; do run 0 call a/echo message=$i || return 1; done && run 1 call a/fail && run 0 status a && says out 'tools/call fail  tool_error' && [ "$(grep -c 'tools/call echo' "$work/out")" = 4 ] &&
		run 0 status broke && says out 'its last words' && silent_on out 'tools/call' && run 0 status a --json && json 'd.name === "a"' && finish
}

t_a_name_with_a_typing_error() {
	with files && run 0 up && run 0 wait files && run 9 status filess && says err "Did you mean 'files'?" && run 9 wait filess && says err "Did you mean 'files'?" &&
		run 9 reconnect filess && says err 'Did you mean "files"?' && run 9 status nothing && silent_on err 'Did you' && finish
}

# Over HTTP for good: the next hub listens there, too, and comments stay.
t_http_is_kept() {
	port=$($node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
	with a && sed -i '1i // mine' "$user" && run 0 trust --user-file --yes && run 2 up --keep && run 0 up --http "127.0.0.1:$port" --keep && grep -q '^// mine' "$user" && run 0 down && run 0 up && run 0 status --json &&
		json "d.hub.listening.http.includes('$port')" && finish
}

run_cases "$@"
