# test_trial.sh - `mcpool test`: configured servers are started, listed and stopped; all at the same time, each with
# its own failure, and the era of each is remembered.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=trial
. tests/servers/lib.sh

absolute=$(cd "$(dirname "$mcpool")" && pwd)/$(basename "$mcpool")

# with NAME ENV...: a demo server of this name in the user's file
with() {
	server=$1
	shift
	options=
	for variable in "$@"; do
		options="$options --env $variable"
	done
	# shellcheck disable=SC2086 # the options are words
	run 0 add "$server" $options -- "$demo_server"
}

count_of() { # WORDS: lines of stderr with them
	grep -cF -- "$1" "$work/err"
}

t_one_server_works() {
	with one && run 0 test one && says out 'one: works, 10 tools' && nothing_left
}

# B34: what a variable and a command gave is in the process and in no file of ours.
t_values_are_stored_as_they_are_written() {
	export MCPOOL_TEST_WORD=q8Zr1TmX0vLw93Kd
	run 0 add one --env 'A=${MCPOOL_TEST_WORD}' --env 'B=!printf %s%s w7Yt2Ub5 Nc4Me6Ra' --env "MCPOOL_DEMO_STATE=$work/one-\${MCPOOL_TEST_WORD}" -- "$demo_server" && run 0 test one && run 0 tools --json && json 'd.tools.length === 10' &&
		[ -s "$work/one-$MCPOOL_TEST_WORD" ] && grep -qF '${MCPOOL_TEST_WORD}' "$XDG_CONFIG_HOME/mcpool/mcp.json" && [ -s "$XDG_STATE_HOME/mcpool/mcpool.db" ] || return 1
	! grep -rlaE 'q8Zr1TmX0vLw93Kd|w7Yt2Ub5Nc4Me6Ra' "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR" || { echo 'a value was stored'; return 1; }
}

# B55 B60: no terminal, nothing is asked, and each answer is JSON; what failed is told per server.
t_every_verb_without_a_terminal() {
	exec </dev/null
	run 0 add one --json -- "$demo_server" && json 'd.added.name === "one"' && run 0 add dies --json -- false && json 'd.added.name === "dies"' &&
		run 0 list --json && json 'd.servers.map((s) => s.name + " " + s.state).join() === "one ready,dies ready"' && run 0 get one --json && json 'd.name === "one"' &&
		run 4 test --all --json && json 'd.servers.length === 2 && d.servers[0].ok && d.servers[0].tools === 10 && !d.servers[1].ok && /exited with code 1/.test(d.servers[1].error)' &&
		run 0 tools --json && json 'd.tools.length === 10 && d.tools.every((t) => t.server === "one") && d.errors.length === 1 && d.errors[0].server === "dies" && d.errors[0].error' &&
		run 0 call one/echo message=hi --json && json 'd.ok && d.result.startsWith("hi")' &&
		run 0 disable dies --json && json d && run 0 list --json && json 'd.servers[1].state === "disabled"' && run 0 enable dies --json && json d &&
		run 0 edit dies timeout:=5 --json && json d && run 0 remove dies --json && json d && run 0 list --json && json 'd.servers.length === 1' &&
		run 0 up --json && json 'd.hub === "started"' &&
		run 0 status --json && json 'd.hub.pid > 0 && d.servers.map((s) => s.name).join() === "one"' && run 0 reload --json && json 'd.reloaded' && run 0 down --json && json 'd.hub === "stopped"' && nothing_left
}

t_json_says_the_same() {
	with one && run 0 add two -- false && run 4 test --all --json &&
		json 'd.servers.length === 2 && d.servers[0].ok && d.servers[0].tools === 10 &&
			!d.servers[1].ok && d.servers[1].error.includes("exited with code 1")'
}

t_each_stage_has_its_time() {
	with one MCPOOL_DEMO_HANG=300 && run 0 test one --json &&
		json 'd.servers[0].handshakeMs >= 300 && d.servers[0].startMs >= d.servers[0].handshakeMs && d.servers[0].listMs < 300' &&
		json '["prepareMs", "spawnMs", "prompts", "resources"].every(k => Number.isInteger(d.servers[0][k]))' &&
		run 0 test one && says out 'prepare ' 'spawn ' 'handshake ' 'listed in'
}

# A test always starts, and what it sees is what is remembered from then on.
t_a_test_is_fresh_and_remembered() {
	with one MCPOOL_DEMO_STATE="$work/starts" && run 0 test one && run 0 status --json && json 'd.servers[0].tools === 10' &&
		run 0 test one && [ "$(wc -c <"$work/starts")" = 2 ] && run 0 tools && [ "$(wc -c <"$work/starts")" = 2 ]
}

t_one_result_does_not_wait_for_another() {
	with slow MCPOOL_DEMO_HANG=forever && with quick || return
	start test --all
	wait_for_line "$work/out" 'quick: works' 5 && kill -INT "$mcpool_pid" && ended 130 4 && nothing_left
}

# Five that start slowly take no longer than twice what one of them does, in the same run.
t_all_start_in_parallel() { # A4
	with slow1 MCPOOL_DEMO_SLOW_START=700 && run 0 test slow1 || return
	alone=$took
	for i in 2 3 4 5; do
		with slow$i MCPOOL_DEMO_SLOW_START=70$i || return
	done
	run 0 test --all && says out 'slow1: works' 'slow5: works' && within $((alone * 2)) && nothing_left
}

# Each failure is told once, under its own name, and everybody else goes on.
# B66
t_one_failure_is_ones_own() { # A12 A21 A22 B65
	with good && run 0 add gone -- /nonexistent/server && run 0 add dies -- sh -c 'echo oops >&2; exit 3' &&
		run 0 add unset --env 'X=${MCPOOL_TEST_IS_NOT_SET}' -- "$demo_server" &&
		run 0 add mute -- sleep 60 && run 0 add far --url http://127.0.0.1:1/mcp || return
	mkdir -p "$work/project" && printf '{"mcpServers": {"broken": {"command": 5}, "late": {"command": "x"}}}' \
		>"$work/project/.mcp.json"
	# shellcheck disable=SC2030 # one case, one process
	mcpool=$absolute
	cd "$work/project" && run 4 test --all --timeout 3s || return
	says out 'good: works' && says err 'Failed to connect to "gone": ' 'Failed to connect to "dies": ' '| oops' \
		'Failed to connect to "unset": Unresolved variable' 'Failed to connect to "mute": ' \
		'needs a larger --timeout (now 3000 ms)' 'Failed to connect to "far": could not connect' 'broken: failed, not tried' \
		'late: needs-approval, not tried' || return
	for each in gone dies unset mute far; do
		[ "$(count_of "Failed to connect to \"$each\"")" = 1 ] || { echo "$each is not told once"; return 1; }
	done
	nothing_left
}

t_what_may_not_run_is_refused() { # U4
	mkdir -p "$work/project" && printf '{"mcpServers": {"it": {"command": "%s"}}}' "$demo_server" \
		>"$work/project/.mcp.json" && mcpool=$absolute && cd "$work/project" && run 7 test it &&
		says err 'needs your approval' 'mcpool trust it' && run 9 test nobody && run 2 test && run 2 test it --all
}

t_a_disabled_server_says_how_to_enable_it() { # B76
	with one && run 0 disable one && run 3 test one && says err 'Server "one" is disabled. Run `mcpool enable one` first.'
}

# What --config names is the word of a person.
t_a_named_file_is_trusted() { # C21
	printf '{"mcpServers": {"it": {"command": "%s"}}}' "$demo_server" >"$work/named.json" &&
		run 0 test it --config "$work/named.json" && says out 'it: works' &&
		run 0 test it --config "$work/named.json" --strict-config && run 7 test it 2>/dev/null
	[ $code -eq 9 ] || { echo "without --config it is still there: $code"; return 1; }
}

# A variable of the entry reaches the server, agents' own do not, and minimal is minimal.
t_the_environment_is_as_configured() { # U6
	show='env | grep -E "^(MINE|CLAUDE_CODE_X|FROM_USER)=" >"$TEST_NOTES"; exec "$0" demo-server'
	export CLAUDE_CODE_X=agent FROM_USER=user
	run 0 add inherits --env MINE=1 -- sh -c "$show" "$absolute" && run 0 test inherits &&
		grep -qx MINE=1 "$TEST_NOTES" && grep -qx FROM_USER=user "$TEST_NOTES" && ! grep -q CLAUDE "$TEST_NOTES" || {
		echo "inherit: $(tr '\n' ' ' <"$TEST_NOTES")"
		return 1
	}
	for kind in minimal none; do
		# shellcheck disable=SC2016 # the shell of the server expands it
		printf '{"mcpServers": {"it": {"command": "/bin/sh", "environment": "%s", "env": {"MINE": "2", "N": "%s"},
			"args": ["-c", "/usr/bin/env >\\"$N\\"; exec \\"$0\\" demo-server", "%s"]}}}' $kind "$TEST_NOTES" "$absolute" \
			>"$work/$kind.json"
		run 0 test it --config "$work/$kind.json" && grep -qx MINE=2 "$TEST_NOTES" && ! grep -q FROM_USER "$TEST_NOTES" || {
			echo "$kind: $(tr '\n' ' ' <"$TEST_NOTES")"
			return 1
		}
	done
	! grep -q '^HOME=' "$TEST_NOTES" || { echo "none has a HOME"; return 1; }
}

# The second time no probe is sent to a server of which the first run found out what it speaks.
t_the_era_is_remembered() {
	with old MCPOOL_DEMO_PROBE=die MCPOOL_DEMO_STATE="$work/starts" && run 0 test old || return
	first=$(wc -c <"$work/starts")
	run 0 test old || return
	second=$(($(wc -c <"$work/starts") - first))
	[ "$first" = 2 ] && [ "$second" = 1 ] || { echo "starts: $first, then $second"; return 1; }
}

run_cases "$@"
